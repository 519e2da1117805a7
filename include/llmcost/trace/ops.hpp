// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

// clang-format off
/// The closed set of operations that forward functions are composed of, with the granularity of ATen calls.
enum class op : std::uint8_t {
    matmul, matmul_bias, batched_matmul, batched_matmul_bias, batched_matmul_scaled, batched_matmul_bias_scaled,
    convolution, convolution_bias, add, sub, mul, div, neg, exp, expm1, log, log1p, sin, cos, acos, tanh, erf, sqrt,
    rsqrt, reciprocal, root_power, inverse_root_power, integer_power, power, complex_mul, polar, sigmoid,
    log_sigmoid, silu, glu, gelu, gelu_tanh, relu, leaky_relu, hardswish, hardsigmoid, softplus, compare, absolute, maximum, minimum,
    clamp, sum, mean, std, variance, max, logsumexp, vector_norm, cumsum, softmax, log_softmax, nll_loss, layer_norm, layer_norm_weight,
    layer_norm_affine, group_norm, group_norm_affine, batch_norm, batch_norm_affine, batch_norm_with_stats, instance_norm_affine,
    average_pool, max_pool, linear_1d, bilinear, trilinear, bicubic, unit_triangular_solve, weight_norm, attention, copy, cat, gather, constant, where, top_k, scatter, index_add, count_of_kinds
};
// clang-format on
inline constexpr std::size_t num_ops = static_cast<std::size_t>(op::count_of_kinds);

/// Amounts of arithmetic primitives. `T` is a coefficient in the cost table and a `count` in a total.
template <class T>
struct primitives {
    T add{}, mult{}, div{}, sqrt{}, exp{}, log{}, tanh{}, erf{}, trig{}, pow{}, neg{}, cmp{};
    friend constexpr bool operator==(const primitives&, const primitives&) = default;
};

/// Number of primitives; `primitive_members` lists them in the order of their members.
inline constexpr std::size_t num_primitives = 12;
template <class T>
inline constexpr T primitives<T>::*primitive_members[num_primitives]{
    &primitives<T>::add,  &primitives<T>::mult, &primitives<T>::div,  &primitives<T>::sqrt,
    &primitives<T>::exp,  &primitives<T>::log,  &primitives<T>::tanh, &primitives<T>::erf,
    &primitives<T>::trig, &primitives<T>::pow,  &primitives<T>::neg,  &primitives<T>::cmp};

/// Tensors that autograd saves for the backward of an operation (torch derivatives.yaml).
enum class saved_tensors : std::uint8_t {
    none,
    input,                     ///< the first input
    output,                    ///< the output
    input_and_output,          ///< both
    other_operand,             ///< of two factors: each, if the other one needs a gradient
    divisor_or_both,           ///< the divisor if either needs a gradient, the dividend if the divisor does
    input_and_row_statistics,  ///< the first input and two statistics per row (layer norm's mean and rstd)
    both_inputs,               ///< both inputs
    second_input,              ///< the operand that is added in place
};

/// Which elements of its inputs an operation reads.
enum class read_pattern : std::uint8_t {
    inputs,    ///< each element once, even if it is broadcast
    gathered,  ///< of the first input as many elements as the output has, of the others all
    none,
};

/// The cost of an operation: primitives per unit of work, primitives per row, and its other properties.
///
/// Units of `work` and `rows` by operation:
/// - matmul: products and output elements
/// - softmax: elements and rows
/// - reduction: input elements and output elements
/// - elementwise: output elements
struct op_cost {
    op kind;
    literal name;
    primitives<std::int8_t> per_work;
    primitives<std::int8_t> per_row;
    int torch_flops;  ///< FLOPs of FlopCounterMode per unit of work, in forward and again per input with a gradient
    saved_tensors saved;
    read_pattern read = read_pattern::inputs;  ///< every operation writes its output, in place or not
};

// Costs: docs/counting.md, section "Primitives". FLOPs: torch/utils/flop_counter.py. Saved: torch derivatives.yaml.
// clang-format off
inline constexpr op_cost op_costs[num_ops]{
    {op::matmul,              "matmul",              {.add = 1, .mult = 1},                         {.add = -1},            2, saved_tensors::other_operand},
    {op::matmul_bias,         "matmul_bias",         {.add = 1, .mult = 1},                         {},                     2, saved_tensors::other_operand},
    {op::batched_matmul,      "batched_matmul",      {.add = 1, .mult = 1},                         {.add = -1},            2, saved_tensors::other_operand},
    {op::batched_matmul_bias, "batched_matmul_bias", {.add = 1, .mult = 1},                         {},                     2, saved_tensors::other_operand},
    {op::batched_matmul_scaled, "batched_matmul_scaled", {.add = 1, .mult = 1},                     {.add = -1, .mult = 1}, 2, saved_tensors::other_operand},
    {op::batched_matmul_bias_scaled, "batched_matmul_bias_scaled", {.add = 1, .mult = 1},           {.mult = 1},            2, saved_tensors::other_operand},
    {op::convolution,         "convolution",         {.add = 1, .mult = 1},                         {.add = -1},            2, saved_tensors::both_inputs},
    {op::convolution_bias,    "convolution_bias",    {.add = 1, .mult = 1},                         {},                     2, saved_tensors::both_inputs},
    {op::add,                 "add",                 {.add = 1},                                    {},                     0, saved_tensors::none},
    {op::sub,                 "sub",                 {.add = 1},                                    {},                     0, saved_tensors::none},
    {op::mul,                 "mul",                 {.mult = 1},                                   {},                     0, saved_tensors::other_operand},
    {op::div,                 "div",                 {.div = 1},                                    {},                     0, saved_tensors::divisor_or_both},
    {op::neg,                 "neg",                 {.neg = 1},                                    {},                     0, saved_tensors::none},
    {op::exp,                 "exp",                 {.exp = 1},                                    {},                     0, saved_tensors::output},
    {op::expm1,               "expm1",               {.add = 1, .exp = 1},                          {},                     0, saved_tensors::output},
    {op::log,                 "log",                 {.log = 1},                                    {},                     0, saved_tensors::input},
    {op::log1p,               "log1p",               {.add = 1, .log = 1},                          {},                     0, saved_tensors::input},
    {op::sin,                 "sin",                 {.trig = 1},                                   {},                     0, saved_tensors::input},
    {op::cos,                 "cos",                 {.trig = 1},                                   {},                     0, saved_tensors::input},
    {op::acos,                "acos",                {.trig = 1},                                   {},                     0, saved_tensors::input},
    {op::tanh,                "tanh",                {.tanh = 1},                                   {},                     0, saved_tensors::output},
    {op::erf,                 "erf",                 {.erf = 1},                                    {},                     0, saved_tensors::input},
    {op::sqrt,                "sqrt",                {.sqrt = 1},                                   {},                     0, saved_tensors::output},
    {op::rsqrt,               "rsqrt",               {.div = 1, .sqrt = 1},                         {},                     0, saved_tensors::output},
    {op::reciprocal,          "reciprocal",          {.div = 1},                                    {},                     0, saved_tensors::output},
    {op::root_power,          "root_power",          {.sqrt = 1},                                   {},                     0, saved_tensors::input},
    {op::inverse_root_power,  "inverse_root_power",  {.div = 1, .sqrt = 1},                         {},                     0, saved_tensors::input},
    {op::integer_power,       "integer_power",       {.mult = 1},                                   {},                     0, saved_tensors::input},
    {op::power,               "power",               {.pow = 1},                                    {},                     0, saved_tensors::input},
    {op::complex_mul,         "complex_mul",         {.add = 2, .mult = 4},                         {},                     0, saved_tensors::other_operand},
    {op::polar,               "polar",               {.mult = 2, .trig = 2},                        {},                     0, saved_tensors::output},
    {op::sigmoid,             "sigmoid",             {.add = 1, .div = 1, .exp = 1, .neg = 1},      {},                     0, saved_tensors::output},
    {op::log_sigmoid,         "log_sigmoid",         {.add = 1, .exp = 1, .log = 1, .neg = 1},      {},                     0, saved_tensors::input},
    {op::silu,                "silu",                {.add = 1, .mult = 1, .div = 1, .exp = 1, .neg = 1}, {},               0, saved_tensors::input},
    // per output element, of which there are half as many as input elements
    {op::glu,                 "glu",                 {.add = 1, .mult = 1, .div = 1, .exp = 1, .neg = 1}, {},               0, saved_tensors::input},
    {op::gelu,                "gelu",                {.add = 1, .mult = 3, .erf = 1},               {},                     0, saved_tensors::input},
    {op::gelu_tanh,           "gelu_tanh",           {.add = 2, .mult = 6, .tanh = 1},              {},                     0, saved_tensors::input},
    {op::relu,                "relu",                {.cmp = 1},                                    {},                     0, saved_tensors::output},
    {op::leaky_relu,          "leaky_relu",          {.mult = 1, .cmp = 1},                         {},                     0, saved_tensors::none},
    {op::hardswish,           "hardswish",           {.add = 1, .mult = 1, .div = 1, .cmp = 2},      {},                     0, saved_tensors::input},
    {op::hardsigmoid,         "hardsigmoid",         {.add = 1, .div = 1, .cmp = 2},                {},                     0, saved_tensors::input},
    {op::softplus,            "softplus",            {.add = 1, .exp = 1, .log = 1},                {},                     0, saved_tensors::input},
    {op::compare,             "compare",             {.cmp = 1},                                    {},                     0, saved_tensors::input},
    {op::absolute,            "absolute",            {.cmp = 1},                                    {},                     0, saved_tensors::input},
    {op::maximum,             "maximum",             {.cmp = 1},                                    {},                     0, saved_tensors::both_inputs},
    {op::minimum,             "minimum",             {.cmp = 1},                                    {},                     0, saved_tensors::both_inputs},
    {op::clamp,               "clamp",               {.cmp = 2},                                    {},                     0, saved_tensors::input},
    {op::sum,                 "sum",                 {.add = 1},                                    {.add = -1},            0, saved_tensors::none},
    {op::mean,                "mean",                {.add = 1},                                    {.add = -1, .div = 1},  0, saved_tensors::none},
    {op::std,                 "std",                 {.add = 3, .mult = 1},                         {.add = -2, .div = 2, .sqrt = 1}, 0, saved_tensors::input_and_output},
    {op::variance,            "variance",            {.add = 3, .mult = 1},                         {.add = -2, .div = 2},  0, saved_tensors::input},
    {op::max,                 "max",                 {.cmp = 1},                                    {.cmp = -1},            0, saved_tensors::none},
    {op::logsumexp,           "logsumexp",           {.add = 2, .exp = 1, .cmp = 1},                {.log = 1, .cmp = -1},  0, saved_tensors::input_and_output},
    {op::vector_norm,         "vector_norm",         {.add = 1, .mult = 1},                         {.add = -1, .sqrt = 1}, 0, saved_tensors::input_and_output},
    {op::cumsum,              "cumsum",              {.add = 1},                                    {.add = -1},            0, saved_tensors::none},
    {op::softmax,             "softmax",             {.add = 2, .div = 1, .exp = 1, .cmp = 1},      {.add = -1, .cmp = -1}, 0, saved_tensors::output},
    {op::log_softmax,         "log_softmax",         {.add = 3, .exp = 1, .cmp = 1},                {.add = -1, .log = 1, .cmp = -1}, 0, saved_tensors::output},
    // the loss of a training step, which is not part of the forward metrics
    {op::nll_loss,            "nll_loss",            {},                                            {},                     0, saved_tensors::input, read_pattern::gathered},
    {op::layer_norm,          "layer_norm",          {.add = 3, .mult = 2},                         {.add = -1, .div = 3, .sqrt = 1}, 0, saved_tensors::input_and_row_statistics},
    {op::layer_norm_weight,   "layer_norm_weight",   {.add = 3, .mult = 3},                         {.add = -1, .div = 3, .sqrt = 1}, 0, saved_tensors::input_and_row_statistics},
    {op::layer_norm_affine,   "layer_norm_affine",   {.add = 4, .mult = 3},                         {.add = -1, .div = 3, .sqrt = 1}, 0, saved_tensors::input_and_row_statistics},
    {op::group_norm,          "group_norm",          {.add = 3, .mult = 2},                         {.add = -1, .div = 3, .sqrt = 1}, 0, saved_tensors::input_and_row_statistics},
    {op::group_norm_affine,   "group_norm_affine",   {.add = 4, .mult = 3},                         {.add = -1, .div = 3, .sqrt = 1}, 0, saved_tensors::input_and_row_statistics},
    {op::batch_norm,          "batch_norm",          {.add = 1, .mult = 1},                         {.add = 1, .div = 1, .sqrt = 1}, 0, saved_tensors::input_and_row_statistics},
    {op::batch_norm_affine,   "batch_norm_affine",   {.add = 2, .mult = 2},                         {.add = 1, .div = 1, .sqrt = 1}, 0, saved_tensors::input_and_row_statistics},
    {op::batch_norm_with_stats,    "batch_norm_given",    {.add = 1, .mult = 1},                         {.add = 1, .div = 1, .sqrt = 1}, 0, saved_tensors::input_and_row_statistics},
    {op::instance_norm_affine, "instance_norm_affine", {.add = 2, .mult = 2},                       {.add = 1, .div = 1, .sqrt = 1}, 0, saved_tensors::input_and_row_statistics},
    {op::average_pool,        "average_pool",        {.add = 1},                                    {.add = -1, .div = 1},  0, saved_tensors::input},
    {op::max_pool,            "max_pool",            {.cmp = 1},                                    {.cmp = -1},            0, saved_tensors::input},
    {op::linear_1d,           "linear_1d",           {.add = 1, .mult = 2},                         {},                     0, saved_tensors::none},
    {op::bilinear,            "bilinear",            {.add = 3, .mult = 4},                         {},                     0, saved_tensors::none},
    {op::trilinear,           "trilinear",           {.add = 7, .mult = 8},                         {},                     0, saved_tensors::none},
    {op::bicubic,             "bicubic",             {.add = 15, .mult = 16},                       {},                     0, saved_tensors::none},
    {op::unit_triangular_solve, "unit_triangular_solve", {.add = 1, .mult = 1},                     {},                     0, saved_tensors::input_and_output},
    {op::weight_norm,         "weight_norm",         {.add = 1, .mult = 2},                         {.add = -1, .div = 1, .sqrt = 1}, 0, saved_tensors::none},
    // the products inside are counted one by one
    {op::attention,           "attention",           {},                                            {},                     0, saved_tensors::output},
    {op::copy,                "copy",                {},                                            {},                     0, saved_tensors::none},
    {op::cat,                 "cat",                 {},                                            {},                     0, saved_tensors::none},
    {op::gather,              "gather",              {},                                            {},                     0, saved_tensors::none, read_pattern::gathered},
    {op::constant,            "constant",            {},                                            {},                     0, saved_tensors::none, read_pattern::none},
    {op::where,               "where",               {},                                            {},                     0, saved_tensors::none},
    {op::top_k,               "top_k",               {},                                            {},                     0, saved_tensors::none},
    {op::scatter,             "scatter",             {},                                            {},                     0, saved_tensors::none},
    {op::index_add,           "index_add",           {.add = 1},                                    {},                     0, saved_tensors::second_input},
};
// clang-format on

/// Number of elements of an input's gradient when it arrives, before it is added to others of the same tensor.
enum class gradient_size_kind : std::uint8_t {
    as_input,        ///< as many as the input has after broadcasting
    as_output,       ///< as many as the output has; the gradient of a broadcast input is summed afterwards
    already_summed,  ///< the cost includes the sums
};

/// The cost of an operation's backward: primitives per unit of work for each of two inputs that needs a gradient.
///
/// If k gradients of a tensor meet, k − 1 are added; the gradient of a broadcast input is summed. Both cost the number
/// of arriving elements, minus the elements of the tensor.
struct backward_op_cost {
    op kind;
    primitives<std::int8_t> first;
    primitives<std::int8_t> second;
    primitives<std::int8_t> per_row{};  ///< independent of the input: savings of row sums, additions for a bias
    std::int8_t mult_per_element = 0;   ///< per element of an input: multiplication by a constant
    gradient_size_kind gradient_size = gradient_size_kind::as_input;
};

// torch derivatives.yaml and FunctionsManual.cpp; fused kernels as decomposed in torch/_decomp/decompositions.py.
// clang-format off
inline constexpr backward_op_cost backward_table[num_ops]{
    {op::matmul,                     {.add = 1, .mult = 1},                               {.add = 1, .mult = 1},           {},         0, gradient_size_kind::already_summed},
    {op::matmul_bias,                {.add = 1, .mult = 1},                               {.add = 1, .mult = 1},           {.add = 1}, 0, gradient_size_kind::already_summed},
    {op::batched_matmul,             {.add = 1, .mult = 1},                               {.add = 1, .mult = 1},           {},         0, gradient_size_kind::already_summed},
    {op::batched_matmul_bias,        {.add = 1, .mult = 1},                               {.add = 1, .mult = 1},           {},         0, gradient_size_kind::already_summed},
    {op::batched_matmul_scaled,      {.add = 1, .mult = 1},                               {.add = 1, .mult = 1},           {},         1, gradient_size_kind::already_summed},
    {op::batched_matmul_bias_scaled, {.add = 1, .mult = 1},                               {.add = 1, .mult = 1},           {},         1, gradient_size_kind::already_summed},
    {op::convolution,                {.add = 1, .mult = 1},                               {.add = 1, .mult = 1},           {},         0, gradient_size_kind::already_summed},
    {op::convolution_bias,           {.add = 1, .mult = 1},                               {.add = 1, .mult = 1},           {.add = 1}, 0, gradient_size_kind::already_summed},
    {op::add,                        {},                                                  {},                              {},         0, gradient_size_kind::as_output},
    {op::sub,                        {},                                                  {.neg = 1},                      {},         0, gradient_size_kind::as_output},
    {op::mul,                        {.mult = 1},                                         {.mult = 1},                     {},         0, gradient_size_kind::as_output},
    {op::div,                        {.div = 1},                                          {.mult = 1, .div = 2, .neg = 1}, {},         0, gradient_size_kind::as_output},
    {op::neg,                        {.neg = 1},                                          {}},
    {op::exp,                        {.mult = 1},                                         {}},
    {op::expm1,                      {.add = 1, .mult = 1},                               {}},
    {op::log,                        {.div = 1},                                          {}},
    {op::log1p,                      {.add = 1, .div = 1},                                {}},
    {op::sin,                        {.mult = 1, .trig = 1},                              {}},
    {op::cos,                        {.mult = 1, .trig = 1, .neg = 1},                    {}},
    {op::acos,                       {.add = 1, .mult = 2, .div = 1, .sqrt = 1, .neg = 2}, {}},
    {op::tanh,                       {.add = 1, .mult = 2},                               {}},
    {op::erf,                        {.mult = 3, .exp = 1, .neg = 1},                     {}},
    {op::sqrt,                       {.mult = 1, .div = 1},                               {}},
    {op::rsqrt,                      {.mult = 4},                                         {}},
    {op::reciprocal,                 {.mult = 2, .neg = 1},                               {}},
    {op::root_power,                 {.mult = 2, .div = 1, .sqrt = 1},                    {}},
    {op::inverse_root_power,         {.mult = 2, .pow = 1},                               {}},
    {op::integer_power,              {},                                                  {}},
    {op::power,                      {.mult = 2, .pow = 1},                               {}},
    {op::complex_mul,                {.add = 2, .mult = 4},                               {.add = 2, .mult = 4},           {},         0, gradient_size_kind::as_output},
    // of positions, which need no gradient
    {op::polar,                      {},                                                  {}},
    {op::sigmoid,                    {.add = 1, .mult = 2},                               {}},
    {op::log_sigmoid,                {.add = 2, .mult = 2, .div = 1},                     {}},
    {op::silu,                       {.add = 3, .mult = 3, .div = 1, .exp = 1, .neg = 1}, {}},
    {op::glu,                        {.add = 2, .mult = 4, .div = 1, .exp = 1, .neg = 1}, {}},
    {op::gelu,                       {.add = 2, .mult = 7, .exp = 1, .erf = 1},           {}},
    {op::gelu_tanh,                  {.add = 5, .mult = 12, .tanh = 1},                   {}},
    {op::relu,                       {},                                                  {}},
    {op::leaky_relu,                 {.mult = 1},                                         {}},
    {op::hardswish,                  {.add = 1, .mult = 1, .div = 1},                     {}},
    {op::hardsigmoid,                {.mult = 1},                                         {}},
    {op::softplus,                   {.add = 1, .mult = 3, .div = 1, .exp = 1},           {}},
    {op::compare,                    {},                                                  {}},
    {op::absolute,                   {.mult = 1, .cmp = 1},                               {}},
    {op::maximum,                    {.div = 1},                                          {.div = 1},                      {},         0, gradient_size_kind::as_output},
    {op::minimum,                    {.div = 1},                                          {.div = 1},                      {},         0, gradient_size_kind::as_output},
    {op::clamp,                      {},                                                  {}},
    {op::sum,                        {},                                                  {}},
    {op::mean,                       {.div = 1},                                          {}},
    {op::std,                        {.add = 2, .mult = 1},                               {},                              {.add = -1, .mult = 2, .div = 2}},
    {op::variance,                   {.add = 2, .mult = 1},                               {},                              {.add = -1, .mult = 1, .div = 1}},
    {op::max,                        {},                                                  {}},
    {op::logsumexp,                  {.add = 1, .mult = 1, .exp = 1},                     {}},
    {op::vector_norm,                {.mult = 1, .div = 1},                               {}},
    {op::cumsum,                     {.add = 1},                                          {},                              {.add = -1}},
    {op::softmax,                    {.add = 2, .mult = 2},                               {},                              {.add = -1}},
    {op::log_softmax,                {.add = 2, .mult = 1, .exp = 1},                     {},                              {.add = -1}},
    {op::nll_loss,                   {},                                                  {}},
    {op::layer_norm,                 {.add = 5, .mult = 5},                               {},                              {.add = -2, .div = 1}},
    {op::layer_norm_weight,          {.add = 6, .mult = 7},                               {},                              {.add = -2, .div = 1}},
    {op::layer_norm_affine,          {.add = 7, .mult = 7},                               {},                              {.add = -2, .div = 1}},
    {op::group_norm,                 {.add = 4, .mult = 3},                               {},                              {.mult = 8, .neg = 2}},
    {op::group_norm_affine,          {.add = 4, .mult = 3},                               {},                              {.mult = 8, .neg = 2}},
    {op::batch_norm,                 {.add = 6, .mult = 3},                               {},                              {.add = -2, .mult = 5}},
    {op::batch_norm_affine,          {.add = 3, .mult = 2},                               {},                              {.add = 1, .mult = 6, .div = 1, .sqrt = 1}},
    {op::batch_norm_with_stats,           {.add = 3, .mult = 2},                               {},                              {.add = -1, .mult = 5, .div = 1, .sqrt = 1}},
    {op::instance_norm_affine,       {.add = 6, .mult = 3},                               {},                              {.mult = 6}},
    {op::average_pool,               {.add = 1},                                          {},                              {.div = 1}},
    {op::max_pool,                   {},                                                  {},                              {.add = 1}},
    {op::linear_1d,                  {.add = 2, .mult = 2},                               {}},
    {op::bilinear,                   {.add = 4, .mult = 4},                               {}},
    {op::trilinear,                  {.add = 8, .mult = 8},                               {}},
    {op::bicubic,                    {.add = 16, .mult = 16},                             {}},
    {op::unit_triangular_solve,      {},                                                  {}},
    {op::weight_norm,                {.add = 1, .mult = 2},                               {.add = 1, .mult = 1},           {.add = -1, .mult = 1, .div = 4, .neg = 1}},
    {op::attention,                  {},                                                  {}},
    {op::copy,                       {},                                                  {}},
    {op::cat,                        {},                                                  {}},
    {op::gather,                     {.add = 1},                                          {}},
    {op::constant,                   {},                                                  {}},
    {op::where,                      {},                                                  {},                              {},         0, gradient_size_kind::as_output},
    {op::top_k,                      {},                                                  {}},
    {op::scatter,                    {},                                                  {}},
    {op::index_add,                  {},                                                  {}},
};
// clang-format on

/// The cost of an operation.
[[nodiscard]] constexpr const op_cost& op_cost_of(op kind) noexcept { return op_costs[static_cast<std::size_t>(kind)]; }

/// Whether autocast on a CUDA device converts the input of an operation to float32.
///
/// Source: aten/src/ATen/autocast_mode.h, `AT_FORALL_FP32` and `AT_FORALL_FP32_SET_OPT_DTYPE`.
[[nodiscard]] constexpr bool is_float32_in_cuda_autocast(op kind) noexcept {
    switch (kind) {
        case op::exp:
        case op::expm1:
        case op::log:
        case op::log1p:
        case op::acos:
        case op::rsqrt:
        case op::reciprocal:
        case op::root_power:
        case op::inverse_root_power:
        case op::integer_power:
        case op::power:
        case op::softplus:
        case op::logsumexp:
        case op::cumsum:
        case op::softmax:
        case op::log_softmax:
        case op::nll_loss:
        case op::layer_norm:
        case op::layer_norm_weight:
        case op::layer_norm_affine:
        case op::group_norm:
        case op::group_norm_affine: return true;
        default: return false;
    }
}

/// The cost of the gradients of a norm's weight and bias, if its input needs no gradient.
///
/// Source: torch/_decomp/decompositions.py, the parts of `native_layer_norm_backward`, `native_group_norm_backward` and
/// `native_batch_norm_backward` that `output_mask[0]` does not need.
struct parameter_gradient_cost {
    op kind;
    primitives<std::int8_t> cost;
};
inline constexpr parameter_gradient_cost parameter_gradient_costs[]{
    {op::layer_norm_weight, {.add = 2, .mult = 2}},    {op::layer_norm_affine, {.add = 3, .mult = 2}},
    {op::group_norm_affine, {.add = 2, .mult = 1}},    {op::batch_norm_affine, {.add = 3, .mult = 1}},
    {op::instance_norm_affine, {.add = 3, .mult = 1}},
};

/// The cost of a norm's parameter gradients alone; null for other operations.
[[nodiscard]] constexpr const primitives<std::int8_t>* parameter_gradient_cost_of(op kind) noexcept {
    for (const parameter_gradient_cost& one : parameter_gradient_costs)
        if (one.kind == kind) return &one.cost;
    return nullptr;
}

/// The cost of an operation's backward.
[[nodiscard]] constexpr const backward_op_cost& backward_op_cost_of(op kind) noexcept {
    return backward_table[static_cast<std::size_t>(kind)];
}

namespace detail {
consteval bool op_table_is_in_order() {
    for (std::size_t i = 0; i < num_ops; ++i)
        if (op_costs[i].kind != static_cast<op>(i) || backward_table[i].kind != static_cast<op>(i)) return false;
    return true;
}
static_assert(op_table_is_in_order());
}  // namespace detail

}  // namespace llmcost
