// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/decoder.hpp>
#include <llmcost/reader.hpp>

namespace llmcost::arch {

namespace opt_detail {

/// Attention whose queries are scaled before the scores are, too.
struct attention {
    const architecture& row;
    const shape& dims;
    const shared_values& shared;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "Attention"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const linear project{dims.hidden_size, dims.hidden_size, dims.attention_bias};
        const auto in_heads = [&](const value& v) {
            return v.view({batch, -1, dims.num_attention_heads, dims.head_dim}).transpose(1, 2);
        };
        const value q = in_heads(t.mul(t.call("q_proj", project, x)));
        value k = in_heads(t.call("k_proj", project, x));
        value v = in_heads(t.call("v_proj", project, x));
        k = update_cache(t, k, shared.where);
        v = update_cache(t, v, shared.where);
        const value mixed = eager_attention(t, q, k, v, shared.where, {.mask = &shared.mask});
        return t.call("out_proj", project, t.contiguous(t.reshape(mixed, {batch, sequence, -1})));
    }
};

/// The feed-forward block has no module of its own: its parts have its role.
template <class L>
struct of_feed_forward : L {
    static constexpr role what = role::mlp;
};

struct layer {
    const architecture& row;
    const shape& dims;
    const shared_values& shared;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "DecoderLayer"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = dims.hidden_size, inner = dims.intermediate_size;
        const norm<norm_kind::layer> normed{width, {}, dims.norm_affine, dims.norm_affine};
        const bool after = dims.norms_after_sums;
        value h = after ? x : t.call("self_attn_layer_norm", normed, x);
        h = t.add(x, t.call("self_attn", attention{row, dims, shared}, h));
        if (after) h = t.call("self_attn_layer_norm", normed, h);
        const value rows = t.reshape(h, {-1, width});
        h = after ? rows : t.call("final_layer_norm", normed, rows);
        h = t.call("fc1", of_feed_forward<linear>{{width, inner, dims.mlp_bias}}, h);
        h = t.call("activation_fn", of_feed_forward<activation_module>{{dims.hidden_act}}, h);
        h = t.call("fc2", of_feed_forward<linear>{{inner, width, dims.mlp_bias}}, h);
        h = t.add(rows, h).view({x.dim(0), x.dim(1), width});
        return after ? t.call("final_layer_norm", normed, h) : h;
    }
};

/// Positions counted from a mask of ones, two further on in their table: (batch, sequence, width).
constexpr value positions(const architecture& row, const shape& dims, trace& t) {
    const workload& load = t.load();
    const value ones = t.constant({load.batch, load.past + load.sequence});
    (void)t.add(t.mul(t.cumsum(ones, 1), ones));
    t.positions(dims.max_position_embeddings, t.load().past + t.load().sequence);
    const embedding table{.rows = dims.max_position_embeddings + 2,
                          .width = dims.hidden_size,
                          .named = {row.prefix, "LearnedPositionalEmbedding"}};
    return t.call("embed_positions", table, extents{load.batch, load.sequence});
}

constexpr value decoder(const architecture& row, const shape& dims, trace& t) {
    const workload& load = t.load();
    value x = t.call("embed_tokens", embedding{dims.vocab_size, dims.embedding_size}, extents{load.batch, load.sequence});
    shared_values shared{.where = context_of(t, dims.sliding_window)};
    shared.mask = eager_mask(t, shared.where, load.batch);
    const value places = positions(row, dims, t);
    const bool projects = dims.embedding_size != dims.hidden_size;
    if (projects) x = t.call("project_in", linear{dims.embedding_size, dims.hidden_size}, x);
    x = t.add(x, places);
    for (repetition block = t.repeat(dims.num_hidden_layers, x); block.next();)
        x = t.call({"layers", block.index()}, layer{row, dims, shared}, x);
    if (dims.final_norm)
        x = t.call("final_layer_norm", norm<norm_kind::layer>{dims.hidden_size, {}, dims.norm_affine, dims.norm_affine}, x);
    return projects ? t.call("project_out", linear{dims.hidden_size, dims.embedding_size}, x) : x;
}

constexpr value base(const architecture& row, const shape& dims, trace& t) {
    return describe_within({.name = "decoder", .type = {row.prefix, "Decoder"}}, decoder, row, dims, t);
}

}  // namespace opt_detail

/// OPT: a decoder with learned positions and a feed-forward block over rows.
///
/// Source: transformers/models/opt/modeling_opt.py, `OPTDecoder`.
constexpr value describe_opt(const architecture& row, const shape& dims, trace& t) {
    return describe_under_head(row, dims, t, opt_detail::base);
}

constexpr void read_opt(config_view config, shape& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"num_attention_heads"});
    s.embedding_size = config.positive("word_embed_proj_dim", s.hidden_size);
    s.attention_bias = s.output_bias = s.mlp_bias = config.boolean("enable_bias", true);
    s.norm_affine = config.boolean("layer_norm_elementwise_affine", true);
    s.norms_after_sums = !config.boolean("do_layer_norm_before", true);
    s.final_norm = !s.norms_after_sums && !config.boolean("_remove_final_layer_norm", false);
}

// transformers/models/opt: configuration_opt.py, modeling_opt.py
inline constexpr architecture opt{
    .model_type = "opt",
    .prefix = "OPT",
    .describe = describe_opt,
    .read = read_opt,
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification, head_kind::question_answering},
    .keys = {{"intermediate_size", "ffn_dim", key_rule::written_only},
             {"hidden_act", "activation_function", key_rule::written_only}},
    .defaults = {.vocab_size = 50272,
                 .hidden_size = 768,
                 .intermediate_size = 3072,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 12,
                 .max_position_embeddings = 2048,
                 .hidden_act = activation::relu,
                 .tie_word_embeddings = true},
};

}  // namespace llmcost::arch
