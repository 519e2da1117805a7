// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/tape.hpp>

// Bytes of optimizer state, and the peak during a step.
namespace llmcost::detail {

/// Bytes of one element of a parameter.
[[nodiscard]] inline std::uint64_t element_bytes(const tape_parameter& p) noexcept {
    return p.elements == 0 ? 0 : p.bytes / p.elements;
}
/// Number of rows and columns of a tensor's matrices; 0 for a vector.
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
/// Whether a parameter is a matrix of a layer, for which Muon and GaLore have their own update.
[[nodiscard]] inline bool is_hidden_matrix(const tape_parameter& p) noexcept {
    return p.region_id >= 0 && p.sizes.size() == 2;
}

/// GaLore's projection of a matrix: the projected side, the size of the result and the stored projection.
///
/// A view of `rank` vectors of a factor retains the complete factor. In 16 bits the view is copied and the factor is
/// freed.
struct projection {
    std::uint64_t rank, longer, shorter, low, keeps;
    projection(const tape_parameter& p, std::uint64_t requested_rank) {
        const auto a = static_cast<std::uint64_t>(p.sizes[0]), b = static_cast<std::uint64_t>(p.sizes[1]);
        longer = std::max(a, b);
        shorter = std::min(a, b);
        rank = std::min(requested_rank, shorter);
        low = longer * rank * element_bytes(p);
        keeps = element_bytes(p) < 4 ? shorter * rank * element_bytes(p) : shorter * shorter * 4;
    }
};

/// Bytes of a parameter's step counter, which is part of its state.
[[nodiscard]] inline std::uint64_t step_counter_bytes_of(const optimizer_spec& o, const tape_parameter& p) noexcept {
    return o.has_step_counter || (o.state == optimizer_state::matrix && !is_hidden_matrix(p)) ? 4 : 0;
}
[[nodiscard]] inline std::uint64_t state_of(const optimizer_spec& o, std::int64_t rank,
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
    }
    return steps;
}

/// Peak bytes of the variables of a loop. Values of an iteration live until the next one reassigns them.
class loop_names {
public:
    /// Assigns a new value to a variable while the previous value is live.
    void bind(std::uint64_t& name, std::uint64_t bytes) {
        make(bytes);
        live_bytes_ -= name;
        name = bytes;
    }
    /// Allocates a value that stays live.
    void make(std::uint64_t bytes) {
        live_bytes_ += bytes;
        peak_bytes_ = std::max(peak_bytes_, live_bytes_);
    }
    void drop(std::uint64_t bytes) { live_bytes_ -= bytes; }
    [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_bytes_; }

private:
    std::uint64_t live_bytes_ = 0, peak_bytes_ = 0;
};

/// Peak bytes of Adafactor's loop, without its state.
[[nodiscard]] inline std::uint64_t factored_work(const std::vector<tape_parameter>& trained) noexcept {
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
[[nodiscard]] inline std::uint64_t matrix_work(const std::vector<tape_parameter>& trained) noexcept {
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
[[nodiscard]] inline std::uint64_t galore_peak_bytes(std::int64_t rank, const std::vector<tape_parameter>& trained,
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

/// Bytes of optimizer state, and the maximum of state and temporaries during a step.
struct optimizer_memory {
    std::uint64_t state = 0, maximum = 0;
};
[[nodiscard]] inline optimizer_memory compute_optimizer_memory(const optimizer_spec& o, std::int64_t rank,
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
        case optimizer_temporaries::one_by_one: return {state, state + turns};
        case optimizer_temporaries::factored: return {state, state + factored_work(trained)};
        case optimizer_temporaries::one: return {state, state + largest};
        case optimizer_temporaries::two: return {state, state + 2 * largest};
        case optimizer_temporaries::matrix: return {state, state + matrix_work(trained)};
        case optimizer_temporaries::projected: return {state, std::max(state, galore_peak_bytes(rank, trained, first))};
    }
    return {state, state};
}

}  // namespace llmcost::detail
