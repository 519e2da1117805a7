// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/model/architecture.hpp>

namespace llmcost {

/// Tokens that the encoder reads: the workload's, or as many as the decoder holds.
[[nodiscard]] constexpr std::int64_t encoder_length(const workload& load) noexcept {
    return load.encoder_sequence > 0 ? load.encoder_sequence : load.past + load.sequence;
}

/// What an encoder is asked for, where its words are those of a model that reads the workload's tokens.
[[nodiscard]] constexpr workload encoder_load(const workload& load) noexcept {
    workload own = load;
    own.sequence = encoder_length(load), own.past = 0, own.encoder_sequence = 0;
    return own;
}

/// Whether the encoder's work lies behind: its output and the cross keys and values come from the cache.
[[nodiscard]] constexpr bool encoder_is_done(const workload& load) noexcept { return load.past > 0; }

/// The decoder's state where the encoder reads a sequence's one end-of-sequence token: (B, S, width) -> (B, width).
///
/// Both halves read the same length (modeling_bart.py, `hidden_states[eos_mask, :]`); the reference has no cached pass.
constexpr value state_of_end(trace& t, const value& x) { return t.gather(x, {x.dim(0), x.dim(2)}); }

/// Sizes and names of an attention that reads its own or another sequence.
struct sequence_attention_sizes {
    std::int64_t width;
    std::int64_t heads;
    std::int64_t head_dim;
    bool bias;
    bool caches;  ///< a decoder's
    class_name named;
    literal q, k, v, o;
    std::int64_t buckets = 0;  ///< of distances, which have biases
};

/// A table of one number per bucket and head; no embedding of tokens.
struct bucket_table : embedding {
    static constexpr role what = role::none;
};

/// Bias of relative positions, (1, heads, S, T): distances in logarithmic buckets, looked up in a table.
///
/// Per (query, key) pair DIV 2, LOG 1, MULT 1 (modeling_t5.py, `_relative_position_bucket`).
constexpr value relative_bias(trace& t, std::int64_t buckets, std::int64_t heads, std::int64_t queries, std::int64_t keys) {
    const value distance = t.constant({queries, keys});
    (void)t.mul(t.div(t.unary(op::log, t.div(distance))));
    const bucket_table table{{.rows = buckets, .width = heads, .makes_indices = true}};
    return t.call("relative_attention_bias", table, extents{queries, keys}).permute({2, 0, 1}).unsqueeze(0);
}

/// Attention of x (B, S, width) over itself or over an encoder's states.
///
/// Cross keys and values are computed in the first pass and come from the cache afterwards. A bias that is still empty is
/// made here, to be read by all that follow; none knows a distance to another sequence, so that zeros stand for it there.
/// Source: transformers/models/bart/modeling_bart.py, `BartAttention`; t5/modeling_t5.py, `T5Attention`.
struct sequence_attention {
    sequence_attention_sizes dims;
    bool crosses = false;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return dims.named; }
    constexpr value describe(trace& t, const value& x, const value& source, const context& where, const value* mask,
                             value* bias) const {
        const std::int64_t inner = dims.heads * dims.head_dim, batch = x.dim(0), sequence = x.dim(1);
        const auto split = [&](literal name, const value& from) {
            const value all = t.call(name, linear{dims.width, inner, dims.bias}, from);
            return all.view({batch, from.dim(1), dims.heads, dims.head_dim}).transpose(1, 2);
        };
        const value q = split(dims.q, x);
        const bool from_cache = crosses && encoder_is_done(t.load());
        value k, v;
        {
            const recorder::idle_guard unused{t, from_cache};
            k = split(dims.k, source);
            v = split(dims.v, source);
        }
        if (from_cache) {
            k = v = trace::buffer({batch, dims.heads, source.dim(1), dims.head_dim});
            t.cache(k), t.cache(v);
        } else if (dims.caches) {
            k = update_cache(t, k, where);
            v = update_cache(t, v, where);
        }
        if (bias != nullptr && bias->rank == 0)
            *bias = crosses ? t.constant({1, dims.heads, sequence, k.dim(2)}, t.activation_type())
                            : relative_bias(t, dims.buckets, dims.heads, sequence, k.dim(2));
        const score_options how{.bias = bias, .mask = mask, .float_softmax = false};
        const value flat = t.reshape(eager_attention(t, q, k, v, where, how), {batch, sequence, -1});
        return t.call(dims.o, linear{inner, dims.width, dims.bias}, t.contiguous(flat));
    }
};

/// The same over an encoder's states.
struct cross_attention : sequence_attention {
    static constexpr role what = role::cross_attn;
    constexpr explicit cross_attention(const sequence_attention_sizes& s) noexcept : sequence_attention{s, true} {}
};

}  // namespace llmcost
