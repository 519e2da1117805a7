// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/op_table.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/csv_input.hpp>
#include <llmcost/cli/args/name_check.hpp>
#include <llmcost/kernels/kernel_database.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/correction_factors.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/serving/curve.hpp>
#include <llmcost/text/csv_fields.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli {

LLMCOST_INLINE command_output op_table::priced(std::istream& in, std::ostream& notes) {
    csv_input rows;
    rows.begin(in);
    read_header(rows.fields());
    return answer_rows(rows, in, "predicted_us,lower_us,upper_us", notes,
                       [&](std::string& out) { write_estimate(out, estimate_of(rows)); });
}

LLMCOST_INLINE bool op_table::has_non_axis_sizes(const operator_type& family) {
    const auto is_non_axis = [](const operator_size& size) { return size.role == size_role::work_only; };
    return std::any_of(family.sizes, family.sizes + family.size_count, is_non_axis);
}

LLMCOST_INLINE std::string_view op_table::name_of(std::size_t column) const {
    static constexpr std::string_view plain[]{"system", "backend", "version", "kernel_source"};
    const operator_type& family = database_.family();
    if (column == operand) return family.operand_column;
    if (column == variant) return family.variant_column;
    return column < num_name_columns ? plain[column - system]
                                     : std::string_view(family.sizes[column - num_name_columns].name);
}

LLMCOST_INLINE void op_table::read_header(const std::vector<std::string>& fields) {
    const operator_type& family = database_.family();
    column_positions_.assign(num_name_columns + family.size_count, absent);
    for (std::size_t i = 0; i < fields.size(); ++i)
        for (std::size_t c = 0; c < column_positions_.size(); ++c)
            if (!fields[i].empty() && fields[i] == name_of(c)) {
                if (column_positions_[c] != absent) throw_usage("line 1", "duplicate column " + quote(name_of(c)));
                column_positions_[c] = i;
            }
    for (std::size_t i = 0; i < family.size_count; ++i)
        if (family.sizes[i].required && column_positions_[num_name_columns + i] == absent)
            throw_usage("line 1", "expected a column " + quote(name_of(num_name_columns + i)));
    if (column_positions_[system] == absent && default_query_.device.empty())
        throw_usage("line 1", "expected a column 'system', or --device");
    if (column_positions_[operand] == absent && default_query_.operand.empty())
        throw_usage("line 1", "expected a column " + quote(name_of(operand)) + ", or --dtype");
}

LLMCOST_INLINE latency_estimate op_table::estimate_of(const csv_input& row) {
    const auto field = [&](std::size_t c) -> const std::string& { return row.fields()[column_positions_[c]]; };
    const auto cell_or_default = [&](std::size_t c, const std::string& default_value) -> const std::string& {
        return column_positions_[c] == absent || field(c).empty() ? default_value : field(c);
    };
    const std::string& software = cell_or_default(backend, default_query_.software);
    const bool named = checks_.software(row.location(), software);
    const auto option_or_column = [&](std::size_t c, std::string_view option) {
        return column_positions_[c] == absent || field(c).empty() ? option : name_of(c);
    };
    const auto needed = [&](std::size_t c, const std::string& default_value,
                            const char* expected) -> const std::string& {
        const std::string& value = cell_or_default(c, default_value);
        if (value.empty())
            throw_usage(name_of(c), "expected " + std::string(expected) + " for rows without one; found ''");
        return value;
    };
    requested_query_ = {needed(system, default_query_.device, "a device, or --device"),
                        named ? software : default_query_.software,
                        cell_or_default(version, default_query_.version),
                        cell_or_default(kernel, default_query_.kernel),
                        needed(operand, default_query_.operand, "a type, or --dtype"),
                        cell_or_default(variant, default_query_.variant),
                        {}};
    const operator_type& family = database_.family();
    operator_shape shape;
    shape.type = &family;
    for (std::size_t i = 0; i < family.size_count; ++i) {
        const operator_size& size = family.sizes[i];
        const bool open = column_positions_[num_name_columns + i] == absent ||
                          (!size.required && field(num_name_columns + i).empty());
        shape.sizes[i] = open ? size.default_value : read_size(size, field(num_name_columns + i));
    }
    check_sizes(shape, [](const std::string& name) { return name; });
    std::copy_n(shape.layer_shape(), family.num_layer_shape_sizes, requested_query_.layer_shape.begin());
    auto known = chosen_shapes_.find(requested_query_);
    const bool fresh = known == chosen_shapes_.end();
    if (fresh) {
        const bool by_row = option_or_column(system, {}) == "system";
        checks_.row(row.location(), requested_query_,
                    by_row ? database_.resolve_device(requested_query_.device, "system", device_lookup::name)
                           : database_.resolve_device(requested_query_.device, "--device"));
        const kernel_match found =
            database_.find_nearest_kernel(requested_query_, option_or_column(operand, "--dtype"));
        checks_.found(row.location() + ": ", requested_query_, found,
                      named ? option_or_column(backend, "--kernels") : "--kernels");
        if (found.calibration != nullptr && !requested_query_.kernel.empty() &&
            !(found.calibration->kernel == requested_query_.kernel))
            checks_.kernel(row.location(), requested_query_.kernel,
                           database_.fallback_kernels(requested_query_, found));
        known = chosen_shapes_.try_emplace(requested_query_).first;
        known->second.found = found;
        if (found.calibration != nullptr)
            known->second.location = found.calibration->correction.find_position(requested_query_.layer_shape.data());
    }
    chosen_shape& chosen = known->second;
    const auto& [target_device, type, text, kernel] = chosen.found;
    shape.operand = type;
    shape.variant = text;
    kernel_database::validate_operand(*target_device, shape, option_or_column(operand, "--dtype"));
    if (fresh) checks_.nodes(row.location() + ": ", shape, chosen.found);
    if (!fresh && chosen.curve.empty() && kernel != nullptr && !has_non_axis_sizes(family))
        chosen.curve = {*target_device, without_added(shape), *kernel, chosen.location};
    return per_launch(
        estimate_with_interval(predicted_seconds(chosen.curve, *target_device, shape, kernel, chosen.location),
                               *target_device, shape, kernel),
        shape);
}

LLMCOST_INLINE std::int64_t op_table::read_size(const operator_size& size, std::string_view text) {
    const std::string_view digits = llmcost::detail::integer_digits(text);
    std::int64_t n = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    const bool is_complete = problem == std::errc{} && end == digits.data() + digits.size();
    if (is_complete && n >= min_of(size) && n <= size.maximum) return n;
    return parse_integer(std::string_view(size.name), text, min_of(size), size.maximum);  // throws
}

LLMCOST_INLINE void op_table::write_estimate(std::string& out, const latency_estimate& e) {
    std::array<char, 96> text{};
    const int n =
        std::snprintf(text.data(), text.size(), ",%.5g,%.5g,%.5g,", e.seconds * 1e6, e.lower * 1e6, e.upper * 1e6);
    out.append(text.data(), static_cast<std::size_t>(n));
}

}  // namespace llmcost::cli
