// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/csv_input.hpp>
#include <llmcost/cli/args/name_check.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/kernels/kernel_database.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/correction_factors.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/serving/curve.hpp>
#include <llmcost/text/messages.hpp>

// `llmcost op` for CSV tables: reads rows of operator shapes, appends predicted times.
namespace llmcost::cli {

/// The minimum of a size; 0 for optional sizes with default 0, e.g. a window.
inline std::int64_t min_of(const operator_size& size) noexcept {
    return size.required || size.default_value > 0 ? size.minimum : 0;
}

/// The time of one launch of an operator that counts launches.
inline latency_estimate per_launch(latency_estimate e, const operator_shape& shape) noexcept {
    const auto launches = static_cast<double>(shape.num_launches());
    e.seconds /= launches;
    e.lower /= launches;
    e.upper /= launches;
    return e;
}

/// Throws: `usage` for inconsistent sizes; `location_of(name)` is the location in the message.
template <class Where>
void check_sizes(const operator_shape& shape, Where location_of) {
    for (std::size_t i = 0; i < shape.type->size_count; ++i) {
        const operator_size& size = shape.type->sizes[i];
        const std::int64_t n = shape.sizes[i];
        const auto reject_size = [&](const char* is, string_ref other_size) {
            throw_usage(location_of(std::string(size.name)), std::to_string(n) + is + std::string(other_size) +
                                                                 ", which is " +
                                                                 std::to_string(shape.size(other_size)));
        };
        if (!size.upper_bound_size.empty() && n > shape.size(size.upper_bound_size))
            reject_size(" exceeds ", size.upper_bound_size);
        if (!size.multiple_size.empty() && shape.size(size.multiple_size) % n != 0)
            reject_size(" does not divide ", size.multiple_size);
    }
}

/// Estimates the times of the operators in a CSV table.
///
/// The columns are the sizes of the operator type and, optionally, `system`, `backend`, `version` and `kernel_source`,
/// in any order; other columns are ignored. Appends four columns to each row (`answer_rows`).
/// Throws: `usage` for a missing column.
class op_table {
public:
    op_table(kernel_database& database, kernel_query default_query, name_check& checks)
        : database_(database), checks_(checks), default_query_(std::move(default_query)) {}

    [[nodiscard]] command_output priced(std::istream& in, std::ostream& notes);

private:
    /// The kernel for a query; its curve is computed at the second row that uses it.
    struct chosen_shape {
        kernel_match found{};
        correction_table::layer_shape_position location{};
        measured_curve curve{};
    };
    /// Whether rows of one layer shape may differ in sizes that are not axes.
    static bool has_non_axis_sizes(const operator_type& family);
    enum name_column : std::size_t { operand, variant, system, backend, version, kernel, num_name_columns };

    [[nodiscard]] std::string_view name_of(std::size_t column) const;
    static constexpr std::size_t absent = SIZE_MAX;

    void read_header(const std::vector<std::string>& fields);
    latency_estimate estimate_of(const csv_input& row);
    static std::int64_t read_size(const operator_size& size, std::string_view text);
    static void write_estimate(std::string& out, const latency_estimate& e);

    kernel_database& database_;
    name_check& checks_;
    kernel_query default_query_;
    std::vector<std::size_t> column_positions_;
    kernel_query requested_query_;
    std::map<kernel_query, chosen_shape> chosen_shapes_;
};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/op_table.ipp>  // IWYU pragma: export
#endif
