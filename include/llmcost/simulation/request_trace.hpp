// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <llmcost/files/regular_file.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/text/csv_fields.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

// Recorded arrivals: CSV and JSON lines in the formats of public request traces.
namespace llmcost {

/// The quantity in a column of a trace.
enum class trace_column : std::uint8_t { arrival, input, output, blocks };

/// A column name of a trace format. A time times `scale` is in seconds.
struct trace_column_name {
    std::string_view name;
    trace_column holds;
    double scale = 1;
};

// In this order: llmcost; microsoft/vidur; Azure traces of 2023 and 2024; LLMServingSim; kvcache-ai/Mooncake; BurstGPT;
// project-etalon.
inline constexpr trace_column_name trace_columns[]{
    {"arrival", trace_column::arrival},
    {"input", trace_column::input},
    {"output", trace_column::output},
    {"arrived_at", trace_column::arrival},
    {"num_prefill_tokens", trace_column::input},
    {"num_decode_tokens", trace_column::output},
    {"TIMESTAMP", trace_column::arrival},
    {"ContextTokens", trace_column::input},
    {"GeneratedTokens", trace_column::output},
    {"arrival_time_ns", trace_column::arrival, 1e-9},
    {"arrival_time", trace_column::arrival},
    {"input_toks", trace_column::input},
    {"output_toks", trace_column::output},
    {"timestamp", trace_column::arrival, 1e-3},
    {"input_length", trace_column::input},
    {"output_length", trace_column::output},
    {"hash_ids", trace_column::blocks},
    {"Timestamp", trace_column::arrival},
    {"Request tokens", trace_column::input},
    {"Response tokens", trace_column::output},
};

/// A request trace, in the order of arrival. The first request arrives at 0.
struct request_trace {
    std::vector<simulated_request> requests;
    bool timed = false;  ///< has arrival times
    bool named = false;  ///< has ids of prefix blocks
};

namespace detail {

/// Parses a time: a number, or a date such as `2023-11-16 18:17:03.9799600`. Returns false if it is invalid.
inline bool read_arrival(std::string_view text, double scale, double& seconds) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (problem == std::errc{} && end == text.data() + text.size()) {
        seconds *= scale;
        return std::isfinite(seconds);
    }
    std::array<int, 5> part{};
    std::size_t at = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
        const auto [number_end, bad] = std::from_chars(text.data() + at, text.data() + text.size(), part[i]);
        at = static_cast<std::size_t>(number_end - text.data());
        if (bad != std::errc{} || at >= text.size()) return false;
        ++at;  // separator
    }
    const auto [number_end, bad] = std::from_chars(text.data() + at, text.data() + text.size(), seconds);
    const std::string_view rest = text.substr(static_cast<std::size_t>(number_end - text.data()));
    if (bad != std::errc{} || (!rest.empty() && rest[0] != 'Z' && rest[0] != '+')) return false;
    // Days since 1970 (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    const std::int64_t year = part[0] - (part[1] <= 2 ? 1 : 0), era = year / 400, of_era = year - era * 400;
    const std::int64_t of_year = (153 * (part[1] + (part[1] > 2 ? -3 : 9)) + 2) / 5 + part[2] - 1;
    const std::int64_t days = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
    seconds += 60.0 * (60 * part[3] + part[4]) + 86400.0 * static_cast<double>(days);
    return true;
}

/// Parses a trace line by line. Errors report the line.
class trace_reader {
public:
    trace_reader(std::string name, std::int64_t block) : name_(std::move(name)), block_(block) {}

    request_trace read(std::string_view text) {
        const std::size_t first = text.find_first_not_of(" \t\r\n");
        if (first == std::string_view::npos) fail("expected a line for each request, found nothing");
        const bool json = text[first] == '{';
        while (!text.empty()) {
            ++line_;
            const std::size_t end = std::min(text.find('\n'), text.size());
            std::string_view line = text.substr(0, end);
            text.remove_prefix(std::min(end + 1, text.size()));
            if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
            if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
            if (json)
                read_json(line);
            else
                read_csv(std::string(line));
        }
        if (out_.requests.empty()) fail("expected a line for each request, found only a header");
        std::stable_sort(out_.requests.begin(), out_.requests.end(),
                         [](const simulated_request& a, const simulated_request& b) {
                             return a.arrival_seconds < b.arrival_seconds;
                         });
        const double begin = out_.requests.front().arrival_seconds;
        for (simulated_request& r : out_.requests) r.arrival_seconds -= begin;
        return std::move(out_);
    }

private:
    [[noreturn]] void fail(const std::string& message) const {
        throw error(errc::input, name_ + (line_ > 0 ? ": line " + std::to_string(line_) : ""), message);
    }
    static const trace_column_name* find_column(std::string_view name) noexcept {
        for (const trace_column_name& c : trace_columns)
            if (c.name == name) return &c;
        return nullptr;
    }
    void read_csv(const std::string& line) {
        std::vector<std::string> fields;
        if (!split_csv(line, fields)) fail("unterminated quote");
        if (columns_.empty()) {
            if (line.starts_with("\xEF\xBB\xBF")) fields[0].erase(0, 3);
            for (const std::string& field : fields) {
                columns_.push_back(find_column(field));
                has_column(columns_.back());
            }
            if (!has_[1] || !has_[2]) {
                fail(std::string("expected a column of ") + (has_[1] ? "output tokens" : "input tokens") +
                     ": input and output, num_prefill_tokens and num_decode_tokens, ContextTokens and GeneratedTokens, "
                     "input_length and output_length");
            }
            return;
        }
        if (fields.size() != columns_.size())
            fail("expected " + std::to_string(columns_.size()) + " fields, found " + std::to_string(fields.size()));
        simulated_request r;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (columns_[i] == nullptr) continue;
            const auto [name, holds, scale] = *columns_[i];
            if (holds == trace_column::blocks) continue;
            if (holds == trace_column::arrival) {
                if (!read_arrival(fields[i], scale, r.arrival_seconds)) expected(name, "a time", fields[i]);
                continue;
            }
            tokens(name, integer_digits(fields[i]), holds == trace_column::input ? r.input_tokens : r.output_tokens);
        }
        out_.requests.push_back(std::move(r));
    }
    void read_json(std::string_view line) {
        const nlohmann::json j = nlohmann::json::parse(line, nullptr, false);
        if (!j.is_object()) fail("expected a JSON object, found " + quote(std::string(line.substr(0, 40))));
        simulated_request r;
        bool is_present[4]{};
        for (const auto& [key, value] : j.items()) {
            const trace_column_name* const column = find_column(key);
            if (column == nullptr) continue;
            is_present[static_cast<std::size_t>(column->holds)] = true;
            has_column(column);
            if (column->holds == trace_column::blocks) {
                if (!value.is_array()) expected(key, "an array of non-negative integers", value.dump());
                for (const nlohmann::json& id : value) {
                    if (!id.is_number_unsigned()) expected(key, "an array of non-negative integers", id.dump());
                    r.prefix_blocks.push_back(id.get<std::uint64_t>());
                }
            } else if (column->holds == trace_column::arrival) {
                if (!value.is_number() && !value.is_string()) expected(key, "a time", value.dump());
                const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
                if (!read_arrival(text, column->scale, r.arrival_seconds)) expected(key, "a time", text);
            } else {
                tokens(key, integer_digits(value.dump()),
                       column->holds == trace_column::input ? r.input_tokens : r.output_tokens);
            }
        }
        if (!is_present[1] || !is_present[2]) fail("expected input and output, or input_length and output_length");
        // The last, incomplete block of a prompt cannot be shared.
        const auto num_full_blocks = static_cast<std::size_t>(r.input_tokens / block_);
        if (r.prefix_blocks.size() > num_full_blocks) r.prefix_blocks.resize(num_full_blocks);
        out_.requests.push_back(std::move(r));
    }
    void has_column(const trace_column_name* column) {
        if (column == nullptr) return;
        has_[static_cast<std::size_t>(column->holds)] = true;
        out_.timed = out_.timed || column->holds == trace_column::arrival;
        out_.named = out_.named || column->holds == trace_column::blocks;
    }
    void tokens(std::string_view name, std::string_view text, std::int64_t& to) const {
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), to);
        if (problem != std::errc{} || end != text.data() + text.size() || to < 0 || to > 2147483647)
            expected(name, "an integer number of tokens", std::string(text));
        if (to == 0) to = 1;  // a trace may contain 0; a request has at least one token
    }
    [[noreturn]] void expected(std::string_view name, const std::string& message, const std::string& found) const {
        fail(printable(name) + ": expected " + message + ", found " + quote(found));
    }

    std::string name_;
    std::int64_t block_;
    std::size_t line_ = 0;
    std::vector<const trace_column_name*> columns_;
    bool has_[4]{};
    request_trace out_;
};

}  // namespace detail

/// Reads a trace whose prefix blocks have `block` tokens.
///
/// Throws: `error` with `errc::io` or `errc::input`, with file and line.
[[nodiscard]] inline request_trace read_request_trace(const std::string& path, std::int64_t block) {
    constexpr std::size_t maximum = std::size_t{1} << 30;
    const std::string text = detail::read_regular_file(path, maximum, printable(path));
    if (text.size() == maximum) throw error(errc::input, printable(path), "exceeds 1 GiB");
    return detail::trace_reader(printable(path), block).read(text);
}

}  // namespace llmcost
