// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/decoder.hpp>
#include <llmcost/reader.hpp>

namespace llmcost::arch {

namespace gpt_neox_detail {

/// Attention over queries, keys and values that one projection holds head by head; part of each head rotated.
struct attention {
    const architecture& row;
    const shape& dims;
    const shared_values& shared;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "Attention"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = dims.hidden_size, d = dims.head_dim, batch = x.dim(0), sequence = x.dim(1);
        const value fused = t.call("query_key_value", linear{width, 3 * width, dims.attention_bias}, x);
        const value part = fused.view({batch, sequence, -1, 3 * d}).transpose(1, 2).slice(-1, d);
        const value q = rotate_part(t, rotation::half, part, dims.rotary_dim, shared.cos, shared.sin, true);
        value k = rotate_part(t, rotation::half, part, dims.rotary_dim, shared.cos, shared.sin, true);
        k = update_cache(t, k, shared.where);
        const value v = update_cache(t, part, shared.where);
        const value mixed = eager_attention(t, q, k, v, shared.where, {.mask = &shared.mask});
        const value flat = t.contiguous(t.reshape(mixed, {batch, sequence, -1}));
        return t.call("dense", linear{width, width, dims.attention_bias}, flat);
    }
};

/// A layer whose feed-forward block reads the layer's input, or what attention left, through a norm of its own.
struct layer {
    const architecture& row;
    const shape& dims;
    const shared_values& shared;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "Layer"}; }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> normed{dims.hidden_size};
        const mlp<mlp_kind::plain> block{
            dims.hidden_size, dims.intermediate_size, dims.hidden_act, {row.prefix, "MLP"}, true, row.names.mlp};
        const auto feed = [&](const value& h) {
            return dropout(t, "post_mlp_dropout", t.call("mlp", block, t.call("post_attention_layernorm", normed, h)));
        };
        value a = t.call("attention", attention{row, dims, shared}, t.call("input_layernorm", normed, x));
        a = dropout(t, "post_attention_dropout", a);
        if (dims.parallel_residual) return t.add(t.add(feed(x), a), x);
        a = t.add(a, x);
        return t.add(feed(a), a);
    }
};

constexpr value base(const architecture& row, const shape& dims, trace& t) {
    const workload& load = t.load();
    value x = t.call("embed_in", embedding{dims.vocab_size, dims.hidden_size}, extents{load.batch, load.sequence});
    shared_values shared{.where = context_of(t, dims.sliding_window)};
    shared.mask = eager_mask(t, shared.where, load.batch);
    x = dropout(t, "emb_dropout", x);
    const auto tables =
        t.call("rotary_emb", rotary_table{dims.rotary_dim, {row.prefix, "RotaryEmbedding"}, rotary_frequencies{dims}},
               load.sequence);
    shared.cos = tables.first, shared.sin = tables.second;
    for (repetition each = t.repeat(dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, layer{row, dims, shared}, x);
    return t.call("final_layer_norm", norm<norm_kind::layer>{dims.hidden_size}, x);
}

}  // namespace gpt_neox_detail

/// GPT-NeoX: a decoder with layer norms, fused projections and rotary positions.
///
/// Source: transformers/models/gpt_neox/modeling_gpt_neox.py, `GPTNeoXModel`.
constexpr value describe_gpt_neox(const architecture& row, const shape& dims, trace& t) {
    return describe_under_head(row, dims, t, gpt_neox_detail::base);
}

/// The rotated part of a head: `partial_rotary_factor` of the rotary parameters, else `rotary_pct`, else a quarter.
constexpr void read_gpt_neox(config_view config, shape& s) {
    plan_one_mask(config, s);
    const auto width = static_cast<double>(s.head_dim);  // of the tables, where a file has `head_dim`; heads do not read it
    share_among_heads(config, s, {"num_attention_heads"});
    const auto rope = detail::rope_parameters(config);
    const bool stated = rope && rope->contains("partial_rotary_factor");
    const config_view place = stated ? *rope : config;
    const literal key = stated ? "partial_rotary_factor" : "rotary_pct";
    const double factor = detail::has_rope_type(config, "proportional") ? 1 : place.real(key, 0.25);
    if (!(factor > 0 && factor <= 1)) fail_value(place, key, "a part of a head above 0 and up to 1");
    s.rotary_dim = static_cast<std::int64_t>(width * factor);
    if (s.rotary_dim == 0 || s.rotary_dim % 2 != 0)
        fail_unsupported(place, key, "no row describes a rotated part that is no even number of elements");
    s.attention_bias = config.boolean("attention_bias", true);
    s.parallel_residual = config.boolean("use_parallel_residual", true);
}

// transformers/models/gpt_neox: configuration_gpt_neox.py, modeling_gpt_neox.py
inline constexpr architecture gpt_neox{
    .model_type = "gpt_neox",
    .prefix = "GPTNeoX",
    .describe = describe_gpt_neox,
    .read = read_gpt_neox,
    .heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification, head_kind::token_classification,
              head_kind::question_answering},
    .names = {.base = "gpt_neox",
              .base_under_answers = "gpt_neox",
              .token_classifier = "classifier",
              .mlp = {.up = "dense_h_to_4h", .down = "dense_4h_to_h", .act = "act"}},
    .defaults = {.vocab_size = 50432,
                 .hidden_size = 6144,
                 .intermediate_size = 24576,
                 .num_hidden_layers = 44,
                 .num_attention_heads = 64,
                 .max_position_embeddings = 2048,
                 .hidden_act = activation::gelu},
};

}  // namespace llmcost::arch
