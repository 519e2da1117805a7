// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/encoder_decoder_stacks.hpp>

// Whisper: attention and positions of its encoder and decoder (arXiv 2212.04356).
namespace llmcost::whisper_layers {

/// Queries scaled and copied, keys without a bias.
constexpr tensor attention(const layer_context&, trace& t, const stack_sizes& s, const tensor& x, const tensor* source,
                           const attention_pattern& pattern, const tensor* mask) {
    const std::int64_t d = s.width / s.heads, batch = x.dim(0), sequence = x.dim(1);
    const auto split = [&](const tensor& v) { return t.contiguous(v.view({batch, -1, s.heads, d}).transpose(1, 2)); };
    const tensor q = split(t.mul_scalar(t.call("q_proj", linear{s.width, s.width, true}, x)));
    const tensor& key_value_states = source != nullptr ? *source : x;
    const bool from_cache = source != nullptr && is_encoder_cached(t.load());
    tensor k, v;
    {
        const recorder::not_executed_guard unused{t, from_cache};
        k = split(t.call("k_proj", linear{s.width, s.width}, key_value_states));
        v = split(t.call("v_proj", linear{s.width, s.width, true}, key_value_states));
    }
    if (from_cache) {
        k = v = trace::buffer({batch, s.heads, key_value_states.dim(1), d});
        t.add_to_cache(k);
        t.add_to_cache(v);
    } else if (s.decodes) {
        k = update_kv_cache(t, k, pattern);
        v = update_kv_cache(t, v, pattern);
    }
    const tensor mixed = attention_forward(t, q, k, v, pattern, {.mask = mask, .has_float32_softmax = false});
    const tensor flat = t.contiguous(t.reshape(mixed, {batch, sequence, -1}));
    return t.call("out_proj", linear{s.width, s.width, true}, flat);
}

/// Rows of a learned table, indexed by each sequence's positions; an index beyond it is detected only at run time.
struct position_rows : embedding {
    constexpr explicit position_rows(const layer_context& ctx)
        : embedding{ctx.config.max_position_embeddings, ctx.config.hidden_size, false,
                    ctx.class_of("PositionalEmbedding")} {}
};

constexpr tensor positions(const layer_context& ctx, trace& t, std::int64_t length, bool) {
    return t.call("embed_positions", position_rows{ctx}, shape{t.load().batch, length});
}

inline constexpr stack_style style{.norm_first = true,
                                   .norm_embedding = "",
                                   .norm_last = "layer_norm",
                                   .has_ones_mask = false,
                                   .uses_shared_embeddings = false,
                                   .scale = embedding_scaling::none,
                                   .positions = positions,
                                   .attend_in_encoder = attention,
                                   .attend_in_decoder = attention};

}  // namespace llmcost::whisper_layers
