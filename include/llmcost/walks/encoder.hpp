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

/// Scores as older models spell them: divided, a bias added in place, dropout a module; q, k, v (B, H, S, d) -> (B, S, H ·
/// d).
constexpr value look_up_dividing(trace& t, const value& q, const value& k, const value& v, const encoder_reach& reach,
                                 const value* bias = nullptr) {
    const recorder::fused_guard fused{t, fused_attention(q, k.dim(1), reach.where, k.dim(2))};
    const bool sparse = reach.where.causal && t.load().attention == attention_scores::causal;
    value scores = t.div(t.matmul(q, k.transpose(2, 3), sparse ? reach.where.visible_pairs() : 0));
    if (bias != nullptr) t.in_place(op::add, scores, *bias);
    if (reach.where.causal && !sparse) scores = t.add(scores, reach.mask);
    const value mixed = t.matmul(dropout(t, "dropout", t.softmax(scores), dropout_of::attention), v).permute({0, 2, 1, 3});
    return t.contiguous(mixed).view({q.dim(0), q.dim(2), q.dim(1) * v.dim(3)});
}

/// Queries, keys and values by a projection each, in heads.
constexpr void project_in_heads(trace& t, const value& x, std::int64_t width, std::int64_t heads,
                                const projection_names& names, value& q, value& k, value& v, bool bias = true) {
    const auto split = [&](literal name) {
        const value all = t.call(name, linear{width, width, bias}, x);
        return all.view({x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
    };
    q = split(names.q), k = split(names.k), v = split(names.v);
}

namespace bert_layers {

/// A projection, dropout, and a norm of the sum with what came in (`BertSelfOutput`, `BertOutput`).
///
/// Where norms stand in front of blocks, the sum is all (`RobertaPreLayerNormOutput`).
struct output_block {
    std::int64_t in;
    std::int64_t width;
    class_name named;
    bool norms = true;
    bool drops = true;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& h, const value& x) const {
        value out = t.call("dense", linear{in, width, true}, h);
        if (drops) out = dropout(t, "dropout", out);
        out = t.add(out, x);
        return norms ? t.call("LayerNorm", norm<norm_kind::layer>{width}, out) : out;
    }
};

/// The second half of the feed-forward block; a role of its own path, as the first half has one.
struct feed_forward_output : output_block {
    static constexpr role what = role::mlp;
};

/// The module around a row's `attend`, without its output projection.
struct self_attention_block {
    const site& here;
    literal inner_type = "SelfAttention";

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type(inner_type); }
    constexpr value describe(trace& t, const value& x) const { return here.row.attend(here, t, x); }
};

/// Where a layer has its norms: behind each block's sum, or in front of blocks under these names.
struct norm_places {
    literal attention = "";     ///< in front of attention, a child of its module
    literal intermediate = "";  ///< in front of the feed-forward block, a child of its first half
    literal layer = "";         ///< the same, a child of the layer
    bool drops = true;          ///< the feed-forward block ends with dropout

    [[nodiscard]] constexpr bool behind() const noexcept { return is_empty(attention); }
};

constexpr value normed_where_named(const site& here, trace& t, literal name, const value& x) {
    return is_empty(name) ? x : t.call(name, norm<norm_kind::layer>{here.dims.hidden_size}, x);
}

struct attention_block {
    const site& here;
    norm_places norms{};
    literal inner_type = "SelfAttention";

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const value h =
            t.call("self", self_attention_block{here, inner_type}, normed_where_named(here, t, norms.attention, x));
        return t.call("output", output_block{width, width, here.type("SelfOutput"), norms.behind()}, h, x);
    }
};

struct cross_attention_block : attention_block {
    static constexpr role what = role::cross_attn;
};

struct intermediate_block {
    const site& here;
    literal norm_before = "";

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Intermediate"); }
    constexpr value describe(trace& t, const value& x) const {
        const linear wide{here.dims.hidden_size, here.dims.intermediate_size, true};
        const value h = t.call("dense", wide, normed_where_named(here, t, norm_before, x));
        return t.call("intermediate_act_fn", activation_module{here.dims.hidden_act}, h);
    }
};

/// What a layer's queries see.
[[nodiscard]] constexpr encoder_reach reach_of(const site& here) noexcept { return {here.shared->where, here.shared->mask}; }

}  // namespace bert_layers

/// A decoder's attention to an encoder: parameters, as nothing calls it without an encoder's states.
constexpr void declare_bert_cross_attention(const site& here, trace& t, const value& x,
                                            const bert_layers::norm_places& norms = {},
                                            literal inner_type = "CrossAttention") {
    if (!here.dims.add_cross_attention) return;
    const recorder::idle_guard no_encoder{t};
    shared_values everything = *here.shared;
    everything.where = all_positions(x.dim(1)).where;
    site there = here;
    there.shared = &everything;
    (void)t.call("crossattention", bert_layers::cross_attention_block{{there, norms, inner_type}}, x);
}

/// The attention of a BERT layer, in front of its output projection.
constexpr value attend_as_bert(const site& here, trace& t, const value& x) {
    return attend_within(t, x, here.dims.hidden_size, here.dims.num_attention_heads, true, {}, false,
                         bert_layers::reach_of(here));
}

/// The same with divided scores (MegatronBERT, RemBERT).
constexpr value attend_dividing(const site& here, trace& t, const value& x) {
    const encoder_reach reach = bert_layers::reach_of(here);
    value q, k, v;
    project_in_heads(t, x, here.dims.hidden_size, here.dims.num_attention_heads, {}, q, k, v);
    if (reach.where.causal) k = update_cache(t, k, reach.where), v = update_cache(t, v, reach.where);
    return look_up_dividing(t, q, k, v, reach);
}

/// The feed-forward block of a BERT layer, in two modules.
constexpr value feed_as_bert(const site& here, trace& t, const value& x, const bert_layers::norm_places& norms = {}) {
    const value normed = bert_layers::normed_where_named(here, t, norms.layer, x);
    const value h = t.call("intermediate", bert_layers::intermediate_block{here, norms.intermediate}, normed);
    const bert_layers::output_block out{here.dims.intermediate_size, here.dims.hidden_size, here.type("Output"),
                                        norms.behind(), norms.drops};
    return t.call("output", bert_layers::feed_forward_output{out}, h, x);
}

/// A BERT layer: attention and feed-forward, each with residual and norm.
///
/// Source: transformers/models/bert/modeling_bert.py, `BertLayer`.
constexpr value bert_layer_with(const site& here, trace& t, const value& x, const bert_layers::norm_places& norms,
                                literal crossing = "CrossAttention") {
    const value a = t.call("attention", bert_layers::attention_block{here, norms}, x);
    declare_bert_cross_attention(here, t, a, norms, crossing);
    return feed_as_bert(here, t, a, norms);
}
constexpr value bert_layer(const site& here, trace& t, const value& x) { return bert_layer_with(here, t, x, {}); }

}  // namespace llmcost
