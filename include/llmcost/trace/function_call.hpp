// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/tensor.hpp>

namespace llmcost {

// clang-format off
/// PyTorch's functions whose one call is several of ATen's operations, or the same one that another function executes.
enum class torch_function : std::uint8_t {
    linear, matmul, bmm, addmm,
    baddbmm,          ///< `torch.baddbmm`
    einsum, scaled_dot_product_attention, convolution_transposed,
    matmul_operator,  ///< a @ b
    mul_function,     ///< `torch.mul`, which the operator * is not
    softmax_method,   ///< `Tensor.softmax` and `torch.softmax`, which are not `F.softmax`
    baddbmm_beta_zero,    ///< `torch.baddbmm` with beta 0
    baddbmm_method,   ///< `Tensor.baddbmm`
    stored_gelu,        ///< Transformers' own `gelu`, a module that keeps `F.gelu`
    relu_function,    ///< `torch.relu`, which is not `F.relu`
    stored_relu,        ///< `F.relu` that a module has kept since it was made
};
// clang-format on

/// One call of such a function, as Python makes it; its first inputs are those that are multiplied.
struct function_call {
    torch_function function;
    const tensor* const* inputs;
    int input_count;
    const tensor* bias = nullptr;  ///< what `linear` and `addmm` add
};

}  // namespace llmcost
