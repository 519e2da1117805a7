// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/torch/kernel.hpp>

namespace llmcost {

/// An operator of a kernel, with the elements that it reads or computes.
struct fused_operator {
    std::int32_t tape_node = -1;
    std::uint64_t elements = 0;
};

/// A kernel of a compiled graph: operators that Inductor fuses into a Triton kernel, or one call of a library.
struct fusion_group {
    std::vector<std::int32_t> nodes;  ///< whose results exist at least within the kernel; of a library: one
    bool is_external = false;
    bool has_reduction = false;
    bool is_column_reduction = false;
    bool is_mixed = false;       ///< sums rows and columns of the same tensors
    std::uint64_t elements = 0;  ///< results of the reduction; pointwise: elements
    std::uint64_t reduced = 1;   ///< elements per result
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;
    std::vector<std::int32_t> read;               ///< nodes of other kernels or graphs
    std::vector<std::int32_t> written;            ///< nodes that other kernels or graphs read
    std::string operators;                        ///< names of the fused operators, as in the name of the kernel
    std::vector<fused_operator> fused_operators;  ///< with those that are inlined
    std::vector<torch_kernel> kernels;            ///< of a library
};

/// The device that Inductor chooses kernels for.
struct inductor_device {
    std::uint64_t num_multiprocessors = 132;
    std::uint64_t max_threads_per_multiprocessor = 2048;
};

}  // namespace llmcost
