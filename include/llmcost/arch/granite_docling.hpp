// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/granite.hpp>
#include <llmcost/arch/idefics3.hpp>
#include <llmcost/arch/qwen3_vl.hpp>

namespace llmcost::arch {

namespace granite_docling_detail {

/// The word of layers that hand their states on, and of those of the text that add what was made of them.
inline constexpr std::uint8_t deep = 1;

enum tower_own : std::uint8_t { output_width, squares, has_fine, mergers, taps };
inline constexpr own_key tower_keys[]{
    {"out_hidden_size", 1024},
    {"scale_factor", 4},  // patches along a side that become one token
    {"use_fine_route", 1, own_value::boolean},
    {.otherwise = 3, .value = own_value::computed},
    {.value = own_value::computed},
};
inline constexpr std::int64_t most_taps = 16;

/// What a tower hands on: features of its tiles, its own states, and what was made of some layers'.
struct seen {
    value features, states;
    value of_layers[most_taps];
};

/// Two layers over normed squares of patches.
constexpr value merge_deep(const site& here, trace& t, std::int64_t index, const value& x) {
    const std::int64_t width = x.dim(2), out = here.dims.own[output_width];
    const module_info merger{.name = "deepstack_mergers", .index = index, .type = here.type("DeepStackMerger")};
    t.enter(merger);
    const value normed = t.call("layer_norm", norm<norm_kind::layer>{width}, x);
    return t.leave(merger, projector{merger.type, width, out, out, true, activation::gelu}.describe(t, normed));
}

/// Squares of patches, projected, with fixed places added, and those of some layers' states through mergers.
constexpr value follow_path(const site& here, trace& t, literal name, std::int64_t by, const value& x, seen& out) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t side = image.image_height / image.patch_size, width = here.dims.own[output_width];
    const module_info path{.name = name, .type = here.type("ConnectorPath")};
    const module_info places{.name = "pos_embed", .type = here.type("PositionEmbedding"), .what = role::embedding, .leaf = true};
    const auto shuffled = [&](const value& states) {
        const value found = squares_of_patches(t, states, side, side, by);
        return t.reshape(found, {states.dim(0), -1, found.dim(3)});
    };
    t.enter(path);
    const value merged = shuffled(x);
    const value projected = t.call("projection", linear{merged.dim(2), width}, merged);
    t.enter(places);
    t.owns_buffer(count(projected.dim(1)) * count(width) * count(4));
    const value placed = t.leave(places, t.add(projected, trace::buffer({projected.dim(1), width})));
    for (std::int64_t i = 0; i < here.dims.own[mergers]; ++i) {
        const recorder::idle_guard unread{t, i >= here.dims.own[taps]};
        const value& states = i < here.dims.own[taps] ? out.of_layers[i] : x;
        const value features = merge_deep(here, t, i, shuffled(t.contiguous(states))).view({-1, width});
        if (i < here.dims.own[taps]) out.of_layers[i] = features;
    }
    return t.leave(path, placed);
}

/// Norms and a projection around a path; the finer one is what a processor asks for (`fine_route`), whose default does not.
constexpr void connect(const site& here, trace& t, seen& out) {
    const std::int64_t width = here.dims.hidden_size, wide = here.dims.own[output_width];
    const norm<norm_kind::layer> narrow_norm{width}, wide_norm{wide};
    const module_info connector{.name = "connector", .type = here.type("Connector"), .what = role::projector};
    t.enter(connector);
    const value normed = t.call("ln_in", narrow_norm, out.states);
    if (here.dims.own[has_fine] != 0) {
        const recorder::idle_guard other_route{t};
        seen unread = out;
        (void)follow_path(here, t, "fine", here.dims.own[squares] / 2, normed, unread);
    }
    value x = follow_path(here, t, "coarse", here.dims.own[squares], normed, out);
    x = activate(t, activation::gelu, t.call("ln_mid", wide_norm, x));
    x = t.call("ln_out", wide_norm, t.call("mlp_fc2", linear{wide, wide}, x));
    out.features = t.leave(connector, x.view({-1, wide}));
}

/// Tiles through layers, some of which hand their states on, and the connector.
constexpr void look(const site& here, trace& t, seen& out) {
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    const value pixels = pixels_of(here, t);
    t.enter(embeddings);
    const value patches = embed_patches(here, t, "patch_embedding", true, pixels);
    const value places = learned_positions(t, "position_embedding", patches_of(here.dims.vision), here.dims.hidden_size);
    value x = t.leave(embeddings, t.add(patches, places));
    const shared_values nothing;
    std::int64_t handed = 0;
    t.enter(encoder);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();) {
        x = t.call({"layers", each.index()}, tower_layer{here.at(each, nothing)}, x);
        if (each.kind().own == deep) out.of_layers[handed++] = x;
    }
    t.leave(encoder, x);
    for (; handed < here.dims.own[taps]; ++handed) out.of_layers[handed] = out.of_layers[0];  // of layers walked as one
    out.states = t.call("post_layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
    connect(here, t, out);
}

enum own : std::uint8_t { router_width };
inline constexpr own_key keys[]{{.value = own_value::computed}};  // of what tells dense pages apart; 0: none

/// Whether a sequence's tiles need the finer path: a number that no logits are made of (`GraniteDoclingDensityRouter`).
constexpr void tell_density(const site& here, trace& t, const value& states) {
    const std::int64_t inner = here.whole.own[router_width], width = states.dim(2), samples = t.load().batch;
    if (inner == 0) return;
    const recorder::off_loss_guard unread{t};
    const module_info router{.name = "density_router", .type = here.type("DensityRouter")};
    t.enter(router);
    const value scores = t.call("att", linear{width, 1, true}, states).transpose(1, 2);
    const value weights = t.softmax_method(scores).transpose(1, 2);
    const value tiles = t.sum(t.mul(states, weights), 1);
    value sums = t.copy(t.constant({samples, width}, tiles.type)), shown = t.constant({samples}, tiles.type);
    t.index_add(sums, tiles);
    const value one_each = t.constant({tiles.dim(0)}, tiles.type);
    shown = t.copy(shown);
    t.index_add(shown, one_each);
    const value means = t.div(sums, t.unary(op::minimum, shown).view({samples, 1}));
    const value h = t.call("fc1", linear{width, inner, true}, t.call("norm", norm<norm_kind::layer>{width}, means));
    t.leave(router, t.call("fc2", linear{inner, 1, true}, t.call("act", gelu_module{}, h)));
}

/// Tiles that are there, pixels and all, through the tower; its features in the places of words, its layers' added behind
/// the text's first layers.
constexpr value base(const site& here, trace& t) {
    const bool shown = sees_images(t);
    seen out;
    const auto place = [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !shown};
        const site tower = here.component(0);
        const media_shape shape = here.whole.kind->media(here.whole, t.load()).image;
        const std::int64_t tiles = images_in(t) * shape.tiles;
        const extents pixels{tiles, tower.dims.vision.num_channels, shape.height, shape.width};
        (void)t.gather(t.input(pixels), pixels);
        const module_info m{.name = "vision_model", .type = tower.type("VisionModel"), .what = role::vision};
        t.enter(m);
        {
            const recorder::workload_guard of_tiles{t, pictures(t.load(), tiles, 0, 0)};
            look(tower, t, out);
        }
        t.leave(m, out.features);
        tell_density(here, t, out.states);
        const value joined = t.cat({out.features}, 0);
        for (std::int64_t i = 0; i < tower.dims.own[taps]; ++i) out.of_layers[i] = t.cat({out.of_layers[i]}, 0);
        return t.masked_scatter(words, joined);
    };
    return granite_detail::describe_around(here, t, "text_model", place, [&](const site& inside, value x) {
        x = t.call({"layers", inside.layer}, decoder_layer{inside}, x);
        return shown && inside.kind.own == deep ? qwen3_vl_detail::add_deep(t, x, out.of_layers[inside.layer]) : x;
    });
}

/// Tiles of the closest grid of up to 32, at most 16 along a side, and the whole.
constexpr media_shapes show(const model& m, const workload& load) {
    const sizes& tower = m.beside[0].dims;
    const image_sides image = sides_of_images(load, tower.vision);
    const std::int64_t side = tower.vision.image_height, by = tower.own[squares];
    const tile_grid grid = closest_grid(image.height, image.width, side, 1, 32, 16);
    const std::int64_t tiles = with_whole(grid), n = side / tower.vision.patch_size;
    return {.image = {.tokens = tiles * (n * n / (by * by)),
                      .tiles = tiles,
                      .height = side,
                      .width = side,
                      .rows = grid.rows,
                      .columns = grid.columns}};
}

constexpr void read_tower(config_view config, sizes& s) {
    read_square_image(config, s, 512, 16);
    share_among_heads(config, s, {"num_attention_heads"});
    const auto listed = config.optional_array("deepstack_visual_indexes");
    if (listed) s.own[mergers] = static_cast<std::int64_t>(listed->size());
    if (s.own[mergers] > most_taps) fail_value(config, "deepstack_visual_indexes", "at most 16 layers");
    const layer_set named = listed ? layer_set(*listed) : layer_set{};
    plan_layers(config, s, [&](std::int64_t i) {
        const bool hands_on = listed ? named.has(i) : i == 3 || i == 7 || i == 10;
        s.own[taps] += hands_on ? 1 : 0;
        return layer_kind{.own = hands_on ? deep : std::uint8_t{0}};
    });
    const std::int64_t n = s.vision.image_height / s.vision.patch_size, by = s.own[squares];
    if (n % by != 0) fail_value(config, "scale_factor", "a divisor of the patches along a side");
    if (s.own[has_fine] != 0 && by < 2) fail_value(config, "scale_factor", "two at least, of which the finer path takes half");
    if (s.own[output_width] % 4 != 0) fail_value(config, "out_hidden_size", "a multiple of 4");
    (void)checked_width(config, "scale_factor", checked_width(config, "scale_factor", by, by), s.hidden_size);
}

constexpr void read(config_view config, model& m) {
    const sizes& tower = m.beside[0].dims;
    if (tower.own[output_width] != m.dims.hidden_size)
        fail_value(config, "vision_config", "an out_hidden_size as large as the text's hidden_size");
    if (const auto width = config.optional_positive("density_router_hidden_size")) m.own[router_width] = *width;
    if (m.own[router_width] > 0 && tower.own[has_fine] == 0)
        fail_value(config, "density_router_hidden_size", "null, where vision_config has no finer path");
    const layer_plan given = m.dims.layers;
    for (std::int64_t i = 0; i < m.dims.num_hidden_layers; ++i) {
        layer_kind kind = given[i];
        kind.own = i < tower.own[taps] ? deep : std::uint8_t{0};
        (void)m.dims.layers.set(i, kind);
    }
}

inline constexpr architecture tower = [](architecture a) {
    a.model_type = "granite_docling_vision", a.prefix = "GraniteDocling", a.read = read_tower, a.own = tower_keys;
    a.heads = {}, a.kinds.own = deep, a.defaults.hidden_size = 768, a.defaults.num_attention_heads = 12;
    return a;
}(idefics3_detail::tower);

inline constexpr architecture text = [](architecture a) {
    a.model_type = "granite_docling_text", a.prefix = "GraniteDoclingText", a.heads = {}, a.kinds.own = deep;
    a.defaults.vocab_size = 133800, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 2048;
    a.defaults.num_hidden_layers = 28, a.defaults.num_attention_heads = 16, a.defaults.num_key_value_heads = 4;
    a.defaults.max_position_embeddings = 32768, a.defaults.head = head_kind::none;
    return a;
}(granite);

}  // namespace granite_docling_detail

// transformers/models/granite_docling: SigLIP over tiles of a page, in front of Granite and behind its first layers
inline constexpr architecture granite_docling = [](architecture a) {
    a.model_type = "granite_docling", a.prefix = "GraniteDocling", a.base = granite_docling_detail::base;
    a.read_whole = granite_docling_detail::read, a.own = granite_docling_detail::keys, a.finish = divide_logits;
    a.media = granite_docling_detail::show, a.reads.images = true, a.defaults.tie_word_embeddings = true;
    a.text = {.key = "text_config", .otherwise = &granite_docling_detail::text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &granite_docling_detail::tower, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
