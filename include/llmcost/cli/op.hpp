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

#include <llmcost/cli/arguments.hpp>
#include <llmcost/cli/command.hpp>
#include <llmcost/cli/device_options.hpp>
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

inline std::vector<std::string_view> software_words(const program&) { return {"trtllm", "vllm", "sglang", "torch"}; }

}  // namespace detail

namespace option {

// clang-format off
inline constexpr option_row
    kernels        {"--kernels", value_kind::text,   "SOFTWARE", "whose: trtllm, vllm, sglang, torch ...", {}, detail::software_words},
    kernels_version{"--version", value_kind::text,   "VERSION",  "of that software"},
    operand        {"--dtype",   value_kind::text,   "TYPE",     "bfloat16, float16, fp8, fp8_block, int8, nvfp4 ...", {}, detail::operand_words},
    one_format     {"--format",  value_kind::choice, "text|json", "of one operator"};
// clang-format on

}  // namespace option

inline constexpr std::array op_options = joined(std::array{option::device, option::calibration, option::kernels,
                                                           option::kernels_version, option::operand, option::one_format},
                                                help_option);

namespace detail {

/// The options of `llmcost op FAMILY`: the common ones, then the family's sizes and its word by their columns.
class family_options {
public:
    explicit family_options(const operator_family& family) : rows_(op_options.begin(), op_options.end()) {
        names_.reserve(family.size_count + 1);  // rows look at them
        for (std::size_t i = 0; i < family.size_count; ++i) add(family.sizes[i].name, value_kind::number, "N");
        if (!family.variant_column.empty()) add(family.variant_column, value_kind::text, "WORD");
    }
    [[nodiscard]] const std::vector<option_row>& rows() const noexcept { return rows_; }
    [[nodiscard]] const option_row& size(std::size_t i) const { return rows_[op_options.size() + i]; }
    /// Of the family's word, behind its sizes.
    [[nodiscard]] const option_row& variant() const { return rows_.back(); }

private:
    void add(std::string_view column, value_kind kind, std::string_view value) {
        names_.push_back("--" + std::string(column));
        rows_.push_back({names_.back(), kind, value, ""});
    }

    std::vector<std::string> names_;
    std::vector<option_row> rows_;
};

/// The same for all time: made when they are first asked for.
inline const family_options& options_of_family(const operator_family& family) {
    static std::map<std::string_view, family_options> made;
    static std::mutex one_at_a_time;
    const std::lock_guard hold(one_at_a_time);
    return made.try_emplace(family.name, family).first->second;
}

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

inline std::string op_families() {
    std::string out;
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

inline std::vector<std::string_view> family_words(const program&) { return names_in(operator_families); }
inline std::span<const option_row> op_options_of(std::string_view family) {
    return options_of_family(family_of(family)).rows();
}

}  // namespace detail

/// What `llmcost op FAMILY …` prints.
[[nodiscard]] inline answered op_answer(const arguments& given, const program& io) {
    if (given.words().size() != 1)
        refuse("op", given.words().empty() ? "needs a family of operators, which comes first (see llmcost op --help)"
                                           : "takes one word, found " + in_quotes(given.words()[1]));
    const operator_family& family = detail::family_of(given.words().front());
    const detail::family_options& sizes = detail::options_of_family(family);
    const std::string calibration(given.text(option::calibration));
    kernel_shelf shelf(family, calibrations_at(calibration));
    const kernel_choice asked{std::string(given.text(option::device)),
                              std::string(given.text(option::kernels)),
                              std::string(given.text(option::kernels_version)),
                              "",
                              std::string(given.text(option::operand)),
                              std::string(family.variant_column.empty() ? "" : given.text(sizes.variant())),
                              {}};
    word_check words(family, calibration, io.err);
    if (!asked.operand.empty()) (void)operand_of("--dtype", asked.operand);
    bool one = io.in_is_terminal;  // nobody types a table: defaults are an answer, and a size that is missing is said
    for (std::size_t i = 0; i < family.size_count; ++i) one = one || given.has(sizes.size(i));
    if (!one) {
        if (given.has(option::one_format)) refuse("--format", "needs the sizes of one operator: rows stay CSV");
        words.options(asked, asked.device.empty() ? nullptr : &shelf.device_of(asked.device, "--device"));
        shelf.read_ahead();
        return op_table(shelf, asked, words).priced(io.in, io.err);
    }
    if (asked.device.empty()) refuse("op", "needs --device");
    operator_shape shape;
    shape.family = &family;
    for (std::size_t i = 0; i < family.size_count; ++i) {
        const operator_size& size = family.sizes[i];
        const option_row& o = sizes.size(i);
        if (size.required && !given.has(o)) refuse("op", "needs " + std::string(o.name));
        shape.sizes[i] = given.has(o) ? read_number(o.name, given.text(o), least_of(size), size.most) : size.otherwise;
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
    return given.text(option::one_format) == "json" ? detail::op_json(shape, found, e) : detail::op_text(shape, found, e);
}

inline constexpr std::array<example_row, 2> op_examples{{
    {"llmcost op gemm --device h200 --m 64 --n 4096 --k 4096 --dtype fp8", "one product"},
    {"llmcost op gemm --device h200 < shapes.csv", "a row with its time for each row"},
}};

inline constexpr command op_command{
    .name = "op",
    .meaning = "how long an operator takes; its sizes are options, too",
    .usage = "FAMILY --device NAME --SIZE N... [option]...\nFAMILY [option]... < SHAPES.csv",
    .about =
        "The time of an operator. Without a size, of every row of a CSV file or a pipe, whose\n"
        "columns are the family's sizes and words, and system, backend, version and kernel_source\n"
        "where rows choose them; it gives predicted_us, lower_us, upper_us and error behind them.\n",
    .options = op_options,
    .answer = op_answer,
    .examples = op_examples,
    .words = detail::family_words,
    .options_of = detail::op_options_of,
    .more_help = detail::op_families};

}  // namespace llmcost::cli
