// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <llmcost/cli/arguments.hpp>
#include <llmcost/cli/op_kernels.hpp>
#include <llmcost/cli/op_table.hpp>
#include <llmcost/cli/streams.hpp>
#include <llmcost/cli/text.hpp>
#include <llmcost/report/json_writer.hpp>

// `llmcost op`: the time of single operators.
namespace llmcost::cli {

namespace detail {

struct op_option {
    std::string_view name;
    std::string_view value;
    std::string_view help;
};

// clang-format off
inline constexpr std::array<op_option, 9> op_options{{
    {"--device",      "NAME|FILE",   "a name of llmcost devices, or a device's file"},
    {"--calibration", "FILE|FOLDER", "measured kernels; a folder has one DEVICE.json each"},
    {"--kernels",     "SOFTWARE",    "whose: trtllm, vllm, sglang, torch ..."},
    {"--version",     "VERSION",     "of that software"},
    {"--dtype",       "TYPE",        "bfloat16, float16, fp8, fp8_block, int8, nvfp4"},
    {"--m",           "N",           "rows: tokens"},
    {"--n",           "N",           "columns: features out"},
    {"--k",           "N",           "what is summed over: features in"},
    {"--format",      "text|json",   "of one operator"},
}};
// clang-format on
enum op_option_id : std::size_t { op_device, op_calibration, op_kernels, op_version, op_dtype, op_m, op_n, op_k, op_format };

/// The options of `llmcost op gemm`, each at most once.
inline std::array<std::optional<std::string_view>, op_options.size()> read_op_options(
    std::span<const std::string_view> args) {
    std::array<std::optional<std::string_view>, op_options.size()> values{};
    for (std::size_t i = 0; i < args.size(); ++i) {
        const std::size_t sign = args[i].find('=');
        const std::string_view name = args[i].substr(0, sign);
        std::size_t id = 0;
        while (id < op_options.size() && op_options[id].name != name) ++id;
        if (id == op_options.size()) {
            nearest_names near(name);
            for (const op_option& o : op_options) near.offer(o.name);
            refuse("op", "no option " + in_quotes(name) + "; nearest: " + near.text());
        }
        if (values[id]) refuse(name, "is given twice");
        if (sign == std::string_view::npos && i + 1 == args.size())
            refuse(name, "needs a value: " + std::string(name) + ' ' + std::string(op_options[id].value));
        values[id] = sign == std::string_view::npos ? args[++i] : args[i].substr(sign + 1);
    }
    return values;
}

inline std::string_view name_of(bound_by b) {
    return b == bound_by::launch ? "launch" : b == bound_by::compute ? "compute" : "memory";
}

/// Seconds in a unit that people read: 812.3 µs.
inline std::string duration(double seconds) {
    const auto [scale, unit] = seconds < 1e-3 ? std::pair{1e6, "µs"}
                               : seconds < 1  ? std::pair{1e3, "ms"}
                                              : std::pair{1.0, "s"};
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.4g %s", seconds * scale, unit);
    return text.data();
}

inline std::string op_json(const gemm_shape& shape, const chosen_kernel& found, const latency_estimate& e) {
    json_writer json;
    json.object().member("family", "gemm").member("device", found.on->names[0]).member("dtype", shape.operand->name);
    json.member("m", shape.m).member("n", shape.n).member("k", shape.k);
    json.member("seconds", e.seconds).member("lower", e.lower).member("upper", e.upper).member("bound", name_of(e.bound));
    json.member("share_of_bound", e.share_of_bound);
    json.member("flops", shape.work().flops).member("bytes", shape.work().bytes);
    json.key("calibration");
    if (found.kernel == nullptr) {
        json.null();
    } else {
        const kernel_calibration& c = *found.kernel;
        json.object().member("software", c.software).member("version", c.version).member("kernel", c.kernel);
        json.member("held_out_median_error", c.error.median).end_object();
    }
    json.end_object();
    return json.text() + '\n';
}

inline std::string op_text(const gemm_shape& shape, const chosen_kernel& found, const latency_estimate& e) {
    const auto size = [](std::int64_t n) { return grouped(count(n)); };
    std::array<char, 160> line{};
    std::string out = "gemm " + size(shape.m) + " × " + size(shape.n) + " × " + size(shape.k) + ' ' +
                      std::string(shape.operand->name) + " on " + printable(found.on->title) + ": " + duration(e.seconds) +
                      "  (" + duration(e.lower) + " to " + duration(e.upper) + ")\n";
    const kernel_work work = shape.work();
    std::snprintf(line.data(), line.size(), "  bound by %s; %.0f %% of what its datasheet allows; %.1f TFLOP/s, %.0f GB/s\n",
                  std::string(name_of(e.bound)).c_str(), 100 * e.share_of_bound, work.flops / e.seconds / 1e12,
                  work.bytes / e.seconds / 1e9);
    out += line.data();
    if (found.kernel == nullptr) return out + "  no calibration: datasheet and typical efficiencies (--calibration)\n";
    const kernel_calibration& c = *found.kernel;
    std::snprintf(line.data(), line.size(), "; median error %.1f %% on shapes left out of the fit\n", 100 * c.error.median);
    return out + "  calibrated with " + printable(c.software) + ' ' + printable(c.version) + ", " + printable(c.kernel) +
           line.data();
}

inline std::string op_help() {
    std::string out =
        "Usage: llmcost op gemm --device NAME --m N --n N --k N [option]...\n"
        "       llmcost op gemm [option]... < SHAPES.csv\n"
        "The time of a matrix product (m, k) x (k, n). Without --m, --n and --k: of every row\n"
        "of a CSV file, whose columns m, n, k, gemm_dtype, system, backend, version and\n"
        "kernel_source choose; it gives predicted_us, lower_us and upper_us behind them.\n\n";
    for (const op_option& o : op_options)
        out += "  " + left(std::string(o.name) + ' ' + std::string(o.value), 27) + std::string(o.help) + '\n';
    return out;
}

}  // namespace detail

/// What `llmcost op FAMILY …` prints; `args` begins with the family.
[[nodiscard]] inline std::string op_answer(std::span<const std::string_view> args, const streams& io) {
    if (args.empty() || args[0] == "--help" || args[0] == "-h" || (args.size() > 1 && args[1] == "--help"))
        return detail::op_help();
    if (args[0] != "gemm") refuse("op", "no family " + in_quotes(args[0]) + "; known: gemm (llmcost op --help)");
    const auto given = detail::read_op_options(args.subspan(1));
    const auto text = [&](std::size_t id) { return std::string(given[id].value_or("")); };
    const std::string format = given[detail::op_format] ? text(detail::op_format) : "text";
    if (format != "text" && format != "json") refuse("--format", "expected one of text, json; found " + in_quotes(format));
    kernel_shelf shelf(text(detail::op_calibration));
    const kernel_choice asked{text(detail::op_device), text(detail::op_kernels), text(detail::op_version), "",
                              text(detail::op_dtype)};
    const bool one = given[detail::op_m] || given[detail::op_n] || given[detail::op_k];
    if (!one) {
        if (given[detail::op_format]) refuse("--format", "needs --m, --n and --k: rows stay CSV");
        return op_table(shelf, asked).priced(io.in);
    }
    for (const std::size_t id : {detail::op_device, detail::op_m, detail::op_n, detail::op_k})
        if (!given[id]) refuse("op", "needs " + std::string(detail::op_options[id].name));
    kernel_choice choice = asked;
    if (choice.operand.empty()) choice.operand = "bfloat16";
    const chosen_kernel found = shelf.choose(choice);
    const auto size = [&](std::size_t id) { return read_number(detail::op_options[id].name, *given[id], 1); };
    const gemm_shape shape{size(detail::op_m), size(detail::op_n), size(detail::op_k), found.operand};
    const latency_estimate e = estimate(*found.on, shape, found.kernel);
    return format == "json" ? detail::op_json(shape, found, e) : detail::op_text(shape, found, e);
}

}  // namespace llmcost::cli
