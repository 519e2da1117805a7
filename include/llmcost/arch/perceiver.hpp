// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/layers/activation.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/convolution.hpp>
#include <llmcost/layers/norm.hpp>

namespace llmcost::arch {

namespace perceiver_detail {

enum family_config_index : std::uint8_t {
    latents,
    blocks,
    heads_within,
    heads_across,
    widens_within,
    widens_across,
    residual,
    keys_within,
    keys_across,
    values
};
inline constexpr family_key family_keys[]{
    {"num_latents", 256},
    {"num_blocks", 1},  // how often all layers are applied
    {"num_self_attention_heads", 8},
    {"num_cross_attention_heads", 8},
    {"self_attention_widening_factor", 1},
    {"cross_attention_widening_factor", 1},
    {"use_query_residual", 1, family_key_type::boolean},
    {.type = family_key_type::computed},  // widths of queries and keys
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},  // of values
};

/// Features of a pixel and of its position.
inline constexpr std::int64_t features = 256;

/// Widths and heads of a layer; `across`: latents read what is no latent.
struct layer_sizes {
    std::int64_t heads;
    std::int64_t key_width;
    std::int64_t values;
    std::int64_t widening;
    bool is_cross = false;
    bool residual = true;
};

/// Learned rows, the same for each image.
struct learned_rows {
    literal key;
    class_name named;
    std::int64_t rows;
    std::int64_t width;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, std::int64_t batch) const {
        return t.param(key, {rows, width}).unsqueeze(0).expand({batch, rows, width});
    }
};
constexpr learned_rows places_of(const layer_context& ctx, std::int64_t rows, std::int64_t width) {
    return {"position_embeddings", ctx.class_of("TrainablePositionEncoding"), rows, width};
}

/// x (B, L, width) over itself, or over others (B, S, another width).
struct attention {
    const layer_context& ctx;
    const layer_sizes& layer_config;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& others) const {
        const module_info self{.name = "self", .class_of_module = ctx.class_of("SelfAttention")};
        const module_info output{.name = "output", .class_of_module = ctx.class_of("SelfOutput")};
        t.enter(self);
        const tensor mixed = t.leave(self, forward_self_attention(t, x, others));
        t.enter(output);
        const tensor h =
            t.leave(output, t.call("dense", linear{layer_config.values, ctx.config.hidden_size, true}, mixed));
        return layer_config.residual ? t.add(h, x) : h;
    }

private:
    constexpr tensor forward_self_attention(trace& t, const tensor& x, const tensor& others) const {
        const tensor normed = t.call("layernorm1", norm_module{norm_kind::layer, x.dim(2)}, x);
        tensor features = normed;
        if (layer_config.is_cross)
            features = t.call("layernorm2", norm_module{norm_kind::layer, others.dim(2)}, others);
        else
            declare_identity(t);
        const auto split = [&](literal name, const tensor& input, std::int64_t width) {
            const tensor all = t.call(name, linear{input.dim(2), width, true}, input);
            return all.view({x.dim(0), input.dim(1), layer_config.heads, width / layer_config.heads})
                .permute({0, 2, 1, 3});
        };
        const tensor q = split("query", normed, layer_config.key_width),
                     k = split("key", features, layer_config.key_width);
        const tensor v = split("value", features, layer_config.values);
        fused_kernel part = fused_attention_kernel(q, layer_config.heads,
                                                   {.query_length = x.dim(1), .is_causal = false}, features.dim(1));
        part.value_dim = v.dim(3);
        const recorder::fused_kernel_guard fused{t, part};
        const tensor scores = t.softmax(t.div_scalar(t.matmul(q, k.transpose(2, 3))));
        const tensor read = t.matmul(dropout(t, "dropout", scores, dropout_position::attention), v);
        return t.contiguous(read.permute({0, 2, 1, 3})).view({x.dim(0), x.dim(1), layer_config.values});
    }
    /// A module that is called with nothing.
    static constexpr void declare_identity(trace& t) {
        const module_info identity_norm{.name = "layernorm2", .class_of_module = {"", "Identity"}, .is_leaf = true};
        t.enter(identity_norm);
        t.leave(identity_norm);
    }
};

struct mlp_block {
    const layer_context& ctx;
    std::int64_t widening;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = x.dim(2), inner = width * widening;
        tensor h = t.call("dense1", linear{width, inner, true}, x);
        h = t.call("intermediate_act_fn", activation_module{ctx.config.hidden_act}, h);
        return t.call("dense2", linear{inner, width, true}, h);
    }
};

struct layer {
    const layer_context& ctx;
    const layer_sizes& layer_config;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& others = {}) const {
        const tensor middle = t.call("attention", attention{ctx, layer_config}, x, others);
        const tensor h = t.call("layernorm", norm_module{norm_kind::layer, x.dim(2)}, middle);
        return t.add(t.call("mlp", mlp_block{ctx, layer_config.widening}, h), middle);
    }
};

/// Embeds each pixel as one input, with its features concatenated to those of its position: (B, pixels, 512).
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t pixels = image.image_height * image.image_width;
    const module_info preprocessor{.name = "input_preprocessor",
                                   .class_of_module = ctx.class_of("ImagePreprocessor"),
                                   .module_role = role::embedding};
    t.enter(preprocessor);
    const tensor read = t.call("convnet_1x1", convolution_2d{image.num_channels, features}, image_input(ctx, t));
    const tensor last = t.reshape(read.permute({0, 2, 3, 1}), {read.dim(0), pixels, features});
    const tensor places = t.call("position_embeddings", places_of(ctx, pixels, features), read.dim(0));
    const tensor projected = t.call("positions_projection", linear{features, features, true}, places);
    return t.leave(preprocessor, t.cat({last, projected}, -1));
}

/// One learned row for each image reads the latents and becomes the labels.
constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, batch = x.dim(0);
    const module_info classifier{
        .name = "decoder", .class_of_module = ctx.class_of("ClassificationDecoder"), .module_role = role::head};
    const module_info basic{.name = "decoder", .class_of_module = ctx.class_of("BasicDecoder")};
    const layer_sizes decoder_config{.heads = 1, .key_width = width, .values = width, .widening = 1, .is_cross = true};
    t.enter(classifier);
    t.enter(basic);
    const tensor row = t.call("output_position_encodings", places_of(ctx, 1, width), batch);
    const tensor query = t.call("positions_projection", identity{"Identity"}, row);
    const tensor read = t.call("decoding_cross_attention", layer{ctx, decoder_config}, query, x);
    const tensor labels = t.call("final_layer", linear{width, ctx.config.num_labels, true}, read);
    t.leave(basic);
    t.leave(classifier);
    return t.select(labels, 1);
}

/// Latents that read pixels once, and then each other.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const tensor pixels = embed(ctx, t);
    const learned_rows rows{"latents", ctx.class_of("Embeddings"), family[latents], ctx.config.hidden_size};
    tensor x = t.call("embeddings", rows, pixels.dim(0));
    const layer_sizes cross_config{
        family[heads_across], family[keys_across], family[values], family[widens_across], true, family[residual] != 0};
    const layer_sizes self_config{family[heads_within], family[keys_within], family[values], family[widens_within]};
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    x = t.call("cross_attention", layer{ctx, cross_config}, x, pixels);
    for (loop block = t.loop_calls(family[blocks], x); block.next();)
        for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
            x = t.call({"self_attends", layer_loop.index()}, layer{ctx, self_config}, x);
    return t.leave(encoder, x);
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    const module_info model{.name = "perceiver", .class_of_module = ctx.class_of("Model")};
    t.enter(model_info);
    t.enter(model);
    const tensor x = base(ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    const tensor labels = t.leave(model, classify(ctx, t, x));
    return t.leave(model_info, t.select_model_output(x, labels));
}

constexpr void parse_config(config_view json, model_config& config) {
    const std::int64_t width = config.hidden_size, side = json.positive("image_size", 56);
    config.vision = {side, side, 1, 3};
    const auto channels = [&](literal key, std::int64_t default_value) {
        const auto found = json.find(key);
        return found && !found->is_null() ? found->as_positive() : default_value;
    };
    const string_ref shape = json.string("cross_attention_shape_for_attention", "kv");
    if (shape != "kv" && shape != "q") throw_invalid_value(json, "cross_attention_shape_for_attention", "kv or q");
    config.family[keys_within] = channels("qk_channels", width);
    config.family[keys_across] = channels("qk_channels", shape == "kv" ? 2 * features : width);
    config.family[values] = channels("v_channels", config.family[keys_within]);
    if (config.family[values] != width)
        throw_invalid_value(json, "v_channels", "the width of latents, to which they are added");
    const auto share = [&](literal key, std::int64_t heads, std::int64_t of_keys) {
        if (width % heads != 0 || of_keys % heads != 0)
            throw_invalid_value(json, key, "heads that share all features evenly");
    };
    share("num_self_attention_heads", config.family[heads_within], config.family[keys_within]);
    share("num_cross_attention_heads", config.family[heads_across], config.family[keys_across]);
}

}  // namespace perceiver_detail

// transformers/models/perceiver: configuration_perceiver.py, modeling_perceiver.py; images with learned pixel positions
inline constexpr model_spec perceiver{
    .model_type = "perceiver",
    .class_prefix = "Perceiver",
    .forward = perceiver_detail::forward,
    .parse_config = perceiver_detail::parse_config,
    .family_keys = perceiver_detail::family_keys,
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::image_classification_learned},
    .config_keys = {{"hidden_size", "d_latents", key_rule::family_name_only},
                    {"num_hidden_layers", "num_self_attends_per_block", key_rule::family_name_only}},
    .defaults = {.hidden_size = 1280,
                 .num_hidden_layers = 26,
                 .hidden_act = activation::gelu,
                 .head = head_kind::image_classification_learned},
};

}  // namespace llmcost::arch
