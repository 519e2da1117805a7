// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// Activation functions, with the names in configurations (transformers/activations.py).
enum class activation : std::uint8_t {
    silu,
    swish,
    gelu,
    gelu_new,
    gelu_fast,
    gelu_pytorch_tanh,
    quick_gelu,
    relu,
    relu2,
    relu6,
    tanh,
    sigmoid,
    hardswish,
    gelu_python
};

struct activation_row {
    activation kind;
    literal name;
    literal type;  ///< class in the reference
};

// clang-format off
inline constexpr activation_row activation_table[]{
    {activation::silu,              "silu",              "SiLUActivation"},
    {activation::swish,             "swish",             "SiLU"},
    {activation::gelu,              "gelu",              "GELUActivation"},
    {activation::gelu_new,          "gelu_new",          "NewGELUActivation"},
    {activation::gelu_fast,         "gelu_fast",         "FastGELUActivation"},
    {activation::gelu_pytorch_tanh, "gelu_pytorch_tanh", "GELUTanh"},
    {activation::quick_gelu,        "quick_gelu",        "QuickGELUActivation"},
    {activation::relu,              "relu",              "ReLU"},
    {activation::relu2,             "relu2",             "ReLUSquaredActivation"},
    {activation::relu6,             "relu6",             "ReLU6"},
    {activation::tanh,              "tanh",              "Tanh"},
    {activation::sigmoid,           "sigmoid",           "Sigmoid"},
    {activation::hardswish,         "hardswish",         "Hardswish"},
    {activation::gelu_python,       "gelu_python",       "GELUActivation"},
};
// clang-format on

/// The activation function as an operation on each element of x, without a module.
constexpr tensor activate(trace& t, activation kind, const tensor& x) {
    switch (kind) {
        case activation::silu:
        case activation::swish: return t.silu(x);
        case activation::gelu: return t.gelu(x);
        case activation::gelu_pytorch_tanh: return t.gelu_tanh(x);
        case activation::gelu_new: {  // 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³)))
            const tensor half = t.mul_scalar(x);
            return t.mul(half, t.add_scalar(t.tanh(t.mul_scalar(t.add(x, t.mul_scalar(t.pow(x, 3)))))));
        }
        case activation::gelu_fast: {  // 0.5 x (1 + tanh(x √(2/π) (1 + 0.044715 x x)))
            const tensor half = t.mul_scalar(x), scaled = t.mul_scalar(x);
            return t.mul(half, t.add_scalar(t.tanh(t.mul(scaled, t.add_scalar(t.mul(t.mul_scalar(x), x))))));
        }
        case activation::quick_gelu: return t.mul(x, t.sigmoid(t.mul_scalar(x)));
        case activation::relu: return t.relu(x);
        case activation::relu2: return t.pow(t.relu(x), 2);
        case activation::relu6: return t.clamp(x);
        case activation::tanh: return t.tanh(x);
        case activation::gelu_python: {  // 0.5 x (1 + erf(x / √2))
            const tensor half = t.mul_scalar(x);
            return t.mul(half, t.add_scalar(t.erf(t.div_scalar(x))));
        }
        case activation::hardswish: return t.hardswish(x);
        case activation::sigmoid: break;
    }
    return t.sigmoid(x);
}

/// The module of an activation function (`ACT2FN[…]`).
struct activation_module {
    activation kind;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const {
        return {"", activation_table[static_cast<std::size_t>(kind)].type};
    }
    constexpr tensor forward(trace& t, const tensor& x) const { return activate(t, kind, x); }
};

/// `nn.GELU`. It is not selected by the configuration.
struct gelu_module {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "GELU"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.gelu(x); }
};

/// `nn.Softmax` over the last dimension.
struct softmax_module {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Softmax"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.softmax(x); }
};

/// `nn.Identity`: returns its input.
struct identity {
    literal named = "Identity";

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", named}; }
    constexpr tensor forward(trace&, const tensor& x) const { return x; }
};

/// `F.dropout` in training: x · mask. Returns x if the workload has no dropout at this position.
///
/// On the CPU, the mask has the shape and the type of x. It is sampled and divided in place. On a CUDA device, the mask
/// has one byte per element. Only the mask is saved for backward. Sampling has no cost.
/// Source: ATen's Dropout.cpp, `_dropout_impl` and `is_fused_kernel_acceptable`; cuda/Dropout.cu, `dropout_cuda`.
constexpr tensor functional_dropout(trace& t, const tensor& x, dropout_position position) {
    if (!t.applies_dropout(position)) return x;
    if (t.load().cuda_capability > 0) {
        t.save_mask_for_backward(count(x.numel));
        return t.mul_scalar(x);
    }
    tensor mask = t.zeros_like(x);
    t.div_(mask);
    return t.mul(x, mask);
}

/// `nn.Dropout`: dropout in training, the identity in inference.
struct dropout_module {
    dropout_position place = dropout_position::hidden;
    literal named = "Dropout";

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", named}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return functional_dropout(t, x, place); }
};

/// Calls a dropout module.
constexpr tensor dropout(trace& t, literal name, const tensor& x,
                         dropout_position position = dropout_position::hidden) {
    return t.call(name, dropout_module{position}, x);
}

namespace detail {
consteval bool is_activation_table_sorted() {
    std::size_t i = 0;
    for (const activation_row& row : activation_table)
        if (row.kind != static_cast<activation>(i++)) return false;
    return true;
}
static_assert(is_activation_table_sorted());
}  // namespace detail

}  // namespace llmcost
