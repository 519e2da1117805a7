// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/dual_encoder.hpp>
#include <llmcost/forward/siglip_heads.hpp>
#include <llmcost/layers/multihead_attention.hpp>

namespace llmcost::arch {

namespace siglip_detail {

using siglip_heads::process_logits, siglip_heads::projection, siglip_heads::read_text_half, siglip_heads::uses_head;

inline constexpr family_key family_keys[]{
    {"vision_use_head", 1, family_key_type::boolean},  // a learned query pools the patches
    {.default_value = 256,
     .type = family_key_type::computed},  // SigLIP 2: positions, which are resized to an image's patches
};

/// Patches with learned positions, without a class token.
constexpr tensor_pair states_and_pool(const layer_context& ctx, trace& t, bool reads_pool) {
    const tensor pixels = pixel_values(ctx, t);
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    t.enter(embeddings);
    const tensor patches = embed_patches(ctx, t, "patch_embedding", true, pixels);
    const tensor places =
        learned_positions(t, "position_embedding", patches_of(ctx.config.vision), ctx.config.hidden_size);
    return process_logits(ctx, t, t.leave(embeddings, t.add(patches, places)), reads_pool);
}

constexpr tensor base(const layer_context& ctx, trace& t) { return states_and_pool(ctx, t, false).first; }

inline constexpr family_key text_keys[]{{.type = family_key_type::computed}};

constexpr tensor text_base(const layer_context& ctx, trace& t) { return read_text_half(ctx, t, false).first; }

constexpr void parse_text_config(config_view json, model_config& config) {
    config.family[projection] = json.positive("projection_size", config.hidden_size);
    divide_by_heads(json, config, {"num_attention_heads"});
}

constexpr void parse_pair(config_view json, model& m) {
    const model_config &text = m.config, &images = m.components[0].config;
    select_image_encoder(m);
    if (m.config.head != head_kind::none) return;
    if (images.family[uses_head] == 0)
        throw_unsupported(json, "vision_config", "a vision model without a pooling head is not supported");
    if (text.family[projection] != images.hidden_size)
        throw_invalid_value(json, "text_config", "a projection_size as large as the hidden_size of vision_config");
}

constexpr tensor classify_mean(const layer_context& ctx, trace& t, const tensor& x) {
    return classify_linear(ctx, t, t.mean(x, 1));
}

}  // namespace siglip_detail

// transformers/models/siglip: `SiglipVisionModel`, the images' half
inline constexpr model_spec siglip_vision_model = [](model_spec spec) {
    spec.model_type = "siglip_vision_model";
    spec.class_prefix = "Siglip";
    spec.base_model = siglip_detail::base;
    spec.parse_config = siglip_heads::parse_config;
    spec.family_keys = siglip_detail::family_keys;
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    spec.dropout_keys = tower_dropout;
    return spec;
}(shared_tower);

// transformers/models/siglip: `SiglipTextModel`, the texts' half
inline constexpr submodel_spec siglip_text_model = [](model_spec spec) {
    spec.model_type = "siglip_text_model";
    spec.class_prefix = "Siglip";
    spec.base_model = siglip_detail::text_base;
    spec.parse_config = siglip_detail::parse_text_config;
    spec.family_keys = siglip_detail::text_keys;
    spec.defaults.vocab_size = 32000;
    spec.defaults.max_position_embeddings = 64;
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return spec;
}(text_tower);

// transformers/models/siglip: modeling_siglip.py, texts and images in one space, and the images' half under a
// classifier
inline constexpr model_spec siglip = [](model_spec spec) {
    spec.model_type = "siglip";
    spec.class_prefix = "Siglip";
    spec.parse_composite_config = siglip_detail::parse_pair;
    spec.forward = [](const layer_context& ctx, trace& t) {
        return siglip_heads::forward_dual_encoder(ctx, t, siglip_detail::states_and_pool, siglip_detail::classify_mean);
    };
    spec.text_model.default_spec = &siglip_text_model;
    spec.components[0].default_spec = &siglip_vision_model;
    return spec;
}(shared_pair);

}  // namespace llmcost::arch
