// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/exaone4.hpp>
#include <llmcost/arch/qwen2_5_vl.hpp>
#include <llmcost/forward/qwen_vision.hpp>

// EXAONE 4.5. A vision encoder like Qwen2.5-VL's before EXAONE 4.
//
// Source: transformers/models/exaone4_5

namespace llmcost::arch {

namespace exaone4_5_detail {

/// Qwen2.5-VL's vision attention with grouped-query attention.
struct attention {
    layer_context ctx;
    const packed_attention_pattern& made;
    const packed_sequences& runs;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t rows = x.dim(0), width = x.dim(1), d = ctx.config.head_dim;
        const std::int64_t heads = ctx.config.num_attention_heads, groups = ctx.config.num_key_value_heads;
        const tensor all = t.call("qkv", linear{width, (heads + 2 * groups) * d, true}, x);
        const auto part = [&](std::int64_t n) { return t.slice(all, -1, n * d).view({rows, n, d}); };
        const auto apply_rotary = [&](const tensor& states) {
            return t.to(rotate<rotary_style::rotate_half>(t, t.to(states, dtype::float32), made.cos, made.sin),
                        states.type);
        };
        const tensor q = apply_rotary(part(heads)), k = apply_rotary(part(groups));
        return t.call("proj", linear{width, width, true},
                      packed_scaled_dot_product_attention(t, q, k, part(groups), runs));
    }
};

constexpr tensor encode_images(const layer_context& ctx, trace& t) {
    constexpr qwen_vision::window_names names{{"Exaone4_5_", "PatchEmbed"}, "Exaone4_5_", "Exaone4_5_RMSNorm"};
    return qwen_vision::encode_windowed_images(
        ctx, t, names, ctx.config.head_dim,
        [](const layer_context& layer_ctx, const packed_attention_pattern& made, const packed_sequences& runs) {
            return attention{layer_ctx, made, runs};
        });
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.model_type = "exaone4_5_vision";
    spec.class_prefix = "Exaone4_5_";
    spec.base_model = encode_images;
    spec.names.model_class = "VisionModel";
    spec.defaults.num_key_value_heads = 8;
    return spec;
}(qwen2_5_vl_vision);

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        return insert_image_features(ctx, t, token_embeddings,
                                     [&] { return forward_encoder_component(ctx, t, 0, "visual", role::vision); });
    });
}

}  // namespace exaone4_5_detail

inline constexpr model_spec exaone4_5 = [](model_spec spec) {
    spec.model_type = "exaone4_5";
    spec.class_prefix = "Exaone4_5_";
    spec.base_model = exaone4_5_detail::base;
    spec.family_keys = qwen_vision::bound_keys;
    spec.compute_media_shapes = qwen_vision::compute_media_shapes;
    spec.parse_image_processor = qwen_vision::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &exaone4, .alternative_model_type = "exaone4_5_text"};
    spec.components[0] = {.key = "vision_config", .default_spec = &exaone4_5_detail::tower, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
