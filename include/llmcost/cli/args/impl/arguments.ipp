// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/arguments.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/synonyms.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli {

/// Other names of an element type on a command line.
struct dtype_alias {
    std::string_view alias;
    std::string_view name;
};

inline constexpr dtype_alias dtype_aliases[]{
    {"half", "float16"},     {"float", "float32"},          {"double", "float64"},       {"f32", "float32"},
    {"f16", "float16"},      {"fp8_e4m3", "float8_e4m3fn"}, {"fp8_e5m2", "float8_e5m2"}, {"e4m3", "float8_e4m3fn"},
    {"e5m2", "float8_e5m2"}, {"float8", "float8_e4m3fn"},
};

namespace detail {

/// Reads digits with optional underscores between them: `8192`, `8_192`. Returns their number; 0 if there is none.
LLMCOST_INLINE std::size_t read_digits(std::string_view& text, std::string& digits) {
    const std::size_t before = digits.size();
    while (!text.empty()) {
        const bool is_separator = text.front() == '_' && digits.size() > before && text.size() > 1 && text[1] != '_' &&
                                  text[1] >= '0' && text[1] <= '9';
        if (!is_separator && (text.front() < '0' || text.front() > '9')) break;
        if (!is_separator) digits += text.front();
        text.remove_prefix(1);
    }
    return digits.size() - before;
}

/// Reads a whole number such as 8192, 8_192, 1e4, 8k or 128K; k, m and g are powers of 1000, K, M and G powers of 1024.
///
/// Source: vllm/engine/arg_utils.py, `human_readable_int`.
LLMCOST_INLINE std::optional<std::int64_t> read_integer(std::string_view text) {
    constexpr std::size_t max_digits = 18;
    std::string digits;
    if (text.size() > 40 || read_digits(text, digits) == 0) return std::nullopt;
    std::size_t num_decimals = 0;
    const bool has_point = text.starts_with('.');
    if (has_point) {
        text.remove_prefix(1);
        num_decimals = read_digits(text, digits);
        if (num_decimals == 0 || text.empty()) return std::nullopt;
    }
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
    if (digits.size() > max_digits) return std::nullopt;
    std::int64_t n = std::stoll(digits), factor = 1, divisor = 1;
    if (text.starts_with('e') || text.starts_with('E')) {
        text.remove_prefix(1);
        if (text.starts_with('+')) text.remove_prefix(1);
        std::string exponent;
        if (read_digits(text, exponent) == 0 || exponent.size() > 2 || !text.empty()) return std::nullopt;
        const int power = std::stoi(exponent);
        if (power > static_cast<int>(max_digits)) return std::nullopt;
        for (int i = 0; i < power; ++i) factor *= 10;
    } else if (!text.empty()) {
        constexpr std::string_view suffixes = "kmgKMG";
        const std::size_t kind = suffixes.find(text.front());
        if (kind == std::string_view::npos || text.size() > 1) return std::nullopt;
        for (std::size_t i = 0; i <= kind % 3; ++i) factor *= kind < 3 ? 1000 : 1024;
    }
    for (std::size_t i = 0; i < num_decimals; ++i) divisor *= 10;
    constexpr std::int64_t max_value = std::numeric_limits<std::int64_t>::max();
    if (n != 0 && factor > max_value / n) return std::nullopt;
    n *= factor;
    return n % divisor == 0 ? std::optional(n / divisor) : std::nullopt;
}

}  // namespace detail

LLMCOST_INLINE std::int64_t parse_integer(std::string_view option_name, std::string_view text, std::int64_t minimum,
                                          std::int64_t maximum) {
    const std::optional<std::int64_t> n = detail::read_integer(text);
    if (n && *n >= minimum && *n <= maximum) return *n;
    std::string without_commas(text);
    std::erase(without_commas, ',');
    const bool has_commas = without_commas.size() < text.size() && detail::read_integer(without_commas);
    throw_usage(option_name, "expected a whole number from " + std::to_string(minimum) + " to " +
                                 std::to_string(maximum) + ", found " + quote(text) +
                                 (has_commas ? "; without commas: " + without_commas : std::string()));
}

LLMCOST_INLINE double parse_real(std::string_view option_name, std::string_view text, double minimum, double maximum) {
    double n = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, n);
    if (problem == std::errc{} && stop == end && n >= minimum && n <= maximum) return n;
    std::array<char, 64> bounds{};
    std::snprintf(bounds.data(), bounds.size(), "%g to %g", minimum, maximum);
    throw_usage(option_name, "expected a number from " + std::string(bounds.data()) + ", found " + quote(text));
}

LLMCOST_INLINE std::int64_t parse_milliseconds(std::string_view option_name, std::string_view text) {
    const double seconds = parse_real(option_name, text, 0.001, 1e6);
    const double milliseconds = std::nearbyint(seconds * 1000);
    if (std::abs(milliseconds - seconds * 1000) > 1e-6 * milliseconds)
        throw_usage(option_name, "expected at most three decimal places, found " + quote(text));
    return static_cast<std::int64_t>(milliseconds);
}

LLMCOST_INLINE arguments::arguments(std::string_view command, std::span<const option_spec> rows,
                                    std::span<const std::string_view> args)
    : command_(command), rows_(rows), values_(rows.size()) {
    bool options = true;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const std::string_view arg = args[i];
        if (options && arg == "--") {
            options = false;
        } else if (!options || !arg.starts_with('-')) {
            positional_.push_back(arg);
        } else {
            i += read_option(arg, i + 1 < args.size() ? std::optional(args[i + 1]) : std::nullopt);
        }
    }
}

LLMCOST_INLINE int arguments::choice(const option_spec& o, int default_value) const {
    if (!has(o)) return default_value;
    int found = 0, i = 0;
    for_each_choice(o.choices, [&](std::string_view name) { found = name == text(o) ? i++ : (++i, found); });
    return found;
}

LLMCOST_INLINE const std::vector<std::string_view>& arguments::all(const option_spec& o) const noexcept {
    static const std::vector<std::string_view> none;
    for (std::size_t i = 0; i < rows_.size(); ++i)
        if (rows_[i].is(o)) return values_[i];
    return none;
}

LLMCOST_INLINE void arguments::replace(const option_spec& o, std::string_view value) {
    for (std::size_t i = 0; i < rows_.size(); ++i)
        if (rows_[i].is(o)) values_[i] = {value};
}

LLMCOST_INLINE void arguments::remove(const option_spec& o) {
    for (std::size_t i = 0; i < rows_.size(); ++i)
        if (rows_[i].is(o)) values_[i].clear();
}

LLMCOST_INLINE void arguments::require_positional(const option_spec& target, std::size_t num_positional) {
    const auto end = positional_.begin() + static_cast<std::ptrdiff_t>(num_positional);
    for (std::size_t i = 0; i < rows_.size(); ++i)
        if (rows_[i].is(target)) values_[i].insert(values_[i].end(), positional_.begin(), end);
    positional_.erase(positional_.begin(), end);
}

LLMCOST_INLINE std::size_t arguments::read_option(std::string_view arg, std::optional<std::string_view> next) {
    const std::size_t sign = arg.find('=');
    const std::string_view name = arg.substr(0, sign);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const option_spec& row = rows_[i];
        if (!row.is_named(name)) continue;
        std::optional<std::string_view> value;
        if (sign != std::string_view::npos) value = arg.substr(sign + 1);
        const bool picture = row.type == value_type::image;
        const bool uses_next = row.type != value_type::none && !value && !(picture && !(next && names_picture(*next)));
        if (row.type == value_type::none && value) throw_usage(row.name, "takes no value, found " + quote(*value));
        if (uses_next && (!next || looks_like_option(*next)))
            throw_usage(row.name, "requires a value: " + std::string(row.name) + ' ' + std::string(row.value));
        if (uses_next) value = next;
        if (value && value->empty() && row.type != value_type::number)
            throw_usage(row.name, "requires a value: " + std::string(row.name) + ' ' + std::string(row.value));
        if (!row.is_repeatable && !values_[i].empty()) throw_usage(row.name, "given more than once");
        values_[i].push_back(value.value_or(std::string_view{}));
        values_[i].back() = canonical_value(row, values_[i].back());
        check(row, values_[i].back());
        return uses_next ? 1 : 0;
    }
    const bool has_value = sign == std::string_view::npos && next && !looks_like_option(*next);
    throw_usage(command_,
                unknown_option_message(name, sign == std::string_view::npos ? (has_value ? next : std::nullopt)
                                                                            : std::optional(arg.substr(sign + 1))));
}

LLMCOST_INLINE std::string arguments::unknown_option_message(std::string_view name,
                                                             std::optional<std::string_view> value) const {
    if (const option_synonym* const synonym = find_option_synonym(name)) {
        const std::string use = replacement_of(*synonym, rows_, value);
        if (!use.empty()) return "no option " + quote(name) + "; use " + printable(use);
        if (!synonym->note.empty()) return "no option " + quote(name) + "; " + std::string(synonym->note);
        return "no option " + quote(name);  // a command that has the replacement is named by the caller
    }
    name_suggestions near(name);
    for (const option_spec& row : rows_) {
        const bool is_end = name.starts_with("--") && row.name.ends_with(name.substr(1));
        near.add_candidate(row.name, is_end ? 0 : near.distance(row.name));  // --version: --engine-version
        row.for_each_alias([&](std::string_view alias) {
            if (alias.starts_with("--")) near.add_candidate(alias);
        });
    }
    const std::string help_command = command_.empty() ? "--help" : "llmcost " + std::string(command_) + " --help";
    return "no option " + quote(name) + near.suggestion_text(" (see " + help_command + ')');
}

LLMCOST_INLINE bool arguments::names_picture(std::string_view text) noexcept {
    for (const std::string_view kind : {".svg", ".png", ".pdf", ".jpg", ".gif", ".eps", ".html"})
        if (text.ends_with(kind)) return true;
    return false;
}

LLMCOST_INLINE std::string_view arguments::canonical_value(const option_spec& row, std::string_view value) {
    const std::string_view replaced = replace_value_synonym(row.name, value);
    std::string_view canonical = replaced;
    if (row.type == value_type::choice)
        for_each_choice(row.choices, [&](std::string_view name) {
            if (lower(name) == lower(replaced)) canonical = name;
        });
    if (row.type == value_type::dtype && dtype_from(value) == dtype::unspecified) {
        const std::string name = lower(value);
        for (const dtype_alias& a : dtype_aliases)
            if (a.alias == name) canonical = a.name;
        if (const dtype type = dtype_from(string_ref(name)); type != dtype::unspecified) canonical = name_of(type);
    }
    return canonical;
}

/// Whether a name is that of a quantization rather than of a type: `Q4_K_M`, `iq2_xs`, `awq`.
LLMCOST_INLINE bool looks_like_quantization(std::string_view name) {
    std::string letters = lower(name);
    for (const std::string_view known : {"awq", "gptq", "nf4", "mxfp4", "nvfp4"})
        if (letters.starts_with(known)) return true;
    if (letters.starts_with('i')) letters.erase(0, 1);
    return letters.size() > 1 && letters[0] == 'q' && letters[1] >= '1' && letters[1] <= '8';
}

LLMCOST_INLINE void arguments::check(const option_spec& row, std::string_view value) const {
    std::string names;
    bool known = row.type == value_type::dtype && dtype_from(value) != dtype::unspecified;
    const auto add = [&](std::string_view name) {
        known = known || value == name;
        names.append(names.empty() ? "" : ", ").append(name);
    };
    if (row.type == value_type::choice) for_each_choice(row.choices, add);
    if (row.type == value_type::dtype)
        for (const dtype_row& type : dtype_table) add(type.name);
    if (row.type == value_type::image && !value.empty() && !value.ends_with(".svg"))
        throw_usage(row.name, "expected a file name that ends with .svg, found " + quote(value));
    if (names.empty() || known) return;
    const bool is_quantization =
        row.type == value_type::dtype && accepts(option::quantization) && looks_like_quantization(value);
    throw_usage(row.name, "expected one of " + names + "; found " + quote(value) +
                              (is_quantization ? "; quantized weights: --quantization " + printable(value) : ""));
}

}  // namespace llmcost::cli
