// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/model/architecture.hpp>

namespace llmcost {

/// Names of an attention's four projections.
struct projection_names {
    literal q = "query";
    literal k = "key";
    literal v = "value";
};

/// What a layer's queries see: all positions, or behind a mask those before them, which a cache keeps (BERT as a decoder).
struct encoder_reach {
    context where{};
    value mask{};

    [[nodiscard]] constexpr const value* mask_or_none() const noexcept { return where.causal ? &mask : nullptr; }
};

/// The reach of an encoder: every position, no mask, no cache.
[[nodiscard]] constexpr encoder_reach all_positions(std::int64_t sequence) noexcept {
    return {.where = {.sequence = sequence, .causal = false}};
}

/// Queries, keys and values of x against each other (BERT, ViT).
///
/// x (B, S, width) -> (B, S, width), before the output projection; see `eager_attention` for the scores.
constexpr value attend_within(trace& t, const value& x, std::int64_t width, std::int64_t heads, bool bias,
                              const projection_names& names, bool float_softmax, const encoder_reach& reach) {
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), d = width / heads;
    const auto split = [&](literal name) {
        return t.call(name, linear{width, width, bias}, x).view({batch, sequence, heads, d}).transpose(1, 2);
    };
    const value q = split(names.q);
    value k = split(names.k), v = split(names.v);
    if (reach.where.causal) k = update_cache(t, k, reach.where), v = update_cache(t, v, reach.where);
    const value mixed =
        eager_attention(t, q, k, v, reach.where, {.mask = reach.mask_or_none(), .float_softmax = float_softmax});
    return t.contiguous(t.reshape(mixed, {batch, sequence, -1}));
}

namespace bert_layers {

/// A projection, dropout, and a norm of the sum with what came in (`BertSelfOutput`, `BertOutput`).
struct output_block {
    std::int64_t in;
    std::int64_t width;
    class_name named;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& h, const value& x) const {
        value out = t.call("dense", linear{in, width, true}, h);
        out = dropout(t, "dropout", out);
        return t.call("LayerNorm", norm<norm_kind::layer>{width}, t.add(out, x));
    }
};

struct self_attention_block {
    std::int64_t width;
    std::int64_t heads;
    class_name named;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x, const encoder_reach& reach) const {
        return attend_within(t, x, width, heads, true, {}, false, reach);
    }
};

struct attention_block {
    const sizes& dims;
    literal prefix;
    literal inner_type = "SelfAttention";

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "Attention"}; }
    constexpr value describe(trace& t, const value& x, const encoder_reach& reach) const {
        const std::int64_t width = dims.hidden_size;
        const self_attention_block inner{width, dims.num_attention_heads, {prefix, inner_type}};
        const value h = t.call("self", inner, x, reach);
        return t.call("output", output_block{width, width, {prefix, "SelfOutput"}}, h, x);
    }
};

struct cross_attention_block : attention_block {
    static constexpr role what = role::cross_attn;
};

struct intermediate_block {
    const sizes& dims;
    literal prefix;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "Intermediate"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value h = t.call("dense", linear{dims.hidden_size, dims.intermediate_size, true}, x);
        return t.call("intermediate_act_fn", activation_module{dims.hidden_act}, h);
    }
};

/// The second half of the feed-forward block; a role of its own path, as the first half has one.
struct feed_forward_output : output_block {
    static constexpr role what = role::mlp;
};

}  // namespace bert_layers

/// A BERT layer: attention and feed-forward, each followed by residual and norm.
///
/// Source: transformers/models/bert/modeling_bert.py, `BertLayer`.
struct bert_layer {
    const sizes& dims;
    literal prefix;
    const encoder_reach& reach;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "Layer"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value a = t.call("attention", bert_layers::attention_block{dims, prefix}, x, reach);
        if (dims.add_cross_attention) {
            const recorder::idle_guard no_encoder{t};  // called with an encoder's states only
            (void)t.call("crossattention", bert_layers::cross_attention_block{{dims, prefix, "CrossAttention"}}, a,
                         all_positions(a.dim(1)));
        }
        const value h = t.call("intermediate", bert_layers::intermediate_block{dims, prefix}, a);
        return t.call("output",
                      bert_layers::feed_forward_output{{dims.intermediate_size, dims.hidden_size, {prefix, "Output"}}}, h,
                      a);
    }
};

/// Words, kinds of segments and learned positions, normed: (B, S) -> (B, S, width).
struct bert_embeddings {
    const sizes& dims;
    literal prefix;
    bool positions_per_token;  ///< positions looked up for every sequence instead of once (RoBERTa)

    static constexpr role what = role::embedding;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "Embeddings"}; }
    constexpr value describe(trace& t, std::int64_t batch, std::int64_t sequence) const {
        const std::int64_t width = dims.hidden_size;
        const extents ids{batch, sequence};
        const value words = t.call("word_embeddings", embedding{dims.vocab_size, width}, ids);
        value x = t.add(words, t.call("token_type_embeddings", embedding{dims.type_vocab_size, width}, ids));
        const extents places{positions_per_token ? batch : 1, sequence};
        const std::int64_t held = dims.max_position_embeddings - dims.first_position;
        t.positions(held, dims.is_decoder ? t.load().past + sequence : sequence);
        x = t.add(x, t.call("position_embeddings", embedding{dims.max_position_embeddings, width}, places));
        return dropout(t, "dropout", t.call("LayerNorm", norm<norm_kind::layer>{width}, x));
    }
};

}  // namespace llmcost
