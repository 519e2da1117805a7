// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/lfm3.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/native_resolution.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace lfm3_vl_detail {

enum tower_config_index : std::uint8_t { patch, frames, channels, merged, kernel };
inline constexpr family_key tower_keys[]{
    {"patch_size", 16},        {"temporal_patch_size", 2}, {"in_channels", 3},
    {"spatial_merge_size", 2}, {"conv_kernel_size", 3},
};

/// Layer flag: a convolution layer.
inline constexpr std::uint8_t convolves = 1;

struct attention {
    layer_context ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t n = x.dim(0), width = ctx.config.hidden_size, d = ctx.config.head_dim;
        const std::int64_t heads = ctx.config.num_attention_heads, groups = ctx.config.num_key_value_heads;
        const auto split = [&](literal name, std::int64_t num_split_heads) {
            return t.call(name, linear{width, num_split_heads * d}, x).view({n, num_split_heads, d});
        };
        const norm_module scale{norm_kind::rms, d, ctx.class_of("VisionRMSNorm")};
        const auto apply_rotary = [&](const tensor& states) {
            const tensor upcast = t.to(states, dtype::float32);
            return t.to(rotate<rotary_style::rotate_half>(t, upcast, ctx.inputs->cos, ctx.inputs->sin), states.type);
        };
        const tensor q = t.call("q_norm", scale, split("q_proj", heads)),
                     k = t.call("k_norm", scale, split("k_proj", groups));
        const tensor v = split("v_proj", groups), first = apply_rotary(q);
        const packed_sequences runs = pack_images(t.load(), ctx.config.family[patch]).full_images();
        return t.call("out_proj", linear{heads * d, width},
                      packed_scaled_dot_product_attention(t, first, apply_rotary(k), v, runs));
    }
};

/// Two gates around a convolution over the grid of each image by itself.
struct short_convolution {
    layer_context ctx;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionShortConv"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, side = ctx.config.family[merged],
                           k = ctx.config.family[kernel];
        const packed_images grid = pack_images(t.load(), ctx.config.family[patch]);
        const tensor all = t.call("in_proj", linear{width, 3 * width}, x);
        const tensor part = t.slice(all, -1, width), gated = t.mul(part, part);
        const convolution_2d over_grid{width, width, k, 1, k / 2, width, false};
        const tensor image = gated.slice(0, grid.rows * grid.columns);
        tensor out = trace::buffer({1});
        out.type = x.type;
        for (loop layer_loop = t.loop_calls(grid.frames, out); layer_loop.next();) {
            const tensor blocks = image.view({1, grid.rows / side, grid.columns / side, side, side, width});
            const tensor raster = t.reshape(blocks.permute({0, 5, 1, 3, 2, 4}), {1, width, grid.rows, grid.columns});
            const tensor h = t.call("spatial_conv", over_grid, raster);
            const tensor unshuffled = h.view({1, width, grid.rows / side, side, grid.columns / side, side});
            out = t.reshape(unshuffled.permute({0, 2, 4, 3, 5, 1}), {-1, width});
        }
        const tensor packed = t.cat({window_tiling(out, 0, grid.frames)}, 0);
        return t.call("out_proj", linear{width, width}, t.mul(part, packed));
    }
};

struct vision_mlp {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionMLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const tensor h = t.silu(t.call("w1", linear{width, inner}, x));
        return t.call("w2", linear{inner, width}, t.mul(h, t.call("w3", linear{width, inner}, x)));
    }
};

struct layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module scale{norm_kind::rms, ctx.config.hidden_size, ctx.class_of("VisionRMSNorm")};
        const tensor even = t.call("operator_norm", scale, x);
        const tensor h = ctx.layer.family_tag == convolves ? t.call("conv", short_convolution{ctx}, even)
                                                           : t.call("self_attn", attention{ctx}, even);
        const tensor middle = t.add(h, x);
        return t.add(middle, t.call("feed_forward", vision_mlp{ctx}, t.call("ffn_norm", scale, middle)));
    }
};

/// Patches of two frames, layers that convolve or attend: (patches, width).
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const std::int64_t width = ctx.config.hidden_size,
                       values = family[channels] * family[frames] * family[patch] * family[patch];
    const std::int64_t n = pack_images(t.load(), family[patch]).patches();
    tensor x = t.call("patch_embed", linear{values, width}, t.input({n, values}));
    x = t.call("embedding_norm", norm_module{norm_kind::rms, width, ctx.class_of("VisionRMSNorm")}, x);
    attention_inputs inputs;
    const packed_position_table table{ctx.config.head_dim, ctx.class_of("VisionRotaryEmbedding")};
    const tensor_pair turns = t.call("rotary_pos_emb", table, n);
    inputs.cos = turns.first;
    inputs.sin = turns.second;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, layer{ctx.for_layer(layer_loop, inputs)}, x);
    return x;
}

/// Parses the vision configuration. Without a list, layers are convolutions, except attention in every second layer
/// from the third on.
constexpr void parse_vision_config(config_view json, model_config& config) {
    divide_by_heads(json, config, {"num_attention_heads"});
    if (config.family[kernel] % 2 == 0)
        throw_invalid_value(json, "conv_kernel_size", "an odd number, which keeps the grid as it is");
    const auto listed = json.optional_array("layer_types");
    if (listed && static_cast<std::int64_t>(listed->size()) < config.num_hidden_layers)
        throw_invalid_value(json, "layer_types", "a list with one kind per layer");
    set_layers(json, config, [&](std::int64_t i) {
        const bool attends =
            listed ? (*listed)[static_cast<std::size_t>(i)].as_string() != "conv" : i >= 2 && i % 2 == 0;
        return layer_spec{.family_tag = attends ? std::uint8_t{} : convolves};
    });
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.model_type = "lfm3_vl_vision";
    spec.class_prefix = "Lfm3Vl";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = tower_keys;
    spec.supported_heads = {};
    spec.rotary = rotary_style::none;
    spec.supported_layers.max_family_tag = convolves;
    spec.names.model_class = "VisionModel";
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 2560;
    spec.defaults.num_hidden_layers = 14;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head = head_kind::none;
    return spec;
}(model_spec{});

enum family_config_index : std::uint8_t { inner, has_bias, act, fewest_pixels, largest };
inline constexpr family_key family_keys[]{
    {"projector_hidden_size", 4096},
    {"projector_bias", 1, family_key_type::boolean},
    {.default_value = static_cast<std::int64_t>(activation::gelu), .type = family_key_type::computed},
    {.default_value = 56 * 56, .type = family_key_type::computed},
    {.default_value = 28 * 28 * 1280, .type = family_key_type::computed},
};

/// Patches normed, squares of them through two projections.
struct merging_projector {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultiModalProjector"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const family_config& family = ctx.model.family;
        const std::int64_t side = ctx.model.components[0].config.family[merged], in = side * side * x.dim(-1);
        const bool bias = family[has_bias] != 0;
        const tensor even = t.reshape(t.call("layer_norm", norm_module{norm_kind::layer, x.dim(-1)}, x), {-1, in});
        const tensor h = t.call("linear_1", linear{in, family[inner], bias}, even);
        const activation_module act_fn{static_cast<activation>(family[act])};
        return t.call("linear_2", linear{family[inner], ctx.config.hidden_size, bias}, t.call("act", act_fn, h));
    }
};

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images == 0) return {};
    const family_config& family = m.components[0].config.family;
    return {.image =
                resized_to_patches(load, family[patch], family[merged], m.family[fewest_pixels], m.family[largest])};
}

constexpr void parse_processor_config(config_view json, model& m) {
    expect_patches(json, m.components[0].config.family[patch], m.components[0].config.family[merged]);
    parse_bounds_of_pixels(json, m.family, fewest_pixels, largest);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.model.components[0].config.family;
    return forward_text_after_packed_images(
        ctx, t, family[patch] * family[merged], [&](const tensor& token_embeddings) {
            const tensor states = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
            return t.masked_scatter(token_embeddings,
                                    t.cat({t.call("multi_modal_projector", merging_projector{ctx}, states)}, 0));
        });
}

constexpr void parse_config(config_view json, model& m) {
    if (const auto name = json.optional_string("projector_hidden_act"))
        m.family[act] = static_cast<std::int64_t>(activation_named(json, "projector_hidden_act", *name));
}

}  // namespace lfm3_vl_detail

// transformers/models/lfm3_vl: a tower that convolves and attends before LFM3
inline constexpr model_spec lfm3_vl = [](model_spec spec) {
    spec.model_type = "lfm3_vl";
    spec.class_prefix = "Lfm3Vl";
    spec.base_model = lfm3_vl_detail::base;
    spec.parse_composite_config = lfm3_vl_detail::parse_config;
    spec.family_keys = lfm3_vl_detail::family_keys;
    spec.compute_media_shapes = lfm3_vl_detail::compute_media_shapes;
    spec.parse_image_processor = lfm3_vl_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &lfm3, .ignores_model_type = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &lfm3_vl_detail::tower, .ignores_model_type = true};
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
