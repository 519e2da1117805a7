// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Measured serving runs: their columns, and their predictions in closed form and by simulation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/cli/commands/run_layout.hpp>
#include <llmcost/cli/commands/serve_table.hpp>
#include <llmcost/kernels/evidence.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/simulation/cluster.hpp>
#include <llmcost/simulation/random_stream.hpp>
#include <llmcost/simulation/simulate.hpp>
#include <llmcost/simulation/step_cost_model.hpp>

namespace serving_runs {

using namespace llmcost;

/// A run with what its prediction is made of; seconds.
struct run {
    std::string model, system;
    const engine* serving_engine = nullptr;
    serving_load load{};
    load_kernels kernels{};
    double tpot = 0, ttft = 0;  ///< measured
    serving_evidence evidence = serving_evidence::datasheet;
    bool fitted = false;
    server* model_server = nullptr;
    scheduling_policy policy{};
    cluster_config plan{};
    std::vector<simulated_request> requests{};
};

/// The rows as their ids mean them (`layout_of_run`); counts those whose ids contradict their columns.
inline std::string as_ids_mean(std::istream& in, std::size_t& corrected) {
    std::map<std::string, std::size_t> columns;
    std::string out, line;
    while (std::getline(in, line)) {
        std::vector<std::string> fields;
        for (std::size_t begin = 0; begin <= line.size();) {
            const std::size_t to = std::min(line.find(',', begin), line.size());
            fields.push_back(line.substr(begin, to - begin));
            begin = to + 1;
        }
        if (columns.empty()) {
            for (std::size_t i = 0; i < fields.size(); ++i) columns[fields[i]] = i;
        } else {
            const auto number = [&](const char* column) {
                const std::string& text = fields.at(columns.at(column));
                return text.empty() ? 1 : std::stoll(text);
            };
            const auto set_field = [&](const char* column, std::int64_t n) {
                fields.at(columns.at(column)) = std::to_string(n);
            };
            const std::string id = columns.contains("id") ? fields.at(columns.at("id")) : std::string{};
            const cli::run_layout stated{.tensor_parallel_size = number("tp_size"),
                                         .data_parallel_size = number("attention_dp_size"),
                                         .expert_tensor_parallel_size = number("moe_tp_size"),
                                         .expert_parallel_size = number("moe_ep_size"),
                                         .requests_per_rank = number("batch_size")};
            if (const cli::run_layout layout = cli::layout_of_run(id, stated); !(layout == stated)) {
                set_field("tp_size", layout.tensor_parallel_size);
                set_field("attention_dp_size", layout.data_parallel_size);
                set_field("batch_size", layout.requests_per_rank);
                if (layout.expert_tensor_parallel_size != stated.expert_tensor_parallel_size)
                    set_field("moe_tp_size", layout.expert_tensor_parallel_size);
                ++corrected;
            }
        }
        for (std::size_t i = 0; i < fields.size(); ++i) out += (i == 0 ? "" : ",") + fields[i];
        out += '\n';
    }
    return out;
}

/// InferenceX draws lengths evenly between four fifths of the given length and all of it (its client's
/// `--random-range-ratio 0.8`); runs of others have the exact lengths.
inline bool draws_lengths(const cli::serve_table& table) { return cli::is_inferencex_run(table.field("id")); }
/// InferenceX serves Llama on TensorRT-LLM, 1024 tokens in and out on fewer than eight devices, with
/// `batch_wait_timeout_iters: 20` (benchmarks/70b_fp8_h200_trt_slurm.sh, 70b_fp8_b200_trt_slurm.sh).
inline bool has_batch_wait_timeout(const cli::serve_table& table, const cli::benchmark_run& r) {
    const std::string id = table.field("id");
    const bool llama = id.find("_llama_3_1_70b_") != std::string::npos && id.find("_trtllm_") != std::string::npos;
    return llama && table.field("isl") == "1024" && table.field("osl") == "1024" && r.devices < 8;
}

/// Ten requests of each client, as InferenceX sends them.
inline std::vector<simulated_request> requests_of(const serving_load& load, bool draws) {
    std::vector<simulated_request> all;
    random_stream random(1);
    const auto drawn = [&](std::int64_t n) {
        return draws ? random.integer(std::max<std::int64_t>(1, n * 8 / 10), n) : n;
    };
    for (std::int64_t i = 0; i < 10 * static_cast<std::int64_t>(load.concurrency); ++i) {
        const std::int64_t input = drawn(load.input_tokens);
        all.push_back({.input_tokens = input, .output_tokens = drawn(load.output_tokens)});
    }
    return all;
}

/// The scheduler configuration of a run's engine: no prefix caching. Clients generate all tokens (`ignore_eos`), so
/// that SGLang uses the exact output lengths (managers/schedule_policy.py, add_one_req_ignore_eos). InferenceX's
/// recipes for TensorRT-LLM capture every size up to the concurrency and let a step have all prompts of a kind
/// (dsr1_fp8_h200_trt.sh: `enable_padding`, `max_batch_size: CONC`, `max_num_tokens` of 8192 or more).
inline scheduling_policy policy_of_run(const cli::benchmark_run& r) {
    scheduling_policy p = default_policy(r.target_engine->name, *r.target_device);
    const auto clients = static_cast<std::int64_t>(r.load.concurrency);
    p.has_prefix_cache = false;
    p.batch_wait_steps = r.load.batch_wait_steps;
    p.init_new_token_ratio = p.min_new_token_ratio = 1;
    p.has_known_finish_times = p.admission == admission_mode::expected_output;
    if (p.has_chunked_prefill) return p;
    p.max_num_batched_tokens = std::max<std::int64_t>(8192, clients + r.load.input_tokens + 64);
    p.pads_to_cudagraph = true;
    p.max_cudagraph_size = std::max<std::int64_t>(p.max_cudagraph_size, clients);
    p.max_num_seqs = clients;
    return p;
}

/// InferenceX serves DeepSeek-R1 in fp8 with SGLang on four B200 with `--mem-fraction-static 0.95` and
/// `--chunked-prefill-size 8192` (dsr1_fp8_b200.sh, TP 4): the weights do not fit into the default fraction.
inline void set_memory_options(const cli::serve_table& table, const cli::benchmark_run& r) {
    const bool is_four_b200 =
        table.field("id").find("dsr1_b200_sglang_fp8_") != std::string::npos && table.field("tp_size") == "4";
    engine_memory_profile profile = memory_profile_of(*r.target_engine, *r.target_device);
    if (is_four_b200) profile.sglang.mem_fraction_static = 0.95;
    if (is_four_b200) profile.sglang.chunked_prefill_size = profile.max_num_batched_tokens = 8192;
    r.target_server->set_memory_profile(profile);
}

inline run read_run(const cli::serve_table& table, cli::benchmark_run r) {
    set_memory_options(table, r);
    run out;
    out.evidence = find_evidence(*r.subject, r.target_server->execution_config(), *r.target_engine, *r.target_device,
                                 *r.kernels, r.devices);
    const bool draws = draws_lengths(table);
    if (has_batch_wait_timeout(table, r)) r.load.batch_wait_steps = 20;
    out.requests = requests_of(r.load, draws);
    out.policy = policy_of_run(r);
    if (draws)
        for (std::int64_t* n : {&r.load.input_tokens, &r.load.output_tokens})
            *n = std::max<std::int64_t>(1, *n * 9 / 10);
    out.model = r.model;
    out.system = r.target_device->names[0];
    out.serving_engine = r.target_engine;
    out.model_server = r.target_server;
    out.load = r.load;
    out.kernels = r.target_server->kernels(r.load);
    out.tpot = 1e-3 * std::stod(table.field("silicon_tpot_ms"));
    out.ttft = 1e-3 * std::stod(table.field("silicon_ttft_ms"));
    out.fitted = has_measured_runs(*r.target_device, r.devices);
    out.plan = {.policy = out.policy, .data_parallel_size = r.target_server->data_parallel_size()};
    const std::int64_t tokens = r.load.input_tokens + r.load.output_tokens / 2;
    set_kv_cache(out.plan,
                 kv_cache_of({.server = r.target_server, .policy = out.policy}, tokens, r.load.pipeline_parallel_size),
                 simulation_config{}.prefix_block_tokens);
    return out;
}

/// All runs of a table with these rows, which must outlive them.
inline std::vector<run> runs_of(cli::serve_table& table, const std::string& rows) {
    std::istringstream in(rows);
    (void)table.read_header(in);
    std::vector<run> all;
    while (table.next(in)) all.push_back(read_run(table, table.current()));
    return all;
}

/// Seconds to the first token and per token after it.
struct served_times {
    double ttft = 0, tpot = 0;
};

/// Times of a run in closed form with an engine's constants.
inline served_times in_closed_form(const engine& serving_engine, const run& r) {
    const load_times t = server::times(serving_engine, r.load, r.kernels);
    return {t.ttft_seconds, t.tpot_seconds};
}
/// Times of a run by simulation with an engine's constants: means over all requests.
inline served_times simulated(const host_times& host, const run& r) {
    step_cost_model price(*r.model_server, r.policy, host);
    cluster_config plan = r.plan;
    plan.host_seconds_per_request = host.request_seconds;
    cluster<step_cost_model> engines(r.requests, static_cast<std::int64_t>(r.load.concurrency), plan, price);
    served_times sum;
    const simulation_result all = engines.run();
    for (const request_record& one : all.requests) {
        sum.ttft += one.time_to_first_token();
        sum.tpot += one.time_per_output_token();
    }
    const auto num_requests = static_cast<double>(all.requests.size());
    return {sum.ttft / num_requests, sum.tpot / num_requests};
}

}  // namespace serving_runs
