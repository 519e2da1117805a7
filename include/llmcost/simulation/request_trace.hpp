// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <llmcost/simulation/request.hpp>
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
// project-etalon. Then the usage object of the OpenAI API: chat completions with `created`, and responses with
// `created_at`; vLLM, `FinishedRequestStats` (v1/metrics/stats.py) and `SampleRequest` (benchmarks/datasets.py);
// AIConfigurator and AIPerf.
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
    {"created", trace_column::arrival},
    {"created_at", trace_column::arrival},
    {"prompt_tokens", trace_column::input},
    {"completion_tokens", trace_column::output},
    {"input_tokens", trace_column::input},
    {"output_tokens", trace_column::output},
    {"num_prompt_tokens", trace_column::input},
    {"num_generation_tokens", trace_column::output},
    {"prompt_len", trace_column::input},
    {"output_len", trace_column::output},
    {"expected_output_len", trace_column::output},
    {"isl", trace_column::input},
    {"osl", trace_column::output},
};

/// A request trace, in the order of arrival. The first request arrives at 0.
struct request_trace {
    std::vector<simulated_request> requests;
    bool timed = false;            ///< has arrival times
    bool named = false;            ///< has ids of prefix blocks
    std::int64_t num_skipped = 0;  ///< rows without input or output tokens, e.g. failed requests
};

namespace detail {

/// Parses a trace line by line. Errors report the line.
class trace_reader {
public:
    trace_reader(std::string name, std::int64_t block) : name_(std::move(name)), block_(block) {}

    request_trace read(std::string_view text);

private:
    [[noreturn]] void fail(const std::string& message) const {
        throw error(errc::input, name_ + (line_ > 0 ? ": line " + std::to_string(line_) : ""), message);
    }
    static const trace_column_name* find_column(std::string_view name) noexcept;
    void read_csv(const std::string& line);
    void read_json(std::string_view line);
    void has_column(const trace_column_name* column);
    void tokens(std::string_view name, std::string_view text, std::int64_t& to) const;
    void add(simulated_request request);
    [[noreturn]] void expected(std::string_view name, const std::string& message, const std::string& found) const {
        fail(printable(name) + ": expected " + message + ", found " + quote(found));
    }

    static constexpr std::int64_t unset = -1;

    std::string name_;
    std::int64_t block_;
    std::size_t line_ = 0;
    std::size_t untimed_line_ = 0;  ///< a line of JSON without an arrival time; 0: none
    std::vector<const trace_column_name*> columns_;
    bool has_column_[4]{};
    request_trace out_;
};

}  // namespace detail

/// Reads a trace whose prefix blocks have `block` tokens.
///
/// Throws: `error` with `errc::io` or `errc::input`, with file and line.
[[nodiscard]] request_trace read_request_trace(const std::string& path, std::int64_t block);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/simulation/impl/request_trace.ipp>  // IWYU pragma: export
#endif
