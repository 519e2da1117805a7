// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/clip.hpp>

namespace llmcost::arch {

namespace metaclip_2_detail {

constexpr model_spec named(model_spec spec) {
    spec.class_prefix = "MetaClip2";
    return spec;
}
inline constexpr submodel_spec texts = named(clip_text_model), images = named(clip_vision_model);

}  // namespace metaclip_2_detail

// transformers/models/metaclip_2: CLIP of many languages
inline constexpr model_spec metaclip_2 = [](model_spec spec) {
    spec.model_type = "metaclip_2";
    spec.class_prefix = "MetaClip2";
    spec.text_model.default_spec = &metaclip_2_detail::texts;
    spec.components[0].default_spec = &metaclip_2_detail::images;
    return spec;
}(clip);

}  // namespace llmcost::arch
