// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/clip.hpp>

// CLIPSeg (`CLIPSegModel`). Derived from CLIP, with positions for images of any size. The mask decoder is not included.
//
// Source: transformers/models/clipseg

namespace llmcost::arch {

namespace clipseg_detail {

constexpr model_spec named(model_spec spec) {
    spec.class_prefix = "CLIPSeg";
    return spec;
}
inline constexpr submodel_spec texts = named(clip_text_model), images = named(clip_vision_model);

}  // namespace clipseg_detail

inline constexpr model_spec clipseg = [](model_spec spec) {
    spec.model_type = "clipseg";
    spec.class_prefix = "CLIPSeg";
    spec.supported_heads = {head_kind::none};
    spec.text_model.default_spec = &clipseg_detail::texts;
    spec.components[0].default_spec = &clipseg_detail::images;
    return spec;
}(clip);

}  // namespace llmcost::arch
