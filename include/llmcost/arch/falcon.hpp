// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/decoder.hpp>
#include <llmcost/layers/alibi.hpp>
#include <llmcost/reader.hpp>

namespace llmcost::arch {

namespace falcon_detail {

/// A linear layer whose bias is added after the product: x (…, in) -> (…, out).
struct linear_then_bias {
    std::int64_t in;
    std::int64_t out;
    bool bias;
    literal prefix;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "Linear"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value product = t.matmul(x, t.param("weight", {out, in}).transpose(0, 1));
        return bias ? t.add(product, t.param("bias", {out})) : product;
    }
};

/// Attention over one projection that holds queries, keys and values by group, by head, or with one key for all.
struct attention {
    const architecture& row;
    const shape& dims;
    const shared_values& shared;
    const value& alibi;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "Attention"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = dims.hidden_size, batch = x.dim(0), sequence = x.dim(1);
        const std::int64_t held = (dims.num_attention_heads + 2 * dims.num_key_value_heads) * dims.head_dim;
        const auto parts =
            split(t, t.call("query_key_value", linear_then_bias{width, held, dims.attention_bias, row.prefix}, x));
        value q = parts.q.transpose(1, 2), k = parts.k.transpose(1, 2), v = parts.v.transpose(1, 2);
        if (!dims.alibi) {
            q = rotate<rotation::half>(t, q, shared.cos, shared.sin);
            k = rotate<rotation::half>(t, k, shared.cos, shared.sin);
        }
        k = update_cache(t, k, shared.where);
        v = update_cache(t, v, shared.where);
        const value flat = t.reshape(attend(t, q, k, v).transpose(1, 2), {batch, sequence, width});
        return t.call("dense", linear_then_bias{width, width, dims.output_bias, row.prefix}, flat);
    }

private:
    struct heads_of {
        value q, k, v;
    };
    /// Queries, keys and values, (batch, sequence, heads, dim) each; a group's key is copied for all its queries.
    constexpr heads_of split(trace& t, const value& fused) const {
        const std::int64_t heads = dims.num_attention_heads, groups = dims.num_key_value_heads, d = dims.head_dim;
        const std::int64_t batch = fused.dim(0), sequence = fused.dim(1), queries = heads / groups;
        if (dims.qkv == qkv_layout::per_head) {
            const value all = fused.view({batch, sequence, heads, 3, d});
            return {t.select(all, 3), t.select(all, 3), t.select(all, 3)};
        }
        if (dims.qkv == qkv_layout::one_key) {
            const value all = fused.view({batch, sequence, heads + 2, d});
            const value k = t.gather(all, {batch, sequence, 1, d}), v = t.gather(all, {batch, sequence, 1, d});
            return {t.slice(all, 2, heads), k, v};
        }
        const value all = fused.view({batch, sequence, groups, queries + 2, d});
        const value k = t.gather(all, {batch, sequence, groups, 1, d}), v = t.gather(all, {batch, sequence, groups, 1, d});
        const auto in_heads = [&](const value& part) {
            return t.reshape(part.expand({batch, sequence, groups, queries, d}), {batch, sequence, heads, d});
        };
        const value q = in_heads(t.slice(all, 3, queries)), spread = in_heads(k);
        return {q, spread, in_heads(v)};
    }
    /// Context (batch, heads, sequence, dim) of scores that are scaled in place.
    constexpr value attend(trace& t, const value& q, const value& k, const value& v) const {
        const recorder::fused_guard fused{t, fused_attention(q, dims.num_key_value_heads, shared.where, k.dim(2))};
        const bool sparse = t.load().attention == attention_scores::causal;
        value scores = t.matmul(q, k.transpose(2, 3), sparse ? shared.where.visible_pairs() : 0);
        if (dims.alibi) {
            scores = t.add(t.to(scores, dtype::float32), alibi);
            t.in_place(op::mul, scores);
        } else {
            t.in_place(op::div, scores);
        }
        if (!sparse) scores = t.add(scores, shared.mask);
        value probabilities = t.softmax(t.to(scores, q.type));
        if (dims.alibi) probabilities = dropout(t, "attention_dropout", probabilities);
        return t.matmul(probabilities, v);
    }
};

struct feed_forward {
    const architecture& row;
    const shape& dims;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "MLP"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = dims.hidden_size, inner = dims.intermediate_size;
        value h = t.call("dense_h_to_4h", linear_then_bias{width, inner, dims.mlp_bias, row.prefix}, x);
        h = t.call("act", activation_module{dims.hidden_act}, h);
        return t.call("dense_4h_to_h", linear_then_bias{inner, width, dims.mlp_bias, row.prefix}, h);
    }
};

/// Attention and feed-forward side by side behind one norm or two, or one after the other.
struct layer {
    const architecture& row;
    const shape& dims;
    const shared_values& shared;
    const value& alibi;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "DecoderLayer"}; }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> normed{dims.hidden_size};
        value h = t.call(dims.norms_apart ? "ln_attn" : "input_layernorm", normed, x);
        const value own = dims.norms_apart ? t.call("ln_mlp", normed, x) : h;
        const value a = t.call("self_attention", attention{row, dims, shared, alibi}, h);
        if (!dims.parallel_residual) {
            const value middle = t.add(x, a);
            h = t.call("post_attention_layernorm", normed, middle);
            return t.add(middle, t.call("mlp", feed_forward{row, dims}, h));
        }
        h = t.call("mlp", feed_forward{row, dims}, own);
        t.in_place(op::add, h, a);
        return t.add(x, h);
    }
};

/// Biases by distance, (batch, heads, 1, length), and the mask that they are chosen into, (batch, heads, sequence, length).
constexpr value alibi_and_mask(const shape& dims, trace& t, shared_values& shared) {
    const std::int64_t batch = t.load().batch, heads = dims.num_attention_heads, length = shared.where.length();
    const value biases = alibi_per_token(t, batch, heads, length).view({batch, heads, 1, length});
    shared.mask = eager_mask(t, shared.where, batch);
    shared.mask = t.where(t.div(biases).expand({batch, heads, shared.where.sequence, length}));
    return biases;
}

constexpr value base(const architecture& row, const shape& dims, trace& t) {
    const workload& load = t.load();
    value x = t.call("word_embeddings", embedding{dims.vocab_size, dims.hidden_size}, extents{load.batch, load.sequence});
    shared_values shared{.where = context_of(t, dims.sliding_window)};
    value alibi;
    if (dims.alibi)
        alibi = alibi_and_mask(dims, t, shared);
    else
        shared.mask = eager_mask(t, shared.where, load.batch);
    const auto tables =
        t.call("rotary_emb", rotary_table{dims.rotary_dim, {row.prefix, "RotaryEmbedding"}, rotary_frequencies{dims}},
               load.sequence);
    shared.cos = tables.first, shared.sin = tables.second;
    for (repetition each = t.repeat(dims.num_hidden_layers, x); each.next();)
        x = t.call({"h", each.index()}, layer{row, dims, shared, alibi}, x);
    return t.call("ln_f", norm<norm_kind::layer>{dims.hidden_size}, x);
}

}  // namespace falcon_detail

/// Falcon: layer norms, one projection for queries, keys and values, rotary positions or linear biases.
///
/// Source: transformers/models/falcon/modeling_falcon.py, `FalconModel`.
constexpr value describe_falcon(const architecture& row, const shape& dims, trace& t) {
    return describe_under_head(row, dims, t, falcon_detail::base);
}

/// The older wiring knows one key for all heads and blocks one after the other; the newer one has groups and is parallel.
constexpr void read_falcon(config_view config, shape& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"num_attention_heads"});
    s.rotary_dim = s.head_dim;
    if (s.intermediate_size == 0) s.intermediate_size = 4 * s.hidden_size;
    s.attention_bias = s.output_bias = s.mlp_bias = config.boolean("bias", false);
    s.alibi = config.boolean("alibi", false);
    s.parallel_residual = config.boolean("parallel_attn", true);
    const bool grouped = config.boolean("new_decoder_architecture", false), one_key = config.boolean("multi_query", true);
    s.qkv = grouped ? qkv_layout::grouped : one_key ? qkv_layout::one_key : qkv_layout::per_head;
    s.num_key_value_heads = s.qkv == qkv_layout::one_key ? 1 : config.positive("num_kv_heads", s.num_attention_heads);
    if (grouped && s.num_attention_heads % s.num_key_value_heads != 0)
        fail_value(config, "num_kv_heads", "a divisor of num_attention_heads");
    if (s.qkv == qkv_layout::per_head && s.num_key_value_heads != s.num_attention_heads)
        fail_value(config, "num_kv_heads",
                   "num_attention_heads, where neither multi_query nor new_decoder_architecture is true");
    if (grouped && !s.parallel_residual)
        fail_value(config, "parallel_attn", "true, as new_decoder_architecture asks for it");
    const std::int64_t norms = config.positive("num_ln_in_parallel_attn", grouped ? 2 : 1);
    if (norms > 2 || (norms == 2 && !grouped && s.parallel_residual))
        fail_value(config, "num_ln_in_parallel_attn", "1, or 2 with new_decoder_architecture");
    s.norms_apart = grouped && norms == 2;
}

// transformers/models/falcon: configuration_falcon.py, modeling_falcon.py
inline constexpr architecture falcon{
    .model_type = "falcon",
    .prefix = "Falcon",
    .describe = describe_falcon,
    .read = read_falcon,
    .heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification, head_kind::token_classification,
              head_kind::question_answering},
    .names = {.base = "transformer", .base_under_answers = "transformer", .token_classifier = "classifier"},
    .keys = {{"hidden_size", "n_embed"},
             {"intermediate_size", "ffn_hidden_size", key_rule::written_only},
             {"hidden_act", "activation", key_rule::written_only}},
    .defaults = {.vocab_size = 65024,
                 .hidden_size = 4544,
                 .num_hidden_layers = 32,
                 .num_attention_heads = 71,
                 .max_position_embeddings = 2048,
                 .hidden_act = activation::gelu,
                 .tie_word_embeddings = true},
};

}  // namespace llmcost::arch
