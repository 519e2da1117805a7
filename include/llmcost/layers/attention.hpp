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
struct attention_pattern {
    std::int64_t query_length = 0;         ///< new tokens
    std::int64_t cached_length = 0;        ///< positions that the cache holds for this layer
    std::int64_t window = 0;               ///< in tokens, its own position included; 0: everything
    std::int64_t num_previous_tokens = 0;  ///< tokens before this run, cached or already forgotten
    bool is_causal = true;
    window_kind kind = window_kind::sliding;

    [[nodiscard]] constexpr std::int64_t key_length() const noexcept { return cached_length + query_length; }
    /// Visible (query, key) pairs: Σ min(seen + i, window) over the new tokens i = 1 … sequence, in chunks
    /// Σ (seen + i − 1) mod window + 1.
    [[nodiscard]] constexpr std::int64_t visible_pairs() const {
        if (window != 0 && kind == window_kind::chunked)
            return as_pairs(pairs_of_first_tokens(num_previous_tokens + query_length) -
                            pairs_of_first_tokens(num_previous_tokens));
        const count s(query_length), p(num_previous_tokens);
        if (window == 0 || num_previous_tokens + query_length <= window) return as_pairs(s * p + s * (s + 1) / 2);
        const std::int64_t growing = num_previous_tokens < window ? window - num_previous_tokens
                                                                  : 0;  // queries that see less than a whole window
        const count g(growing);
        return as_pairs(g * p + g * (g + 1) / 2 + (s - g) * count(window));
    }

private:
    /// Pairs of the first n tokens in chunks: whole ones, and what the last one has of them.
    [[nodiscard]] constexpr count pairs_of_first_tokens(std::int64_t n) const {
        const count chunk(window), rest(n % window);
        return count(n / window) * (chunk * (chunk + 1) / 2) + rest * (rest + 1) / 2;
    }
    static constexpr std::int64_t as_pairs(count n) {
        if (n.to_uint128() >> 63 != 0) throw_overflow_error();
        return static_cast<std::int64_t>(n.to_64());
    }
};

/// The context of a layer with this window (0: none) in a workload; a full cache of a window holds window − 1
/// positions.
///
/// Source: transformers/cache_utils.py, to which sliding and chunked layers are the same; their masks differ.
constexpr attention_pattern attention_pattern_of(recorder& r, std::int64_t window,
                                                 window_kind kind = window_kind::sliding) {
    const workload& load = r.load();
    if (window > 0) {
        for (const workload_axis a : {workload_axis::past, workload_axis::total}) {
            r.add_region_edge(a, window - 1);
            r.add_region_edge(a, window);
        }
    }
    if (window > 0 && kind == window_kind::chunked && load.attention == attention_scores::causal) {
        const auto add_chunk_edges = [&](workload_axis a, std::int64_t at) {
            r.add_region_edge(a, at / window * window);
            r.add_region_edge(a, (at / window + 1) * window);
        };
        add_chunk_edges(workload_axis::past, load.past);
        add_chunk_edges(workload_axis::total, load.past + load.sequence);  // who sees what bends at each chunk
    }
    const std::int64_t cached_length = window > 0 && load.past > window - 1 ? window - 1 : load.past;
    return {load.sequence, cached_length, window, load.past, true, kind};
}

/// The additive mask that eager attention builds from a boolean one: (batch, 1, sequence, length).
///
/// Written besides: the zero and the lowest number it chooses from (transformers/masking_utils.py, `eager_mask`).
constexpr tensor eager_mask(trace& t, const attention_pattern& pattern, std::int64_t batch) {
    if (t.load().implementation == attention_implementation::sdpa) return {};  // causal by itself
    t.add_written_elements(2);
    return t.full({batch, 1, pattern.query_length, pattern.key_length()}, t.activation_type());
}

/// Appends new keys or values (batch, heads, sequence, dim) to what the cache holds and returns all of them.
///
/// A window leaves its last window − 1 positions in the cache (transformers/cache_utils.py,
/// `DynamicSlidingWindowLayer`). A training step asks for no cache, but of heads that cannot be asked.
constexpr tensor update_kv_cache(trace& t, const tensor& new_states, const attention_pattern& pattern) {
    const shape sizes{new_states.dim(0), new_states.dim(1), pattern.cached_length, new_states.dim(3)};
    if (t.is_training() && !t.discards_cache()) {
        tensor past;
        const bool remembers =
            pattern.cached_length > 0 && t.policy() != nullptr && t.policy()->provide_past_key_values(t, sizes, past);
        return remembers ? t.cat({past, new_states}, 2) : new_states;
    }
    const recorder::fused_kernel_guard appended{t, {.kind = fused_kernel_kind::cache}};
    const tensor all =
        pattern.cached_length > 0 ? t.cat({trace::buffer(sizes), new_states}, 2) : t.cat({new_states}, 2);
    const bool cut = pattern.window > 1 && all.dim(2) > pattern.window - 1;
    t.add_to_cache(cut ? all.slice(2, pattern.window - 1) : all);
    return all;
}

/// (batch, kv heads, length, dim) -> (batch, heads, length, dim): every head of a group gets a copy.
constexpr tensor repeat_kv(trace& t, const tensor& x, std::int64_t num_key_value_groups) {
    if (num_key_value_groups == 1) return x;
    const tensor spread = x.unsqueeze(2).expand({x.dim(0), x.dim(1), num_key_value_groups, x.dim(2), x.dim(3)});
    return t.reshape(spread, {x.dim(0), x.dim(1) * num_key_value_groups, x.dim(2), x.dim(3)});
}

/// What a fused attention is told: q (B, H, S, d) over keys of so many heads, as many as a context shows, or `length`.
[[nodiscard]] constexpr fused_kernel fused_attention_kernel(const tensor& q, std::int64_t kv_heads,
                                                            const attention_pattern& pattern, std::int64_t length) {
    return {.kind = fused_kernel_kind::attention,
            .batch = q.dim(0),
            .num_queries = q.dim(2),
            .past_length = pattern.is_causal ? pattern.num_previous_tokens : length - q.dim(2),
            .window = pattern.is_causal ? pattern.window : 0,
            .is_causal = pattern.is_causal,
            .heads = q.dim(1),
            .kv_heads = kv_heads,
            .head_dim = q.dim(3)};
}

/// What an attention does to its scores beside scaling them.
struct attention_options {
    bool has_scale = true;            ///< scores times a constant after q · kᵀ
    bool has_soft_cap = false;        ///< tanh(s / cap) · cap
    const tensor* bias = nullptr;     ///< of positions, added before the mask
    const tensor* mask = nullptr;     ///< added where there is one
    const tensor* sinks = nullptr;    ///< one logit per head that takes part in the softmax only
    bool has_float32_softmax = true;  ///< softmax in float32, cast back
    std::int64_t num_extra_keys = 0;  ///< keys behind those of the context, which every query sees
};

/// `scaled_dot_product_attention` as PyTorch executes it where no fused kernel takes it, and its CPU where
/// probabilities are dropped: product by product, in float32; their mask is kept beside them and what is left of them.
/// The heads stay first.
///
/// Source: ATen's transformers/attention.cpp, `_scaled_dot_product_attention_math`; no autocast reaches its inside.
constexpr tensor math_attention_heads(trace& t, const tensor& query, const tensor& key, const tensor& value,
                                      const attention_pattern& pattern) {
    const tensor q = t.to_autocast_dtype(query), k = t.to_autocast_dtype(key), v = t.to_autocast_dtype(value);
    workload no_autocast_workload = t.load();
    no_autocast_workload.autocast = false;
    const recorder::workload_guard as_float{t, no_autocast_workload};
    const auto widened = [&](const tensor& x) { return t.to(x, dtype::float32); };
    const tensor queries = t.mul_scalar(widened(q)), float_keys = widened(k), float_values = widened(v);
    const tensor mask = pattern.is_causal ? t.full({pattern.query_length, pattern.key_length()}) : tensor{};
    const std::int64_t num_key_value_groups = q.dim(1) / k.dim(1);
    const tensor keys = repeat_kv(t, float_keys, num_key_value_groups),
                 values = repeat_kv(t, float_values, num_key_value_groups);
    tensor scores = t.matmul(queries, t.mul_scalar(keys.transpose(2, 3)));
    if (pattern.is_causal) scores = t.add(scores, mask);
    const tensor features = functional_dropout(t, t.softmax(scores), dropout_position::attention);
    if (q.type != dtype::float32) {  // handed out, and read by nobody
        const recorder::detach_guard unread{t};
        (void)t.to(features, q.type);
    }
    return t.to(t.matmul(features, values), q.type);
}
/// The same with the heads behind the positions.
constexpr tensor math_attention_forward(trace& t, const tensor& q, const tensor& k, const tensor& v,
                                        const attention_pattern& pattern) {
    return t.contiguous(math_attention_heads(t, q, k, v, pattern).transpose(1, 2));
}

/// The same where nothing is dropped, causal or over everything, the heads first: scores stay inside, their log-sum-exp
/// is kept.
///
/// Backward makes five products (torch/utils/flop_counter.py, `sdpa_backward_flop_count`), of scores that are made
/// again: times the scale, less the sum, exp; each row's gradient times its result, which is subtracted; times the
/// probability and the scale.
constexpr tensor sdpa_attention_heads(trace& t, const tensor& query, const tensor& key, const tensor& value,
                                      const attention_pattern& pattern, const attention_options& options) {
    const bool windowed = pattern.window > 0 && pattern.window < pattern.key_length();
    // kernels of engines do all of it in one call; PyTorch's own, whose savings backward reads, does not
    if (t.is_training() && (options.has_soft_cap || options.bias != nullptr || options.sinks != nullptr || windowed))
        throw_description_error(
            "scaled_dot_product_attention has no scores to change and no window: eager is described");
    if (t.applies_dropout(dropout_position::attention)) return math_attention_heads(t, query, key, value, pattern);
    tensor q = t.to_autocast_dtype(query), k = t.to_autocast_dtype(key), v = t.to_autocast_dtype(value);
    const count pairs = count(q.numel / static_cast<std::uint64_t>(q.dim(3))) * count(k.dim(2));
    const count d(q.dim(3)), width(v.dim(3));
    const tensor* const in[3] = {&q, &k, &v};
    const recorder::function_call_guard call{t, {torch_function::scaled_dot_product_attention, in, 3}};
    {
        const recorder::function_internals_guard internals{t};
        const std::int64_t num_key_value_groups = q.dim(1) / k.dim(1);
        const tensor scores = t.mul_scalar(t.matmul(q, repeat_kv(t, k, num_key_value_groups).transpose(2, 3)));
        (void)t.matmul(t.softmax(scores), repeat_kv(t, v, num_key_value_groups));
    }
    const std::uint64_t rows = q.numel / static_cast<std::uint64_t>(q.dim(3));
    t.add_written_elements(rows);  // log-sum-exp
    // laid out as the queries: (batch, sequence, heads, dim) in memory, unless they were joined or copied
    tensor out = empty_tensor({q.dim(0), q.dim(1), q.dim(2), v.dim(3)}, q.type);
    if (!q.is_contiguous()) out = empty_tensor({q.dim(0), q.dim(2), q.dim(1), v.dim(3)}, q.type).transpose(1, 2);
    const bool has_backward = q.requires_grad || k.requires_grad || v.requires_grad;
    if (has_backward) {
        for (tensor x : {q, k, v}) {
            x.requires_grad = true;
            t.save_for_backward(x);
        }
        t.save_bytes_for_backward(count(rows) * count(4));
        const count products = pairs * (d * count(3) + width * count(2));
        t.add_backward_torch_flops(products * count(2));
        const count of_rows = count(rows) * width, results = count(q.numel) + count(k.numel) + count(v.numel);
        t.add_backward_cost({.add = products + of_rows - count(rows) - results,
                             .mult = products + pairs * count(3) + of_rows,
                             .exp = pairs});
    }
    t.record_op(op::attention, {}, {}, out, in, 3);
    return out;
}
/// The same with the heads behind the positions, as Transformers hands it on.
constexpr tensor sdpa_attention_forward(trace& t, const tensor& q, const tensor& k, const tensor& v,
                                        const attention_pattern& pattern, const attention_options& options) {
    return t.contiguous(sdpa_attention_heads(t, q, k, v, pattern, options).transpose(1, 2));
}

/// Attention as eager executes it: q (B, H, S, d), k and v (B, H or kv heads, T, d) -> context (B, S, H, d).
///
/// MULT B·H·S·T·(d + d_v) + B·H·S·T, ADD the same without the last products' first, softmax over T; under causal
/// scores the S·T pairs of a head are the visible ones.
constexpr tensor attention_forward(trace& t, const tensor& q, const tensor& k, const tensor& v,
                                   const attention_pattern& pattern, const attention_options& options) {
    // with keys beside, a call or a kernel sees no pattern
    const attention_pattern all{.query_length = q.dim(2), .cached_length = k.dim(2) - q.dim(2), .is_causal = false};
    const attention_pattern& effective_pattern = options.num_extra_keys > 0 ? all : pattern;
    if (t.load().implementation == attention_implementation::sdpa)
        return sdpa_attention_forward(t, q, k, v, effective_pattern, options);
    const recorder::fused_kernel_guard fused{t, fused_attention_kernel(q, k.dim(1), effective_pattern, k.dim(2))};
    const std::int64_t num_key_value_groups = q.dim(1) / k.dim(1);
    const tensor keys = repeat_kv(t, k, num_key_value_groups), values = repeat_kv(t, v, num_key_value_groups);
    const bool sparse = pattern.is_causal && t.load().attention == attention_scores::causal;
    tensor scores = t.matmul(q, keys.transpose(2, 3),
                             sparse ? pattern.visible_pairs() + pattern.query_length * options.num_extra_keys : 0);
    if (options.has_scale) scores = t.mul_scalar(scores);
    if (options.has_soft_cap) scores = t.mul_scalar(t.tanh(t.div_scalar(scores)));
    if (options.bias != nullptr) scores = t.add(scores, *options.bias);
    if (options.mask != nullptr && !sparse) scores = t.add(scores, *options.mask);
    if (options.sinks != nullptr) {
        const tensor column = options.sinks->view({1, q.dim(1), 1, 1}).expand({q.dim(0), q.dim(1), q.dim(2), 1});
        const tensor scores_with_sinks = t.cat({scores, column}, -1);
        const tensor probabilities = t.softmax(t.sub(scores_with_sinks, t.amax(scores_with_sinks, -1, true)));
        const std::int64_t pairs = scores.visible_pairs;
        scores = t.slice(probabilities, -1, pattern.key_length());
        if (pairs != 0) trace::set_visible_pairs(scores, pairs);
    } else {
        scores =
            options.has_float32_softmax ? t.to(t.softmax(t.to(scores, dtype::float32)), q.type) : t.softmax(scores);
    }
    scores = functional_dropout(t, scores, dropout_position::attention);
    return t.contiguous(t.matmul(scores, values).transpose(1, 2));
}

}  // namespace llmcost
