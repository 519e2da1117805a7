// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/request_trace.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/files/regular_file.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/text/csv_fields.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::detail {

/// Parses a time: a number, or a date such as `2023-11-16 18:17:03.9799600`. Returns false if it is invalid.
LLMCOST_INLINE bool read_arrival(std::string_view text, double scale, double& seconds) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (problem == std::errc{} && end == text.data() + text.size()) {
        seconds *= scale;
        return std::abs(seconds) <= 1e11;  // dates up to the year 5138
    }
    std::array<int, 5> part{};
    std::size_t position = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
        const auto [number_end, bad] = std::from_chars(text.data() + position, text.data() + text.size(), part[i]);
        position = static_cast<std::size_t>(number_end - text.data());
        if (bad != std::errc{} || position >= text.size()) return false;
        ++position;  // separator
    }
    const auto [number_end, bad] = std::from_chars(text.data() + position, text.data() + text.size(), seconds);
    const std::string_view rest = text.substr(static_cast<std::size_t>(number_end - text.data()));
    if (bad != std::errc{} || (!rest.empty() && rest[0] != 'Z' && rest[0] != '+')) return false;
    // Days since 1970 (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    const std::int64_t year = part[0] - (part[1] <= 2 ? 1 : 0), era = year / 400, of_era = year - era * 400;
    const std::int64_t of_year = (153 * (part[1] + (part[1] > 2 ? -3 : 9)) + 2) / 5 + part[2] - 1;
    const std::int64_t days = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
    seconds += 60.0 * (60 * part[3] + part[4]) + 86400.0 * static_cast<double>(days);
    return true;
}

LLMCOST_INLINE request_trace trace_reader::read(std::string_view text) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
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
    if (out_.timed && untimed_line_ > 0) {
        line_ = untimed_line_;
        fail("expected an arrival time, as in other lines");
    }
    if (out_.requests.empty())
        fail(out_.num_skipped > 0 ? "expected requests with input and output tokens, found none"
                                  : "expected a line for each request, found only a header");
    std::stable_sort(
        out_.requests.begin(), out_.requests.end(),
        [](const simulated_request& a, const simulated_request& b) { return a.arrival_seconds < b.arrival_seconds; });
    const double begin = out_.requests.front().arrival_seconds;
    constexpr double longest = 1e8;  // about three years; beyond it, a double does not resolve a step
    if (out_.requests.back().arrival_seconds - begin > longest)
        fail("expected arrivals within 1e8 seconds of each other");
    for (simulated_request& r : out_.requests) r.arrival_seconds -= begin;
    return std::move(out_);
}

LLMCOST_INLINE const trace_column_name* trace_reader::find_column(std::string_view name) noexcept {
    for (const trace_column_name& c : trace_columns)
        if (c.name == name) return &c;
    return nullptr;
}

LLMCOST_INLINE void trace_reader::read_csv(const std::string& line) {
    std::vector<std::string> fields;
    if (!split_csv(line, fields)) fail("unterminated quote");
    if (columns_.empty()) {
        for (const std::string& field : fields) {
            const bool is_known = find_column(field) != nullptr;
            if (is_known && std::ranges::count(fields, field) > 1) fail("the column " + quote(field) + " occurs twice");
            columns_.push_back(find_column(field));
            has_column(columns_.back());
        }
        if (!has_column_[1] || !has_column_[2]) {
            fail(std::string("expected a column of ") + (has_column_[1] ? "output tokens" : "input tokens") +
                 ": input and output, num_prefill_tokens and num_decode_tokens, ContextTokens and GeneratedTokens, "
                 "input_length and output_length, prompt_tokens and completion_tokens, isl and osl");
        }
        return;
    }
    if (fields.size() != columns_.size())
        fail("expected " + std::to_string(columns_.size()) + " fields, found " + std::to_string(fields.size()));
    simulated_request r;
    r.input_tokens = r.output_tokens = unset;
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
    add(std::move(r));
}

LLMCOST_INLINE void trace_reader::add(simulated_request request) {
    if (request.input_tokens > 0 && request.output_tokens > 0)
        out_.requests.push_back(std::move(request));
    else
        ++out_.num_skipped;
}

LLMCOST_INLINE void trace_reader::read_json(std::string_view line) {
    std::vector<std::vector<std::string>> keys;
    const nlohmann::json j = nlohmann::json::parse(
        line,
        [&](int, nlohmann::json::parse_event_t event, const nlohmann::json& value) {
            if (event == nlohmann::json::parse_event_t::object_start) keys.emplace_back();
            if (event == nlohmann::json::parse_event_t::object_end) keys.pop_back();
            if (event != nlohmann::json::parse_event_t::key) return true;
            const std::string key = value.get<std::string>();
            if (std::ranges::find(keys.back(), key) != keys.back().end() && find_column(key) != nullptr)
                fail("the key " + quote(key) + " occurs twice");
            keys.back().push_back(key);
            return true;
        },
        false);
    if (!j.is_object()) fail("expected a JSON object, found " + quote(std::string(line.substr(0, 40))));
    simulated_request r;
    r.input_tokens = r.output_tokens = unset;
    bool is_present[4]{};
    const auto read_member = [&](const std::string& key, const nlohmann::json& value) {
        const trace_column_name* const column = find_column(key);
        if (column == nullptr) return;
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
    };
    const auto read_object = [&](const nlohmann::json& object, const auto& self) -> void {
        for (const auto& [key, value] : object.items()) {
            // The OpenAI API nests the token counts: `usage`, or `response.body.usage` in the output of a batch.
            const bool is_nested = key == "usage" || key == "response" || key == "body";
            is_nested&& value.is_object() ? self(value, self) : read_member(key, value);
        }
    };
    read_object(j, read_object);
    if (!is_present[1] || !is_present[2])
        fail("expected input and output, input_length and output_length, or prompt_tokens and completion_tokens");
    if (!is_present[0]) untimed_line_ = line_;
    // The last, incomplete block of a prompt cannot be shared.
    const auto num_full_blocks = static_cast<std::size_t>(r.input_tokens / block_);
    if (r.prefix_blocks.size() > num_full_blocks) r.prefix_blocks.resize(num_full_blocks);
    add(std::move(r));
}

LLMCOST_INLINE void trace_reader::has_column(const trace_column_name* column) {
    if (column == nullptr) return;
    has_column_[static_cast<std::size_t>(column->holds)] = true;
    out_.timed = out_.timed || column->holds == trace_column::arrival;
    out_.named = out_.named || column->holds == trace_column::blocks;
}

LLMCOST_INLINE void trace_reader::tokens(std::string_view name, std::string_view text, std::int64_t& to) const {
    std::int64_t n = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (problem != std::errc{} || end != text.data() + text.size() || n < 0 || n > 2147483647)
        expected(name, "an integer number of tokens", std::string(text));
    if (to != unset && to != n)
        fail(std::string(name) + ": " + std::to_string(n) + " tokens, and " + std::to_string(to) +
             " in another column of the same quantity");
    to = n;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE request_trace read_request_trace(const std::string& path, std::int64_t block) {
    constexpr std::size_t maximum = std::size_t{1} << 30;
    const auto refuse_size = [&](std::uint64_t size) {
        if (size > maximum) throw error(errc::input, printable(path), "exceeds 1 GiB");
    };
    refuse_size(detail::file_bytes(path));
    const std::string text = detail::read_regular_file(path, maximum + 1, printable(path));
    refuse_size(text.size());
    return detail::trace_reader(printable(path), block).read(text);
}

}  // namespace llmcost
