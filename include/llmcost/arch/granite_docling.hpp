// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/granite.hpp>
#include <llmcost/arch/idefics3.hpp>
#include <llmcost/forward/deepstack.hpp>
#include <llmcost/forward/scaled_text_model.hpp>

// Granite Docling. SigLIP over tiles of a page; Granite receives its features as tokens and after its first layers.
//
// Source: transformers/models/granite_docling

namespace llmcost::arch {

namespace granite_docling_detail {

/// `family_tag` of vision layers whose states are used, and of text layers that add the features of these states.
inline constexpr std::uint8_t deep = 1;

enum tower_config_index : std::uint8_t { output_width, squares, has_fine, mergers, taps };

inline constexpr family_key tower_keys[]{
    {"out_hidden_size", 1024},
    {"scale_factor", 4},  // patches per side that are merged to one token
    {"use_fine_route", 1, family_key_type::boolean},
    {.default_value = 3, .type = family_key_type::computed},
    {.type = family_key_type::computed},
};

inline constexpr std::int64_t max_taps = 16;

/// Output of the vision encoder: features of the tiles, its states, and features of selected layers.
struct vision_features {
    tensor features, states;
    tensor layer_outputs[max_taps];
};

/// Deepstack merger: two linear layers over normalized squares of patches.
constexpr tensor merge_deep(const layer_context& ctx, trace& t, std::int64_t index, const tensor& x) {
    const std::int64_t width = x.dim(2), out = ctx.config.family[output_width];
    const module_info merger{
        .name = "deepstack_mergers", .index = index, .class_of_module = ctx.class_of("DeepStackMerger")};
    t.enter(merger);
    const tensor normed = t.call("layer_norm", norm_module{norm_kind::layer, width}, x);
    return t.leave(merger,
                   projector{merger.class_of_module, width, out, out, true, activation::gelu}.forward(t, normed));
}

/// Path through the connector: merges and projects squares of patches, adds fixed positions, and merges states of
/// selected layers.
constexpr tensor follow_path(const layer_context& ctx, trace& t, literal name, std::int64_t square_side,
                             const tensor& x, vision_features& out) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t side = image.image_height / image.patch_size, width = ctx.config.family[output_width];
    const module_info path{.name = name, .class_of_module = ctx.class_of("ConnectorPath")};
    const module_info places{.name = "pos_embed",
                             .class_of_module = ctx.class_of("PositionEmbedding"),
                             .module_role = role::embedding,
                             .is_leaf = true};
    const auto shuffled = [&](const tensor& states) {
        const tensor found = merge_patches(t, states, side, side, square_side);
        return t.reshape(found, {states.dim(0), -1, found.dim(3)});
    };
    t.enter(path);
    const tensor merged = shuffled(x);
    const tensor projected = t.call("projection", linear{merged.dim(2), width}, merged);
    t.enter(places);
    t.register_buffer(count(projected.dim(1)) * count(width) * count(4));
    const tensor placed = t.leave(places, t.add(projected, trace::buffer({projected.dim(1), width})));
    for (std::int64_t i = 0; i < ctx.config.family[mergers]; ++i) {
        const recorder::not_executed_guard unread{t, i >= ctx.config.family[taps]};
        const tensor& states = i < ctx.config.family[taps] ? out.layer_outputs[i] : x;
        const tensor features = merge_deep(ctx, t, i, shuffled(t.contiguous(states))).view({-1, width});
        if (i < ctx.config.family[taps]) out.layer_outputs[i] = features;
    }
    return t.leave(path, placed);
}

/// Connector: norms and a projection around a path. Processors request the finer path (`fine_route`), which is not the
/// default.
constexpr void connect(const layer_context& ctx, trace& t, vision_features& out) {
    const std::int64_t width = ctx.config.hidden_size, expanded_width = ctx.config.family[output_width];
    const norm_module input_norm{norm_kind::layer, width}, output_norm{norm_kind::layer, expanded_width};
    const module_info connector{
        .name = "connector", .class_of_module = ctx.class_of("Connector"), .module_role = role::projector};
    t.enter(connector);
    const tensor normed = t.call("ln_in", input_norm, out.states);
    if (ctx.config.family[has_fine] != 0) {
        const recorder::not_executed_guard other_route{t};
        vision_features unread = out;
        (void)follow_path(ctx, t, "fine", ctx.config.family[squares] / 2, normed, unread);
    }
    tensor x = follow_path(ctx, t, "coarse", ctx.config.family[squares], normed, out);
    x = activate(t, activation::gelu, t.call("ln_mid", output_norm, x));
    x = t.call("ln_out", output_norm, t.call("mlp_fc2", linear{expanded_width, expanded_width}, x));
    out.features = t.leave(connector, x.view({-1, expanded_width}));
}

/// Traces the vision encoder and the connector. Selected layers provide their states.
constexpr void forward_vision_encoder(const layer_context& ctx, trace& t, vision_features& out) {
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    const tensor pixels = pixel_values(ctx, t);
    t.enter(embeddings);
    const tensor patches = embed_patches(ctx, t, "patch_embedding", true, pixels);
    const tensor places =
        learned_positions(t, "position_embedding", patches_of(ctx.config.vision), ctx.config.hidden_size);
    tensor x = t.leave(embeddings, t.add(patches, places));
    const attention_inputs no_inputs;
    std::int64_t handed = 0;
    t.enter(encoder);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();) {
        x = t.call({"layers", layer_loop.index()}, vision_encoder_layer{ctx.for_layer(layer_loop, no_inputs)}, x);
        if (layer_loop.layer().family_tag == deep) out.layer_outputs[handed++] = x;
    }
    t.leave(encoder, x);
    for (; handed < ctx.config.family[taps]; ++handed)
        out.layer_outputs[handed] = out.layer_outputs[0];  // of layers traced as one
    out.states = t.call("post_layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
    connect(ctx, t, out);
}

enum family_config_index : std::uint8_t { router_width };

inline constexpr family_key family_keys[]{{.type = family_key_type::computed}};  // size of the density router; 0: none

/// Classifies whether a sequence's tiles need the finer path (`GraniteDoclingDensityRouter`). The logits do not depend
/// on it.
constexpr void route_density(const layer_context& ctx, trace& t, const tensor& states) {
    const std::int64_t inner = ctx.model.family[router_width], width = states.dim(2), samples = t.load().batch;
    if (inner == 0) return;
    const recorder::detach_guard unread{t};
    const module_info router{.name = "density_router", .class_of_module = ctx.class_of("DensityRouter")};
    t.enter(router);
    const tensor scores = t.call("att", linear{width, 1, true}, states).transpose(1, 2);
    const tensor weights = t.softmax_method(scores).transpose(1, 2);
    const tensor tiles = t.sum(t.mul(states, weights), 1);
    tensor sums = t.copy(t.full({samples, width}, tiles.type)), tile_counts = t.full({samples}, tiles.type);
    t.index_add(sums, tiles);
    const tensor one_each = t.full({tiles.dim(0)}, tiles.type);
    tile_counts = t.copy(tile_counts);
    t.index_add(tile_counts, one_each);
    const tensor means = t.div(sums, t.minimum_scalar(tile_counts).view({samples, 1}));
    const tensor h =
        t.call("fc1", linear{width, inner, true}, t.call("norm", norm_module{norm_kind::layer, width}, means));
    t.leave(router, t.call("fc2", linear{inner, 1, true}, t.call("act", gelu_module{}, h)));
}

/// Traces the model. Image features replace token embeddings; features of vision layers are added after the first text
/// layers.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const bool has_pixels = has_images(t);
    vision_features out;
    const auto place = [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_pixels};
        const layer_context tower = ctx.component(0);
        const media_shape image_shape = ctx.model.spec->compute_media_shapes(ctx.model, t.load()).image;
        const std::int64_t tiles = images_in(t) * image_shape.num_tiles;
        const shape pixels{tiles, tower.config.vision.num_channels, image_shape.height, image_shape.width};
        (void)t.gather(t.input(pixels), pixels);
        const module_info m{
            .name = "vision_model", .class_of_module = tower.class_of("VisionModel"), .module_role = role::vision};
        t.enter(m);
        {
            const recorder::workload_guard of_tiles{t, image_workload(t.load(), tiles, 0, 0)};
            forward_vision_encoder(tower, t, out);
        }
        t.leave(m, out.features);
        route_density(ctx, t, out.states);
        const tensor image_features = t.cat({out.features}, 0);
        for (std::int64_t i = 0; i < tower.config.family[taps]; ++i)
            out.layer_outputs[i] = t.cat({out.layer_outputs[i]}, 0);
        return t.masked_scatter(token_embeddings, image_features);
    };
    return forward_scaled_text_model(ctx, t, "text_model", place, [&](const layer_context& layer_ctx, tensor x) {
        x = t.call({"layers", layer_ctx.layer_index}, decoder_layer{layer_ctx}, x);
        return has_pixels && layer_ctx.layer.family_tag == deep
                   ? deepstack::add_deep(t, x, out.layer_outputs[layer_ctx.layer_index])
                   : x;
    });
}

/// Image shapes: a thumbnail and tiles of the closest grid with at most 32 tiles and 16 per side.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const model_config& tower = m.components[0].config;
    const image_size image = image_size_of(load, tower.vision);
    const std::int64_t side = tower.vision.image_height, square_side = tower.family[squares];
    const tile_grid grid = closest_grid(image.height, image.width, side, 1, 32, 16);
    const std::int64_t tiles = add_thumbnail(grid), n = side / tower.vision.patch_size;
    return {.image = {.num_tokens = tiles * (n * n / (square_side * square_side)),
                      .num_tiles = tiles,
                      .height = side,
                      .width = side,
                      .tile_rows = grid.rows,
                      .tile_columns = grid.columns}};
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    parse_square_image(json, config, 512, 16);
    divide_by_heads(json, config, {"num_attention_heads"});
    const auto listed = json.optional_array("deepstack_visual_indexes");
    if (listed) config.family[mergers] = static_cast<std::int64_t>(listed->size());
    if (config.family[mergers] > max_taps) throw_invalid_value(json, "deepstack_visual_indexes", "at most 16 layers");
    const layer_set named = listed ? layer_set(*listed) : layer_set{};
    set_layers(json, config, [&](std::int64_t i) {
        const bool hands_on = listed ? named.has(i) : i == 3 || i == 7 || i == 10;
        config.family[taps] += hands_on ? 1 : 0;
        return layer_spec{.family_tag = hands_on ? deep : std::uint8_t{0}};
    });
    const std::int64_t n = config.vision.image_height / config.vision.patch_size, square_side = config.family[squares];
    if (n % square_side != 0) throw_invalid_value(json, "scale_factor", "a divisor of the number of patches per side");
    if (config.family[has_fine] != 0 && square_side < 2)
        throw_invalid_value(json, "scale_factor", "at least 2, because the finer path uses half of it");
    if (config.family[output_width] % 4 != 0) throw_invalid_value(json, "out_hidden_size", "a multiple of 4");
    (void)checked_size(json, "scale_factor", checked_size(json, "scale_factor", square_side, square_side),
                       config.hidden_size);
}

constexpr void parse_config(config_view json, model& m) {
    const model_config& tower = m.components[0].config;
    if (tower.family[output_width] != m.config.hidden_size)
        throw_invalid_value(json, "vision_config", "an out_hidden_size equal to the text's hidden_size");
    if (const auto width = json.optional_positive("density_router_hidden_size")) m.family[router_width] = *width;
    if (m.family[router_width] > 0 && tower.family[has_fine] == 0)
        throw_invalid_value(json, "density_router_hidden_size", "null if vision_config has no finer path");
    const layer_plan listed_layers = m.config.layers;
    for (std::int64_t i = 0; i < m.config.num_hidden_layers; ++i) {
        layer_spec kind = listed_layers[i];
        kind.family_tag = i < tower.family[taps] ? deep : std::uint8_t{0};
        set_layer(json, m.config, i, kind);
    }
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.model_type = "granite_docling_vision";
    spec.class_prefix = "GraniteDocling";
    spec.parse_config = parse_vision_config;
    spec.family_keys = tower_keys;
    spec.supported_heads = {};
    spec.supported_layers.max_family_tag = deep;
    spec.defaults.hidden_size = 768;
    spec.defaults.num_attention_heads = 12;
    return spec;
}(idefics3_vision_encoder);

inline constexpr submodel_spec text = [](model_spec spec) {
    spec.model_type = "granite_docling_text";
    spec.class_prefix = "GraniteDoclingText";
    spec.supported_heads = {};
    spec.supported_layers.max_family_tag = deep;
    spec.defaults.vocab_size = 133800;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 2048;
    spec.defaults.num_hidden_layers = 28;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.max_position_embeddings = 32768;
    spec.defaults.head = head_kind::none;
    return spec;
}(granite);

}  // namespace granite_docling_detail

inline constexpr model_spec granite_docling = [](model_spec spec) {
    spec.model_type = "granite_docling";
    spec.class_prefix = "GraniteDocling";
    spec.base_model = granite_docling_detail::base;
    spec.parse_composite_config = granite_docling_detail::parse_config;
    spec.family_keys = granite_docling_detail::family_keys;
    spec.process_logits = divide_logits_by_scale;
    spec.compute_media_shapes = granite_docling_detail::compute_media_shapes;
    spec.modalities.has_images = true;
    spec.defaults.tie_word_embeddings = true;
    spec.text_model = {.key = "text_config", .default_spec = &granite_docling_detail::text, .ignores_model_type = true};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &granite_docling_detail::tower, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
