// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/forward/attention.hpp>
#include <llmcost/forward/layers.hpp>
#include <llmcost/layers/hyper_connection.hpp>
#include <llmcost/model/model_spec.hpp>

// DeepSeek V4's attention: a sliding window and compressed entries, each computed from several tokens.
namespace llmcost::arch {

namespace deepseek_v4_detail {

enum family_config_index : std::uint8_t {
    q_rank,
    rope_dim,
    sparse_rate,
    heavy_rate,
    streams,
    steps,
    o_groups,
    o_rank,
    index_heads,
    index_dim,
    index_top_k,
    score,
    weighed_routers
};
inline constexpr family_key family_keys[]{
    {"q_lora_rank", 1024},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},  // tokens per compressed entry in layers with sparse selection
    {.type = family_key_type::computed},  // tokens per compressed entry in layers that use all entries
    {"hc_mult", 4},
    {"hc_sinkhorn_iters", 20},
    {"o_groups", 8, family_key_type::positive, tensor_parallel_split::sharded},
    {"o_lora_rank", 1024},
    {"index_n_heads", 64},
    {"index_head_dim", 128},
    {"index_topk", 512},
    {.type = family_key_type::computed},  // 1 = `scoring_func` is a sigmoid
    {.type = family_key_type::computed},  // number of routers in the load-balancing loss (`output_router_logits`)
};

/// Bits of `family_tag`: the compressed entries that a layer attends to, and expert selection by token id.
inline constexpr std::uint8_t sparse = 1, heavy = 2, hashed = 4;
constexpr std::uint8_t attention_kind_of(const layer_context& ctx) { return ctx.layer.family_tag & 3U; }

/// A norm whose weight `from_pretrained` keeps in float32, as it does for all norms of the model.
constexpr tensor float32_norm(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    const trace::float32_parameters_guard typed{t};
    return apply_norm(ctx, t, name, x.dim(-1), x);
}

/// Rotary cosines and sines of each sequence's positions: (batch, n, dim / 2) each.
struct rotary {
    layer_context ctx;
    std::int64_t batch;
    bool is_second_call = false;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("RotaryEmbedding"); }
    constexpr tensor_pair forward(trace& t, std::int64_t n) const {
        const trace::no_grad_guard quiet{t};
        // `inv_freq` and `original_inv_freq` of the main and of the compressed positions
        if (!is_second_call) t.register_buffer({4, ctx.config.family[rope_dim] / 2}, dtype::float32);
        const tensor angles = t.mul(t.full({batch, n, 1}), trace::buffer({ctx.config.family[rope_dim] / 2}));
        const tensor cos = t.mul_scalar(t.cos(angles)), sin = t.mul_scalar(t.sin(angles));
        return {t.to(cos, t.activation_type()), t.to(sin, t.activation_type())};
    }
};

/// Applies interleaved RoPE in float32 to the last elements of each head: x (B, heads, S, dim).
constexpr tensor apply_rotary(trace& t, const tensor& x, const tensor& cos, const tensor& sin) {
    const tensor c = t.repeat_interleave(cos, -1, 2).unsqueeze(1), s = t.repeat_interleave(sin, -1, 2).unsqueeze(1);
    const std::int64_t part = c.dim(-1);
    const tensor nope = t.slice(x, -1, x.dim(-1) - part), rope = t.slice(x, -1, part);
    const tensor plain = t.mul(t.to(rope, dtype::float32), c);
    const tensor even = t.slice(rope, -1, part / 2, 2), odd = t.neg(t.slice(rope, -1, part / 2, 2));
    const tensor rotated =
        t.cat({odd.unsqueeze(-1), even.unsqueeze(-1)}, -1).view({x.dim(0), x.dim(1), x.dim(2), part});
    const tensor out = t.to(t.add(plain, t.mul(t.to(rotated, dtype::float32), s)), x.type);
    return t.cat({nope, out}, -1);
}

/// Compression windows of a pass: tokens that wait for a complete window, and complete windows.
struct windows {
    std::int64_t rate, waiting, fresh, all, left;

    constexpr windows(trace& t, std::int64_t tokens) : rate(tokens) {
        const std::int64_t past = t.load().past, total = past + t.load().sequence;
        const auto add_window_edges = [&](workload_axis a, std::int64_t position) {
            t.add_region_edge(a, position / rate * rate);
            t.add_region_edge(a, (position / rate + 1) * rate);
        };
        add_window_edges(workload_axis::past, past);
        add_window_edges(workload_axis::total, total);
        // waiting tokens are concatenated with new tokens, unless there are none
        t.add_region_edge(workload_axis::past, past / rate * rate + 1);
        waiting = past % rate;
        fresh = total / rate - past / rate;
        all = total / rate;
        left = total % rate;
    }
};

/// Compresses windows of tokens to one entry each, with a learned gate per element: (B, entries, dim).
///
/// With `overlaps`, a window includes the tokens of the previous window. Entries of earlier passes come from the KV
/// cache.
constexpr tensor compressed(const layer_context& ctx, trace& t, const tensor& x, const windows& w, std::int64_t dim,
                            bool overlaps) {
    const std::int64_t batch = x.dim(0), features = overlaps ? 2 * dim : dim, width = ctx.config.hidden_size;
    tensor bias, kv, gate;
    {
        const recorder::detach_guard unread{t, w.fresh == 0};
        bias = t.float32_param("position_bias", {w.rate, features});
        kv = t.call("kv_proj", linear{width, features}, x);
        gate = t.call("gate_proj", linear{width, features}, x);
    }
    const bool caches = !t.is_training();
    if (caches && w.waiting > 0) {
        kv = t.cat({trace::buffer({batch, w.waiting, features}), kv}, 1);
        gate = t.cat({trace::buffer({batch, w.waiting, features}), gate}, 1);
    }
    const recorder::not_executed_guard none{t, w.fresh == 0};
    const std::int64_t n = w.fresh > 0 ? w.fresh : 1, length = w.fresh > 0 ? w.rate : 0;
    kv = t.slice(kv, 1, n * length);
    gate = t.slice(gate, 1, n * length);
    if (w.fresh == 0) kv = gate = trace::buffer({batch, w.rate, features});
    tensor rows = kv.view({batch, n, w.rate, features}), weights = t.add(gate.view({batch, n, w.rate, features}), bias);
    if (overlaps) {
        const auto spread = [&](const tensor& states) {
            tensor to = t.full({batch, n, 2 * w.rate, dim}, states.type);
            t.copy_into_slice(to, t.slice(states, -1, dim));
            if (n > 1) t.copy_into_slice(to, t.slice(t.slice(states, 1, n - 1), -1, dim));
            if (caches) (void)t.clone(trace::buffer({batch, w.rate, dim}));  // of the last window, for the next pass
            return to;
        };
        const tensor overlapped_rows = spread(rows);
        weights = spread(weights);
        rows = overlapped_rows;
    }
    const tensor parts =
        t.to(t.softmax_method(t.to(weights.transpose(2, 3), dtype::float32)), rows.type).transpose(2, 3);
    const tensor mixed = t.sum(t.mul(rows, parts), 2);
    const tensor normed = float32_norm(ctx, t, "kv_norm", mixed);
    const tensor_pair rotary_angles = t.call("rotary_emb", rotary{ctx, batch}, n);
    const tensor fresh = apply_rotary(t, normed.unsqueeze(1), rotary_angles.first, rotary_angles.second).squeeze(1);
    const std::int64_t num_cached_entries = w.all - w.fresh;
    if (w.fresh == 0) return trace::buffer({batch, num_cached_entries, dim}, x.type);
    return caches && num_cached_entries > 0 ? t.cat({trace::buffer({batch, num_cached_entries, dim}), fresh}, 1)
                                            : fresh;
}

/// Scores all entries with small heads: q (B, S, heads, dim), entries (B, T, dim) -> (B, S, T).
struct scorer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("IndexerScorer"); }
    constexpr tensor forward(trace& t, const tensor& q, const tensor& entries, const tensor& x) const {
        const tensor keys_of = t.to(entries.transpose(-1, -2), dtype::float32).unsqueeze(1);
        const tensor scores = t.mul_scalar(t.relu(t.matmul(t.to(q, dtype::float32), keys_of)));
        const tensor raw = t.call("weights_proj", linear{ctx.config.hidden_size, ctx.config.family[index_heads]}, x);
        return t.sum(t.mul(scores, t.mul_scalar(t.to(raw, dtype::float32)).unsqueeze(-1)), 2);
    }
};

/// Selects entries for each query.
struct indexer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Indexer"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& low, const windows& w) const {
        const recorder::detach_guard picks{t};
        const std::int64_t heads = ctx.config.family[index_heads], dim = ctx.config.family[index_dim],
                           top = ctx.config.family[index_top_k];
        const tensor entries = compressed(ctx, t, x, w, dim, true);
        const tensor_pair rotary_angles = t.call("rotary_emb", rotary{ctx, 1, true}, x.dim(1));
        tensor q = t.call("q_b_proj", linear{ctx.config.family[q_rank], heads * dim}, low);
        q = q.view({x.dim(0), x.dim(1), heads, dim}).transpose(1, 2);
        q = apply_rotary(t, q, rotary_angles.first, rotary_angles.second).transpose(1, 2);
        const recorder::fused_kernel_guard selected{t, {.kind = fused_kernel_kind::index_selection}};
        const tensor scores = t.call("scorer", scorer{ctx}, q, entries, x);
        t.add_region_edge(workload_axis::total, top * w.rate);
        return t.topk(w.all > 0 ? t.masked_fill(scores) : scores, top < w.all ? top : w.all);
    }
};

/// Returns all compressed entries and their mask for the queries: (B, 1, S, entries). Without padding, there is no
/// mask.
struct compressor {
    layer_context ctx;
    const windows& w;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const {
        return ctx.class_of(attention_kind_of(ctx) == sparse ? "CSACompressor" : "HCACompressor");
    }
    constexpr tensor_pair forward(trace& t, const tensor& x, const tensor& low) const {
        const bool picks = attention_kind_of(ctx) == sparse;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const tensor entries = compressed(ctx, t, x, w, ctx.config.head_dim, picks);
        if (picks) {
            (void)t.call("indexer", indexer{ctx}, x, low, w);
            return {entries.unsqueeze(1), t.full({batch, 1, sequence, w.all + 1}, x.type).slice(-1, w.all)};
        }
        if (sequence == 1 || w.all == 0) return {entries.unsqueeze(1), tensor{}};
        return {entries.unsqueeze(1), t.masked_fill(t.full({batch, 1, sequence, w.all}, x.type))};
    }
};

/// Number of visible entries, summed over the first n tokens: complete windows before each token, at most `maximum`.
constexpr count count_visible_entries(std::int64_t n, std::int64_t rate, std::int64_t maximum) {
    const std::int64_t last = rate * maximum - 1, grown = n < last ? n : last, num_full_windows = grown / rate;
    const count growing =
        count(rate) * (count(num_full_windows) * count(num_full_windows > 0 ? num_full_windows - 1 : 0) / 2) +
        count(num_full_windows) * count(grown - num_full_windows * rate + 1);
    return growing + count(n - grown) * count(maximum);
}

/// Attention over the keys of the window and the compressed entries, with a sink. Keys are also values. (B, S, heads,
/// dim).
constexpr tensor attention_with_sinks(const layer_context& ctx, trace& t, const tensor& q, const tensor& kv,
                                      const tensor& mask, const windows* w) {
    const attention_inputs& s = *ctx.inputs;
    const recorder::fused_kernel_guard fused{t, fused_attention_kernel(q, 1, s.pattern, kv.dim(2))};
    const tensor sinks = t.float32_param("sinks", {q.dim(1)});
    std::int64_t pairs = 0;
    if (t.load().attention == attention_scores::causal) {
        pairs = s.pattern.visible_pairs();
        const std::int64_t num_past_tokens = s.pattern.num_previous_tokens;
        if (w != nullptr) {
            const std::int64_t maximum = attention_kind_of(ctx) == sparse ? ctx.config.family[index_top_k] : w->all + 1;
            const count num_compressed_pairs = count_visible_entries(num_past_tokens + q.dim(2), w->rate, maximum) -
                                               count_visible_entries(num_past_tokens, w->rate, maximum);
            pairs += static_cast<std::int64_t>(num_compressed_pairs.to_64());
        }
    }
    const tensor keys_of = repeat_kv(t, kv, q.dim(1)), values_of = repeat_kv(t, kv, q.dim(1));
    tensor scores = t.mul_scalar(t.matmul(q, keys_of.transpose(2, 3), pairs));
    if (pairs == 0) scores = t.add(scores, mask);
    const tensor column = sinks.view({1, q.dim(1), 1, 1}).expand({q.dim(0), q.dim(1), q.dim(2), 1});
    const tensor all = t.cat({scores, column}, -1);
    tensor weights = t.slice(t.softmax(t.sub(all, t.amax(all, -1, true))), -1, kv.dim(2));
    if (pairs != 0) trace::set_visible_pairs(weights, pairs);
    weights = t.to(functional_dropout(t, weights, dropout_position::attention), values_of.type);
    return t.contiguous(t.matmul(weights, values_of).transpose(1, 2));
}

/// Projects groups of heads separately: x (B, S, groups, width) -> (B, S, groups, rank).
struct grouped_linear {
    std::int64_t groups, width, rank;
    literal prefix;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "GroupedLinear"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {groups * rank, width}).view({groups, rank, width}).transpose(1, 2);
        const tensor rows = t.reshape(x, {-1, groups, width}).transpose(0, 1);
        return t.reshape(t.bmm(rows, weight).transpose(0, 1), {x.dim(0), x.dim(1), groups, rank});
    }
};

/// Adds the cache entries other than the window's keys, in the order of `DeepseekV4CSACache`.
constexpr void cache_windows(const layer_context& ctx, trace& t, const windows& w, std::int64_t batch) {
    if (t.is_training()) return;
    const bool picks = attention_kind_of(ctx) == sparse;
    const std::int64_t head_dims[2] = {ctx.config.head_dim, ctx.config.family[index_dim]};
    const int n = picks ? 2 : 1;
    for (int twice = 0; twice < 2; ++twice)
        for (int i = 0; i < n; ++i)
            t.add_to_cache(trace::buffer({batch, w.left, picks ? 2 * head_dims[i] : head_dims[i]}));
    for (int i = 0; i < n; ++i) t.add_to_cache(trace::buffer({batch, w.all, head_dims[i]}));
    for (int twice = 0; picks && w.all > 0 && twice < 2; ++twice)
        for (int i = 0; i < n; ++i) t.add_to_cache(trace::buffer({batch, w.rate, head_dims[i]}));
}

/// Self-attention with many query heads and one key/value head, over a sliding window and compressed entries.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const family_config& family = ctx.config.family;
    const std::int64_t heads = ctx.config.num_attention_heads, d = ctx.config.head_dim, width = ctx.config.hidden_size;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1);
    const bool is_sliding_only = attention_kind_of(ctx) == 0;
    const tensor& cos = ctx.inputs->family_tensors[is_sliding_only ? 0 : 2];
    const tensor& sin = ctx.inputs->family_tensors[is_sliding_only ? 1 : 3];
    const tensor low = float32_norm(ctx, t, "q_a_norm", t.call("q_a_proj", linear{width, family[q_rank]}, x));
    tensor q =
        t.call("q_b_proj", linear{family[q_rank], heads * d}, low).view({batch, sequence, heads, d}).transpose(1, 2);
    q = t.call("q_b_norm", unweighted_norm{ctx.class_of("UnweightedRMSNorm")}, q);
    q = apply_rotary(t, q, cos, sin);
    const tensor one = float32_norm(ctx, t, "kv_norm", t.call("kv_proj", linear{width, d}, x));
    const tensor fresh = apply_rotary(t, one.view({batch, sequence, 1, d}).transpose(1, 2), cos, sin);
    tensor kv = update_kv_cache(t, fresh, ctx.inputs->pattern), mask = ctx.inputs->mask;
    tensor found;
    if (is_sliding_only) {
        (void)update_kv_cache(t, fresh, ctx.inputs->pattern);  // values, which are not read
        found = attention_with_sinks(ctx, t, q, kv, mask, nullptr);
    } else {
        const windows w{t, family[attention_kind_of(ctx) == sparse ? sparse_rate : heavy_rate]};
        const tensor_pair compressed = t.call("compressor", compressor{ctx, w}, x, low);
        cache_windows(ctx, t, w, batch);
        kv = t.cat({kv, compressed.first}, 2);
        if (w.all > 0)
            mask = compressed.second.rank > 0 ? t.cat({mask, t.to(compressed.second, mask.type)}, -1)
                                              : t.pad(mask, -1, w.all);
        found = attention_with_sinks(ctx, t, q, kv, mask, &w);
    }
    const tensor attention_output = apply_rotary(t, found.transpose(1, 2), cos, t.neg(sin)).transpose(1, 2);
    const grouped_linear o_a_proj{family[o_groups], heads * d / family[o_groups], family[o_rank],
                                  ctx.spec.class_prefix};
    const tensor grouped =
        t.call("o_a_proj", o_a_proj, t.reshape(attention_output, {batch, sequence, family[o_groups], -1}));
    return t.call("o_b_proj", linear{family[o_groups] * family[o_rank], width},
                  t.reshape(grouped, {batch, sequence, -1}));
}

}  // namespace deepseek_v4_detail

}  // namespace llmcost::arch
