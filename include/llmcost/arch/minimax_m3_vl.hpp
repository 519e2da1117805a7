// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/minimax_m3_vl_text.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/native_resolution.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace minimax_m3_vl_detail {

enum tower_config_index : std::uint8_t { frames, merged };
inline constexpr family_key tower_keys[]{{"temporal_patch_size", 2}, {"spatial_merge_size", 2}};

/// Angles of frame, row and column, a third of a head each: (patches, 6 · (head / 6)) twice.
struct rotary {
    layer_context ctx;
    std::int64_t patches;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionRotaryEmbedding"); }
    constexpr tensor_pair forward(trace& t) const {
        const recorder::no_grad_guard constants{t};
        t.register_buffer({2, ctx.config.head_dim / 3 / 2}, dtype::float32);  // `inv_freq` and `original_inv_freq`
        const tensor angles = t.mul(t.full({patches, 3, 1}), trace::buffer({ctx.config.head_dim / 3 / 2}));
        const tensor cos = t.mul_scalar(t.cos(angles)), sin = t.mul_scalar(t.sin(angles));
        const auto table = [&](const tensor& x) {
            const tensor flat = x.view({patches, -1});
            return t.to(t.cat({flat, flat}, -1), t.activation_type());
        };
        const tensor first = table(cos);
        return {first, table(sin)};
    }
};

/// A part of each head turned, attention within images: (patches, width) -> the same.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& row) {
    const tensor x = row.squeeze(0);
    const std::int64_t n = x.dim(0), width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads,
                       d = width / heads;
    const auto split = [&](literal name) { return t.call(name, linear{width, width, true}, x).view({n, heads, d}); };
    const tensor q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
    const tensor &cos = ctx.inputs->cos, &sin = ctx.inputs->sin;
    const auto apply_rotary = [&](const tensor& states) {
        return rotate_partial(t, rotary_style::rotate_half, states, cos.dim(-1), cos, sin, true);
    };
    const tensor first = apply_rotary(q);
    const packed_sequences runs = pack_images(t.load(), ctx.config.vision.patch_size).full_images();
    return t.call("out_proj", linear{width, width, true},
                  packed_scaled_dot_product_attention(t, first, apply_rotary(k), v, runs));
}

/// Patches of two frames, a norm, CLIP's layers: (1, patches, width).
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size, deep = ctx.config.family[frames];
    const std::int64_t n = pack_images(t.load(), image.patch_size).patches();
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    t.enter(embeddings);
    const shape kernel{deep, image.patch_size, image.patch_size};
    const tensor pixels = t.input({n, image.num_channels, deep, image.patch_size, image.patch_size});
    const tensor patches = t.call("proj", convolution_3d{image.num_channels, width, kernel, kernel, false}, pixels);
    const tensor embedded = t.leave(embeddings, patches.view({n, width}));
    attention_inputs inputs;
    const tensor_pair tables = t.call("rotary_emb", rotary{ctx, n});
    inputs.cos = tables.first;
    inputs.sin = tables.second;
    tensor x = t.call("pre_layrnorm", norm_module{norm_kind::layer, width}, embedded).unsqueeze(0);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, vision_encoder_layer{ctx.for_layer(layer_loop, inputs)}, x);
    return x;
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    parse_square_image(json, config, 2016, 14);
    divide_by_heads(json, config, {"num_attention_heads"});
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.model_type = "minimax_m3_vl_vision";
    spec.class_prefix = "MiniMaxM3VL";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = tower_keys;
    spec.supported_heads = {};
    spec.attention = attention;
    spec.names.attention_class = "VisionAttention";
    spec.names.layer_class = "VisionEncoderLayer";
    spec.names.mlp_class = "VisionMLP";
    spec.defaults.hidden_size = 1280;
    spec.defaults.intermediate_size = 5120;
    spec.defaults.num_hidden_layers = 32;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::gelu;
    return spec;
}(shared_tower);

enum family_config_index : std::uint8_t { inner, fewest_pixels, largest };
inline constexpr family_key family_keys[]{{"projector_hidden_size", 6144},
                                          {.default_value = 56 * 56, .type = family_key_type::computed},
                                          {.default_value = 451584, .type = family_key_type::computed}};

/// Two projections for each patch, two more for squares of them.
struct merging_projector {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"MiniMaxM3VL", "MultiModalProjector"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, expanded_width = ctx.model.family[inner];
        const std::int64_t side = ctx.model.components[0].config.family[merged], square = side * side;
        const auto twice = [&](literal first, literal act, literal second, const tensor& input) {
            const tensor h = t.call(first, linear{input.dim(-1), expanded_width, true}, input);
            return t.call(second, linear{expanded_width, width, true},
                          t.call(act, activation_module{activation::gelu}, h));
        };
        const tensor operand = twice("linear_1", "act", "linear_2", x);
        return twice("merge_linear_1", "merge_act", "merge_linear_2",
                     t.reshape(operand, {x.dim(0) / square, square * width}));
    }
};

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images == 0) return {};
    const model_config& vision = m.components[0].config;
    return {.image = resized_to_patches(load, vision.vision.patch_size, vision.family[merged], m.family[fewest_pixels],
                                        m.family[largest])};
}

/// A size of `[672, 672]`, as published, means nothing.
constexpr void parse_processor_config(config_view json, model& m) {
    expect_patches(json, m.components[0].config.vision.patch_size, m.components[0].config.family[merged]);
    if (const auto size = json.find("size"); size && size->is_array()) {
        if (size->size() != 2 || (*size)[0].as_positive() != 672 || (*size)[1].as_positive() != 672)
            throw_invalid_value(json, "size", "an object with bounds of pixels, or [672, 672]");
        return parse_older_bounds(json, m.family, fewest_pixels, largest);
    }
    parse_bounds_of_pixels(json, m.family, fewest_pixels, largest);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const model_config& vision = ctx.model.components[0].config;
    return forward_text_after_packed_images(
        ctx, t, vision.vision.patch_size * vision.family[merged], [&](const tensor& token_embeddings) {
            const tensor states = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
            const tensor features = t.call("multi_modal_projector", merging_projector{ctx}, states.squeeze(0));
            return scatter_features(t, token_embeddings, features);
        });
}

}  // namespace minimax_m3_vl_detail

// transformers/models/minimax_m3_vl: a tower of patches before MiniMax M3; its head's class is named after the
// text's
inline constexpr model_spec minimax_m3_vl = [](model_spec spec) {
    spec.model_type = "minimax_m3_vl";
    spec.class_prefix = "MiniMaxM3";
    spec.base_model = minimax_m3_vl_detail::base;
    spec.family_keys = minimax_m3_vl_detail::family_keys;
    spec.compute_media_shapes = minimax_m3_vl_detail::compute_media_shapes;
    spec.parse_image_processor = minimax_m3_vl_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.names.model_class = "VLModel";
    spec.names.causal_lm_class = "SparseForConditionalGeneration";
    spec.supported_heads = {head_kind::none, head_kind::causal_lm};
    spec.defaults.head = head_kind::causal_lm;
    spec.text_model = {.key = "text_config", .default_spec = &minimax_m3_vl_text, .ignores_model_type = true};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &minimax_m3_vl_detail::tower, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
