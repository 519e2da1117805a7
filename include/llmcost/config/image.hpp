// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/config/keys.hpp>
#include <llmcost/layers/model_config.hpp>

namespace llmcost {

/// Parses image size, patch size and channels of square images, with the keys of most vision encoders.
constexpr void parse_square_image(config_view json, model_config& config, std::int64_t image, std::int64_t patch) {
    const std::int64_t side = json.positive("image_size", image);
    config.vision = {side, side, json.positive("patch_size", patch), json.positive("num_channels", 3)};
    if (side < config.vision.patch_size) throw_invalid_value(json, "patch_size", "at most the image size");
}

/// The intermediate size of an MLP: the value of `key`, or hidden_size · `ratio`, truncated.
constexpr std::int64_t parse_intermediate_size(config_view json, const model_config& config, literal key, literal ratio,
                                               double default_value) {
    if (const auto found = json.find(key); found && !found->is_null()) return json.positive(key);
    const double inner = json.real(ratio, default_value) * static_cast<double>(config.hidden_size);
    if (!(inner >= 1 && inner <= static_cast<double>(max_input)))
        throw_invalid_value(json, ratio, "a ratio that results in a size of at most 2147483647");
    return static_cast<std::int64_t>(inner);
}

/// Number of selected encoder layers: the length of a list, or 1 for a number.
constexpr std::int64_t count_layers(config_view json, literal key) {
    const auto found = json.find(key);
    if (!found || found->is_null() || !found->is_array()) return 1;
    if (found->size() == 0) throw_invalid_value(json, key, "a layer or a list of layers");
    return static_cast<std::int64_t>(found->size());
}

/// Selected encoder layers as a bit mask: bit i selects the states after i layers.
///
/// Negative numbers count from the end. Returns 0 for an invalid layer, for a duplicate, and for more than 40 layers.
constexpr std::int64_t parse_selected_layers(config_view json, literal key, std::int64_t layers,
                                             std::initializer_list<std::int64_t> defaults) {
    std::int64_t bits = 0, n = 0;
    bool known = true;
    const auto route = [&](std::int64_t layer) {
        const std::int64_t i = layer < 0 ? layer + layers + 1 : layer;
        known = known && i >= 0 && i <= layers && i < 63 && (bits >> i & 1) == 0 && ++n <= 40;
        if (known) bits |= std::int64_t{1} << i;
    };
    const auto select_entry = [&](config_view entry) {
        const std::int64_t layer = entry.as_integer();
        if (layer < -layers - 1 || layer > layers) throw_invalid_value(json, key, "layers of the encoder");
        route(layer);
    };
    const auto found = json.find(key);
    if (!found || found->is_null())
        for (const std::int64_t layer : defaults) route(layer);
    else if (!found->is_array())
        select_entry(*found);
    else
        for (const config_view layer : *found) select_entry(layer);
    return known ? bits : 0;
}

}  // namespace llmcost
