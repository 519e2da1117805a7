// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// The vision encoder of Step 3.7: layers over patches with RoPE, and two convolutions that halve the grid.
namespace llmcost::arch {

namespace step3p7_detail {

/// Angles of columns, then of rows, in float32: (patches, head) twice.
struct rotary {
    layer_context ctx;
    std::int64_t patches;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionRotaryEmbedding"); }
    constexpr tensor_pair forward(trace& t) const {
        const recorder::no_grad_guard constants{t};
        t.register_buffer({2, ctx.config.head_dim / 4}, dtype::float32);  // `inv_freq` and `original_inv_freq`
        const tensor angles = t.mul(t.full({patches, 2, 1}), trace::buffer({ctx.config.head_dim / 4}));
        const tensor cos = t.mul_scalar(t.cos(angles)), sin = t.mul_scalar(t.sin(angles));
        const auto table = [&](const tensor& x) {
            const tensor columns_first = t.copy(x).view({patches, -1});  // `flip`
            return t.cat({columns_first, columns_first}, -1);
        };
        const tensor first = table(cos);
        return {first, table(sin)};
    }
};

/// Queries and keys turned in float32 before heads and patches change places: (B, patches, width) -> the same.
constexpr tensor rotary_attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads, n = x.dim(1);
    const auto split = [&](literal name) {
        return t.call(name, linear{width, width, true}, x).view({x.dim(0), n, heads, width / heads});
    };
    const tensor q = split("q_proj"), k = split("k_proj"), v = split("v_proj").transpose(1, 2);
    const auto apply_float32_rotary = [&](const tensor& states) {
        const tensor upcast = t.to(states, dtype::float32);
        return t.to(rotate<rotary_style::rotate_half>(t, upcast, ctx.inputs->cos, ctx.inputs->sin), states.type)
            .transpose(1, 2);
    };
    const tensor first = apply_float32_rotary(q), second = apply_float32_rotary(k);
    const tensor mixed = attention_forward(t, first, second, v, full_pattern(n).pattern, {});
    return t.call("out_proj", linear{width, width, true}, t.contiguous(t.reshape(mixed, {x.dim(0), n, width})));
}

/// Norm, attention, residual; norm, two projections, residual: both blocks times a learned number for each feature.
struct scaled_layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionEncoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const norm_module layer_norm{norm_kind::layer, width};
        const tensor first = t.param("lambda_1", {width}), second = t.param("lambda_2", {width});
        tensor h = t.call("self_attn", attention_module{ctx}, t.call("layernorm_before", layer_norm, x));
        const tensor middle = t.add(t.mul(first, h), x);
        h = t.call("mlp", vision_encoder_layer::vision_mlp_of(ctx), t.call("layernorm_after", layer_norm, middle));
        return t.add(t.mul(second, h), middle);
    }
};

/// Places of a square of patches, resampled where a picture has others.
constexpr tensor places_of(const layer_context& ctx, trace& t, std::int64_t rows, std::int64_t columns) {
    const std::int64_t grid_size = ctx.config.vision.image_height / ctx.config.vision.patch_size,
                       width = ctx.config.hidden_size;
    const module_info table{
        .name = "position_embedding", .class_of_module = {"", "Embedding"}, .is_leaf = true};  // never called
    t.register_integer_buffer(grid_size * grid_size);                                          // `position_ids`
    t.enter(table);
    const tensor weight = t.param("weight", {grid_size * grid_size, width});
    t.leave(table);
    const tensor all = weight.unsqueeze(0);
    if (rows == grid_size && columns == grid_size) return all;
    const tensor square = all.view({1, grid_size, grid_size, width}).permute({0, 3, 1, 2});
    return t.resample(op::bilinear, square, {rows, columns}).permute({0, 2, 3, 1}).view({1, -1, width});
}

constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size;
    const tensor pixels = image_input(ctx, t);
    const shape grid = patch_grid(ctx, t);
    const std::int64_t rows = grid.size[0], columns = grid.size[1];
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    t.enter(embeddings);
    const tensor patches = embed_patches(ctx, t, "patch_embedding", false, pixels);
    tensor x = t.leave(embeddings, t.add(patches, places_of(ctx, t, rows, columns)));
    x = t.call("pre_layernorm", norm_module{norm_kind::layer, width}, x);
    attention_inputs inputs;
    const tensor_pair tables = t.call("rotary_emb", rotary{ctx, rows * columns});
    inputs.cos = tables.first;
    inputs.sin = tables.second;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, scaled_layer{ctx.for_layer(layer_loop, inputs)}, x);
    x = x.transpose(1, 2).view({x.dim(0), width, rows, columns});
    x = t.call("downsampler1", convolution_2d{width, 2 * width, 3, 2, 1}, x);
    return as_tokens(t.call("downsampler2", convolution_2d{2 * width, 4 * width, 3, 2, 1}, x));
}

/// Older files have the sizes under names of their own.
constexpr void parse_vision_config(config_view json, model_config& config) {
    parse_square_image(json, config, 728, 14);
    divide_by_heads(json, config, {"num_attention_heads", "heads"});
    if (config.head_dim % 4 != 0) throw_invalid_value(json, "hidden_size", "heads of a multiple of four features");
    const double inner = json.real("mlp_ratio", 8960.0 / 1536.0) * static_cast<double>(config.hidden_size);
    if (!(inner >= 1 && inner <= static_cast<double>(max_input)))
        throw_invalid_value(json, "mlp_ratio", "a factor that gives a width up to 2147483647");
    config.intermediate_size = static_cast<std::int64_t>(inner);
    const auto rope = json.optional_object("rope_parameters");
    if (rope && rope->string("rope_type", "axial") != "axial") throw_invalid_value(*rope, "rope_type", "axial");
    (void)checked_size(json, "hidden_size", 4, config.hidden_size);
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.model_type = "step3p5_vision";
    spec.class_prefix = "Step3p7";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.supported_heads = {};
    spec.attention = rotary_attention;
    spec.names.attention_class = "VisionAttention";
    spec.names.mlp_class = "VisionMLP";
    spec.config_keys.add("hidden_size", "width", key_rule::family_name_first);
    spec.config_keys.add("num_hidden_layers", "layers", key_rule::family_name_first);
    spec.config_keys.add("num_attention_heads", "heads", key_rule::family_name_first);
    spec.defaults.hidden_size = 1536;
    spec.defaults.num_hidden_layers = 47;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::quick_gelu;
    return spec;
}(shared_tower);

}  // namespace step3p7_detail

}  // namespace llmcost::arch
