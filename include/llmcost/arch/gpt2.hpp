// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/decoder.hpp>
#include <llmcost/layers/conv_1d.hpp>
#include <llmcost/layers/sinusoidal_rotary.hpp>
#include <llmcost/reader.hpp>

namespace llmcost::arch {

namespace gpt2_detail {

/// GPT-2 adds a table of positions to its words, GPT-J rotates queries and keys; their blocks follow suit.
[[nodiscard]] constexpr bool learns_positions(const architecture& row) noexcept { return row.rotated == rotation::none; }

/// What both kinds of block are given.
struct parts {
    const architecture& row;
    const shape& dims;
    const shared_values& shared;
};

/// Attention over one stacked projection; scores in float32 and scaled inside of the product where the shape says so.
struct attention : parts {
    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "Attention"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = dims.hidden_size, batch = x.dim(0), sequence = x.dim(1);
        const value fused = t.call("c_attn", conv_1d{width, 3 * width}, x);
        const value q = fused.slice(-1, width).view({batch, sequence, -1, dims.head_dim}).transpose(1, 2);
        const value k = update_cache(t, q, shared.where), v = update_cache(t, q, shared.where);
        const value mixed = dims.upcast_attention
                                ? upcast(t, q, k, v)
                                : eager_attention(t, q, k, v, shared.where, {.mask = &shared.mask, .float_softmax = false});
        const value flat = t.contiguous(t.reshape(mixed, {batch, sequence, -1}));
        return dropout(t, "resid_dropout", t.call("c_proj", conv_1d{width, width}, flat));
    }

private:
    constexpr value upcast(trace& t, const value& q, const value& k, const value& v) const {
        const std::int64_t batch = q.dim(0), heads = q.dim(1), sequence = q.dim(2), length = k.dim(2);
        const recorder::fused_guard fused{t, fused_attention(q, heads, shared.where, k.dim(2))};
        const bool sparse = t.load().attention == attention_scores::causal;
        const value rows = t.to(t.reshape(q, {-1, sequence, dims.head_dim}), dtype::float32);
        const value columns = t.to(t.reshape(k.transpose(2, 3), {-1, dims.head_dim, length}), dtype::float32);
        value scores = t.bmm(op::batched_matmul_scaled, rows, columns, sparse ? shared.where.visible_pairs() : 0);
        t.written(scores.elements);  // an empty tensor as large, which the product does not read
        scores = scores.view({batch, heads, sequence, length});
        if (!sparse) scores = t.add(scores, shared.mask);
        const value probabilities = dropout(t, "attn_dropout", t.to(t.softmax(scores), v.type));
        return t.matmul(probabilities, v).transpose(1, 2);
    }
};

/// Attention with pairs of elements turned by sinusoids that every layer picks for itself.
struct rotated_attention : parts {
    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "Attention"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = dims.hidden_size, batch = x.dim(0), sequence = x.dim(1);
        const extents in_heads{batch, sequence, dims.num_attention_heads, dims.head_dim};
        const linear project{width, width};
        const value q = t.call("q_proj", project, x).view(in_heads), k = t.call("k_proj", project, x).view(in_heads);
        const value v = t.call("v_proj", project, x).view(in_heads).transpose(1, 2);
        const value sinusoids = pick_sinusoids(t, dims.max_position_embeddings, sequence, dims.rotary_dim);
        const auto turned = [&](const value& h) {
            const value part = rotate_every_two(t, t.slice(h, -1, dims.rotary_dim), sinusoids);
            return t.cat({part, t.slice(h, -1, dims.head_dim - dims.rotary_dim)}, -1).transpose(1, 2);
        };
        const value keys = update_cache(t, turned(k), shared.where), queries = turned(q);
        const value flat = attend(t, queries, keys, update_cache(t, v, shared.where)).view({batch, sequence, width});
        return dropout(t, "resid_dropout", t.call("out_proj", project, flat));
    }

private:
    constexpr value attend(trace& t, const value& q, const value& k, const value& v) const {
        const recorder::fused_guard fused{t, fused_attention(q, k.dim(1), shared.where, k.dim(2))};
        const bool sparse = t.load().attention == attention_scores::causal;
        const value rows = t.to(q, dtype::float32), columns = t.to(k, dtype::float32).transpose(2, 3);
        value scores = t.div(t.matmul(rows, columns, sparse ? shared.where.visible_pairs() : 0));
        if (!sparse) scores = t.add(scores, shared.mask);
        const value probabilities = dropout(t, "attn_dropout", t.to(t.softmax(scores), v.type));
        return t.contiguous(t.matmul(probabilities, v).transpose(1, 2));
    }
};

/// Feed-forward block that ends in a dropout module.
struct feed_forward : parts {
    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "MLP"}; }
    constexpr value describe(trace& t, const value& x) const {
        const mlp_names& n = row.names.mlp;
        value h = projected(t, n.up, dims.hidden_size, dims.intermediate_size, x);
        h = t.call(n.act, activation_module{dims.hidden_act}, h);
        return dropout(t, "dropout", projected(t, n.down, dims.intermediate_size, dims.hidden_size, h));
    }

private:
    constexpr value projected(trace& t, literal name, std::int64_t from, std::int64_t to, const value& x) const {
        return learns_positions(row) ? t.call(name, conv_1d{from, to}, x) : t.call(name, linear{from, to, true}, x);
    }
};

struct block : parts {
    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "Block"}; }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> normed{dims.hidden_size};
        const value h = t.add(t.call("attn", attention{*this}, t.call("ln_1", normed, x)), x);
        return t.add(h, t.call("mlp", feed_forward{*this}, t.call("ln_2", normed, h)));
    }
};

/// Attention and feed-forward side by side behind one norm.
struct parallel_block : parts {
    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "Block"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value h = t.call("ln_1", norm<norm_kind::layer>{dims.hidden_size}, x);
        const value a = t.call("attn", rotated_attention{*this}, h);
        return t.add(t.add(a, t.call("mlp", feed_forward{*this}, h)), x);
    }
};

constexpr value base(const architecture& row, const shape& dims, trace& t) {
    const workload& load = t.load();
    value x = t.call("wte", embedding{dims.vocab_size, dims.hidden_size}, extents{load.batch, load.sequence});
    if (learns_positions(row)) {
        const embedding table{dims.max_position_embeddings, dims.hidden_size};
        t.positions(dims.max_position_embeddings, load.past + load.sequence);
        x = t.add(x, t.call("wpe", table, extents{1, load.sequence}));
    }
    shared_values shared{.where = context_of(t, dims.sliding_window)};
    shared.mask = eager_mask(t, shared.where, load.batch);
    x = dropout(t, "drop", x);
    const parts given{row, dims, shared};
    for (repetition each = t.repeat(dims.num_hidden_layers, x); each.next();)
        x = learns_positions(row) ? t.call({"h", each.index()}, block{given}, x)
                                  : t.call({"h", each.index()}, parallel_block{given}, x);
    return t.call("ln_f", norm<norm_kind::layer>{dims.hidden_size}, x);
}

}  // namespace gpt2_detail

/// GPT-2 and GPT-J: words, learned positions where they have them, blocks, a last norm.
///
/// Source: transformers/models/gpt2/modeling_gpt2.py, `GPT2Model`; transformers/models/gptj/modeling_gptj.py, `GPTJModel`.
constexpr value describe_gpt2(const architecture& row, const shape& dims, trace& t) {
    return describe_under_head(row, dims, t, gpt2_detail::base);
}

constexpr void read_gpt2(config_view config, shape& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"n_head", "num_attention_heads"});
    if (s.intermediate_size == 0) s.intermediate_size = 4 * s.hidden_size;
    if (config.boolean("add_cross_attention", false))
        fail_unsupported(config, "add_cross_attention", "no row describes this type with cross-attention");
    s.upcast_attention = config.boolean("reorder_and_upcast_attn", false);
    if (s.upcast_attention && (s.head_dim == 1 || !config.boolean("scale_attn_weights", true)))
        fail_unsupported(config, "reorder_and_upcast_attn", "no row describes scores that are upcast but not scaled");
}

constexpr void read_gptj(config_view config, shape& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"n_head", "num_attention_heads"});
    if (s.intermediate_size == 0) s.intermediate_size = 4 * s.hidden_size;
    s.rotary_dim = config.contains("rotary_dim") ? config.positive("rotary_dim") : 64;
    if (s.rotary_dim > s.head_dim || s.rotary_dim % 2 != 0)
        fail_value(config, "rotary_dim", "an even number up to the elements of a head");
    if (s.head == head_kind::question_answering && s.num_labels != 2)
        fail_value(config, config.contains("num_labels") ? "num_labels" : "id2label",
                   "two labels, start and end of an answer");
}

// transformers/models/gpt2: configuration_gpt2.py, modeling_gpt2.py
inline constexpr architecture gpt2{
    .model_type = "gpt2",
    .prefix = "GPT2",
    .describe = describe_gpt2,
    .read = read_gpt2,
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification, head_kind::token_classification,
              head_kind::question_answering},
    .names = {.base = "transformer",
              .base_under_answers = "transformer",
              .token_classifier = "classifier",
              .mlp = {.up = "c_fc", .down = "c_proj", .act = "act"},
              .causal_lm_type = "LMHeadModel"},
    .keys = {{"hidden_size", "n_embd", key_rule::standard_first},
             {"max_position_embeddings", "n_positions", key_rule::standard_first},
             {"num_attention_heads", "n_head", key_rule::standard_first},
             {"num_hidden_layers", "n_layer", key_rule::standard_first},
             {"intermediate_size", "n_inner", key_rule::written_only},
             {"hidden_act", "activation_function", key_rule::written_only}},
    .defaults = {.vocab_size = 50257,
                 .hidden_size = 768,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 12,
                 .max_position_embeddings = 1024,
                 .hidden_act = activation::gelu_new,
                 .tie_word_embeddings = true},
};

// transformers/models/auto/configuration_auto.py: GPT-2 under another name
inline constexpr architecture gpt_sw3 = [](architecture a) {
    a.model_type = "gpt-sw3";
    return a;
}(gpt2);

// transformers/models/gptj: rotated pairs instead of learned positions, blocks side by side, a head with a bias
inline constexpr architecture gptj = [](architecture a) {
    a.model_type = "gptj", a.prefix = "GPTJ", a.read = read_gptj, a.rotated = rotation::interleaved;
    a.heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification, head_kind::question_answering};
    a.names.mlp = {.up = "fc_in", .down = "fc_out", .act = "act"};
    a.names.causal_lm_type = "ForCausalLM";
    a.defaults.vocab_size = 50400, a.defaults.hidden_size = 4096, a.defaults.num_hidden_layers = 28;
    a.defaults.num_attention_heads = 16, a.defaults.max_position_embeddings = 2048,
    a.defaults.hidden_act = activation::gelu_new;
    a.defaults.head_bias = true, a.defaults.tie_word_embeddings = false;
    return a;
}(gpt2);

}  // namespace llmcost::arch
