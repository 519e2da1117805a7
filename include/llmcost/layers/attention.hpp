// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/activation.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// Which of the last tokens a window shows to a query.
enum class window_kind : std::uint8_t {
    sliding,  ///< so many, its own included
    chunked   ///< those of its chunk of so many, counted from the first token of all
};

/// What a layer's queries see: how many positions its cache brings along, and through which window.
struct context {
    std::int64_t sequence = 0;  ///< new tokens
    std::int64_t past = 0;      ///< positions that the cache holds for this layer
    std::int64_t window = 0;    ///< in tokens, its own position included; 0: everything
    std::int64_t seen = 0;      ///< tokens before this run, cached or already forgotten
    bool causal = true;
    window_kind kind = window_kind::sliding;

    [[nodiscard]] constexpr std::int64_t length() const noexcept { return past + sequence; }
    /// Visible (query, key) pairs: Σ min(seen + i, window) over the new tokens i = 1 … sequence, in chunks
    /// Σ (seen + i − 1) mod window + 1.
    [[nodiscard]] constexpr std::int64_t visible_pairs() const {
        if (window != 0 && kind == window_kind::chunked)
            return as_pairs(pairs_of_first(seen + sequence) - pairs_of_first(seen));
        const count s(sequence), p(seen);
        if (window == 0 || seen + sequence <= window) return as_pairs(s * p + s * (s + 1) / 2);
        const std::int64_t growing = seen < window ? window - seen : 0;  // queries that see less than a whole window
        const count g(growing);
        return as_pairs(g * p + g * (g + 1) / 2 + (s - g) * count(window));
    }

private:
    /// Pairs of the first n tokens in chunks: whole ones, and what the last one has of them.
    [[nodiscard]] constexpr count pairs_of_first(std::int64_t n) const {
        const count chunk(window), rest(n % window);
        return count(n / window) * (chunk * (chunk + 1) / 2) + rest * (rest + 1) / 2;
    }
    static constexpr std::int64_t as_pairs(count n) {
        if (n.to_wide() >> 63 != 0) report_overflow();
        return static_cast<std::int64_t>(n.to_64());
    }
};

/// The context of a layer with this window (0: none) in a workload; a full cache of a window holds window − 1 positions.
///
/// Source: transformers/cache_utils.py, to which sliding and chunked layers are the same; their masks differ.
constexpr context context_of(recorder& r, std::int64_t window, window_kind kind = window_kind::sliding) {
    const workload& load = r.load();
    if (window > 0) {
        for (const axis a : {axis::past, axis::total}) r.edge(a, window - 1), r.edge(a, window);
    }
    if (window > 0 && kind == window_kind::chunked && load.attention == attention_scores::causal) {
        const auto around = [&](axis a, std::int64_t at) {
            r.edge(a, at / window * window), r.edge(a, (at / window + 1) * window);
        };
        around(axis::past, load.past), around(axis::total, load.past + load.sequence);  // who sees what bends at each chunk
    }
    const std::int64_t held = window > 0 && load.past > window - 1 ? window - 1 : load.past;
    return {load.sequence, held, window, load.past, true, kind};
}

/// The additive mask that eager attention builds from a boolean one: (batch, 1, sequence, length).
///
/// Written besides: the zero and the lowest number it chooses from (transformers/masking_utils.py, `eager_mask`).
constexpr value eager_mask(trace& t, const context& c, std::int64_t batch) {
    if (t.load().implementation == attention_implementation::sdpa) return {};  // causal by itself
    t.written(2);
    return t.constant({batch, 1, c.sequence, c.length()}, t.activation_type());
}

/// Appends new keys or values (batch, heads, sequence, dim) to what the cache holds and returns all of them.
///
/// A window leaves its last window − 1 positions in the cache (transformers/cache_utils.py, `DynamicSlidingWindowLayer`).
/// A training step asks for no cache, but of heads that cannot be asked.
constexpr value update_cache(trace& t, const value& fresh, const context& c) {
    const extents sizes{fresh.dim(0), fresh.dim(1), c.past, fresh.dim(3)};
    if (t.training() && !t.drops_cache()) {
        value past;
        const bool remembers = c.past > 0 && t.policy() != nullptr && t.policy()->remembers(t, sizes, past);
        return remembers ? t.cat({past, fresh}, 2) : fresh;
    }
    const recorder::fused_guard appended{t, {.kind = fused_kind::cache}};
    const value all = c.past > 0 ? t.cat({trace::buffer(sizes), fresh}, 2) : t.cat({fresh}, 2);
    const bool cut = c.window > 1 && all.dim(2) > c.window - 1;
    t.cache(cut ? all.slice(2, c.window - 1) : all);
    return all;
}

/// (batch, kv heads, length, dim) -> (batch, heads, length, dim): every head of a group gets a copy.
constexpr value repeat_kv(trace& t, const value& x, std::int64_t groups) {
    if (groups == 1) return x;
    const value spread = x.unsqueeze(2).expand({x.dim(0), x.dim(1), groups, x.dim(2), x.dim(3)});
    return t.reshape(spread, {x.dim(0), x.dim(1) * groups, x.dim(2), x.dim(3)});
}

/// What a fused attention is told: q (B, H, S, d) over keys of so many heads, as many as a context shows, or `length`.
[[nodiscard]] constexpr fused_part fused_attention(const value& q, std::int64_t kv_heads, const context& c,
                                                   std::int64_t length) {
    return {.kind = fused_kind::attention,
            .batch = q.dim(0),
            .sequence = q.dim(2),
            .past = c.causal ? c.seen : length - q.dim(2),
            .window = c.causal ? c.window : 0,
            .causal = c.causal,
            .heads = q.dim(1),
            .kv_heads = kv_heads,
            .head_dim = q.dim(3)};
}

/// What an attention does to its scores beside scaling them.
struct score_options {
    bool scale = true;             ///< scores times a constant after q · kᵀ
    bool soft_cap = false;         ///< tanh(s / cap) · cap
    const value* bias = nullptr;   ///< of positions, added before the mask
    const value* mask = nullptr;   ///< added where there is one
    const value* sinks = nullptr;  ///< one logit per head that takes part in the softmax only
    bool float_softmax = true;     ///< softmax in float32, cast back
    std::int64_t beside = 0;       ///< keys behind those of the context, which every query sees
};

/// `scaled_dot_product_attention` as PyTorch executes it where no fused kernel takes it, and its CPU where probabilities are
/// dropped: product by product, in float32; their mask is kept beside them and what is left of them. The heads stay first.
///
/// Source: ATen's transformers/attention.cpp, `_scaled_dot_product_attention_math`; no autocast reaches its inside.
constexpr value attention_heads_by_parts(trace& t, const value& wide_q, const value& wide_k, const value& wide_v,
                                         const context& c) {
    const value q = t.narrowed(wide_q), k = t.narrowed(wide_k), v = t.narrowed(wide_v);
    workload inside = t.load();
    inside.autocast = false;
    const recorder::workload_guard as_float{t, inside};
    const auto widened = [&](const value& x) { return t.to(x, dtype::float32); };
    const value queries = t.mul(widened(q)), wide_keys = widened(k), wide_values = widened(v);
    const value mask = c.causal ? t.constant({c.sequence, c.length()}) : value{};
    const std::int64_t groups = q.dim(1) / k.dim(1);
    const value keys = repeat_kv(t, wide_keys, groups), values = repeat_kv(t, wide_values, groups);
    value scores = t.matmul(queries, t.mul(keys.transpose(2, 3)));
    if (c.causal) scores = t.add(scores, mask);
    const value seen = drop(t, t.softmax(scores), dropout_of::attention);
    if (q.type != dtype::float32) {  // handed out, and read by nobody
        const recorder::off_loss_guard unread{t};
        (void)t.to(seen, q.type);
    }
    return t.to(t.matmul(seen, values), q.type);
}
/// The same with the heads behind the positions.
constexpr value attention_by_parts(trace& t, const value& q, const value& k, const value& v, const context& c) {
    return t.contiguous(attention_heads_by_parts(t, q, k, v, c).transpose(1, 2));
}

/// The same where nothing is dropped, causal or over everything, the heads first: scores stay inside, their log-sum-exp is
/// kept.
///
/// Backward makes five products (torch/utils/flop_counter.py, `sdpa_backward_flop_count`), of scores that are made again:
/// times the scale, less the sum, exp; each row's gradient times its result, which is subtracted; times the probability and
/// the scale.
constexpr value attention_heads_in_one_call(trace& t, const value& wide_q, const value& wide_k, const value& wide_v,
                                            const context& c, const score_options& how) {
    const bool windowed = c.window > 0 && c.window < c.length();
    // kernels of engines do all of it in one call; PyTorch's own, whose savings backward reads, does not
    if (t.training() && (how.soft_cap || how.bias != nullptr || how.sinks != nullptr || windowed))
        report_description("scaled_dot_product_attention has no scores to change and no window: eager is described");
    if (t.drops(dropout_of::attention)) return attention_heads_by_parts(t, wide_q, wide_k, wide_v, c);
    value q = t.narrowed(wide_q), k = t.narrowed(wide_k), v = t.narrowed(wide_v);
    const count pairs = count(q.elements / static_cast<std::uint64_t>(q.dim(3))) * count(k.dim(2));
    const count d(q.dim(3)), width(v.dim(3));
    const value* const in[3] = {&q, &k, &v};
    const recorder::call_guard call{t, {torch_function::attention, in, 3}};
    {
        const recorder::inside_guard inside{t};
        const std::int64_t groups = q.dim(1) / k.dim(1);
        const value scores = t.mul(t.matmul(q, repeat_kv(t, k, groups).transpose(2, 3)));
        (void)t.matmul(t.softmax(scores), repeat_kv(t, v, groups));
    }
    const std::uint64_t rows = q.elements / static_cast<std::uint64_t>(q.dim(3));
    t.written(rows);  // log-sum-exp
    // laid out as the queries: (batch, sequence, heads, dim) in memory, unless they were joined or copied
    value out = dense({q.dim(0), q.dim(1), q.dim(2), v.dim(3)}, q.type);
    if (!q.is_contiguous()) out = dense({q.dim(0), q.dim(2), q.dim(1), v.dim(3)}, q.type).transpose(1, 2);
    const bool goes_back = q.requires_grad || k.requires_grad || v.requires_grad;
    if (goes_back) {
        for (value each : {q, k, v}) each.requires_grad = true, t.save_for_backward(each);
        t.save_besides(count(rows) * count(4));
        const count products = pairs * (d * count(3) + width * count(2));
        t.backward_torch_flops(products * count(2));
        const count of_rows = count(rows) * width, results = count(q.elements) + count(k.elements) + count(v.elements);
        t.backward({.add = products + of_rows - count(rows) - results,
                    .mult = products + pairs * count(3) + of_rows,
                    .exp = pairs});
    }
    t.record(op::attention, {}, {}, out, in, 3);
    return out;
}
/// The same with the heads behind the positions, as Transformers hands it on.
constexpr value attention_in_one_call(trace& t, const value& q, const value& k, const value& v, const context& c,
                                      const score_options& how) {
    return t.contiguous(attention_heads_in_one_call(t, q, k, v, c, how).transpose(1, 2));
}

/// Attention as eager executes it: q (B, H, S, d), k and v (B, H or kv heads, T, d) -> context (B, S, H, d).
///
/// MULT B·H·S·T·(d + d_v) + B·H·S·T, ADD the same without the last products' first, softmax over T; under causal
/// scores the S·T pairs of a head are the visible ones.
constexpr value eager_attention(trace& t, const value& q, const value& k, const value& v, const context& c,
                                const score_options& how) {
    // with keys beside, a call or a kernel sees no pattern
    const context all{.sequence = q.dim(2), .past = k.dim(2) - q.dim(2), .causal = false};
    const context& seen = how.beside > 0 ? all : c;
    if (t.load().implementation == attention_implementation::sdpa) return attention_in_one_call(t, q, k, v, seen, how);
    const recorder::fused_guard fused{t, fused_attention(q, k.dim(1), seen, k.dim(2))};
    const std::int64_t groups = q.dim(1) / k.dim(1);
    const value keys = repeat_kv(t, k, groups), values = repeat_kv(t, v, groups);
    const bool sparse = c.causal && t.load().attention == attention_scores::causal;
    value scores = t.matmul(q, keys.transpose(2, 3), sparse ? c.visible_pairs() + c.sequence * how.beside : 0);
    if (how.scale) scores = t.mul(scores);
    if (how.soft_cap) scores = t.mul(t.tanh(t.div(scores)));
    if (how.bias != nullptr) scores = t.add(scores, *how.bias);
    if (how.mask != nullptr && !sparse) scores = t.add(scores, *how.mask);
    if (how.sinks != nullptr) {
        const value column = how.sinks->view({1, q.dim(1), 1, 1}).expand({q.dim(0), q.dim(1), q.dim(2), 1});
        const value with = t.cat({scores, column}, -1);
        const value probabilities = t.softmax(t.sub(with, t.max_over(with, -1, true)));
        const std::int64_t pairs = scores.visible;
        scores = t.slice(probabilities, -1, c.length());
        if (pairs != 0) trace::see(scores, pairs);
    } else {
        scores = how.float_softmax ? t.to(t.softmax(t.to(scores, dtype::float32)), q.type) : t.softmax(scores);
    }
    scores = drop(t, scores, dropout_of::attention);
    return t.contiguous(t.matmul(scores, values).transpose(1, 2));
}

}  // namespace llmcost
