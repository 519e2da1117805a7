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
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <llmcost/cli/arguments.hpp>
#include <llmcost/cli/op_kernels.hpp>

// Many operators at once: rows of a CSV file in, the same rows with predictions out.
namespace llmcost::cli {

namespace detail {

/// The fields of a line of CSV, quotes taken off (RFC 4180, but for line breaks inside of fields).
inline void split_csv(std::string_view line, std::vector<std::string>& fields) {
    fields.clear();
    fields.emplace_back();
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
            fields.back() += c, ++i;
        else if (c == '"' && (quoted || fields.back().empty()))
            quoted = !quoted;
        else if (c == ',' && !quoted)
            fields.emplace_back();
        else
            fields.back() += c;
    }
}

}  // namespace detail

/// The least value of a size: what a window or what lies in front may be is nothing.
inline std::int64_t least_of(const operator_size& size) noexcept { return size.required || size.otherwise > 0 ? 1 : 0; }

/// Prices the operators of a CSV file: its header names the family's sizes and words and, where rows choose them, `system`,
/// `backend`, `version` and `kernel_source`, in any order among others.
///
/// Gives every line as it came with three columns more. Throws `usage` with the line where a field is missing or is no size.
class op_table {
public:
    op_table(kernel_shelf& shelf, kernel_choice otherwise) : shelf_(shelf), otherwise_(std::move(otherwise)) {}

    [[nodiscard]] std::string priced(std::istream& in) {
        std::string line, out;
        std::vector<std::string> fields;
        if (!std::getline(in, line)) refuse("standard input", "expected CSV with a header, found nothing");
        strip(line);
        detail::split_csv(line, fields);
        read_header(fields);
        out += line + ",predicted_us,lower_us,upper_us\n";
        for (std::size_t number = 2; std::getline(in, line); ++number) {
            strip(line);
            if (line.empty()) continue;
            detail::split_csv(line, fields);
            out += line;
            put(out, estimate_of(fields, number));
        }
        return out;
    }

private:
    enum word : std::size_t { operand, variant, system, backend, version, kernel, words };

    [[nodiscard]] std::string_view name_of(std::size_t column) const {
        static constexpr std::string_view plain[]{"system", "backend", "version", "kernel_source"};
        const operator_family& family = shelf_.family();
        if (column == operand) return family.operand_column;
        if (column == variant) return family.variant_column;
        return column < words ? plain[column - system] : std::string_view(family.sizes[column - words].name);
    }
    static constexpr std::size_t absent = SIZE_MAX;

    static void strip(std::string& line) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
    }
    void read_header(const std::vector<std::string>& fields) {
        const operator_family& family = shelf_.family();
        places_.assign(words + family.size_count, absent);
        for (std::size_t i = 0; i < fields.size(); ++i)
            for (std::size_t c = 0; c < places_.size(); ++c)
                if (!fields[i].empty() && fields[i] == name_of(c)) {
                    if (places_[c] != absent) refuse("line 1", "the column " + in_quotes(name_of(c)) + " stands twice");
                    places_[c] = i;
                }
        for (std::size_t i = 0; i < family.size_count; ++i)
            if (family.sizes[i].required && places_[words + i] == absent)
                refuse("line 1", "expected a column " + in_quotes(name_of(words + i)));
        if (places_[system] == absent && otherwise_.device.empty())
            refuse("line 1", "expected a column 'system', or --device");
        if (places_[operand] == absent && otherwise_.operand.empty())
            refuse("line 1", "expected a column " + in_quotes(name_of(operand)) + ", or --dtype");
    }
    latency_estimate estimate_of(const std::vector<std::string>& fields, std::size_t number) {
        const auto where = [&] { return "line " + std::to_string(number); };
        const auto field = [&](std::size_t c) -> const std::string& {
            if (places_[c] < fields.size()) return fields[places_[c]];
            refuse(where(), "has no field for " + in_quotes(name_of(c)));
        };
        const auto word_of = [&](std::size_t c, const std::string& otherwise) -> const std::string& {
            return places_[c] == absent || field(c).empty() ? otherwise : field(c);
        };
        asked_ = {word_of(system, otherwise_.device),
                  word_of(backend, otherwise_.software),
                  word_of(version, otherwise_.version),
                  word_of(kernel, otherwise_.kernel),
                  word_of(operand, otherwise_.operand),
                  word_of(variant, otherwise_.variant),
                  {}};
        const operator_family& family = shelf_.family();
        operator_shape shape;
        shape.family = &family;
        for (std::size_t i = 0; i < family.size_count; ++i) {
            const operator_size& size = family.sizes[i];
            shape.sizes[i] = places_[words + i] == absent
                                 ? size.otherwise
                                 : read_size(where, name_of(words + i), field(words + i), least_of(size));
        }
        std::copy_n(shape.site(), family.sites, asked_.site.begin());
        auto found = chosen_.find(asked_);
        if (found == chosen_.end()) {
            try {
                found = chosen_.emplace(asked_, shelf_.choose(asked_)).first;
            } catch (const error& e) {
                refuse(where(), e.what());
            }
        }
        shape.operand = found->second.operand, shape.variant = found->second.variant;
        return estimate(*found->second.on, shape, found->second.kernel);
    }
    template <class Where>
    static std::int64_t read_size(const Where& where, std::string_view name, const std::string& digits, std::int64_t least) {
        std::int64_t n = 0;
        const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
        if (problem == std::errc{} && end == digits.data() + digits.size() && n >= least && n <= largest_input) return n;
        return read_number(where() + ", " + std::string(name), digits, least);  // says what is wrong with it
    }
    static void put(std::string& out, const latency_estimate& e) {
        std::array<char, 96> text{};
        const int n =
            std::snprintf(text.data(), text.size(), ",%.5g,%.5g,%.5g\n", e.seconds * 1e6, e.lower * 1e6, e.upper * 1e6);
        out.append(text.data(), static_cast<std::size_t>(n));
    }

    kernel_shelf& shelf_;
    kernel_choice otherwise_;
    std::vector<std::size_t> places_;
    kernel_choice asked_;
    std::map<kernel_choice, chosen_kernel> chosen_;
};

}  // namespace llmcost::cli
