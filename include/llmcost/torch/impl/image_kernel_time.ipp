// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/image_kernel_time.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/torch/kernel.hpp>

// Constants without another source: training steps of image models on an H200 (tests/torch/h200_steps.jsonl.gz), by
// class.
namespace llmcost::detail {

LLMCOST_INLINE double multiprocessor_cycles(const device& d) noexcept {
    constexpr double flops_per_cycle = 256;
    return d.fp32 > 0 ? d.fp32 * 1e12 / flops_per_cycle : 1e11;
}

/// Fraction of the TF32 peak that large tiles reach.
inline constexpr double tf32_efficiency = 0.81;

/// Limits of the tiles of a product.
struct tile_limits {
    double peak = 0;        ///< FLOP/s
    double efficiency = 1;  ///< of a large tile
    std::int64_t max_split = 1;
};

/// Seconds of an implicit GEMM: the fastest tile size and split of the inner dimension, in waves of multiprocessors.
[[nodiscard]] LLMCOST_INLINE double implicit_gemm_seconds(const device& d, const torch_kernel& k, std::int64_t inner,
                                                          const tile_limits& limits) {
    struct tile {
        std::int64_t rows, columns;
    };
    constexpr tile tiles[]{{256, 128}, {128, 256}, {128, 192}, {192, 128}, {128, 128}, {128, 96}, {96, 128},
                           {128, 64},  {64, 128},  {64, 64},   {32, 64},   {64, 32},   {32, 32}};
    constexpr std::int64_t splits[]{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256};
    constexpr double tile_overhead = 26.9, prologue = 76, split_latency = 3e-6;
    constexpr std::int64_t min_split = 86;
    const std::int64_t step = k.type == dtype::float32 ? 32 : 64;
    const double units = std::max(d.num_compute_units, 1.0), bandwidth = std::max(d.memory_bandwidth * 1e9, 1e9);
    double best = std::numeric_limits<double>::max();
    for (const tile& t : tiles) {
        const auto area = static_cast<double>(t.rows * t.columns);
        const double reuse = area / (area + tile_overhead * static_cast<double>(t.rows + t.columns));
        const double num_tiles = static_cast<double>(k.batch) * static_cast<double>((k.rows + t.rows - 1) / t.rows) *
                                 static_cast<double>((k.columns + t.columns - 1) / t.columns);
        for (const std::int64_t split : splits) {
            if (split > limits.max_split || (split > 1 && inner < split * min_split)) break;
            const double waves = std::ceil(num_tiles * static_cast<double>(split) / units);
            const auto part = static_cast<double>(((inner + split - 1) / split + step - 1) / step * step);
            double seconds = waves * 2 * area * (part + prologue) / (limits.peak / units * limits.efficiency * reuse);
            if (split > 1)
                seconds +=
                    split_latency + 4 * static_cast<double>(k.batch * k.rows * k.columns * split) / (5 * bandwidth);
            best = std::min(best, seconds);
        }
    }
    return best;
}

// The efficiency is that of convolutions in TF32, whose implicit GEMMs have the same tiles.
LLMCOST_INLINE double tf32_product_seconds(const device& d, const torch_kernel& k) {
    constexpr double latency = 2.7e-6, bandwidth_fraction = 0.81;
    constexpr std::int64_t max_split = 32;
    const tile_limits limits{d.tf32 * 1e12, tf32_efficiency, max_split};
    const double moved = static_cast<double>(k.bytes()) / std::max(d.memory_bandwidth * 1e9, 1e9);
    return latency + std::max(implicit_gemm_seconds(d, k, k.inner, limits), moved / bandwidth_fraction);
}

LLMCOST_INLINE double convolution_seconds(const device& d, const torch_kernel& k) {
    constexpr double latency = 6.1e-6;  // of the product, and of the kernel that initializes its workspace
    constexpr double bandwidth_fraction = 0.86, few_channels_fraction = 0.21;
    constexpr std::int64_t load_bytes = 16, few_channels = 32;
    const bool is_half = k.type != dtype::float32, is_weight = k.kind == torch_kernel_kind::convolution_weight;
    const bool has_tf32 = k.tf32 != tf32_mode::off && d.tf32 > 0;
    const double peak = std::max(is_half ? d.peak(k.type) : has_tf32 ? d.tf32 * 1e12 : d.peak(dtype::float32), 1e9);
    const double bandwidth = std::max(d.memory_bandwidth * 1e9, 1e9), cycles = multiprocessor_cycles(d);
    const double moved = static_cast<double>(k.bytes()) / bandwidth;
    const std::int64_t alignment = load_bytes / (is_half ? 2 : 4);
    // fractions of the peak of large tiles; a weight gradient gathers both of its operands
    const double efficiency = is_half ? 0.89 : tf32_efficiency;
    constexpr double weight_efficiency = 0.61, images_efficiency = 0.82, narrow_efficiency = 0.48;
    const std::int64_t width = is_weight ? k.columns : k.inner, channels = width / std::max<std::int64_t>(k.window, 1);
    if (k.kind == torch_kernel_kind::convolution_images) {
        // narrower loads of pixels, such as `gemm_…_align2`
        const bool is_aligned = k.columns % alignment == 0 && k.inner % alignment == 0;
        const tile_limits limits{peak, efficiency * images_efficiency * (is_aligned ? 1 : narrow_efficiency), 1};
        return latency + std::max(implicit_gemm_seconds(d, k, k.inner, limits), moved / bandwidth_fraction);
    }
    if (channels < alignment && k.window > 1) {
        const double flops_per_cycle = is_weight ? 172 : 102;
        return latency + static_cast<double>(k.flops) / (flops_per_cycle * cycles);
    }
    if (is_weight && k.window == 1 && channels <= few_channels && k.inner > k.rows)
        return latency + moved / few_channels_fraction;
    const tile_limits limits{peak, efficiency * (is_weight ? weight_efficiency : 1), is_weight ? 256 : 1};
    return latency + std::max(implicit_gemm_seconds(d, k, k.inner, limits), moved / bandwidth_fraction);
}

LLMCOST_INLINE double depthwise_seconds(const device& d, const torch_kernel& k) {
    constexpr double latency = 1.5e-6;
    constexpr double cycles_per_output = 1.63, cycles_per_tap = 0.107, cycles_per_input = 4.5;
    constexpr double cycles_per_block = 1050, cycles_per_product = 0.42;
    const auto rows = static_cast<double>(k.rows), columns = static_cast<double>(k.columns);
    double cycles = rows * cycles_per_input;
    if (k.kind == torch_kernel_kind::depthwise) cycles = rows * (cycles_per_output + columns * cycles_per_tap);
    if (k.kind == torch_kernel_kind::depthwise_weight)
        cycles = rows * (cycles_per_block + columns * cycles_per_product);
    return latency + std::max(cycles / multiprocessor_cycles(d),
                              static_cast<double>(k.bytes()) / (0.85 * std::max(d.memory_bandwidth * 1e9, 1e9)));
}

/// Cycles of the blocks of a batch norm.
struct batch_norm_limits {
    double cycles_per_block = 0, cycles_per_element = 0;
    double min_cycles_per_element = 0;  ///< of a multiprocessor with all its blocks
    double blocks_per_unit = 2;
};

/// Limits of the kernels that read a channel once, more than once, and of PyTorch's kernels for bfloat16.
[[nodiscard]] LLMCOST_INLINE batch_norm_limits batch_norm_limits_of(const torch_kernel& k) noexcept {
    // cuDNN, `bn_fw_tr_1C11_singleread`, `bn_bw_1C11_singleread`: the channel stays in shared memory, of two tensors in
    // backward; otherwise `bn_fw_tr_1C11_kernel_NCHW`, `bn_bw_1C11_kernel_new` read it again
    constexpr std::int64_t shared_bytes = 100 * 1024;
    const bool is_backward = k.kind == torch_kernel_kind::batch_norm_backward;
    const bool is_held = k.columns * 4 * (is_backward ? 2 : 1) <= shared_bytes;
    // aten/src/ATen/native/cuda/Normalization.cuh: blocks of 512 threads, four on a multiprocessor
    if (k.kind == torch_kernel_kind::batch_norm_statistics) return {0, 1.6, 0.61, 4};
    if (is_backward && k.type == dtype::bfloat16) return {0, 3.8, 1.6, 4};
    if (is_backward) return is_held ? batch_norm_limits{3960, 2.5, 0, 2} : batch_norm_limits{0, 2.9, 0, 2};
    return is_held ? batch_norm_limits{4750, 0.85, 0, 2} : batch_norm_limits{0, 1.13, 0, 2};
}

LLMCOST_INLINE double batch_norm_seconds(const device& d, const torch_kernel& k) {
    const double latency = k.type == dtype::bfloat16 ? 2e-6 : 1.2e-6;
    const double units = std::max(d.num_compute_units, 1.0), clock = multiprocessor_cycles(d) / units;
    const double moved = static_cast<double>(k.bytes()) / std::max(d.memory_bandwidth * 1e9, 1e9);
    const auto rows = static_cast<double>(k.rows), columns = static_cast<double>(k.columns);
    if (k.kind == torch_kernel_kind::batch_norm_update) return latency;
    if (k.kind == torch_kernel_kind::batch_norm_transform) {
        // Normalization.cuh, `batch_norm_elemt_cuda_template`: a block per channel and image, up to 256 K blocks
        constexpr double max_blocks = 256 * 1024, cycles_per_block = 157, bandwidth = 0.39;
        const double blocks = rows * std::min(std::max(max_blocks / rows, 1.0), static_cast<double>(k.batch));
        return latency + moved / bandwidth + blocks * cycles_per_block / multiprocessor_cycles(d);
    }
    const batch_norm_limits limits = batch_norm_limits_of(k);
    const double waves = std::ceil(rows / (units * limits.blocks_per_unit));
    const double cycles = std::max(waves * (limits.cycles_per_block + columns * limits.cycles_per_element),
                                   rows * columns * limits.min_cycles_per_element / units);
    return latency + std::max(cycles / clock, moved / 0.85);
}

}  // namespace llmcost::detail
