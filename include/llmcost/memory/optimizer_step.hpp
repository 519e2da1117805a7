// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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
[[nodiscard]] matrix_sides sides_of(const tape_parameter& p) noexcept;
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
    projection(const tape_parameter& p, std::uint64_t requested_rank);
};

/// APOLLO's projection of a matrix, with a random matrix of `rank` rows. The rank is not limited by the matrix.
struct random_projection {
    std::uint64_t longer, shorter, low, keeps;
    random_projection(const tape_parameter& p, std::uint64_t rank);
};

/// Bytes of a parameter's float32 scalars, such as the step counter, which are part of its state.
[[nodiscard]] inline std::uint64_t step_counter_bytes_of(const optimizer_spec& o, const tape_parameter& p) noexcept {
    return o.state == optimizer_state::matrix && !is_hidden_matrix(p) ? 4 : 4U * o.num_scalars;
}

/// Bytes of each tensor of a parameter's state on a CUDA device.
///
/// Step counters are on the host, except those of fused optimizers.
///
/// Source: torch/optim/adam.py, `Adam._init_group`.
[[nodiscard]] std::vector<std::uint64_t> device_state_tensors(const optimizer_spec& o, std::int64_t rank,
                                                              const tape_parameter& p);

/// Peak bytes of the variables of a loop. Values of an iteration live until the next one reassigns them.
class loop_names {
public:
    /// Assigns a new value to a variable while the previous value is live.
    void bind(std::uint64_t& name, std::uint64_t bytes);
    /// Allocates a value that stays live.
    void make(std::uint64_t bytes);
    void drop(std::uint64_t bytes) { live_bytes_ -= bytes; }
    [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_bytes_; }

private:
    std::uint64_t live_bytes_ = 0, peak_bytes_ = 0;
};

/// Bytes of optimizer state, and the maximum of state and temporaries during a step.
struct optimizer_memory {
    std::uint64_t state = 0, maximum = 0;
};
[[nodiscard]] optimizer_memory compute_optimizer_memory(const optimizer_spec& o, std::int64_t rank,
                                                        const std::vector<tape_parameter>& trained,
                                                        bool first) noexcept;

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/optimizer_step.ipp>  // IWYU pragma: export
#endif
