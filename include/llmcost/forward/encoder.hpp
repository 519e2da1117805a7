// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/model/model_spec.hpp>

// Building blocks of encoder layers (BERT, ViT).
//
// Shapes: B = batch, S = sequence, T = keys, H = heads, d = head_dim.

namespace llmcost {

/// Names of the query, key and value projections.
struct projection_names {
    literal q = "query";
    literal k = "key";
    literal v = "value";
};

/// Attention pattern and mask of an encoder layer: bidirectional, or causal with a KV cache (BERT as a decoder).
struct bidirectional_pattern {
    attention_pattern pattern{};
    tensor mask{};

    [[nodiscard]] constexpr const tensor* mask_or_none() const noexcept { return pattern.is_causal ? &mask : nullptr; }
};

/// The pattern of bidirectional attention to all positions, without a mask and a cache.
[[nodiscard]] constexpr bidirectional_pattern full_pattern(std::int64_t sequence) noexcept {
    return {.pattern = {.query_length = sequence, .is_causal = false}};
}

/// Self-attention before the output projection (BERT, ViT): (B, S, width) -> (B, S, width).
///
/// For the scores, see `attention_forward`.
constexpr tensor bidirectional_attention(trace& t, const tensor& x, std::int64_t width, std::int64_t heads, bool bias,
                                         const projection_names& names, bool float_softmax,
                                         const bidirectional_pattern& reach) {
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), d = width / heads;
    const auto split = [&](literal name) {
        return t.call(name, linear{width, width, bias}, x).view({batch, sequence, heads, d}).transpose(1, 2);
    };
    const tensor q = split(names.q);
    tensor k = split(names.k), v = split(names.v);
    if (reach.pattern.is_causal) {
        k = update_kv_cache(t, k, reach.pattern);
        v = update_kv_cache(t, v, reach.pattern);
    }
    const tensor mixed = attention_forward(t, q, k, v, reach.pattern,
                                           {.mask = reach.mask_or_none(), .has_float32_softmax = float_softmax});
    return t.contiguous(t.reshape(mixed, {batch, sequence, -1}));
}

/// Self-attention with divided scores: q (B, H, S, d), k and v (B, H, T, d) -> (B, S, H · d).
///
/// An optional bias is added in place. Dropout is a module.
constexpr tensor divided_score_attention(trace& t, const tensor& q, const tensor& k, const tensor& v,
                                         const bidirectional_pattern& reach, const tensor* bias = nullptr) {
    const recorder::fused_kernel_guard fused{t, fused_attention_kernel(q, k.dim(1), reach.pattern, k.dim(2))};
    const bool sparse = reach.pattern.is_causal && t.load().attention == attention_scores::causal;
    tensor scores = t.div_scalar(t.matmul(q, k.transpose(2, 3), sparse ? reach.pattern.visible_pairs() : 0));
    if (bias != nullptr) t.add_(scores, *bias);
    if (reach.pattern.is_causal && !sparse) scores = t.add(scores, reach.mask);
    const tensor mixed =
        t.matmul(dropout(t, "dropout", t.softmax(scores), dropout_position::attention), v).permute({0, 2, 1, 3});
    return t.contiguous(mixed).view({q.dim(0), q.dim(2), q.dim(1) * v.dim(3)});
}

/// Projects queries, keys and values with three linear layers: (B, S, width) -> (B, H, S, d) each.
constexpr void project_to_heads(trace& t, const tensor& x, std::int64_t width, std::int64_t heads,
                                const projection_names& names, tensor& q, tensor& k, tensor& v, bool bias = true) {
    const auto split = [&](literal name) {
        const tensor all = t.call(name, linear{width, width, bias}, x);
        return all.view({x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
    };
    q = split(names.q);
    k = split(names.k);
    v = split(names.v);
}

namespace bert_layers {

/// Linear layer, dropout, residual, and optional norm (`BertSelfOutput`, `BertOutput`).
///
/// Pre-norm models have no norm here (`RobertaPreLayerNormOutput`).
struct output_block {
    std::int64_t in;
    std::int64_t width;
    class_name named;
    bool norms = true;
    bool drops = true;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& h, const tensor& x) const {
        tensor out = t.call("dense", linear{in, width, true}, h);
        if (drops) out = dropout(t, "dropout", out);
        out = t.add(out, x);
        return norms ? t.call("LayerNorm", norm_module{norm_kind::layer, width}, out) : out;
    }
};

/// Output block of the MLP. It has the role of the MLP, as the intermediate block.
struct mlp_output : output_block {
    static constexpr role module_role = role::mlp;
};

/// The module that calls `model_spec::attention`, without the output projection.
struct self_attention_block {
    const layer_context& ctx;
    literal inner_type = "SelfAttention";

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of(inner_type); }
    constexpr tensor forward(trace& t, const tensor& x) const { return ctx.spec.attention(ctx, t, x); }
};

/// Positions of the norms of a layer. Without names: post-norm.
struct norm_places {
    literal attention = "";     ///< pre-norm of attention, a child of the attention module
    literal intermediate = "";  ///< pre-norm of the MLP, a child of the intermediate module
    literal layer = "";         ///< pre-norm of the MLP, a child of the layer
    bool drops = true;          ///< the MLP ends with dropout

    [[nodiscard]] constexpr bool is_post_norm() const noexcept { return is_empty(attention); }
};

constexpr tensor apply_norm_if_named(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    return is_empty(name) ? x : t.call(name, norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
}

struct attention_block {
    const layer_context& ctx;
    norm_places norms{};
    literal inner_type = "SelfAttention";

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const tensor h =
            t.call("self", self_attention_block{ctx, inner_type}, apply_norm_if_named(ctx, t, norms.attention, x));
        return t.call("output", output_block{width, width, ctx.class_of("SelfOutput"), norms.is_post_norm()}, h, x);
    }
};

struct cross_attention_block : attention_block {
    static constexpr role module_role = role::cross_attn;
};

struct intermediate_block {
    const layer_context& ctx;
    literal norm_before = "";

    static constexpr role module_role = role::mlp;
    static constexpr bool continues_block = true;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Intermediate"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const linear projection{ctx.config.hidden_size, ctx.config.intermediate_size, true};
        const tensor h = t.call("dense", projection, apply_norm_if_named(ctx, t, norm_before, x));
        return t.call("intermediate_act_fn", activation_module{ctx.config.hidden_act}, h);
    }
};

/// The attention pattern and mask of the layer.
[[nodiscard]] constexpr bidirectional_pattern bidirectional_pattern_of(const layer_context& ctx) noexcept {
    return {ctx.inputs->pattern, ctx.inputs->mask};
}

}  // namespace bert_layers

/// Declares cross-attention of a decoder. Not executed, because there are no encoder states.
constexpr void declare_bert_cross_attention(const layer_context& ctx, trace& t, const tensor& x,
                                            const bert_layers::norm_places& norms = {},
                                            literal inner_type = "CrossAttention") {
    if (!ctx.config.add_cross_attention) return;
    const recorder::not_executed_guard no_encoder{t};
    attention_inputs cross_inputs = *ctx.inputs;
    cross_inputs.pattern = full_pattern(x.dim(1)).pattern;
    layer_context cross_ctx = ctx;
    cross_ctx.inputs = &cross_inputs;
    (void)t.call("crossattention", bert_layers::cross_attention_block{{cross_ctx, norms, inner_type}}, x);
}

/// Self-attention of a BERT layer before the output projection: (B, S, hidden) -> (B, S, hidden).
constexpr tensor bert_attention(const layer_context& ctx, trace& t, const tensor& x) {
    return bidirectional_attention(t, x, ctx.config.hidden_size, ctx.config.num_attention_heads, true, {}, false,
                                   bert_layers::bidirectional_pattern_of(ctx));
}

/// Self-attention with divided scores (MegatronBERT, RemBERT): (B, S, hidden) -> (B, S, hidden).
constexpr tensor divided_attention(const layer_context& ctx, trace& t, const tensor& x) {
    const bidirectional_pattern reach = bert_layers::bidirectional_pattern_of(ctx);
    tensor q, k, v;
    project_to_heads(t, x, ctx.config.hidden_size, ctx.config.num_attention_heads, {}, q, k, v);
    if (reach.pattern.is_causal) {
        k = update_kv_cache(t, k, reach.pattern);
        v = update_kv_cache(t, v, reach.pattern);
    }
    return divided_score_attention(t, q, k, v, reach);
}

/// The MLP of a BERT layer, in two modules: (B, S, hidden) -> (B, S, hidden).
constexpr tensor bert_mlp(const layer_context& ctx, trace& t, const tensor& x,
                          const bert_layers::norm_places& norms = {}) {
    const tensor normed = bert_layers::apply_norm_if_named(ctx, t, norms.layer, x);
    const tensor h = t.call("intermediate", bert_layers::intermediate_block{ctx, norms.intermediate}, normed);
    const bert_layers::output_block out{ctx.config.intermediate_size, ctx.config.hidden_size, ctx.class_of("Output"),
                                        norms.is_post_norm(), norms.drops};
    return t.call("output", bert_layers::mlp_output{out}, h, x);
}

/// A BERT layer: attention and MLP, each with residual and norm. (B, S, hidden) -> (B, S, hidden).
///
/// Source: transformers/models/bert/modeling_bert.py, `BertLayer`.
constexpr tensor bert_layer_with_norms(const layer_context& ctx, trace& t, const tensor& x,
                                       const bert_layers::norm_places& norms, literal crossing = "CrossAttention") {
    const tensor a = t.call("attention", bert_layers::attention_block{ctx, norms}, x);
    declare_bert_cross_attention(ctx, t, a, norms, crossing);
    return bert_mlp(ctx, t, a, norms);
}
constexpr tensor bert_layer(const layer_context& ctx, trace& t, const tensor& x) {
    return bert_layer_with_norms(ctx, t, x, {});
}

}  // namespace llmcost
