// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <llmcost/trace/ops.hpp>

namespace llmcost {

/// What an optimizer holds for a parameter from step to step.
enum class optimizer_state : std::uint8_t {
    none,
    one,        ///< as much as the parameter: a momentum, a second moment
    two,        ///< both moments (Adam)
    three,      ///< and the largest second moments so far (AMSGrad)
    factored,   ///< of matrices a number for each row and column, else as much as the parameter (Adafactor)
    two_8bit,   ///< both moments in 8 bits, and a scale in 32 for each 256 elements (bitsandbytes)
    matrix,     ///< a momentum of layers' matrices, both moments of what else there is (Muon beside AdamW)
    projected,  ///< both moments of what a projection leaves of layers' matrices, and the projection (GaLore)
};

/// What a step makes for a moment.
enum class optimizer_temporaries : std::uint8_t {
    none,
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
/// galore_projector}.py; lomo_optim/lomo.py; 8 bits: arXiv 2110.02861, arithmetic as AdamW's. PyTorch's Muon takes
/// matrices only; embeddings, heads and vectors are AdamW's, as its author pairs them.
struct optimizer_spec {
    std::string_view name;
    optimizer_state state;
    optimizer_temporaries temporaries;
    bool has_step_counter;                  ///< a number in 32 bits for each parameter
    primitives<std::int8_t> per_element{};  ///< of one step, but for what is moved as a matrix
    bool only_in_backward = false;          ///< moves a parameter in backward, never later
    bool steps_at_next_gradient = false;    ///< and does so as the next gradient comes

    /// Whether an element's step reads no other element: then a part of a tensor can be moved by itself.
    [[nodiscard]] constexpr bool is_elementwise() const noexcept {
        return state != optimizer_state::factored && state != optimizer_state::matrix &&
               state != optimizer_state::projected && !only_in_backward;
    }
};

/// Products of matrices that an optimizer's step executes: (rows, inner) x (inner, columns), so many times.
struct optimizer_product {
    std::uint64_t rows = 0, columns = 0, inner = 0, repetitions = 1;
    bool is_bfloat16 = false;  ///< in bfloat16, whatever the weights are in

    /// Whether two are of the same sizes.
    [[nodiscard]] constexpr bool is_like(const optimizer_product& o) const noexcept {
        return rows == o.rows && columns == o.columns && inner == o.inner && is_bfloat16 == o.is_bfloat16;
    }
};

// clang-format off
inline constexpr optimizer_spec optimizers[]{
    {"none",                optimizer_state::none,      optimizer_temporaries::none,    false, {}},
    {"sgd",                 optimizer_state::none,      optimizer_temporaries::none,    false, {.add = 1, .mult = 1}},
    {"sgd_momentum",        optimizer_state::one,          optimizer_temporaries::none,    false, {.add = 2, .mult = 2}},
    {"sgd_nesterov",        optimizer_state::one,          optimizer_temporaries::none,    false, {.add = 3, .mult = 3}},
    {"sgd_nesterov:single", optimizer_state::one,          optimizer_temporaries::one,        false, {.add = 3, .mult = 3}},
    {"adam",                optimizer_state::two,          optimizer_temporaries::all,        true, {.add = 5, .mult = 3, .div = 2, .sqrt = 1}},
    {"adam:single",         optimizer_state::two,          optimizer_temporaries::one_by_one, true, {.add = 5, .mult = 3, .div = 2, .sqrt = 1}},
    {"adam:fused",          optimizer_state::two,          optimizer_temporaries::none,    true, {.add = 5, .mult = 3, .div = 2, .sqrt = 1}},
    {"adam:amsgrad",        optimizer_state::three,        optimizer_temporaries::all,        true, {.add = 5, .mult = 3, .div = 2, .sqrt = 1, .cmp = 1}},
    {"adamw",               optimizer_state::two,          optimizer_temporaries::all,        true, {.add = 5, .mult = 4, .div = 2, .sqrt = 1}},
    {"adamw:single",        optimizer_state::two,          optimizer_temporaries::one_by_one, true, {.add = 5, .mult = 4, .div = 2, .sqrt = 1}},
    {"adamw:fused",         optimizer_state::two,          optimizer_temporaries::none,    true, {.add = 5, .mult = 4, .div = 2, .sqrt = 1}},
    {"adamw:amsgrad",       optimizer_state::three,        optimizer_temporaries::all,        true, {.add = 5, .mult = 4, .div = 2, .sqrt = 1, .cmp = 1}},
    {"adamw8bit",           optimizer_state::two_8bit, optimizer_temporaries::none,    false, {.add = 5, .mult = 4, .div = 2, .sqrt = 1}},
    {"adafactor",           optimizer_state::factored, optimizer_temporaries::factored,   true, {}},
    {"rmsprop",             optimizer_state::one,          optimizer_temporaries::all,        true, {.add = 3, .mult = 2, .div = 1, .sqrt = 1}},
    {"lion",                optimizer_state::one,          optimizer_temporaries::two,        false, {.add = 3, .mult = 6, .cmp = 1}},
    {"muon",                optimizer_state::matrix,       optimizer_temporaries::matrix,     false, {.add = 5, .mult = 4, .div = 2, .sqrt = 1}},
    {"galore",              optimizer_state::projected,    optimizer_temporaries::projected,  false, {.add = 4, .mult = 5, .div = 1, .sqrt = 1}},
    {"lomo",                optimizer_state::none,      optimizer_temporaries::none,    false, {.add = 1, .mult = 1}, true, true},
};
// clang-format on

/// The optimizer of a name; null where there is none.
[[nodiscard]] constexpr const optimizer_spec* find_optimizer(std::string_view name) noexcept {
    for (const optimizer_spec& o : optimizers)
        if (o.name == name) return &o;
    return nullptr;
}

}  // namespace llmcost
