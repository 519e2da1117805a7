// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <llmcost/trace/ops.hpp>

namespace llmcost {

/// What an optimizer holds for a parameter from step to step.
enum class optimizer_state : std::uint8_t {
    nothing,
    one,           ///< as much as the parameter: a momentum, a second moment
    two,           ///< both moments (Adam)
    three,         ///< and the largest second moments so far (AMSGrad)
    rows_columns,  ///< of matrices a number for each row and column, else as much as the parameter (Adafactor)
    two_in_bytes,  ///< both moments in 8 bits, and a scale in 32 for each 256 elements (bitsandbytes)
    matrix,        ///< a momentum of layers' matrices, both moments of what else there is (Muon beside AdamW)
    projected,     ///< both moments of what a projection leaves of layers' matrices, and the projection (GaLore)
};

/// What a step makes for a moment.
enum class optimizer_work : std::uint8_t {
    nothing,
    all,         ///< as much as all parameters together: a foreach's result
    one_by_one,  ///< a tensor and its quotient, while the one of the parameter before is still held
    factored,    ///< Adafactor's estimate, while the update before is still held, and its means
    one,         ///< as much as the largest parameter
    two,         ///< twice as much: a copy, and what is made of it
    matrix,      ///< Newton-Schulz's iterations in bfloat16, one matrix at a time; then all others together
    projected,   ///< a factorization where the projection is new, one matrix at a time
};

/// An optimizer as PyTorch and its relatives run it: what it holds, what a step makes.
///
/// Sources: torch/optim/{sgd,adam,rmsprop,_adafactor,_muon}.py; lion_pytorch/lion_pytorch.py; galore_torch/{adamw,
/// galore_projector}.py; lomo_optim/lomo.py; 8 bits: arXiv 2110.02861, arithmetic as AdamW's. PyTorch's Muon takes matrices
/// only; embeddings, heads and vectors are AdamW's, as its author pairs them.
struct optimizer_row {
    std::string_view name;
    optimizer_state state;
    optimizer_work work;
    bool counts_steps;                      ///< a number in 32 bits for each parameter
    primitives<std::int8_t> per_element{};  ///< of one step, but for what is moved as a matrix
    bool only_in_backward = false;          ///< moves a parameter in backward, never later
    bool waits_for_next = false;            ///< and does so as the next gradient comes

    /// Whether an element's step reads no other element: then a part of a tensor can be moved by itself.
    [[nodiscard]] constexpr bool is_elementwise() const noexcept {
        return state != optimizer_state::rows_columns && state != optimizer_state::matrix &&
               state != optimizer_state::projected && !only_in_backward;
    }
};

/// Products of matrices that an optimizer's step executes: (rows, inner) x (inner, columns), so many times.
struct optimizer_product {
    std::uint64_t rows = 0, columns = 0, inner = 0, times = 1;
    bool in_half = false;  ///< in bfloat16, whatever the weights are in

    /// Whether two are of the same sizes.
    [[nodiscard]] constexpr bool is_like(const optimizer_product& o) const noexcept {
        return rows == o.rows && columns == o.columns && inner == o.inner && in_half == o.in_half;
    }
};

// clang-format off
inline constexpr optimizer_row optimizers[]{
    {"none",                optimizer_state::nothing,      optimizer_work::nothing,    false, {}},
    {"sgd",                 optimizer_state::nothing,      optimizer_work::nothing,    false, {.add = 1, .mult = 1}},
    {"sgd_momentum",        optimizer_state::one,          optimizer_work::nothing,    false, {.add = 2, .mult = 2}},
    {"sgd_nesterov",        optimizer_state::one,          optimizer_work::nothing,    false, {.add = 3, .mult = 3}},
    {"sgd_nesterov:single", optimizer_state::one,          optimizer_work::one,        false, {.add = 3, .mult = 3}},
    {"adam",                optimizer_state::two,          optimizer_work::all,        true, {.add = 5, .mult = 3, .div = 2, .sqrt = 1}},
    {"adam:single",         optimizer_state::two,          optimizer_work::one_by_one, true, {.add = 5, .mult = 3, .div = 2, .sqrt = 1}},
    {"adam:fused",          optimizer_state::two,          optimizer_work::nothing,    true, {.add = 5, .mult = 3, .div = 2, .sqrt = 1}},
    {"adam:amsgrad",        optimizer_state::three,        optimizer_work::all,        true, {.add = 5, .mult = 3, .div = 2, .sqrt = 1, .cmp = 1}},
    {"adamw",               optimizer_state::two,          optimizer_work::all,        true, {.add = 5, .mult = 4, .div = 2, .sqrt = 1}},
    {"adamw:single",        optimizer_state::two,          optimizer_work::one_by_one, true, {.add = 5, .mult = 4, .div = 2, .sqrt = 1}},
    {"adamw:fused",         optimizer_state::two,          optimizer_work::nothing,    true, {.add = 5, .mult = 4, .div = 2, .sqrt = 1}},
    {"adamw:amsgrad",       optimizer_state::three,        optimizer_work::all,        true, {.add = 5, .mult = 4, .div = 2, .sqrt = 1, .cmp = 1}},
    {"adamw8bit",           optimizer_state::two_in_bytes, optimizer_work::nothing,    false, {.add = 5, .mult = 4, .div = 2, .sqrt = 1}},
    {"adafactor",           optimizer_state::rows_columns, optimizer_work::factored,   true, {}},
    {"rmsprop",             optimizer_state::one,          optimizer_work::all,        true, {.add = 3, .mult = 2, .div = 1, .sqrt = 1}},
    {"lion",                optimizer_state::one,          optimizer_work::two,        false, {.add = 3, .mult = 6, .cmp = 1}},
    {"muon",                optimizer_state::matrix,       optimizer_work::matrix,     false, {.add = 5, .mult = 4, .div = 2, .sqrt = 1}},
    {"galore",              optimizer_state::projected,    optimizer_work::projected,  false, {.add = 4, .mult = 5, .div = 1, .sqrt = 1}},
    {"lomo",                optimizer_state::nothing,      optimizer_work::nothing,    false, {.add = 1, .mult = 1}, true, true},
};
// clang-format on

/// The optimizer of a name; null where there is none.
[[nodiscard]] constexpr const optimizer_row* find_optimizer(std::string_view name) noexcept {
    for (const optimizer_row& o : optimizers)
        if (o.name == name) return &o;
    return nullptr;
}

}  // namespace llmcost
