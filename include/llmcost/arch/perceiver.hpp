// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/activation.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/convolution.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace perceiver_detail {

enum own : std::uint8_t {
    latents, blocks, heads_within, heads_across, widens_within, widens_across, residual, keys_within, keys_across, values
};
inline constexpr own_key keys[]{
    {"num_latents", 256},
    {"num_blocks", 1},  // how often all layers are applied
    {"num_self_attention_heads", 8},
    {"num_cross_attention_heads", 8},
    {"self_attention_widening_factor", 1},
    {"cross_attention_widening_factor", 1},
    {"use_query_residual", 1, own_value::boolean},
    {.value = own_value::computed},  // widths of queries and keys
    {.value = own_value::computed},
    {.value = own_value::computed},  // of values
};

/// Features of a pixel, and of where it stands.
inline constexpr std::int64_t features = 256;

/// Widths and heads of a layer; `across`: latents read what is no latent.
struct layer_sizes {
    std::int64_t heads;
    std::int64_t keys;
    std::int64_t values;
    std::int64_t widening;
    bool across = false;
    bool residual = true;
};

/// Learned rows, the same for each image.
struct learned_rows {
    literal key;
    class_name named;
    std::int64_t rows;
    std::int64_t width;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, std::int64_t batch) const {
        return t.param(key, {rows, width}).unsqueeze(0).expand({batch, rows, width});
    }
};
constexpr learned_rows places_of(const site& here, std::int64_t rows, std::int64_t width) {
    return {"position_embeddings", here.type("TrainablePositionEncoding"), rows, width};
}

/// x (B, L, width) over itself, or over others (B, S, another width).
struct attention {
    const site& here;
    const layer_sizes& of;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x, const value& others) const {
        const module_info self{.name = "self", .type = here.type("SelfAttention")};
        const module_info output{.name = "output", .type = here.type("SelfOutput")};
        t.enter(self);
        const value mixed = t.leave(self, mix(t, x, others));
        t.enter(output);
        const value h = t.leave(output, t.call("dense", linear{of.values, here.dims.hidden_size, true}, mixed));
        return of.residual ? t.add(h, x) : h;
    }

private:
    constexpr value mix(trace& t, const value& x, const value& others) const {
        const value normed = t.call("layernorm1", norm<norm_kind::layer>{x.dim(2)}, x);
        value seen = normed;
        if (of.across)
            seen = t.call("layernorm2", norm<norm_kind::layer>{others.dim(2)}, others);
        else
            declare_identity(t);
        const auto split = [&](literal name, const value& from, std::int64_t width) {
            const value all = t.call(name, linear{from.dim(2), width, true}, from);
            return all.view({x.dim(0), from.dim(1), of.heads, width / of.heads}).permute({0, 2, 1, 3});
        };
        const value q = split("query", normed, of.keys), k = split("key", seen, of.keys);
        const value v = split("value", seen, of.values);
        fused_part part = fused_attention(q, of.heads, {.sequence = x.dim(1), .causal = false}, seen.dim(1));
        part.value_dim = v.dim(3);
        const recorder::fused_guard fused{t, part};
        const value scores = t.softmax(t.div(t.matmul(q, k.transpose(2, 3))));
        const value read = t.matmul(dropout(t, "dropout", scores, dropout_of::attention), v);
        return t.contiguous(read.permute({0, 2, 1, 3})).view({x.dim(0), x.dim(1), of.values});
    }
    /// A module that is called with nothing.
    static constexpr void declare_identity(trace& t) {
        const module_info nothing{.name = "layernorm2", .type = {"", "Identity"}, .leaf = true};
        t.enter(nothing), t.leave(nothing);
    }
};

struct feed_forward_block {
    const site& here;
    std::int64_t widening;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = x.dim(2), inner = width * widening;
        value h = t.call("dense1", linear{width, inner, true}, x);
        h = t.call("intermediate_act_fn", activation_module{here.dims.hidden_act}, h);
        return t.call("dense2", linear{inner, width, true}, h);
    }
};

struct layer {
    const site& here;
    const layer_sizes& of;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x, const value& others = {}) const {
        const value middle = t.call("attention", attention{here, of}, x, others);
        const value h = t.call("layernorm", norm<norm_kind::layer>{x.dim(2)}, middle);
        return t.add(t.call("mlp", feed_forward_block{here, of.widening}, h), middle);
    }
};

/// Each pixel is an input of its own, its features beside those of where it stands: (B, pixels, 512).
constexpr value embed(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t pixels = image.image_height * image.image_width;
    const module_info preprocessor{
        .name = "input_preprocessor", .type = here.type("ImagePreprocessor"), .what = role::embedding};
    t.enter(preprocessor);
    const value read = t.call("convnet_1x1", convolution_2d{image.num_channels, features}, images_of(here, t));
    const value last = t.reshape(read.permute({0, 2, 3, 1}), {read.dim(0), pixels, features});
    const value places = t.call("position_embeddings", places_of(here, pixels, features), read.dim(0));
    const value projected = t.call("positions_projection", linear{features, features, true}, places);
    return t.leave(preprocessor, t.cat({last, projected}, -1));
}

/// One learned row for each image reads the latents and becomes the labels.
constexpr value classify(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, batch = x.dim(0);
    const module_info classifier{.name = "decoder", .type = here.type("ClassificationDecoder"), .what = role::head};
    const module_info basic{.name = "decoder", .type = here.type("BasicDecoder")};
    const layer_sizes of{.heads = 1, .keys = width, .values = width, .widening = 1, .across = true};
    t.enter(classifier), t.enter(basic);
    const value row = t.call("output_position_encodings", places_of(here, 1, width), batch);
    const value asked = t.call("positions_projection", identity{"Identity"}, row);
    const value read = t.call("decoding_cross_attention", layer{here, of}, asked, x);
    const value labels = t.call("final_layer", linear{width, here.dims.num_labels, true}, read);
    t.leave(basic), t.leave(classifier);
    return t.select(labels, 1);
}

/// Latents that read pixels once, and then each other.
constexpr value base(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const value pixels = embed(here, t);
    const learned_rows rows{"latents", here.type("Embeddings"), own[latents], here.dims.hidden_size};
    value x = t.call("embeddings", rows, pixels.dim(0));
    const layer_sizes across{own[heads_across], own[keys_across], own[values], own[widens_across], true, own[residual] != 0};
    const layer_sizes within{own[heads_within], own[keys_within], own[values], own[widens_within]};
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    x = t.call("cross_attention", layer{here, across}, x, pixels);
    for (repetition block = t.again(own[blocks], x); block.next();)
        for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
            x = t.call({"self_attends", each.index()}, layer{here, within}, x);
    return t.leave(encoder, x);
}

constexpr value describe(const site& here, trace& t) {
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    const module_info model{.name = "perceiver", .type = here.type("Model")};
    t.enter(whole), t.enter(model);
    const value x = base(here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    const value labels = t.leave(model, classify(here, t, x));
    return t.leave(whole, t.returns(x, labels));
}

constexpr void read(config_view config, sizes& s) {
    const std::int64_t width = s.hidden_size, side = config.positive("image_size", 56);
    s.vision = {side, side, 1, 3};
    const auto channels = [&](literal key, std::int64_t otherwise) {
        const auto found = config.find(key);
        return found && !found->is_null() ? found->as_positive() : otherwise;
    };
    const string_ref shape = config.string("cross_attention_shape_for_attention", "kv");
    if (shape != "kv" && shape != "q") fail_value(config, "cross_attention_shape_for_attention", "kv or q");
    s.own[keys_within] = channels("qk_channels", width);
    s.own[keys_across] = channels("qk_channels", shape == "kv" ? 2 * features : width);
    s.own[values] = channels("v_channels", s.own[keys_within]);
    if (s.own[values] != width) fail_value(config, "v_channels", "the width of latents, to which they are added");
    const auto share = [&](literal key, std::int64_t heads, std::int64_t of_keys) {
        if (width % heads != 0 || of_keys % heads != 0) fail_value(config, key, "heads that share all features evenly");
    };
    share("num_self_attention_heads", s.own[heads_within], s.own[keys_within]);
    share("num_cross_attention_heads", s.own[heads_across], s.own[keys_across]);
}

}  // namespace perceiver_detail

// transformers/models/perceiver: configuration_perceiver.py, modeling_perceiver.py, images whose pixels learn where they stand
inline constexpr architecture perceiver{
    .model_type = "perceiver",
    .prefix = "Perceiver",
    .describe = perceiver_detail::describe,
    .read = perceiver_detail::read,
    .own = perceiver_detail::keys,
    .rotated = rotation::none,
    .heads = {head_kind::image_classification_learned},
    .keys = {{"hidden_size", "d_latents", key_rule::written_only},
             {"num_hidden_layers", "num_self_attends_per_block", key_rule::written_only}},
    .defaults = {.hidden_size = 1280,
                 .num_hidden_layers = 26,
                 .hidden_act = activation::gelu,
                 .head = head_kind::image_classification_learned},
};

}  // namespace llmcost::arch
