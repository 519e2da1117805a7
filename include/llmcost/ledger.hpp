// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/count.hpp>
#include <llmcost/ops.hpp>

namespace llmcost {

/// How much of an operation kind was executed, in the units of its price.
struct amount {
    count work;
    count rows;
    constexpr amount() noexcept : work(), rows() {}  // g++ 12 loses default initialisers of members in constant arrays
};

/// The running sums of a walk: one line per operation kind, and what is no arithmetic.
struct ledger {
    amount operations[op_kinds];
    count parameters{};
    count active_parameters{};     ///< of experts, those that one token meets
    count cache{};                 ///< floating elements that the cache holds after the run
    count out{};                   ///< floating elements that modules without children return
    count written{};               ///< floating elements that operations write to new storage
    count saved_bytes{};           ///< kept by autograd until backward, each storage once
    count backward_torch_flops{};  ///< what FlopCounterMode says of backward
    primitives<count> backward{};  ///< what backward executes, with an ADD for every gradient element that arrives
    count sole_gradients{};        ///< ADDs that are none: the first of the gradients that meet, the first of a row's sum

    /// What was added since an earlier state of the same ledger.
    [[nodiscard]] constexpr ledger since(const ledger& earlier) const {
        ledger d = *this;
        for (std::size_t i = 0; i < op_kinds; ++i) {
            d.operations[i].work -= earlier.operations[i].work;
            d.operations[i].rows -= earlier.operations[i].rows;
        }
        d.parameters -= earlier.parameters;
        d.active_parameters -= earlier.active_parameters;
        d.cache -= earlier.cache;
        d.out -= earlier.out;
        d.written -= earlier.written;
        d.saved_bytes -= earlier.saved_bytes;
        d.backward_torch_flops -= earlier.backward_torch_flops;
        for (const auto primitive : primitive_members<count>) d.backward.*primitive -= earlier.backward.*primitive;
        d.sole_gradients -= earlier.sole_gradients;
        return d;
    }
    constexpr ledger& operator+=(const ledger& b) {
        for (std::size_t i = 0; i < op_kinds; ++i) {
            operations[i].work += b.operations[i].work;
            operations[i].rows += b.operations[i].rows;
        }
        parameters += b.parameters;
        active_parameters += b.active_parameters;
        cache += b.cache;
        out += b.out;
        written += b.written;
        saved_bytes += b.saved_bytes;
        backward_torch_flops += b.backward_torch_flops;
        for (const auto primitive : primitive_members<count>) backward.*primitive += b.backward.*primitive;
        sole_gradients += b.sole_gradients;
        return *this;
    }
};

namespace detail {

/// One primitive of an operation: which, and how many per unit of work and per row.
struct charge {
    std::uint8_t primitive = 0;
    std::int8_t per_work = 0;
    std::int8_t per_row = 0;
};

/// The price table without its zeros.
struct charges {
    charge of[6]{};
    std::uint8_t n = 0;
};

struct price_charges {
    charges of[op_kinds]{};
};

consteval price_charges compact_prices() {
    price_charges all{};
    for (std::size_t i = 0; i < op_kinds; ++i)
        for (std::size_t k = 0; k < primitive_kinds; ++k) {
            const auto member = primitive_members<std::int8_t>[k];
            const std::int8_t work = op_table[i].per_work.*member, rows = op_table[i].per_row.*member;
            if (work != 0 || rows != 0) all.of[i].of[all.of[i].n++] = {static_cast<std::uint8_t>(k), work, rows};
        }
    return all;
}
inline constexpr price_charges price_list = compact_prices();

constexpr void add_charge(count& plus, count& minus, int coefficient, count n) {
    if (coefficient > 0) plus += coefficient == 1 ? n : n * count(coefficient);
    if (coefficient < 0) minus += coefficient == -1 ? n : n * count(-coefficient);
}

}  // namespace detail

/// The primitives of a ledger: its amounts times the price table.
[[nodiscard]] constexpr primitives<count> price(const ledger& sums) {
    count plus[primitive_kinds], minus[primitive_kinds];
    for (std::size_t i = 0; i < op_kinds; ++i) {
        const amount& done = sums.operations[i];
        if (done.work == count{} && done.rows == count{}) continue;
        const detail::charges& list = detail::price_list.of[i];
        for (std::uint8_t k = 0; k < list.n; ++k) {
            const detail::charge& c = list.of[k];
            detail::add_charge(plus[c.primitive], minus[c.primitive], c.per_work, done.work);
            detail::add_charge(plus[c.primitive], minus[c.primitive], c.per_row, done.rows);
        }
    }
    primitives<count> out;
    for (std::size_t k = 0; k < primitive_kinds; ++k) out.*primitive_members<count>[k] = plus[k] - minus[k];
    return out;
}

/// What torch's FlopCounterMode says of a forward pass: 2 per product of matmuls and convolutions, nothing else.
[[nodiscard]] constexpr count torch_flops(const ledger& sums) {
    count n;
    for (std::size_t i = 0; i < op_kinds; ++i)
        if (op_table[i].torch_flops != 0) n += sums.operations[i].work * count(op_table[i].torch_flops);
    return n;
}

/// What backward of a whole model executes.
[[nodiscard]] constexpr primitives<count> backward(const ledger& sums) {
    primitives<count> all = sums.backward;
    all.add -= sums.sole_gradients;
    return all;
}

}  // namespace llmcost
