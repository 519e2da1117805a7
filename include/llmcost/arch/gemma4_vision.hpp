// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/forward/layers.hpp>
#include <llmcost/forward/multimodal.hpp>

// Gemma 4's vision encoder. Images are padded to the maximum number of patches.
namespace llmcost::arch {

namespace gemma4_media_detail {

enum vision_config_index : std::uint8_t { patch_side, places, pooled_side, soft_tokens, clips, standardizes };

inline constexpr family_key vision_keys[]{{"patch_size", 16},
                                          {"position_embedding_size", 10240},
                                          {"pooling_kernel_size", 3},
                                          {"default_output_length", 280},
                                          {"use_clipped_linears", 0, family_key_type::boolean},
                                          {"standardize", 0, family_key_type::boolean}};

/// A linear layer inside a module that can clip its input and output.
struct clippable_linear {
    layer_context ctx;
    std::int64_t in;
    std::int64_t out;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ClippableLinear"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const bool cuts = ctx.config.family[clips] != 0;
        if (cuts) t.register_buffer({4}, t.activation_type());  // limits of the input and of the output
        const tensor y = t.call("linear", linear{in, out}, cuts ? t.clamp(x) : x);
        return cuts ? t.clamp(y) : y;
    }
};

/// Applies two-dimensional RoPE: columns and rows each use half of a head. (B, patches, heads, d).
constexpr tensor apply_rotary_2d(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t half = 2 * (x.dim(-1) / 4);
    const auto part = [&] {
        const tensor a = t.slice(x, -1, half);
        const tensor cos = ctx.inputs->cos.slice(-1, half).unsqueeze(2),
                     sin = ctx.inputs->sin.slice(-1, half).unsqueeze(2);
        const tensor plain = t.mul(a, cos);
        const tensor rotated_half = t.neg(t.slice(a, -1, half / 2));
        return t.add(plain, t.mul(t.cat({rotated_half, t.slice(a, -1, half / 2)}, -1), sin));
    };
    const tensor first = part();
    return t.cat({first, part()}, -1);
}

struct vision_attention {
    layer_context ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, d = ctx.config.head_dim;
        const std::int64_t heads = ctx.config.num_attention_heads, groups = ctx.config.num_key_value_heads;
        const auto split = [&](literal name, std::int64_t n) {
            return t.call(name, clippable_linear{ctx, width, n * d}, x).view({x.dim(0), x.dim(1), n, d});
        };
        const norm_module scale{norm_kind::rms_power, d, ctx.class_of("RMSNorm")};
        const tensor q = apply_rotary_2d(ctx, t, t.call("q_norm", scale, split("q_proj", heads))).transpose(1, 2);
        const tensor k = apply_rotary_2d(ctx, t, t.call("k_norm", scale, split("k_proj", groups))).transpose(1, 2);
        const tensor v = norm_without_weight(ctx, t, "v_norm", split("v_proj", groups)).transpose(1, 2);
        const tensor& mask = ctx.inputs->mask;
        const tensor mixed =
            attention_forward(t, q, k, v, ctx.inputs->pattern, {.mask = mask.rank > 0 ? &mask : nullptr});
        const tensor attention_output = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), heads * d}));
        return t.call("o_proj", clippable_linear{ctx, heads * d, width}, attention_output);
    }
};

struct vision_mlp {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionMLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const tensor gate = t.call("gate_proj", clippable_linear{ctx, width, inner}, x);
        const tensor h = t.call("act_fn", activation_module{ctx.config.hidden_act}, gate);
        const tensor gated = t.mul(h, t.call("up_proj", clippable_linear{ctx, width, inner}, x));
        return t.call("down_proj", clippable_linear{ctx, inner, width}, gated);
    }
};

/// Vision layer with norms before and after each block.
struct vision_layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionEncoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module scale{norm_kind::rms_power, ctx.config.hidden_size, ctx.class_of("RMSNorm")};
        const tensor mixed = t.call("self_attn", vision_attention{ctx}, t.call("input_layernorm", scale, x));
        const tensor middle = t.add(x, t.call("post_attention_layernorm", scale, mixed));
        const tensor fed = t.call("mlp", vision_mlp{ctx}, t.call("pre_feedforward_layernorm", scale, middle));
        return t.add(middle, t.call("post_feedforward_layernorm", scale, fed));
    }
};

/// Patch embedding: projects pixels and adds learned column and row embeddings, except for padding.
constexpr tensor embed_padded_patches(const layer_context& ctx, trace& t, std::int64_t patches) {
    const std::int64_t width = ctx.config.hidden_size, side = ctx.config.family[patch_side], images = t.load().batch;
    const module_info embedder{.name = "patch_embedder", .class_of_module = ctx.class_of("VisionPatchEmbedder")};
    t.enter(embedder);
    const tensor table = t.param("position_embedding_table", {2, ctx.config.family[places], width});
    const tensor pixels = t.mul_scalar(t.sub(t.input({images, patches, 3 * side * side}), trace::buffer({})));
    const tensor x = t.call("input_proj", linear{3 * side * side, width}, pixels);
    const shape of_patches{images, patches, width};
    const tensor column = t.gather(t.select(table, 0), of_patches), row = t.gather(t.select(table, 0), of_patches);
    t.add_written_elements(1);  // zero, for padding
    return t.leave(embedder, t.add(x, t.masked_fill(t.add(column, row))));
}

/// Rotary cosines and sines of columns and rows: (images, patches, head) each.
struct vision_rotary {
    layer_context ctx;
    std::int64_t patches;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionRotaryEmbedding"); }
    constexpr tensor_pair forward(trace& t) const {
        const recorder::no_grad_guard constants{t};
        const std::int64_t quarter = (ctx.config.head_dim / 2 + 1) / 2, images = t.load().batch;
        t.register_buffer({2, quarter}, dtype::float32);  // `inv_freq` and `original_inv_freq`
        const tensor angles = t.mul(t.full({images, patches, 2, 1}), trace::buffer({quarter}));
        const auto table = [&](op wave) {
            const tensor x = t.mul_scalar(t.unary(wave, angles)), column = x.select(2), row = x.select(2);
            return t.to(t.cat({column, column, row, row}, -1), t.activation_type());
        };
        const tensor cos = table(op::cos);
        return {cos, table(op::sin)};
    }
};

/// Average pooling over squares of patches, as a matmul with weights. Scaled in float32.
struct vision_pooler {
    layer_context ctx;
    std::int64_t tokens;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionPooler"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        tensor h = t.masked_fill(x);
        if (x.dim(1) != tokens) {
            const tensor weights = t.div_scalar(t.full({x.dim(0), x.dim(1), tokens}));
            h = t.to(t.matmul_operator(weights.transpose(1, 2), t.to(h, dtype::float32)), x.type);
        }
        return t.mul_scalar(t.to(h, dtype::float32));
    }
};

/// Encodes images of the workload's size. The layers include the padding patches; only the pooler removes them.
constexpr tensor vision_base(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const std::int64_t square = family[pooled_side] * family[pooled_side], tokens = family[soft_tokens],
                       patches = tokens * square;
    const std::int64_t step = family[patch_side] * family[pooled_side], images = t.load().batch;
    const std::int64_t num_valid_tokens = (t.load().image_height / step) * (t.load().image_width / step);
    if (ctx.config.head_dim % 4 != 0 && !t.is_not_executed())
        throw_description_error("unsupported head size of the vision encoder");
    tensor x = embed_padded_patches(ctx, t, patches);
    const dtype type = x.type;
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("VisionEncoder")};
    t.enter(encoder);
    attention_inputs inputs{.pattern = {.query_length = patches, .is_causal = false}};
    if (num_valid_tokens < tokens) inputs.mask = eager_mask(t, inputs.pattern, images);
    const tensor_pair tables = t.call("rotary_emb", vision_rotary{ctx, patches});
    inputs.cos = tables.first;
    inputs.sin = tables.second;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, vision_layer{ctx.for_layer(layer_loop, inputs)}, x);
    t.leave(encoder);
    const tensor pooled = t.call("pooler", vision_pooler{ctx, tokens}, x);
    tensor features = t.gather(pooled, {images * num_valid_tokens, ctx.config.hidden_size});
    if (family[standardizes] != 0) {
        t.register_buffer({2, ctx.config.hidden_size}, t.activation_type());  // `std_bias` and `std_scale`
        const tensor of_each = trace::buffer({ctx.config.hidden_size});
        features = t.mul(t.sub(features, of_each), of_each);
    }
    return t.to(features, type);
}

}  // namespace gemma4_media_detail

}  // namespace llmcost::arch
