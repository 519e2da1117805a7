// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image.hpp>
#include <llmcost/config/layer_types.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/sam_encoder.hpp>
#include <llmcost/forward/tiles.hpp>
#include <llmcost/forward/vision_encoder.hpp>
#include <llmcost/layers/einsum.hpp>

// DeepSeek-OCR: an image as a global view and local views, each with its own encoder run.
namespace llmcost::local_views {

enum sam_config_index : std::uint8_t { first_channels = 5, last_channels };

/// Tiling rule: a square thumbnail, and tiles of the grid with the nearest aspect ratio if the image is larger than a
/// tile.
struct cut_rule {
    std::int64_t base_size;
    std::int64_t tile;
    std::int64_t minimum;
    std::int64_t maximum;
};

/// Splits an image into a thumbnail and tiles.
///
/// Throws: `description_error` if a side of the image would be rounded to zero.
/// Source: transformers/models/deepseek_ocr2/image_processing_deepseek_ocr2.py.
[[nodiscard]] constexpr media_shape cut(image_size image, const cut_rule& rule) {
    media_shape out{.num_tiles = 0, .height = rule.base_size, .width = rule.base_size};
    const std::int64_t longest = image.height > image.width ? image.height : image.width;
    const std::int64_t shortest = image.height > image.width ? image.width : image.height;
    // Python's round (halves to even) of a side that becomes zero
    if (2 * rule.base_size * shortest <= longest)
        throw_description_error("the image is too narrow: a side is rounded to zero");
    if (longest <= rule.tile || rule.maximum == 0) return out;
    const tile_grid grid = closest_grid(image.height, image.width, rule.tile, rule.minimum, rule.maximum);
    out.tile_rows = grid.rows;
    out.tile_columns = grid.columns;
    out.num_tiles = grid.tiles();
    return out;
}

/// Number of patches per side after both convolutions.
[[nodiscard]] constexpr std::int64_t left_of(std::int64_t side, std::int64_t patch) noexcept {
    const auto halved = [](std::int64_t n) { return (n - 1) / 2 + 1; };
    return halved(halved(side / patch));
}

struct projector : linear {
    static constexpr role module_role = role::projector;
};

/// Encodes thumbnails, then tiles, and inserts the features into the token embeddings.
///
/// `encode_images`: (images, …) -> (images, tokens, width). `concatenate_features` combines the features of one image:
/// (tokens, width).
template <class See, class Join>
constexpr tensor place_cut_images(trace& t, const tensor& token_embeddings, const media_shape& shape, std::int64_t tile,
                                  const See& encode_images, const Join& concatenate_features) {
    const workload load = t.load();
    const std::int64_t images = images_in(t);
    tensor global_features, parts;
    {
        const recorder::workload_guard encoder_workload{t, image_workload(load, images, shape.height, shape.width)};
        global_features = encode_images();
    }
    if (shape.num_tiles > 0) {
        const recorder::shared_parameters_guard shared_parameters{t};
        const recorder::workload_guard encoder_workload{t, image_workload(load, images * shape.num_tiles, tile, tile)};
        parts = encode_images();
    }
    tensor features = trace::buffer({1});
    features.type = global_features.type;
    for (loop one = t.loop_time_steps(images, features); one.next();)
        features = concatenate_features(global_features.select(0),
                                        shape.num_tiles > 0 ? parts.slice(0, shape.num_tiles) : tensor{});
    tensor all = features;
    all.size[0] *= images;
    all.numel *= static_cast<std::uint64_t>(images);
    return t.masked_scatter(token_embeddings, t.cat({all}, 0));
}

/// Parses the vision configuration, which contains the configurations of both encoders.
constexpr void parse_towers(config_view json, model& m, const model_spec& first, literal second_key,
                            const model_spec& second) {
    const config_view empty_config{&detail::no_keys, 0};
    const auto vision = json.optional_object("vision_config");
    const auto sharp = vision ? vision->optional_object("sam_config") : maybe<config_view>{};
    const auto reader = vision ? vision->optional_object(second_key) : maybe<config_view>{};
    m.components[0] = {&first, parse_sizes(first, sharp ? *sharp : empty_config, true)};
    m.components[1] = {&second, parse_sizes(second, reader ? *reader : empty_config, true)};
    if (m.components[0].config.family[last_channels] != m.components[1].config.hidden_size)
        throw_invalid_value(json, "vision_config", "an encoder with a hidden_size of the last of downsample_channels");
}

}  // namespace llmcost::local_views
