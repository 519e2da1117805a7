// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/idefics3.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost::arch {

namespace smolvlm_detail {

inline constexpr submodel_spec smolvlm_tower = [](model_spec spec) {
    spec.class_prefix = "SmolVLM";
    return spec;
}(idefics3_vision_encoder);

}  // namespace smolvlm_detail

// transformers/models/smolvlm: the same under another name
inline constexpr model_spec smolvlm = [](model_spec spec) {
    spec.model_type = "smolvlm";
    spec.class_prefix = "SmolVLM";
    spec.components[0].default_spec = &smolvlm_detail::smolvlm_tower;
    return spec;
}(idefics3);

}  // namespace llmcost::arch
