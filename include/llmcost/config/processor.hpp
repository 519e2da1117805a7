// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <llmcost/base/config_view.hpp>
#include <llmcost/layers/family_config.hpp>

// Image preprocessing parameters, from files next to the configuration.
namespace llmcost {

/// The configuration of an image processor or a feature extractor, if there is one.
///
/// The newer file, with an object per processor, takes precedence over the older one.
///
/// Source: transformers/image_processing_base.py, `get_image_processor_dict`;
/// transformers/feature_extraction_utils.py, `get_feature_extractor_dict`.
constexpr maybe<config_view> find_processor_config(config_view json, std::initializer_list<literal> keys) {
    const auto newer = json.optional_object("processor_config"), older = json.optional_object("preprocessor_config");
    if (newer)
        // A video processor samples frames before llmcost counts them, so its keys are not read.
        (void)newer->find("video_processor");
    for (const literal key : keys)
        if (const auto nested_json = newer ? newer->optional_object(key) : maybe<config_view>{}) return nested_json;
    if (!older) return {};
    for (const literal key : keys)
        if (const auto nested_json = older->optional_object(key)) return nested_json;
    return older;
}

/// Maximum number of image tiles. All grids with fewer tiles are compared.
inline constexpr std::int64_t max_tiles_of_image = 1024;

/// Checks that a size, a number or an object of height and width, is that of the vision encoder.
constexpr void expect_side(config_view json, literal key, std::int64_t side, literal expected) {
    const auto found = json.find(key);
    if (!found || found->is_null()) return;
    if (!found->is_object()) {
        if (found->as_positive() != side) throw_invalid_value(json, key, expected);
        return;
    }
    for (const literal side_key : {"height", "width", "longest_edge", "shortest_edge"})
        if (found->positive(side_key, side) != side) throw_invalid_value(*found, side_key, expected);
}

/// Checks that the preprocessed image has the size of the vision encoder.
constexpr void expect_picture(config_view json, std::int64_t side) {
    expect_side(json, "size", side, "the image_size of the vision encoder");
    if (json.boolean("do_center_crop", true))
        expect_side(json, "crop_size", side, "the image_size of the vision encoder");
}

/// Checks that images are resized. Otherwise, the number of tokens is unknown.
constexpr void expect_resized(config_view json) {
    if (!json.boolean("do_resize", true))
        throw_unsupported(json, "do_resize", "images without resizing are not supported");
}

/// Checks the patch size, and the number of patches per side that are merged to one token.
constexpr void expect_patches(config_view json, std::int64_t patch, std::int64_t merged) {
    expect_resized(json);
    expect_side(json, "patch_size", patch, "the patch_size of the vision encoder");
    expect_side(json, "merge_size", merged, "the merge size of the configuration");
}

/// Parses bounds of the number of pixels with their older keys.
constexpr void parse_older_bounds(config_view json, family_config& family, std::size_t minimum, std::size_t maximum) {
    family[minimum] = json.positive("min_pixels", family[minimum]);
    family[maximum] = json.positive("max_pixels", family[maximum]);
    if (family[minimum] <= family[maximum]) return;
    throw_invalid_value(json,
                        json.contains("min_pixels")   ? "min_pixels"
                        : json.contains("max_pixels") ? "max_pixels"
                                                      : "size",
                        "a minimum number of pixels that is at most the maximum");
}

/// Parses bounds of the number of pixels from `size`.
constexpr void parse_size_bounds(config_view json, family_config& family, std::size_t minimum, std::size_t maximum) {
    const auto size = json.optional_object("size");
    if (!size) return;
    family[minimum] = size->positive("shortest_edge");
    family[maximum] = size->positive("longest_edge");
    if (family[minimum] > family[maximum]) throw_invalid_value(*size, "shortest_edge", "at most longest_edge");
}

/// Parses bounds of the number of pixels from `size`, or from the older keys, which take precedence.
///
/// Source: transformers/models/qwen2_vl/image_processing_qwen2_vl.py, `Qwen2VLImageProcessor.__init__`.
constexpr void parse_bounds_of_pixels(config_view json, family_config& family, std::size_t minimum,
                                      std::size_t maximum) {
    if (json.optional_positive("min_pixels") && json.optional_positive("max_pixels"))
        return parse_older_bounds(json, family, minimum, maximum);
    if (const auto size = json.optional_object("size")) {
        family[minimum] = json.optional_positive("min_pixels") ? family[minimum] : size->positive("shortest_edge");
        family[maximum] = json.optional_positive("max_pixels") ? family[maximum] : size->positive("longest_edge");
    }
    parse_older_bounds(json, family, minimum, maximum);
}

/// Parses bounds of the number of tiles.
constexpr void parse_bounds_of_tiles(config_view json, family_config& family, std::size_t minimum, std::size_t maximum,
                                     literal fewest = "min_patches", literal largest = "max_patches") {
    family[minimum] = json.positive(fewest, family[minimum]);
    family[maximum] = json.positive(largest, family[maximum]);
    if (family[maximum] > max_tiles_of_image) throw_unsupported(json, largest, "unsupported number of image tiles");
}

}  // namespace llmcost
