// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/op.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/name_check.hpp>
#include <llmcost/cli/args/op_table.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/synonyms.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/kernels/kernel_database.hpp>
#include <llmcost/kernels/kernel_names.hpp>
#include <llmcost/kernels/primitive_rates.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/correction_factors.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/latency/roofline.hpp>
#include <llmcost/latency/vector_units.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE operator_options::operator_options(const operator_type& family)
    : rows_(op_options.begin(), op_options.end()) {
    names_.reserve(family.size_count + 1);  // the option specs refer to the names
    for (std::size_t i = 0; i < family.size_count; ++i) add(family.sizes[i].name, value_type::number, "N");
    if (!family.variant_column.empty()) add(family.variant_column, value_type::text, "WORD");
}

LLMCOST_INLINE void operator_options::add(std::string_view column, value_type kind, std::string_view value) {
    names_.push_back("--" + std::string(column));
    rows_.push_back({.name = names_.back(), .value = value, .type = kind});
}

LLMCOST_INLINE const operator_options& options_of_family(const operator_type& family) {
    static std::map<std::string_view, operator_options> made;
    static std::mutex one_at_a_time;
    const std::lock_guard hold(one_at_a_time);
    return made.try_emplace(family.name, family).first->second;
}

LLMCOST_INLINE std::string op_json(const operator_shape& shape, const kernel_match& found, const latency_estimate& e) {
    const operator_type& family = *shape.type;
    json_writer json;
    json.object()
        .member("family", family.name)
        .member("device", found.target_device->names[0])
        .member("dtype", shape.operand->name);
    if (!family.variant_column.empty()) json.member(family.variant_column, shape.variant);
    for (std::size_t i = 0; i < family.size_count; ++i) json.member(family.sizes[i].name, shape.sizes[i]);
    json.member("seconds", e.seconds)
        .member("lower", e.lower)
        .member("upper", e.upper)
        .member("bound", name_of(e.bound));
    json.member("share_of_bound", e.roofline_efficiency);
    const kernel_work work = llmcost::detail::work_of(shape, found.calibration);
    json.member("flops", work.flops).member("bytes", work.bytes);
    json.key("calibration");
    if (found.calibration == nullptr) {
        json.null();
    } else {
        const kernel_calibration& c = *found.calibration;
        json.object().member("software", c.software).member("version", c.version).member("kernel", c.kernel);
        if (!family.variant_column.empty()) json.member(family.variant_column, c.variant);
        json.member("held_out_median_error", c.error_for(shape.layer_shape()).median).end_object();
    }
    json.end_object();
    return json.text() + '\n';
}

/// `gemm m 64 n 4,096 k 4,096 bfloat16`; sizes with their default values are not included.
LLMCOST_INLINE std::string op_title(const operator_shape& shape) {
    const operator_type& family = *shape.type;
    std::string out(family.name);
    for (std::size_t i = 0; i < family.size_count; ++i)
        if (family.sizes[i].required || shape.sizes[i] != family.sizes[i].default_value)
            out += ' ' + std::string(family.sizes[i].name) + ' ' + grouped(count(shape.sizes[i]));
    out += ' ' + std::string(shape.operand->name);
    if (!shape.variant.empty() && !(shape.variant == shape.operand->name)) out += ' ' + printable(shape.variant);
    return out;
}

LLMCOST_INLINE std::string op_text(const operator_shape& shape, const kernel_match& found, const latency_estimate& e) {
    const kernel_work work = llmcost::detail::work_of(shape, found.calibration);
    std::string out = op_title(shape) + " on " + printable(found.target_device->title) + ": " + duration(e.seconds) +
                      "  (interval " + duration(e.lower) + " to " + duration(e.upper) + ")\n  bound by " +
                      std::string(e.bound == roofline_bound::memory && work.uses_links ? "links" : name_of(e.bound)) +
                      formatted("; %.0f %% of the roofline; ", 100 * e.roofline_efficiency);
    if (work.flops > 0) out += formatted("%.1f TFLOP/s, ", work.flops / e.seconds / 1e12);
    out += formatted("%.0f GB/s\n", work.bytes / e.seconds / 1e9);
    if (found.calibration == nullptr) return out + "  Not measured: estimated from the datasheet (see --calibration)\n";
    const kernel_calibration& c = *found.calibration;
    return out + "  Calibrated with " + printable(c.software) + ' ' + printable(c.version) + ", " +
           printable(c.kernel) +
           formatted("; median error %.1f %% on ", 100 * c.error_for(shape.layer_shape()).median) +
           (c.correction.has(shape.layer_shape()) ? "shapes" : "layers") + " not used in the fit\n";
}

/// The rates of all primitives, or of the requested one, for one operand type or for all that are measured.
LLMCOST_INLINE std::vector<primitive_rate> primitive_rates(kernel_database& database, const kernel_query& requested) {
    std::vector<std::string> operands{requested.operand};
    if (requested.operand.empty()) operands = {"float32", "float16", "bfloat16"};
    std::vector<primitive_rate> rates;
    for (const vector_cost& primitive : vector_costs)
        for (const std::string& operand : operands) {
            if (!requested.variant.empty() && !(primitive.name == requested.variant)) continue;
            kernel_query query = requested;
            query.operand = operand;
            rates.push_back(find_primitive_rate(database, std::move(query), primitive.name));
        }
    return rates;
}

LLMCOST_INLINE std::string primitives_json(const std::vector<primitive_rate>& rates) {
    const device& d = *rates.front().target_device;
    json_writer json;
    json.object().member("device", d.names[0]).member("units", d.num_compute_units);
    json.member("clock_hertz", d.clock_hertz()).key("operations").array();
    const auto write_source = [&](const char* key, const kernel_calibration* c) {
        json.key(key);
        if (c == nullptr) {
            json.null();
            return;
        }
        json.object().member("software", c->software).member("version", c->version).member("kernel", c->kernel);
        json.member("held_out_median_error", c->error.median).end_object();
    };
    for (const primitive_rate& r : rates) {
        json.object().member("operation", r.operation).member("dtype", r.operand->name);
        json.member("latency_seconds", r.latency_seconds).member("latency_cycles", r.latency_cycles());
        json.member("operations_per_second", r.operations_per_second);
        json.member("operations_per_cycle_and_unit", r.operations_per_cycle());
        write_source("latency_calibration", r.latency_source);
        write_source("throughput_calibration", r.throughput_source);
        json.end_object();
    }
    json.end_array().end_object();
    return json.text() + '\n';
}

LLMCOST_INLINE std::string primitives_text(const std::vector<primitive_rate>& rates) {
    const device& d = *rates.front().target_device;
    std::string out = "Operations of vector units on " + printable(d.title);
    if (d.clock_hertz() > 0)
        out += formatted(": %.0f multiprocessors, %.3f GHz", d.num_compute_units, d.clock_hertz() / 1e9);
    out += "\n\noperation  dtype        latency    cycles   G operations/s   per cycle and multiprocessor\n";
    double largest_error = 0;
    bool has_datasheet_rates = false;
    const kernel_calibration* source = nullptr;
    for (const primitive_rate& r : rates) {
        std::string name(r.operation);
        for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        out += left(name, 11) + left(std::string(r.operand->name), 10) +
               formatted("%8.2f ns  %8.2f  %15.1f", r.latency_seconds * 1e9, r.latency_cycles(),
                         r.operations_per_second / 1e9) +
               formatted("  %14.2f", r.operations_per_cycle());
        for (const kernel_calibration* c : {r.latency_source, r.throughput_source}) {
            if (c == nullptr) continue;
            source = c;
            largest_error = std::max(largest_error, c->error.median);
        }
        const bool is_estimated = r.latency_source == nullptr || r.throughput_source == nullptr;
        has_datasheet_rates = has_datasheet_rates || is_estimated;
        out += is_estimated ? " *\n" : "\n";
    }
    out +=
        "\nlatency: from an operation to the next one that needs its result, in one thread (kernel chained)\n"
        "throughput: independent operations in all threads (kernel interleaved)\n";
    if (source != nullptr)
        out += "Calibrated with " + printable(source->software) + ' ' + printable(source->version) +
               formatted("; median error of shapes not used in the fit: at most %.1f %%\n", 100 * largest_error);
    if (has_datasheet_rates)
        out += std::string(source == nullptr ? "" : "*: ") +
               "Not measured: estimated from the datasheet (see --calibration)\n";
    return out;
}

LLMCOST_INLINE std::string op_families() {
    std::string out;
    out += "\nOperator types with their variants and sizes ([optional]):\n";
    for (const operator_type& f : operator_families) {
        out += "  " + left(std::string(f.name), 22) + std::string(f.help) + "\n     ";
        out += ' ' + std::string(f.operand_column);
        if (!f.variant_column.empty()) out += " [" + std::string(f.variant_column) + ']';
        out += ';';
        for (std::size_t i = 0; i < f.size_count; ++i)
            out += f.sizes[i].required ? ' ' + std::string(f.sizes[i].name) : " [" + std::string(f.sizes[i].name) + ']';
        out += '\n';
    }
    return out;
}

LLMCOST_INLINE const operator_type& family_of(std::string_view name) {
    if (const operator_type* known = find_operator_type(name)) return *known;
    if (const std::string_view types = find_operator_synonym(name); !types.empty())
        throw_usage("op", "no operator " + quote(name) + "; use " + std::string(types));
    name_suggestions near(name);
    for (const operator_type& f : operator_families) near.add_candidate(f.name);
    throw_usage("op", "no operator " + quote(name) + near.suggestion_or_list() + " (see llmcost op --help)");
}

/// Parses the sizes of an operator. Throws: `usage` for missing and invalid sizes.
LLMCOST_INLINE operator_shape parse_shape(const arguments& args, const operator_type& family,
                                          const operator_options& sizes) {
    operator_shape shape;
    shape.type = &family;
    for (std::size_t i = 0; i < family.size_count; ++i) {
        const operator_size& size = family.sizes[i];
        const option_spec& o = sizes.size(i);
        if (size.required && !args.has(o)) throw_usage("op", "requires " + std::string(o.name));
        shape.sizes[i] =
            args.has(o) ? parse_integer(o.name, args.text(o), min_of(size), size.maximum) : size.default_value;
    }
    check_sizes(shape, [](const std::string& name) { return "--" + name; });
    return shape;
}

/// Parses the kernel of an operator, without its sizes.
LLMCOST_INLINE kernel_query parse_kernel_query(const arguments& args, const operator_type& family,
                                               const operator_options& sizes) {
    return {std::string(args.text(option::device)),
            std::string(args.text(option::kernels)),
            std::string(args.text(option::kernels_version)),
            "",
            std::string(args.text(option::operand)),
            std::string(family.variant_column.empty() ? "" : args.text(sizes.variant())),
            {}};
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_op(const arguments& args, const program& io) {
    if (args.positional().size() != 1)
        throw_usage("op", args.positional().empty()
                              ? "requires an operator type as the first argument (see llmcost op --help)"
                              : "expected one operator type, found also " + quote(args.positional()[1]));
    const operator_type& family = detail::family_of(args.positional().front());
    const detail::operator_options& sizes = detail::options_of_family(family);
    const std::string calibration(args.text(option::calibration));
    kernel_database database(family, calibration_paths(calibration));
    const kernel_query requested = detail::parse_kernel_query(args, family, sizes);
    name_check checks(family, calibration, io.err);
    if (!requested.operand.empty()) (void)require_operand_type("--dtype", requested.operand);
    bool has_sizes = false;
    for (std::size_t i = 0; i < family.size_count; ++i) has_sizes = has_sizes || args.has(sizes.size(i));
    const bool reports_rates = family.name == "primitive" && !has_sizes &&
                               (io.in_is_terminal || io.in.peek() == std::char_traits<char>::eof());
    if (reports_rates) {
        if (requested.device.empty()) throw_usage("op", "requires --device");
        checks.options(requested, &database.resolve_device(requested.device, "--device"));
        const std::vector<primitive_rate> rates = detail::primitive_rates(database, requested);
        return args.text(option::one_format) == "json" ? detail::primitives_json(rates)
                                                       : detail::primitives_text(rates);
    }
    if (!has_sizes && !io.in_is_terminal) {  // a terminal has no table as input: report missing sizes
        if (args.has(option::one_format))
            throw_usage("--format", "requires the sizes of one operator; the output of a table is CSV");
        checks.options(requested,
                       requested.device.empty() ? nullptr : &database.resolve_device(requested.device, "--device"));
        database.preload();
        return op_table(database, requested, checks).priced(io.in, io.err);
    }
    if (requested.device.empty()) throw_usage("op", "requires --device");
    operator_shape shape = detail::parse_shape(args, family, sizes);
    kernel_query choice = requested;
    if (choice.operand.empty()) choice.operand = "bfloat16";
    std::copy_n(shape.layer_shape(), family.num_layer_shape_sizes, choice.layer_shape.begin());
    checks.options(requested, &database.resolve_device(requested.device, "--device"));
    const kernel_match found = database.find_nearest_kernel(choice, "--dtype");
    checks.found("", choice, found);
    shape.operand = found.operand;
    shape.variant = found.variant;
    checks.nodes("--", shape, found);
    kernel_database::validate_operand(*found.target_device, shape, "--dtype");
    const latency_estimate e = per_launch(estimate(*found.target_device, shape, found.calibration), shape);
    return args.text(option::one_format) == "json" ? detail::op_json(shape, found, e)
                                                   : detail::op_text(shape, found, e);
}

}  // namespace llmcost::cli
