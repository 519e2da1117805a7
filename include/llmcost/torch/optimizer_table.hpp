// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/torch/kernel.hpp>

namespace llmcost {

/// The size of a tensor of an optimizer, relative to its parameter.
enum class optimizer_extent : std::uint8_t {
    parameter,
    row_means,     ///< one element per row (Adafactor)
    column_means,  ///< one element per column (Adafactor)
    means,         ///< both
    projected,     ///< the projected gradient of a matrix of a layer, otherwise the parameter (GaLore, APOLLO)
    channels,      ///< one element per row of the projected gradient (APOLLO)
    scalar
};

/// The element type of a tensor of an optimizer; `own`: that of the parameter or its master weight.
enum class optimizer_type : std::uint8_t { own, float32, bfloat16 };

/// The parameters that a kernel of an optimizer is launched for.
enum class parameter_subset : std::uint8_t {
    all,
    matrices,        ///< two dimensions or more
    vectors,         ///< all others
    layer_matrices,  ///< matrices of layers, which Muon, GaLore and APOLLO update
    others           ///< all others
};

/// The calls that launch a kernel of an optimizer.
enum class optimizer_call : std::uint8_t {
    foreach,        ///< one call for the lists of all parameters
    per_parameter,  ///< a loop over parameters
    step_product    ///< the next product of `memory_timeline::optimizer_products`, for each parameter
};

/// A kernel of an optimizer step: it reads and writes `reads` and `writes` tensors.
struct optimizer_kernel {
    literal name = "";
    torch_kernel_kind kind = torch_kernel_kind::multi_tensor;
    optimizer_call call = optimizer_call::foreach;
    std::int8_t reads = 0, writes = 1;
    std::int8_t num_lists = 0;     ///< arguments of a foreach function that are lists of tensors
    bool has_scalar_list = false;  ///< of a foreach function: one number per tensor
    bool updates_state = false;    ///< also reads and writes the state of the optimizer
    bool is_accumulated = false;   ///< a product that is added to a copy of another tensor
    bool only_16_bit = false;      ///< not launched for float32 parameters
    optimizer_extent read_extent = optimizer_extent::parameter, write_extent = optimizer_extent::parameter;
    optimizer_type read_type = optimizer_type::own, write_type = optimizer_type::own;
    parameter_subset subset = parameter_subset::all;
    bool has_other_operand = false;  ///< also reads a tensor of another size or type
    optimizer_extent other_extent = optimizer_extent::parameter;
    optimizer_type other_type = optimizer_type::own;

    /// The kernel, launched for some parameters only.
    [[nodiscard]] consteval optimizer_kernel limited_to(parameter_subset s) const {
        optimizer_kernel k = *this;
        k.subset = s;
        return k;
    }
    /// The kernel with another operand.
    [[nodiscard]] consteval optimizer_kernel with_operand(optimizer_extent e,
                                                          optimizer_type t = optimizer_type::own) const {
        optimizer_kernel k = *this;
        k.has_other_operand = true;
        k.other_extent = e;
        k.other_type = t;
        return k;
    }
    /// The kernel on tensors of another size.
    [[nodiscard]] consteval optimizer_kernel sized(optimizer_extent e) const {
        optimizer_kernel k = *this;
        k.read_extent = k.write_extent = e;
        return k;
    }
    /// The kernel on tensors of another type.
    [[nodiscard]] consteval optimizer_kernel typed(optimizer_type t) const {
        optimizer_kernel k = *this;
        k.read_type = k.write_type = t;
        return k;
    }
};

namespace detail::optimizer_kernels {

/// A foreach function with `num_lists` lists of tensors.
consteval optimizer_kernel multi_tensor(literal name, std::int8_t num_lists, std::int8_t reads) {
    return {.name = name, .reads = reads, .num_lists = num_lists};
}
/// A foreach function with a number per tensor.
consteval optimizer_kernel foreach_scalars(literal name, std::int8_t num_lists, std::int8_t reads) {
    return {.name = name, .reads = reads, .num_lists = num_lists, .has_scalar_list = true};
}
/// `torch._fused_adam_`: reads parameters, gradients and state, writes parameters and state.
consteval optimizer_kernel fused(literal name) {
    return {.name = name, .kind = torch_kernel_kind::fused_optimizer, .reads = 4, .writes = 3, .num_lists = 4};
}
/// An elementwise function of each parameter.
consteval optimizer_kernel elementwise(literal name, std::int8_t reads,
                                       torch_kernel_kind kind = torch_kernel_kind::elementwise) {
    return {.name = name, .kind = kind, .call = optimizer_call::per_parameter, .reads = reads};
}
/// A reduction of each parameter.
consteval optimizer_kernel reduce(literal name, optimizer_extent input, optimizer_extent output) {
    return {.name = name,
            .kind = output == optimizer_extent::column_means ? torch_kernel_kind::column_reduction
                                                             : torch_kernel_kind::row_reduction,
            .call = optimizer_call::per_parameter,
            .reads = 1,
            .read_extent = input,
            .write_extent = output};
}
/// A function of a scalar on the device.
consteval optimizer_kernel function_of_scalar(literal name) {
    return elementwise(name, 1).sized(optimizer_extent::scalar);
}
/// A copy of a scalar to the host.
consteval optimizer_kernel item() {
    return elementwise("aten::_local_scalar_dense", 1, torch_kernel_kind::copy_contiguous)
        .sized(optimizer_extent::scalar);
}
consteval optimizer_kernel cast(optimizer_type input, optimizer_type output) {
    optimizer_kernel k = elementwise("aten::copy_", 1, torch_kernel_kind::elementwise_cast);
    k.read_type = input;
    k.write_type = output;
    return k;
}
/// A cast that float32 parameters do not need.
consteval optimizer_kernel cast_16_bit(optimizer_type input, optimizer_type output) {
    optimizer_kernel k = cast(input, output);
    k.only_16_bit = true;
    return k;
}
consteval optimizer_kernel product(literal name, bool is_accumulated = false) {
    return {.name = name,
            .kind = torch_kernel_kind::product,
            .call = optimizer_call::step_product,
            .is_accumulated = is_accumulated,
            .subset = parameter_subset::layer_matrices};
}

using enum optimizer_extent;
using enum optimizer_type;
using enum parameter_subset;
inline constexpr auto strided = torch_kernel_kind::elementwise_strided;

// Source: torch/optim/sgd.py, `_multi_tensor_sgd`, `_single_tensor_sgd`.
inline constexpr optimizer_kernel sgd[]{multi_tensor("aten::_foreach_add_", 2, 2)};
inline constexpr optimizer_kernel sgd_momentum[]{multi_tensor("aten::_foreach_mul_", 1, 1),
                                                 multi_tensor("aten::_foreach_add_", 2, 2),
                                                 multi_tensor("aten::_foreach_add_", 2, 2)};
inline constexpr optimizer_kernel sgd_nesterov[]{
    multi_tensor("aten::_foreach_mul_", 1, 1), multi_tensor("aten::_foreach_add_", 2, 2),
    multi_tensor("aten::_foreach_add_", 2, 2), multi_tensor("aten::_foreach_add_", 2, 2)};
inline constexpr optimizer_kernel sgd_nesterov_single[]{elementwise("aten::mul_", 1), elementwise("aten::add_", 2),
                                                        elementwise("aten::add", 2), elementwise("aten::add_", 2)};

// Source: torch/optim/adam.py, `_multi_tensor_adam`, `_single_tensor_adam`, `_fused_adam`; its step counters are on the
// device.
inline constexpr optimizer_kernel adam[]{
    multi_tensor("aten::_foreach_lerp_", 2, 2),      multi_tensor("aten::_foreach_mul_", 1, 1),
    multi_tensor("aten::_foreach_addcmul_", 3, 2),   multi_tensor("aten::_foreach_sqrt", 2, 1),
    foreach_scalars("aten::_foreach_div_", 1, 1),    multi_tensor("aten::_foreach_add_", 1, 1),
    foreach_scalars("aten::_foreach_addcdiv_", 3, 3)};
inline constexpr optimizer_kernel adam_amsgrad[]{
    multi_tensor("aten::_foreach_lerp_", 2, 2),    multi_tensor("aten::_foreach_mul_", 1, 1),
    multi_tensor("aten::_foreach_addcmul_", 3, 2), multi_tensor("aten::_foreach_maximum_", 2, 2),
    multi_tensor("aten::_foreach_sqrt", 2, 1),     foreach_scalars("aten::_foreach_div_", 1, 1),
    multi_tensor("aten::_foreach_add_", 1, 1),     foreach_scalars("aten::_foreach_addcdiv_", 3, 3)};
inline constexpr optimizer_kernel adam_single[]{elementwise("aten::lerp_", 2),    elementwise("aten::mul_", 1),
                                                elementwise("aten::addcmul_", 2), elementwise("aten::sqrt", 1),
                                                elementwise("aten::div", 1),      elementwise("aten::add_", 1),
                                                elementwise("aten::addcdiv_", 3)};
inline constexpr optimizer_kernel adam_fused[]{multi_tensor("aten::_foreach_add_", 1, 1).sized(scalar).typed(float32),
                                               fused("aten::_fused_adam_")};
inline constexpr optimizer_kernel adamw[]{
    multi_tensor("aten::_foreach_mul_", 1, 1), multi_tensor("aten::_foreach_lerp_", 2, 2),
    multi_tensor("aten::_foreach_mul_", 1, 1), multi_tensor("aten::_foreach_addcmul_", 3, 2),
    multi_tensor("aten::_foreach_sqrt", 2, 1), foreach_scalars("aten::_foreach_div_", 1, 1),
    multi_tensor("aten::_foreach_add_", 1, 1), foreach_scalars("aten::_foreach_addcdiv_", 3, 3)};
inline constexpr optimizer_kernel adamw_amsgrad[]{
    multi_tensor("aten::_foreach_mul_", 1, 1),       multi_tensor("aten::_foreach_lerp_", 2, 2),
    multi_tensor("aten::_foreach_mul_", 1, 1),       multi_tensor("aten::_foreach_addcmul_", 3, 2),
    multi_tensor("aten::_foreach_maximum_", 2, 2),   multi_tensor("aten::_foreach_sqrt", 2, 1),
    foreach_scalars("aten::_foreach_div_", 1, 1),    multi_tensor("aten::_foreach_add_", 1, 1),
    foreach_scalars("aten::_foreach_addcdiv_", 3, 3)};
inline constexpr optimizer_kernel adamw_single[]{elementwise("aten::mul_", 1), elementwise("aten::lerp_", 2),
                                                 elementwise("aten::mul_", 1), elementwise("aten::addcmul_", 2),
                                                 elementwise("aten::sqrt", 1), elementwise("aten::div", 1),
                                                 elementwise("aten::add_", 1), elementwise("aten::addcdiv_", 3)};
inline constexpr optimizer_kernel adamw_fused[]{multi_tensor("aten::_foreach_add_", 1, 1).sized(scalar).typed(float32),
                                                fused("aten::_fused_adamw_")};

// Source: torch/optim/{rmsprop,nadam,radam,adamax,adagrad,adadelta}.py, `_multi_tensor_*`.
inline constexpr optimizer_kernel rmsprop[]{
    multi_tensor("aten::_foreach_mul_", 1, 1), multi_tensor("aten::_foreach_addcmul_", 3, 2),
    multi_tensor("aten::_foreach_sqrt", 2, 1), multi_tensor("aten::_foreach_add_", 1, 1),
    multi_tensor("aten::_foreach_addcdiv_", 3, 3)};
inline constexpr optimizer_kernel nadam[]{
    multi_tensor("aten::_foreach_lerp_", 2, 2),       multi_tensor("aten::_foreach_mul_", 1, 1),
    multi_tensor("aten::_foreach_addcmul_", 3, 2),    multi_tensor("aten::_foreach_sqrt", 2, 1),
    foreach_scalars("aten::_foreach_div_", 1, 1),     multi_tensor("aten::_foreach_add_", 1, 1),
    foreach_scalars("aten::_foreach_addcdiv_", 3, 3), foreach_scalars("aten::_foreach_addcdiv_", 3, 3)};
inline constexpr optimizer_kernel radam[]{
    multi_tensor("aten::_foreach_lerp_", 2, 2),       multi_tensor("aten::_foreach_mul_", 1, 1),
    multi_tensor("aten::_foreach_addcmul_", 3, 2),    multi_tensor("aten::_foreach_sqrt", 2, 1),
    multi_tensor("aten::_foreach_add_", 1, 1),        foreach_scalars("aten::_foreach_div_", 1, 1),
    multi_tensor("aten::_foreach_reciprocal_", 1, 1), foreach_scalars("aten::_foreach_add_", 1, 1),
    multi_tensor("aten::_foreach_addcmul_", 3, 3)};
inline constexpr optimizer_kernel adamax[]{
    multi_tensor("aten::_foreach_lerp_", 2, 2),    multi_tensor("aten::_foreach_mul_", 1, 1),
    multi_tensor("aten::_foreach_abs", 2, 1),      multi_tensor("aten::_foreach_add_", 1, 1),
    multi_tensor("aten::_foreach_maximum_", 2, 2), foreach_scalars("aten::_foreach_addcdiv_", 3, 3)};
inline constexpr optimizer_kernel adagrad[]{
    multi_tensor("aten::_foreach_addcmul_", 3, 2), multi_tensor("aten::_foreach_sqrt", 2, 1),
    multi_tensor("aten::_foreach_add_", 1, 1), foreach_scalars("aten::_foreach_mul", 2, 1),
    multi_tensor("aten::_foreach_addcdiv_", 3, 3)};
inline constexpr optimizer_kernel adadelta[]{
    multi_tensor("aten::_foreach_mul_", 1, 1), multi_tensor("aten::_foreach_addcmul_", 3, 2),
    multi_tensor("aten::_foreach_add", 2, 1),  multi_tensor("aten::_foreach_sqrt_", 1, 1),
    multi_tensor("aten::_foreach_add", 2, 1),  multi_tensor("aten::_foreach_sqrt_", 1, 1),
    multi_tensor("aten::_foreach_div_", 2, 2), multi_tensor("aten::_foreach_mul_", 2, 2),
    multi_tensor("aten::_foreach_mul_", 1, 1), multi_tensor("aten::_foreach_addcmul_", 3, 2),
    multi_tensor("aten::_foreach_add_", 2, 2)};

// Step counters and rates are on the device. `addcmul` with tensors of different sizes is a loop over parameters
// (ForeachUtils.h, `can_use_fast_route`). The rates are functions of the step counter.
// Source: torch/optim/asgd.py, `_multi_tensor_asgd`.
inline constexpr optimizer_kernel asgd[]{multi_tensor("aten::_foreach_add_", 1, 1).sized(scalar).typed(float32),
                                         multi_tensor("aten::_foreach_add", 3, 2),
                                         elementwise("aten::addcmul_", 2, strided),
                                         multi_tensor("aten::_foreach_sub", 3, 2),
                                         elementwise("aten::addcmul_", 2, strided),
                                         function_of_scalar("aten::mul"),
                                         function_of_scalar("aten::add"),
                                         function_of_scalar("aten::pow"),
                                         function_of_scalar("aten::reciprocal"),
                                         function_of_scalar("aten::mul"),
                                         item(),
                                         function_of_scalar("aten::copy_"),
                                         multi_tensor("aten::_foreach_copy_", 2, 1).sized(scalar).typed(float32),
                                         multi_tensor("aten::_foreach_copy_", 2, 1).sized(scalar).typed(float32)};

// Source: schedulefree/{adamw,sgd}_schedulefree.py, `step`, with foreach.
inline constexpr optimizer_kernel schedule_free[]{
    multi_tensor("aten::_foreach_mul_", 1, 1),  multi_tensor("aten::_foreach_addcmul_", 3, 2),
    multi_tensor("aten::_foreach_div", 2, 1),   multi_tensor("aten::_foreach_sqrt_", 1, 1),
    multi_tensor("aten::_foreach_add_", 1, 1),  multi_tensor("aten::_foreach_div_", 2, 2),
    multi_tensor("aten::_foreach_lerp_", 2, 2), multi_tensor("aten::_foreach_add_", 2, 2),
    multi_tensor("aten::_foreach_sub_", 2, 2)};
inline constexpr optimizer_kernel schedule_free_sgd[]{multi_tensor("aten::_foreach_lerp_", 2, 2),
                                                      multi_tensor("aten::_foreach_add_", 2, 2),
                                                      multi_tensor("aten::_foreach_sub_", 2, 2)};

// Source: torch/optim/_adafactor.py, `_single_tensor_adafactor`; step counters are on the host.
inline constexpr optimizer_kernel adafactor[]{
    reduce("aten::linalg_vector_norm", parameter, scalar),
    item(),
    reduce("aten::linalg_vector_norm", parameter, row_means).limited_to(matrices),
    elementwise("aten::pow_", 1).sized(row_means).limited_to(matrices),
    elementwise("aten::div_", 1).sized(row_means).limited_to(matrices),
    elementwise("aten::lerp_", 2).sized(row_means).limited_to(matrices),
    reduce("aten::linalg_vector_norm", parameter, column_means).limited_to(matrices),
    elementwise("aten::pow_", 1).sized(column_means).limited_to(matrices),
    elementwise("aten::div_", 1).sized(column_means).limited_to(matrices),
    elementwise("aten::lerp_", 2).sized(column_means).limited_to(matrices),
    {.name = "aten::mm",
     .kind = torch_kernel_kind::product,
     .call = optimizer_call::per_parameter,
     .reads = 1,
     .read_extent = means,
     .subset = matrices},
    reduce("aten::mean", row_means, scalar).limited_to(matrices),
    function_of_scalar("aten::clamp_").limited_to(matrices),
    elementwise("aten::div_", 1, strided).limited_to(matrices),
    elementwise("aten::mul", 1).limited_to(vectors),
    elementwise("aten::lerp_", 2).limited_to(vectors),
    elementwise("aten::copy_", 1, torch_kernel_kind::copy_contiguous).limited_to(vectors),
    elementwise("aten::clamp_", 1),
    elementwise("aten::rsqrt_", 1),
    elementwise("aten::mul_", 2),
    reduce("aten::linalg_vector_norm", parameter, scalar),
    item(),
    elementwise("aten::add_", 2)};

// Gradients and parameters of 16 bits are cast. Source: transformers/optimization.py, `Adafactor.step`.
inline constexpr optimizer_kernel adafactor_transformers[]{
    cast_16_bit(own, float32),
    cast_16_bit(own, float32),
    reduce("aten::linalg_vector_norm", parameter, scalar).typed(float32),
    function_of_scalar("aten::div").typed(float32),
    function_of_scalar("aten::gt").typed(float32),
    item().typed(float32),
    function_of_scalar("aten::mul").typed(float32),
    elementwise("aten::pow", 1).typed(float32),
    elementwise("aten::add", 1).typed(float32),
    elementwise("aten::mul_", 1).sized(row_means).limited_to(matrices).typed(float32),
    reduce("aten::mean", parameter, row_means).limited_to(matrices).typed(float32),
    elementwise("aten::add_", 2).sized(row_means).limited_to(matrices).typed(float32),
    elementwise("aten::mul_", 1).sized(column_means).limited_to(matrices).typed(float32),
    reduce("aten::mean", parameter, column_means).limited_to(matrices).typed(float32),
    elementwise("aten::add_", 2).sized(column_means).limited_to(matrices).typed(float32),
    reduce("aten::mean", row_means, scalar).limited_to(matrices).typed(float32),
    elementwise("aten::div", 1).sized(row_means).limited_to(matrices).typed(float32),
    elementwise("aten::rsqrt_", 1).sized(row_means).limited_to(matrices).typed(float32),
    elementwise("aten::rsqrt", 1).sized(column_means).limited_to(matrices).typed(float32),
    {.name = "aten::mul",
     .kind = strided,
     .call = optimizer_call::per_parameter,
     .reads = 1,
     .read_extent = means,
     .read_type = float32,
     .write_type = float32,
     .subset = matrices},
    elementwise("aten::mul_", 1).limited_to(vectors).typed(float32),
    elementwise("aten::add_", 2).limited_to(vectors).typed(float32),
    elementwise("aten::rsqrt", 1).limited_to(vectors).typed(float32),
    elementwise("aten::mul_", 2).typed(float32),
    reduce("aten::linalg_vector_norm", parameter, scalar).typed(float32),
    function_of_scalar("aten::div").typed(float32),
    function_of_scalar("aten::div").typed(float32),
    function_of_scalar("aten::clamp_").typed(float32),
    elementwise("aten::div_", 1, strided).typed(float32),
    elementwise("aten::mul_", 1, strided).typed(float32),
    elementwise("aten::neg", 1).typed(float32),
    elementwise("aten::add_", 2).typed(float32),
    cast_16_bit(float32, own)};

// Source: lion_pytorch/lion_pytorch.py, `update_fn`.
inline constexpr optimizer_kernel lion[]{
    elementwise("aten::mul_", 1), elementwise("aten::copy_", 1, torch_kernel_kind::copy_contiguous),
    elementwise("aten::mul_", 1), elementwise("aten::add", 2),
    elementwise("aten::sgn_", 1), elementwise("aten::add_", 2),
    elementwise("aten::mul_", 1), elementwise("aten::add_", 2)};

// Source: torch_optimizer/lamb.py, `step`.
inline constexpr optimizer_kernel lamb[]{elementwise("aten::mul_", 1),
                                         elementwise("aten::add_", 2),
                                         elementwise("aten::mul_", 1),
                                         elementwise("aten::addcmul_", 2),
                                         reduce("aten::linalg_vector_norm", parameter, scalar),
                                         function_of_scalar("aten::clamp"),
                                         elementwise("aten::sqrt", 1),
                                         elementwise("aten::add", 1),
                                         elementwise("aten::div", 2),
                                         reduce("aten::linalg_vector_norm", parameter, scalar),
                                         function_of_scalar("aten::eq"),
                                         item(),
                                         function_of_scalar("aten::eq"),
                                         item(),
                                         function_of_scalar("aten::div"),
                                         function_of_scalar("aten::mul"),
                                         item(),
                                         elementwise("aten::add_", 2)};

// Source: torch/optim/_muon.py, `_single_tensor_muon`, `_zeropower_via_newtonschulz`; AdamW for all other parameters.
inline constexpr optimizer_kernel muon[]{
    elementwise("aten::lerp_", 2).limited_to(layer_matrices),
    elementwise("aten::lerp", 2).limited_to(layer_matrices),
    cast(own, bfloat16).limited_to(layer_matrices),
    reduce("aten::linalg_vector_norm", parameter, scalar).limited_to(layer_matrices).typed(bfloat16),
    function_of_scalar("aten::clamp").limited_to(layer_matrices).typed(bfloat16),
    elementwise("aten::div_", 1, strided).limited_to(layer_matrices).typed(bfloat16),
    product("aten::mm"),
    product("aten::addmm", true),
    product("aten::addmm", true),
    elementwise("aten::mul_", 1).limited_to(layer_matrices),
    elementwise("aten::add_", 1, torch_kernel_kind::elementwise_cast)
        .limited_to(layer_matrices)
        .with_operand(parameter, bfloat16),
    multi_tensor("aten::_foreach_mul_", 1, 1).limited_to(others),
    multi_tensor("aten::_foreach_lerp_", 2, 2).limited_to(others),
    multi_tensor("aten::_foreach_mul_", 1, 1).limited_to(others),
    multi_tensor("aten::_foreach_addcmul_", 3, 2).limited_to(others),
    multi_tensor("aten::_foreach_sqrt", 2, 1).limited_to(others),
    foreach_scalars("aten::_foreach_div_", 1, 1).limited_to(others),
    multi_tensor("aten::_foreach_add_", 1, 1).limited_to(others),
    foreach_scalars("aten::_foreach_addcdiv_", 3, 3).limited_to(others)};

// A step without a new projection. Source: galore_torch/{adamw,galore_projector}.py.
inline constexpr optimizer_kernel galore[]{product("aten::mm"),
                                           elementwise("aten::mul_", 1).sized(projected),
                                           elementwise("aten::add_", 2).sized(projected),
                                           elementwise("aten::mul_", 1).sized(projected),
                                           elementwise("aten::addcmul_", 2).sized(projected),
                                           elementwise("aten::sqrt", 1).sized(projected),
                                           elementwise("aten::add_", 1).sized(projected),
                                           elementwise("aten::div", 2).sized(projected),
                                           product("aten::mm"),
                                           elementwise("aten::mul", 1).limited_to(layer_matrices),
                                           elementwise("aten::add_", 2)};

// A step without a new projection, whose norm reaches its limit. Source: apollo_torch/{apollo,random_projector}.py.
inline constexpr optimizer_kernel apollo[]{
    product("aten::mm"),
    elementwise("aten::mul_", 1).sized(projected),
    elementwise("aten::add_", 2).sized(projected),
    elementwise("aten::mul_", 1).sized(projected),
    elementwise("aten::addcmul_", 2).sized(projected),
    elementwise("aten::sqrt", 1).sized(projected),
    elementwise("aten::add_", 1).sized(projected),
    elementwise("aten::div", 2).sized(projected),
    reduce("aten::linalg_vector_norm", projected, channels).limited_to(layer_matrices),
    reduce("aten::linalg_vector_norm", projected, channels).limited_to(layer_matrices),
    elementwise("aten::add", 1).sized(channels).limited_to(layer_matrices),
    elementwise("aten::div", 2).sized(channels).limited_to(layer_matrices),
    elementwise("aten::mul", 1, strided).limited_to(layer_matrices).with_operand(channels),
    reduce("aten::linalg_vector_norm", parameter, scalar).limited_to(layer_matrices),
    function_of_scalar("aten::add").limited_to(layer_matrices),
    function_of_scalar("aten::div").limited_to(layer_matrices),
    function_of_scalar("aten::lt").limited_to(layer_matrices),
    item().limited_to(layer_matrices),
    function_of_scalar("aten::div").limited_to(layer_matrices),
    elementwise("aten::div", 1, strided).limited_to(layer_matrices),
    function_of_scalar("aten::div").limited_to(layer_matrices),
    elementwise("aten::mul_", 1).limited_to(layer_matrices),
    elementwise("aten::add_", 2)};

// Source: lomo_optim/lomo.py, `Lomo.fuse_update`.
inline constexpr optimizer_kernel lomo[]{cast_16_bit(own, float32), cast_16_bit(own, float32),
                                         elementwise("aten::add_", 2).typed(float32), cast_16_bit(float32, own)};

// Source: bitsandbytes/functional.py, `optimizer_update_8bit_blockwise`.
inline constexpr optimizer_kernel adamw8bit[]{{.name = "bitsandbytes::optimizer_update_8bit_blockwise",
                                               .kind = torch_kernel_kind::fused_optimizer,
                                               .call = optimizer_call::per_parameter,
                                               .reads = 2,
                                               .updates_state = true}};

}  // namespace detail::optimizer_kernels

/// The kernels of an optimizer.
struct optimizer_kernel_list {
    std::string_view optimizer;
    std::span<const optimizer_kernel> kernels;
};

/// By the names of `optimizers`. Hyperparameters have their defaults, so that only AdamW and Muon decay weights.
inline constexpr optimizer_kernel_list optimizer_table[]{
    {"none", {}},
    {"sgd", detail::optimizer_kernels::sgd},
    {"sgd_momentum", detail::optimizer_kernels::sgd_momentum},
    {"sgd_nesterov", detail::optimizer_kernels::sgd_nesterov},
    {"sgd_nesterov:single", detail::optimizer_kernels::sgd_nesterov_single},
    {"adam", detail::optimizer_kernels::adam},
    {"adam:single", detail::optimizer_kernels::adam_single},
    {"adam:fused", detail::optimizer_kernels::adam_fused},
    {"adam:amsgrad", detail::optimizer_kernels::adam_amsgrad},
    {"adamw", detail::optimizer_kernels::adamw},
    {"adamw:single", detail::optimizer_kernels::adamw_single},
    {"adamw:fused", detail::optimizer_kernels::adamw_fused},
    {"adamw:amsgrad", detail::optimizer_kernels::adamw_amsgrad},
    {"adamw8bit", detail::optimizer_kernels::adamw8bit},
    {"adafactor", detail::optimizer_kernels::adafactor},
    {"rmsprop", detail::optimizer_kernels::rmsprop},
    {"nadam", detail::optimizer_kernels::nadam},
    {"radam", detail::optimizer_kernels::radam},
    {"adamax", detail::optimizer_kernels::adamax},
    {"adagrad", detail::optimizer_kernels::adagrad},
    {"adadelta", detail::optimizer_kernels::adadelta},
    {"asgd", detail::optimizer_kernels::asgd},
    {"schedule-free", detail::optimizer_kernels::schedule_free},
    {"schedule-free:sgd", detail::optimizer_kernels::schedule_free_sgd},
    {"lamb", detail::optimizer_kernels::lamb},
    {"adafactor:transformers", detail::optimizer_kernels::adafactor_transformers},
    {"apollo", detail::optimizer_kernels::apollo},
    {"lion", detail::optimizer_kernels::lion},
    {"muon", detail::optimizer_kernels::muon},
    {"galore", detail::optimizer_kernels::galore},
    {"lomo", detail::optimizer_kernels::lomo},
};

}  // namespace llmcost
