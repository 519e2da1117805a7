// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/count.hpp>
#include <llmcost/layers/activation.hpp>
#include <llmcost/trace/trace.hpp>

// Positions from a table of sines and cosines.
namespace llmcost {

/// Rows of a table of sines and cosines, one for each new position.
struct sinusoidal_positions {
    std::int64_t max_positions;
    std::int64_t width;
    class_name named;
    bool is_buffer = true;  ///< the table is a buffer of the module; false: an attribute outside of its state

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, std::int64_t batch, std::int64_t sequence) const {
        tensor table = trace::buffer({max_positions, width});
        table.type = t.activation_type();
        if (is_buffer) t.register_buffer(count(max_positions) * count(width) * count(bits_of(table.type) / 8));
        return t.gather(table, {batch * sequence, width}).view({batch, sequence, width});
    }
};

}  // namespace llmcost
