// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <istream>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/csv_input.hpp>
#include <llmcost/cli/args/name_check.hpp>
#include <llmcost/kernels/kernel_database.hpp>
#include <llmcost/serving/curve.hpp>

// `llmcost op` for CSV tables: reads rows of operator shapes, appends predicted times.
namespace llmcost::cli {

/// The minimum of a size; 0 for optional sizes with default 0, e.g. a window.
inline std::int64_t min_of(const operator_size& size) noexcept {
    return size.required || size.default_value > 0 ? size.minimum : 0;
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
    op_table(kernel_database& database, kernel_query otherwise, name_check& checks)
        : database_(database), checks_(checks), otherwise_(std::move(otherwise)) {}

    [[nodiscard]] command_output priced(std::istream& in, std::ostream& notes) {
        csv_input rows;
        rows.begin(in);
        read_header(rows.fields());
        return answer_rows(rows, in, "predicted_us,lower_us,upper_us", notes,
                           [&](std::string& out) { write_estimate(out, estimate_of(rows)); });
    }

private:
    /// The kernel for a query; its curve is computed at the second row that uses it.
    struct chosen_shape {
        kernel_match found{};
        correction_table::layer_shape_position location{};
        measured_curve curve{};
    };
    /// Whether rows of one layer shape may differ in sizes that are not axes.
    static bool has_non_axis_sizes(const operator_type& family) {
        const auto is_non_axis = [](const operator_size& size) { return size.role == size_role::work_only; };
        return std::any_of(family.sizes, family.sizes + family.size_count, is_non_axis);
    }
    enum name_column : std::size_t { operand, variant, system, backend, version, kernel, num_name_columns };

    [[nodiscard]] std::string_view name_of(std::size_t column) const {
        static constexpr std::string_view plain[]{"system", "backend", "version", "kernel_source"};
        const operator_type& family = database_.family();
        if (column == operand) return family.operand_column;
        if (column == variant) return family.variant_column;
        return column < num_name_columns ? plain[column - system]
                                         : std::string_view(family.sizes[column - num_name_columns].name);
    }
    static constexpr std::size_t absent = SIZE_MAX;

    void read_header(const std::vector<std::string>& fields) {
        const operator_type& family = database_.family();
        places_.assign(num_name_columns + family.size_count, absent);
        for (std::size_t i = 0; i < fields.size(); ++i)
            for (std::size_t c = 0; c < places_.size(); ++c)
                if (!fields[i].empty() && fields[i] == name_of(c)) {
                    if (places_[c] != absent) throw_usage("line 1", "duplicate column " + quote(name_of(c)));
                    places_[c] = i;
                }
        for (std::size_t i = 0; i < family.size_count; ++i)
            if (family.sizes[i].required && places_[num_name_columns + i] == absent)
                throw_usage("line 1", "expected a column " + quote(name_of(num_name_columns + i)));
        if (places_[system] == absent && otherwise_.device.empty())
            throw_usage("line 1", "expected a column 'system', or --device");
        if (places_[operand] == absent && otherwise_.operand.empty())
            throw_usage("line 1", "expected a column " + quote(name_of(operand)) + ", or --dtype");
    }
    latency_estimate estimate_of(const csv_input& row) {
        const auto field = [&](std::size_t c) -> const std::string& { return row.fields()[places_[c]]; };
        const auto cell_or_default = [&](std::size_t c, const std::string& otherwise) -> const std::string& {
            return places_[c] == absent || field(c).empty() ? otherwise : field(c);
        };
        const std::string& software = cell_or_default(backend, otherwise_.software);
        const bool named = checks_.software(row.location(), software);
        const auto option_or_column = [&](std::size_t c, std::string_view option) {
            return places_[c] == absent || field(c).empty() ? option : name_of(c);
        };
        const auto needed = [&](std::size_t c, const std::string& otherwise,
                                const char* expected) -> const std::string& {
            const std::string& value = cell_or_default(c, otherwise);
            if (value.empty())
                throw_usage(name_of(c), "expected " + std::string(expected) + " for rows without one; found ''");
            return value;
        };
        requested_ = {needed(system, otherwise_.device, "a device, or --device"),
                      named ? software : otherwise_.software,
                      cell_or_default(version, otherwise_.version),
                      cell_or_default(kernel, otherwise_.kernel),
                      needed(operand, otherwise_.operand, "a type, or --dtype"),
                      cell_or_default(variant, otherwise_.variant),
                      {}};
        const operator_type& family = database_.family();
        operator_shape shape;
        shape.type = &family;
        for (std::size_t i = 0; i < family.size_count; ++i) {
            const operator_size& size = family.sizes[i];
            const bool open =
                places_[num_name_columns + i] == absent || (!size.required && field(num_name_columns + i).empty());
            shape.sizes[i] = open ? size.default_value : read_size(size, field(num_name_columns + i));
        }
        check_sizes(shape, [](const std::string& name) { return name; });
        std::copy_n(shape.layer_shape(), family.num_layer_shape_sizes, requested_.layer_shape.begin());
        auto known = chosen_.find(requested_);
        const bool fresh = known == chosen_.end();
        if (fresh) {
            const bool by_row = option_or_column(system, {}) == "system";
            checks_.row(row.location(), requested_,
                        by_row ? database_.resolve_device(requested_.device, "system", device_lookup::name)
                               : database_.resolve_device(requested_.device, "--device"));
            const kernel_match found = database_.find_nearest_kernel(requested_, option_or_column(operand, "--dtype"));
            checks_.found(row.location() + ": ", requested_, found,
                          named ? option_or_column(backend, "--kernels") : "--kernels");
            if (found.calibration != nullptr && !requested_.kernel.empty() &&
                !(found.calibration->kernel == requested_.kernel))
                checks_.kernel(row.location(), requested_.kernel, database_.fallback_kernels(requested_, found));
            known = chosen_.try_emplace(requested_).first;
            known->second.found = found;
            if (found.calibration != nullptr)
                known->second.location = found.calibration->correction.find_position(requested_.layer_shape.data());
        }
        chosen_shape& chosen = known->second;
        const auto& [target_device, type, text, kernel] = chosen.found;
        shape.operand = type;
        shape.variant = text;
        kernel_database::validate_operand(*target_device, shape, option_or_column(operand, "--dtype"));
        if (fresh) checks_.nodes(row.location() + ": ", shape, chosen.found);
        if (!fresh && chosen.curve.empty() && kernel != nullptr && !has_non_axis_sizes(family))
            chosen.curve = {*target_device, without_added(shape), *kernel, chosen.location};
        return estimate_with_interval(predicted_seconds(chosen.curve, *target_device, shape, kernel, chosen.location),
                                      *target_device, shape, kernel);
    }
    static std::int64_t read_size(const operator_size& size, std::string_view text) {
        const std::string_view digits = llmcost::detail::integer_digits(text);
        std::int64_t n = 0;
        const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
        const bool is_complete = problem == std::errc{} && end == digits.data() + digits.size();
        if (is_complete && n >= min_of(size) && n <= size.maximum) return n;
        return parse_integer(std::string_view(size.name), text, min_of(size), size.maximum);  // throws
    }
    static void write_estimate(std::string& out, const latency_estimate& e) {
        std::array<char, 96> text{};
        const int n =
            std::snprintf(text.data(), text.size(), ",%.5g,%.5g,%.5g,", e.seconds * 1e6, e.lower * 1e6, e.upper * 1e6);
        out.append(text.data(), static_cast<std::size_t>(n));
    }

    kernel_database& database_;
    name_check& checks_;
    kernel_query otherwise_;
    std::vector<std::size_t> places_;
    kernel_query requested_;
    std::map<kernel_query, chosen_shape> chosen_;
};

}  // namespace llmcost::cli
