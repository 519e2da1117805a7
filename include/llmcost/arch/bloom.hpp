// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/decoder.hpp>
#include <llmcost/layers/alibi.hpp>
#include <llmcost/reader.hpp>

namespace llmcost::arch {

namespace bloom_detail {

/// Attention whose scores start from biases by distance; the residual is added inside.
struct attention {
    const architecture& row;
    const shape& dims;
    const shared_values& shared;
    const value& alibi;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "Attention"}; }
    constexpr value describe(trace& t, const value& x, const value& residual) const {
        const std::int64_t width = dims.hidden_size, batch = x.dim(0), sequence = x.dim(1);
        const value fused = t.call("query_key_value", linear{width, 3 * width, true}, x);
        const value heads = fused.view({batch, sequence, dims.num_attention_heads, 3, dims.head_dim});
        const auto part = [&] { return t.select(heads, 3).transpose(1, 2); };
        const value q = part(), k = update_cache(t, part(), shared.where), v = update_cache(t, part(), shared.where);
        return t.add(residual, t.call("dense", linear{width, width, true}, attend(t, q, k, v)));
    }

private:
    constexpr value attend(trace& t, const value& q, const value& k, const value& v) const {
        const std::int64_t heads = dims.num_attention_heads, d = dims.head_dim, batch = q.dim(0), sequence = q.dim(2);
        const recorder::fused_guard fused{t, fused_attention(q, heads, shared.where, k.dim(2))};
        const bool sparse = t.load().attention == attention_scores::causal;
        const value rows = t.reshape(q, {batch * heads, -1, d});
        const value columns = t.reshape(k, {batch * heads, -1, d}).transpose(1, 2);
        const value values = t.reshape(v, {batch * heads, -1, d});
        // a scale of one, as heads of one element have it, is no multiplication
        const op product = d == 1 ? op::batched_matmul_bias : op::batched_matmul_bias_scaled;
        value scores = t.bmm(product, rows, columns, sparse ? shared.where.visible_pairs() : 0);
        scores = scores.view({batch, heads, sequence, shared.where.length()});
        if (!sparse) scores = t.add(scores, shared.mask);
        const value probabilities = t.to(t.softmax(t.to(scores, dtype::float32)), q.type);
        const value kept = dropout(t, "attention_dropout", probabilities);
        const value mixed = t.bmm(kept.view({batch * heads, sequence, shared.where.length()}), values);
        return t.reshape(mixed.view({batch, heads, sequence, d}).transpose(1, 2), {batch, sequence, heads * d});
    }
};

/// GELU by its tanh approximation as a function with a backward of its own, which keeps nothing but x.
struct fused_gelu {
    class_name named;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        value out;
        {
            const trace::no_grad_guard inside{t};
            out = activate(t, activation::gelu_fast, x);
        }
        if (!x.requires_grad) return out;
        const count n(x.elements);
        t.save_for_backward(x);
        t.backward({.add = n * count(5), .mult = n * count(12), .tanh = n});  // `bloom_gelu_back`
        t.gradient_arrives(x);
        t.require_grad(out);
        return out;
    }
};

/// Feed-forward block; the residual is added inside.
struct feed_forward {
    const architecture& row;
    const shape& dims;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "MLP"}; }
    constexpr value describe(trace& t, const value& x, const value& residual) const {
        const std::int64_t width = dims.hidden_size, inner = dims.intermediate_size;
        const value h =
            t.call("gelu_impl", fused_gelu{{row.prefix, "Gelu"}}, t.call("dense_h_to_4h", linear{width, inner, true}, x));
        return t.add(residual, t.call("dense_4h_to_h", linear{inner, width, true}, h));
    }
};

struct block {
    const architecture& row;
    const shape& dims;
    const shared_values& shared;
    const value& alibi;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "Block"}; }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> normed{dims.hidden_size};
        value h = t.call("input_layernorm", normed, x);
        const value a = t.call("self_attention", attention{row, dims, shared, alibi}, h, dims.residual_from_norm ? h : x);
        h = t.call("post_attention_layernorm", normed, a);
        return t.call("mlp", feed_forward{row, dims}, h, dims.residual_from_norm ? h : a);
    }
};

constexpr value base(const architecture& row, const shape& dims, trace& t) {
    const workload& load = t.load();
    const norm<norm_kind::layer> normed{dims.hidden_size};
    value x = t.call("word_embeddings", embedding{dims.vocab_size, dims.hidden_size}, extents{load.batch, load.sequence});
    x = t.call("word_embeddings_layernorm", normed, x);
    shared_values shared{.where = context_of(t, dims.sliding_window)};
    const value alibi = alibi_per_position(t, load.batch, dims.num_attention_heads, shared.where.length());
    shared.mask = eager_mask(t, shared.where, load.batch);
    for (repetition each = t.repeat(dims.num_hidden_layers, x); each.next();)
        x = t.call({"h", each.index()}, block{row, dims, shared, alibi}, x);
    return t.call("ln_f", normed, x);
}

}  // namespace bloom_detail

/// BLOOM: normed word embeddings, attention with linear biases.
///
/// Source: transformers/models/bloom/modeling_bloom.py, `BloomModel`.
constexpr value describe_bloom(const architecture& row, const shape& dims, trace& t) {
    return describe_under_head(row, dims, t, bloom_detail::base);
}

constexpr void read_bloom(config_view config, shape& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"n_head", "num_attention_heads"});
    s.intermediate_size = 4 * s.hidden_size;
    s.residual_from_norm = config.boolean("apply_residual_connection_post_layernorm", false);
    if (config.boolean("slow_but_exact", false) && config.integer("pretraining_tp", 1) > 1)
        fail_unsupported(config, "slow_but_exact", "no row describes projections computed slice by slice");
}

// transformers/models/bloom: configuration_bloom.py, modeling_bloom.py
inline constexpr architecture bloom{
    .model_type = "bloom",
    .prefix = "Bloom",
    .describe = describe_bloom,
    .read = read_bloom,
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification, head_kind::token_classification,
              head_kind::question_answering},
    .names = {.base = "transformer", .base_under_answers = "transformer", .token_classifier = "classifier"},
    .keys = {{"hidden_size", "n_embed"},
             {"num_hidden_layers", "n_layer", key_rule::standard_first},
             {"num_attention_heads", "n_head", key_rule::standard_first}},
    .defaults = {.vocab_size = 250880,
                 .hidden_size = 64,
                 .num_hidden_layers = 2,
                 .num_attention_heads = 8,
                 .tie_word_embeddings = true},
};

}  // namespace llmcost::arch
