// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/architecture.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/linear.hpp>

namespace llmcost {

/// Tokens that the encoder reads: the workload's, or as many as the decoder holds.
[[nodiscard]] constexpr std::int64_t encoder_length(const workload& load) noexcept {
    return load.encoder_sequence > 0 ? load.encoder_sequence : load.past + load.sequence;
}

/// Whether the encoder's work lies behind: its output and the cross keys and values come from the cache.
[[nodiscard]] constexpr bool encoder_is_done(const workload& load) noexcept { return load.past > 0; }

/// The decoder's state where the encoder reads a sequence's one end-of-sequence token: (B, S, width) -> (B, width).
///
/// Both halves read the same length (modeling_bart.py, `hidden_states[eos_mask, :]`); the reference has no cached pass.
constexpr value state_of_end(trace& t, const value& x) { return t.gather(x, {x.dim(0), x.dim(2)}); }

/// Sizes and names of an attention that reads its own or another sequence.
struct sequence_attention_shape {
    std::int64_t width;
    std::int64_t heads;
    std::int64_t head_dim;
    bool bias;
    bool caches;  ///< a decoder's
    class_name named;
    literal q, k, v, o;
};

/// Attention of x (B, S, width) over itself (`role::attn`) or over an encoder's states (`role::cross_attn`).
///
/// Cross keys and values are computed in the first pass and come from the cache afterwards.
/// Source: transformers/models/bart/modeling_bart.py, `BartAttention`; t5/modeling_t5.py, `T5Attention`.
template <role What>
struct sequence_attention {
    sequence_attention_shape dims;

    static constexpr role what = What;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return dims.named; }

    /// `bias_of(t, S, T)` gives the bias of positions, or an empty value where there is none.
    template <class BiasOf>
    constexpr value describe(trace& t, const value& x, const value& source, const context& where, const value* mask,
                             const BiasOf& bias_of) const {
        const std::int64_t inner = dims.heads * dims.head_dim, batch = x.dim(0), sequence = x.dim(1);
        const auto split = [&](const value& v) {
            return v.view({batch, v.dim(1), dims.heads, dims.head_dim}).transpose(1, 2);
        };
        const value q = split(t.call(dims.q, linear{dims.width, inner, dims.bias}, x));
        const bool from_cache = What == role::cross_attn && encoder_is_done(t.load());
        value k, v;
        {
            const recorder::idle_guard unused{t, from_cache};
            k = split(t.call(dims.k, linear{dims.width, inner, dims.bias}, source));
            v = split(t.call(dims.v, linear{dims.width, inner, dims.bias}, source));
        }
        if (from_cache) {
            k = v = trace::buffer({batch, dims.heads, source.dim(1), dims.head_dim});
            t.cache(k), t.cache(v);
        } else if (dims.caches) {
            k = update_cache(t, k, where);
            v = update_cache(t, v, where);
        }
        const value bias = bias_of(t, sequence, k.dim(2));
        const score_options how{.bias = bias.rank > 0 ? &bias : nullptr, .mask = mask, .float_softmax = false};
        const value mixed = eager_attention(t, q, k, v, where, how);
        return t.call(dims.o, linear{inner, dims.width, dims.bias}, t.contiguous(t.reshape(mixed, {batch, sequence, -1})));
    }
    constexpr value describe(trace& t, const value& x, const value& source, const context& where, const value* mask) const {
        return describe(t, x, source, where, mask, [](trace&, std::int64_t, std::int64_t) { return value{}; });
    }
};

}  // namespace llmcost
