// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <llmcost/model/own_key.hpp>
#include <llmcost/reading/config.hpp>

// What the file beside a configuration says of how images are made ready.
namespace llmcost {

/// What an image processor or a feature extractor is told: the newer file has it under a word of its own, the older one
/// bare, and where both are there the newer one holds.
///
/// Source: transformers/image_processing_base.py, `get_image_processor_dict`; feature_extraction_utils.py,
/// `get_feature_extractor_dict`.
constexpr maybe<config_view> told_beside(config_view config, std::initializer_list<literal> words) {
    const auto newer = config.optional_object("processor_config"), older = config.optional_object("preprocessor_config");
    if (newer) (void)newer->find("video_processor");  // frames are those that it has sampled: known, and not looked into
    for (const literal word : words)
        if (const auto told = newer ? newer->optional_object(word) : maybe<config_view>{}) return told;
    if (!older) return {};
    for (const literal word : words)
        if (const auto told = older->optional_object(word)) return told;
    return older;
}

/// More tiles of an image are refused, of which grids are tried one by one.
inline constexpr std::int64_t most_tiles_of_image = 1024;

/// A side that must be the tower's, as a number or as a height and a width: else pixels do not fit into it.
constexpr void expect_side(config_view told, literal key, std::int64_t side, literal expected) {
    const auto found = told.find(key);
    if (!found || found->is_null()) return;
    if (!found->is_object()) {
        if (found->as_positive() != side) fail_value(told, key, expected);
        return;
    }
    for (const literal along : {"height", "width", "longest_edge", "shortest_edge"})
        if (found->positive(along, side) != side) fail_value(*found, along, expected);
}

/// The same of the picture that every image becomes.
constexpr void expect_picture(config_view told, std::int64_t side) {
    expect_side(told, "size", side, "the image_size of the configuration's tower");
    if (told.boolean("do_center_crop", true))
        expect_side(told, "crop_size", side, "the image_size of the configuration's tower");
}

/// Images that are not resized have as many tokens as nobody counts here.
constexpr void expect_resized(config_view told) {
    if (!told.boolean("do_resize", true))
        fail_unsupported(told, "do_resize", "no row describes images that keep their size");
}

/// Patches, and how many along a side become one token.
constexpr void expect_patches(config_view told, std::int64_t patch, std::int64_t merged) {
    expect_resized(told);
    expect_side(told, "patch_size", patch, "the patch_size of the configuration's tower");
    expect_side(told, "merge_size", merged, "as many patches along a side as the configuration merges");
}

/// Bounds of an image's pixels by their older names.
constexpr void read_older_bounds(config_view told, own_sizes& own, std::size_t least, std::size_t most) {
    own[least] = told.positive("min_pixels", own[least]), own[most] = told.positive("max_pixels", own[most]);
    if (own[least] <= own[most]) return;
    fail_value(told,
               told.contains("min_pixels")   ? "min_pixels"
               : told.contains("max_pixels") ? "max_pixels"
                                             : "size",
               "bounds of pixels of which the lower one is not above the other");
}

/// The same as `size`, which has both.
constexpr void read_size_bounds(config_view told, own_sizes& own, std::size_t least, std::size_t most) {
    const auto size = told.optional_object("size");
    if (!size) return;
    own[least] = size->positive("shortest_edge"), own[most] = size->positive("longest_edge");
    if (own[least] > own[most]) fail_value(*size, "shortest_edge", "at most longest_edge");
}

/// `size`, or the older names, which win.
///
/// Source: transformers/models/qwen2_vl/image_processing_qwen2_vl.py, `Qwen2VLImageProcessor.__init__`.
constexpr void read_bounds_of_pixels(config_view told, own_sizes& own, std::size_t least, std::size_t most) {
    if (told.optional_positive("min_pixels") && told.optional_positive("max_pixels"))
        return read_older_bounds(told, own, least, most);
    if (const auto size = told.optional_object("size")) {
        own[least] = told.optional_positive("min_pixels") ? own[least] : size->positive("shortest_edge");
        own[most] = told.optional_positive("max_pixels") ? own[most] : size->positive("longest_edge");
    }
    read_older_bounds(told, own, least, most);
}

/// How many tiles an image is cut into.
constexpr void read_bounds_of_tiles(config_view told, own_sizes& own, std::size_t least, std::size_t most,
                                    literal fewest = "min_patches", literal largest = "max_patches") {
    own[least] = told.positive(fewest, own[least]), own[most] = told.positive(largest, own[most]);
    if (own[most] > most_tiles_of_image) fail_unsupported(told, largest, "no row describes so many tiles of an image");
}

}  // namespace llmcost
