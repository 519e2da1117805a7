// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/clip.hpp>
#include <llmcost/arch/deepseek_ocr2.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/local_views.hpp>
#include <llmcost/forward/sam_encoder.hpp>

namespace llmcost::arch {

namespace unlimited_ocr_detail {

inline constexpr family_key sam_keys[]{sam_encoder::family_keys[0],
                                       sam_encoder::family_keys[1],
                                       sam_encoder::family_keys[2],
                                       sam_encoder::family_keys[3],
                                       sam_encoder::family_keys[4],
                                       {.default_value = 512, .type = family_key_type::computed},
                                       {.default_value = 1024, .type = family_key_type::computed}};

inline constexpr submodel_spec sam = [](model_spec spec) {
    spec.class_prefix = "UnlimitedOcrSam";
    spec.family_keys = sam_keys;
    return spec;
}(deepseek_ocr2_sam);

// CLIP without patch embeddings and without a norm after its layers
inline constexpr submodel_spec encoder = [](model_spec spec) {
    spec.class_prefix = "UnlimitedOcr";
    spec.parse_config = [](config_view json, model_config& config) {
        parse_square_image(json, config, 224, 14);
        divide_by_heads(json, config, {"num_attention_heads"});
    };
    return spec;
}(clip_of_llava);

/// Places of a class token and of patches: the table as it is where it fits, resampled where the picture is another.
constexpr tensor places_of(const layer_context& ctx, trace& t, std::int64_t rows, std::int64_t columns) {
    const std::int64_t width = ctx.config.hidden_size, all = patches_of(ctx.config.vision);
    const std::int64_t side = ctx.config.vision.image_height / ctx.config.vision.patch_size;
    if (rows == columns && rows * columns == all) return learned_positions(t, "position_embedding", all + 1, width);
    const module_info learned{.name = "position_embedding", .class_of_module = {"", "Embedding"}, .is_leaf = true};
    t.enter(learned);
    const tensor table = t.param("weight", {all + 1, width}).unsqueeze(0);
    t.leave(learned);
    const tensor square = table.slice(1, all).view({1, side, side, width}).permute({0, 3, 1, 2});
    const tensor resampled = t.to(t.resample(op::bicubic, t.to(square, dtype::float32), {rows, columns}), table.type);
    const tensor channels_last = resampled.permute({0, 2, 3, 1});
    return t.cat({table.slice(1, 1), t.reshape(channels_last, {1, rows * columns, width})}, 1);
}

/// Layers over what SAM left of a picture, (B, width, rows, columns) -> (B, 1 + patches, width).
constexpr tensor read_patches(const layer_context& ctx, trace& t, const tensor& map) {
    const std::int64_t width = ctx.config.hidden_size;
    const module_info encoder{.name = "vision_encoder", .class_of_module = ctx.class_of("VisionEncoder")};
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    t.enter(encoder);
    t.enter(embeddings);
    const tensor token = t.param("class_embedding", {width}).view({1, 1, width}).expand({map.dim(0), 1, width});
    const tensor extended = t.cat({token, as_tokens(map)}, 1);
    const tensor x = t.leave(embeddings, t.add(extended, places_of(ctx, t, map.dim(2), map.dim(3))));
    return t.leave(encoder, encode(ctx, t, t.call("pre_layrnorm", norm_module{norm_kind::layer, width}, x)));
}

/// Concatenates the states of SAM with those of CLIP's layers: (B, patches, sum of both widths).
constexpr tensor forward_vision_model(const layer_context& ctx, trace& t) {
    const module_info tower{
        .name = "vision_tower", .class_of_module = ctx.class_of("VisionModel"), .module_role = role::vision};
    t.enter(tower);
    const tensor map = forward_encoder_component(ctx, t, 0, "sam_encoder", role::none);
    const tensor states = read_patches(ctx.component(1), t, map);
    return t.leave(tower, t.cat({t.slice(states, 1, states.dim(1) - 1), as_tokens(map)}, -1));
}

enum family_config_index : std::uint8_t { base_size, tile_side, fewest_tiles, max_tiles };

inline constexpr family_key family_keys[]{
    {.default_value = 1024, .type = family_key_type::computed},
    {.default_value = 640, .type = family_key_type::computed},
    {.default_value = 2, .type = family_key_type::computed},
    {.default_value = 32, .type = family_key_type::computed},  // 0: images are not cut
};

[[nodiscard]] constexpr local_views::cut_rule rule_of(const model& m) {
    return {.base_size = m.family[base_size],
            .tile = m.family[tile_side],
            .minimum = m.family[fewest_tiles],
            .maximum = m.family[max_tiles]};
}

/// Rows of a picture end with a token, and an image with one more.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0)
        throw_description_error("this model accepts images of any size; use --image WIDTHxHEIGHT");
    const std::int64_t patch = m.components[0].config.vision.patch_size;
    const local_views::cut_rule rule = rule_of(m);
    media_shape image = local_views::cut({load.image_height, load.image_width}, rule);
    const std::int64_t base_grid = local_views::left_of(rule.base_size, patch);
    const std::int64_t part = local_views::left_of(rule.tile, patch);
    image.num_tokens = base_grid * (base_grid + 1) + 1;
    if (image.num_tiles > 0) image.num_tokens += image.tile_rows * part * (image.tile_columns * part + 1);
    return {.image = image};
}

constexpr void parse_processor_config(config_view json, model& m) {
    expect_resized(json);
    if (const auto size = json.optional_object("size")) {
        m.family[base_size] = size->positive("height");
        expect_side(json, "size", m.family[base_size], "a height as large as the width");
    }
    m.family[tile_side] = json.positive("tile_size", m.family[tile_side]);
    parse_bounds_of_tiles(json, m.family, fewest_tiles, max_tiles);
    if (!json.boolean("crop_to_patches", true)) m.family[max_tiles] = 0;
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const bool has_image_inputs = has_images(t);
        const recorder::not_executed_guard no_pixels{t, !has_image_inputs};
        const std::int64_t in = ctx.model.components[0].config.family[local_views::last_channels] +
                                ctx.model.components[1].config.hidden_size;
        const std::int64_t width = ctx.config.hidden_size;
        const tensor separator = t.param("view_separator", {width}), newline = t.param("image_newline", {width});
        const auto encode_images = [&] {
            return t.call("multi_modal_projector", local_views::projector{{in, width, true}},
                          forward_vision_model(ctx, t));
        };
        const media_shape shape =
            has_image_inputs ? compute_media_shapes(ctx.model, t.load()).image : media_shape{.num_tiles = 0};
        const auto append_newlines = [&](const tensor& grid) {
            const tensor extended = t.cat({grid, newline.view({1, 1, width}).expand({grid.dim(0), 1, width})}, 1);
            return extended.view({-1, width});
        };
        const std::int64_t patch = ctx.model.components[0].config.vision.patch_size;
        const auto merge_views = [&](const tensor& global_features, const tensor& parts) {
            const std::int64_t side = local_views::left_of(ctx.model.family[base_size], patch);
            const tensor last = separator.unsqueeze(0),
                         global = append_newlines(global_features.view({side, side, width}));
            if (parts.rank == 0) return t.cat({global, last}, 0);
            const std::int64_t part = local_views::left_of(ctx.model.family[tile_side], patch);
            const tensor tiles = parts.view({shape.tile_rows, shape.tile_columns, part, part, width}).transpose(1, 2);
            const tensor local =
                append_newlines(t.reshape(tiles, {shape.tile_rows * part, shape.tile_columns * part, width}));
            return t.cat({local, global, last}, 0);
        };
        return local_views::place_cut_images(t, token_embeddings, shape, ctx.model.family[tile_side], encode_images,
                                             merge_views);
    });
}

constexpr void parse_config(config_view json, model& m) {
    local_views::parse_towers(json, m, sam, "encoder_config", encoder);
}

// ---- text

/// Appends keys or values after those of the prompt, which stay in the cache for any window. The reference first
/// appends new ones to a separate cache.
///
/// Source: transformers/models/unlimited_ocr/modeling_unlimited_ocr.py,
/// `UnlimitedOcrDynamicReferenceSlidingWindowLayer`.
constexpr tensor cache_prompt(trace& t, const tensor& fresh, const attention_pattern& c) {
    if (t.is_training() || c.cached_length == 0) return update_kv_cache(t, fresh, c);
    return update_kv_cache(t, t.cat({fresh}, 2), c);
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    qkv.key = cache_prompt(t, qkv.key, ctx.inputs->pattern);
    qkv.value = cache_prompt(t, qkv.value, ctx.inputs->pattern);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

/// Parses the text configuration. All tokens before a pass count as its prompt, so the window of later tokens never
/// excludes them.
constexpr void parse_text_config(config_view json, model_config& config) {
    if (json.non_negative("sliding_window", 128) < 2) throw_invalid_value(json, "sliding_window", "at least 2 tokens");
    config.sliding_window = 0;
    if (const auto types = json.optional_array("layer_types"))
        for (const config_view one : *types)
            if (one.as_string() != "reference_sliding_attention")
                throw_unsupported(json, "layer_types", "layer type not supported by this model type");
    parse_deepseek_ocr_text(json, config, json.non_negative("first_k_dense_replace", 1));
}

}  // namespace unlimited_ocr_detail

// transformers/models/unlimited_ocr: DeepSeek-OCR 2's text model; its KV cache stores the prompt and a window after it
inline constexpr model_spec unlimited_ocr_text = [](model_spec spec) {
    spec.dropout_keys = {};
    spec.model_type = "unlimited_ocr_text";
    spec.class_prefix = "UnlimitedOcr";
    spec.parse_config = unlimited_ocr_detail::parse_text_config;
    spec.attention = unlimited_ocr_detail::attention;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.defaults.vocab_size = 129280;
    spec.defaults.hidden_size = 1280;
    spec.defaults.intermediate_size = 6848;
    spec.defaults.num_hidden_layers = 12;
    spec.defaults.num_attention_heads = spec.defaults.num_key_value_heads = 10;
    spec.defaults.max_position_embeddings = 32768;
    spec.defaults.moe = {.num_experts = 64, .num_experts_per_tok = 6, .intermediate_size = 896};
    return spec;
}(deepseek_ocr2_text);

// transformers/models/unlimited_ocr: SAM followed by CLIP's layers; the views of an image as rows
inline constexpr model_spec unlimited_ocr = [](model_spec spec) {
    spec.model_type = "unlimited_ocr";
    spec.class_prefix = "UnlimitedOcr";
    spec.base_model = unlimited_ocr_detail::base;
    spec.parse_composite_config = unlimited_ocr_detail::parse_config;
    spec.compute_media_shapes = unlimited_ocr_detail::compute_media_shapes;
    spec.family_keys = unlimited_ocr_detail::family_keys;
    spec.parse_image_processor = unlimited_ocr_detail::parse_processor_config;
    spec.text_model = {.key = "text_config", .default_spec = &unlimited_ocr_text, .ignores_model_type = true};
    return spec;
}(deepseek_ocr2);

}  // namespace llmcost::arch
