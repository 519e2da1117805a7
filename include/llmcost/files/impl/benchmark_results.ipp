// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/benchmark_results.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/files/regular_file.hpp>
#include <llmcost/json.hpp>
#include <llmcost/text/csv_fields.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::detail {

inline constexpr std::size_t max_result_bytes = std::size_t{256} << 20;  ///< --save-detailed writes every token's time

[[nodiscard]] LLMCOST_INLINE std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// The lines of a text, without their ends.
[[nodiscard]] LLMCOST_INLINE std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(trimmed(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

[[nodiscard]] LLMCOST_INLINE bool parse_number(std::string_view text, double& value) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    return problem == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
}

[[nodiscard]] LLMCOST_INLINE std::string formats_list() {
    std::string names;
    for (const benchmark_format& f : benchmark_formats) names += (names.empty() ? "" : ", ") + std::string(f.name);
    return names;
}

/// A positive number. Throws: `config_error`.
[[nodiscard]] LLMCOST_INLINE double positive_of(config_view object, literal key) {
    const double value = object.real(key);
    if (!(value > 0)) throw_invalid_value(object, key, "a positive number");
    return value;
}
/// A number of seconds, 0 if it is missing.
[[nodiscard]] LLMCOST_INLINE double seconds_of(config_view object, literal key, double unit) {
    const double value = object.real(key, 0);
    if (!(value >= 0)) throw_invalid_value(object, key, "a number that is not negative");
    return unit * value;
}

/// Results of vLLM's and SGLang's clients, which have the same members.
[[nodiscard]] LLMCOST_INLINE benchmark_result parse_client_result(config_view root) {
    benchmark_result r;
    constexpr double ms = 1e-3;
    const double completed = positive_of(root, "completed");
    r.model = std::string(root.string("model_id", ""));
    r.input_tokens = positive_of(root, "total_input_tokens") / completed;
    r.output_tokens = positive_of(root, "total_output_tokens") / completed;
    r.num_requests = completed;
    r.ttft = {seconds_of(root, "mean_ttft_ms", ms), seconds_of(root, "median_ttft_ms", ms),
              seconds_of(root, "p90_ttft_ms", ms), seconds_of(root, "p99_ttft_ms", ms)};
    r.tpot = {seconds_of(root, "mean_tpot_ms", ms), seconds_of(root, "median_tpot_ms", ms),
              seconds_of(root, "p90_tpot_ms", ms), seconds_of(root, "p99_tpot_ms", ms)};
    if (r.tpot.mean == 0) r.tpot.mean = seconds_of(root, "mean_itl_ms", ms);
    r.tokens_per_second = positive_of(root, "output_throughput");
    const double requests_per_second = root.real("request_throughput", r.tokens_per_second / r.output_tokens);
    const double latency = r.ttft.mean + (r.output_tokens - 1) * r.tpot.mean;
    // `inf` as a string (vLLM) or as a number (SGLang): all requests at once, or as many as the clients
    const maybe<config_view> rate = root.find("request_rate");
    const bool is_paced = rate && rate->is_number() && std::isfinite(rate->as_extended_real());
    if (is_paced) r.request_rate = rate->as_real();
    const maybe<config_view> clients = root.find("max_concurrency");
    if (is_paced)
        r.concurrency = requests_per_second * latency;  // Little's law
    else
        r.concurrency = clients && !clients->is_null() ? positive_of(root, "max_concurrency") : completed;
    return r;
}

[[nodiscard]] LLMCOST_INLINE benchmark_result parse_vllm_latency(config_view root) {
    benchmark_result r;  // the file has no lengths
    r.is_static_batch = true;
    r.batch_seconds = positive_of(root, "avg_latency");
    return r;
}

[[nodiscard]] LLMCOST_INLINE benchmark_result parse_vllm_throughput(config_view root) {
    benchmark_result r;  // the file has the sum of input and output tokens only
    r.num_requests = r.concurrency = positive_of(root, "num_requests");
    r.tokens_per_second = positive_of(root, "total_num_tokens") / positive_of(root, "elapsed_time");
    return r;
}

[[nodiscard]] LLMCOST_INLINE benchmark_result parse_sglang_one_batch(config_view root) {
    benchmark_result r;
    r.is_static_batch = true;
    r.concurrency = positive_of(root, "batch_size");
    r.input_tokens = positive_of(root, "input_len");
    r.output_tokens = positive_of(root, "output_len");
    r.ttft.mean = positive_of(root, "prefill_latency");
    r.tpot.mean = seconds_of(root, "median_decode_latency", 1);
    return r;
}

[[nodiscard]] LLMCOST_INLINE benchmark_result parse_inferencex(config_view root) {
    benchmark_result r;
    r.model = std::string(root.string("model", ""));
    r.device = std::string(root.string("hw", ""));
    r.engine = std::string(root.string("framework", ""));
    r.concurrency = positive_of(root, "conc");
    r.input_tokens = root.real("isl", 0);
    r.output_tokens = root.real("osl", 0);
    r.ttft = {positive_of(root, "mean_ttft"), seconds_of(root, "median_ttft", 1), 0, seconds_of(root, "p99_ttft", 1)};
    r.tpot = {positive_of(root, "mean_tpot"), seconds_of(root, "median_tpot", 1), 0, seconds_of(root, "p99_tpot", 1)};
    r.tensor_parallel_size = root.non_negative("tp", 0);
    r.expert_parallel_size = root.non_negative("ep", 0);
    // a word in the environment of the recipe, a boolean in later files
    const maybe<config_view> attention = root.find("dp_attention");
    const bool has_data_parallel_attention =
        attention && ((attention->is_boolean() && attention->as_boolean()) ||
                      (attention->is_string() && attention->as_string() == string_ref("true")));
    if (has_data_parallel_attention) {
        r.data_parallel_size = r.tensor_parallel_size;
        r.tensor_parallel_size = 1;
    }
    const auto devices = static_cast<double>(std::max<std::int64_t>(1, root.non_negative("tp", 1)));
    r.tokens_per_second = devices * root.real("output_tput_per_gpu", 0);
    return r;
}

/// A metric `{"unit": "ms", "avg": …}` in seconds, or as it is.
[[nodiscard]] LLMCOST_INLINE latency_statistics parse_metric(config_view root, literal key) {
    const config_view metric = root.object(key);
    const string_ref unit = metric.string("unit", "");
    const double scale = unit == string_ref("ms")   ? 1e-3
                         : unit == string_ref("us") ? 1e-6
                         : unit == string_ref("ns") ? 1e-9
                                                    : 1;
    return {scale * positive_of(metric, "avg"), seconds_of(metric, "p50", scale), seconds_of(metric, "p90", scale),
            seconds_of(metric, "p99", scale)};
}

/// The first number with a name in nested objects; 0 if there is none.
[[nodiscard]] LLMCOST_INLINE double find_nested_number(config_view object, string_ref key) {
    for (const config_view member : object) {
        if (member.key() == key && member.is_number()) return member.as_extended_real();
        if (!member.is_object()) continue;
        if (const double found = find_nested_number(member, key); found > 0) return found;
    }
    return 0;
}

[[nodiscard]] LLMCOST_INLINE benchmark_result parse_aiperf(config_view root) {
    benchmark_result r;
    r.ttft = parse_metric(root, "time_to_first_token");
    r.tpot = parse_metric(root, "inter_token_latency");
    r.output_tokens = parse_metric(root, "output_sequence_length").mean;
    r.input_tokens = parse_metric(root, "input_sequence_length").mean;
    if (root.contains("request_count")) r.num_requests = parse_metric(root, "request_count").mean;
    if (root.contains("output_token_throughput"))
        r.tokens_per_second = parse_metric(root, "output_token_throughput").mean;
    double rate = 0;
    if (const auto config = root.optional_object("input_config")) {
        r.concurrency = find_nested_number(*config, "concurrency");
        rate = find_nested_number(*config, "request_rate");
    }
    if (rate > 0 && std::isfinite(rate)) {
        r.request_rate = rate;
        const double latency = root.contains("request_latency") ? parse_metric(root, "request_latency").mean
                                                                : r.ttft.mean + (r.output_tokens - 1) * r.tpot.mean;
        const double rate_served =
            root.contains("request_throughput") ? parse_metric(root, "request_throughput").mean : rate;
        r.concurrency = rate_served * latency;  // Little's law
    }
    return r;
}

/// A name of a member with a null character at its end, as `config_view` takes it.
[[nodiscard]] LLMCOST_INLINE bool has_member(config_view root, std::string_view name) {
    return root.contains(string_ref(name.data(), name.size()));
}

/// The format of an object. Throws: `config_error` with the members of the nearest format that are missing.
[[nodiscard]] LLMCOST_INLINE const benchmark_format& format_of(config_view root) {
    const benchmark_format* nearest = nullptr;
    std::string missing;
    double maximum = 0;
    for (const benchmark_format& f : benchmark_formats) {
        double present = 0, all = 0;
        std::string absent;
        for (const std::string_view member : f.members) {
            if (member.empty()) continue;
            all += 1;
            if (has_member(root, member))
                present += 1;
            else
                absent += (absent.empty() ? "" : ", ") + std::string(member);
        }
        if (all > 0 && present == all) return f;
        if (all > 0 && present / all > maximum) {
            maximum = present / all;
            nearest = &f;
            missing = absent;
        }
    }
    std::string message = "unknown result; expected one of " + formats_list();
    if (nearest != nullptr) message += "; nearest: " + std::string(nearest->name) + ", without " + missing;
    throw_unsupported(root, message.c_str());
}

[[nodiscard]] LLMCOST_INLINE benchmark_result parse_result(config_view root) {
    // earlier versions of AIPerf have the metrics in an object of their own
    if (const maybe<config_view> records = root.find("records"); records && records->is_object()) {
        benchmark_result r = parse_aiperf(*records);
        r.format = "AIPerf or GenAI-Perf";
        if (r.concurrency == 0)
            if (const auto config = root.optional_object("input_config"))
                r.concurrency = find_nested_number(*config, "concurrency");
        return r;
    }
    const benchmark_format& format = format_of(root);
    benchmark_result r = format.parse(root);
    r.format = format.name;
    return r;
}

[[nodiscard]] LLMCOST_INLINE config_document parse_json(std::string_view text, const std::string& name) {
    const config_limits limits{.text = max_result_bytes, .nodes = max_result_bytes};
    return parse_config(text, name, limits, document_kind::processor);
}

[[nodiscard]] LLMCOST_INLINE std::vector<benchmark_result> parse_json_results(std::string_view text,
                                                                              const std::string& path) {
    std::vector<benchmark_result> all;
    if (text.front() == '[') {
        const config_document file = parse_json("{\"results\": " + std::string(text) + "}", path);
        file.read_with([&](config_view root) {
            for (const config_view one : root.array("results")) {
                all.push_back(parse_result(one.as_object()));
                all.back().location = path + ": result " + std::to_string(all.size());
            }
            return 0;
        });
        return all;
    }
    const std::vector<std::string_view> lines = lines_of(text);
    std::size_t num_objects = 0;
    for (const std::string_view line : lines) num_objects += line.starts_with('{') && line.ends_with('}') ? 1 : 0;
    if (num_objects < 2) {  // one object, on one line or several
        all.push_back(parse_json(text, path).read_with([](config_view root) { return parse_result(root); }));
        all.back().location = path;
        return all;
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].empty()) continue;
        const std::string location = path + ": line " + std::to_string(i + 1);
        all.push_back(parse_json(lines[i], location).read_with([](config_view root) { return parse_result(root); }));
        all.back().location = location;
    }
    return all;
}

/// Sums of Prometheus series over all labels, and the buckets of histograms over all labels but `le`.
struct prometheus_metrics {
    std::map<std::string, double, std::less<>> values;
    std::map<std::string, std::map<double, double>, std::less<>> buckets;
    std::string model;

    [[nodiscard]] double value(std::string_view name) const {
        const auto found = values.find(name);
        return found == values.end() ? 0 : found->second;
    }
    /// The mean of a histogram or summary; 0 without samples.
    [[nodiscard]] double mean(const std::string& name) const {
        const double samples = value(name + "_count");
        return samples > 0 ? value(name + "_sum") / samples : 0;
    }
    /// A quantile of a histogram, linear inside of a bucket, as `histogram_quantile` of Prometheus; 0 without samples.
    [[nodiscard]] double quantile(const std::string& name, double share) const {
        const auto found = buckets.find(name);
        if (found == buckets.end() || found->second.empty()) return 0;
        const double all = found->second.rbegin()->second;
        double low = 0, below = 0;
        for (const auto& [bound, samples] : found->second) {
            if (samples >= share * all && samples > below)
                return std::isfinite(bound) ? low + (bound - low) * (share * all - below) / (samples - below) : low;
            low = bound;
            below = samples;
        }
        return 0;
    }
    [[nodiscard]] latency_statistics statistics(const std::string& name) const {
        return {mean(name), quantile(name, 0.5), quantile(name, 0.9), quantile(name, 0.99)};
    }
};

/// The value of a label in `name{label="value",…}`; empty if there is none.
[[nodiscard]] LLMCOST_INLINE std::string_view label_of(std::string_view labels, std::string_view name) {
    const std::size_t begin = labels.find(std::string(name) + "=\"");
    if (begin == std::string_view::npos) return {};
    const std::string_view rest = labels.substr(begin + name.size() + 2);
    return rest.substr(0, rest.find('"'));
}

[[nodiscard]] LLMCOST_INLINE prometheus_metrics parse_prometheus(std::string_view text, const std::string& path) {
    prometheus_metrics all;
    const std::vector<std::string_view> lines = lines_of(text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string_view line = lines[i];
        if (line.empty() || line.front() == '#') continue;
        const std::size_t open = line.find('{'), close = line.rfind('}');
        const bool has_labels = open != std::string_view::npos && close != std::string_view::npos;
        const std::size_t name_end = has_labels ? open : std::min(line.find(' '), line.size());
        std::string name(line.substr(0, name_end));
        const std::string_view labels = has_labels ? line.substr(open + 1, close - open - 1) : std::string_view{};
        std::string_view rest = trimmed(line.substr(has_labels ? close + 1 : name_end));
        rest = rest.substr(0, rest.find(' '));  // a time may follow
        if (rest == "NaN" || rest == "+Inf" || rest == "-Inf") continue;
        double value = 0;
        if (!parse_number(rest, value))
            throw error(errc::bad_value, path + ": line " + std::to_string(i + 1),
                        "expected a Prometheus sample (name{labels} value), found " + quote(line.substr(0, 80)));
        if (constexpr std::string_view bucket = "_bucket"; name.ends_with(bucket)) {
            name.resize(name.size() - bucket.size());
            const std::string_view bound = label_of(labels, "le");
            double upper = INFINITY;
            if (bound != "+Inf" && !parse_number(bound, upper)) continue;
            all.buckets[name][upper] += value;
            continue;
        }
        if (all.model.empty()) all.model = std::string(label_of(labels, "model_name"));
        all.values[name] += value;
    }
    return all;
}

/// The averages of a server since its start. vLLM and SGLang have the same names after their prefix.
///
/// Source: vllm @1a91bc2d, vllm/v1/metrics/loggers.py; sglang @fe867456, srt/metrics/collector.py.
[[nodiscard]] LLMCOST_INLINE std::vector<benchmark_result> parse_prometheus_results(std::string_view text,
                                                                                    const std::string& path) {
    const prometheus_metrics m = parse_prometheus(text, path);
    std::string prefix;
    for (const std::string_view candidate : {"vllm:", "sglang:"})
        if (m.value(std::string(candidate) + "time_to_first_token_seconds_count") > 0) prefix = candidate;
    if (prefix.empty())
        throw error(
            errc::bad_value, path,
            "no requests in these metrics; expected vllm:time_to_first_token_seconds_sum and _count, or those of "
            "sglang:, scraped after a load");
    benchmark_result r;
    r.location = path;
    r.format = "Prometheus metrics";
    r.model = m.model;
    r.engine = prefix.substr(0, prefix.size() - 1);
    r.num_requests = m.value(prefix + "time_to_first_token_seconds_count");
    r.ttft = m.statistics(prefix + "time_to_first_token_seconds");
    for (const std::string_view name :
         {"request_time_per_output_token_seconds", "inter_token_latency_seconds", "time_per_output_token_seconds"})
        if (r.tpot.mean == 0) r.tpot = m.statistics(prefix + std::string(name));
    r.input_tokens = m.mean(prefix + "request_prompt_tokens");
    r.output_tokens = m.mean(prefix + "request_generation_tokens");
    if (r.input_tokens == 0) r.input_tokens = m.value(prefix + "prompt_tokens_total") / r.num_requests;
    if (r.output_tokens == 0) r.output_tokens = m.value(prefix + "generation_tokens_total") / r.num_requests;
    r.concurrency = m.value(prefix + "num_requests_running") + m.value(prefix + "num_requests_waiting") +
                    m.value(prefix + "num_running_reqs") + m.value(prefix + "num_queue_reqs");
    return {r};
}

/// The columns of CSV.
struct result_column {
    std::string_view name;
    double benchmark_result::*number = nullptr;
    std::int64_t benchmark_result::*integer = nullptr;
    std::string benchmark_result::*text = nullptr;
    latency_statistics benchmark_result::*statistics = nullptr;
    double latency_statistics::*statistic = nullptr;
    double scale = 1;
};
inline constexpr result_column result_columns[]{
    {.name = "isl", .number = &benchmark_result::input_tokens},
    {.name = "input", .number = &benchmark_result::input_tokens},
    {.name = "osl", .number = &benchmark_result::output_tokens},
    {.name = "output", .number = &benchmark_result::output_tokens},
    {.name = "concurrency", .number = &benchmark_result::concurrency},
    {.name = "batch_size", .number = &benchmark_result::concurrency},
    {.name = "request_rate", .number = &benchmark_result::request_rate},
    {.name = "num_requests", .number = &benchmark_result::num_requests},
    {.name = "output_throughput", .number = &benchmark_result::tokens_per_second},
    {.name = "ttft_ms", .statistics = &benchmark_result::ttft, .statistic = &latency_statistics::mean, .scale = 1e-3},
    {.name = "ttft_p99_ms",
     .statistics = &benchmark_result::ttft,
     .statistic = &latency_statistics::p99,
     .scale = 1e-3},
    {.name = "tpot_ms", .statistics = &benchmark_result::tpot, .statistic = &latency_statistics::mean, .scale = 1e-3},
    {.name = "tpot_p99_ms",
     .statistics = &benchmark_result::tpot,
     .statistic = &latency_statistics::p99,
     .scale = 1e-3},
    {.name = "tp_size", .integer = &benchmark_result::tensor_parallel_size},
    {.name = "pp_size", .integer = &benchmark_result::pipeline_parallel_size},
    {.name = "attention_dp_size", .integer = &benchmark_result::data_parallel_size},
    {.name = "moe_ep_size", .integer = &benchmark_result::expert_parallel_size},
    {.name = "model_path", .text = &benchmark_result::model},
    {.name = "backend", .text = &benchmark_result::engine},
    {.name = "system", .text = &benchmark_result::device},
};

[[nodiscard]] LLMCOST_INLINE const result_column* find_result_column(std::string_view name) {
    if (constexpr std::string_view prefix = "silicon_"; name.starts_with(prefix)) name.remove_prefix(prefix.size());
    for (const result_column& column : result_columns)
        if (column.name == name) return &column;
    return nullptr;
}

[[nodiscard]] LLMCOST_INLINE std::vector<benchmark_result> parse_csv_results(std::string_view text,
                                                                             const std::string& path) {
    const std::vector<std::string_view> lines = lines_of(text);
    std::vector<std::string> fields;
    if (!split_csv(lines.front(), fields)) throw error(errc::bad_value, path + ": line 1", "expected a closing quote");
    std::vector<const result_column*> columns;
    for (const std::string& name : fields) columns.push_back(find_result_column(name));
    const auto has = [&](std::string_view name) {
        return std::any_of(columns.begin(), columns.end(),
                           [&](const result_column* column) { return column != nullptr && column->name == name; });
    };
    const bool is_result = (has("isl") || has("input")) && (has("osl") || has("output")) &&
                           (has("ttft_ms") || has("tpot_ms") || has("output_throughput"));
    if (!is_result) {
        std::string message = "unknown result; expected one of " + formats_list() +
                              "; a CSV has the columns isl, osl, concurrency, ttft_ms and tpot_ms";
        for (const std::string_view needed : {"isl", "osl", "ttft_ms", "tpot_ms"}) {
            if (has(needed)) continue;
            name_suggestions near(needed);
            for (const std::string& name : fields) near.add_candidate(printable(name.substr(0, 40)));
            if (near.is_near()) message += near.suggestion_text("", "; nearest to " + std::string(needed) + ": ");
        }
        throw error(errc::bad_value, path + ": line 1", message);
    }
    std::vector<benchmark_result> all;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        if (lines[i].empty()) continue;
        const std::string location = path + ": line " + std::to_string(i + 1);
        if (!split_csv(lines[i], fields)) throw error(errc::bad_value, location, "expected a closing quote");
        if (fields.size() != columns.size())
            throw error(
                errc::bad_value, location,
                "expected " + std::to_string(columns.size()) + " fields, found " + std::to_string(fields.size()));
        benchmark_result& r = all.emplace_back();
        r.location = location;
        r.format = "CSV";
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const result_column* const column = columns[c];
            if (column == nullptr || fields[c].empty()) continue;
            if (column->text != nullptr) {
                r.*column->text = fields[c];
                continue;
            }
            double value = 0;
            if (!parse_number(fields[c], value) || value < 0)
                throw error(
                    errc::bad_value, location,
                    std::string(column->name) + ": expected a number that is not negative, found " + quote(fields[c]));
            if (column->number != nullptr) r.*column->number = value;
            if (column->integer != nullptr) r.*column->integer = static_cast<std::int64_t>(std::min(value, 1e6));
            if (column->statistics != nullptr) (r.*column->statistics).*column->statistic = column->scale * value;
        }
    }
    return all;
}

/// Whether a text begins with comments or samples of Prometheus.
[[nodiscard]] LLMCOST_INLINE bool is_prometheus_text(std::string_view text) {
    const std::string_view line = trimmed(text.substr(0, text.find('\n')));
    return line.starts_with("# HELP ") || line.starts_with("# TYPE ") || line.starts_with("vllm:") ||
           line.starts_with("sglang:");
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::vector<benchmark_result> read_benchmark_results(const std::string& path) {
    const std::string content = detail::read_regular_file(path, detail::max_result_bytes, printable(path));
    const std::string_view text = detail::trimmed(content);
    const std::string name = printable(path);
    if (text.empty()) throw error(errc::bad_value, name, "is empty; expected one of " + detail::formats_list());
    std::vector<benchmark_result> all =
        text.front() == '{' || text.front() == '[' ? detail::parse_json_results(text, name)
        : detail::is_prometheus_text(text)         ? detail::parse_prometheus_results(text, name)
                                                   : detail::parse_csv_results(text, name);
    if (all.empty()) throw error(errc::bad_value, name, "contains no results");
    return all;
}

}  // namespace llmcost
