// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/model/architecture.hpp>
#include <llmcost/reading/config.hpp>

namespace llmcost {

/// A row and its `model_type` beside it, so that looking for one reads no other row: a megabyte of them.
struct known_row {
    literal model_type;
    const architecture* row;
    constexpr known_row(const architecture* of) noexcept : model_type(of->model_type), row(of) {}
    constexpr operator const architecture*() const noexcept { return row; }
};

/// The rows that a program knows: those of registry.hpp, or fewer, in the order of their `model_type`.
struct known_models {
    const known_row* rows = nullptr;
    std::size_t count = 0;
    /// `read_model`, which whoever has rows need not compile
    model (*reads)(const known_models&, config_view) = nullptr;
    /// `read_model_of`, likewise
    model (*reads_by)(const architecture&, config_view, const known_models&) = nullptr;

    [[nodiscard]] constexpr const known_row* begin() const noexcept { return rows; }
    [[nodiscard]] constexpr const known_row* end() const noexcept { return rows + count; }
    /// The row of a `model_type`, or null.
    [[nodiscard]] constexpr const architecture* find(string_ref model_type) const noexcept {
        std::size_t first = 0, last = count;
        while (first < last) {
            const std::size_t middle = (first + last) / 2;
            if (string_ref(rows[middle].model_type) < model_type)
                first = middle + 1;
            else
                last = middle;
        }
        return first < count && rows[first].model_type == model_type ? rows[first].row : nullptr;
    }
    /// The model that a configuration describes; throws `config_error` where no row can.
    [[nodiscard]] constexpr model read(config_view config) const { return reads(*this, config); }
    /// The model that one row makes of a configuration, whatever its `model_type`.
    [[nodiscard]] constexpr model read_by(const architecture& row, config_view config) const {
        return reads_by(row, config, *this);
    }
};

}  // namespace llmcost
