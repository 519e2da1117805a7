// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost {

/// A kernel of the gradient of an operation's input. It reads `reads` tensors of the gradient's size.
struct gradient_kernel {
    literal name = "";
    std::int8_t reads = 0;
    torch_kernel_kind kind = torch_kernel_kind::elementwise;
};

/// The kernels of an operation: one in forward, and those of each gradient in backward.
struct operation_kernels {
    op kind;
    literal name;  ///< ATen operator of the forward kernel; empty: no kernel
    torch_kernel_kind forward = torch_kernel_kind::elementwise;
    gradient_kernel backward[4]{};
    bool is_joint = false;  ///< one call of the backward function computes the gradients of all inputs
};

// Names: aten/src/ATen/native/native_functions.yaml. Gradients: tools/autograd/derivatives.yaml and the functions that
// it calls in torch/csrc/autograd/FunctionsManual.cpp, one kernel per ATen call.
// clang-format off
inline constexpr operation_kernels kernel_table[num_ops]{
    {op::matmul,              "aten::mm",      torch_kernel_kind::product},
    {op::matmul_bias,         "aten::addmm",   torch_kernel_kind::product},
    {op::batched_matmul,      "aten::bmm",     torch_kernel_kind::batched_product},
    {op::batched_matmul_bias, "aten::baddbmm", torch_kernel_kind::batched_product},
    {op::batched_matmul_scaled, "aten::baddbmm", torch_kernel_kind::batched_product},
    {op::batched_matmul_bias_scaled, "aten::baddbmm", torch_kernel_kind::batched_product},
    {op::convolution,         "aten::cudnn_convolution", torch_kernel_kind::convolution},
    {op::convolution_bias,    "aten::cudnn_convolution", torch_kernel_kind::convolution},
    {op::add,                 "aten::add",     torch_kernel_kind::elementwise},
    {op::sub,                 "aten::sub",     torch_kernel_kind::elementwise, {{"aten::neg", 1}}},
    {op::mul,                 "aten::mul",     torch_kernel_kind::elementwise, {{"aten::mul", 2}}},
    {op::div,                 "aten::div",     torch_kernel_kind::elementwise, {{"aten::div", 2}}},
    {op::neg,                 "aten::neg",     torch_kernel_kind::elementwise, {{"aten::neg", 1}}},
    {op::exp,                 "aten::exp",     torch_kernel_kind::elementwise, {{"aten::mul", 2}}},
    {op::expm1,               "aten::expm1",   torch_kernel_kind::elementwise, {{"aten::add", 1}, {"aten::mul", 2}}},
    {op::log,                 "aten::log",     torch_kernel_kind::elementwise, {{"aten::div", 2}}},
    {op::log1p,               "aten::log1p",   torch_kernel_kind::elementwise, {{"aten::add", 1}, {"aten::div", 2}}},
    {op::sin,                 "aten::sin",     torch_kernel_kind::elementwise, {{"aten::cos", 1}, {"aten::mul", 2}}},
    {op::cos,                 "aten::cos",     torch_kernel_kind::elementwise, {{"aten::sin", 1}, {"aten::neg", 1}, {"aten::mul", 2}}},
    {op::acos,                "aten::acos",    torch_kernel_kind::elementwise, {{"aten::mul", 1}, {"aten::rsub", 1}, {"aten::rsqrt", 1}, {"aten::mul", 2}}},
    {op::tanh,                "aten::tanh",    torch_kernel_kind::elementwise, {{"aten::tanh_backward", 2}}},
    {op::erf,                 "aten::erf",     torch_kernel_kind::elementwise, {{"aten::pow", 1}, {"aten::neg", 1}, {"aten::exp", 1}, {"aten::mul", 2}}},
    {op::sqrt,                "aten::sqrt",    torch_kernel_kind::elementwise, {{"aten::mul", 1}, {"aten::div", 2}}},
    {op::rsqrt,               "aten::rsqrt",   torch_kernel_kind::elementwise, {{"aten::mul", 1}, {"aten::pow", 1}, {"aten::mul", 2}}},
    {op::reciprocal,          "aten::reciprocal", torch_kernel_kind::elementwise, {{"aten::neg", 1}, {"aten::mul", 2}, {"aten::mul", 2}}},
    {op::root_power,          "aten::pow",     torch_kernel_kind::elementwise, {{"aten::pow", 1}, {"aten::mul", 1}, {"aten::mul", 2}}},
    {op::inverse_root_power,  "aten::pow",     torch_kernel_kind::elementwise, {{"aten::pow", 1}, {"aten::mul", 1}, {"aten::mul", 2}}},
    {op::integer_power,       "aten::pow",     torch_kernel_kind::elementwise, {{"aten::pow", 1}, {"aten::mul", 1}, {"aten::mul", 2}}},
    {op::power,               "aten::pow",     torch_kernel_kind::elementwise, {{"aten::pow", 2}, {"aten::mul", 2}, {"aten::mul", 2}}},
    {op::complex_mul,         "aten::mul",     torch_kernel_kind::elementwise, {{"aten::mul", 2}}},
    {op::polar,               "aten::polar",   torch_kernel_kind::elementwise},
    {op::sigmoid,             "aten::sigmoid", torch_kernel_kind::elementwise, {{"aten::sigmoid_backward", 2}}},
    {op::log_sigmoid,         "aten::log_sigmoid_forward", torch_kernel_kind::elementwise, {{"aten::log_sigmoid_backward", 2}}},
    {op::silu,                "aten::silu",    torch_kernel_kind::elementwise, {{"aten::silu_backward", 2}}},
    {op::glu,                 "aten::glu",     torch_kernel_kind::elementwise, {{"aten::glu_backward", 2}}},
    {op::gelu,                "aten::gelu",    torch_kernel_kind::gelu, {{"aten::gelu_backward", 2, torch_kernel_kind::gelu_backward}}},
    {op::gelu_tanh,           "aten::gelu",    torch_kernel_kind::gelu, {{"aten::gelu_backward", 2, torch_kernel_kind::gelu_backward}}},
    {op::relu,                "aten::clamp_min", torch_kernel_kind::elementwise, {{"aten::threshold_backward", 2}}},
    {op::leaky_relu,          "aten::leaky_relu", torch_kernel_kind::elementwise, {{"aten::leaky_relu_backward", 2}}},
    {op::hardswish,           "aten::hardswish", torch_kernel_kind::elementwise, {{"aten::hardswish_backward", 2}}},
    {op::hardsigmoid,         "aten::hardsigmoid", torch_kernel_kind::elementwise, {{"aten::hardsigmoid_backward", 2}}},
    {op::softplus,            "aten::softplus", torch_kernel_kind::elementwise, {{"aten::softplus_backward", 2}}},
    {op::compare,             "aten::eq",      torch_kernel_kind::elementwise},
    {op::absolute,            "aten::abs",     torch_kernel_kind::elementwise, {{"aten::sgn", 1}, {"aten::mul", 2}}},
    {op::maximum,             "aten::maximum", torch_kernel_kind::elementwise, {{"aten::eq", 2}, {"aten::div", 1}, {"aten::lt", 2}, {"aten::masked_fill_", 1}}},
    {op::minimum,             "aten::minimum", torch_kernel_kind::elementwise, {{"aten::eq", 2}, {"aten::div", 1}, {"aten::gt", 2}, {"aten::masked_fill_", 1}}},
    {op::clamp,               "aten::clamp",   torch_kernel_kind::elementwise, {{"aten::ge", 1}, {"aten::where", 2}}},
    {op::sum,                 "aten::sum",     torch_kernel_kind::row_reduction},
    {op::mean,                "aten::mean",    torch_kernel_kind::row_reduction, {{"aten::div", 0}}},
    {op::std,                 "aten::std",     torch_kernel_kind::row_reduction, {{"aten::div", 0}, {"aten::sub", 1}, {"aten::mul", 2}}},
    {op::variance,            "aten::var",     torch_kernel_kind::row_reduction, {{"aten::sub", 1}, {"aten::mul", 2}}},
    {op::max,                 "aten::amax",    torch_kernel_kind::row_reduction, {{"aten::eq", 1}, {"aten::mul", 1}}},
    {op::logsumexp,           "aten::logsumexp", torch_kernel_kind::row_reduction, {{"aten::sub", 1}, {"aten::exp", 1}, {"aten::mul", 1}}},
    {op::vector_norm,         "aten::linalg_vector_norm", torch_kernel_kind::row_reduction, {{"aten::div", 1}, {"aten::mul", 1}}},
    {op::cumsum,              "aten::cumsum",  torch_kernel_kind::scan, {{"aten::flip", 1}, {"aten::cumsum", 1, torch_kernel_kind::scan}, {"aten::flip", 1}}},
    {op::softmax,             "aten::_softmax", torch_kernel_kind::softmax, {{"aten::mul", 2}, {"aten::_softmax_backward_data", 2, torch_kernel_kind::softmax_backward}}},
    {op::log_softmax,         "aten::_log_softmax", torch_kernel_kind::softmax, {{"aten::_log_softmax_backward_data", 2, torch_kernel_kind::softmax_backward}}},
    {op::nll_loss,            "aten::nll_loss_forward", torch_kernel_kind::fill, {{"aten::fill_", 0, torch_kernel_kind::fill}}},
    {op::layer_norm,          "aten::native_layer_norm", torch_kernel_kind::layer_norm, {{"aten::native_layer_norm_backward", 2, torch_kernel_kind::layer_norm_backward}}, true},
    {op::layer_norm_weight,   "aten::native_layer_norm", torch_kernel_kind::layer_norm, {{"aten::native_layer_norm_backward", 2, torch_kernel_kind::layer_norm_backward}}, true},
    {op::layer_norm_affine,   "aten::native_layer_norm", torch_kernel_kind::layer_norm, {{"aten::native_layer_norm_backward", 2, torch_kernel_kind::layer_norm_backward}}, true},
    {op::group_norm,          "aten::native_group_norm", torch_kernel_kind::group_norm, {{"aten::native_group_norm_backward", 4, torch_kernel_kind::group_norm_backward}}, true},
    {op::group_norm_affine,   "aten::native_group_norm", torch_kernel_kind::group_norm, {{"aten::native_group_norm_backward", 4, torch_kernel_kind::group_norm_backward}}, true},
    {op::batch_norm,          "aten::cudnn_batch_norm", torch_kernel_kind::batch_norm, {{"aten::cudnn_batch_norm_backward", 4, torch_kernel_kind::batch_norm_backward}}, true},
    {op::batch_norm_affine,   "aten::cudnn_batch_norm", torch_kernel_kind::batch_norm, {{"aten::cudnn_batch_norm_backward", 4, torch_kernel_kind::batch_norm_backward}}, true},
    {op::batch_norm_with_stats, "aten::cudnn_batch_norm", torch_kernel_kind::batch_norm, {{"aten::cudnn_batch_norm_backward", 4, torch_kernel_kind::batch_norm_backward}}, true},
    {op::instance_norm_affine, "aten::cudnn_batch_norm", torch_kernel_kind::batch_norm, {{"aten::cudnn_batch_norm_backward", 4, torch_kernel_kind::batch_norm_backward}}, true},
    {op::average_pool,        "aten::mean",    torch_kernel_kind::pooling, {{"aten::div", 0}}},
    {op::max_pool,            "aten::max_pool2d_with_indices", torch_kernel_kind::pooling, {{"aten::fill_", 0, torch_kernel_kind::fill}, {"aten::max_pool2d_with_indices_backward", 1, torch_kernel_kind::pooling_backward}}},
    {op::linear_1d,           "aten::upsample_linear1d", torch_kernel_kind::elementwise_strided, {{"aten::upsample_linear1d_backward", 1, torch_kernel_kind::scatter}}},
    {op::bilinear,            "aten::upsample_bilinear2d", torch_kernel_kind::elementwise_strided, {{"aten::upsample_bilinear2d_backward", 1, torch_kernel_kind::scatter}}},
    {op::trilinear,           "aten::upsample_trilinear3d", torch_kernel_kind::elementwise_strided, {{"aten::upsample_trilinear3d_backward", 1, torch_kernel_kind::scatter}}},
    {op::bicubic,             "aten::upsample_bicubic2d", torch_kernel_kind::elementwise_strided, {{"aten::upsample_bicubic2d_backward", 1, torch_kernel_kind::scatter}}},
    {op::unit_triangular_solve, "aten::linalg_solve_triangular", torch_kernel_kind::batched_product},
    {op::weight_norm,         "aten::_weight_norm_interface", torch_kernel_kind::layer_norm, {{"aten::_weight_norm_interface_backward", 2, torch_kernel_kind::layer_norm_backward}}, true},
    {op::attention,           "aten::_scaled_dot_product_attention", torch_kernel_kind::attention},
    {op::copy,                "aten::copy_",   torch_kernel_kind::copy, {{"aten::copy_", 1}}},
    {op::cat,                 "aten::cat",     torch_kernel_kind::cat},
    {op::gather,              "aten::index_select", torch_kernel_kind::gather, {{"aten::fill_", 0, torch_kernel_kind::fill}, {"aten::_index_put_impl_", 1, torch_kernel_kind::scatter}}},
    {op::constant,            "aten::fill_",   torch_kernel_kind::fill},
    {op::where,               "aten::where",   torch_kernel_kind::elementwise, {{"aten::where", 1}}},
    {op::top_k,               "aten::topk",    torch_kernel_kind::sort, {{"aten::fill_", 0, torch_kernel_kind::fill}, {"aten::scatter", 1, torch_kernel_kind::scatter}}},
    {op::scatter,             "aten::scatter", torch_kernel_kind::scatter, {{"aten::gather", 1, torch_kernel_kind::gather}}},
    {op::index_add,           "aten::index_add_", torch_kernel_kind::scatter, {{"aten::index_select", 1, torch_kernel_kind::gather}}},
};
// clang-format on

/// Names of operators that write into their input.
struct in_place_operator {
    op kind;
    literal name;
};
inline constexpr in_place_operator in_place_operators[]{
    {op::add, "aten::add_"},           {op::mul, "aten::mul_"},   {op::div, "aten::div_"},
    {op::relu, "aten::clamp_min_"},    {op::silu, "aten::silu_"}, {op::hardswish, "aten::hardswish_"},
    {op::where, "aten::masked_fill_"},
};

/// The kernels of an operation.
[[nodiscard]] constexpr const operation_kernels& kernels_of(op kind) noexcept {
    return kernel_table[static_cast<std::size_t>(kind)];
}

namespace detail {
consteval bool kernel_table_is_in_order() {
    for (std::size_t i = 0; i < num_ops; ++i)
        if (kernel_table[i].kind != static_cast<op>(i)) return false;
    return true;
}
static_assert(kernel_table_is_in_order());
}  // namespace detail

}  // namespace llmcost
