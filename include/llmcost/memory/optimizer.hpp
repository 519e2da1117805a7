// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/memory/tape.hpp>

namespace llmcost {

/// What an optimizer holds for a parameter from step to step.
enum class optimizer_state : std::uint8_t {
    nothing,
    one,           ///< as much as the parameter: a momentum, a second moment
    two,           ///< both moments (Adam)
    three,         ///< and the largest second moments so far (AMSGrad)
    rows_columns,  ///< of matrices a number for each row and column, else as much as the parameter (Adafactor)
    two_in_bytes,  ///< both moments in 8 bits, and a scale in 32 for each 256 elements (bitsandbytes)
};

/// What a step makes for a moment.
enum class optimizer_work : std::uint8_t {
    nothing,
    all,         ///< as much as all parameters together: a foreach's result
    one_by_one,  ///< a tensor and its quotient, while the one of the parameter before is still held
    factored,    ///< Adafactor's estimate, while the update before is still held, and its means
    one,         ///< as much as the largest parameter
};

/// An optimizer as PyTorch and its relatives run it: what it holds, what a step makes.
///
/// Sources: torch/optim/{sgd,adam,rmsprop,_adafactor,_muon}.py; Lion: arXiv 2302.06675; 8 bits: arXiv 2110.02861.
struct optimizer_row {
    std::string_view name;
    optimizer_state state;
    optimizer_work work;
    bool counts_steps;  ///< a number in 32 bits for each parameter
};

// clang-format off
inline constexpr optimizer_row optimizers[]{
    {"none",           optimizer_state::nothing,      optimizer_work::nothing,    false},
    {"sgd",            optimizer_state::nothing,      optimizer_work::nothing,    false},
    {"sgd_momentum",   optimizer_state::one,          optimizer_work::nothing,    false},
    {"sgd_nesterov",   optimizer_state::one,          optimizer_work::nothing,    false},
    {"adam",           optimizer_state::two,          optimizer_work::all,        true},
    {"adam:single",    optimizer_state::two,          optimizer_work::one_by_one, true},
    {"adam:fused",     optimizer_state::two,          optimizer_work::nothing,    true},
    {"adam:amsgrad",   optimizer_state::three,        optimizer_work::all,        true},
    {"adamw",          optimizer_state::two,          optimizer_work::all,        true},
    {"adamw:single",   optimizer_state::two,          optimizer_work::one_by_one, true},
    {"adamw:fused",    optimizer_state::two,          optimizer_work::nothing,    true},
    {"adamw:amsgrad",  optimizer_state::three,        optimizer_work::all,        true},
    {"adamw8bit",      optimizer_state::two_in_bytes, optimizer_work::nothing,    false},
    {"adafactor",      optimizer_state::rows_columns, optimizer_work::factored,   true},
    {"rmsprop",        optimizer_state::one,          optimizer_work::all,        true},
    {"lion",           optimizer_state::one,          optimizer_work::one,        false},
};
// clang-format on

/// The optimizer of a name; null where there is none.
[[nodiscard]] constexpr const optimizer_row* find_optimizer(std::string_view name) noexcept {
    for (const optimizer_row& o : optimizers)
        if (o.name == name) return &o;
    return nullptr;
}

namespace detail {

/// Bytes of one element of a parameter.
[[nodiscard]] inline std::uint64_t element_bytes(const tape_parameter& p) noexcept {
    return p.elements == 0 ? 0 : p.bytes / p.elements;
}
/// Rows and columns of a tensor's matrices; none of a vector.
struct matrix_sides {
    std::uint64_t rows = 0, columns = 0;
};
[[nodiscard]] inline matrix_sides sides_of(const tape_parameter& p) noexcept {
    if (p.sizes.size() < 2) return {};
    const auto side = [&](std::size_t from_the_end) {
        return p.elements / static_cast<std::uint64_t>(p.sizes[p.sizes.size() - from_the_end]);
    };
    return {side(1), side(2)};
}

[[nodiscard]] inline std::uint64_t state_of(const optimizer_row& o, const tape_parameter& p) noexcept {
    const std::uint64_t steps = o.counts_steps ? 4 : 0;
    switch (o.state) {
        case optimizer_state::nothing: break;
        case optimizer_state::one: return p.bytes + steps;
        case optimizer_state::two: return 2 * p.bytes + steps;
        case optimizer_state::three: return 3 * p.bytes + steps;
        case optimizer_state::rows_columns: {
            const matrix_sides m = sides_of(p);
            return (m.rows == 0 ? p.bytes : (m.rows + m.columns) * element_bytes(p)) + steps;
        }
        case optimizer_state::two_in_bytes:  // small tensors stay in 32 bits
            return p.elements < 4096 ? 8 * p.elements : 2 * p.elements + 2 * 4 * ((p.elements + 255) / 256);
    }
    return steps;
}

/// The most that Adafactor's loop holds beside its state: names of a turn live until the next one binds them anew.
[[nodiscard]] inline std::uint64_t factored_work(const std::vector<const tape_parameter*>& trained) noexcept {
    std::uint64_t most = 0, rows = 0, columns = 0, square = 0, update = 0;
    for (const tape_parameter* p : trained) {
        const matrix_sides m = sides_of(*p);
        const std::uint64_t each = element_bytes(*p);
        const auto bind = [&](std::uint64_t& name, std::uint64_t bytes) {
            most = std::max(most, rows + columns + square + update + bytes);
            name = bytes;
        };
        if (m.rows != 0)
            bind(rows, m.rows * each), bind(columns, m.columns * each);
        else
            bind(square, p->bytes);
        // beside the estimate the mean of the rows' means, by which it is divided
        const std::uint64_t means = m.rows == 0 ? 0 : m.rows / static_cast<std::uint64_t>(p->sizes[p->sizes.size() - 2]);
        bind(update, p->bytes + means * each);
        update = p->bytes;
    }
    return most;
}

[[nodiscard]] inline std::uint64_t work_of(const optimizer_row& o,
                                           const std::vector<const tape_parameter*>& trained) noexcept {
    std::uint64_t all = 0, largest = 0, turns = 0, before = 0;
    for (const tape_parameter* p : trained) {
        all += p->bytes, largest = std::max(largest, p->bytes);
        turns = std::max(turns, before + 2 * p->bytes), before = p->bytes;
    }
    switch (o.work) {
        case optimizer_work::nothing: return 0;
        case optimizer_work::all: return all;
        case optimizer_work::one_by_one: return turns;
        case optimizer_work::factored: return factored_work(trained);
        case optimizer_work::one: return largest;
    }
    return 0;
}

}  // namespace detail

}  // namespace llmcost
