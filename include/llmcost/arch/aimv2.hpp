// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/layers.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// AIMv2 vision encoder (`Aimv2VisionModel`): gated MLP blocks after RMS norms.
//
// Source: transformers/models/aimv2

namespace llmcost::arch {

namespace aimv2_detail {

enum family_config_index : std::uint8_t { uses_head };
inline constexpr family_key family_keys[]{{"use_head", 1, family_key_type::boolean}};

struct layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const mlp_module block{mlp_kind::gated,       ctx.config.hidden_size, ctx.config.intermediate_size,
                               ctx.config.hidden_act, ctx.class_of("MLP"),    ctx.config.mlp_bias};
        const tensor middle = t.add(x, t.call("attention", attention_module{ctx}, apply_norm(ctx, t, "rms_norm1", x)));
        return t.add(middle, t.call("ffn", block, apply_norm(ctx, t, "rms_norm2", middle)));
    }
};

/// Attention pooling: a learned query attends to all patches. (B, S, width) -> (B, width).
struct pooling_head {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AttentionPoolingHead"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads, batch = x.dim(0);
        const linear project{width, width, ctx.config.attention_bias};
        const tensor token = t.param("cls_token", {1, 1, width}).expand({batch, 1, width});
        const auto split = [&](const tensor& all) {
            return t.reshape(all, {batch, all.dim(1), heads, width / heads}).permute({0, 2, 1, 3});
        };
        const tensor k = split(t.call("k_proj", project, x)), v = split(t.call("v_proj", project, x)), q = split(token);
        const attention_pattern all{.query_length = 1, .cached_length = x.dim(1) - 1, .is_causal = false};
        const trace::dropout_guard keeps_all{t, {}};
        const bool fused = t.load().implementation == attention_implementation::sdpa;
        const tensor mixed = fused ? sdpa_attention_heads(t, q, k, v, all, {}) : math_attention_heads(t, q, k, v, all);
        const tensor attention_output = t.reshape(mixed.transpose(1, 2), {batch, 1, width});
        return t.call("output_proj", linear{width, width, true}, t.mean(attention_output, 1));
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(embeddings);
    const tensor patches =
        apply_norm(ctx, t, "rms_norm", embed_patches(ctx, t, "patch_embed", true, pixel_values(ctx, t)));
    const tensor places =
        learned_positions(t, "position_embedding", patches_of(ctx.config.vision), ctx.config.hidden_size);
    tensor x = t.leave(embeddings, t.add(patches, places));
    const attention_inputs no_inputs;
    t.enter(encoder);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, layer{ctx.for_layer(layer_loop, no_inputs)}, x);
    t.leave(encoder);
    x = apply_norm(ctx, t, "rms_norm", x);
    if (ctx.config.family[uses_head] == 0) return x;
    const recorder::detach_guard unread{t};
    (void)t.call("head", pooling_head{ctx}, x);
    return x;
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_square_image(json, config, 224, 14);
    divide_by_heads(json, config, {"num_attention_heads"});
    if (json.boolean("is_native", false))
        throw_unsupported(json, "is_native", "computed positions for images of any size are not supported");
    config.attention_bias = config.output_bias = json.boolean("qkv_bias", false);
}

}  // namespace aimv2_detail

inline constexpr model_spec aimv2_vision_model = [](model_spec spec) {
    spec.model_type = "aimv2_vision_model";
    spec.class_prefix = "Aimv2";
    spec.base_model = aimv2_detail::base;
    spec.parse_config = aimv2_detail::parse_config;
    spec.family_keys = aimv2_detail::family_keys;
    spec.dropout_keys = tower_dropout;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 2816;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 8;
    spec.defaults.hidden_act = activation::silu;
    return spec;
}(shared_tower);

}  // namespace llmcost::arch
