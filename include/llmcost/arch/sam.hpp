// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/einsum.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/reading/layer_types.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>
#include <llmcost/walks/images.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace sam_detail {

enum own : std::uint8_t { output_channels, qkv_bias, learned_places, relative_places, window };
inline constexpr own_key keys[]{
    {"output_channels", 256},
    {"qkv_bias", 1, own_value::boolean},
    {"use_abs_pos", 1, own_value::boolean},
    {"use_rel_pos", 1, own_value::boolean},
    {"window_size", 14, own_value::non_negative},
};

/// The word of layers that see windows; the others see the whole image.
inline constexpr std::uint8_t windowed = 1;

/// A row of a table of distances, resampled to as many as there are, for each query and key: (length, length, d).
///
/// Source: `get_rel_pos`, which makes distances in floating-point numbers.
constexpr value distances(trace& t, const value& table, std::int64_t length) {
    const value queries = t.mul(trace::buffer({length, 1})), keys = t.mul(trace::buffer({1, length}));
    (void)t.add(t.sub(queries, keys));
    const value resized = t.resample(op::linear_1d, table.unsqueeze(0).transpose(1, 2), {2 * length - 1});
    return t.gather(resized, {length, length, table.dim(1)});
}

/// Attention over a square of patches, whose scores get what rows and columns are apart: (B, H, W, width) -> the same.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t heads = here.dims.num_attention_heads, width = here.dims.hidden_size, d = width / heads;
    const std::int64_t batch = x.dim(0), rows = x.dim(1), columns = x.dim(2), n = rows * columns;
    const value all = t.call("qkv", linear{width, 3 * width, here.dims.own[qkv_bias] != 0}, x);
    const value apart =
        t.reshape(t.reshape(all, {batch, n, 3, heads, d}).permute({2, 0, 3, 1, 4}), {3, batch * heads, n, d});
    const value q = apart.select(0), k = apart.select(0), v = apart.select(0);
    value scores = t.matmul(t.mul(q), k.transpose(1, 2));
    if (here.dims.own[relative_places] != 0) {
        const vision_sizes& image = here.dims.vision;
        const std::int64_t side = here.kind.own == windowed ? here.dims.own[window] : image.image_height / image.patch_size;
        const value by_row = t.param("rel_pos_h", {2 * side - 1, d}), by_column = t.param("rel_pos_w", {2 * side - 1, d});
        const value of_queries = t.reshape(q, {batch * heads, rows, columns, d});
        const value high = einsum(t, "bhwc,hkc->bhwk", of_queries, distances(t, by_row, rows));
        const value wide = einsum(t, "bhwc,wkc->bhwk", of_queries, distances(t, by_column, columns));
        const value both = t.add(high.unsqueeze(4), wide.unsqueeze(3));
        scores = t.add(scores, t.reshape(both, {batch * heads, n, n}));
    }
    const value seen = t.to(t.softmax(t.to(scores, dtype::float32)), x.type);
    const value mixed = t.matmul(seen, v).view({batch, heads, rows, columns, d}).permute({0, 2, 3, 1, 4});
    return t.call("proj", linear{width, width, true}, t.reshape(mixed, {batch, rows, columns, width}));
}

/// Windows cut out of a padded image, attended to by themselves, put together again.
constexpr value layer(const site& here, trace& t, const value& x) {
    const norm<norm_kind::layer> layer_norm{here.dims.hidden_size};
    value h = t.call("layer_norm1", layer_norm, x);
    if (here.kind.own == windowed) {
        const std::int64_t side = here.dims.own[window], width = here.dims.hidden_size;
        const std::int64_t rows = (x.dim(1) + side - 1) / side, columns = (x.dim(2) + side - 1) / side;
        const value padded = t.pad(h, 1, rows * side - x.dim(1), columns * side - x.dim(2));
        const value cut = padded.view({x.dim(0), rows, side, columns, side, width}).permute({0, 1, 3, 2, 4, 5});
        const value windows = t.contiguous(cut).view({-1, side, side, width});
        h = t.call("attn", attention_module{here}, windows);
        const value together = h.view({x.dim(0), rows, columns, side, side, width}).permute({0, 1, 3, 2, 4, 5});
        h = t.contiguous(together).view({x.dim(0), rows * side, columns * side, width});
        h = t.contiguous(t.slice(t.slice(h, 1, x.dim(1)), 2, x.dim(2)));
    } else {
        h = t.call("attn", attention_module{here}, h);
    }
    const value middle = t.add(x, h);
    const mlp<mlp_kind::plain> block{here.dims.hidden_size,
                                     here.dims.intermediate_size,
                                     here.dims.hidden_act,
                                     here.type("MLPBlock"),
                                     true,
                                     {.up = "lin1", .down = "lin2", .act = "act"}};
    return t.add(middle, t.call("mlp", block, t.call("layer_norm2", layer_norm, middle)));
}

/// Two convolutions, each normed over channels: (B, H, W, width) -> (B, out, H, W).
constexpr value describe_neck(trace& t, literal name, class_name type, class_name norm_type, std::int64_t out,
                              const value& x) {
    const module_info neck{.name = name, .type = type};
    const norm<norm_kind::layer> over_channels{out, norm_type};
    const auto normed = [&](literal called, const value& h) {
        return t.call(called, over_channels, h.permute({0, 2, 3, 1})).permute({0, 3, 1, 2});
    };
    t.enter(neck);
    value h = t.call("conv1", convolution_2d{x.dim(3), out, 1, 1, 0, 1, false}, x.permute({0, 3, 1, 2}));
    h = t.call("conv2", convolution_2d{out, out, 3, 1, 1, 1, false}, normed("layer_norm1", h));
    return t.leave(neck, normed("layer_norm2", h));
}

/// Patches on a grid with learned places, which are resampled to a grid of another side; layers, the neck: (B, out, H, W).
constexpr value describe_encoder(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t side = image.image_height / image.patch_size, width = here.dims.hidden_size;
    const module_info patch_embed{.name = "patch_embed", .type = here.type("PatchEmbeddings"), .what = role::embedding};
    t.enter(patch_embed);
    const convolution_2d projection{image.num_channels, width, image.patch_size, image.patch_size};
    const value patches = t.call("projection", projection, images_of(here, t)).permute({0, 2, 3, 1});
    value x = t.leave(patch_embed, patches);
    if (here.dims.own[learned_places] != 0) {
        value places = t.param("pos_embed", {1, side, side, width});
        if (x.dim(1) != side || x.dim(2) != side) {
            const value wide = t.to(places.permute({0, 3, 1, 2}), dtype::float32);
            places = t.to(t.resample(op::bicubic, wide, {x.dim(1), x.dim(2)}), places.type).permute({0, 2, 3, 1});
        }
        x = t.add(x, places);
    }
    x = describe_layers(here, t, {}, x);
    return describe_neck(t, "neck", here.type("VisionNeck"), here.type("LayerNorm"), here.dims.own[output_channels], x);
}

/// The encoder in a module of its own.
constexpr value base(const site& here, trace& t) {
    return describe_within({.name = "vision_encoder", .type = here.type("VisionEncoder")}, describe_encoder, here, t);
}

/// Layers that `global_attn_indexes` lists see everything; so do all without a window.
constexpr void read_windows(config_view config, sizes& s) {
    read_square_image(config, s, 1024, 16);
    share_among_heads(config, s, {"num_attention_heads"});
    const auto listed = config.optional_array("global_attn_indexes");
    const auto global = [&](std::int64_t i) { return i == 2 || i == 5 || i == 8 || i == 11; };
    const layer_set given = listed ? layer_set(*listed) : layer_set{};
    plan_layers(config, s, [&](std::int64_t i) {
        const bool whole = s.own[window] == 0 || (listed ? given.has(i) : global(i));
        return layer_kind{.own = whole ? std::uint8_t{} : windowed};
    });
}

constexpr void read(config_view config, sizes& s) {
    read_windows(config, s);
    s.intermediate_size = read_inner(config, s, "mlp_dim", "mlp_ratio", 4.0);
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "Sam", a.base = base, a.read = read, a.own = keys, a.heads = {};
    a.layer = layer, a.attend = attend, a.kinds.own = windowed;
    a.names.layer_type = "VisionLayer", a.names.attention_type = "VisionAttention";
    a.keys[3] = {"intermediate_size", "", key_rule::absent};
    a.defaults.hidden_act = activation::gelu, a.defaults.intermediate_size = 0;
    return a;
}(shared_tower);

}  // namespace sam_detail

// transformers/models/sam: `SamVisionModel`, windows of patches and some layers over all, which stands in other models
inline constexpr architecture sam_vision_model = [](architecture a) {
    a.model_type = "sam_vision_model";
    return a;
}(sam_detail::tower);

}  // namespace llmcost::arch
