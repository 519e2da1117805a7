// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Measured serving runs: what they say of themselves, what a closed form and a simulation predict of them.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/cli/serve_table.hpp>
#include <llmcost/kernels/evidence.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/simulation/batch_prices.hpp>
#include <llmcost/simulation/cluster.hpp>
#include <llmcost/simulation/random_stream.hpp>

namespace serving_runs {

using namespace llmcost;

/// A run with what its prediction is made of; seconds.
struct run {
    std::string model, system;
    const engine* by = nullptr;
    serving_load load{};
    load_kernels kernels{};
    double tpot = 0, ttft = 0;  ///< measured
    serving_evidence stands_on = serving_evidence::datasheet;
    bool fitted = false;
    server* on = nullptr;
    scheduling_policy policy{};
    cluster_plan plan{};
    std::vector<simulated_request> requests{};
};

/// The number behind a mark in a run's id; 0 where there is none.
inline std::int64_t number_behind(const std::string& id, const std::string& mark) {
    std::int64_t n = 0;
    if (const std::size_t at = id.find(mark); at != std::string::npos)
        std::from_chars(id.data() + at + mark.size(), id.data() + id.size(), n);
    return n;
}
/// Whether an id is of InferenceX: it begins with a day, or with `dsr1`.
inline bool is_of_inferencex(const std::string& id) { return id.starts_with("20") || id.starts_with("dsr1"); }

/// The rows as their ids mean them; counts those that are read otherwise than their columns say.
///
/// InferenceX's runs on n devices whose experts are whole on each (`…_tp8_ep8_…`) have the devices multiplied by the groups
/// of experts: 64 for eight, each expert in eight parts. One such run stands there twice, once with the columns that it had
/// (2026_03_25_gpt_oss_120b_b200_sxm_…_c256_tp2_0_ep2_0_1009 and 2026_04_06_…_c256_tp2_ep2_1741: the same times to the last
/// digit). Where an id has as many times the requests of its row as devices (`…_c192_tp4_…` of 48), each device attends to
/// requests of its own.
inline std::string as_ids_mean(std::istream& in, std::size_t& corrected) {
    std::map<std::string, std::size_t> at;
    std::string out, line;
    while (std::getline(in, line)) {
        std::vector<std::string> fields;
        for (std::size_t from = 0; from <= line.size();) {
            const std::size_t to = std::min(line.find(',', from), line.size());
            fields.push_back(line.substr(from, to - from)), from = to + 1;
        }
        if (at.empty()) {
            for (std::size_t i = 0; i < fields.size(); ++i) at[fields[i]] = i;
        } else {
            const auto number = [&](const char* column) {
                const std::string& text = fields.at(at.at(column));
                return text.empty() ? 1 : std::stoll(text);
            };
            const auto put = [&](const char* column, std::int64_t n) { fields.at(at.at(column)) = std::to_string(n); };
            const std::string id = at.contains("id") ? fields.at(at.at("id")) : std::string{};
            const std::int64_t tp = number("tp_size"), dp = number("attention_dp_size"), ep = number("moe_ep_size"),
                               requests = number("batch_size") * dp, devices = number_behind(id, "_tp");
            if (is_of_inferencex(id) && ep > 1 && number("moe_tp_size") == ep && tp * dp == ep * ep) {
                put("moe_tp_size", 1), ++corrected;
                if (dp > 1)
                    put("attention_dp_size", ep), put("batch_size", requests / ep);
                else
                    put("tp_size", ep);
            } else if (dp == 1 && devices > 1 && devices == tp && number_behind(id, "_c") == requests * devices) {
                put("attention_dp_size", devices), put("tp_size", 1), ++corrected;
            }
        }
        for (std::size_t i = 0; i < fields.size(); ++i) out += (i == 0 ? "" : ",") + fields[i];
        out += '\n';
    }
    return out;
}

/// InferenceX draws lengths evenly between four fifths of what is asked for and all of it (its client's
/// `--random-range-ratio 0.8`); runs of others have the very lengths.
inline bool draws_lengths(const cli::serve_table& table) { return is_of_inferencex(table.word("id")); }
/// InferenceX serves Llama on TensorRT-LLM, 1024 tokens in and out on fewer than eight devices, with
/// `batch_wait_timeout_iters: 20` (benchmarks/70b_fp8_h200_trt_slurm.sh, 70b_fp8_b200_trt_slurm.sh).
inline bool is_held_back(const cli::serve_table& table, const cli::serving_run& r) {
    const std::string id = table.word("id");
    const bool llama = id.find("_llama_3_1_70b_") != std::string::npos && id.find("_trtllm_") != std::string::npos;
    return llama && table.word("isl") == "1024" && table.word("osl") == "1024" && r.devices < 8;
}

/// Ten requests of each client, as InferenceX sends them.
inline std::vector<simulated_request> requests_of(const serving_load& load, bool draws) {
    std::vector<simulated_request> all;
    random_stream random(1);
    const auto drawn = [&](std::int64_t n) { return draws ? random.integer(std::max<std::int64_t>(1, n * 8 / 10), n) : n; };
    for (std::int64_t i = 0; i < 10 * static_cast<std::int64_t>(load.concurrency); ++i) {
        const std::int64_t input = drawn(load.input);
        all.push_back({.input = input, .output = drawn(load.output)});
    }
    return all;
}

/// How the engine of a run was told to schedule: prefixes are not shared; clients ask for all tokens (`ignore_eos`), all of
/// whose ends SGLang then knows (managers/schedule_policy.py, add_one_req_ignore_eos); InferenceX's recipes for TensorRT-LLM
/// capture every size up to the concurrency and let a step have all prompts of a kind (dsr1_fp8_h200_trt.sh:
/// `enable_padding`, `max_batch_size: CONC`, `max_num_tokens` of 8192 or more).
inline scheduling_policy policy_of_run(const cli::serving_run& r) {
    scheduling_policy p = policy_of(r.by->name, *r.where);
    const auto clients = static_cast<std::int64_t>(r.load.concurrency);
    p.caches_prefixes = false, p.waits = r.load.batch_wait;
    p.output_share = p.least_output_share = 1, p.knows_ends = p.admits == admission_rule::expected_output;
    if (p.chunked) return p;
    p.tokens_per_step = std::max<std::int64_t>(8192, clients + r.load.input + 64);
    p.pads = true, p.largest_graph = std::max<std::int64_t>(p.largest_graph, clients), p.sequences = clients;
    return p;
}

inline run read_run(const cli::serve_table& table, cli::serving_run r) {
    run out;
    out.stands_on = evidence_of(*r.subject, r.on->how(), *r.by, *r.where, *r.kernels, r.devices);
    const bool draws = draws_lengths(table);
    if (is_held_back(table, r)) r.load.batch_wait = 20;
    out.requests = requests_of(r.load, draws);
    out.policy = policy_of_run(r);
    if (draws)
        for (std::int64_t* n : {&r.load.input, &r.load.output}) *n = std::max<std::int64_t>(1, *n * 9 / 10);
    out.model = r.model, out.system = r.where->names[0], out.by = r.by, out.on = r.on;
    out.load = r.load, out.kernels = r.on->kernels(r.load);
    out.tpot = 1e-3 * std::stod(table.word("silicon_tpot_ms")), out.ttft = 1e-3 * std::stod(table.word("silicon_ttft_ms"));
    out.fitted = has_fitted_runs(*r.where, r.devices);
    const double tokens = r.on->cache_tokens(r.load.input + r.load.output / 2, r.load.pipeline);
    out.plan = {.policy = out.policy,
                .pages = std::max<std::int64_t>(1, static_cast<std::int64_t>(tokens / static_cast<double>(out.policy.block))),
                .ranks = r.on->groups()};
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

/// What a closed form says with an engine's constants.
inline served_times in_closed_form(const engine& by, const run& r) {
    const load_times t = server::times(by, r.load, r.kernels);
    return {t.ttft, t.tpot};
}
/// What a simulation says with an engine's constants: means over all requests.
inline served_times simulated(const host_times& host, const run& r) {
    batch_prices price(*r.on, r.policy, host);
    cluster_plan plan = r.plan;
    plan.request_seconds = host.request_seconds;
    cluster<batch_prices> engines(r.requests, static_cast<std::int64_t>(r.load.concurrency), plan, price);
    served_times sum;
    const simulation_result all = engines.run();
    for (const request_record& one : all.requests)
        sum.ttft += one.time_to_first_token(), sum.tpot += one.time_per_output_token();
    const auto many = static_cast<double>(all.requests.size());
    return {sum.ttft / many, sum.tpot / many};
}

}  // namespace serving_runs
