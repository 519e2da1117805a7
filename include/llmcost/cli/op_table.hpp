// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <istream>
#include <map>
#include <string>
#include <string_view>
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

/// Prices the products of a CSV file: its header names `m`, `n`, `k` and, where rows choose them, `gemm_dtype`, `system`,
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
    enum column : std::size_t { m, n, k, dtype, system, backend, version, kernel, how_many };
    static constexpr std::array<std::string_view, how_many> names{"m",      "n",       "k",       "gemm_dtype",
                                                                  "system", "backend", "version", "kernel_source"};
    static constexpr std::size_t absent = SIZE_MAX;

    static void strip(std::string& line) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
    }
    void read_header(const std::vector<std::string>& fields) {
        places_.fill(absent);
        for (std::size_t i = 0; i < fields.size(); ++i)
            for (std::size_t c = 0; c < how_many; ++c)
                if (fields[i] == names[c]) {
                    if (places_[c] != absent) refuse("line 1", "the column " + in_quotes(names[c]) + " stands twice");
                    places_[c] = i;
                }
        for (const column c : {m, n, k})
            if (places_[c] == absent) refuse("line 1", "expected a column " + in_quotes(names[c]));
        if (places_[system] == absent && otherwise_.device.empty())
            refuse("line 1", "expected a column 'system', or --device");
        if (places_[dtype] == absent && otherwise_.operand.empty())
            refuse("line 1", "expected a column 'gemm_dtype', or --dtype");
    }
    latency_estimate estimate_of(const std::vector<std::string>& fields, std::size_t number) {
        const std::string where = "line " + std::to_string(number);
        const auto field = [&](column c) -> const std::string& {
            if (places_[c] < fields.size()) return fields[places_[c]];
            refuse(where, "has no field for " + in_quotes(names[c]));
        };
        const auto word = [&](column c, const std::string& otherwise) {
            return places_[c] == absent || field(c).empty() ? otherwise : field(c);
        };
        const kernel_choice asked{word(system, otherwise_.device), word(backend, otherwise_.software),
                                  word(version, otherwise_.version), word(kernel, otherwise_.kernel),
                                  word(dtype, otherwise_.operand)};
        auto found = chosen_.find(asked);
        if (found == chosen_.end()) {
            try {
                found = chosen_.emplace(asked, shelf_.choose(asked)).first;
            } catch (const error& e) {
                refuse(where, e.what());
            }
        }
        const auto size = [&](column c) { return read_number(where + ", " + std::string(names[c]), field(c), 1); };
        return estimate(*found->second.on, {size(m), size(n), size(k), found->second.operand}, found->second.kernel);
    }
    static void put(std::string& out, const latency_estimate& e) {
        std::array<char, 96> text{};
        const int n =
            std::snprintf(text.data(), text.size(), ",%.5g,%.5g,%.5g\n", e.seconds * 1e6, e.lower * 1e6, e.upper * 1e6);
        out.append(text.data(), static_cast<std::size_t>(n));
    }

    kernel_shelf& shelf_;
    kernel_choice otherwise_;
    std::array<std::size_t, how_many> places_{};
    std::map<kernel_choice, chosen_kernel> chosen_;
};

}  // namespace llmcost::cli
