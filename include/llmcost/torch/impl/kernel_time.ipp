// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/kernel_time.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/torch/image_kernel_time.hpp>
#include <llmcost/torch/kernel.hpp>

namespace llmcost::detail {

inline constexpr double microsecond = 1e-6;

[[nodiscard]] LLMCOST_INLINE double element_bytes_of(dtype type) noexcept { return std::max(bits_of(type) / 8.0, 1.0); }

/// Whether blocks share the rows of the sums of a layer norm's backward, which otherwise limit it.
///
/// Source: aten/src/ATen/native/cuda/layer_norm_kernel.cu, `LaunchGammaBetaBackwardCUDAKernel`.
[[nodiscard]] LLMCOST_INLINE bool sums_rows_in_parallel(const device& d, const torch_kernel& k) noexcept {
    constexpr std::int64_t many_rows = 64 * 1024, warp = 32;
    return k.kind == torch_kernel_kind::layer_norm_backward && k.rows > many_rows &&
           static_cast<double>(k.columns / warp) < d.num_compute_units / 2;
}

[[nodiscard]] LLMCOST_INLINE double memory_seconds(const device& d, const torch_kernel& k) {
    constexpr double cycles_per_parallel_row = 172;  // of `layer_norm_grad_input_kernel_vectorized`
    constexpr double cached_bandwidth = 1.3;         // of the last-level cache, relative to the memory
    const memory_kernel_limits* limits = memory_kernel_table;
    for (const memory_kernel_limits& row : memory_kernel_table)
        if (row.kind == k.kind) limits = &row;
    auto bytes = static_cast<double>(k.bytes());
    const double cache = d.cache_megabytes * 1e6, row_bytes = static_cast<double>(k.columns) * element_bytes_of(k.type);
    // softmax reads rows again that neither a multiprocessor nor the cache holds: SoftMax.cu, `cunn_SoftMaxForward` has
    // three passes, `cunn_SoftMaxBackward` two
    constexpr double blocks_per_unit = 2;
    constexpr std::int64_t min_long_row = 4096;
    if ((k.kind == torch_kernel_kind::softmax || k.kind == torch_kernel_kind::softmax_backward) &&
        k.columns > min_long_row) {
        const double again = std::min(1.0, row_bytes * blocks_per_unit * d.num_compute_units / std::max(cache, 1.0));
        bytes *= k.kind == torch_kernel_kind::softmax ? 1 + again : 1 + again * 2 / 3;
    }
    double bandwidth = d.memory_bandwidth * 1e9 * limits->bandwidth;
    // cuDNN's `nchwToNhwcKernel` moves tiles of 32 channels; images have three
    constexpr std::int64_t few_channels = 4;
    if (k.kind == torch_kernel_kind::layout && k.columns < few_channels) bandwidth *= 0.57;
    // the blocks of a column reduction wait for each other, not for memory
    if (bytes < cache * 0.8 && k.kind != torch_kernel_kind::column_reduction) bandwidth *= cached_bandwidth;
    double seconds = bandwidth > 0 ? bytes / bandwidth : 0;
    // one offset per element instead of two: rows of `div` and `neg` of expanded and sliced tensors
    constexpr double unary_rate = 1.28;
    const bool is_unary = k.kind == torch_kernel_kind::elementwise_strided && k.num_operands == 1;
    if (limits->elements_per_cycle > 0)
        seconds = std::max(seconds,
                           static_cast<double>(k.bytes_written) / element_bytes_of(k.type) /
                               (multiprocessor_cycles(d) * limits->elements_per_cycle * (is_unary ? unary_rate : 1)));
    const double cycles_per_row = sums_rows_in_parallel(d, k) ? cycles_per_parallel_row : limits->cycles_per_row;
    if (cycles_per_row > 0) seconds += static_cast<double>(k.rows) * cycles_per_row / multiprocessor_cycles(d);
    return limits->latency * microsecond + seconds;
}

/// Seconds of a foreach kernel, whose blocks of 512 threads process a chunk each, four elements per thread at a time.
///
/// The iterations of a block wait for memory one after another, and all blocks share its bandwidth. The latency of
/// memory rises smoothly with its load:
///
///     seconds = launch + hypot(iterations · latency, bytes / bandwidth)
///
/// Source: aten/src/ATen/native/cuda/MultiTensorApply.cuh, `kBlockSize`, `kILP`; constants: the optimizer steps of
/// tests/torch/h200_steps.jsonl.gz.
[[nodiscard]] LLMCOST_INLINE double multi_tensor_seconds(const device& d, const torch_kernel& k) {
    constexpr double launch = 1.5 * microsecond, latency = 0.55 * microsecond, bandwidth = 0.86;
    constexpr std::int64_t elements_per_iteration = 512 * 4;
    const auto iterations = static_cast<double>((k.columns + elements_per_iteration - 1) / elements_per_iteration);
    return launch + std::hypot(iterations * latency,
                               static_cast<double>(k.bytes()) / (bandwidth * std::max(d.memory_bandwidth * 1e9, 1e9)));
}

/// Seconds of the gradient of an embedding's weight.
///
/// Few indices: each block reads all rows of its columns, 16 rows at a time. Many indices: sorts them, eight passes
/// over keys of 64 bits, and sums the rows of equal indices in segments.
///
/// Source: aten/src/ATen/native/cuda/Embedding.cu, `embedding_dense_backward_cuda`, and EmbeddingBackwardKernel.cu;
/// constants: tests/torch/h200_steps.jsonl.gz.
[[nodiscard]] LLMCOST_INLINE double embedding_backward_seconds(const device& d, const torch_kernel& k) {
    constexpr std::int64_t max_unsorted_indices = 3072, rows_per_iteration = 16;
    constexpr double iteration = 0.77 * microsecond, sort = 60 * microsecond, elements_per_cycle = 0.27;
    if (k.rows <= max_unsorted_indices)
        return static_cast<double>((k.rows + rows_per_iteration - 1) / rows_per_iteration) * iteration;
    return sort + static_cast<double>(k.rows * k.columns) / (elements_per_cycle * multiprocessor_cycles(d));
}

/// The largest power of two up to 8 that divides a number of elements.
[[nodiscard]] LLMCOST_INLINE std::int64_t alignment_of(std::int64_t n) noexcept {
    return n <= 0 ? 8 : std::min<std::int64_t>(n & -n, 8);
}

/// The fraction of the peak that remains if rows of half-precision operands are not aligned to 16 bytes.
[[nodiscard]] LLMCOST_INLINE double alignment_factor(const torch_kernel& k) noexcept {
    const std::int64_t alignment =
        std::min({alignment_of(k.is_transposed_a ? k.rows : k.inner),
                  alignment_of(k.is_transposed_b ? k.inner : k.columns), alignment_of(k.columns)});
    return alignment == 1 ? 0.14 : alignment == 2 ? 0.29 : alignment == 4 ? 0.75 : 1;
}

/// Whether a product runs on tensor cores in TF32.
[[nodiscard]] LLMCOST_INLINE bool is_tf32_product(const device& d, const torch_kernel& k) noexcept {
    return k.type == dtype::float32 && k.tf32 == tf32_mode::on && d.tf32 > 0;
}

/// Seconds of a product on tiles: the fastest tile size and split of the inner dimension.
[[nodiscard]] LLMCOST_INLINE double product_seconds(const device& d, const torch_kernel& k) {
    struct tile {
        std::int64_t rows, columns;
    };
    constexpr tile tiles[]{{256, 128}, {128, 256}, {128, 192}, {192, 128}, {128, 128}, {128, 96}, {96, 128},
                           {128, 64},  {64, 128},  {64, 64},   {32, 64},   {64, 32},   {32, 32}};
    constexpr std::int64_t splits[]{1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
    if (is_tf32_product(d, k)) return tf32_product_seconds(d, k);
    const bool is_half = k.type != dtype::float32 && k.type != dtype::float64;
    const double peak = std::max(d.peak(k.type), 1e9), units = std::max(d.num_compute_units, 1.0);
    const double efficiency = is_half ? 1.03 * alignment_factor(k) : 0.876;
    const double tile_overhead = is_half ? 13.7 : 15.7, prologue = is_half ? 164 : 27, min_split = 86;
    const std::int64_t step = is_half ? 64 : 16;
    const double bandwidth = std::max(d.memory_bandwidth * 1e9, 1e9);
    double best = std::numeric_limits<double>::max();
    for (const tile& t : tiles) {
        const double area = static_cast<double>(t.rows * t.columns);
        const double reuse = area / (area + tile_overhead * static_cast<double>(t.rows + t.columns));
        const double num_tiles = static_cast<double>(k.batch) * static_cast<double>((k.rows + t.rows - 1) / t.rows) *
                                 static_cast<double>((k.columns + t.columns - 1) / t.columns);
        for (const std::int64_t split : splits) {
            if (split > 1 && static_cast<double>(k.inner) / static_cast<double>(split) < min_split) break;
            const double waves = std::ceil(num_tiles * static_cast<double>(split) / units);
            const double inner = static_cast<double>(((k.inner + split - 1) / split + step - 1) / step * step);
            double seconds = waves * 2 * area * (inner + prologue) / (peak / units * efficiency * reuse);
            if (split > 1)
                seconds +=
                    5.2 * microsecond + 4 * static_cast<double>(k.batch * k.rows * k.columns * split) / (5 * bandwidth);
            best = std::min(best, seconds);
        }
    }
    return 2.7 * microsecond + std::max(best, static_cast<double>(k.bytes()) / (0.81 * bandwidth));
}

/// Queries, keys and heads of fused attention.
struct attention_sizes {
    std::int64_t heads = 1, queries = 1, keys = 1, width = 64;
};
[[nodiscard]] LLMCOST_INLINE attention_sizes attention_sizes_of(const torch_kernel& k) noexcept {
    attention_sizes s;
    // the first operand of backward is the gradient
    const int first = k.kind == torch_kernel_kind::attention_backward ? 1 : 0;
    const shape &query = k.operands[first], &key = k.operands[first + 1];
    if (query.rank != 4) return s;
    s = {query.size[1] * query.size[0], query.size[2], query.size[2], query.size[3]};
    if (key.rank == 4) s.keys = key.size[2];
    return s;
}

/// Seconds of memory-efficient attention in float32, on tiles of 64 queries and keys.
///
/// A product in float32 consists of three in TF32. A multiprocessor runs two blocks at a time, each of which processes
/// the keys of its queries one tile after another.
///
/// Source: aten/src/ATen/native/transformers/cuda/mem_eff_attention/kernel_forward.h; constants:
/// tests/torch/h200_steps.jsonl.gz.
[[nodiscard]] LLMCOST_INLINE double efficient_attention_seconds(const device& d, const torch_kernel& k) {
    constexpr std::int64_t side = 64;
    constexpr double efficiency = 0.20, products_per_product = 3, blocks_per_unit = 2, latency = 5 * microsecond,
                     backward_products = 2.3;
    const attention_sizes s = attention_sizes_of(k);
    const auto tiles_of = [](std::int64_t n) { return static_cast<double>((n + side - 1) / side); };
    const double query_tiles = tiles_of(s.queries), key_tiles = tiles_of(s.keys);
    const double units = std::max(d.num_compute_units, 1.0);
    const double tile_flops = 4 * side * side * static_cast<double>(s.width);
    const double tile_seconds = tile_flops * units * products_per_product /
                                (efficiency * std::max(d.tf32 * 1e12, 1e9)) *
                                (k.kind == torch_kernel_kind::attention_backward ? backward_products : 1);
    const double mean_key_tiles = k.is_causal && s.queries == s.keys ? (key_tiles + 1) / 2 : key_tiles;
    const double tiles_per_unit = static_cast<double>(s.heads) * query_tiles * mean_key_tiles / units;
    return latency + tile_seconds * std::max(tiles_per_unit, blocks_per_unit * key_tiles);
}

/// Seconds of fused attention: tiles of 128 queries and keys at a fraction of the peak.
[[nodiscard]] LLMCOST_INLINE double attention_seconds(const device& d, const torch_kernel& k) {
    if (k.type == dtype::float32 && d.tf32 > 0) return efficient_attention_seconds(d, k);
    const bool is_backward = k.kind == torch_kernel_kind::attention_backward;
    const attention_sizes s = attention_sizes_of(k);
    constexpr std::int64_t side = 128;
    const auto padded = [](std::int64_t n) { return static_cast<double>((n + side - 1) / side * side); };
    // a decode kernel divides the keys of one query among multiprocessors
    double pairs = (s.queries == 1 ? 1.0 : padded(s.queries)) * padded(s.keys);
    if (k.is_causal && s.queries == s.keys) {
        const double tiles = padded(s.queries) / side;
        pairs *= (tiles + 1) / (2 * tiles);
    }
    const double flops =
        4 * static_cast<double>(s.heads) * pairs * static_cast<double>(s.width) * (is_backward ? 2.5 : 1);
    double efficiency = s.width >= side ? 0.60 : 0.40;
    if (is_backward) efficiency = s.width >= side ? 0.43 : 0.30;
    const double latency = is_backward ? 20 : 8;
    const double compute = flops / (efficiency * std::max(d.peak(k.type), 1e9));
    return latency * microsecond +
           std::max(compute, static_cast<double>(k.bytes()) / (0.8 * std::max(d.memory_bandwidth * 1e9, 1e9)));
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE double kernel_seconds(const device& d, const torch_kernel& k) {
    switch (k.kind) {
        case torch_kernel_kind::product:
        case torch_kernel_kind::batched_product: return detail::product_seconds(d, k);
        case torch_kernel_kind::attention:
        case torch_kernel_kind::attention_backward: return detail::attention_seconds(d, k);
        case torch_kernel_kind::convolution:
        case torch_kernel_kind::convolution_weight:
        case torch_kernel_kind::convolution_images: return detail::convolution_seconds(d, k);
        case torch_kernel_kind::depthwise:
        case torch_kernel_kind::depthwise_input:
        case torch_kernel_kind::depthwise_weight: return detail::depthwise_seconds(d, k);
        case torch_kernel_kind::batch_norm:
        case torch_kernel_kind::batch_norm_statistics:
        case torch_kernel_kind::batch_norm_transform:
        case torch_kernel_kind::batch_norm_update:
        case torch_kernel_kind::batch_norm_backward: return detail::batch_norm_seconds(d, k);
        case torch_kernel_kind::embedding_backward: return detail::embedding_backward_seconds(d, k);
        case torch_kernel_kind::multi_tensor: return detail::multi_tensor_seconds(d, k);
        default: return detail::memory_seconds(d, k);
    }
}

}  // namespace llmcost
