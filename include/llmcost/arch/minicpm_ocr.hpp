// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/minicpmv4_6.hpp>
#include <llmcost/forward/image_slices.hpp>

namespace llmcost::arch {

namespace minicpm_ocr_detail {

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.class_prefix = "MiniCPMOcr";
    return spec;
}(minicpmv4_6_vision_encoder);

constexpr void parse_config(config_view json, model& m) {
    m.family[image_slices::fourfold] = 1;
    image_slices::parse_config(json, m);
}

}  // namespace minicpm_ocr_detail

// transformers/models/minicpm_ocr: MiniCPM-V 4.6 whose windows of patches are not merged
inline constexpr model_spec minicpm_ocr = [](model_spec spec) {
    spec.model_type = "minicpm_ocr";
    spec.class_prefix = "MiniCPMOcr";
    spec.parse_composite_config = minicpm_ocr_detail::parse_config;
    spec.components[0].default_spec = &minicpm_ocr_detail::tower;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(minicpmv4_6);

}  // namespace llmcost::arch
