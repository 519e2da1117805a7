// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/model/sizes.hpp>
#include <llmcost/reading/keys.hpp>

namespace llmcost {

/// Sides of a square image and of its patches, and channels, under the names that most towers give them.
constexpr void read_square_image(config_view config, sizes& s, std::int64_t image, std::int64_t patch) {
    const std::int64_t side = config.positive("image_size", image);
    s.vision = {side, side, config.positive("patch_size", patch), config.positive("num_channels", 3)};
    if (side < s.vision.patch_size) fail_value(config, "patch_size", "at most the image's size");
}

/// A number, or as many of them as a list has: which of a tower's layers are read.
constexpr std::int64_t count_layers(config_view config, literal key) {
    const auto found = config.find(key);
    if (!found || found->is_null() || !found->is_array()) return 1;
    if (found->size() == 0) fail_value(config, key, "a layer or a list of some");
    return static_cast<std::int64_t>(found->size());
}

}  // namespace llmcost
