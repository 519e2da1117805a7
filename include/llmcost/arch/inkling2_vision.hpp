// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/inkling2.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/native_resolution.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace inkling2_vision_detail {

enum family_config_index : std::uint8_t { merged, table_side, inner, projector_bias };
inline constexpr family_key family_keys[]{{"spatial_merge_size", 2},
                                          {"posemb_grid_size", 32},
                                          {"projection_hidden_dim", 4096},
                                          {"projector_bias", 0, family_key_type::boolean}};

/// Images in one row, a class token before the patches of each.
[[nodiscard]] constexpr packed_sequences runs_of(const packed_images& grid) noexcept {
    packed_sequences runs;
    runs.add(grid.rows * grid.columns + 1, grid.frames);
    return runs;
}

/// Cosines and sines, (rows, head) each: rows and columns have half of the frequencies each, twice side by side.
struct rotary_table_of_pairs {
    std::int64_t head_dim;
    class_name named;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor_pair forward(trace& t, std::int64_t rows) const {
        const recorder::no_grad_guard constants{t};
        t.register_buffer(count(head_dim / 4 * 8));
        const tensor angles = t.mul(t.full({rows, 2, 1}), trace::buffer({head_dim / 4}));
        const auto table = [&](const tensor& x) {
            return t.repeat_interleave(t.cat({x.select(1), x.select(1)}, -1), -1, 2);
        };
        const tensor cos = t.mul_scalar(t.cos(angles)), sin = t.mul_scalar(t.sin(angles));
        return {table(cos), table(sin)};
    }
};

/// Attention within each image, queries and keys turned: (rows, width) -> the same.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t n = x.dim(0), width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
    const auto split = [&](literal name) {
        return t.call(name, linear{width, width, true}, x).view({n, heads, width / heads});
    };
    const auto apply_rotary = [&](const tensor& part) {
        return t.to(rotate(t, rotary_style::interleaved, t.to(part, dtype::float32), ctx.inputs->cos, ctx.inputs->sin),
                    part.type);
    };
    const tensor q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
    const tensor queries = apply_rotary(q), family_keys = apply_rotary(k);
    const packed_sequences runs = runs_of(pack_images(t.load(), ctx.config.vision.patch_size));
    return t.call("out_proj", linear{width, width, true},
                  packed_scaled_dot_product_attention(t, queries, family_keys, v, runs));
}

/// Each half of a layer is scaled per channel before its residual.
struct vision_layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionEncoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const norm_module layer_norm{norm_kind::layer, width};
        const tensor first = t.param("lambda_1", {width}), second = t.param("lambda_2", {width});
        tensor h = t.call("self_attn", attention_module{ctx}, t.call("layernorm_before", layer_norm, x));
        const tensor middle = t.add(x, t.mul(first, h));
        h = t.call("mlp", vision_encoder_layer::vision_mlp_of(ctx), t.call("layernorm_after", layer_norm, middle));
        return t.add(middle, t.mul(second, h));
    }
};

/// Patches in the order of the squares that they are merged in, places resampled from a learned square.
constexpr tensor embed(const layer_context& ctx, trace& t, const packed_images& grid) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size, n = grid.patches(), m = ctx.config.family[merged],
                       p = image.patch_size;
    const std::int64_t side = ctx.config.family[table_side], values = image.num_channels * p * p;
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    const tensor pixels = t.input({n / (m * m), m * p, m * p, image.num_channels});
    t.enter(embeddings);
    const tensor token = t.param("class_embedding", {width}), place = t.param("cls_position_embedding", {width});
    const tensor split = pixels.view({-1, m, p, m, p, image.num_channels}).transpose(2, 3);
    const tensor patches = t.call("patch_embedding", linear{values, width}, t.reshape(split, {n, values}));
    tensor weights;
    {
        const recorder::no_grad_guard constants{t};
        const tensor rows = weights_of_axis(t, n, place_taps::two, false);
        const tensor columns = weights_of_axis(t, n, place_taps::two, false);
        weights = t.mul(rows.unsqueeze(2), columns.unsqueeze(1)).view({n, 4, 1});
    }
    const tensor found = t.call("position_embedding", embedding{side * side, width}, shape{n, 4});
    const tensor placed = t.add(patches, t.to(t.sum(t.mul(found, weights), 1), patches.type));
    const tensor rows = t.copy(t.add(token, place).unsqueeze(0).expand({n + grid.frames, width}));  // `repeat`
    t.leave(embeddings, placed);
    return rows;  // the patches are written into it
}

constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const packed_images grid = pack_images(t.load(), ctx.config.vision.patch_size);
    const std::int64_t width = ctx.config.hidden_size, m = ctx.config.family[merged];
    tensor x = t.call("pre_layernorm", norm_module{norm_kind::layer, width}, embed(ctx, t, grid));
    const rotary_table_of_pairs table{width / ctx.config.num_attention_heads, ctx.class_of("VisionRotaryEmbedding")};
    const tensor_pair tables = t.call("rotary_emb", table, x.dim(0));
    attention_inputs inputs;
    inputs.cos = tables.first;
    inputs.sin = tables.second;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, vision_layer{ctx.for_layer(layer_loop, inputs)}, x);
    return t.gather(x, {grid.patches(), width}).view({grid.patches() / (m * m), m * m * width});
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    config.vision.patch_size =
        json.positive(json.contains("native_patch_size") ? "native_patch_size" : "patch_size", 20);
    config.vision.num_channels = json.positive("num_channels", 3);
    if (json.contains("adapter_merge_size")) config.family[merged] = json.positive("adapter_merge_size", 2);
    config.intermediate_size = parse_intermediate_size(json, config, "intermediate_size", "mlp_ratio", 4.0);
    divide_by_heads(json, config, {"num_attention_heads"});
    if (config.hidden_size / config.num_attention_heads % 4 != 0)
        throw_invalid_value(json, "num_attention_heads", "heads of a multiple of 4 features");
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.model_type = "inkling2_vision";
    spec.class_prefix = "Inkling2";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = family_keys;
    spec.supported_heads = {};
    spec.attention = attention;
    spec.names.attention_class = "VisionAttention";
    spec.names.mlp_class = "VisionMLP";
    spec.config_keys.add("intermediate_size", key_rule::absent);
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 0;
    spec.defaults.num_hidden_layers = 23;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::gelu;
    return spec;
}(shared_tower);

/// Returns the image shape: sides are padded to complete tokens, without resizing.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0)
        throw_description_error("this model accepts images of any size; use --image WIDTHxHEIGHT");
    const std::int64_t side = m.components[0].config.vision.patch_size * m.components[0].config.family[merged];
    const std::int64_t rows = (load.image_height + side - 1) / side, columns = (load.image_width + side - 1) / side;
    return {.image = {.num_tokens = rows * columns, .height = rows * side, .width = columns * side}};
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const bool has_image_inputs = has_images(t);
        const recorder::not_executed_guard no_pixels{t, !has_image_inputs};
        const layer_context eye = ctx.component(0);
        const media_shape shape = has_image_inputs ? compute_media_shapes(ctx.model, t.load()).image : media_shape{};
        const std::int64_t m = eye.config.family[merged];
        const recorder::workload_guard encoder_workload{t, packed_workload(t, shape, eye.config.vision.patch_size * m)};
        const module_info vision{
            .name = "vision_tower", .class_of_module = eye.class_of("VisionModel"), .module_role = role::vision};
        t.enter(vision);
        const projector merger{
            eye.class_of("VisionMerger"), m * m * eye.config.hidden_size,         eye.config.family[inner],
            ctx.config.hidden_size,       eye.config.family[projector_bias] != 0, eye.config.hidden_act};
        const tensor features = t.leave(vision, t.call("merger", merger, tower_base(eye, t)));
        return scatter_features(t, token_embeddings, features);
    });
}

constexpr tensor process_logits(const layer_context& ctx, trace& t, const tensor& scores) {
    return inkling2_detail::process_logits(ctx.text_model(), t, scores);
}

}  // namespace inkling2_vision_detail

// transformers/models/inkling2: patches of images of any shape, merged in squares, before its text model
inline constexpr model_spec inkling2 = [](model_spec spec) {
    spec.model_type = "inkling2";
    spec.class_prefix = "Inkling2";
    spec.base_model = inkling2_vision_detail::base;
    spec.process_logits = inkling2_vision_detail::process_logits;
    spec.compute_media_shapes = inkling2_vision_detail::compute_media_shapes;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &inkling2_text, .ignores_model_type = true};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &inkling2_vision_detail::tower, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
