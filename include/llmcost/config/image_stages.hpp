// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <llmcost/config/reader.hpp>

// Configuration of images and of encoder stages that reduce the resolution.
namespace llmcost {

/// Maximum number of stages: `family_config` stores three lists of this length.
inline constexpr std::int64_t max_stages = 6;

/// Parses image size (a number or a pair) and channels, for convolutions with any sufficiently large image.
constexpr vision_config parse_image_size(config_view json, std::int64_t size) {
    vision_config image{size, size, 0, json.positive("num_channels", 3)};
    const auto found = json.find("image_size");
    if (!found || found->is_null()) return image;
    if (!found->is_array()) {
        image.image_height = image.image_width = found->as_positive();
        return image;
    }
    if (found->size() != 2) throw_invalid_value(json, "image_size", "a size or a pair of sizes");
    image.image_height = (*found)[0].as_positive();
    image.image_width = (*found)[1].as_positive();
    return image;
}

/// Parses a list with one number per stage, or its default, to family keys from `offset`. Returns the number of stages.
constexpr std::int64_t parse_stages(config_view json, literal key, std::initializer_list<std::int64_t> defaults,
                                    family_config& family, std::size_t offset, std::int64_t maximum = max_stages,
                                    bool zeros = false) {
    const auto found = json.find(key);
    std::int64_t n = 0;
    if (!found || found->is_null()) {
        for (const std::int64_t stage_value : defaults) family[offset + static_cast<std::size_t>(n++)] = stage_value;
        return n;
    }
    if (!found->is_array()) throw_invalid_value(json, key, "a list with one number per stage");
    if (found->size() == 0) throw_invalid_value(json, key, "a list of at least one stage");
    if (found->size() > maximum) throw_unsupported(json, key, "unsupported number of stages");
    for (const config_view entry : *found)
        family[offset + static_cast<std::size_t>(n++)] = zeros ? entry.as_non_negative() : entry.as_positive();
    return n;
}

/// Parses a list that must have one number for each of `stages` stages.
constexpr void parse_stages_of(config_view json, literal key, std::initializer_list<std::int64_t> defaults,
                               family_config& family, std::size_t offset, std::int64_t stages,
                               std::int64_t maximum = max_stages, bool zeros = false) {
    if (parse_stages(json, key, defaults, family, offset, maximum, zeros) != stages)
        throw_invalid_value(json, key, "one number per stage");
}

/// Parses a ratio and stores its bits as a family key, so that products equal those of the reference.
constexpr void parse_ratio(config_view json, literal key, double default_value, family_config& family,
                           std::size_t offset) {
    const double ratio = json.real(key, default_value);
    if (!(ratio > 0.0 && ratio < 1e6)) throw_invalid_value(json, key, "a positive ratio");
    family[offset] = __builtin_bit_cast(std::int64_t, ratio);
}

}  // namespace llmcost
