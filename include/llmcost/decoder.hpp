// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/architecture.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/gated_delta_net.hpp>
#include <llmcost/layers/heads.hpp>
#include <llmcost/layers/latent_attention.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/short_convolution.hpp>
#include <llmcost/layers/state_space.hpp>

namespace llmcost {

/// What the model makes once and every layer reads: masks and rotary tables.
struct shared_values {
    context where{};
    value mask{};
    value cos{};
    value sin{};
};

/// Self-attention with separate or fused projections, grouped heads, norms of queries and keys, rotary positions.
///
/// x (B, S, hidden) -> (B, S, hidden); see `eager_attention` for the price of the scores.
struct self_attention {
    const architecture& row;
    const shape& dims;
    const shared_values& shared;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "Attention"}; }

    constexpr value describe(trace& t, const value& x) const {
        const decoder_names& n = row.names;
        const std::int64_t d = dims.head_dim, heads = dims.num_attention_heads, kv_heads = dims.num_key_value_heads;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const std::int64_t wide = heads * d, narrow = kv_heads * d;
        const bool norms_whole = row.qk_norm == qk_norm_kind::whole;
        const auto projected = [&](literal name, std::int64_t to) {
            return t.call(name, linear{dims.hidden_size, to, dims.attention_bias}, x);
        };
        value q, k, v, gate;
        if (row.fused_qkv && !row.gates_attention) {
            const value all = projected(n.q, wide + 2 * narrow);
            q = t.slice(all, -1, wide);
            k = t.slice(all, -1, narrow);
            v = t.slice(all, -1, narrow);
        } else {
            q = projected(n.q, row.gates_attention ? 2 * wide : wide);
            if (row.gates_attention) {
                q = q.view({batch, sequence, heads, 2 * d}).slice(-1, d);
                gate = t.reshape(q, {batch, sequence, -1});
            }
            if (norms_whole) q = normed(t, n.q_norm, wide, q);
            k = projected(n.k, narrow);
            if (norms_whole) k = normed(t, n.k_norm, narrow, k);
            v = projected(n.v, narrow);
        }
        if (dims.clips_qkv) t.in_place(op::clamp, q), t.in_place(op::clamp, k), t.in_place(op::clamp, v);
        q = q.view({batch, sequence, heads, d});
        k = k.view({batch, sequence, kv_heads, d});
        if (row.qk_norm == qk_norm_kind::per_head) {
            q = normed(t, n.q_norm, d, q);
            k = normed(t, n.k_norm, d, k);
        } else if (row.qk_norm == qk_norm_kind::weight_per_head && dims.qk_norm) {
            q = normed(t, n.q_norm, d, q, heads);
            k = normed(t, n.k_norm, d, k, kv_heads);
        }
        q = q.transpose(1, 2);
        k = k.transpose(1, 2);
        if (row.qk_norm == qk_norm_kind::per_head_transposed) {
            q = normed(t, n.q_norm, d, q);
            k = normed(t, n.k_norm, d, k);
        } else if (row.qk_norm == qk_norm_kind::module_per_head && dims.qk_norm) {
            q = t.call(n.q_norm, norm_of_each_head{heads, d, {row.prefix, "LayerNormPerHead"}}, q);
            k = t.call(n.k_norm, norm_of_each_head{kv_heads, d, {row.prefix, "LayerNormPerHead"}}, k);
        }
        q = turned(t, q);
        k = turned(t, k);
        v = v.view({batch, sequence, kv_heads, d}).transpose(1, 2);
        k = update_cache(t, k, shared.where);
        v = update_cache(t, v, shared.where);
        value sinks;
        if (row.sinks) sinks = t.param("sinks", {heads});
        const score_options how{
            .soft_cap = dims.attention_soft_cap, .mask = &shared.mask, .sinks = row.sinks ? &sinks : nullptr};
        const value mixed = eager_attention(t, q, k, v, shared.where, how);
        value flat = t.contiguous(t.reshape(mixed, {batch, sequence, -1}));
        if (row.gates_attention) flat = t.mul(flat, t.sigmoid(gate));
        return t.call(n.o, linear{heads * d, dims.hidden_size, dims.output_bias}, flat);
    }

private:
    constexpr value normed(trace& t, literal name, std::int64_t width, const value& x, std::int64_t groups = 0) const {
        return call_norm(t, name, row.norm, width, {row.prefix, row.names.norm_type}, x, true, groups);
    }
    constexpr value turned(trace& t, const value& x) const {
        if (row.rotated == rotation::none) return x;
        return rotate_part(t, row.rotated, x, dims.rotary_dim, shared.cos, shared.sin, row.joins_rotated);
    }
};

/// Attention with a low-rank cache, its rotation chosen by row and configuration.
constexpr value call_latent_attention(trace& t, const architecture& row, const shape& dims, const shared_values& shared,
                                      const value& x) {
    const rotation in_pairs = dims.rope_interleave ? rotation::split_pairs : rotation::half;
    const rotation rotated = row.rotated == rotation::complex_pairs ? rotation::complex_pairs : in_pairs;
    const latent_attention layer{dims.hidden_size, dims.num_attention_heads,
                                 dims.mla,         dims.attention_bias,
                                 row.prefix,       shared.where,
                                 shared.mask,      shared.cos,
                                 shared.sin,       rotated};
    return t.call(row.names.attention, layer, x);
}

/// A dense feed-forward block of a row, under this name and with this inner width.
constexpr value call_mlp(trace& t, const architecture& row, const shape& dims, literal name, std::int64_t inner,
                         const value& x) {
    const literal prefix = is_empty(row.names.mlp_prefix) ? row.prefix : row.names.mlp_prefix;
    const any_mlp block{row.feed_forward, dims.hidden_size, inner,        dims.hidden_act,
                        {prefix, "MLP"},  dims.mlp_bias,    row.names.mlp};
    return t.call(name, block, x);
}

/// Router, routed experts and what stands beside them.
struct moe_block {
    const architecture& row;
    const shape& dims;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, row.names.moe_type}; }
    constexpr value describe(trace& t, const value& x) const {
        const moe_shape& m = dims.moe;
        const value tokens = x.view({-1, dims.hidden_size});
        value beside;
        if (row.shared_experts == shared_expert_kind::gated)
            beside = call_mlp(t, row, dims, "shared_expert", m.shared_intermediate_size, tokens);
        const value weights = call_router(t, tokens);
        const value routed = call_experts(t, tokens, weights);
        if (row.shared_experts == shared_expert_kind::gated) {
            const value gate = t.sigmoid(t.call("shared_expert_gate", linear{dims.hidden_size, 1}, tokens));
            return t.add(routed, t.mul(gate, beside)).view({x.dim(0), x.dim(1), dims.hidden_size});
        }
        const value out = routed.view({x.dim(0), x.dim(1), dims.hidden_size});
        if (row.shared_experts == shared_expert_kind::none || m.shared_intermediate_size == 0) return out;
        return t.add(out, call_mlp(t, row, dims, "shared_experts", m.shared_intermediate_size, x));
    }

private:
    constexpr value call_router(trace& t, const value& tokens) const {
        const moe_shape& m = dims.moe;
        const router_shape r{
            dims.hidden_size, m.num_experts,   m.num_experts_per_tok, m.n_group,
            m.topk_group,     m.limits_groups, m.norm_topk_prob,      row.router == router_kind::top_k_softmax};
        return t.call(row.names.router, any_router{row.router, r, {row.prefix, row.names.router_type}}, tokens).second;
    }
    constexpr value call_experts(trace& t, const value& tokens, const value& weights) const {
        const moe_shape& m = dims.moe;
        const routed_rows all{dims.hidden_size,      m.intermediate_size, m.num_experts,
                              m.num_experts_per_tok, dims.hidden_act,     {row.prefix, "Experts"}};
        if (row.expert == expert_kind::gated) return t.call("experts", experts<expert_kind::gated>{all}, tokens, weights);
        return t.call("experts", experts<expert_kind::clamped_swiglu>{all}, tokens, weights);
    }
};

/// A decoder layer: norms, attention, residual, feed-forward, residual, in the row's order.
struct decoder_layer {
    const architecture& row;
    const shape& dims;
    const shared_values& shared;
    layer_kind kind;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const {
        return {row.prefix, kind.mixer == mixer_kind::linear ? row.names.linear_layer_type : row.names.layer_type};
    }

    constexpr value describe(trace& t, const value& x) const {
        const decoder_names& n = row.names;
        if (row.placement == norm_placement::parallel || dims.parallel_residual) {
            const value h = normed(t, n.norm_1, x);
            const value a = mixed(t, h);
            const value f = dropped(t, n.feed_forward_dropout, fed(t, h));
            return t.add(t.add(x, a), f);
        }
        const bool before = row.placement != norm_placement::after, after = row.placement != norm_placement::before;
        value h = before ? normed(t, n.norm_1, x) : x;
        h = mixed(t, h);
        h = dropped(t, n.attention_dropout, h);
        if (after) h = normed(t, n.norm_2, h);
        const value middle = residual(t, x, h);
        h = before ? normed(t, after ? n.norm_3 : n.norm_2, middle) : middle;
        h = dropped(t, n.feed_forward_dropout, fed(t, h));
        if (after) h = normed(t, n.norm_4, h);
        return residual(t, middle, h);
    }

private:
    constexpr value mixed(trace& t, const value& x) const {
        if (kind.mixer == mixer_kind::linear) return mixed_linearly(t, x);
        if (row.latent) return call_latent_attention(t, row, dims, shared, x);
        return t.call(row.names.attention, self_attention{row, dims, shared}, x);
    }
    constexpr value mixed_linearly(trace& t, const value& x) const {
        if (row.mixer == linear_mixer::short_convolution) {
            const short_convolution layer{dims.hidden_size, dims.ssm.conv_kernel, dims.ssm.use_bias, row.prefix};
            return t.call(row.names.linear_mixer, layer, x);
        }
        if (row.mixer == linear_mixer::selective_state_space) {
            const selective_state_space layer{dims.hidden_size,     dims.ssm,
                                              dims.hidden_act,      {row.prefix, "MambaMixer"},
                                              state_norm::weighted, {row.prefix, row.names.norm_type}};
            return t.call(row.names.linear_mixer, layer, x);
        }
        const delta_shape& d = dims.delta;
        const delta_rule_shape rule{dims.hidden_size, d.num_key_heads, d.num_value_heads, d.key_head_dim,
                                    d.value_head_dim, d.conv_kernel,   dims.hidden_act};
        const gated_delta_net layer{rule, row.prefix, row.mixer == linear_mixer::gated_delta_apart};
        return t.call(row.names.linear_mixer, layer, x);
    }
    constexpr value fed(trace& t, const value& x) const {
        if (kind.experts) return t.call(row.names.feed_forward, moe_block{row, dims}, x);
        return call_mlp(t, row, dims, row.names.feed_forward, dims.intermediate_size, x);
    }
    constexpr value normed(trace& t, literal name, const value& x) const {
        return call_norm(t, name, row.norm, dims.hidden_size, {row.prefix, row.names.norm_type}, x, row.norm_bias);
    }
    static constexpr value dropped(trace& t, literal name, const value& x) {
        return is_empty(name) ? x : dropout(t, name, x);
    }
    constexpr value residual(trace& t, const value& x, const value& h) const {
        return t.add(x, row.scales_residual ? t.mul(h) : h);
    }
};

/// The positions a head looks at: all, the last one, or none.
constexpr value kept_positions(trace& t, const value& x) { return t.load().head == logits::last ? t.slice(x, 1, 1) : x; }

/// What full and sliding layers read, made once in front of them.
struct decoder_context {
    shared_values full{};
    shared_values sliding{};
};

/// The masks and rotary tables of a row, in its order.
constexpr decoder_context describe_context(const architecture& row, const shape& dims, trace& t) {
    const workload& load = t.load();
    decoder_context c;
    c.full.where = context_of(t, 0);
    c.sliding.where = context_of(t, dims.sliding_window);
    c.full.where.causal = c.sliding.where.causal = !dims.looks_ahead;
    const bool slides = dims.layers.has(mixer_kind::sliding_attention, dims.num_hidden_layers);
    const bool full = dims.layers.has(mixer_kind::full_attention, dims.num_hidden_layers);
    // as long as the cache of a layer that reads it, or where none does, of the first (masking_utils.py, `layer_idx`)
    const context& longest = slides && !full ? c.sliding.where : c.full.where;
    const context& shortest = slides ? c.sliding.where : c.full.where;
    if (row.masks != mask_rule::by_window || full) c.full.mask = eager_mask(t, longest, load.batch);
    if (row.masks == mask_rule::full_and_sliding || slides) c.sliding.mask = eager_mask(t, shortest, load.batch);
    if (row.rotated == rotation::none) return c;
    const class_name rotary{row.prefix, row.names.rotary_type};
    const rotary_table table{dims.rotary_dim, rotary, rotary_frequencies{dims}, row.rotated, row.axes};
    const auto make = [&](shared_values& into) {
        if (row.rotated == rotation::complex_pairs) {
            into.cos = t.call(row.names.rotary, complex_rotary_table{dims.rotary_dim, table.named, table.frequencies},
                              load.sequence);
            return;
        }
        const auto tables = t.call(row.names.rotary, table, load.sequence);
        into.cos = tables.first;
        into.sin = tables.second;
    };
    if (full || !row.rotary_per_mixer) make(c.full);
    if (row.rotary_per_mixer && slides) make(c.sliding);
    if (!row.rotary_per_mixer) c.sliding.cos = c.full.cos, c.sliding.sin = c.full.sin;
    return c;
}

/// Embedding, masks and tables, layers, last norm: the model under a head, or on its own.
constexpr value describe_base(const architecture& row, const shape& dims, trace& t) {
    const workload& load = t.load();
    const literal type = row.names.embedding_type;
    const embedding words{dims.vocab_size, dims.hidden_size, row.scales_in_embedding,
                          is_empty(type) ? class_name{"", "Embedding"} : class_name{row.prefix, type}};
    value x = t.call(row.names.embed_tokens, words, extents{load.batch, load.sequence});
    if (row.scales_embedding) x = t.mul(x);
    const decoder_context shared = describe_context(row, dims, t);
    for (repetition layer = t.repeat(dims.num_hidden_layers, dims.layers, x); layer.next();) {
        const shared_values& mine = layer.kind().mixer == mixer_kind::sliding_attention ? shared.sliding : shared.full;
        x = t.call({row.names.layers, layer.index()}, decoder_layer{row, dims, mine, layer.kind()}, x);
    }
    return call_norm(t, row.names.norm, row.norm, dims.hidden_size, {row.prefix, row.names.norm_type}, x, row.norm_bias);
}

/// The head of a decoder over its last hidden states; (B, S, width) -> logits.
///
/// Source: transformers/modeling_layers.py, `GenericForSequenceClassification` and its relatives.
constexpr value describe_head(const architecture& row, const shape& dims, trace& t, const value& x) {
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    const auto score = [&](literal name, std::int64_t labels, bool bias, const value& h) {
        return t.call(name, head_linear{{x.dim(-1), labels, bias}}, h);
    };
    switch (dims.head) {
        case head_kind::sequence_classification: {
            const value all = score("score", dims.num_labels, false, x);
            return t.gather(all, {x.dim(0), dims.num_labels});
        }
        case head_kind::token_classification:
            return score(row.names.token_classifier, dims.num_labels, true, dropout(t, "dropout", x));
        case head_kind::question_answering: return answer_scores(t, x);
        default: break;
    }
    const linear head{x.dim(-1), dims.vocab_size, dims.head_bias, dims.tie_word_embeddings};
    value out = t.call(row.names.lm_head, head_linear{head}, kept_positions(t, x));
    if (row.scales_logits) out = t.mul(out);
    if (row.divides_logits) out = t.div(out);
    if (dims.logits_soft_cap) out = t.mul(t.tanh(t.div(out)));
    const recorder::off_loss_guard unread{t};  // the balance is added to a loss over labels
    if (dims.moe.weighs_balance)
        weigh_balance(t, dims.layers.with_experts(dims.num_hidden_layers), x.dim(0) * x.dim(1), dims.moe);
    return out;
}

/// A base model, bare or under its head.
constexpr value describe_under_head(const architecture& row, const shape& dims, trace& t, model_part base) {
    const class_name type{row.prefix, row.names.model_type};
    if (dims.head == head_kind::none) return describe_within({.type = type}, base, row, dims, t);
    const bool answers = dims.head == head_kind::question_answering;
    const literal name = answers ? row.names.base_under_answers : row.names.base;
    const module_info whole{
        .type = {row.prefix, dims.head == head_kind::causal_lm ? row.names.causal_lm_type : name_of(dims.head)}};
    t.enter(whole);
    // modeling_layers.py: what these two return has no `past_key_values`
    const trace::dropped_cache_guard dropped{t, answers || dims.head == head_kind::token_classification};
    const value x = describe_within({.name = name, .type = type}, base, row, dims, t);
    return t.leave(whole, t.returns(x, describe_head(row, dims, t, x)));
}

/// A decoder, bare or under its head: what most `model_type`s are.
constexpr value describe_decoder(const architecture& row, const shape& dims, trace& t) {
    return describe_under_head(row, dims, t, describe_base);
}

}  // namespace llmcost
