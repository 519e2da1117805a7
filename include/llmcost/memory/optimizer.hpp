// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <llmcost/trace/ops.hpp>

namespace llmcost {

/// The state that an optimizer stores for a parameter.
enum class optimizer_state : std::uint8_t {
    none,
    one,               ///< as large as the parameter: a momentum, a second moment
    two,               ///< both moments (Adam)
    three,             ///< both moments and the maximum of second moments (AMSGrad)
    factored,          ///< for matrices one element per row and column, otherwise as large as the parameter (Adafactor)
    two_8bit,          ///< both moments in 8 bits, and a float32 scale per 256 elements (bitsandbytes)
    matrix,            ///< a momentum for the matrices of layers, both moments for all others (Muon with AdamW)
    projected,         ///< both moments of the projected matrices of layers, and the projections (GaLore)
    random_projected,  ///< as `projected`, with a random projection and the norm of the last update (APOLLO)
    factored_float32,  ///< as `factored` in float32, and a root mean square per parameter (Transformers' Adafactor)
    two_norms,         ///< both moments, two norms and their quotient (LAMB)
};

/// The temporary tensors of an optimizer step.
enum class optimizer_temporaries : std::uint8_t {
    none,
    all,         ///< as large as all parameters together: the result of a foreach function
    all_twice,   ///< two results of foreach functions
    one_by_one,  ///< a tensor and its quotient, while the quotient of the previous parameter is live
    factored,    ///< Adafactor's estimate and its means, while the previous update is live
    one,         ///< as large as the largest parameter
    two,         ///< twice as large as the largest parameter: a copy and a result
    matrix,      ///< Newton-Schulz iterations in bfloat16, one matrix at a time; then all other parameters together
    projected,   ///< a factorization if the projection is new, one matrix at a time
    random_projected,  ///< the projected gradient, and the scaled gradients of two matrices
    factored_float32,  ///< a float32 copy of the gradient and the parameter, and the squares; state is created in the
                       ///< loop
    norms,             ///< as `one_by_one`; state is created in the loop
};

/// An optimizer: its state and the temporaries of a step, as in PyTorch and other libraries.
///
/// PyTorch's Muon accepts only matrices; embeddings, heads and vectors use AdamW, as the author of Muon does.
///
/// Source: torch/optim/{sgd,adam,nadam,radam,adamax,adagrad,adadelta,asgd,rmsprop,_adafactor,_muon}.py;
/// lion_pytorch/lion_pytorch.py; galore_torch/{adamw,galore_projector}.py; lomo_optim/lomo.py;
/// transformers/optimization.py, `Adafactor`; apollo_torch/{apollo,random_projector}.py; torch_optimizer/lamb.py;
/// schedulefree/{adamw,sgd}_schedulefree.py; 8 bits: arXiv 2110.02861, with the arithmetic of AdamW.
struct optimizer_spec {
    std::string_view name;
    optimizer_state state;
    optimizer_temporaries temporaries;
    std::uint8_t num_scalars;  ///< float32 scalars per parameter, of which the first is a step counter
    /// primitives per element and step, except for matrices with their own update
    primitives<std::int8_t> per_element{};
    bool only_in_backward = false;        ///< updates parameters during backward only
    bool steps_at_next_gradient = false;  ///< updates a parameter when the next gradient arrives

    /// Whether the update of an element reads no other element, so that a shard of a tensor can be updated separately.
    [[nodiscard]] constexpr bool is_elementwise() const noexcept {
        switch (state) {
            case optimizer_state::factored:
            case optimizer_state::factored_float32:
            case optimizer_state::matrix:
            case optimizer_state::projected:
            case optimizer_state::random_projected:
            case optimizer_state::two_norms: return false;
            default: return !only_in_backward;
        }
    }
};

/// Matrix products of an optimizer step: (rows, inner) x (inner, columns), `repetitions` times.
struct optimizer_product {
    std::uint64_t rows = 0, columns = 0, inner = 0, repetitions = 1;
    bool is_bfloat16 = false;  ///< in bfloat16, independent of the type of the weights

    /// Whether two products have the same sizes.
    [[nodiscard]] constexpr bool is_like(const optimizer_product& o) const noexcept {
        return rows == o.rows && columns == o.columns && inner == o.inner && is_bfloat16 == o.is_bfloat16;
    }
};

// clang-format off
inline constexpr optimizer_spec optimizers[]{
    {"none",                optimizer_state::none,      optimizer_temporaries::none,    0, {}},
    {"sgd",                 optimizer_state::none,      optimizer_temporaries::none,    0, {.add = 1, .mult = 1}},
    {"sgd_momentum",        optimizer_state::one,          optimizer_temporaries::none,    0, {.add = 2, .mult = 2}},
    {"sgd_nesterov",        optimizer_state::one,          optimizer_temporaries::none,    0, {.add = 3, .mult = 3}},
    {"sgd_nesterov:single", optimizer_state::one,          optimizer_temporaries::one,        0, {.add = 3, .mult = 3}},
    {"adam",                optimizer_state::two,          optimizer_temporaries::all,        1, {.add = 5, .mult = 3, .div = 2, .sqrt = 1}},
    {"adam:single",         optimizer_state::two,          optimizer_temporaries::one_by_one, 1, {.add = 5, .mult = 3, .div = 2, .sqrt = 1}},
    {"adam:fused",          optimizer_state::two,          optimizer_temporaries::none,    1, {.add = 5, .mult = 3, .div = 2, .sqrt = 1}},
    {"adam:amsgrad",        optimizer_state::three,        optimizer_temporaries::all,        1, {.add = 5, .mult = 3, .div = 2, .sqrt = 1, .cmp = 1}},
    {"adamw",               optimizer_state::two,          optimizer_temporaries::all,        1, {.add = 5, .mult = 4, .div = 2, .sqrt = 1}},
    {"adamw:single",        optimizer_state::two,          optimizer_temporaries::one_by_one, 1, {.add = 5, .mult = 4, .div = 2, .sqrt = 1}},
    {"adamw:fused",         optimizer_state::two,          optimizer_temporaries::none,    1, {.add = 5, .mult = 4, .div = 2, .sqrt = 1}},
    {"adamw:amsgrad",       optimizer_state::three,        optimizer_temporaries::all,        1, {.add = 5, .mult = 4, .div = 2, .sqrt = 1, .cmp = 1}},
    {"adamw8bit",           optimizer_state::two_8bit, optimizer_temporaries::none,    0, {.add = 5, .mult = 4, .div = 2, .sqrt = 1}},
    {"adafactor",           optimizer_state::factored, optimizer_temporaries::factored,   1, {}},
    {"rmsprop",             optimizer_state::one,          optimizer_temporaries::all,        1, {.add = 3, .mult = 2, .div = 1, .sqrt = 1}},
    {"nadam",               optimizer_state::two,          optimizer_temporaries::all,        2, {.add = 6, .mult = 3, .div = 3, .sqrt = 1}},
    {"radam",               optimizer_state::two,          optimizer_temporaries::all,        1, {.add = 6, .mult = 4, .div = 2, .sqrt = 1}},
    {"adamax",              optimizer_state::two,          optimizer_temporaries::all,        1, {.add = 4, .mult = 2, .div = 1, .cmp = 2}},
    {"adagrad",             optimizer_state::one,          optimizer_temporaries::all_twice,  1, {.add = 3, .mult = 2, .div = 1, .sqrt = 1}},
    {"adadelta",            optimizer_state::two,          optimizer_temporaries::all_twice,  1, {.add = 5, .mult = 6, .div = 1, .sqrt = 2}},
    {"asgd",                optimizer_state::one,          optimizer_temporaries::all,        3, {.add = 4, .mult = 3}},
    {"schedule-free",       optimizer_state::two,          optimizer_temporaries::all,        0, {.add = 6, .mult = 5, .div = 2, .sqrt = 1}},
    {"schedule-free:sgd",   optimizer_state::one,          optimizer_temporaries::none,       0, {.add = 4, .mult = 3}},
    {"lamb",                optimizer_state::two_norms,    optimizer_temporaries::norms,      0, {.add = 6, .mult = 7, .div = 1, .sqrt = 1}},
    {"adafactor:transformers", optimizer_state::factored_float32, optimizer_temporaries::factored_float32, 0, {}},
    {"apollo",              optimizer_state::random_projected, optimizer_temporaries::random_projected, 0, {.add = 4, .mult = 5, .div = 1, .sqrt = 1}},
    {"lion",                optimizer_state::one,          optimizer_temporaries::two,        0, {.add = 3, .mult = 6, .cmp = 1}},
    {"muon",                optimizer_state::matrix,       optimizer_temporaries::matrix,     0, {.add = 5, .mult = 4, .div = 2, .sqrt = 1}},
    {"galore",              optimizer_state::projected,    optimizer_temporaries::projected,  0, {.add = 4, .mult = 5, .div = 1, .sqrt = 1}},
    {"lomo",                optimizer_state::none,      optimizer_temporaries::none,    0, {.add = 1, .mult = 1}, true, true},
};
// clang-format on

/// The optimizer with this name; `-` and `_` are the same character. Returns null if there is none.
[[nodiscard]] constexpr const optimizer_spec* find_optimizer(std::string_view name) noexcept {
    const auto is_same = [](char a, char b) { return (a == '_' ? '-' : a) == (b == '_' ? '-' : b); };
    for (const optimizer_spec& o : optimizers) {
        bool matches = o.name.size() == name.size();
        for (std::size_t i = 0; matches && i < name.size(); ++i) matches = is_same(o.name[i], name[i]);
        if (matches) return &o;
    }
    return nullptr;
}

}  // namespace llmcost
