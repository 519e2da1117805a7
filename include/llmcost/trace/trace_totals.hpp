// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/count.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost {

/// Executed amount of one operation, in the units of its cost.
struct op_count {
    count work;
    count rows;
    constexpr op_count() noexcept
        : work(), rows() {}  // g++ 12 loses default initializers of members in constant arrays
};

/// The totals of a trace: amounts per operation, and figures that are not arithmetic.
struct trace_totals {
    op_count operations[num_ops];
    count parameters{};
    count active_parameters{};       ///< parameters that one token uses
    count unrouted_flops{};          ///< ADD and MULT of experts for tokens that are not routed to them
    count cache_elements{};          ///< floating-point elements in the cache after the pass
    count encoder_cache_elements{};  ///< elements of encoder outputs that replace placeholder tokens of the text
    count module_output_elements{};  ///< floating-point elements that leaf modules return
    count written_elements{};        ///< floating-point elements that operations write to new storages
    count saved_bytes{};             ///< saved for backward, each storage once
    count backward_torch_flops{};    ///< FLOPs of backward that FlopCounterMode reports
    primitives<count> backward{};    ///< primitives of backward, with one ADD per arriving gradient element
    count unsummed_gradients{};      ///< ADDs to subtract: the first of several gradients, the first term of a row sum

    /// The totals since an earlier state of the same trace.
    [[nodiscard]] constexpr trace_totals difference_from(const trace_totals& earlier) const {
        trace_totals d = *this;
        for (std::size_t i = 0; i < num_ops; ++i) {
            d.operations[i].work -= earlier.operations[i].work;
            d.operations[i].rows -= earlier.operations[i].rows;
        }
        d.parameters -= earlier.parameters;
        d.active_parameters -= earlier.active_parameters;
        d.unrouted_flops -= earlier.unrouted_flops;
        d.cache_elements -= earlier.cache_elements;
        d.encoder_cache_elements -= earlier.encoder_cache_elements;
        d.module_output_elements -= earlier.module_output_elements;
        d.written_elements -= earlier.written_elements;
        d.saved_bytes -= earlier.saved_bytes;
        d.backward_torch_flops -= earlier.backward_torch_flops;
        for (const auto primitive : primitive_members<count>) d.backward.*primitive -= earlier.backward.*primitive;
        d.unsummed_gradients -= earlier.unsummed_gradients;
        return d;
    }
    constexpr trace_totals& operator+=(const trace_totals& b) {
        for (std::size_t i = 0; i < num_ops; ++i) {
            operations[i].work += b.operations[i].work;
            operations[i].rows += b.operations[i].rows;
        }
        parameters += b.parameters;
        active_parameters += b.active_parameters;
        unrouted_flops += b.unrouted_flops;
        cache_elements += b.cache_elements;
        encoder_cache_elements += b.encoder_cache_elements;
        module_output_elements += b.module_output_elements;
        written_elements += b.written_elements;
        saved_bytes += b.saved_bytes;
        backward_torch_flops += b.backward_torch_flops;
        for (const auto primitive : primitive_members<count>) backward.*primitive += b.backward.*primitive;
        unsummed_gradients += b.unsummed_gradients;
        return *this;
    }
};

namespace detail {

/// The primitives that a cost contains: bit k for the k-th of `primitive_members`.
///
/// Written out, because compilers evaluate pointers to members slowly.
consteval unsigned mask_of(const primitives<std::int8_t>& p) {
    return (p.add != 0 ? 1U : 0U) | (p.mult != 0 ? 2U : 0U) | (p.div != 0 ? 4U : 0U) | (p.sqrt != 0 ? 8U : 0U) |
           (p.exp != 0 ? 16U : 0U) | (p.log != 0 ? 32U : 0U) | (p.tanh != 0 ? 64U : 0U) | (p.erf != 0 ? 128U : 0U) |
           (p.trig != 0 ? 256U : 0U) | (p.pow != 0 ? 512U : 0U) | (p.neg != 0 ? 1024U : 0U) | (p.cmp != 0 ? 2048U : 0U);
}

struct price_masks {
    std::uint16_t masks[num_ops]{};
};
consteval price_masks find_nonzero_primitives() {
    price_masks all{};
    for (std::size_t i = 0; i < num_ops; ++i)
        all.masks[i] = static_cast<std::uint16_t>(mask_of(op_costs[i].per_work) | mask_of(op_costs[i].per_row));
    return all;
}
inline constexpr price_masks priced = find_nonzero_primitives();

constexpr void add_cost(count& plus, count& minus, int coefficient, count n) {
    if (coefficient > 0) plus += coefficient == 1 ? n : n * count(coefficient);
    if (coefficient < 0) minus += coefficient == -1 ? n : n * count(-coefficient);
}

}  // namespace detail

/// The primitives of the totals: amounts times the cost table.
[[nodiscard]] constexpr primitives<count> primitives_of(const trace_totals& sums) {
    count plus[num_primitives], minus[num_primitives];
    for (std::size_t i = 0; i < num_ops; ++i) {
        const op_count& done = sums.operations[i];
        if (done.work == count{} && done.rows == count{}) continue;
        const op_cost& p = op_costs[i];
        for (unsigned left = detail::priced.masks[i]; left != 0; left &= left - 1) {
            const int k = __builtin_ctz(left);
            const auto member = primitive_members<std::int8_t>[k];
            detail::add_cost(plus[k], minus[k], p.per_work.*member, done.work);
            detail::add_cost(plus[k], minus[k], p.per_row.*member, done.rows);
        }
    }
    primitives<count> out;
    for (std::size_t k = 0; k < num_primitives; ++k) out.*primitive_members<count>[k] = plus[k] - minus[k];
    return out;
}

/// FLOPs of a forward pass as FlopCounterMode reports them: 2 per product of matmuls and convolutions.
[[nodiscard]] constexpr count torch_flops(const trace_totals& sums) {
    count n;
    for (std::size_t i = 0; i < num_ops; ++i)
        if (op_costs[i].torch_flops != 0) n += sums.operations[i].work * count(op_costs[i].torch_flops);
    return n;
}

/// Primitives that the backward of a complete model executes.
[[nodiscard]] constexpr primitives<count> backward(const trace_totals& sums) {
    primitives<count> all = sums.backward;
    all.add -= sums.unsummed_gradients;
    return all;
}

}  // namespace llmcost
