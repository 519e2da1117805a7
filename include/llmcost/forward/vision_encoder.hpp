// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/attention.hpp>
#include <llmcost/forward/encoder.hpp>
#include <llmcost/layers/convolution.hpp>
#include <llmcost/layers/mlp.hpp>
#include <llmcost/layers/norm.hpp>

// Vision encoders (CLIP).
//
// Shapes: B = images, S = patches.
namespace llmcost {

/// Input pixels of square images, one per sequence: (B, channels, size, size).
constexpr tensor pixel_values(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    return t.input({t.load().batch, image.num_channels, image.image_height, image.image_width});
}

/// Number of patches of an image.
[[nodiscard]] constexpr std::int64_t patches_of(const vision_config& image) noexcept {
    return (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
}

/// Patch embeddings by the convolution `name`: (B, channels, height, width) -> (B, S, width).
constexpr tensor embed_patches(const layer_context& ctx, trace& t, literal name, bool bias, const tensor& pixels) {
    const vision_config& image = ctx.config.vision;
    const convolution_2d patches{
        image.num_channels, ctx.config.hidden_size, image.patch_size, image.patch_size, 0, 1, bias};
    return as_tokens(t.call(name, patches, pixels));
}

/// Learned position embeddings, looked up once for all images with the buffer `position_ids`.
constexpr tensor learned_positions(trace& t, literal name, std::int64_t positions, std::int64_t width) {
    t.register_integer_buffer(positions);
    return t.call(name, embedding{positions, width}, shape{1, positions});
}

/// Bidirectional attention with output projection: (B, S, width) -> (B, S, width).
constexpr tensor patch_attention(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    const std::int64_t width = ctx.config.hidden_size;
    const tensor mixed = bidirectional_attention(t, x, width, ctx.config.num_attention_heads, ctx.config.attention_bias,
                                                 {n.q_proj, n.k_proj, n.v_proj}, true, full_pattern(x.dim(1)));
    return t.call(n.o_proj, linear{width, width, ctx.config.output_bias}, mixed);
}

/// Bidirectional attention with RoPE and output projection: (B, S, width) -> (B, S, width).
constexpr tensor rotary_patch_attention(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    const attention_inputs& inputs = *ctx.inputs;
    const tensor mixed = attention_forward(t, qkv.query, qkv.key, qkv.value, inputs.pattern,
                                           {.mask = inputs.mask.rank > 0 ? &inputs.mask : nullptr});
    return output_projection(ctx, t, t.contiguous(t.reshape(mixed, {mixed.dim(0), mixed.dim(1), -1})));
}

/// Rotary tables of two axes, each with half of a head's elements: cosines and sines (1, patches, head) each.
///
/// Source: transformers/models/pixtral/modeling_pixtral.py, `PixtralVisionRotaryEmbedding`.
struct axial_position_table {
    std::int64_t head_dim;
    class_name named;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor_pair forward(trace& t, std::int64_t patches) const {
        const recorder::no_grad_guard constants{t};
        const std::int64_t half = head_dim / 2;
        t.register_buffer({2, half}, dtype::float32);  // `inv_freq` and `original_inv_freq`
        const tensor angles = t.mul(t.full({patches, 2, 1}), trace::buffer({half}));
        const auto table = [&](const tensor& x) {
            const tensor merged_axes =
                t.cat({x.select(1).slice(-1, half / 2), x.select(1).slice(-1, half - half / 2)}, -1);
            return t.to(t.cat({merged_axes, merged_axes}, -1), t.activation_type())
                .view({1, patches, 2 * merged_axes.dim(-1)});
        };
        const tensor cos = t.mul_scalar(t.cos(angles)), sin = t.mul_scalar(t.sin(angles));
        return {table(cos), table(sin)};
    }
};

struct hidden_state_outputs {
    static constexpr int maximum = 40;

    std::uint64_t layer_mask = 0;  ///< bit i: the states after i layers are an output
    tensor states[maximum]{};      ///< in this order; empty in encoders that do not support it
    int count = 0;

    [[nodiscard]] constexpr bool is_layer_output(std::int64_t layers) const noexcept {
        return layers < 64 && (layer_mask >> layers & 1) != 0;
    }
};

/// True if states of selected layers are the output, not the last states.
[[nodiscard]] constexpr bool needs_hidden_states(const layer_context& ctx) noexcept {
    return ctx.inputs != nullptr && ctx.inputs->hidden_states != nullptr;
}

/// Pre-norm encoder layer: (B, S, width) -> (B, S, width).
///
///     h = x + attention(layer_norm1(x))
///     y = h + mlp(layer_norm2(h))
struct vision_encoder_layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of(ctx.spec.names.layer_class); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const decoder_module_names& n = ctx.spec.names;
        const norm_module layer_norm{norm_kind::layer, ctx.config.hidden_size};
        const tensor middle =
            t.add(x, t.call(n.attention, attention_module{ctx}, t.call("layer_norm1", layer_norm, x)));
        return t.add(middle, t.call("mlp", vision_mlp_of(ctx), t.call("layer_norm2", layer_norm, middle)));
    }
    [[nodiscard]] static constexpr mlp_module vision_mlp_of(const layer_context& ctx) {
        return {mlp_kind::plain,
                ctx.config.hidden_size,
                ctx.config.intermediate_size,
                ctx.config.hidden_act,
                ctx.class_of(ctx.spec.names.mlp_class),
                true,
                {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
    }
};

/// Calls the layers in the encoder module: (B, S, width) -> (B, S, width).
///
/// Layers after the last selected states have no gradients.
constexpr tensor encode(const layer_context& ctx, trace& t, tensor x, literal type = "Encoder",
                        const attention_inputs& inputs = attention_inputs{}) {
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of(type)};
    const std::int64_t layers = ctx.config.num_hidden_layers;
    std::int64_t done = 0;
    const auto run_to = [&](std::int64_t end) {
        for (loop layer_loop = t.loop_modules(end - done, x, done); layer_loop.next();)
            x = t.call({"layers", layer_loop.index()}, vision_encoder_layer{ctx.for_layer(layer_loop, inputs)}, x);
        done = end;
    };
    t.enter(encoder);
    if (needs_hidden_states(ctx)) {
        hidden_state_outputs& read = *ctx.inputs->hidden_states;
        for (std::int64_t i = 0; i <= layers; ++i)
            if (read.is_layer_output(i)) {
                run_to(i);
                read.states[read.count++] = x;
            }
    }
    const recorder::detach_guard unread{t, needs_hidden_states(ctx)};
    run_to(layers);
    return t.leave(encoder, x);
}

/// An encoder as a model without a head.
constexpr tensor forward_without_head(const layer_context& ctx, trace& t) {
    return forward_in_module({.class_of_module = ctx.class_of(ctx.spec.names.model_class)}, ctx.spec.base_model, ctx,
                             t);
}

/// Dropout rates of vision encoders.
inline constexpr dropout_key tower_dropout[]{{dropout_position::attention, "attention_dropout"}};

/// Base model spec of vision encoders.
inline constexpr model_spec shared_tower = [](model_spec spec) {
    spec.forward = forward_without_head;
    spec.rotary = rotary_style::none;
    spec.supported_heads = {head_kind::none};
    spec.names.model_class = "VisionModel";
    spec.names.layer_class = "EncoderLayer";
    spec.names.o_proj = "out_proj";
    spec.defaults.head = head_kind::none;
    spec.defaults.hidden_size = 768;
    spec.defaults.intermediate_size = 3072;
    spec.defaults.num_hidden_layers = spec.defaults.num_attention_heads = 12;
    spec.attention = patch_attention;
    spec.defaults.attention_bias = true;
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.config_keys.add("head_dim", key_rule::absent);
    return spec;
}(model_spec{});

}  // namespace llmcost
