// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/model/model_spec.hpp>

// Inputs that a decoder computes once for all layers: masks and rotary tables.
namespace llmcost {

/// Computes the rotary tables of the model and stores them in `inputs`.
constexpr void compute_rotary_embeddings(const layer_context& ctx, trace& t, attention_inputs& inputs,
                                         bool sliding = false) {
    const class_name named = ctx.class_of(ctx.spec.names.rotary_class);
    const rotary_frequencies frequencies{ctx.config, sliding};
    if (ctx.spec.rotary == rotary_style::interleaved_complex) {
        const complex_rotary_table table{ctx.config.rotary_dim, named, frequencies};
        inputs.cos = t.call(ctx.spec.names.rotary, table, t.load().sequence);
        return;
    }
    const rotary_table table{ctx.config.rotary_dim, named, frequencies, ctx.spec.rotary, ctx.spec.rotary_axes};
    const auto tables = t.call(ctx.spec.names.rotary, table, t.load().sequence);
    inputs.cos = tables.first;
    inputs.sin = tables.second;
}

/// One mask for full and sliding layers, with the length of the sliding cache. Valid until the window is full.
///
/// The reference fails for longer caches, because the mask is shorter than the scores (Mistral with `layer_types`).
/// Throws: a position error if the cache is longer than the window.
constexpr tensor make_shared_mask(trace& t, const attention_pattern& slides) {
    const std::int64_t past = t.load().past;
    if (past > slides.cached_length && !t.is_not_executed()) throw_position_error(slides.cached_length, past);
    return eager_mask(t, slides, t.load().batch);
}

/// Masks for each kind of attention in the model, following `model_spec::mask_policy`.
constexpr decoder_inputs make_masks(const layer_context& ctx, trace& t) {
    const model_spec& row = ctx.spec;
    const workload& load = t.load();
    const layer_plan& plan = ctx.config.layers;
    const std::int64_t layers = ctx.config.num_hidden_layers;
    const bool chunked = plan.contains(token_mixer_kind::chunked_attention, layers);
    decoder_inputs c;
    c.full.pattern = attention_pattern_of(t, 0);
    c.sliding.pattern =
        attention_pattern_of(t, ctx.config.sliding_window, chunked ? window_kind::chunked : window_kind::sliding);
    c.full.pattern.is_causal = c.sliding.pattern.is_causal = !ctx.config.is_bidirectional;
    const bool slides = chunked || plan.contains(token_mixer_kind::sliding_attention, layers);
    const bool full = plan.contains(token_mixer_kind::full_attention, layers);
    if (row.mask_policy == mask_kind::by_window && slides && full) {
        c.full.mask = c.sliding.mask = make_shared_mask(t, c.sliding.pattern);
        return c;
    }
    // The mask has the length of the cache of a layer that uses it, else of the first layer (masking_utils.py,
    // `layer_idx`).
    const attention_pattern& longest = slides && !full ? c.sliding.pattern : c.full.pattern;
    const attention_pattern& shortest = slides ? c.sliding.pattern : c.full.pattern;
    const bool by_layers = row.mask_policy == mask_kind::by_window || row.mask_policy == mask_kind::present;
    if (!by_layers || full) c.full.mask = eager_mask(t, longest, load.batch);
    if (row.mask_policy == mask_kind::full_and_sliding || slides) c.sliding.mask = eager_mask(t, shortest, load.batch);
    return c;
}

/// Adds rotary tables to the masks: one for all layers, or one for each kind of attention.
constexpr decoder_inputs add_rotary_embeddings(const layer_context& ctx, trace& t, decoder_inputs c) {
    const model_spec& row = ctx.spec;
    const layer_plan& plan = ctx.config.layers;
    const std::int64_t layers = ctx.config.num_hidden_layers;
    if (row.rotary == rotary_style::none) return c;
    const bool full = plan.contains(token_mixer_kind::full_attention, layers),
               slides = plan.contains(token_mixer_kind::sliding_attention, layers);
    if (full || !row.has_rotary_per_token_mixer) compute_rotary_embeddings(ctx, t, c.full);
    if (row.has_rotary_per_token_mixer && slides) compute_rotary_embeddings(ctx, t, c.sliding, true);
    if (!row.has_rotary_per_token_mixer) {
        c.sliding.cos = c.full.cos;
        c.sliding.sin = c.full.sin;
    }
    return c;
}

/// Number of rotated elements of a head, for each kind of attention.
struct rotary_dims {
    std::int64_t full;
    std::int64_t sliding;
};
/// Masks and rotary tables, with a rotary dimension for each kind of attention in the model.
constexpr decoder_inputs prepare_inputs_per_token_mixer(const layer_context& ctx, trace& t, rotary_dims dims,
                                                        rotary_style form) {
    decoder_inputs c = make_masks(ctx, t);
    const auto make = [&](attention_inputs& inputs, std::int64_t rotated, token_mixer_kind mixer) {
        if (!ctx.config.layers.contains(mixer, ctx.config.num_hidden_layers)) return;
        const class_name named = ctx.class_of(ctx.spec.names.rotary_class);
        const bool sliding = mixer == token_mixer_kind::sliding_attention;
        const rotary_table table{rotated, named, rotary_frequencies{ctx.config, sliding}, form};
        const auto tables = t.call(ctx.spec.names.rotary, table, t.load().sequence);
        inputs.cos = tables.first;
        inputs.sin = tables.second;
    };
    make(c.full, dims.full, token_mixer_kind::full_attention);
    make(c.sliding, dims.sliding, token_mixer_kind::sliding_attention);
    return c;
}

/// Masks and rotary tables of a decoder. The default of `model_spec::prepare_inputs`.
constexpr decoder_inputs prepare_decoder_inputs(const layer_context& ctx, trace& t) {
    return add_rotary_embeddings(ctx, t, make_masks(ctx, t));
}

/// Applies interleaved RoPE in float32: x · cos + rotate_interleaved(x) · sin.
///
/// Shapes: x (batch, heads, sequence, head_dim). The result has the type and the shape of x.
/// Source: transformers, modeling_ernie4_5_moe.py, `apply_rotary_pos_emb`.
constexpr tensor apply_interleaved_rotary(trace& t, const tensor& x, const tensor& cos, const tensor& sin) {
    const std::int64_t half = x.dim(-1) / 2;
    const tensor plain = t.mul(t.to(x, dtype::float32), cos);
    const tensor odd = t.neg(t.slice(x, -1, half, 2)).unsqueeze(-1), even = t.slice(x, -1, half, 2).unsqueeze(-1);
    const tensor rotated = t.cat({odd, even}, -1).view({x.dim(0), x.dim(1), x.dim(2), x.dim(3)});
    return t.to(t.add(plain, t.mul(t.to(rotated, dtype::float32), sin)), x.type);
}

/// Applies RoPE: x · cos + rotate_half(x) · sin, for x (batch, sequence, heads, dim).
constexpr tensor apply_rotary_before_transpose(trace& t, const tensor& x, const tensor& cos, const tensor& sin) {
    const std::int64_t half = x.dim(-1) / 2;
    const tensor plain = t.mul(x, cos.unsqueeze(2)), rotated_half = t.neg(t.slice(x, -1, half));
    return t.add(plain, t.mul(t.cat({rotated_half, t.slice(x, -1, half)}, -1), sin.unsqueeze(2)));
}

}  // namespace llmcost
