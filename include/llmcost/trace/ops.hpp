// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

// clang-format off
/// The closed set of operations, at the grain of ATen's calls; whoever describes a layer uses these and no others.
enum class op : std::uint8_t {
    matmul, matmul_bias, batched_matmul, batched_matmul_bias, batched_matmul_scaled, batched_matmul_bias_scaled,
    convolution, convolution_bias, add, sub, mul, div, neg, exp, expm1, log, log1p, sin, cos, acos, tanh, erf, sqrt,
    rsqrt, reciprocal, root_power, inverse_root_power, integer_power, power, complex_mul, polar, sigmoid,
    log_sigmoid, silu, glu, gelu, gelu_tanh, relu, leaky_relu, hardswish, hardsigmoid, softplus, compare, absolute, maximum, minimum,
    clamp, sum, mean, std, variance, max, logsumexp, vector_norm, cumsum, softmax, log_softmax, nll_loss, layer_norm, layer_norm_weight,
    layer_norm_affine, group_norm, group_norm_affine, batch_norm, batch_norm_affine, batch_norm_given, instance_norm_affine,
    average_pool, max_pool, linear_1d, bilinear, trilinear, bicubic, unit_triangular_solve, weight_norm, attention, copy, cat, gather, constant, where, top_k, scatter, index_add, count_of_kinds
};
// clang-format on
inline constexpr std::size_t op_kinds = static_cast<std::size_t>(op::count_of_kinds);

/// The arithmetic primitives of a figure; `T` is a coefficient in the price table and a `count` in a total.
template <class T>
struct primitives {
    T add{}, mult{}, div{}, sqrt{}, exp{}, log{}, tanh{}, erf{}, trig{}, pow{}, neg{}, cmp{};
    friend constexpr bool operator==(const primitives&, const primitives&) = default;
};

/// The primitives in the order of their members, to walk over those that an operation has.
inline constexpr std::size_t primitive_kinds = 12;
template <class T>
inline constexpr T primitives<T>::*primitive_members[primitive_kinds]{
    &primitives<T>::add,  &primitives<T>::mult, &primitives<T>::div,  &primitives<T>::sqrt,
    &primitives<T>::exp,  &primitives<T>::log,  &primitives<T>::tanh, &primitives<T>::erf,
    &primitives<T>::trig, &primitives<T>::pow,  &primitives<T>::neg,  &primitives<T>::cmp};

/// What autograd keeps of an operation until its backward (torch derivatives.yaml).
enum class keeps : std::uint8_t {
    nothing,
    input,             ///< the first input
    result,            ///< the output
    input_and_result,  ///< both
    other_operand,     ///< of two factors each, where the other one needs a gradient
    dividend,          ///< the divisor where either needs a gradient, the dividend where the divisor does
    input_and_2_rows,  ///< the first input and two statistics per row (layer norm's mean and rstd)
    operands,          ///< both inputs
    second_input,      ///< what is added in, where it is added to
};

/// What an operation reads of its inputs.
enum class reads : std::uint8_t {
    inputs,  ///< every element once, however often a broadcast shows it
    picked,  ///< of the first input as many as it gives out, of others every element
    nothing,
};

/// The price of an operation: primitives per unit of work plus primitives per row, and what surrounds it.
///
/// `work` and `rows` are what the operation is measured in: products and results of a matmul, elements and rows of a
/// softmax, elements read and results of a reduction, elements of an elementwise operation.
struct op_price {
    op kind;
    literal name;
    primitives<std::int8_t> per_work;
    primitives<std::int8_t> per_row;
    int torch_flops;  ///< FlopCounterMode's FLOPs per unit of work, forward, and again per input that needs a gradient
    keeps kept;
    reads read = reads::inputs;  ///< what it writes is its output, in place or not
};

// Prices: docs/counting.md, section "Primitives". FLOPs: torch/utils/flop_counter.py. Kept: torch derivatives.yaml.
// clang-format off
inline constexpr op_price op_table[op_kinds]{
    {op::matmul,              "matmul",              {.add = 1, .mult = 1},                         {.add = -1},            2, keeps::other_operand},
    {op::matmul_bias,         "matmul_bias",         {.add = 1, .mult = 1},                         {},                     2, keeps::other_operand},
    {op::batched_matmul,      "batched_matmul",      {.add = 1, .mult = 1},                         {.add = -1},            2, keeps::other_operand},
    {op::batched_matmul_bias, "batched_matmul_bias", {.add = 1, .mult = 1},                         {},                     2, keeps::other_operand},
    {op::batched_matmul_scaled, "batched_matmul_scaled", {.add = 1, .mult = 1},                     {.add = -1, .mult = 1}, 2, keeps::other_operand},
    {op::batched_matmul_bias_scaled, "batched_matmul_bias_scaled", {.add = 1, .mult = 1},           {.mult = 1},            2, keeps::other_operand},
    {op::convolution,         "convolution",         {.add = 1, .mult = 1},                         {.add = -1},            2, keeps::operands},
    {op::convolution_bias,    "convolution_bias",    {.add = 1, .mult = 1},                         {},                     2, keeps::operands},
    {op::add,                 "add",                 {.add = 1},                                    {},                     0, keeps::nothing},
    {op::sub,                 "sub",                 {.add = 1},                                    {},                     0, keeps::nothing},
    {op::mul,                 "mul",                 {.mult = 1},                                   {},                     0, keeps::other_operand},
    {op::div,                 "div",                 {.div = 1},                                    {},                     0, keeps::dividend},
    {op::neg,                 "neg",                 {.neg = 1},                                    {},                     0, keeps::nothing},
    {op::exp,                 "exp",                 {.exp = 1},                                    {},                     0, keeps::result},
    {op::expm1,               "expm1",               {.add = 1, .exp = 1},                          {},                     0, keeps::result},
    {op::log,                 "log",                 {.log = 1},                                    {},                     0, keeps::input},
    {op::log1p,               "log1p",               {.add = 1, .log = 1},                          {},                     0, keeps::input},
    {op::sin,                 "sin",                 {.trig = 1},                                   {},                     0, keeps::input},
    {op::cos,                 "cos",                 {.trig = 1},                                   {},                     0, keeps::input},
    {op::acos,                "acos",                {.trig = 1},                                   {},                     0, keeps::input},
    {op::tanh,                "tanh",                {.tanh = 1},                                   {},                     0, keeps::result},
    {op::erf,                 "erf",                 {.erf = 1},                                    {},                     0, keeps::input},
    {op::sqrt,                "sqrt",                {.sqrt = 1},                                   {},                     0, keeps::result},
    {op::rsqrt,               "rsqrt",               {.div = 1, .sqrt = 1},                         {},                     0, keeps::result},
    {op::reciprocal,          "reciprocal",          {.div = 1},                                    {},                     0, keeps::result},
    {op::root_power,          "root_power",          {.sqrt = 1},                                   {},                     0, keeps::input},
    {op::inverse_root_power,  "inverse_root_power",  {.div = 1, .sqrt = 1},                         {},                     0, keeps::input},
    {op::integer_power,       "integer_power",       {.mult = 1},                                   {},                     0, keeps::input},
    {op::power,               "power",               {.pow = 1},                                    {},                     0, keeps::input},
    {op::complex_mul,         "complex_mul",         {.add = 2, .mult = 4},                         {},                     0, keeps::other_operand},
    {op::polar,               "polar",               {.mult = 2, .trig = 2},                        {},                     0, keeps::result},
    {op::sigmoid,             "sigmoid",             {.add = 1, .div = 1, .exp = 1, .neg = 1},      {},                     0, keeps::result},
    {op::log_sigmoid,         "log_sigmoid",         {.add = 1, .exp = 1, .log = 1, .neg = 1},      {},                     0, keeps::input},
    {op::silu,                "silu",                {.add = 1, .mult = 1, .div = 1, .exp = 1, .neg = 1}, {},               0, keeps::input},
    // per result, of which there are half as many as it reads
    {op::glu,                 "glu",                 {.add = 1, .mult = 1, .div = 1, .exp = 1, .neg = 1}, {},               0, keeps::input},
    {op::gelu,                "gelu",                {.add = 1, .mult = 3, .erf = 1},               {},                     0, keeps::input},
    {op::gelu_tanh,           "gelu_tanh",           {.add = 2, .mult = 6, .tanh = 1},              {},                     0, keeps::input},
    {op::relu,                "relu",                {.cmp = 1},                                    {},                     0, keeps::result},
    {op::leaky_relu,          "leaky_relu",          {.mult = 1, .cmp = 1},                         {},                     0, keeps::nothing},
    {op::hardswish,           "hardswish",           {.add = 1, .mult = 1, .div = 1, .cmp = 2},      {},                     0, keeps::input},
    {op::hardsigmoid,         "hardsigmoid",         {.add = 1, .div = 1, .cmp = 2},                {},                     0, keeps::input},
    {op::softplus,            "softplus",            {.add = 1, .exp = 1, .log = 1},                {},                     0, keeps::input},
    {op::compare,             "compare",             {.cmp = 1},                                    {},                     0, keeps::input},
    {op::absolute,            "absolute",            {.cmp = 1},                                    {},                     0, keeps::input},
    {op::maximum,             "maximum",             {.cmp = 1},                                    {},                     0, keeps::operands},
    {op::minimum,             "minimum",             {.cmp = 1},                                    {},                     0, keeps::operands},
    {op::clamp,               "clamp",               {.cmp = 2},                                    {},                     0, keeps::input},
    {op::sum,                 "sum",                 {.add = 1},                                    {.add = -1},            0, keeps::nothing},
    {op::mean,                "mean",                {.add = 1},                                    {.add = -1, .div = 1},  0, keeps::nothing},
    {op::std,                 "std",                 {.add = 3, .mult = 1},                         {.add = -2, .div = 2, .sqrt = 1}, 0, keeps::input_and_result},
    {op::variance,            "variance",            {.add = 3, .mult = 1},                         {.add = -2, .div = 2},  0, keeps::input},
    {op::max,                 "max",                 {.cmp = 1},                                    {.cmp = -1},            0, keeps::nothing},
    {op::logsumexp,           "logsumexp",           {.add = 2, .exp = 1, .cmp = 1},                {.log = 1, .cmp = -1},  0, keeps::input_and_result},
    {op::vector_norm,         "vector_norm",         {.add = 1, .mult = 1},                         {.add = -1, .sqrt = 1}, 0, keeps::input_and_result},
    {op::cumsum,              "cumsum",              {.add = 1},                                    {.add = -1},            0, keeps::nothing},
    {op::softmax,             "softmax",             {.add = 2, .div = 1, .exp = 1, .cmp = 1},      {.add = -1, .cmp = -1}, 0, keeps::result},
    {op::log_softmax,         "log_softmax",         {.add = 3, .exp = 1, .cmp = 1},                {.add = -1, .log = 1, .cmp = -1}, 0, keeps::result},
    // of a training step's loss, which no figure of a pass has
    {op::nll_loss,            "nll_loss",            {},                                            {},                     0, keeps::input, reads::picked},
    {op::layer_norm,          "layer_norm",          {.add = 3, .mult = 2},                         {.add = -1, .div = 3, .sqrt = 1}, 0, keeps::input_and_2_rows},
    {op::layer_norm_weight,   "layer_norm_weight",   {.add = 3, .mult = 3},                         {.add = -1, .div = 3, .sqrt = 1}, 0, keeps::input_and_2_rows},
    {op::layer_norm_affine,   "layer_norm_affine",   {.add = 4, .mult = 3},                         {.add = -1, .div = 3, .sqrt = 1}, 0, keeps::input_and_2_rows},
    {op::group_norm,          "group_norm",          {.add = 3, .mult = 2},                         {.add = -1, .div = 3, .sqrt = 1}, 0, keeps::input_and_2_rows},
    {op::group_norm_affine,   "group_norm_affine",   {.add = 4, .mult = 3},                         {.add = -1, .div = 3, .sqrt = 1}, 0, keeps::input_and_2_rows},
    {op::batch_norm,          "batch_norm",          {.add = 1, .mult = 1},                         {.add = 1, .div = 1, .sqrt = 1}, 0, keeps::input_and_2_rows},
    {op::batch_norm_affine,   "batch_norm_affine",   {.add = 2, .mult = 2},                         {.add = 1, .div = 1, .sqrt = 1}, 0, keeps::input_and_2_rows},
    {op::batch_norm_given,    "batch_norm_given",    {.add = 1, .mult = 1},                         {.add = 1, .div = 1, .sqrt = 1}, 0, keeps::input_and_2_rows},
    {op::instance_norm_affine, "instance_norm_affine", {.add = 2, .mult = 2},                       {.add = 1, .div = 1, .sqrt = 1}, 0, keeps::input_and_2_rows},
    {op::average_pool,        "average_pool",        {.add = 1},                                    {.add = -1, .div = 1},  0, keeps::input},
    {op::max_pool,            "max_pool",            {.cmp = 1},                                    {.cmp = -1},            0, keeps::input},
    {op::linear_1d,           "linear_1d",           {.add = 1, .mult = 2},                         {},                     0, keeps::nothing},
    {op::bilinear,            "bilinear",            {.add = 3, .mult = 4},                         {},                     0, keeps::nothing},
    {op::trilinear,           "trilinear",           {.add = 7, .mult = 8},                         {},                     0, keeps::nothing},
    {op::bicubic,             "bicubic",             {.add = 15, .mult = 16},                       {},                     0, keeps::nothing},
    {op::unit_triangular_solve, "unit_triangular_solve", {.add = 1, .mult = 1},                     {},                     0, keeps::input_and_result},
    {op::weight_norm,         "weight_norm",         {.add = 1, .mult = 2},                         {.add = -1, .div = 1, .sqrt = 1}, 0, keeps::nothing},
    // what it executes is counted product by product
    {op::attention,           "attention",           {},                                            {},                     0, keeps::result},
    {op::copy,                "copy",                {},                                            {},                     0, keeps::nothing},
    {op::cat,                 "cat",                 {},                                            {},                     0, keeps::nothing},
    {op::gather,              "gather",              {},                                            {},                     0, keeps::nothing, reads::picked},
    {op::constant,            "constant",            {},                                            {},                     0, keeps::nothing, reads::nothing},
    {op::where,               "where",               {},                                            {},                     0, keeps::nothing},
    {op::top_k,               "top_k",               {},                                            {},                     0, keeps::nothing},
    {op::scatter,             "scatter",             {},                                            {},                     0, keeps::nothing},
    {op::index_add,           "index_add",           {.add = 1},                                    {},                     0, keeps::second_input},
};
// clang-format on

/// With how many elements the gradient of an input arrives there, before it is added to others of the same tensor.
enum class arrives : std::uint8_t {
    as_input,   ///< those of the input as the operation sees it, what an expansion repeats included
    as_output,  ///< those of the output: a broadcast input's are summed afterwards
    summed,     ///< the price has their sums already
};

/// What backward executes for an operation: primitives per unit of work for each of two inputs that needs a gradient.
///
/// Where k gradients of a tensor meet, k − 1 are added, and a broadcast one is summed: both are the elements that arrive,
/// less once the tensor's own.
struct backward_price {
    op kind;
    primitives<std::int8_t> first;
    primitives<std::int8_t> second;
    primitives<std::int8_t> per_row{};  ///< once, whichever input: what sums of a row spare, what a bias adds up
    std::int8_t mult_per_element = 0;   ///< of an input: a constant factor
    arrives gradient = arrives::as_input;
};

// torch derivatives.yaml and FunctionsManual.cpp; fused kernels as torch/_decomp/decompositions.py spells them out.
// clang-format off
inline constexpr backward_price backward_table[op_kinds]{
    {op::matmul,                     {.add = 1, .mult = 1},                               {.add = 1, .mult = 1},           {},         0, arrives::summed},
    {op::matmul_bias,                {.add = 1, .mult = 1},                               {.add = 1, .mult = 1},           {.add = 1}, 0, arrives::summed},
    {op::batched_matmul,             {.add = 1, .mult = 1},                               {.add = 1, .mult = 1},           {},         0, arrives::summed},
    {op::batched_matmul_bias,        {.add = 1, .mult = 1},                               {.add = 1, .mult = 1},           {},         0, arrives::summed},
    {op::batched_matmul_scaled,      {.add = 1, .mult = 1},                               {.add = 1, .mult = 1},           {},         1, arrives::summed},
    {op::batched_matmul_bias_scaled, {.add = 1, .mult = 1},                               {.add = 1, .mult = 1},           {},         1, arrives::summed},
    {op::convolution,                {.add = 1, .mult = 1},                               {.add = 1, .mult = 1},           {},         0, arrives::summed},
    {op::convolution_bias,           {.add = 1, .mult = 1},                               {.add = 1, .mult = 1},           {.add = 1}, 0, arrives::summed},
    {op::add,                        {},                                                  {},                              {},         0, arrives::as_output},
    {op::sub,                        {},                                                  {.neg = 1},                      {},         0, arrives::as_output},
    {op::mul,                        {.mult = 1},                                         {.mult = 1},                     {},         0, arrives::as_output},
    {op::div,                        {.div = 1},                                          {.mult = 1, .div = 2, .neg = 1}, {},         0, arrives::as_output},
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
    {op::complex_mul,                {.add = 2, .mult = 4},                               {.add = 2, .mult = 4},           {},         0, arrives::as_output},
    {op::polar,                      {},                                                  {}},  // of positions, which need no gradient
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
    {op::maximum,                    {.div = 1},                                          {.div = 1},                      {},         0, arrives::as_output},
    {op::minimum,                    {.div = 1},                                          {.div = 1},                      {},         0, arrives::as_output},
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
    {op::batch_norm_given,           {.add = 3, .mult = 2},                               {},                              {.add = -1, .mult = 5, .div = 1, .sqrt = 1}},
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
    {op::where,                      {},                                                  {},                              {},         0, arrives::as_output},
    {op::top_k,                      {},                                                  {}},
    {op::scatter,                    {},                                                  {}},
    {op::index_add,                  {},                                                  {}},
};
// clang-format on

/// The row of an operation.
[[nodiscard]] constexpr const op_price& price_of(op kind) noexcept { return op_table[static_cast<std::size_t>(kind)]; }
/// What its backward executes.
[[nodiscard]] constexpr const backward_price& backward_of(op kind) noexcept {
    return backward_table[static_cast<std::size_t>(kind)];
}

namespace detail {
consteval bool op_table_is_in_order() {
    for (std::size_t i = 0; i < op_kinds; ++i)
        if (op_table[i].kind != static_cast<op>(i) || backward_table[i].kind != static_cast<op>(i)) return false;
    return true;
}
static_assert(op_table_is_in_order());
}  // namespace detail

}  // namespace llmcost
