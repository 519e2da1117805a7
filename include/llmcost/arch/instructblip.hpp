// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/blip_2.hpp>
#include <llmcost/forward/qformer.hpp>

namespace llmcost::arch {

namespace instructblip_detail {

/// Q-Former: learned queries followed by instruction tokens, with a norm over both. Returns only the queries.

inline constexpr family_key former_keys[]{qformer::former_keys[0],
                                          {.default_value = 1, .type = family_key_type::computed},
                                          qformer::former_keys[2],
                                          qformer::former_keys[3]};

}  // namespace instructblip_detail

/// Parts of BLIP-2 with names of these.
constexpr model_spec instructblip_vision_encoder_of(model_spec spec, literal prefix) {
    spec.class_prefix = prefix;
    return spec;
}

constexpr model_spec instructblip_qformer_of(model_spec spec, literal prefix) {
    spec.class_prefix = prefix;
    spec.family_keys = instructblip_detail::former_keys;
    return spec;
}

namespace instructblip_detail {

inline constexpr submodel_spec tower = instructblip_vision_encoder_of(blip_2_vision_encoder, "InstructBlip");

inline constexpr submodel_spec former = instructblip_qformer_of(blip_2_qformer, "InstructBlip");

}  // namespace instructblip_detail

// transformers/models/instructblip: BLIP-2 whose queries read an instruction, too
inline constexpr model_spec instructblip = [](model_spec spec) {
    spec.model_type = "instructblip";
    spec.class_prefix = "InstructBlip";
    spec.forward = forward_blip_2<qformer::query>;
    spec.components[0].default_spec = &instructblip_detail::tower;
    spec.components[1].default_spec = &instructblip_detail::former;
    return spec;
}(blip_2);

}  // namespace llmcost::arch
