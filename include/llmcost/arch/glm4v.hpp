// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/layer_types.hpp>
#include <llmcost/forward/glm_vision.hpp>
#include <llmcost/forward/qwen_vision.hpp>

namespace llmcost::arch {

namespace glm4v_detail {

using glm_vision::parse_rotary;

inline constexpr family_key family_keys[]{
    {"patch_size", 14},        {"temporal_patch_size", 2}, {"in_channels", 3}, {"spatial_merge_size", 2},
    {"out_hidden_size", 4096}, {"image_size", 336},        {"num_heads", 12},
};

/// Media shapes of images and videos. A single image is a video of one pair of frames.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    return qwen_vision::compute_shapes_within(m, load, {.all_frames = true, .of_pairs = true});
}

inline constexpr family_key model_keys[]{
    {.default_value = 112 * 112, .type = family_key_type::computed},
    {.default_value = 28 * 28 * 15000, .type = family_key_type::computed},
    {.default_value = 112 * 112, .type = family_key_type::computed},
    {.default_value = 28 * 28 * 2 * 30000, .type = family_key_type::computed},
    {.type = family_key_type::computed},
};

/// Parses the text configuration. The heads have hidden_size / heads elements, independent of `head_dim`.
constexpr void parse_text_config(config_view json, model_config& config) {
    const std::int64_t configured_head_dim = config.head_dim;
    config.head_dim = config.hidden_size / config.num_attention_heads;
    if (config.head_dim != configured_head_dim)
        throw_invalid_value(json, "head_dim", "hidden_size / num_attention_heads, or absent");
    config.attention_bias = true;
    config.output_bias = false;
    set_single_mask(json, config);
    parse_rotary(json, config, 1.0);
}

}  // namespace glm4v_detail

// The text model of GLM-4V. Derived from the default decoder, with these differences:
//  - norms before and after each block;
//  - interleaved RoPE with positions on three axes.
//
// Source: transformers/models/glm4v
inline constexpr model_spec glm4v_text = [](model_spec spec) {
    spec.model_type = "glm4v_text";
    spec.class_prefix = "Glm4v";
    spec.parse_config = glm4v_detail::parse_text_config;
    spec.supported_heads = {head_kind::none};
    spec.decoder_layer = sandwich_norm_layer;
    spec.dense_mlp = mlp_kind::fused_gated;
    spec.rotary = rotary_style::interleaved;
    spec.rotary_axes = rotary_axis_layout::sections;
    spec.has_partial_rotary = true;
    spec.names.model_class = "TextModel";
    spec.names.layer_class = "TextDecoderLayer";
    spec.names.attention_class = "TextAttention";
    spec.names.mlp_class = "TextMLP";
    spec.names.rotary_class = "TextRotaryEmbedding";
    spec.names.post_attention_norm = "post_self_attn_layernorm";
    spec.names.post_mlp_norm = "post_mlp_layernorm";
    spec.names.mlp_modules.gate = "gate_up_proj";
    spec.names.mlp_modules.act = "activation_fn";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.defaults = {.vocab_size = 151552,
                     .hidden_size = 4096,
                     .intermediate_size = 13696,
                     .num_hidden_layers = 40,
                     .num_attention_heads = 32,
                     .num_key_value_heads = 2,
                     .max_position_embeddings = 32768,
                     .head = head_kind::none};
    return spec;
}(default_decoder);

// The vision encoder (`Glm4vVisionConfig`).
//
// Source: transformers/models/glm4v
inline constexpr submodel_spec glm4v_vision{
    .model_type = "glm4v_vision",
    .class_prefix = "Glm4v",
    .base_model = glm_vision::encode_images<false>,
    .family_keys = glm4v_detail::family_keys,
    .rotary = rotary_style::none,
    .names = {.model_class = "VisionModel", .mlp_class = "VisionMlp", .mlp_class_prefix = "Glm4"},
    .config_keys = {{"num_hidden_layers", "depth", key_rule::standard_name_first}},
    .defaults = {.hidden_size = 1536, .intermediate_size = 13696, .num_hidden_layers = 24},
};

// Source: transformers/models/glm4v
inline constexpr model_spec glm4v = [](model_spec spec) {
    spec.model_type = "glm4v";
    spec.class_prefix = "Glm4v";
    spec.base_model = qwen_vision::forward_vision_language<false>;
    spec.family_keys = glm4v_detail::model_keys;
    spec.compute_media_shapes = glm4v_detail::compute_media_shapes;
    spec.modalities.has_images = spec.modalities.has_videos = true;
    spec.parse_image_processor = qwen_vision::parse_size_alone;
    spec.text_model = {
        .key = "text_config", .default_spec = &glm4v_text, .ignores_model_type = true, .ties_embeddings = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &glm4v_vision, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
