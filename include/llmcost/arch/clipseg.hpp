// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/clip.hpp>

namespace llmcost::arch {

namespace clipseg_detail {

constexpr architecture named(architecture a) {
    a.prefix = "CLIPSeg";
    return a;
}
inline constexpr architecture texts = named(clip_text_model), images = named(clip_vision_model);

}  // namespace clipseg_detail

// transformers/models/clipseg: `CLIPSegModel`, a CLIP whose positions fit any image; its decoder of masks is no part of it
inline constexpr architecture clipseg = [](architecture a) {
    a.model_type = "clipseg", a.prefix = "CLIPSeg", a.heads = {head_kind::none};
    a.text.otherwise = &clipseg_detail::texts, a.beside[0].otherwise = &clipseg_detail::images;
    return a;
}(clip);

}  // namespace llmcost::arch
