// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/optimizer_step.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost::detail {

LLMCOST_INLINE matrix_sides sides_of(const tape_parameter& p) noexcept {
    if (p.sizes.size() < 2) return {};
    const auto side = [&](std::size_t from_the_end) {
        return p.elements / static_cast<std::uint64_t>(p.sizes[p.sizes.size() - from_the_end]);
    };
    return {side(1), side(2)};
}

LLMCOST_INLINE projection::projection(const tape_parameter& p, std::uint64_t requested_rank) {
    const auto a = static_cast<std::uint64_t>(p.sizes[0]), b = static_cast<std::uint64_t>(p.sizes[1]);
    longer = std::max(a, b);
    shorter = std::min(a, b);
    rank = std::min(requested_rank, shorter);
    low = longer * rank * element_bytes(p);
    keeps = element_bytes(p) < 4 ? shorter * rank * element_bytes(p) : shorter * shorter * 4;
}

LLMCOST_INLINE random_projection::random_projection(const tape_parameter& p, std::uint64_t rank) {
    const auto a = static_cast<std::uint64_t>(p.sizes[0]), b = static_cast<std::uint64_t>(p.sizes[1]);
    longer = std::max(a, b);
    shorter = std::min(a, b);
    low = longer * rank * element_bytes(p);
    keeps = shorter * rank * element_bytes(p);
}

[[nodiscard]] LLMCOST_INLINE std::uint64_t state_of(const optimizer_spec& o, std::int64_t rank,
                                                    const tape_parameter& p) noexcept {
    const std::uint64_t steps = step_counter_bytes_of(o, p);
    switch (o.state) {
        case optimizer_state::none: break;
        case optimizer_state::one: return p.bytes + steps;
        case optimizer_state::two: return 2 * p.bytes + steps;
        case optimizer_state::three: return 3 * p.bytes + steps;
        case optimizer_state::factored: {
            const matrix_sides m = sides_of(p);
            return (m.rows == 0 ? p.bytes : (m.rows + m.columns) * element_bytes(p)) + steps;
        }
        case optimizer_state::two_8bit:  // small tensors have float32 state
            return p.elements < 4096 ? 8 * p.elements : 2 * p.elements + 2 * 4 * ((p.elements + 255) / 256);
        case optimizer_state::matrix: return (is_hidden_matrix(p) ? p.bytes : 2 * p.bytes) + steps;
        case optimizer_state::projected: {
            if (!is_hidden_matrix(p)) return 2 * p.bytes;
            const projection q(p, static_cast<std::uint64_t>(rank));
            return 2 * q.low + q.keeps;
        }
        case optimizer_state::random_projected: {
            if (!is_hidden_matrix(p)) return 2 * p.bytes;
            const random_projection q(p, static_cast<std::uint64_t>(rank));
            return 2 * q.low + q.keeps + element_bytes(p);
        }
        case optimizer_state::factored_float32: {
            const matrix_sides m = sides_of(p);
            return 4 * (m.rows == 0 ? p.elements : m.rows + m.columns) + 4;
        }
        case optimizer_state::two_norms: return 2 * p.bytes + 3 * element_bytes(p);
    }
    return steps;
}

LLMCOST_INLINE std::vector<std::uint64_t> device_state_tensors(const optimizer_spec& o, std::int64_t rank,
                                                               const tape_parameter& p) {
    const std::uint64_t counters = step_counter_bytes_of(o, p), bytes = state_of(o, rank, p) - counters;
    const bool is_divisible = p.bytes > 0 && bytes % p.bytes == 0;
    std::vector<std::uint64_t> out(is_divisible ? bytes / p.bytes : 1, is_divisible ? p.bytes : bytes);
    if (o.name.ends_with(":fused")) out.push_back(counters);
    return out;
}

LLMCOST_INLINE void loop_names::bind(std::uint64_t& name, std::uint64_t bytes) {
    make(bytes);
    live_bytes_ -= name;
    name = bytes;
}

LLMCOST_INLINE void loop_names::make(std::uint64_t bytes) {
    live_bytes_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, live_bytes_);
}

/// Peak bytes of Adafactor's loop, without its state.
[[nodiscard]] LLMCOST_INLINE std::uint64_t factored_work(const std::vector<tape_parameter>& trained) noexcept {
    loop_names names;
    std::uint64_t rows = 0, columns = 0, square = 0, update = 0;
    for (const tape_parameter& p : trained) {
        const matrix_sides m = sides_of(p);
        const std::uint64_t bytes_per_element = element_bytes(p);
        if (m.rows != 0) {
            names.bind(rows, m.rows * bytes_per_element);
            names.bind(columns, m.columns * bytes_per_element);
        } else
            names.bind(square, p.bytes);
        // in addition to the estimate: the mean of the row means, which is its divisor
        const std::uint64_t means = m.rows == 0 ? 0 : m.rows / static_cast<std::uint64_t>(p.sizes[p.sizes.size() - 2]);
        names.make(means * bytes_per_element);
        names.bind(update, p.bytes);
        names.drop(means * bytes_per_element);
    }
    return names.peak_bytes();
}

/// Peak bytes of Muon's loop without its state, or of AdamW's step over the other parameters.
[[nodiscard]] LLMCOST_INLINE std::uint64_t matrix_work(const std::vector<tape_parameter>& trained) noexcept {
    loop_names names;
    std::uint64_t update = 0, others = 0;
    for (const tape_parameter& p : trained) {
        if (!is_hidden_matrix(p)) {
            others += p.bytes;
            continue;
        }
        const auto side = static_cast<std::uint64_t>(std::min(p.sizes[0], p.sizes[1]));
        const std::uint64_t half = 2 * p.elements, gram = 2 * side * side;
        names.bind(update, p.bytes);
        // a Newton-Schulz iteration: matrix · matrixᵀ, its square, and both times the matrix
        names.make(half);
        names.make(2 * gram);
        names.make(half);
        names.drop(half);
        names.drop(2 * gram);
        names.make(3 * gram);
        names.drop(3 * gram);  // the product of the next iteration, while both of the previous one are live
        names.drop(update);
        update = half;
    }
    return std::max(names.peak_bytes(), others);
}

/// Peak bytes of GaLore's loop including its state. `first`: the step creates state and projections.
[[nodiscard]] LLMCOST_INLINE std::uint64_t galore_peak_bytes(std::int64_t rank,
                                                             const std::vector<tape_parameter>& trained,
                                                             bool first) noexcept {
    loop_names names;
    std::uint64_t gradient = 0, root = 0, quotient = 0;
    const auto step_parameter = [&](const tape_parameter& p) {
        if (!is_hidden_matrix(p)) {
            names.drop(gradient);
            gradient = 0;
            names.make(first ? 2 * p.bytes : 0);
            names.bind(root, p.bytes);
            names.bind(quotient, p.bytes);
            return;
        }
        const projection q(p, static_cast<std::uint64_t>(rank));
        names.drop(gradient);
        gradient = 0;
        if (first) {  // both factors and the singular values, then an unused product
            const std::uint64_t float32_bytes = element_bytes(p) < 4 ? 4 * p.elements : 0;
            const std::uint64_t factors = 4 * (q.longer * q.shorter + q.shorter + q.shorter * q.shorter);
            const std::uint64_t diagonal = 4 * q.rank * q.rank, scaled = 4 * q.longer * q.rank;
            names.make(float32_bytes);
            names.make(factors);
            names.make(diagonal);
            names.make(scaled);
            names.drop(diagonal);
            if (float32_bytes != 0) names.make(q.keeps);
            names.drop(float32_bytes + factors + scaled);
            if (float32_bytes == 0) names.make(q.keeps);
        }
        names.make(q.low);
        gradient = q.low;
        names.make(first ? 2 * q.low : 0);
        names.bind(root, q.low);
        names.bind(quotient, q.low);
        names.make(p.bytes);
        names.bind(quotient, p.bytes);
        names.drop(p.bytes);
    };
    if (!first)
        for (const tape_parameter& p : trained) names.make(state_of(*find_optimizer("galore"), rank, p));
    for (const bool hidden : {false, true})
        for (const tape_parameter& p : trained)
            if (is_hidden_matrix(p) == hidden) step_parameter(p);
    return names.peak_bytes();
}

/// Peak bytes of APOLLO's loop including its state. `first`: the step creates state and projections.
[[nodiscard]] LLMCOST_INLINE std::uint64_t apollo_peak_bytes(std::int64_t requested_rank,
                                                             const std::vector<tape_parameter>& trained,
                                                             bool first) noexcept {
    const auto rank = static_cast<std::uint64_t>(requested_rank);
    loop_names names;
    // `norm_grad` refers to `scaled_grad` at the end of a step of a matrix
    std::uint64_t gradient = 0, root = 0, quotient = 0, factor = 0, scaled = 0;
    const auto step_parameter = [&](const tape_parameter& p) {
        names.drop(gradient);
        gradient = 0;
        if (!is_hidden_matrix(p)) {
            names.make(first ? 2 * p.bytes : 0);
            names.bind(root, p.bytes);
            names.bind(quotient, p.bytes);
            return;
        }
        const random_projection q(p, rank);
        const std::uint64_t scalar = element_bytes(p), channels = q.longer * scalar;
        if (first) {  // random numbers and their quotient in float32
            const std::uint64_t copies = scalar < 4 ? 4 * p.elements : 0, numbers = 4 * q.shorter * rank;
            names.make(copies);
            names.make(2 * numbers);
            names.drop(numbers);
            if (scalar < 4) {
                names.make(q.keeps);
                names.drop(copies + numbers);
            }
        }
        names.bind(gradient, q.low);
        names.make(first ? 2 * q.low : 0);
        names.bind(root, q.low);
        names.bind(quotient, q.low);
        names.make(3 * channels);  // both norms, and the divisor
        names.drop(channels);
        names.bind(factor, channels);
        names.drop(2 * channels);
        names.bind(scaled, p.bytes);
        names.make(first ? scalar : 2 * scalar);
        if (!first) {
            names.bind(scaled, p.bytes);
            names.drop(2 * scalar);
        }
        names.drop(quotient);
        quotient = 0;
    };
    if (!first)
        for (const tape_parameter& p : trained) names.make(state_of(*find_optimizer("apollo"), requested_rank, p));
    for (const bool hidden : {false, true})
        for (const tape_parameter& p : trained)
            if (is_hidden_matrix(p) == hidden) step_parameter(p);
    return names.peak_bytes();
}

/// Peak bytes of the loop of Transformers' Adafactor including its state. `first`: the step creates the state.
[[nodiscard]] LLMCOST_INLINE std::uint64_t factored_float32_peak_bytes(const std::vector<tape_parameter>& trained,
                                                                       bool first) noexcept {
    constexpr std::uint64_t scalar = 4;
    loop_names names;
    std::uint64_t gradient = 0, parameter = 0, update = 0, rate = 0;
    if (!first)
        for (const tape_parameter& p : trained) names.make(state_of(*find_optimizer("adafactor:transformers"), 0, p));
    for (const tape_parameter& p : trained) {
        const matrix_sides m = sides_of(p);
        const std::uint64_t all = 4 * p.elements, copy = element_bytes(p) < 4 ? all : 0;
        names.drop(gradient);
        names.make(copy);
        gradient = copy;
        if (first) names.make(state_of(*find_optimizer("adafactor:transformers"), 0, p) - scalar);
        names.drop(parameter);
        names.make(copy);
        parameter = copy;
        names.make(2 * scalar);  // a norm and its quotient
        names.drop(first ? scalar : 2 * scalar);
        names.bind(rate, scalar);
        names.make(all);
        names.bind(update, all);
        names.drop(all);
        if (m.rows != 0) {
            names.make(4 * (m.rows + m.columns));
            names.bind(update, all);
            names.drop(4 * (m.rows + m.columns));
        } else
            names.bind(update, all);
        names.make(all);  // the negative update
        names.drop(all);
    }
    return names.peak_bytes();
}

/// Peak bytes of LAMB's loop including its state. `first`: the step creates the state.
[[nodiscard]] LLMCOST_INLINE std::uint64_t lamb_peak_bytes(const std::vector<tape_parameter>& trained,
                                                           bool first) noexcept {
    loop_names names;
    std::uint64_t update = 0;
    if (!first)
        for (const tape_parameter& p : trained) names.make(state_of(*find_optimizer("lamb"), 0, p));
    for (const tape_parameter& p : trained) {
        const std::uint64_t scalar = element_bytes(p);
        names.make(first ? 2 * p.bytes : 0);
        names.make(scalar);  // the norm of the parameter
        names.make(p.bytes);
        names.bind(update, p.bytes);
        names.drop(p.bytes);
        names.make(2 * scalar);  // the norm of the update, and the quotient
        names.drop(first ? 0 : 3 * scalar);
    }
    return names.peak_bytes();
}

LLMCOST_INLINE optimizer_memory compute_optimizer_memory(const optimizer_spec& o, std::int64_t rank,
                                                         const std::vector<tape_parameter>& trained,
                                                         bool first) noexcept {
    std::uint64_t all = 0, largest = 0, turns = 0, previous_bytes = 0, state = 0;
    for (const tape_parameter& p : trained) {
        all += p.bytes;
        largest = std::max(largest, p.bytes);
        turns = std::max(turns, previous_bytes + 2 * p.bytes);
        previous_bytes = p.bytes;
        state += state_of(o, rank, p);
    }
    switch (o.temporaries) {
        case optimizer_temporaries::none: return {state, state};
        case optimizer_temporaries::all: return {state, state + all};
        case optimizer_temporaries::all_twice: return {state, state + 2 * all};
        case optimizer_temporaries::one_by_one: return {state, state + turns};
        case optimizer_temporaries::factored: return {state, state + factored_work(trained)};
        case optimizer_temporaries::one: return {state, state + largest};
        case optimizer_temporaries::two: return {state, state + 2 * largest};
        case optimizer_temporaries::matrix: return {state, state + matrix_work(trained)};
        case optimizer_temporaries::projected: return {state, std::max(state, galore_peak_bytes(rank, trained, first))};
        case optimizer_temporaries::random_projected:
            return {state, std::max(state, apollo_peak_bytes(rank, trained, first))};
        case optimizer_temporaries::factored_float32:
            return {state, std::max(state, factored_float32_peak_bytes(trained, first))};
        case optimizer_temporaries::norms: return {state, std::max(state, lamb_peak_bytes(trained, first))};
    }
    return {state, state};
}

}  // namespace llmcost::detail
