// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/string_ref.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost {

/// A pointwise operator of a decomposition.
///
/// Operands: `x` and `w` are the first and second input, `y` the result of forward, `g` the gradient of the result. A
/// digit is the result of that step of the same decomposition, a capital letter that of a step of forward (`A`: the
/// first).
struct graph_step {
    literal name = "";
    literal operands = "";
};

/// The decomposition of a pointwise operation: forward, and the gradients of its inputs.
struct graph_rule {
    static constexpr int max_steps = 12;
    op kind;
    bool computes_in_float32 = false;  ///< 16-bit operands are converted first, and the result last
    graph_step forward[max_steps]{};
    graph_step first[max_steps]{};   ///< the gradient of the first input
    graph_step second[max_steps]{};  ///< the gradient of the second input
};

// Source: torch/_inductor/decomposition.py and torch/_decomp/decompositions.py (forward and backward functions);
// torch/_refs; tools/autograd/derivatives.yaml.
// clang-format off
inline constexpr graph_rule graph_rules[]{
    {op::add, false, {{"add", "xw"}}, {{"", "g"}}, {{"", "g"}}},
    {op::sub, false, {{"sub", "xw"}}, {{"", "g"}}, {{"neg", "g"}}},
    {op::mul, false, {{"mul", "xw"}}, {{"mul", "gw"}}, {{"mul", "gx"}}},
    {op::div, false, {{"div", "xw"}}, {{"div", "gw"}}, {{"div", "xw"}, {"div", "0w"}, {"neg", "g"}, {"mul", "21"}}},
    {op::neg, false, {{"neg", "x"}}, {{"neg", "g"}}},
    {op::exp, false, {{"exp", "x"}}, {{"mul", "gy"}}},
    {op::log, false, {{"log", "x"}}, {{"div", "gx"}}},
    {op::sin, false, {{"sin", "x"}}, {{"cos", "x"}, {"mul", "g0"}}},
    {op::cos, false, {{"cos", "x"}}, {{"sin", "x"}, {"neg", "0"}, {"mul", "g1"}}},
    {op::tanh, false, {{"tanh", "x"}}, {{"mul", "yy"}, {"sub", "0"}, {"mul", "g1"}}},
    {op::sqrt, false, {{"sqrt", "x"}}, {{"mul", "y"}, {"div", "g0"}}},
    {op::rsqrt, false, {{"rsqrt", "x"}}, {{"pow", "y"}, {"mul", "g"}, {"mul", "10"}}},
    {op::reciprocal, false, {{"reciprocal", "x"}}, {{"neg", "g"}, {"mul", "0y"}, {"mul", "1y"}}},
    {op::integer_power, false, {{"pow", "x"}}, {{"pow", "x"}, {"mul", "0"}, {"mul", "g1"}}},
    {op::root_power, false, {{"pow", "x"}}, {{"pow", "x"}, {"mul", "0"}, {"mul", "g1"}}},
    {op::inverse_root_power, false, {{"pow", "x"}}, {{"pow", "x"}, {"mul", "0"}, {"mul", "g1"}}},
    {op::power, false, {{"pow", "x"}}, {{"pow", "x"}, {"mul", "0"}, {"mul", "g1"}}},
    {op::sigmoid, false, {{"sigmoid", "x"}}, {{"sub", "y"}, {"mul", "y0"}, {"mul", "g1"}}},
    {op::silu, true, {{"neg", "x"}, {"exp", "0"}, {"add", "1"}, {"div", "x2"}},
     {{"sigmoid", "x"}, {"mul", "g0"}, {"sub", "0"}, {"mul", "x2"}, {"add", "3"}, {"mul", "14"}}},
    {op::gelu, true, {{"mul", "x"}, {"mul", "x"}, {"erf", "1"}, {"add", "2"}, {"mul", "03"}},
     {{"mul", "D"}, {"mul", "xx"}, {"mul", "1"}, {"exp", "2"}, {"mul", "3"}, {"mul", "x4"}, {"add", "05"}, {"mul", "g6"}}},
    {op::gelu_tanh, true,
     {{"mul", "xx"}, {"mul", "0x"}, {"mul", "1"}, {"add", "x2"}, {"mul", "3"}, {"mul", "x"}, {"tanh", "4"}, {"add", "6"}, {"mul", "57"}},
     {{"mul", "H"}, {"mul", "GG"}, {"sub", "1"}, {"mul", "A"}, {"add", "3"}, {"mul", "4"}, {"mul", "F2"}, {"mul", "65"}, {"add", "07"}, {"mul", "g8"}}},
    {op::relu, false, {{"relu", "x"}}, {{"le", "y"}, {"where", "0g"}}},
    {op::where, false, {{"where", "xw"}}, {{"where", "g"}}, {{"where", "g"}}},
    {op::clamp, false, {{"clamp", "x"}}, {{"ge", "x"}, {"where", "0g"}}},
    {op::maximum, false, {{"maximum", "xw"}}, {{"eq", "xw"}, {"div", "g"}, {"lt", "xw"}, {"where", "21"}, {"where", "03"}}, {{"eq", "xw"}, {"div", "g"}, {"lt", "xw"}, {"where", "21"}, {"where", "03"}}},
};
// clang-format on

/// The decomposition of a pointwise operation; null: one operator.
[[nodiscard]] constexpr const graph_rule* graph_rule_of(op kind) noexcept {
    for (const graph_rule& rule : graph_rules)
        if (rule.kind == kind) return &rule;
    return nullptr;
}

}  // namespace llmcost
