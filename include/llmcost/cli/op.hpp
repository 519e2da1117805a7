// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/arguments.hpp>
#include <llmcost/cli/named_options.hpp>
#include <llmcost/cli/op_table.hpp>
#include <llmcost/cli/streams.hpp>
#include <llmcost/cli/text.hpp>
#include <llmcost/cli/word_check.hpp>
#include <llmcost/kernels/shelf.hpp>
#include <llmcost/latency/families.hpp>
#include <llmcost/report/json_writer.hpp>

// `llmcost op`: the time of single operators.
namespace llmcost::cli {

namespace detail {

// clang-format off
/// The options of `llmcost op FAMILY`: the common ones, then the family's sizes and words by their columns.
inline std::vector<named_option> op_options(const operator_family* family) {
    std::vector<named_option> all{
        {"--device",      "NAME|FILE",   "one of llmcost devices, a device's file, or here: what was measured"},
        {"--calibration", "FILE|FOLDER", "measured kernels, a folder of them, or none"},
        {"--kernels",     "SOFTWARE",    "whose: trtllm, vllm, sglang, torch ..."},
        {"--version",     "VERSION",     "of that software"},
        {"--dtype",       "TYPE",        "bfloat16, float16, fp8, fp8_block, int8, nvfp4 ..."},
        {"--format",      "text|json",   "of one operator"},
    };
    if (family == nullptr) return all;
    for (std::size_t i = 0; i < family->size_count; ++i)
        all.push_back({"--" + std::string(family->sizes[i].name), "N", ""});
    if (!family->variant_column.empty()) all.push_back({"--" + std::string(family->variant_column), "WORD", ""});
    return all;
}
// clang-format on
enum op_option_id : std::size_t { op_device, op_calibration, op_kernels, op_version, op_dtype, op_format, op_sizes };

inline std::string_view name_of(bound_by b) {
    return b == bound_by::launch ? "launch" : b == bound_by::compute ? "compute" : "memory";
}

/// Seconds in a unit that people read: 812.3 µs.
inline std::string duration(double seconds) {
    const auto [scale, unit] = seconds < 1e-3 ? std::pair{1e6, "µs"}
                               : seconds < 1  ? std::pair{1e3, "ms"}
                                              : std::pair{1.0, "s"};
    return formatted("%.4g ", seconds * scale) + unit;
}

inline std::string op_json(const operator_shape& shape, const chosen_kernel& found, const latency_estimate& e) {
    const operator_family& family = *shape.family;
    json_writer json;
    json.object().member("family", family.name).member("device", found.on->names[0]).member("dtype", shape.operand->name);
    if (!family.variant_column.empty()) json.member(family.variant_column, shape.variant);
    for (std::size_t i = 0; i < family.size_count; ++i) json.member(family.sizes[i].name, shape.sizes[i]);
    json.member("seconds", e.seconds).member("lower", e.lower).member("upper", e.upper).member("bound", name_of(e.bound));
    json.member("share_of_bound", e.share_of_bound);
    const kernel_work work = llmcost::detail::work_of(shape, found.kernel);
    json.member("flops", work.flops).member("bytes", work.bytes);
    json.key("calibration");
    if (found.kernel == nullptr) {
        json.null();
    } else {
        const kernel_calibration& c = *found.kernel;
        json.object().member("software", c.software).member("version", c.version).member("kernel", c.kernel);
        if (!family.variant_column.empty()) json.member(family.variant_column, c.variant);
        json.member("held_out_median_error", c.error_at(shape.site()).median).end_object();
    }
    json.end_object();
    return json.text() + '\n';
}

/// `gemm m 64 n 4,096 k 4,096 bfloat16`: sizes that say nothing are left out.
inline std::string op_title(const operator_shape& shape) {
    const operator_family& family = *shape.family;
    std::string out(family.name);
    for (std::size_t i = 0; i < family.size_count; ++i)
        if (family.sizes[i].required || shape.sizes[i] != family.sizes[i].otherwise)
            out += ' ' + std::string(family.sizes[i].name) + ' ' + grouped(count(shape.sizes[i]));
    out += ' ' + std::string(shape.operand->name);
    if (!shape.variant.empty() && !(shape.variant == shape.operand->name)) out += ' ' + printable(shape.variant);
    return out;
}

inline std::string op_text(const operator_shape& shape, const chosen_kernel& found, const latency_estimate& e) {
    const kernel_work work = llmcost::detail::work_of(shape, found.kernel);
    std::string out = op_title(shape) + " on " + printable(found.on->title) + ": " + duration(e.seconds) + "  (" +
                      duration(e.lower) + " to " + duration(e.upper) + ")\n  bound by " +
                      std::string(e.bound == bound_by::memory && work.between_devices ? "links" : name_of(e.bound)) +
                      formatted("; %.0f %% of what its datasheet allows; ", 100 * e.share_of_bound);
    if (work.flops > 0) out += formatted("%.1f TFLOP/s, ", work.flops / e.seconds / 1e12);
    out += formatted("%.0f GB/s\n", work.bytes / e.seconds / 1e9);
    if (found.kernel == nullptr) return out + "  without measurements: estimated from the datasheet (see --calibration)\n";
    const kernel_calibration& c = *found.kernel;
    return out + "  calibrated with " + printable(c.software) + ' ' + printable(c.version) + ", " + printable(c.kernel) +
           formatted("; median error %.1f %% on ", 100 * c.error_at(shape.site()).median) +
           (c.residual.has(shape.site()) ? "shapes" : "layers") + " left out of the fit\n";
}

inline std::string op_help() {
    std::string out =
        "Usage: llmcost op FAMILY --device NAME --SIZE N... [option]...\n"
        "       llmcost op FAMILY [option]... < SHAPES.csv\n"
        "The time of an operator. Without a size, of every row of a CSV file or a pipe, whose\n"
        "columns are the family's sizes and words, and system, backend, version and kernel_source\n"
        "where rows choose them; it gives predicted_us, lower_us, upper_us and error behind them.\n\n";
    for (const named_option& o : op_options(nullptr)) out += "  " + left(o.name + ' ' + o.value, 27) + o.help + '\n';
    out += "\nFamilies, their words and sizes (in brackets: may be left out):\n";
    for (const operator_family& f : operator_families) {
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

/// The family of a word.
inline const operator_family& family_of(std::string_view word) {
    if (const operator_family* known = find_family(word)) return *known;
    nearest_names near(word);
    for (const operator_family& f : operator_families) near.offer(f.name);
    refuse("op", "no operator " + in_quotes(word) + near.hint_or_all() + " (see llmcost op --help)");
}

}  // namespace detail

/// What `llmcost op FAMILY …` prints; `args` begins with the family.
[[nodiscard]] inline answered op_answer(std::span<const std::string_view> args, const streams& io) {
    const auto asks_help = [](std::string_view arg) { return arg == "--help" || arg == "-h"; };
    if (args.empty() || std::any_of(args.begin(), args.end(), asks_help)) return detail::op_help();
    const operator_family& family = detail::family_of(args[0]);
    const named_options given("op", detail::op_options(&family), args.subspan(1));
    const std::size_t variant = detail::op_sizes + family.size_count;
    const std::string format = given.text(detail::op_format, "text");
    if (format != "text" && format != "json") refuse("--format", "expected one of text, json; found " + in_quotes(format));
    kernel_shelf shelf(family, calibrations_at(given.text(detail::op_calibration)));
    const kernel_choice asked{given.text(detail::op_device),
                              given.text(detail::op_kernels),
                              given.text(detail::op_version),
                              "",
                              given.text(detail::op_dtype),
                              family.variant_column.empty() ? "" : given.text(variant),
                              {}};
    word_check words(family, given.text(detail::op_calibration), io.err);
    if (!asked.operand.empty()) (void)operand_of("--dtype", asked.operand);
    bool one = io.in_is_terminal;  // nobody types a table: defaults are an answer, and a size that is missing is said
    for (std::size_t i = 0; i < family.size_count; ++i) one = one || given.has(detail::op_sizes + i);
    if (!one) {
        if (given.has(detail::op_format)) refuse("--format", "needs the sizes of one operator: rows stay CSV");
        words.options(asked, asked.device.empty() ? nullptr : &shelf.device_of(asked.device, "--device"));
        shelf.read_ahead();
        return op_table(shelf, asked, words).priced(io.in, io.err);
    }
    if (asked.device.empty()) refuse("op", "needs --device");
    operator_shape shape;
    shape.family = &family;
    for (std::size_t i = 0; i < family.size_count; ++i) {
        const operator_size& size = family.sizes[i];
        const std::size_t id = detail::op_sizes + i;
        if (size.required && !given.has(id)) refuse("op", "needs " + given.name(id));
        shape.sizes[i] =
            given.has(id) ? read_number(given.name(id), given.text(id), least_of(size), size.most) : size.otherwise;
    }
    check_sizes(shape, [](const std::string& name) { return "--" + name; });
    kernel_choice choice = asked;
    if (choice.operand.empty()) choice.operand = "bfloat16";
    std::copy_n(shape.site(), family.sites, choice.site.begin());
    words.options(asked, &shelf.device_of(asked.device, "--device"));
    const chosen_kernel found = shelf.choose_near(choice, "--dtype");
    words.found("", choice, found);
    shape.operand = found.operand, shape.variant = found.variant;
    words.nodes("--", shape, found);
    kernel_shelf::check_priced(*found.on, shape, "--dtype");
    const latency_estimate e = estimate(*found.on, shape, found.kernel);
    return format == "json" ? detail::op_json(shape, found, e) : detail::op_text(shape, found, e);
}

}  // namespace llmcost::cli
