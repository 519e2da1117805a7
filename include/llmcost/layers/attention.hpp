// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/activation.hpp>
#include <llmcost/trace/trace.hpp>

// Functional attention: KV cache, masks, eager attention and `scaled_dot_product_attention`.
//
// Shapes: B = batch, S = sequence (new tokens), T = keys (cached plus new), H = query heads, K = key/value heads,
// d = head_dim.

namespace llmcost {

/// Shape of a window of keys.
enum class window_kind : std::uint8_t {
    sliding,  ///< the last `window` positions, including the query's own
    chunked   ///< the query's chunk of `window` positions; chunks start at position 0
};

/// Query, key and window lengths of one attention layer.
struct attention_pattern {
    std::int64_t query_length = 0;         ///< number of new tokens
    std::int64_t cached_length = 0;        ///< number of cached positions of this layer
    std::int64_t window = 0;               ///< tokens, including the query's own; 0: no window
    std::int64_t num_previous_tokens = 0;  ///< tokens before this pass, cached or evicted
    bool is_causal = true;
    window_kind kind = window_kind::sliding;

    [[nodiscard]] constexpr std::int64_t key_length() const noexcept { return cached_length + query_length; }
    /// Number of visible (query, key) pairs of one head and one sequence.
    ///
    /// A sum over i = 1 … query_length:
    ///  - without a window: `num_previous_tokens + i`;
    ///  - sliding: `min(num_previous_tokens + i, window)`;
    ///  - chunked: `(num_previous_tokens + i − 1) mod window + 1`.
    ///
    /// Throws: `std::overflow_error` if the number exceeds a signed 64-bit integer.
    [[nodiscard]] constexpr std::int64_t visible_pairs() const {
        if (window != 0 && kind == window_kind::chunked)
            return as_pairs(pairs_of_first_tokens(num_previous_tokens + query_length) -
                            pairs_of_first_tokens(num_previous_tokens));
        const count s(query_length), p(num_previous_tokens);
        if (window == 0 || num_previous_tokens + query_length <= window) return as_pairs(s * p + s * (s + 1) / 2);
        const std::int64_t growing =
            num_previous_tokens < window ? window - num_previous_tokens : 0;  // queries before the window is full
        const count g(growing);
        return as_pairs(g * p + g * (g + 1) / 2 + (s - g) * count(window));
    }

private:
    /// Pairs of the first n tokens with chunked windows: complete chunks plus the last, partial chunk.
    [[nodiscard]] constexpr count pairs_of_first_tokens(std::int64_t n) const {
        const count chunk(window), rest(n % window);
        return count(n / window) * (chunk * (chunk + 1) / 2) + rest * (rest + 1) / 2;
    }
    static constexpr std::int64_t as_pairs(count n) {
        if (n.to_uint128() >> 63 != 0) throw_overflow_error();
        return static_cast<std::int64_t>(n.to_64());
    }
};

/// The attention pattern of a layer with this window in the workload of `t`; 0: no window.
///
/// The cache of a window holds at most window − 1 positions.
/// Source: transformers/cache_utils.py. Sliding and chunked layers have the same cache and different masks.
constexpr attention_pattern attention_pattern_of(trace& t, std::int64_t window,
                                                 window_kind kind = window_kind::sliding) {
    const workload& load = t.load();
    if (window > 0) {
        for (const workload_axis a : {workload_axis::past, workload_axis::total}) {
            t.add_region_edge(a, window - 1);
            t.add_region_edge(a, window);
        }
    }
    if (window > 0 && kind == window_kind::chunked && load.attention == attention_scores::causal) {
        const auto add_chunk_edges = [&](workload_axis a, std::int64_t position) {
            t.add_region_edge(a, position / window * window);
            t.add_region_edge(a, (position / window + 1) * window);
        };
        add_chunk_edges(workload_axis::past, load.past);
        add_chunk_edges(workload_axis::total,
                        load.past + load.sequence);  // the number of visible pairs has a kink at each chunk
    }
    const std::int64_t cached_length = window > 0 && load.past > window - 1 ? window - 1 : load.past;
    return {load.sequence, cached_length, window, load.past, true, kind};
}

/// The additive mask of eager attention, converted from a boolean mask: (B, 1, S, T).
///
/// Empty for SDPA, which has a causal kernel. The two constants of the selection, zero and the lowest number, are
/// written in addition.
/// Source: transformers/masking_utils.py, `eager_mask`.
constexpr tensor eager_mask(trace& t, const attention_pattern& pattern, std::int64_t batch) {
    if (t.load().implementation == attention_implementation::sdpa) return {};
    t.add_written_elements(2);
    return t.full({batch, 1, pattern.query_length, pattern.key_length()}, t.activation_type());
}

/// Appends new keys or values to the KV cache: (B, K, S, d) -> (B, K, T, d).
///
/// With a window, the last window − 1 positions remain in the cache. A training step has no cache, unless the workload
/// has one: then keys and values are copied once, by the concatenation with an empty cache. Heads that cannot disable
/// the cache and discard it are an exception. Source: transformers/cache_utils.py, `DynamicSlidingWindowLayer`.
constexpr tensor update_kv_cache(trace& t, const tensor& new_states, const attention_pattern& pattern) {
    const shape sizes{new_states.size[0], new_states.size[1], pattern.cached_length, new_states.size[3]};
    if (t.is_training() && !t.discards_cache()) {
        tensor past;
        const bool remembers =
            pattern.cached_length > 0 && t.policy() != nullptr && t.policy()->provide_past_key_values(t, sizes, past);
        if (remembers) return t.cat({past, new_states}, 2);
        return t.load().has_training_cache ? t.cat({new_states}, 2) : new_states;
    }
    const recorder::fused_kernel_guard appended{t, {.kind = fused_kernel_kind::cache}};
    const tensor all = pattern.cached_length > 0 ? t.cat({trace::buffer(sizes, new_states.type), new_states}, 2)
                                                 : t.cat({new_states}, 2);
    const bool cut = pattern.window > 1 && all.size[2] > pattern.window - 1;
    t.add_to_cache(cut ? all.slice(2, pattern.window - 1) : all);
    return all;
}

/// Repeats each key/value head for the query heads of its group: (B, K, T, d) -> (B, H, T, d).
///
/// A copy, except with one query head per group.
constexpr tensor repeat_kv(trace& t, const tensor& x, std::int64_t num_key_value_groups) {
    if (num_key_value_groups == 1) return x;
    const tensor spread = x.unsqueeze(2).expand({x.size[0], x.size[1], num_key_value_groups, x.size[2], x.size[3]});
    return t.reshape(spread, {x.size[0], x.size[1] * num_key_value_groups, x.size[2], x.size[3]});
}

/// Description of a fused attention kernel with queries q (B, H, S, d).
///
/// `length` is the number of keys. Only non-causal attention uses it; otherwise `pattern` determines the keys.
[[nodiscard]] constexpr fused_kernel fused_attention_kernel(const tensor& q, std::int64_t kv_heads,
                                                            const attention_pattern& pattern, std::int64_t length) {
    return {.kind = fused_kernel_kind::attention,
            .batch = q.size[0],
            .num_queries = q.size[2],
            .past_length = pattern.is_causal ? pattern.num_previous_tokens : length - q.size[2],
            .window = pattern.is_causal ? pattern.window : 0,
            .is_causal = pattern.is_causal,
            .heads = q.size[1],
            .kv_heads = kv_heads,
            .head_dim = q.size[3]};
}

/// Operations on attention scores.
struct attention_options {
    bool has_scale = true;            ///< scores are multiplied by a constant after q · kᵀ
    bool has_soft_cap = false;        ///< tanh(s / cap) · cap
    const tensor* bias = nullptr;     ///< position bias, added before the mask; null: none
    const tensor* mask = nullptr;     ///< additive mask; null: none
    const tensor* sinks = nullptr;    ///< one logit per head that only the softmax includes; null: none
    bool has_float32_softmax = true;  ///< softmax in float32, cast back to the type of q
    std::int64_t num_extra_keys = 0;  ///< keys after those of `attention_pattern`, visible to every query
};

/// `scaled_dot_product_attention` without a fused kernel, in float32: (B, H, S, d) -> (B, H, S, d).
///
///     softmax((query · √scale) · (key · √scale)ᵀ + mask) · value
///
/// PyTorch also uses it on the CPU if attention probabilities have dropout. The dropout mask and the result are saved
/// for backward. Autocast does not apply inside.
/// Source: ATen's transformers/attention.cpp, `_scaled_dot_product_attention_math`.
constexpr tensor math_attention_heads(trace& t, const tensor& query, const tensor& key, const tensor& value,
                                      const attention_pattern& pattern) {
    const tensor q = t.to_autocast_dtype(query), k = t.to_autocast_dtype(key), v = t.to_autocast_dtype(value);
    workload no_autocast_workload = t.load();
    no_autocast_workload.autocast = false;
    const recorder::workload_guard as_float{t, no_autocast_workload};
    const auto widened = [&](const tensor& x) { return t.to(x, dtype::float32); };
    const tensor queries = t.mul_scalar(widened(q)), float_keys = widened(k), float_values = widened(v);
    // `ones(…).tril()` in bytes
    const count mask_bytes(static_cast<std::uint64_t>(pattern.query_length * pattern.key_length()));
    if (pattern.is_causal && t.load().cuda_capability > 0) t.add_temporary_bytes(mask_bytes * count(2), {});
    const tensor mask = pattern.is_causal ? t.full({pattern.query_length, pattern.key_length()}) : tensor{};
    const std::int64_t num_key_value_groups = q.dim(1) / k.dim(1);
    const tensor keys = repeat_kv(t, float_keys, num_key_value_groups),
                 values = repeat_kv(t, float_values, num_key_value_groups);
    tensor scores = t.matmul(queries, t.mul_scalar(keys.transpose(2, 3)));
    if (pattern.is_causal && t.load().cuda_capability > 0)
        t.add_(scores, mask);
    else if (pattern.is_causal)
        scores = t.add(scores, mask);
    // `_safe_softmax` compares the scores with −∞ after the softmax
    if (t.load().cuda_capability > 0) t.add_temporary_bytes(count(scores.numel), {});
    const tensor features = functional_dropout(t, t.softmax(scores), dropout_position::attention);
    if (q.type != dtype::float32) {  // the returned probabilities, which are not read
        const recorder::detach_guard unread{t};
        (void)t.to(features, q.type);
    }
    return t.to(t.matmul(features, values), q.type);
}
/// Unfused attention with heads after positions: (B, H, S, d) -> (B, S, H, d). A copy.
constexpr tensor math_attention_forward(trace& t, const tensor& q, const tensor& k, const tensor& v,
                                        const attention_pattern& pattern) {
    return t.contiguous(math_attention_heads(t, q, k, v, pattern).transpose(1, 2));
}

/// The backend of `scaled_dot_product_attention` on a CUDA device.
enum class sdpa_backend : std::uint8_t { cudnn, flash, efficient, math };

/// Selects the backend of PyTorch 2.11 for queries (B, H, S, d) and keys (B, K, T, d).
///
/// Order: cuDNN on devices with capability 9.0 and 10.0, FlashAttention, memory-efficient, math. cuDNN and
/// FlashAttention require 16-bit types and at most 256 elements per head. FlashAttention does not accept masks. The
/// memory-efficient kernels require as many key heads as query heads.
///
/// Source: aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, `check_prefer_cudnn_attention`, `priority_order`,
/// `can_use_cudnn_attention`, `can_use_flash_attention`, `check_for_attn_mask`, `can_use_mem_efficient_attention`.
[[nodiscard]] constexpr sdpa_backend select_sdpa_backend(std::int32_t capability, const tensor& q, const tensor& k,
                                                         const tensor& v, bool has_mask) noexcept {
    const bool is_half = bits_of(q.type) == 16;
    const std::int64_t d = q.dim(3);
    if (is_half && d % 8 == 0 && d <= 256 && v.dim(3) == d) {
        if (capability == 90 || capability == 100) return sdpa_backend::cudnn;
        if (capability >= 80 && !has_mask) return sdpa_backend::flash;
    }
    const std::int64_t alignment = is_half ? 8 : 4;
    return q.dim(1) == k.dim(1) && d % alignment == 0 && v.dim(3) % alignment == 0 ? sdpa_backend::efficient
                                                                                   : sdpa_backend::math;
}

/// What a fused attention on a CUDA device saves in addition to its inputs and its output, and its temporaries.
struct sdpa_kernel_memory {
    count saved_bytes{};         ///< log-sum-exp of the scores
    count saved_random_bytes{};  ///< seed and offset of dropout, allocated even without dropout
    count backward_bytes{};      ///< temporaries of backward
};

/// The memory of a fused attention without its inputs, output and gradients. `rows` = B · H · S.
///
///     cuDNN: saves 4 · rows; backward: 4 · rows · d + 4 · rows + 256, for grouped heads + 2 · B · H · T · (d + d_v)
///     FlashAttention: saves 4 · rows; backward: 4 · rows' · d' + 4 · rows', for grouped heads + 2 · B · H · T · 2 d
///     memory-efficient: saves 4 · B · H · 32 · ceil(S / 32); backward in float32:
///         4 · rows + max(4 · rows · d + 4 · rows, 4 · B · H · ceil(S / i) · ceil(d / 64) · (4 + 64 i))
///
/// FlashAttention pads S to 128 (rows') and d to 32 or 64 (d'). i is the number of queries of a block: 64, or 128 if d
/// is larger than 64.
///
/// Source: cudnn_frontend/node/scaled_dot_product_flash_attention.h (`dQ_accum`, `softmax_sum`, `dK_fullhead`);
/// ATen/native/transformers/cuda/flash_attn/flash_api.cpp, `mha_bwd`; cuda/attention.cu,
/// `_efficient_attention_forward`; cuda/attention_backward.cu, `_efficient_attention_backward`;
/// cuda/mem_eff_attention/kernel_backward.h, `workspace_elements_gq`; kernels/generate_kernels.py.
[[nodiscard]] constexpr sdpa_kernel_memory sdpa_memory_of(sdpa_backend backend, const tensor& q, const tensor& k,
                                                          const tensor& v) {
    const auto to_count = [](std::int64_t n) { return count(static_cast<std::uint64_t>(n)); };
    const auto round_up = [](std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; };
    const std::int64_t heads = q.dim(0) * q.dim(1), length = q.dim(2), d = q.dim(3);
    const count rows = to_count(heads * length), scalar(4), half(2);
    const count expanded_gradients =
        q.dim(1) == k.dim(1) ? count{} : half * to_count(heads * k.dim(2)) * to_count(d + v.dim(3));
    switch (backend) {
        case sdpa_backend::cudnn:
            return {scalar * rows, count(16),
                    scalar * rows * to_count(d) + scalar * rows + count(256) + expanded_gradients};
        case sdpa_backend::flash: {
            const std::int64_t padded_d = round_up(d, d <= 128 ? 32 : 64);
            const count padded_rows = to_count(heads * round_up(length, 128));
            return {scalar * rows, count(16),
                    scalar * padded_rows * to_count(padded_d) + scalar * padded_rows + expanded_gradients};
        }
        case sdpa_backend::efficient: {
            const count saved = scalar * to_count(heads * round_up(length, 32));
            if (bits_of(q.type) == 16) return {saved, {}, scalar * rows};
            const std::int64_t block = d <= 64 ? 64 : 128;
            const count blocks = to_count(heads * ((length + block - 1) / block) * ((d + 63) / 64));
            const count accumulator = scalar * blocks * to_count(4 + 64 * block);
            const count product = scalar * rows * to_count(v.dim(3)) + scalar * rows;
            return {saved, {}, scalar * rows + (accumulator > product ? accumulator : product)};
        }
        case sdpa_backend::math: break;
    }
    return {};
}

/// `scaled_dot_product_attention` as one fused kernel: q (B, H, S, d), k and v (B, K, T, d) -> (B, H, S, d).
///
/// Scores are not written. Their log-sum-exp is saved for backward. With dropout, attention is unfused.
///
/// Backward computes five products and recomputes the scores. Per score: MULT scale, ADD −log-sum-exp, EXP.
/// The gradient of each query is multiplied by its output, summed and subtracted. The result is multiplied by the
/// probability and the scale.
///
/// In training on a CUDA device, a sliding window is a mask (B, 1, S, T) of each layer, which is saved for backward.
/// Keys and values are then repeated to the heads of the queries.
/// Throws: `description_error` in training with a soft cap, a bias, sinks or, on the CPU, a sliding window.
/// Source: torch/utils/flop_counter.py, `sdpa_backward_flop_count`; ATen's transformers/attention.cpp,
/// `convert_boolean_attn_mask_`; transformers' integrations/sdpa_attention.py, `use_gqa_in_sdpa`.
constexpr tensor sdpa_attention_heads(trace& t, const tensor& query, const tensor& key, const tensor& value,
                                      const attention_pattern& pattern, const attention_options& options) {
    const bool is_cuda = t.is_training() && t.load().cuda_capability > 0;
    const bool windowed = pattern.window > 0 && pattern.window < pattern.key_length();
    // Inference engines fuse these options into their kernels. The kernels of PyTorch, which save tensors for backward,
    // do not. On CUDA devices, a window is a mask.
    if (t.is_training() &&
        (options.has_soft_cap || options.bias != nullptr || options.sinks != nullptr || (windowed && !is_cuda)))
        throw_description_error(
            "scaled_dot_product_attention: soft caps, biases, sinks and, on the CPU, windows are not supported in "
            "training; use eager");
    if (!is_cuda && t.applies_dropout(dropout_position::attention))
        return math_attention_heads(t, query, key, value, pattern);
    // Transformers omits the mask of keys that are fewer than the window
    // (masking_utils.py, `_ignore_causal_mask_sdpa`).
    const bool has_mask = is_cuda && pattern.window > 0 && pattern.window <= pattern.key_length();
    // sdpa_attention.py, `use_gqa_in_sdpa`: grouped heads only without a mask
    const std::int64_t num_repeats = has_mask ? query.dim(1) / key.dim(1) : 1;
    tensor q = t.to_autocast_dtype(query), k = t.to_autocast_dtype(repeat_kv(t, key, num_repeats)),
           v = t.to_autocast_dtype(repeat_kv(t, value, num_repeats));
    const sdpa_backend backend =
        is_cuda ? select_sdpa_backend(t.load().cuda_capability, q, k, v, has_mask) : sdpa_backend::flash;
    if (backend == sdpa_backend::math) {
        if (has_mask)
            throw_description_error(
                "scaled_dot_product_attention: windows with this head size are not supported in training; use eager");
        return math_attention_heads(t, q, k, v, pattern);
    }
    const count pairs = count(q.numel / static_cast<std::uint64_t>(q.dim(3))) * count(k.dim(2));
    const count d(q.dim(3)), width(v.dim(3));
    const tensor* const in[3] = {&q, &k, &v};
    const recorder::function_call_guard call{t, {torch_function::scaled_dot_product_attention, in, 3}};
    {
        const recorder::function_internals_guard internals{t};
        const std::int64_t num_key_value_groups = q.dim(1) / k.dim(1);
        const tensor keys = repeat_kv(t, k, num_key_value_groups), values = repeat_kv(t, v, num_key_value_groups);
        const tensor scores = t.mul_scalar(t.matmul(q, keys.transpose(2, 3)));
        (void)t.matmul(t.softmax(scores), values);
    }
    const std::uint64_t rows = q.numel / static_cast<std::uint64_t>(q.dim(3));
    t.add_written_elements(rows);  // log-sum-exp
    // Memory layout of the queries: (B, S, H, d), unless the queries are concatenated or copied.
    tensor out = empty_tensor({q.dim(0), q.dim(1), q.dim(2), v.dim(3)}, q.type);
    if (is_cuda && backend != sdpa_backend::efficient) {
        // the layout of the queries (cudnn/MHA.cpp, `alloc_with_matching_layout`; flash_api.cpp, `empty_like`)
        const tensor* const layout[1] = {&q};
        out = q;
        detail::set_elementwise_strides(layout, 1, out);
    } else if (!q.is_contiguous() || backend == sdpa_backend::efficient)
        out = empty_tensor({q.dim(0), q.dim(2), q.dim(1), v.dim(3)}, q.type).transpose(1, 2);
    const bool has_backward = q.requires_grad || k.requires_grad || v.requires_grad;
    if (has_backward) {
        for (tensor x : {q, k, v}) {
            x.requires_grad = true;
            t.save_for_backward(x);
        }
        const sdpa_kernel_memory memory =
            is_cuda ? sdpa_memory_of(backend, q, k, v) : sdpa_kernel_memory{.saved_bytes = count(rows) * count(4)};
        if (has_mask) {
            // The boolean mask is converted to the type of the queries, per batch element. Rows of the memory-efficient
            // kernels are padded to multiples of 8 elements (attention.cpp, `preprocess_mask`).
            const std::int64_t length = k.dim(2);
            const std::int64_t row = backend == sdpa_backend::efficient ? (length + 7) / 8 * 8 : length;
            const std::int64_t num_rows = q.dim(0) * q.dim(2);
            t.save_bytes_for_backward(count(num_rows * row) * count(bits_of(q.type) / 8));
        }
        t.save_bytes_for_backward(memory.saved_bytes);
        if (is_cuda) {
            t.save_mask_for_backward(memory.saved_random_bytes);
            t.add_temporary_bytes({}, memory.backward_bytes);
        }
        const count products = pairs * (d * count(3) + width * count(2));
        t.add_backward_torch_flops(products * count(2));
        const count of_rows = count(rows) * width, results = count(q.numel) + count(k.numel) + count(v.numel);
        t.add_backward_cost({.add = products + of_rows - count(rows) - results,
                             .mult = products + pairs * count(3) + of_rows,
                             .exp = pairs});
    }
    if (t.load().cuda_capability > 0) {
        const recorder::fused_kernel_guard fused{t, fused_attention_kernel(q, k.dim(1), pattern, k.dim(2))};
        t.record_op(op::attention, {}, {}, out, in, 3);
    } else
        t.record_op(op::attention, {}, {}, out, in, 3);
    return out;
}
/// `scaled_dot_product_attention` with heads after positions, as in Transformers: (B, H, S, d) -> (B, S, H, d).
constexpr tensor sdpa_attention_forward(trace& t, const tensor& q, const tensor& k, const tensor& v,
                                        const attention_pattern& pattern, const attention_options& options) {
    return t.contiguous(sdpa_attention_heads(t, q, k, v, pattern, options).transpose(1, 2));
}

/// Attention, eager or SDPA depending on the workload: `softmax(q · kᵀ · scale + bias + mask) · v`.
///
/// Shapes: q (B, H, S, d), k and v (B, K, T, d) -> (B, S, H, d).
/// Cost of eager: MULT B·H·S·T·(d + d_v) + B·H·S·T, ADD without the first addition of each dot product, softmax over T.
/// With causal scores, S·T is the number of visible pairs of a head.
constexpr tensor attention_forward(trace& t, const tensor& q, const tensor& k, const tensor& v,
                                   const attention_pattern& pattern, const attention_options& options) {
    // With extra keys, function calls and fused kernels receive a full pattern.
    // `dim` throws for keys that no layer has stored.
    const attention_pattern all{.query_length = q.size[2], .cached_length = k.dim(2) - q.size[2], .is_causal = false};
    const attention_pattern& effective_pattern = options.num_extra_keys > 0 ? all : pattern;
    if (t.load().implementation == attention_implementation::sdpa)
        return sdpa_attention_forward(t, q, k, v, effective_pattern, options);
    const recorder::fused_kernel_guard fused{t, fused_attention_kernel(q, k.size[1], effective_pattern, k.size[2])};
    const std::int64_t num_key_value_groups = q.size[1] / k.size[1];
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
    if (t.applies_dropout(dropout_position::attention))
        scores = functional_dropout(t, scores, dropout_position::attention);
    if (options.sinks != nullptr) scores = t.to(scores, values.type);  // float32 sinks make the scores float32
    return t.contiguous(t.matmul(scores, values).transpose(1, 2));
}

}  // namespace llmcost
