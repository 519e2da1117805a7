// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/name_check.hpp>
#include <llmcost/cli/args/op_table.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/kernels/kernel_database.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/report/json_writer.hpp>

// `llmcost op`: the time of single operators.
namespace llmcost::cli {

namespace detail {

inline std::vector<std::string_view> software_names(const program&) { return {"trtllm", "vllm", "sglang", "torch"}; }

}  // namespace detail

namespace option {

inline constexpr option_spec kernels{.name = "--kernels",
                                     .value = "SOFTWARE",
                                     .type = value_type::text,
                                     .help = "software of the kernels: trtllm, vllm, sglang or torch (default: any)",
                                     .completions = detail::software_names};
inline constexpr option_spec kernels_version{.name = "--engine-version",
                                             .value = "VERSION",
                                             .type = value_type::text,
                                             .help = "version of the kernel measurements (default: newest)"};
inline constexpr option_spec operand{.name = "--dtype",
                                     .value = "TYPE",
                                     .type = value_type::text,
                                     .help =
                                         "operand type: bfloat16, float16, fp8, fp8_block, int8, nvfp4 ... (default "
                                         "bfloat16)",
                                     .completions = detail::operand_names};
inline constexpr option_spec one_format =
    with_help(option::text_or_json_format, "text or json, for one operator (default text); json prints exact numbers");

}  // namespace option

inline constexpr std::array op_options =
    concatenate(with_section("Hardware and engine",
                             std::array{option::device, option::calibration, option::kernels, option::kernels_version}),
                with_section("Precision", std::array{option::operand}),
                with_section("Output", std::array{option::one_format}), help_option);

namespace detail {

/// The options of `llmcost op TYPE`: the common ones, then the sizes and the variant of the operator type.
class operator_options {
public:
    explicit operator_options(const operator_type& family) : rows_(op_options.begin(), op_options.end()) {
        names_.reserve(family.size_count + 1);  // the option specs refer to the names
        for (std::size_t i = 0; i < family.size_count; ++i) add(family.sizes[i].name, value_type::number, "N");
        if (!family.variant_column.empty()) add(family.variant_column, value_type::text, "WORD");
    }
    [[nodiscard]] const std::vector<option_spec>& rows() const noexcept { return rows_; }
    [[nodiscard]] const option_spec& size(std::size_t i) const { return rows_[op_options.size() + i]; }
    /// The option of the variant; it follows the sizes.
    [[nodiscard]] const option_spec& variant() const { return rows_.back(); }

private:
    void add(std::string_view column, value_type kind, std::string_view value) {
        names_.push_back("--" + std::string(column));
        rows_.push_back({.name = names_.back(), .value = value, .type = kind});
    }

    std::vector<std::string> names_;
    std::vector<option_spec> rows_;
};

/// The options of an operator type, created at the first call and valid until the program ends.
inline const operator_options& options_of_family(const operator_type& family) {
    static std::map<std::string_view, operator_options> made;
    static std::mutex one_at_a_time;
    const std::lock_guard hold(one_at_a_time);
    return made.try_emplace(family.name, family).first->second;
}

inline std::string_view name_of(roofline_bound b) {
    return b == roofline_bound::launch ? "launch" : b == roofline_bound::compute ? "compute" : "memory";
}

/// A duration with a unit, e.g. `812.3 µs`.
inline std::string duration(double seconds) {
    const auto [scale, unit] = seconds < 1e-3 ? std::pair{1e6, "µs"}
                               : seconds < 1  ? std::pair{1e3, "ms"}
                                              : std::pair{1.0, "s"};
    return formatted("%.4g ", seconds * scale) + unit;
}

inline std::string op_json(const operator_shape& shape, const kernel_match& found, const latency_estimate& e) {
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
inline std::string op_title(const operator_shape& shape) {
    const operator_type& family = *shape.type;
    std::string out(family.name);
    for (std::size_t i = 0; i < family.size_count; ++i)
        if (family.sizes[i].required || shape.sizes[i] != family.sizes[i].default_value)
            out += ' ' + std::string(family.sizes[i].name) + ' ' + grouped(count(shape.sizes[i]));
    out += ' ' + std::string(shape.operand->name);
    if (!shape.variant.empty() && !(shape.variant == shape.operand->name)) out += ' ' + printable(shape.variant);
    return out;
}

inline std::string op_text(const operator_shape& shape, const kernel_match& found, const latency_estimate& e) {
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

inline std::string op_families() {
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

/// The operator type with a name. Throws: `usage`.
inline const operator_type& family_of(std::string_view name) {
    if (const operator_type* known = find_operator_type(name)) return *known;
    name_suggestions near(name);
    for (const operator_type& f : operator_families) near.add_candidate(f.name);
    throw_usage("op", "no operator " + quote(name) + near.suggestion_or_list() + " (see llmcost op --help)");
}

inline std::vector<std::string_view> operator_names(const program&) { return names_in(operator_families); }
inline std::span<const option_spec> op_options_of(std::string_view family) {
    return options_of_family(family_of(family)).rows();
}

/// Parses the sizes of an operator. Throws: `usage` for missing and invalid sizes.
inline operator_shape parse_shape(const arguments& args, const operator_type& family, const operator_options& sizes) {
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
inline kernel_query parse_kernel_query(const arguments& args, const operator_type& family,
                                       const operator_options& sizes) {
    return {std::string(args.text(option::device)),
            std::string(args.text(option::kernels)),
            std::string(args.text(option::kernels_version)),
            "",
            std::string(args.text(option::operand)),
            std::string(family.variant_column.empty() ? "" : args.text(sizes.variant())),
            {}};
}

}  // namespace detail

/// Runs `llmcost op TYPE`.
[[nodiscard]] inline command_output run_op(const arguments& args, const program& io) {
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
    bool one = io.in_is_terminal;  // a terminal has no table as input: report missing sizes
    for (std::size_t i = 0; i < family.size_count; ++i) one = one || args.has(sizes.size(i));
    if (!one) {
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
    const latency_estimate e = estimate(*found.target_device, shape, found.calibration);
    return args.text(option::one_format) == "json" ? detail::op_json(shape, found, e)
                                                   : detail::op_text(shape, found, e);
}

inline constexpr std::array<command_example, 2> op_examples{{
    {"llmcost op gemm --device h200 --m 64 --n 4096 --k 4096 --dtype fp8", "one GEMM"},
    {"llmcost op gemm --device h200 < shapes.csv", "a CSV table of shapes; times are appended to each row"},
}};

inline constexpr command op_command{
    .name = "op",
    .summary = "Estimate the time of one operator; its sizes are options",
    .usage = "TYPE --device NAME --SIZE N... [options]\nTYPE [options] < SHAPES.csv",
    .description =
        "Estimates the time of one operator. The sizes of an operator type are options, e.g. --m 64.\n"
        "\n"
        "Without sizes, reads a CSV table from standard input. Its columns are the sizes of the operator\n"
        "type, and optionally system, backend, version and kernel_source. Appends predicted_us, lower_us,\n"
        "upper_us and error to each row.\n"
        "Exit code 7: some rows have no result.\n",
    .options = op_options,
    .run = run_op,
    .examples = op_examples,
    .completions = detail::operator_names,
    .options_of = detail::op_options_of,
    .extra_help = detail::op_families};

}  // namespace llmcost::cli
