// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/glm4v.hpp>
#include <llmcost/forward/glm_vision.hpp>
#include <llmcost/forward/router_balance.hpp>

namespace llmcost::arch {

namespace glm_ocr_detail {

using glm_vision::parse_rotary;

inline constexpr family_key keys_of_ocr[]{
    {"patch_size", 14},        {"temporal_patch_size", 2}, {"in_channels", 3}, {"spatial_merge_size", 2},
    {"out_hidden_size", 1536}, {"image_size", 336},        {"num_heads", 16},
};

constexpr void parse_ocr_text(config_view json, model_config& config) {
    config.attention_bias = config.output_bias = false;
    set_single_mask(json, config);
    parse_rotary(json, config, 1.0);
}

}  // namespace glm_ocr_detail

// The text model of GLM-OCR. Derived from GLM-4V, with heads of size `head_dim` and without biases.
//
// Source: transformers/models/glm_ocr
inline constexpr model_spec glm_ocr_text = [](model_spec spec) {
    spec.model_type = "glm_ocr_text";
    spec.class_prefix = "GlmOcr";
    spec.parse_config = glm_ocr_detail::parse_ocr_text;
    spec.defaults.vocab_size = 59392;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 16;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 131072;
    return spec;
}(glm4v_text);

inline constexpr submodel_spec glm_ocr_vision = [](model_spec spec) {
    spec.model_type = "glm_ocr_vision";
    spec.class_prefix = "GlmOcr";
    spec.base_model = glm_vision::encode_images<true>;
    spec.family_keys = glm_ocr_detail::keys_of_ocr;
    spec.names.mlp_class_prefix = "";
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.attention_bias = true;
    return spec;
}(glm4v_vision);

// Source: transformers/models/glm_ocr
inline constexpr model_spec glm_ocr = [](model_spec spec) {
    spec.model_type = "glm_ocr";
    spec.class_prefix = "GlmOcr";
    spec.text_model.default_spec = &glm_ocr_text;
    spec.components[0].default_spec = &glm_ocr_vision;
    return spec;
}(glm4v);

}  // namespace llmcost::arch
