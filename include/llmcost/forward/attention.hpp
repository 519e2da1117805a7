// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/latent_attention.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/model/model_spec.hpp>

// Building blocks of self-attention, in the order in which a forward pass calls them.
//
// `attention` is the default. A family with another order of operations composes the same functions in its own
// `attention` function and sets `model_spec::attention`.
//
// Shapes: B = batch, S = sequence (new tokens), T = past + sequence, H = query heads, K = key/value heads, d =
// head_dim.
namespace llmcost {

/// The query, key and value tensors of one attention layer.
struct query_key_value {
    tensor query, key, value;
};

/// A linear projection of the hidden states: (B, S, hidden) -> (B, S, features).
constexpr tensor project(const layer_context& ctx, trace& t, literal name, std::int64_t features, const tensor& x) {
    return t.call(name, linear{ctx.config.hidden_size, features, ctx.config.attention_bias}, x);
}

/// A norm of queries or keys over the last dimension, which has `features` elements.
constexpr tensor apply_norm(const layer_context& ctx, trace& t, literal name, std::int64_t features, const tensor& x) {
    return call_norm(t, name, ctx.spec.norm, features, ctx.class_of(ctx.spec.names.norm_class), x);
}

/// Projects queries, keys and values with three linear layers.
///
/// Shapes: x (B, S, hidden) -> query (B, S, H · d), key and value (B, S, K · d).
constexpr query_key_value project_qkv(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    const std::int64_t d = ctx.config.head_dim, width = ctx.config.num_attention_heads * d;
    const std::int64_t kv_size = ctx.config.num_key_value_heads * d;
    return {project(ctx, t, n.q_proj, width, x), project(ctx, t, n.k_proj, kv_size, x),
            project(ctx, t, n.v_proj, kv_size, x)};
}

/// Projects queries, keys and values with one fused linear layer, then splits the result.
///
/// Shapes: x (B, S, hidden) -> query (B, S, H · d), key and value (B, S, K · d). The parts are views.
constexpr query_key_value project_fused_qkv(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t d = ctx.config.head_dim, width = ctx.config.num_attention_heads * d;
    const std::int64_t kv_size = ctx.config.num_key_value_heads * d;
    const tensor all = project(ctx, t, ctx.spec.names.q_proj, width + 2 * kv_size, x);
    return {t.slice(all, -1, width), t.slice(all, -1, kv_size), t.slice(all, -1, kv_size)};
}

/// Splits the last dimension into heads: (B, S, heads · d) -> (B, S, heads, d). A view, no copy.
constexpr void split_heads(const layer_context& ctx, query_key_value& qkv) {
    const std::int64_t batch = qkv.query.dim(0), sequence = qkv.query.dim(1), d = ctx.config.head_dim;
    qkv.query = qkv.query.view({batch, sequence, ctx.config.num_attention_heads, d});
    qkv.key = qkv.key.view({batch, sequence, ctx.config.num_key_value_heads, d});
    qkv.value = qkv.value.view({batch, sequence, ctx.config.num_key_value_heads, d});
}

/// Moves heads before positions: (B, S, heads, d) -> (B, heads, S, d). A view, no copy.
constexpr void transpose_heads(query_key_value& qkv) {
    for (tensor* const x : {&qkv.query, &qkv.key, &qkv.value}) *x = x->transpose(1, 2);
}

/// Normalizes queries and keys (QK-norm). The sizes are the normalized dimensions.
constexpr void apply_qk_norm(const layer_context& ctx, trace& t, query_key_value& qkv, std::int64_t query_size,
                             std::int64_t key_size) {
    qkv.query = apply_norm(ctx, t, ctx.spec.names.q_norm, query_size, qkv.query);
    qkv.key = apply_norm(ctx, t, ctx.spec.names.k_norm, key_size, qkv.key);
}

/// Applies rotary position embeddings to x: (B, heads, S, d). Returns x if the model has none.
constexpr tensor apply_rotary(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.spec.rotary == rotary_style::none) return x;
    return rotate_partial(t, ctx.spec.rotary, x, ctx.config.rotary_dim, ctx.inputs->cos, ctx.inputs->sin,
                          ctx.spec.has_partial_rotary);
}
/// Applies rotary position embeddings to queries and keys.
constexpr void apply_rotary(const layer_context& ctx, trace& t, query_key_value& qkv) {
    qkv.query = apply_rotary(ctx, t, qkv.query);
    qkv.key = apply_rotary(ctx, t, qkv.key);
}

/// The KV cache update: appends keys and values to the cache. Afterwards they contain all T positions.
constexpr void update_kv_cache(const layer_context& ctx, trace& t, query_key_value& qkv) {
    qkv.key = update_kv_cache(t, qkv.key, ctx.inputs->pattern);
    qkv.value = update_kv_cache(t, qkv.value, ctx.inputs->pattern);
}

/// softmax(query · keyᵀ · scale + mask) · value, with the heads concatenated.
///
/// Shapes: query (B, H, S, d), key and value (B, K, T, d) -> (B, S, H · d).
/// The mask and the soft cap of the layer are added to `options`.
constexpr tensor scaled_dot_product_attention(const layer_context& ctx, trace& t, const query_key_value& qkv,
                                              attention_options options = {}) {
    options.mask = &ctx.inputs->mask;
    options.has_soft_cap = options.has_soft_cap || ctx.config.attention_soft_cap;
    const tensor mixed = attention_forward(t, qkv.query, qkv.key, qkv.value, ctx.inputs->pattern, options);
    return t.contiguous(t.reshape(mixed, {mixed.dim(0), mixed.dim(1), -1}));
}

/// The output projection (`o_proj`): (B, S, H · d) -> (B, S, hidden).
constexpr tensor output_projection(const layer_context& ctx, trace& t, const tensor& x) {
    return t.call(ctx.spec.names.o_proj, linear{x.dim(-1), ctx.config.hidden_size, ctx.config.output_bias}, x);
}

/// Projects queries, keys and values with three linear layers, and normalizes queries and keys as soon as they exist.
///
/// Shapes: x (B, S, hidden) -> query (B, S, H, d), key and value (B, S, K, d); with a norm over all heads, they are not
/// split yet.
constexpr query_key_value project_normalized_qkv(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    const std::int64_t d = ctx.config.head_dim, width = ctx.config.num_attention_heads * d;
    const std::int64_t kv_size = ctx.config.num_key_value_heads * d;
    const bool splits = ctx.spec.qk_norm == qk_norm_kind::per_head;
    const auto normalize = [&](literal name, const tensor& y) {
        const tensor rows = splits ? y.view({y.dim(0), y.dim(1), -1, d}) : y;
        return apply_norm(ctx, t, name, rows.dim(-1), rows);
    };
    const tensor query = normalize(n.q_norm, project(ctx, t, n.q_proj, width, x));
    const tensor key = normalize(n.k_norm, project(ctx, t, n.k_proj, kv_size, x));
    return {query, key, project(ctx, t, n.v_proj, kv_size, x)};
}

/// Attention after the projections: QK-norm, clamp, RoPE, KV cache, scores. Returns (B, S, H · d).
constexpr tensor attention_from_qkv(const layer_context& ctx, trace& t, query_key_value qkv,
                                    const attention_options& options = {}, bool is_normalized = false) {
    const std::int64_t d = ctx.config.head_dim;
    const qk_norm_kind norms = is_normalized ? qk_norm_kind::none : ctx.spec.qk_norm;
    if (norms == qk_norm_kind::all_heads) apply_qk_norm(ctx, t, qkv, qkv.query.dim(-1), qkv.key.dim(-1));
    if (ctx.config.clamps_qkv)
        for (tensor* const x : {&qkv.query, &qkv.key, &qkv.value}) t.clamp_(*x);
    split_heads(ctx, qkv);
    if (norms == qk_norm_kind::per_head) apply_qk_norm(ctx, t, qkv, d, d);
    transpose_heads(qkv);
    if (norms == qk_norm_kind::per_head_transposed) apply_qk_norm(ctx, t, qkv, d, d);
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return scaled_dot_product_attention(ctx, t, qkv, options);
}

/// Self-attention with separate projections (Llama): (B, S, hidden) -> (B, S, hidden).
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.spec.qk_norm == qk_norm_kind::per_head || ctx.spec.qk_norm == qk_norm_kind::all_heads)
        return output_projection(ctx, t, attention_from_qkv(ctx, t, project_normalized_qkv(ctx, t, x), {}, true));
    return output_projection(ctx, t, attention_from_qkv(ctx, t, project_qkv(ctx, t, x)));
}

/// Self-attention with a fused QKV projection: (B, S, hidden) -> (B, S, hidden).
constexpr tensor fused_qkv_attention(const layer_context& ctx, trace& t, const tensor& x) {
    return output_projection(ctx, t, attention_from_qkv(ctx, t, project_fused_qkv(ctx, t, x)));
}

/// The attention module of a layer. It calls `model_spec::attention`.
struct attention_module {
    layer_context ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of(ctx.spec.names.attention_class); }
    constexpr tensor forward(trace& t, const tensor& x) const { return ctx.spec.attention(ctx, t, x); }
};

/// The default `model_spec::token_mixer`: calls the attention module of the layer.
constexpr tensor attention_token_mixer(const layer_context& ctx, trace& t, const tensor& x) {
    return t.call(ctx.spec.names.attention, attention_module{ctx}, x);
}

/// Multi-head latent attention of the layer (DeepSeek).
///
/// `rope_interleave` selects the RoPE style, unless the model spec has complex RoPE or none.
constexpr latent_attention make_latent_attention(const layer_context& ctx) {
    const rotary_style in_pairs =
        ctx.config.rope_interleave ? rotary_style::interleaved_split : rotary_style::rotate_half;
    const bool as_row = ctx.spec.rotary == rotary_style::interleaved_complex || ctx.spec.rotary == rotary_style::none;
    const rotary_style rotated = as_row ? ctx.spec.rotary : in_pairs;
    const attention_inputs& s = *ctx.inputs;
    return {ctx.config.hidden_size,
            ctx.config.num_attention_heads,
            ctx.config.mla,
            ctx.config.attention_bias,
            ctx.spec.class_prefix,
            s.pattern,
            s.mask,
            s.cos,
            s.sin,
            rotated};
}
/// The `model_spec::token_mixer` of models with multi-head latent attention.
constexpr tensor latent_attention_token_mixer(const layer_context& ctx, trace& t, const tensor& x) {
    return t.call(ctx.spec.names.attention, make_latent_attention(ctx), x);
}

/// Self-attention with QK-norm after RoPE: (batch, sequence, hidden) -> (batch, sequence, hidden).
constexpr tensor attention_with_norm_after_rotary(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    apply_qk_norm(ctx, t, qkv, ctx.config.head_dim, ctx.config.head_dim);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

/// Self-attention with optional QK-norm after the transposition, then RoPE. `qkv` are the projections.
constexpr tensor attention_with_transposed_norm(const layer_context& ctx, trace& t, query_key_value qkv) {
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    if (ctx.config.qk_norm) apply_qk_norm(ctx, t, qkv, ctx.config.head_dim, ctx.config.head_dim);
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

/// Self-attention of models in which only some layers have RoPE. `has_norm`: QK-norm after the transposition.
constexpr tensor attention_with_optional_rotary(const layer_context& ctx, trace& t, const tensor& x, bool has_rotary,
                                                bool has_norm = false) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    if (has_norm) apply_qk_norm(ctx, t, qkv, ctx.config.head_dim, ctx.config.head_dim);
    if (has_rotary) apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

/// Self-attention without RoPE, with a softmax in the activation type.
constexpr tensor attention_without_rotary(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv, {.has_float32_softmax = false}));
}

}  // namespace llmcost
