// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/clip.hpp>

namespace llmcost::arch {

namespace metaclip_2_detail {

constexpr architecture named(architecture a) {
    a.prefix = "MetaClip2";
    return a;
}
inline constexpr architecture texts = named(clip_text_model), images = named(clip_vision_model);

}  // namespace metaclip_2_detail

// transformers/models/metaclip_2: CLIP of many languages
inline constexpr architecture metaclip_2 = [](architecture a) {
    a.model_type = "metaclip_2", a.prefix = "MetaClip2";
    a.text.otherwise = &metaclip_2_detail::texts, a.beside[0].otherwise = &metaclip_2_detail::images;
    return a;
}(clip);

}  // namespace llmcost::arch
