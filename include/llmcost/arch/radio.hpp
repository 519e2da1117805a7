// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/native_resolution.hpp>
#include <llmcost/forward/radio_config.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace radio_detail {

using radio_config::biased, radio_config::drops, radio_config::frames, radio_config::largest, radio_config::picked,
    radio_config::registers, radio_config::summaries, radio_config::swiglu;

/// Self-attention within each image. For several images, the reference also stores the probabilities in one unused
/// tensor.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t n = x.dim(1), width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
    const std::int64_t d = ctx.config.head_dim, images = t.load().batch, length = n / images;
    const bool bias = ctx.config.family[biased] != 0;
    const auto split = [&](literal name) {
        return t.call(name, linear{width, heads * d, bias}, x).view({1, n, heads, d}).transpose(1, 2);
    };
    const tensor q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
    const attention_pattern all{.query_length = length, .is_causal = false};
    tensor found = trace::buffer({1});
    found.type = x.type;
    for (loop layer_loop = t.loop_time_steps(images, found); layer_loop.next();)
        found = attention_forward(t, q.slice(2, length), k.slice(2, length), v.slice(2, length), all,
                                  {.has_float32_softmax = false});
    if (images > 1) {
        found = t.cat({window_tiling(found, 1, images)}, 1);
        (void)t.full({1, heads, n, n}, x.type);
    }
    const tensor attention_output = t.contiguous(t.reshape(found, {1, n, heads * d}));
    return t.call("o_proj", linear{heads * d, width, true}, attention_output);
}

struct layer_scale {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("LayerScale"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        return t.mul(x, t.param("lambda1", {ctx.config.hidden_size}));
    }
};

/// Norm, attention, scale, residual; norm, feed-forward, scale, residual; one module drops in both.
struct layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module layer_norm{norm_kind::layer, ctx.config.hidden_size};
        const drop_path_module dropped{ctx.spec.class_prefix, ctx.config.family[drops] != 0};
        tensor h = t.call("attention", attention_module{ctx}, t.call("norm1", layer_norm, x));
        const tensor middle = t.add(t.call("drop_path", dropped, t.call("layer_scale1", layer_scale{ctx}, h)), x);
        h = t.call("layer_scale2", layer_scale{ctx}, mlp(t, t.call("norm2", layer_norm, middle)));
        const recorder::shared_parameters_guard shared_parameters{t};
        return t.add(t.call("drop_path", dropped, h), middle);
    }
    constexpr tensor mlp(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        if (ctx.config.family[swiglu] != 0) {
            const std::int64_t swiglu_width =
                (static_cast<std::int64_t>(static_cast<double>(inner * 2) / 3.0) + 7) / 8 * 8;
            return t.call(
                "mlp",
                mlp_module{mlp_kind::gated, width, swiglu_width, activation::silu, ctx.class_of("SwiGLUFFN"), true}, x);
        }
        const mlp_names names{.up = "fc1", .down = "fc2", .act = "activation_fn"};
        return t.call(
            "mlp", mlp_module{mlp_kind::plain, width, inner, ctx.config.hidden_act, ctx.class_of("MLP"), true, names},
            x);
    }
};

/// Places of one image: a square as long as its longer side is resampled, and cut.
constexpr tensor places_of_image(const layer_context& ctx, trace& t, const tensor& table, std::int64_t rows,
                                 std::int64_t columns) {
    const std::int64_t side = ctx.config.family[largest] / ctx.config.vision.patch_size, width = ctx.config.hidden_size;
    const std::int64_t longer = rows > columns ? rows : columns;
    const tensor square = t.to(table.view({1, side, side, width}).permute({0, 3, 1, 2}), dtype::float32);
    const tensor resized = t.to(t.bilinear(square, longer, longer), table.type);
    return t.reshape(resized.slice(2, rows).slice(3, columns), {width, rows * columns}).transpose(0, 1);
}

/// Patches of all images in one row, summaries and registers before each image's: (1, length of all, width).
constexpr tensor embed(const layer_context& ctx, trace& t, const packed_images& grid) {
    const vision_config& image = ctx.config.vision;
    const family_config& family = ctx.config.family;
    const std::int64_t width = ctx.config.hidden_size, ahead = family[summaries] + family[registers];
    const std::int64_t values = image.num_channels * image.patch_size * image.patch_size,
                       side = family[largest] / image.patch_size;
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("PatchEmbeddings"), .module_role = role::embedding};
    const tensor pixels = t.call("input_conditioner", identity{"Identity"},
                                 t.input({grid.patches(), image.num_channels, image.patch_size, image.patch_size}));
    t.enter(embeddings);
    const tensor table = t.param("position_embedding", {1, side * side, width});
    const tensor prefix = t.param("cls_register_token", {ahead, width});
    const tensor patches = t.call("patch_projection", linear{values, width}, pixels.view({-1, values}));
    if (family[frames] != 0) {
        const recorder::not_executed_guard no_videos{t};
        (void)t.call("video_patch_projection", linear{family[frames] * values, width},
                     trace::buffer({1, family[frames] * values}));
    }
    const tensor frame_patches = patches.slice(0, grid.rows * grid.columns);
    tensor placed = trace::buffer({1});
    placed.type = patches.type;
    for (loop layer_loop = t.loop_time_steps(grid.frames, placed); layer_loop.next();)
        placed = t.add(frame_patches, places_of_image(ctx, t, table, grid.rows, grid.columns));
    const tensor attention_output =
        t.cat({window_tiling(prefix, 0, grid.frames), window_tiling(placed, 0, grid.frames)}, 0);
    return t.leave(embeddings, attention_output.unsqueeze(0));
}

/// Returns the patch states of all images: (patches, width).
constexpr tensor base(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const packed_images grid = pack_images(t.load(), ctx.config.vision.patch_size);
    t.register_integer_buffer(family[picked]);  // `summary_idxs`
    tensor x = embed(ctx, t, grid);
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    const attention_inputs none{};
    t.enter(encoder);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layer", layer_loop.index()}, layer{ctx.for_layer(layer_loop, none)}, x);
    t.leave(encoder);
    const tensor row = x.squeeze(0);
    {
        const recorder::detach_guard unread{t};
        (void)t.gather(row, {grid.frames, family[picked], ctx.config.hidden_size});
    }
    return t.gather(row, {grid.patches(), ctx.config.hidden_size});
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_square_image(json, config, 224, 16);
    divide_by_heads(json, config, {"num_attention_heads"});
    config.intermediate_size = parse_intermediate_size(json, config, "", "mlp_ratio", 4.0);
    config.family[drops] = json.real("drop_path_rate", 0.0) > 0;
    if (config.family[largest] < config.vision.patch_size)
        throw_invalid_value(json, "max_img_size", "at least patch_size");
    (void)checked_product(config.family[largest] / config.vision.patch_size,
                          config.family[largest] / config.vision.patch_size);
    if (const auto listed = json.optional_array("summary_idxs"))
        config.family[picked] = static_cast<std::int64_t>(listed->size());
}

}  // namespace radio_detail

// transformers/models/radio: summary and register tokens before patches of images of any shape; a component of other
// models
inline constexpr submodel_spec radio = [](model_spec spec) {
    spec.model_type = "radio";
    spec.class_prefix = "Radio";
    spec.base_model = radio_detail::base;
    spec.parse_config = radio_detail::parse_config;
    spec.supported_heads = {};
    spec.family_keys = radio_config::family_keys;
    spec.attention = radio_detail::attention;
    spec.names.model_class = "Model";
    spec.config_keys.add("intermediate_size", key_rule::absent);
    spec.defaults.hidden_size = 1280;
    spec.defaults.intermediate_size = 0;
    spec.defaults.num_hidden_layers = 32;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::gelu;
    return spec;
}(shared_tower);

}  // namespace llmcost::arch
