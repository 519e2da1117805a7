// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/tiles.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace ovis2_detail {

enum family_config_index : std::uint8_t { width, vocab_size, fewest_tiles, max_tiles, by_shape };
inline constexpr family_key family_keys[]{
    {"hidden_size", 1536},
    {"vocab_size", 151643},
    {.default_value = 1, .type = family_key_type::computed},  // tiles per image, in addition to the full image
    {.default_value = 12, .type = family_key_type::computed},
    {.type = family_key_type::computed},  // grids are chosen by their shape alone
};

enum tower_config_index : std::uint8_t { hidden_stride, indicators, draws };
inline constexpr family_key tower_keys[]{
    {"hidden_stride", 1},  // patches along a side per visual token
    {"num_visual_indicator_tokens", 5, family_key_type::non_negative},
    {.type = family_key_type::computed},  // a function other than softmax makes mixtures of scores
};

/// Patches with learned positions, normed; Llama's layers without rotation; logits of visual tokens.
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const std::int64_t features = ctx.config.hidden_size, stride = ctx.config.family[hidden_stride];
    const module_info transformer{.name = "transformer", .class_of_module = ctx.class_of("VisionTransformer")};
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    t.enter(transformer);
    t.enter(embeddings);
    tensor patches = embed_patches(ctx, t, "patch_embedding", true, pixel_values(ctx, t));
    patches = apply_norm(ctx, t, "rms_norm", patches);
    const tensor places = learned_positions(t, "position_embedding", patches_of(ctx.config.vision), features);
    tensor x = t.leave(embeddings, t.add(patches, places));
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("VisionEncoder")};
    t.enter(encoder);
    x = t.leave(encoder, forward_layers(ctx, t, {}, x));
    x = t.leave(transformer, apply_norm(ctx, t, "rms_norm", x));
    const std::int64_t visual = ctx.config.vocab_size - ctx.config.family[indicators], square = stride * stride;
    if (stride > 1) {
        const std::int64_t images = x.dim(0), side = ctx.config.vision.image_height / ctx.config.vision.patch_size;
        const std::int64_t squares = (side + stride - 1) / stride;
        if (side % stride != 0 && has_images(t))
            throw_description_error("hidden_stride does not divide the patches along a side");
        tensor grid = trace::buffer({images, squares, stride, squares, stride, features});
        if (side % stride == 0)
            grid = t.copy(x).view({images, squares, stride, squares, stride, features});  // padded by none
        x = t.reshape(grid.permute({0, 1, 3, 2, 4, 5}), {images, squares * squares, features * square});
    }
    x = t.call("head_linear", linear{features * square, visual}, x);
    if (ctx.config.family[draws] != 0 && has_images(t))
        throw_description_error("tokenize_function: unsupported function; expected softmax");
    return t.softmax(t.call("head_norm", norm_module{norm_kind::layer, visual}, x));
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    parse_square_image(json, config, 224, 14);
    divide_by_heads(json, config, {"num_attention_heads"});
    config.attention_bias = config.output_bias = json.boolean("qkv_bias", false);
    config.family[draws] = json.string("tokenize_function", "softmax") == "softmax" ? 0 : 1;
    if (config.family[indicators] >= config.vocab_size)
        throw_invalid_value(json, "num_visual_indicator_tokens", "fewer than the visual tokens");
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.class_prefix = "Ovis2";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = tower_keys;
    spec.supported_heads = {};
    spec.decoder_layer = pre_norm_layer;
    spec.token_mixer = attention_token_mixer;
    spec.mlp = default_mlp;
    spec.add_residual = add_residual;
    spec.names.layer_class = "VisionEncoderLayer";
    spec.names.attention_class = "VisionAttention";
    spec.names.attention = "attention";
    spec.names.mlp = "ffn";
    spec.names.pre_attention_norm = "rms_norm1";
    spec.names.pre_mlp_norm = "rms_norm2";
    spec.defaults.vocab_size = 16384;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 2816;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 8;
    return spec;
}(shared_tower);

/// An embedding table of visual tokens, multiplied by the patch probabilities; tokens for the image start and end
/// are looked up.
struct visual_table {
    std::int64_t rows;
    std::int64_t width;
    class_name named;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& mixtures, std::int64_t marks) const {
        const tensor weight = t.param("weight", {rows, width});
        const tensor token_embeddings = t.matmul(mixtures, weight);
        t.record_module_output(t.gather(weight, {marks, width}));
        return token_embeddings;
    }
};

/// Returns the share of a tile's area that remains when its longer side is cut to `side`
/// (`compute_patch_covering_area`).
[[nodiscard]] constexpr double patch_covering_area(std::int64_t width, std::int64_t height, std::int64_t side) {
    const std::int64_t longer = width > height ? width : height, shorter = width > height ? height : width;
    if (longer <= side) return static_cast<double>(longer * shorter);
    const double scaled = static_cast<double>(shorter) / static_cast<double>(longer) * static_cast<double>(side);
    return static_cast<double>(side) * scaled;
}

/// The grid of fewest tiles that keeps more than nine tenths of an image's area, or the one that keeps most
/// (`get_min_tile_covering_grid`, whose rows become columns).
[[nodiscard]] constexpr tile_grid covering_grid(std::int64_t height, std::int64_t width, std::int64_t side,
                                                std::int64_t maximum) {
    tile_grid enough, best;
    std::int64_t fewest = 0;  // tiles of `enough`; none yet
    double max_of_enough = 0, max_of_all = -1;
    for (std::int64_t n = 1; n <= maximum; ++n)
        for (std::int64_t rows = 1; rows <= n; ++rows) {
            if (n % rows != 0) continue;
            const std::int64_t columns = n / rows, high = height / rows, expanded_width = width / columns;
            double covered_area = 0;
            for (std::int64_t i = 0; i < n; ++i) {
                const std::int64_t row = i / columns, column = i % columns;
                const std::int64_t w = column == columns - 1 ? width - column * expanded_width : expanded_width;
                covered_area += patch_covering_area(w, row == rows - 1 ? height - row * high : high, side);
            }
            const double share = covered_area / static_cast<double>(width * height);
            if (share > 0.9 && (fewest == 0 || (n == fewest && share > max_of_enough))) {
                enough = {columns, rows};
                fewest = n;
                max_of_enough = share;
            }
            if (share > max_of_all) {
                best = {columns, rows};
                max_of_all = share;
            }
        }
    return fewest > 0 ? enough : best;
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t side = image.image_height, stride = m.components[0].config.family[hidden_stride];
    const std::int64_t height = load.image_height > 0 ? load.image_height : side;
    const std::int64_t width = load.image_width > 0 ? load.image_width : side;
    const tile_grid grid = m.family[by_shape] != 0
                               ? closest_grid(height, width, side, m.family[fewest_tiles], m.family[max_tiles])
                               : covering_grid(height, width, side, m.family[max_tiles]);
    const std::int64_t tiles = add_thumbnail(grid), squares = side / image.patch_size / stride;
    return {.image = {.num_tokens = tiles * squares * squares,
                      .num_tiles = tiles,
                      .height = side,
                      .width = side,
                      .tile_rows = grid.rows,
                      .tile_columns = grid.columns}};
}

/// Parses the processor configuration; images are not split into tiles by default.
constexpr void parse_processor_config(config_view json, model& m) {
    expect_resized(json);
    expect_picture(json, m.components[0].config.vision.image_height);
    parse_bounds_of_tiles(json, m.family, fewest_tiles, max_tiles);
    m.family[by_shape] = json.boolean("use_covering_area_grid", true) ? 0 : 1;
    if (!json.boolean("crop_to_patches", false) || m.family[max_tiles] == 1)
        m.family[fewest_tiles] = m.family[max_tiles] = 1;
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const media_shape shape = compute_media_shapes(ctx.model, t.load()).image;
        const model_config& encoder_config = ctx.model.components[0].config;
        const std::int64_t marks = encoder_config.family[indicators];
        const recorder::workload_guard encoder_workload{t,
                                                        image_workload(t.load(), images_in(t) * shape.num_tiles, 0, 0)};
        tensor mixtures = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
        mixtures = t.cat({mixtures, t.full({mixtures.dim(0), mixtures.dim(1), marks})}, 2);
        const visual_table table{encoder_config.vocab_size, ctx.model.family[width],
                                 ctx.class_of("VisualEmbeddingTable")};
        return t.masked_scatter(token_embeddings, t.call("visual_embeddings_table", table, mixtures, marks));
    });
}

/// Parses the vocabulary size of its head from a separate key, unless it shares the head of the text model.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    model_config outer = ctx.config;
    if (!outer.tie_word_embeddings) outer.vocab_size = ctx.model.family[vocab_size];
    return forward_decoder({ctx.model, ctx.spec, outer}, t);
}

}  // namespace ovis2_detail

// transformers/models/ovis2: AIMv2 and mixtures of visual token embeddings before Qwen2
inline constexpr model_spec ovis2 = [](model_spec spec) {
    spec.model_type = "ovis2";
    spec.class_prefix = "Ovis2";
    spec.forward = ovis2_detail::forward;
    spec.base_model = ovis2_detail::base;
    spec.family_keys = ovis2_detail::family_keys;
    spec.compute_media_shapes = ovis2_detail::compute_media_shapes;
    spec.parse_image_processor = ovis2_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &qwen2};
    spec.components[0] = {.key = "vision_config", .default_spec = &ovis2_detail::tower, .ignores_model_type = true};
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
