// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/llama_cpp_serve.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/llama_cpp_device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/llama_cpp_latency.hpp>
#include <llmcost/cli/commands/llama_cpp_placement.hpp>
#include <llmcost/cli/commands/llama_cpp_request.hpp>
#include <llmcost/cli/commands/serve_request.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/llama_cpp_memory.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/llama_cpp_server.hpp>
#include <llmcost/serving/llama_cpp_step.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// Throws `usage` for options that `--engine llama.cpp` does not support.
LLMCOST_INLINE void reject_server_options(const arguments& args) {
    for (const option_spec& o :
         {option::rate,         option::slo,           option::slo_at,  option::sweep,      option::prefix_hit,
          option::chunk,        option::batch_wait,    option::draft,   option::acceptance, option::proposes,
          option::memory_share, option::price,         option::carbon,  option::adapter,    option::lora,
          option::image,        option::images,        option::video,   option::videos,     option::audio,
          option::linear_dtype, option::experts_dtype, option::routing, option::execution,  option::engine_version,
          option::calibration})
        if (args.has(o)) throw_usage(o.name, "not supported with --engine llama.cpp");
    for (const option_spec& o : {option::tp, option::pp, option::dp, option::ep})
        if (args.number(o, 1) != 1) throw_usage(o.name, "not supported with --engine llama.cpp; use --tensor-split");
    if (!args.has(option::device)) throw_usage(option::device.name, "required");
}

/// The numbers of users: 1, 2, 4, ... up to `last`.
LLMCOST_INLINE std::vector<std::int64_t> user_counts(std::int64_t last) {
    std::vector<std::int64_t> out;
    for (std::int64_t n = 1; n < last; n *= 2) out.push_back(n);
    out.push_back(last);
    return out;
}

LLMCOST_INLINE void write_metrics(json_writer& json, std::string_view key, const llama_cpp_serving_metrics& f) {
    json.key(key).object().member("ttft_seconds", f.ttft_seconds).member("tpot_seconds", f.tpot_seconds);
    json.member("tokens_per_second", f.tokens_per_second);
    json.member("tokens_per_second_per_user", f.tokens_per_second_per_user).end_object();
}

LLMCOST_INLINE command_output run_llama_cpp_serve(const arguments& args, const program& io) {
    reject_server_options(args);
    const llama_cpp_machine machine = parse_llama_cpp_machine(args, args.text(option::device));
    llama_cpp_options options = parse_llama_cpp_options(args, *find_engine_memory_profile(llama_cpp_engine_name));
    if (machine.processors.gpu == nullptr) {
        if (options.gpu_layers > 0) throw_usage(option::gpu_layers.name, "the device is a CPU; expected 0");
        options.gpu_layers = 0;
    }
    llama_cpp_load load;
    load.input_tokens = args.number(option::input, load.input_tokens);
    load.output_tokens = args.number(option::output, load.output_tokens);
    load.num_batch = options.num_batch;
    constexpr std::int64_t most_users = 16;
    const std::int64_t last = args.number(option::concurrency, most_users);
    if (last > options.num_ubatch)
        throw_usage(option::concurrency.name, "expected at most " + std::to_string(options.num_ubatch) +
                                                  " users, the tokens of a physical batch");

    llama_cpp_model m = read_llama_cpp_model(args, io);
    if (options.has_overrides) override_tensors(m, parse_tensor_overrides(args, options));
    const placement_search search(m, machine, {});
    const placed_model placed{options, {}, m.tensors};
    const memory_limit limit = memory_limit_on(machine.main_device());
    const std::int64_t tokens = load.input_tokens + load.output_tokens;
    const auto time_of = [&](const llama_cpp_step_tokens& step) {
        return time_llama_cpp_step(m.read.subject, step, options, m.tensors, machine.processors);
    };
    const llama_cpp_step_time prompt = time_of({0, load.input_tokens});
    std::vector<llama_cpp_serve_row> rows;
    for (const std::int64_t users : user_counts(last)) {
        llama_cpp_serve_row row;
        row.load = load;
        row.load.num_users = users;
        row.load.num_slots = args.number(option::parallel, users);
        row.memory = search.memory_of(placed, {tokens, row.load.num_slots});
        // half of the output is in the cache on average
        const llama_cpp_step_time decode =
            time_of({load.input_tokens + load.output_tokens / 2, 1, row.load.num_running()});
        row.metrics = llama_cpp_serving_of(row.load, prompt.seconds, decode.seconds);
        row.lower = llama_cpp_serving_of(row.load, prompt.lower, decode.lower);
        row.upper = llama_cpp_serving_of(row.load, prompt.upper, decode.upper);
        rows.push_back(row);
    }
    const bool fits_all = !limit.is_set() || limit.fits(largest_device_bytes(rows.back().memory));
    const exit_code status = fits_all ? exit_code::ok : exit_code::does_not_fit;
    const std::string model_name = printable(m.read.found.name_of_model.name);
    const device& main_device = machine.main_device();
    const std::string_view backend = llama_cpp_backend_names[static_cast<std::size_t>(
        machine.processors.gpu == nullptr ? llama_cpp_backend::cpu : machine.processors.backend)];

    if (static_cast<output_format>(args.choice(option::format)) == output_format::json) {
        json_writer json;
        json.object().member("model", model_name).member("device", std::string_view(main_device.names[0]));
        json.member("engine", llama_cpp_engine_name).member("backend", backend).member("weights", m.label);
        json.member("is_approximate", m.is_approximate).member("file_bytes", m.file_bytes());
        json.member("input_tokens", load.input_tokens).member("output_tokens", load.output_tokens);
        json.key("rows").array();
        for (const llama_cpp_serve_row& row : rows) {
            json.object().member("concurrency", row.load.num_users).member("slots", row.load.num_slots);
            json.member("context", tokens * row.load.num_slots);
            write_metrics(json, "metrics", row.metrics);
            write_metrics(json, "fastest", row.lower);
            write_metrics(json, "slowest", row.upper);
            const count needed = largest_device_bytes(row.memory);
            json.member("needed", needed);
            write_memory_fit(json, limit, needed);
            json.end_object();
        }
        json.end_array().end_object();
        return {json.text() + '\n', status};
    }
    table t{{{"users", true},
             {"slots", true},
             {"tokens/s per user", false, true},
             {"interval", false, true},
             {"total tokens/s", false, true},
             {"TTFT", false, true},
             {"TPOT", false, true},
             {"memory", false, true},
             {"fits"}},
            {}};
    for (const llama_cpp_serve_row& row : rows) {
        const count needed = largest_device_bytes(row.memory);
        t.rows.push_back(
            {std::to_string(row.load.num_users), std::to_string(row.load.num_slots),
             formatted("%.1f", row.metrics.tokens_per_second_per_user),
             formatted("%.1f to %.1f", row.upper.tokens_per_second_per_user, row.lower.tokens_per_second_per_user),
             formatted("%.1f", row.metrics.tokens_per_second), duration(row.metrics.ttft_seconds),
             duration(row.metrics.tpot_seconds), in_bytes(needed),
             !limit.is_set()      ? ""
             : limit.fits(needed) ? "yes"
                                  : "no"});
    }
    const auto format = static_cast<output_format>(args.choice(option::format));
    if (format != output_format::text) return {written(t, format), status};
    std::string out =
        model_name + "\nllama.cpp (" + std::string(backend) + ") on " + printable(std::string_view(main_device.title));
    if (limit.is_set()) out += " with " + in_bytes(count(limit.bytes));
    out += " · " + m.label + '\n' + grouped(count(load.input_tokens)) + " input tokens, " +
           grouped(count(load.output_tokens)) + " output tokens; slots of " + grouped(count(tokens)) + " tokens\n\n" +
           written(t, format);
    out +=
        "\nllama-server -np " + std::to_string(rows.back().load.num_slots) + " -c " +
        std::to_string(tokens * rows.back().load.num_slots) +
        "\nAssumptions: each user sends the next request when the previous one completes; no cached prompts; nine of "
        "ten measured speeds of one user are within the intervals\n";
    return {out, status};
}

}  // namespace llmcost::cli::detail
