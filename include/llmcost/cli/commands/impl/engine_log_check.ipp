// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/engine_log_check.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/llama_cpp_request.hpp>
#include <llmcost/cli/commands/memory.hpp>
#include <llmcost/cli/commands/sglang_request.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/rank_options.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/files/engine_log.hpp>
#include <llmcost/files/regular_file.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/llama_cpp_memory.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE maybe<double> log_comparison::difference_percent() const {
    if (!predicted || measured.value == 0) return {};
    return (*predicted / measured.value - 1) * 100;
}

LLMCOST_INLINE std::vector<std::string> memory_command_line(const engine_log& log, const arguments& args,
                                                            const program& io) {
    std::vector<std::string> line;
    const auto add = [&](std::string_view name, std::string_view value) {
        line.emplace_back(name);
        if (!value.empty()) line.emplace_back(value);
    };
    const auto forward = [&](const option_spec& o) {
        for (const std::string_view value : args.all(o)) add(o.name, o.type == value_type::none ? "" : value);
    };
    bool has_model = false;
    for (const option_spec& o : model_options) forward(o);
    for (const option_spec& o : {option::model, option::config, option::gguf, option::safetensors})
        has_model = has_model || args.has(o);
    for (const option_spec& o : engine_log_overrides) forward(o);
    if (!has_model) {
        // llama.cpp states the name that the file gives itself, which is not the name of a configuration
        if (log.model.empty() || log.engine == "llama.cpp")
            throw_usage("--engine-log", log.model.empty()
                                            ? "the log states no model; --model, --config or --gguf is required"
                                            : "the log states " + quote(log.model) +
                                                  ", which is no name of a configuration; --model, --config or --gguf "
                                                  "is required");
        add("--model", log.model);
    }
    const auto is_given = [&](std::string_view name) {
        return std::any_of(engine_log_overrides.begin(), engine_log_overrides.end(),
                           [&](const option_spec& o) { return o.name == name && args.has(o); });
    };
    if (!is_given("--engine")) add("--engine", log.engine);
    if (!log.version.empty() && log.engine != "llama.cpp" && !is_given("--engine-version"))
        add("--engine-version", log.version);
    const std::vector<std::string_view> quantizations = quantization_names(io);
    for (const log_option& o : log.options) {
        if (is_given(o.name)) continue;
        const bool is_quantization = o.name == "--quantization";
        if (is_quantization && (args.has(option::gguf) || args.has(option::dtype) ||
                                std::find(quantizations.begin(), quantizations.end(), o.value) == quantizations.end()))
            continue;
        if (o.name == "--dtype" && args.has(option::quantization)) continue;
        add(o.name, o.value);
    }
    if (log.num_sequences > 1 && !args.has(option::batch)) add("--batch", std::to_string(log.num_sequences));
    if (log.max_model_len > 0 && !args.has(option::memory_sequence) && !args.has(option::past)) {
        add("--sequence", "1");
        if (const std::int64_t past = log.max_model_len / log.num_sequences - 1; past > 0)
            add("--past", std::to_string(past));
    }
    if (log.free_bytes > 0 && !args.has(option::device) && !args.has(option::memory)) {
        // the log states what the CUDA context leaves; the prediction subtracts it from the device
        const engine_memory_profile* const profile = find_engine_memory_profile(log.engine);
        const double device = log.free_bytes + (profile != nullptr ? static_cast<double>(profile->runtime_bytes) : 0);
        add("--memory", std::to_string(static_cast<std::uint64_t>(device)) + "B");
    }
    return line;
}

/// `53.23 GiB`: bytes with two decimals, as the engines print them.
LLMCOST_INLINE std::string in_gib(double bytes) {
    constexpr double gib = 1024.0 * 1024 * 1024;
    return formatted("%.2f", bytes / gib) + " GiB";
}

/// A value of a figure with its unit.
LLMCOST_INLINE std::string value_text(const engine_log& log, log_quantity quantity, double value) {
    if (is_in_bytes(quantity))
        return log.engine == "llama.cpp" ? formatted("%.2f", value / (1 << 20)) + " MiB" : in_gib(value);
    if (quantity == log_quantity::max_concurrency) return formatted("%.2f", value) + "x";
    return grouped(count(static_cast<std::uint64_t>(value)));
}

/// The tokens of the KV cache of vLLM in a number of bytes, and the requests of the length of the workload.
LLMCOST_INLINE maybe<kv_cache_capacity> capacity_in(const memory_request& request, const parsed_model& read,
                                                    const workload& load, double bytes) {
    const rank_memory ranks = ranks_of(read.subject, read.stored, load, request.profile, request.sharding);
    return ranks.capacity_in(load, 0, count(static_cast<std::uint64_t>(bytes)));
}

/// The terms of "Available KV cache memory": `0.9 of H100 SXM − 15.0 weights − 4.75 activations − …`.
LLMCOST_INLINE std::string cache_terms(const memory_request& request, const memory_response& response) {
    const inference_memory& m = response.memory;
    if (response.pools)
        return formatted("%.3f", response.pool_defaults.mem_fraction_static) + " of the memory - weights " +
               in_bytes(m.weight_bytes + m.table_bytes);
    std::string text = formatted("%.3g", request.profile.gpu_memory_utilization) + " of " + request.limit.label +
                       " - weights " + in_bytes(m.weight_bytes + m.table_bytes) + " - activations " +
                       in_bytes(m.peak_activation_bytes) + " - runtime " + in_bytes(m.runtime_bytes);
    if (m.communication_bytes != count{}) text += " - communication " + in_bytes(m.communication_bytes);
    return text;
}

/// The prediction of a buffer of llama.cpp.
LLMCOST_INLINE maybe<double> predicted_buffer(const llama_cpp_memory& memory, const log_figure& figure) {
    for (const llama_cpp_buffers& device : memory.devices) {
        if (device.device != figure.device) continue;
        switch (figure.quantity) {
            case log_quantity::weights: return static_cast<double>(device.model);
            case log_quantity::kv_cache: return static_cast<double>(device.kv_cache);
            case log_quantity::recurrent_states: return static_cast<double>(device.recurrent_state);
            case log_quantity::compute_buffer: return static_cast<double>(device.compute);
            case log_quantity::output_buffer: return static_cast<double>(device.output);
            default: return {};
        }
    }
    return {};
}

/// Compares all figures of a log.
LLMCOST_INLINE std::vector<log_comparison> compare_log(const engine_log& log, const arguments& memory_args,
                                                       const memory_request& request, const parsed_model& read,
                                                       const workload& load, const memory_response& response) {
    constexpr std::string_view no_device = "requires --device or --memory";
    const inference_memory& m = response.memory;
    std::vector<log_comparison> out;
    const maybe<kv_cache_capacity> computed =
        response.capacity && response.capacity->has_block_table ? response.capacity : maybe<kv_cache_capacity>{};
    maybe<kv_cache_capacity> in_log;  // of the KV cache memory that the log states
    for (const log_figure& f : log.figures)
        if (f.quantity == log_quantity::kv_cache && !computed && !request.profile.has_llama_cpp_buffers &&
            !request.profile.has_token_pools)
            in_log = capacity_in(request, read, load, f.value);
    const maybe<kv_cache_capacity>& capacity = computed ? computed : in_log;
    const std::string of_log = computed || !in_log ? "" : "in the KV cache memory of the log";
    for (const log_figure& f : log.figures) {
        log_comparison c{f, {}, {}};
        if (request.profile.has_llama_cpp_buffers) {
            c.predicted = predicted_buffer(response.llama_cpp, f);
            if (!c.predicted)
                c.note = "no such device in the prediction; see --tensor-split";
            else if (f.quantity == log_quantity::compute_buffer)
                c.note = response.llama_cpp.has_exact_compute
                             ? "graph of llama.cpp b11434; other builds have other graphs"
                             : "estimated: the graph of this model type is not known";
            out.push_back(std::move(c));
            continue;
        }
        switch (f.quantity) {
            case log_quantity::weights:
                c.predicted = static_cast<double>(m.weight_bytes + m.table_bytes);
                c.note = "weights " + in_bytes(m.weight_bytes) +
                         (m.table_bytes == count{} ? "" : " + tables " + in_bytes(m.table_bytes));
                if (read.stored.is_applied) c.note += "; layout of the checkpoint, engines may repack it";
                break;
            case log_quantity::kv_cache:
                if (response.pools)
                    c.predicted = static_cast<double>(response.pools->kv_bytes);
                else if (computed)
                    c.predicted = static_cast<double>(computed->bytes);
                c.note = c.predicted ? cache_terms(request, response) : std::string(no_device);
                if (c.predicted && log.version.empty() && !memory_args.has(option::memory_engine_version))
                    c.note += "; no version in the log, rules of the newest";
                break;
            case log_quantity::kv_cache_tokens:
                if (capacity) c.predicted = static_cast<double>(capacity->num_tokens);
                c.note = c.predicted ? of_log : std::string(no_device);
                break;
            case log_quantity::max_concurrency:
                if (capacity) c.predicted = capacity->max_concurrency;
                c.note = c.predicted ? of_log : std::string(no_device);
                break;
            case log_quantity::recurrent_states:
                if (response.pools) c.predicted = static_cast<double>(response.pools->mamba_bytes);
                if (!c.predicted) c.note = std::string(no_device);
                break;
            case log_quantity::max_running_requests:
                if (response.pools) c.predicted = static_cast<double>(response.pools->max_running_requests);
                if (!c.predicted) c.note = std::string(no_device);
                break;
            default: c.note = "not computed"; break;
        }
        out.push_back(std::move(c));
    }
    return out;
}

/// A command line as text.
LLMCOST_INLINE std::string joined(const std::vector<std::string>& line) {
    std::string text;
    for (const std::string& word : line) text.append(text.empty() ? "" : " ").append(printable(word));
    return text;
}

LLMCOST_INLINE table log_table(const engine_log& log, const std::vector<log_comparison>& comparisons, bool is_exact) {
    table t;
    t.columns = {{"line", true}, {"log"}, {"quantity"}, {"measured"}, {"predicted"}, {"difference"}, {"note"}};
    for (std::size_t i = 3; i < 6; ++i) t.columns[i].is_right_aligned = true;
    for (const log_comparison& c : comparisons) {
        const auto value = [&](double x) {
            return is_exact ? formatted("%.15g", x) : value_text(log, c.measured.quantity, x);
        };
        const maybe<double> difference = c.difference_percent();
        const std::string device = c.measured.device.empty() ? "" : c.measured.device + " ";
        t.rows.push_back({std::to_string(c.measured.line_number), printable(c.measured.line),
                          device + std::string(name_of(c.measured.quantity)), value(c.measured.value),
                          c.predicted ? value(*c.predicted) : "",
                          difference ? formatted(is_exact ? "%.4f" : "%+.2f %%", *difference) : "", c.note});
    }
    return t;
}

LLMCOST_INLINE std::string log_page(const engine_log& log, const std::string& model,
                                    const std::vector<log_comparison>& comparisons,
                                    const std::vector<std::string>& line) {
    std::string out = model + "\n" + std::string(log.engine) +
                      (log.version.empty() ? "" : " " + printable(log.version)) + "\nllmcost memory " + joined(line) +
                      "\n\n";
    table t;
    t.columns = {{"quantity"}, {"measured"}, {"predicted"}, {"difference"}, {"note"}};
    for (std::size_t i = 1; i < 4; ++i) t.columns[i].is_right_aligned = true;
    for (const std::vector<std::string>& row : log_table(log, comparisons, false).rows) {
        out += "line " + row[0] + ": " + row[1].substr(0, 110) + (row[1].size() > 110 ? "...\n" : "\n");
        t.rows.push_back({row[2], row[3], row[4], row[5], row[6]});
    }
    return out + '\n' + plain(t);
}

LLMCOST_INLINE std::string log_json(const engine_log& log, const std::string& model,
                                    const std::vector<log_comparison>& comparisons,
                                    const std::vector<std::string>& line) {
    json_writer json;
    json.object().member("model", model).member("engine", log.engine).key("version");
    log.version.empty() ? json.null() : json.value(log.version);
    json.key("options").array();
    for (const std::string& word : line) json.value(word);
    json.end_array().key("figures").array();
    for (const log_comparison& c : comparisons) {
        json.object().member("line_number", static_cast<std::int64_t>(c.measured.line_number));
        json.member("line", c.measured.line).member("quantity", name_of(c.measured.quantity));
        if (!c.measured.device.empty()) json.member("device", c.measured.device);
        json.member("measured", c.measured.value).key("predicted");
        c.predicted ? json.value(*c.predicted) : json.null();
        json.key("difference_percent");
        const maybe<double> difference = c.difference_percent();
        difference ? json.value(*difference) : json.null();
        json.member("note", c.note).end_object();
    }
    json.end_array().end_object();
    return json.text() + "\n";
}

/// Reads the model of a command line; a name from the log that is not found is reported with the way to replace it.
LLMCOST_INLINE parsed_model read_model_of_log(const engine_log& log, const arguments& memory_args, const program& io) {
    try {
        return io.read(memory_args, io);
    } catch (const error& problem) {
        const bool is_from_log = memory_args.text(option::model) == log.model;
        if (!is_from_log || (problem.code() != errc::not_found && problem.code() != errc::network)) throw;
        throw error(problem.code(), "--engine-log",
                    "the model of the log, " + quote(log.model) + ", was not found; use --model, --config or --gguf");
    }
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_engine_log_check(const arguments& args, const program& io) {
    constexpr std::size_t max_bytes = std::size_t{64} << 20;
    const std::string path(args.text(option::engine_log));
    const engine_log log = read_engine_log(llmcost::detail::read_regular_file(path, max_bytes, printable(path)));
    if (log.figures.empty())
        throw error(errc::bad_value, printable(path) + ":" + std::to_string(log.num_lines),
                    "no line of a start-up log until the end; expected lines such as 'Model loading took 14.99 GiB' "
                    "(vllm), 'Load weight end. ... mem usage=14.99 GB' (sglang) or 'CUDA0 model buffer size = 4403.49 "
                    "MiB' (llama.cpp)");

    const std::vector<std::string> line = detail::memory_command_line(log, args, io);
    const std::vector<std::string_view> memory_line(line.begin(), line.end());
    const arguments memory_args("memory", memory_options, memory_line);
    workload load = detail::memory_workload(memory_args);
    memory_request request = detail::parse_memory_request(memory_args);
    const parsed_model read = detail::read_model_of_log(log, memory_args, io);
    complete_workload(read.subject, memory_args, load);
    if (request.profile.has_token_pools) detail::set_vision_sizes(read.found.document, request.profile.sglang);
    request.sharding = parse_sharding(memory_args, read.subject);
    request.draft_model = detail::read_draft_model(memory_args, io);
    check_workload(read.subject, {.base_workload = load});
    detail::warn_on_weights(read, io);
    const memory_response response = detail::compute(request, read, load);
    const std::vector<detail::log_comparison> comparisons =
        detail::compare_log(log, memory_args, request, read, load, response);
    const std::string& model = read.found.name_of_model.name;
    switch (const auto format = static_cast<output_format>(args.choice(option::format)); format) {
        case output_format::text: return detail::log_page(log, model, comparisons, line);
        case output_format::json: return detail::log_json(log, model, comparisons, line);
        default: return written(detail::log_table(log, comparisons, true), format);
    }
}

}  // namespace llmcost::cli
