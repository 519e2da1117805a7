// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/step.hpp>

namespace llmcost {

/// Equal calls of an ATen operator.
struct torch_operator {
    torch_kernel kernel{};  ///< the first kernel of a call: name, phase, type, operands
    double calls = 0;
    double launches = 0;  ///< kernels of all calls
    double seconds = 0;   ///< of all calls, on the device
    count flops{};        ///< of products, convolutions and attention, over all calls
    count bytes{};        ///< read and written, over all calls

    /// Arithmetic intensity: FLOPs per byte read or written; 0 if there are no bytes.
    [[nodiscard]] double intensity() const {
        return bytes == count{} ? 0 : static_cast<double>(flops) / static_cast<double>(bytes);
    }
};

/// The calls that one row of `torch_operators_of` contains.
enum class torch_operator_key : std::uint8_t {
    name,    ///< as `key_averages()` of PyTorch's profiler
    shapes,  ///< equal name, phase, type and operands, as `key_averages(group_by_input_shape=True)`
};

/// The operators of a step as PyTorch's profiler lists them, in the order of their first call.
[[nodiscard]] std::vector<torch_operator> torch_operators_of(const torch_step& step, torch_operator_key key);

/// The name of a kernel in a profile: an operator, or a fused kernel with the names of its operators.
[[nodiscard]] std::string profile_name_of(const torch_kernel& k);

/// The sizes of the operands of a kernel, as `[512, 1024] [1024, 3072]`.
[[nodiscard]] std::string operands_label(const torch_kernel& k);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/operators.ipp>  // IWYU pragma: export
#endif
