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

/// The inner width of a feed-forward block: a key, or where it is left out so many times hidden_size, cut off.
constexpr std::int64_t read_inner(config_view config, const sizes& s, literal key, literal ratio, double otherwise) {
    if (const auto found = config.find(key); found && !found->is_null()) return config.positive(key);
    const double inner = config.real(ratio, otherwise) * static_cast<double>(s.hidden_size);
    if (!(inner >= 1 && inner <= static_cast<double>(largest_input)))
        fail_value(config, ratio, "a factor that gives a width up to 2147483647");
    return static_cast<std::int64_t>(inner);
}

/// A number, or as many of them as a list has: which of a tower's layers are read.
constexpr std::int64_t count_layers(config_view config, literal key) {
    const auto found = config.find(key);
    if (!found || found->is_null() || !found->is_array()) return 1;
    if (found->size() == 0) fail_value(config, key, "a layer or a list of some");
    return static_cast<std::int64_t>(found->size());
}

}  // namespace llmcost
