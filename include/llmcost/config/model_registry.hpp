// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

/// A model spec and its `model_type`. The copy makes the search independent of the specs, which have a megabyte.
struct model_registry_entry {
    literal model_type;
    const model_spec* row;
    constexpr model_registry_entry(const model_spec* source_spec) noexcept
        : model_type(source_spec->model_type), row(source_spec) {}
    constexpr operator const model_spec*() const noexcept { return row; }
};

/// The available model specs, sorted by `model_type`: those of registry.hpp, or a subset.
struct model_registry {
    const model_registry_entry* rows = nullptr;
    std::size_t count = 0;
    /// `parse_model`, as a pointer: users of the registry need not compile it.
    model (*reads)(const model_registry&, config_view) = nullptr;
    /// `parse_model_of`, as a pointer: users of the registry need not compile it.
    model (*reads_by)(const model_spec&, config_view, const model_registry&) = nullptr;

    [[nodiscard]] constexpr const model_registry_entry* begin() const noexcept { return rows; }
    [[nodiscard]] constexpr const model_registry_entry* end() const noexcept { return rows + count; }
    /// The model spec of a `model_type`, or null.
    [[nodiscard]] constexpr const model_spec* find(string_ref model_type) const noexcept {
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
    /// The model of a configuration.
    ///
    /// Throws: `config_error` if the configuration is not supported.
    [[nodiscard]] constexpr model read(config_view json) const { return reads(*this, json); }
    /// The model of a configuration with this model spec, independent of its `model_type`.
    [[nodiscard]] constexpr model parse_with(const model_spec& row, config_view json) const {
        return reads_by(row, json, *this);
    }
};

}  // namespace llmcost
