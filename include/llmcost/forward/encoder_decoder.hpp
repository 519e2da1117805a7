// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/model/model_spec.hpp>

// Attention of encoder-decoder models (BART, T5).
//
// Shapes: B = batch, S = sequence (new decoder tokens), T = keys.

namespace llmcost {

/// Number of encoder tokens: that of the workload. Default: the number of decoder positions.
[[nodiscard]] constexpr std::int64_t encoder_length(const workload& load) noexcept {
    return load.encoder_sequence > 0 ? load.encoder_sequence : load.past + load.sequence;
}

/// The workload of an encoder that is traced as a model of its own.
[[nodiscard]] constexpr workload encoder_workload(const workload& load) noexcept {
    workload adjusted = load;
    adjusted.sequence = encoder_length(load);
    adjusted.past = 0;
    adjusted.encoder_sequence = 0;
    return adjusted;
}

/// True if the encoder was executed before. Its output and the cross-attention keys and values are cached.
[[nodiscard]] constexpr bool is_encoder_cached(const workload& load) noexcept { return load.past > 0; }

/// The decoder state at the end-of-sequence token: (B, S, width) -> (B, width).
///
/// Encoder and decoder have the same length. The reference has no cached pass.
/// Source: transformers/models/bart/modeling_bart.py, `hidden_states[eos_mask, :]`.
constexpr tensor state_at_last_token(trace& t, const tensor& x) { return t.gather(x, {x.dim(0), x.dim(2)}); }

/// Sizes and module names of self-attention or cross-attention.
struct sequence_attention_sizes {
    std::int64_t width;
    std::int64_t heads;
    std::int64_t head_dim;
    bool bias;
    bool caches;  ///< true for a decoder
    class_name named;
    literal q, k, v, o;
    std::int64_t buckets = 0;  ///< number of relative position buckets; 0: no relative position bias
};

/// Table of relative position biases, one per bucket and head. Its role is not that of a token embedding.
struct bucket_table : embedding {
    static constexpr role module_role = role::none;
};

/// Relative position bias, looked up by logarithmic distance bucket: (1, heads, S, T).
///
/// Cost per (query, key) pair: DIV 2, LOG 1, MULT 1.
/// Source: transformers/models/t5/modeling_t5.py, `_relative_position_bucket`.
constexpr tensor relative_bias(trace& t, std::int64_t buckets, std::int64_t heads, std::int64_t queries,
                               std::int64_t keys) {
    const tensor distance = t.full({queries, keys});
    (void)t.mul_scalar(t.div_scalar(t.log(t.div_scalar(distance))));
    const bucket_table table{{.num_embeddings = buckets, .embedding_dim = heads, .creates_indices = true}};
    return t.call("relative_attention_bias", table, shape{queries, keys}).permute({2, 0, 1}).unsqueeze(0);
}

/// Self-attention, or cross-attention to encoder states: x (B, S, width) -> (B, S, width).
///
/// Cross-attention keys and values are computed in the first pass, then cached. An empty `bias` is created here for all
/// later layers. It is zero in cross-attention, which has no relative positions.
/// Source: transformers/models/bart/modeling_bart.py, `BartAttention`; t5/modeling_t5.py, `T5Attention`.
struct sequence_attention {
    sequence_attention_sizes config;
    bool crosses = false;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return config.named; }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& source, const attention_pattern& pattern,
                             const tensor* mask, tensor* bias) const {
        const std::int64_t inner = config.heads * config.head_dim, batch = x.dim(0), sequence = x.dim(1);
        const auto split = [&](literal name, const tensor& states) {
            const tensor all = t.call(name, linear{config.width, inner, config.bias}, states);
            return all.view({batch, states.dim(1), config.heads, config.head_dim}).transpose(1, 2);
        };
        const tensor q = split(config.q, x);
        const bool from_cache = crosses && is_encoder_cached(t.load());
        tensor k, v;
        {
            const recorder::not_executed_guard unused{t, from_cache};
            k = split(config.k, source);
            v = split(config.v, source);
        }
        if (from_cache) {
            k = v = trace::buffer({batch, config.heads, source.dim(1), config.head_dim});
            t.add_to_cache(k);
            t.add_to_cache(v);
        } else if (config.caches) {
            k = update_kv_cache(t, k, pattern);
            v = update_kv_cache(t, v, pattern);
        }
        if (bias != nullptr && bias->rank == 0) {
            *bias = crosses ? t.full({1, config.heads, sequence, k.dim(2)}, q.type)
                            : relative_bias(t, config.buckets, config.heads, sequence, k.dim(2));
            // `position_bias.requires_grad = True` of a model whose layers are checkpointed (`T5Attention.forward`)
            if (crosses && t.load().recomputes_layers) t.require_grad(*bias);
        }
        const attention_options options{.bias = bias, .mask = mask, .has_float32_softmax = false};
        const tensor flat = t.reshape(attention_forward(t, q, k, v, pattern, options), {batch, sequence, -1});
        return t.call(config.o, linear{inner, config.width, config.bias}, t.contiguous(flat));
    }
};

/// Cross-attention to encoder states.
struct cross_attention : sequence_attention {
    static constexpr role module_role = role::cross_attn;
    constexpr explicit cross_attention(const sequence_attention_sizes& s) noexcept : sequence_attention{s, true} {}
};

/// Traces the base model: bare, or inside the class of its head, which `compute_logits` maps to logits.
template <class ComputeLogits>
constexpr tensor forward_with_logits(const layer_context& ctx, trace& t, const ComputeLogits& compute_logits) {
    const class_name type = ctx.class_of("Model");
    if (ctx.config.head == head_kind::none)
        return forward_in_module({.class_of_module = type}, ctx.spec.base_model, ctx, t);
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    t.enter(model_info);
    const tensor x = forward_in_module({.name = "model", .class_of_module = type}, ctx.spec.base_model, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info, t.select_model_output(x, compute_logits(x)));
}

}  // namespace llmcost
