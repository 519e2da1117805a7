// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/vision_encoder.hpp>
#include <llmcost/layers/family_config.hpp>

// RADIO: sizes of its vision encoder.
namespace llmcost::radio_config {

enum family_config_index : std::uint8_t { largest, summaries, registers, frames, swiglu, biased, drops, picked };

inline constexpr family_key family_keys[]{
    {"max_img_size", 2048},
    {"num_cls_tokens", 3, family_key_type::non_negative},
    {"num_registers", 7, family_key_type::non_negative},
    {"video_temporal_patch_size", 0, family_key_type::non_negative},  // 0: no videos
    {"use_swiglu_ffn", 0, family_key_type::boolean},
    {"qkv_bias", 1, family_key_type::boolean},
    {.type = family_key_type::computed},                      // whether blocks may be dropped in training
    {.default_value = 2, .type = family_key_type::computed},  // number of summary tokens that are returned
};

inline constexpr family_key keys_of_pairs[]{
    family_keys[0], family_keys[1], family_keys[2], {"video_temporal_patch_size", 2},
    family_keys[4], family_keys[5], family_keys[6], family_keys[7]};

}  // namespace llmcost::radio_config
