// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/optimizer_primitives.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/optimizer_step.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost::detail {

/// Adds the primitives of `times` elements.
LLMCOST_INLINE void execute(primitives<count>& out, const primitives<std::int8_t>& per_element, count times) {
    for (std::size_t i = 0; i < num_primitives; ++i)
        out.*primitive_members<count>[i] += count(per_element.*primitive_members<std::int8_t>[i]) * times;
}

/// Adds Adafactor's step of a tensor.
///
/// Consists of norms of the tensor and its update, means of squares by row and column, and their product.
LLMCOST_INLINE void execute_factored(primitives<count>& out, const tape_parameter& p) {
    const count all(p.elements), one(1);
    out.add += one;
    out.sqrt += count(2);
    if (p.sizes.size() < 2) {
        execute(out, {.add = 5, .mult = 6, .div = 1, .sqrt = 1, .cmp = 1}, all);
        return void(out.add -= count(2));
    }
    const matrix_sides m = sides_of(p);
    const count rows(m.rows), columns(m.columns),
        matrices(m.rows / static_cast<std::uint64_t>(p.sizes[p.sizes.size() - 2]));
    execute(out, {.add = 5, .mult = 7, .div = 2, .sqrt = 1, .cmp = 1}, all);
    execute(out, {.mult = 2, .div = 1, .sqrt = 1}, rows + columns);
    out.add += count(2) * rows + columns - matrices - count(2);
    out.div += matrices;
    out.cmp += matrices;
}

/// The products of a matrix's step: five Newton-Schulz iterations of Muon, or the two projections of GaLore.
[[nodiscard]] LLMCOST_INLINE std::vector<optimizer_product> products_of(const optimizer_spec& o, std::int64_t rank,
                                                                        const tape_parameter& p) {
    if (!is_hidden_matrix(p)) return {};
    const projection q(p, static_cast<std::uint64_t>(rank));
    if (o.state == optimizer_state::projected) return {{q.longer, q.rank, q.shorter}, {q.longer, q.shorter, q.rank}};
    if (o.state == optimizer_state::random_projected) return {{q.longer, static_cast<std::uint64_t>(rank), q.shorter}};
    if (o.state != optimizer_state::matrix) return {};
    constexpr std::uint64_t turns = 5;
    return {{q.shorter, q.shorter, q.longer, turns, true},
            {q.shorter, q.shorter, q.shorter, turns, true},
            {q.shorter, q.longer, q.shorter, turns, true}};
}

LLMCOST_INLINE primitives<count> primitives_of(const std::vector<optimizer_product>& products) {
    primitives<count> out;
    for (const optimizer_product& p : products) {
        const count results = count(p.rows) * count(p.columns) * count(p.repetitions);
        out.mult += results * count(p.inner);
        out.add += results * count(p.inner - 1);
    }
    return out;
}

LLMCOST_INLINE void execute(primitives<count>& out, const std::vector<optimizer_product>& products) {
    const primitives<count> product_primitives = primitives_of(products);
    out.mult += product_primitives.mult;
    out.add += product_primitives.add;
}

/// Adds Muon's step of a matrix: two interpolations, a norm, five Newton-Schulz iterations.
LLMCOST_INLINE void execute_matrix(primitives<count>& out, const tape_parameter& p,
                                   const std::vector<optimizer_product>& products) {
    const count all(p.elements), side(static_cast<std::uint64_t>(std::min(p.sizes[0], p.sizes[1])));
    const count turns(5), one(1);
    execute(out, {.add = 6, .mult = 5, .div = 1}, all);
    out.add -= one;
    out.sqrt += one;
    out.cmp += one;
    execute(out, products);
    out.add += turns * (side * side + all);  // the second and the third product are accumulated
}

/// Adds GaLore's step of a matrix with an existing projection: project, Adam update, project back.
LLMCOST_INLINE void execute_projected(primitives<count>& out, const tape_parameter& p, std::int64_t requested_rank,
                                      const std::vector<optimizer_product>& products) {
    const projection q(p, static_cast<std::uint64_t>(requested_rank));
    const count all(p.elements), left(q.longer * q.rank);
    execute(out, products);
    execute(out, {.add = 3, .mult = 4, .div = 1, .sqrt = 1}, left);
    execute(out, {.add = 1, .mult = 2}, all);
}

/// Adds APOLLO's step of a matrix with an existing projection: project, Adam's quotient, scale by norms of channels.
LLMCOST_INLINE void execute_random_projected(primitives<count>& out, const tape_parameter& p, std::int64_t rank,
                                             const std::vector<optimizer_product>& products) {
    const random_projection q(p, static_cast<std::uint64_t>(rank));
    const count channels(q.longer), low = channels * count(static_cast<std::uint64_t>(rank)), one(1);
    execute(out, products);
    execute(out, {.add = 5, .mult = 6, .div = 1, .sqrt = 1}, low);
    execute(out, {.div = 1, .sqrt = 2}, channels);
    out.add -= channels;  // two sums, and a constant that is added to one of them
    execute(out, {.add = 2, .mult = 4, .div = 1}, count(p.elements));
    out.add -= one;
    out.sqrt += one;
}

/// Adds the step of Transformers' Adafactor of a tensor: norms of the tensor and its update, and means of squares.
LLMCOST_INLINE void execute_factored_float32(primitives<count>& out, const tape_parameter& p) {
    const count all(p.elements);
    out.sqrt += count(2);
    out.div += count(3);
    out.cmp += count(1);
    if (p.sizes.size() < 2) {
        execute(out, {.add = 5, .mult = 7, .div = 2, .sqrt = 1, .neg = 1}, all);
        return void(out.add -= count(2));
    }
    const matrix_sides m = sides_of(p);
    const count rows(m.rows), columns(m.columns),
        matrices(m.rows / static_cast<std::uint64_t>(p.sizes[p.sizes.size() - 2]));
    execute(out, {.add = 6, .mult = 6, .div = 1, .neg = 1}, all);
    execute(out, {.mult = 2, .div = 2, .sqrt = 1}, rows + columns);
    execute(out, {.add = 1, .div = 1}, rows);
    out.add -= matrices + count(2);
    out.div += matrices;
}

LLMCOST_INLINE primitives<count> step_primitives(const optimizer_spec& o, std::int64_t rank,
                                                 const std::vector<tape_parameter>& trained) {
    primitives<count> out;
    for (const tape_parameter& p : trained) {
        const bool hidden = is_hidden_matrix(p);
        if (o.state == optimizer_state::factored) {
            execute_factored(out, p);
        } else if (o.state == optimizer_state::factored_float32) {
            execute_factored_float32(out, p);
        } else if (o.state == optimizer_state::random_projected && hidden) {
            execute_random_projected(out, p, rank, products_of(o, rank, p));
        } else if (o.state == optimizer_state::matrix && hidden) {
            execute_matrix(out, p, products_of(o, rank, p));
        } else if (o.state == optimizer_state::projected && hidden) {
            execute_projected(out, p, rank, products_of(o, rank, p));
        } else {
            execute(out, o.per_element, count(p.elements));
            if (o.num_scalars != 0 || o.state == optimizer_state::matrix) out.add += count(1);
        }
    }
    return out;
}

LLMCOST_INLINE std::vector<optimizer_product> step_products(const optimizer_spec& o, std::int64_t rank,
                                                            const std::vector<tape_parameter>& trained) {
    std::vector<optimizer_product> out;
    for (const tape_parameter& p : trained)
        for (const optimizer_product& one : products_of(o, rank, p)) {
            const auto match = std::ranges::find_if(out, [&](const optimizer_product& q) { return q.is_like(one); });
            if (match != out.end())
                match->repetitions += one.repetitions;
            else
                out.push_back(one);
        }
    return out;
}

}  // namespace llmcost::detail
