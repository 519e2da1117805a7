// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/tensor.hpp>

namespace llmcost {

// clang-format off
/// PyTorch functions that run several ATen operations, or the operation of another function.
enum class torch_function : std::uint8_t {
    linear, matmul, bmm, addmm,
    baddbmm,          ///< `torch.baddbmm`
    einsum, scaled_dot_product_attention, convolution_transposed,
    matmul_operator,  ///< a @ b
    mul_function,     ///< `torch.mul`, as opposed to the operator `*`
    softmax_method,   ///< `Tensor.softmax` and `torch.softmax`, as opposed to `F.softmax`
    baddbmm_beta_zero,    ///< `torch.baddbmm` with beta 0
    baddbmm_method,   ///< `Tensor.baddbmm`
    stored_gelu,        ///< Transformers' own `gelu`, a module that stores `F.gelu`
    relu_function,    ///< `torch.relu`, as opposed to `F.relu`
    stored_relu,        ///< `F.relu`, stored by a module at construction
};
// clang-format on

/// One call of a PyTorch function from Python. The first inputs are the factors of the product.
struct function_call {
    torch_function function;
    const tensor* const* inputs;
    int input_count;
    const tensor* bias = nullptr;  ///< the term that `linear` and `addmm` add
};

}  // namespace llmcost
