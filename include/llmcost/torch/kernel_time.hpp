// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/devices/device.hpp>
#include <llmcost/torch/kernel.hpp>

namespace llmcost {

/// The limits of a class of kernels that move data.
///
///     t = latency + max(bytes / (bandwidth · b), elements / (multiprocessors · clock · elements_per_cycle))
///         + rows · cycles_per_row / (multiprocessors · clock)
///
/// `b` is `bandwidth`, times `cached_bandwidth` for kernels whose tensors fit into the last-level cache.
/// `elements_per_cycle` is the rate at which a multiprocessor computes the offsets of elements; 0: no limit.
/// `cycles_per_row` is the latency of a row divided by the rows in flight on a multiprocessor.
struct memory_kernel_limits {
    torch_kernel_kind kind;
    double latency = 0;    ///< microseconds
    double bandwidth = 1;  ///< fraction of the datasheet bandwidth
    double elements_per_cycle = 0;
    double cycles_per_row = 0;
};

// Source: 30 training steps of PyTorch 2.11 on an H200 (tests/torch/h200_steps.jsonl.gz), by class.
// clang-format off
inline constexpr memory_kernel_limits memory_kernel_table[]{
    {torch_kernel_kind::elementwise,         1.0, 0.87, 0, 0},
    {torch_kernel_kind::elementwise_strided, 1.3, 0.87, 1.25, 0},
    {torch_kernel_kind::elementwise_cast,    1.8, 0.65, 0, 0},
    {torch_kernel_kind::gelu,                1.0, 0.87, 2.75, 0},
    {torch_kernel_kind::gelu_backward,       1.0, 0.87, 2.05, 0},
    {torch_kernel_kind::copy,                1.5, 0.80, 1.0, 0},
    {torch_kernel_kind::copy_contiguous,     1.2, 0.87, 0, 0},
    {torch_kernel_kind::fill,                0.8, 0.97, 0, 0},
    {torch_kernel_kind::cat,                 2.0, 0.80, 0.75, 0},
    {torch_kernel_kind::row_reduction,       2.6, 0.90, 0, 37},
    {torch_kernel_kind::channel_reduction,   2.6, 0.36, 0, 0},
    {torch_kernel_kind::column_reduction,    8.0, 0.70, 0, 100},
    {torch_kernel_kind::softmax,             2.0, 0.88, 0, 16},
    {torch_kernel_kind::softmax_backward,    2.0, 0.92, 0, 0},
    {torch_kernel_kind::layer_norm,          2.5, 0.88, 0, 320},
    {torch_kernel_kind::layer_norm_backward, 6.0, 0.85, 0, 930},
    {torch_kernel_kind::group_norm,          3.0, 0.60, 0, 0},
    {torch_kernel_kind::group_norm_backward, 3.0, 0.60, 0, 0},
    {torch_kernel_kind::gather,              2.0, 0.60, 0, 0},
    {torch_kernel_kind::scatter,             8.0, 0.30, 0, 0},
    {torch_kernel_kind::sort,                10., 0.20, 0, 0},
    {torch_kernel_kind::scan,                2.5, 0.30, 0, 0},
    {torch_kernel_kind::pooling,             2.0, 0.60, 0.233, 0},
    {torch_kernel_kind::pooling_backward,    2.0, 0.60, 0.342, 0},
    {torch_kernel_kind::layout,              2.7, 0.63, 0, 0},
    {torch_kernel_kind::fused_optimizer,     5.0, 0.72, 0, 0},
};
// clang-format on

/// Seconds of a kernel on a device, without the launch by the host.
///
/// Products run in tiles on multiprocessors, in waves; of all tile sizes and splits of the inner dimension the fastest
/// counts, as cuBLAS chooses by its heuristics. Half-precision operands with rows that are not aligned to 16 bytes fall
/// to kernels with narrow loads.
[[nodiscard]] double kernel_seconds(const device& d, const torch_kernel& k);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/kernel_time.ipp>  // IWYU pragma: export
#endif
