// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <llmcost/reading/reader.hpp>

// What configurations say of images and of the stages that shrink them.
namespace llmcost {

/// More stages of an encoder of images are refused: `own_sizes` holds three lists of so many.
inline constexpr std::int64_t most_stages = 6;

/// The size of images, one number or a pair, and their channels; a convolution takes any that is large enough.
constexpr vision_sizes read_images(config_view config, std::int64_t size) {
    vision_sizes image{size, size, 0, config.positive("num_channels", 3)};
    const auto found = config.find("image_size");
    if (!found || found->is_null()) return image;
    if (!found->is_array()) {
        image.image_height = image.image_width = found->as_positive();
        return image;
    }
    if (found->size() != 2) fail_value(config, "image_size", "a size or a pair of sizes");
    image.image_height = (*found)[0].as_positive(), image.image_width = (*found)[1].as_positive();
    return image;
}

/// A list of a number for each stage, or what it is without one, into `own` from `at` on: how many there are.
constexpr std::int64_t read_stages(config_view config, literal key, std::initializer_list<std::int64_t> otherwise,
                                   own_sizes& own, std::size_t at, std::int64_t most = most_stages, bool zeros = false) {
    const auto found = config.find(key);
    std::int64_t n = 0;
    if (!found || found->is_null()) {
        for (const std::int64_t each : otherwise) own[at + static_cast<std::size_t>(n++)] = each;
        return n;
    }
    if (!found->is_array()) fail_value(config, key, "a list with a number for each stage");
    if (found->size() == 0) fail_value(config, key, "a list of at least one stage");
    if (found->size() > most) fail_unsupported(config, key, "no row describes so many stages");
    for (const config_view each : *found)
        own[at + static_cast<std::size_t>(n++)] = zeros ? each.as_non_negative() : each.as_positive();
    return n;
}

/// The same for a list that must have a number for each of so many stages.
constexpr void read_stages_of(config_view config, literal key, std::initializer_list<std::int64_t> otherwise, own_sizes& own,
                              std::size_t at, std::int64_t stages, std::int64_t most = most_stages, bool zeros = false) {
    if (read_stages(config, key, otherwise, own, at, most, zeros) != stages)
        fail_value(config, key, "a number for each stage");
}

/// A ratio among a family's sizes: its bits, so that widths come out as the reference's floating-point products do.
constexpr void read_ratio(config_view config, literal key, double otherwise, own_sizes& own, std::size_t at) {
    const double ratio = config.real(key, otherwise);
    if (!(ratio > 0.0 && ratio < 1e6)) fail_value(config, key, "a positive ratio");
    own[at] = __builtin_bit_cast(std::int64_t, ratio);
}

}  // namespace llmcost
