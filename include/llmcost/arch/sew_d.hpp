// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/sew.hpp>
#include <llmcost/forward/disentangled_attention.hpp>
#include <llmcost/forward/squeezed_frames.hpp>
#include <llmcost/forward/wav2vec2_encoder.hpp>

// SEW whose layers are DeBERTa's.
namespace llmcost::arch {

namespace sew_d_detail {

using deberta_index = deberta_layers::family_config_index;

/// In the places of adapters, which these have not.
enum family_config_index : std::uint8_t {
    buckets = wav2vec2_encoder::adapter_layers,
    furthest = wav2vec2_encoder::adapter_kernel,
    kinds = wav2vec2_encoder::adapter_stride
};

enum : std::int64_t { content_to_place = 1, place_to_content = 2, shares_projections = 4, norms_places = 8 };

struct config_key_table {
    family_key family_keys[wav2vec2_encoder::adapter_width + 1];

    constexpr config_key_table() {
        for (std::size_t i = 0; i <= wav2vec2_encoder::adapter_width; ++i)
            family_keys[i] = squeezed_frames::table.family_keys[i];
        family_keys[buckets] = family_keys[furthest] = family_keys[kinds] = {.type = family_key_type::computed};
    }
};

inline constexpr config_key_table table{};

/// The sizes as DeBERTa's layers read them.
constexpr model_config inner_of(const model_config& config) {
    model_config inner = config;
    const auto has = [&](std::int64_t kind) { return (config.family[kinds] & kind) != 0 ? 1 : 0; };
    inner.family = {};
    inner.family[deberta_index::relative] = 1;
    inner.family[deberta_index::buckets] = config.family[buckets];
    inner.family[deberta_index::furthest] = config.family[furthest];
    inner.family[deberta_index::content_to_place] = has(content_to_place);
    inner.family[deberta_index::place_to_content] = has(place_to_content);
    inner.family[deberta_index::shares_projections] = has(shares_projections);
    inner.family[deberta_index::norms_places] = has(norms_places);
    return inner;
}

/// `XSoftmax`, with a backward of its own: hidden scores are the least there is, their probabilities zeros.
constexpr tensor soften(trace& t, const tensor& scores) {
    tensor out;
    {
        const recorder::no_grad_guard custom_backward{t};
        out = t.softmax(t.masked_fill(scores));
        t.masked_fill_(out);
    }
    if (!scores.requires_grad) return out;
    const tensor* const read[]{&scores};
    t.record_autograd_function(out, read, 1);
    t.save_for_backward(out);
    // output * (grad - sum(output * grad)), a sum for each row
    const count all(out.numel);
    t.add_backward_cost({.add = all * count(2) - all / count(out.dim(-1)), .mult = all * count(2)});
    return out;
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    return deberta_layers::disentangled_attention(ctx, t, x, {soften, "StableDropout"});
}

struct layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const { return deberta_layers::decoder_layer(ctx, t, x); }
};

constexpr tensor encode(const layer_context& ctx, trace& t, const tensor& features) {
    const module_info encoder{
        .name = "encoder", .class_of_module = ctx.class_of("Encoder"), .module_role = role::encoder};
    const module_info inner{.name = "encoder", .class_of_module = ctx.class_of("TransformerEncoder")};
    const model_config config = inner_of(ctx.config);
    const layer_context inner_ctx{ctx.model, ctx.spec, config};
    t.enter(encoder);
    tensor x = squeezed_frames::pool_features(ctx, t, features);
    t.enter(inner);
    if (ctx.config.family[buckets] > 0) deberta_layers::make_buckets(t, x.dim(1));
    attention_inputs inputs;
    inputs.pattern = {.query_length = x.dim(1), .is_causal = false};
    inputs.family_tensors[0] = deberta_layers::embed_distances(inner_ctx, t);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layer", layer_loop.index()}, layer{inner_ctx.for_layer(layer_loop, inputs)}, x);
    x = t.leave(inner, x);
    return t.leave(encoder, squeezed_frames::upsample(ctx, t, x, features.dim(1)));
}

constexpr void parse_config(config_view json, model_config& config) {
    squeezed_frames::parse_config(json, config);
    if (!json.boolean("relative_attention", true))
        throw_unsupported(json, "relative_attention", "layers without relative positions are not supported");
    if (json.non_negative("conv_kernel_size", 0) != 0)
        throw_unsupported(json, "conv_kernel_size", "a convolution after the first layer is not supported");
    if (json.positive("attention_head_size", config.head_dim) != config.head_dim)
        throw_invalid_value(json, "attention_head_size", "hidden_size / num_attention_heads");
    const std::int64_t maximum = json.signed_integer("max_relative_positions", -1);
    const std::int64_t n = json.signed_integer("position_buckets", 256);
    config.family[furthest] = maximum < 1 ? config.max_position_embeddings : maximum;
    config.family[buckets] = n > 0 ? n : 0;
    (void)checked_size(json, "max_relative_positions", 2, config.family[furthest]);
    (void)checked_size(json, "position_buckets", 2, config.family[buckets]);
    const bool has_pos_att_type = json.contains("pos_att_type");
    const bool from_contents = !has_pos_att_type || deberta_layers::has_kind(json, "c2p");
    const bool from_places = !has_pos_att_type || deberta_layers::has_kind(json, "p2c");
    if (!from_contents && !from_places)
        throw_unsupported(json, "pos_att_type", "layers without relative-position scores are not supported");
    config.family[kinds] = 0;
    if (from_contents) config.family[kinds] |= content_to_place;
    if (from_places) config.family[kinds] |= place_to_content;
    if (json.boolean("share_att_key", true)) config.family[kinds] |= shares_projections;
    if (deberta_layers::contains(json.string("norm_rel_ebd", "layer_norm"), "layer_norm"))
        config.family[kinds] |= norms_places;
}

}  // namespace sew_d_detail

// transformers/models/sew_d
inline constexpr model_spec sew_d = [](model_spec spec) {
    spec.model_type = "sew-d";
    spec.class_prefix = "SEWD";
    spec.names.base_model = "sew_d";
    spec.parse_config = sew_d_detail::parse_config;
    spec.decoder_layer = sew_d_detail::encode;
    spec.attention = sew_d_detail::attention;
    spec.family_keys = sew_d_detail::table.family_keys;
    spec.dropout_keys = {};
    spec.defaults.max_position_embeddings = 512;
    spec.defaults.hidden_act = activation::gelu_python;
    return spec;
}(sew);

}  // namespace llmcost::arch
