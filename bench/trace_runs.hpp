// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Runs that took no part in any fit, request by request or in percentiles, and their simulations.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/cli/commands/serve_table.hpp>
#include <llmcost/kernels/evidence.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/simulation/request_trace.hpp>
#include <llmcost/simulation/simulate.hpp>
#include <llmcost/simulation/synthetic_workload.hpp>

#include "registry.hpp"

namespace trace_runs {

using namespace llmcost;

/// Seconds of a run: means and what one request in a hundred exceeds; negative: not measured.
struct latency_metrics {
    double ttft = -1, ttft_p99 = -1, tpot = -1, tpot_p99 = -1, end_to_end = -1, end_to_end_p99 = -1;
};
inline constexpr double latency_metrics::*each_time[]{&latency_metrics::ttft,       &latency_metrics::ttft_p99,
                                                      &latency_metrics::tpot,       &latency_metrics::tpot_p99,
                                                      &latency_metrics::end_to_end, &latency_metrics::end_to_end_p99};

/// Columns of a table without quotes, by their names.
class plain_table {
public:
    explicit plain_table(const std::string& path) : in_(path) {
        if (!in_) throw std::runtime_error(path + ": cannot be read");
        std::string line;
        std::getline(in_, line);
        const std::vector<std::string> names = fields_of(line);
        for (std::size_t i = 0; i < names.size(); ++i) columns_[names[i]] = i;
    }
    bool next() {
        std::string line;
        if (!std::getline(in_, line) || line.empty()) return false;
        fields_ = fields_of(line);
        return true;
    }
    [[nodiscard]] const std::string& text(const std::string& column) const { return fields_.at(columns_.at(column)); }
    [[nodiscard]] double number(const std::string& column) const { return std::stod(text(column)); }

private:
    static std::vector<std::string> fields_of(std::string line) {
        if (line.ends_with('\r')) line.pop_back();
        std::vector<std::string> fields;
        for (std::size_t begin = 0; begin <= line.size();) {
            const std::size_t to = std::min(line.find(',', begin), line.size());
            fields.push_back(line.substr(begin, to - begin));
            begin = to + 1;
        }
        return fields;
    }
    std::ifstream in_;
    std::map<std::string, std::size_t> columns_;
    std::vector<std::string> fields_;
};

/// A bundled configuration.
inline config_document bundled(const std::string& name) {
    for (const bundled_config& c : parts::configurations)
        if (c.name == name) return parse_config(c.json, name);
    throw std::runtime_error("no configuration of " + name);
}

/// A model on devices under an engine, with all that it looks at.
class placed {
public:
    placed(config_document config, const std::string& device, const engine& serving_engine, std::int64_t tensor,
           const std::string& calibrations, std::int64_t data = 1, std::int64_t expert = 1)
        : file_(std::move(config)),
          subject_(file_.read_with([](config_view root) { return parts::registry.read(root); })),
          kernels_(device, std::string(serving_engine.kernel_software), "", calibrations),
          device_(&kernels_.target_device()),
          server_(subject_,
                  execution_of(serving_engine, *device_, file_.read_with([&](config_view root) {
                      return checkpoint_types_of(root, subject_.config.dtype_of_weights);
                  }),
                               make_parallel_config(subject_, tensor, data, expert)),
                  serving_engine, *device_, kernels_) {}
    [[nodiscard]] server& model_server() noexcept { return server_; }

private:
    config_document file_;
    model subject_;
    kernel_library kernels_;
    const device* device_;
    server server_;
};

inline latency_metrics to_latency_metrics(const simulation_summary& s) {
    return {s.ttft.mean, s.ttft.p99, s.tpot.mean, s.tpot.p99, s.end_to_end.mean, s.end_to_end.p99};
}

/// Rows of a page: what ran, and per time measured and how far the simulation is off.
class page {
public:
    /// A row, or where it is one of many only its errors.
    void add(const std::string& label, const latency_metrics& measured, const latency_metrics& simulated,
             bool is_printed = true) {
        const std::size_t previous_size = text_.size();
        text_ += "| " + label;
        for (std::size_t i = 0; i < std::size(each_time); ++i) {
            const double is = measured.*each_time[i], predicted = simulated.*each_time[i];
            std::array<char, 64> cell{};
            if (is < 0)
                std::snprintf(cell.data(), cell.size(), " | -");
            else
                std::snprintf(cell.data(), cell.size(), " | %.3g %s, %+.0f %%", is < 0.1 ? 1e3 * is : is,
                              is < 0.1 ? "ms" : "s", 100 * (predicted / is - 1));
            text_ += cell.data();
            if (is >= 0) relative_errors_[i].push_back(std::fabs(predicted / is - 1));
        }
        text_ += " |\n";
        if (!is_printed) text_.resize(previous_size);
    }
    /// The medians of all errors so far.
    void add_medians(const std::string& label) {
        text_ += "| median of " + label;
        for (std::vector<double>& values : relative_errors_) {
            std::array<char, 32> cell{};
            std::sort(values.begin(), values.end());
            if (values.empty())
                std::snprintf(cell.data(), cell.size(), " | -");
            else
                std::snprintf(cell.data(), cell.size(), " | %.0f %%", 100 * values[values.size() / 2]);
            text_ += cell.data();
            values.clear();
        }
        text_ += " |\n";
    }
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    std::string text_;
    std::array<std::vector<double>, std::size(each_time)> relative_errors_{};
};

/// The number of a key of a flat JSON object.
inline double number_of(const std::string& line, const std::string& key) {
    const std::size_t position = line.find('"' + key + "\":");
    if (position == std::string::npos) throw std::runtime_error("no " + key + " in " + line);
    return std::strtod(line.c_str() + position + key.size() + 3, nullptr);
}
inline latency_metrics times_of(std::vector<double> ttft, std::vector<double> tpot, std::vector<double> end_to_end) {
    const auto mean_and_p99 = [](std::vector<double>& v) {
        double sum = 0;
        for (const double x : v) sum += x;
        std::sort(v.begin(), v.end());
        const auto percentile_index = static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(v.size()))) - 1;
        return std::pair{sum / static_cast<double>(v.size()), v[percentile_index]};
    };
    const auto [a, b] = mean_and_p99(ttft);
    const auto [c, d] = mean_and_p99(tpot);
    const auto [e, f] = mean_and_p99(end_to_end);
    return {a, b, c, d, e, f};
}

/// LLMServingSim's runs of vLLM 0.19.0, request by request (casys-kaist/LLMServingSim @5daddb21, bench/examples): 300
/// requests of ShareGPT at ten a second, at most 2,048 new tokens a step. Its clock of arrivals has an offset of its
/// own, so that the request with the shortest delay from arrival to queue counts as queued at once.
inline void add_llmservingsim(page& out, const std::string& folder, const std::string& calibrations, const engine& vllm,
                              const host_times& host) {
    struct example {
        const char *folder, *model, *label, *device;
        std::int64_t tensor, sequences, blocks;  ///< of its meta.json; 0: not given
    };
    for (const example& e : {example{"RTX4090__Llama-3.1-8B", "meta-llama/Llama-3.1-8B",
                                     "Llama-3.1-8B, RTX 4090, KV cache of 2,588 pages", "rtx_4090", 1, 256, 2588},
                             example{"RTXPRO6000__Qwen3-32B", "Qwen/Qwen3-32B", "Qwen3-32B, two RTX PRO 6000",
                                     "rtx_pro_6000", 2, 128, 0}}) {
        const std::string path = folder + "/measured/llmservingsim/" + e.folder;
        placed p(bundled(e.model), e.device, vllm, e.tensor, calibrations);
        std::vector<simulated_request> requests;
        std::vector<double> ttft, tpot, end_to_end, arrived, queued, first, last;
        std::ifstream in(path + "/requests.jsonl");
        for (std::string line; std::getline(in, line) && !line.empty();) {
            requests.push_back({.input_tokens = static_cast<std::int64_t>(number_of(line, "input_toks")),
                                .output_tokens = static_cast<std::int64_t>(number_of(line, "output_toks")),
                                .arrival_seconds = number_of(line, "arrival_time")});
            arrived.push_back(requests.back().arrival_seconds);
            queued.push_back(number_of(line, "queued_ts"));
            first.push_back(number_of(line, "first_token_ts"));
            last.push_back(number_of(line, "last_token_ts"));
        }
        if (requests.empty()) throw std::runtime_error(path + "/requests.jsonl: no requests");
        double offset = std::numeric_limits<double>::infinity(), begin = offset;
        for (std::size_t i = 0; i < requests.size(); ++i) {
            offset = std::min(offset, queued[i] - arrived[i]);
            begin = std::min(begin, arrived[i]);
        }
        for (std::size_t i = 0; i < requests.size(); ++i) {
            const double sent = arrived[i] + offset;
            ttft.push_back(first[i] - sent);
            end_to_end.push_back(last[i] - sent);
            if (requests[i].output_tokens > 1)
                tpot.push_back((last[i] - first[i]) / static_cast<double>(requests[i].output_tokens - 1));
            requests[i].arrival_seconds -= begin;
        }
        scheduling_policy policy = default_policy(vllm.name, p.model_server().target_device());
        policy.max_num_batched_tokens = 2048;
        policy.max_num_seqs = e.sequences;
        step_cost_model price(p.model_server(), policy, host);
        cluster_config plan{.policy = policy, .host_seconds_per_request = host.request_seconds};
        set_kv_cache(plan, kv_cache_of({.server = &p.model_server(), .policy = policy}, 2048),
                     simulation_config{}.prefix_block_tokens);
        if (e.blocks > 0) plan.num_pages = e.blocks;
        cluster<step_cost_model> all(requests, 0, plan, price);
        out.add(std::string("vLLM 0.19: ") + e.label, times_of(ttft, tpot, end_to_end),
                to_latency_metrics(summarize(all.run())));
    }
    out.add_medians("these runs");
}

/// inference-perf's stages of vLLM 0.11.0 with Llama-3.1-8B on one H100 (kubernetes-sigs/inference-perf @7de5ef2e,
/// demos/kubecon-na-2025): 60 s each at a constant rate, at most 128 sequences. Beyond the capacity of the server 440
/// requests are in flight, 44 workers with ten each. Prompts begin with one of ten texts of 128 tokens.
inline void add_inference_perf(page& out, const std::string& folder, const std::string& calibrations,
                               const engine& vllm, const host_times& host) {
    placed p(bundled("meta-llama/Llama-3.1-8B"), "h100_sxm", vllm, 1, calibrations);
    plain_table rows(folder + "/measured/inference_perf_kubecon2025/stages.csv");
    while (rows.next()) {
        const bool shares = rows.text("variant") != "vllm";
        if (shares && rows.text("variant") != "vllm+chunking_and_prefix_caching") continue;
        const auto input = static_cast<std::int64_t>(std::llround(rows.number("prompt_len_mean"))),
                   output = static_cast<std::int64_t>(std::llround(rows.number("out_len_mean")));
        const double requested_rate = rows.number("requested_rate"), reached = rows.number("achieved_rate");
        const bool saturated = reached < 0.95 * requested_rate;
        simulation_config deployment;
        deployment.num_clients = saturated ? 440 : 0;
        synthetic_workload load{.input = {input, input},
                                .output = {output, output},
                                .num_requests = static_cast<std::int64_t>(rows.number("completed")),
                                .request_rate = saturated ? 0 : requested_rate,
                                .burstiness = 1e6,
                                .prefix_hit_rate = shares ? 128 / static_cast<double>(input) : 0};
        simulated_engine simulation_engine{
            &p.model_server(), default_policy(vllm.name, p.model_server().target_device()), host, false, {}};
        simulation_engine.policy.max_num_seqs = 128;
        simulation_engine.policy.has_chunked_prefill = shares;
        simulation_engine.policy.has_prefix_cache = false;
        const latency_metrics measured{.ttft = rows.number("time_to_first_token_mean_s"),
                                       .ttft_p99 = rows.number("time_to_first_token_p99_s"),
                                       .end_to_end = rows.number("request_latency_mean_s"),
                                       .end_to_end_p99 = rows.number("request_latency_p99_s")};
        std::array<char, 128> label{};
        std::snprintf(label.data(), label.size(), "vLLM 0.11%s: Llama-3.1-8B, H100, request rate %.0f/s%s",
                      shares ? ", shared prefixes" : "", requested_rate, saturated ? " (440 in flight)" : "");
        out.add(label.data(), measured,
                to_latency_metrics(summarize(simulate(simulation_engine, generate_requests(load), deployment))));
    }
    out.add_medians("these runs");
}

/// dstack's runs of SGLang with disaggregated prefill (dstackai/benchmarks @06c957ab, comparison/pd_ratio):
/// gpt-oss-120b on H200, two devices a worker, clients that send 500 prompts. Outputs end by themselves, at lengths
/// that are not given: each is taken as long as their mean.
inline void add_pd_ratio(page& out, const std::string& folder, const std::string& configs,
                         const std::string& calibrations, const engine& sglang, const host_times& host) {
    placed p(read_regular_file(configs + "/openai__gpt-oss-120b.json"), "h200_sxm", sglang, 2, calibrations);
    plain_table rows(folder + "/measured/dstack_pd_ratio_h200/results.csv");
    while (rows.next()) {
        const double num_requests = rows.number("completed");
        const auto input = static_cast<std::int64_t>(std::llround(rows.number("total_input_tokens") / num_requests)),
                   output = static_cast<std::int64_t>(std::llround(rows.number("total_output_tokens") / num_requests));
        simulation_config deployment;
        deployment.num_clients = static_cast<std::int64_t>(rows.number("conc"));
        deployment.num_replicas = static_cast<std::int64_t>(rows.number("prefill"));
        deployment.num_decode_workers = static_cast<std::int64_t>(rows.number("decode"));
        deployment.network_gigabytes_per_second = p.model_server().target_device().link_bandwidth;
        deployment.network_latency_seconds = 50e-6;  // within one node
        const synthetic_workload load{.input = {input, input},
                                      .output = {output, output},
                                      .num_requests = static_cast<std::int64_t>(num_requests)};
        simulated_engine simulation_engine{
            &p.model_server(), default_policy(sglang.name, p.model_server().target_device()), host, true, {}};
        simulation_engine.policy.has_prefix_cache = false;
        const latency_metrics measured{1e-3 * rows.number("mean_ttft_ms"), 1e-3 * rows.number("p99_ttft_ms"),
                                       1e-3 * rows.number("mean_tpot_ms"), 1e-3 * rows.number("p99_tpot_ms")};
        std::array<char, 192> label{};
        std::snprintf(label.data(), label.size(),
                      "SGLang, %s + %s workers: gpt-oss-120b, %s clients, %ld input, %ld output tokens",
                      rows.text("prefill").c_str(), rows.text("decode").c_str(), rows.text("conc").c_str(),
                      static_cast<long>(input), static_cast<long>(output));
        out.add(label.data(), measured,
                to_latency_metrics(summarize(simulate(simulation_engine, generate_requests(load), deployment))));
    }
    out.add_medians("these runs");
}

/// What the checkpoints of MiniMax-M2, M2.1 and M2.5 have in common (the config.json of MiniMaxAI/MiniMax-M2.1).
inline constexpr const char* minimax_m2 =
    R"({"model_type":"minimax_m2","head_dim":128,"hidden_act":"silu","hidden_size":3072,"intermediate_size":1536,)"
    R"("max_position_embeddings":196608,"num_attention_heads":48,"num_experts_per_tok":8,"num_hidden_layers":62,)"
    R"("num_key_value_heads":8,"num_local_experts":256,"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]},)"
    R"("rms_norm_eps":1e-06,"rope_theta":5000000,"rotary_dim":64,"tie_word_embeddings":false,"vocab_size":200064})";

/// InferenceX's runs of one length each (SemiAnalysisAI/InferenceX @843c6254, experimental/token_position_decode_slo):
/// MiniMax-M2.5 in a nightly vLLM of February 2026 on eight H200, ten prompts of each client, answers of 128 tokens.
/// Medians, not means.
inline void add_token_position(page& out, const std::string& folder, const std::string& calibrations,
                               const engine& vllm, const host_times& host) {
    std::map<bool, std::unique_ptr<placed>> servers;  // by whether each device attends to requests of its own
    plain_table rows(folder + "/measured/inferencex_token_position/results.csv");
    std::size_t num_rows = 0;
    while (rows.next()) {
        const std::string& file = rows.text("file");
        if (!file.starts_with("minimax-m2.5/")) continue;
        const bool uses_data_parallelism = file.find("_dep8_") != std::string::npos;
        std::unique_ptr<placed>& p = servers[uses_data_parallelism];
        if (!p)
            p = std::make_unique<placed>(parse_config(minimax_m2, "MiniMax-M2.5"), "h200_sxm", vllm,
                                         uses_data_parallelism ? 1 : 8, calibrations, uses_data_parallelism ? 8 : 1, 8);
        const double num_requests = rows.number("completed");
        const auto input = static_cast<std::int64_t>(std::llround(rows.number("total_input_tokens") / num_requests)),
                   output = static_cast<std::int64_t>(std::llround(rows.number("total_output_tokens") / num_requests));
        simulation_config deployment;
        deployment.num_clients = static_cast<std::int64_t>(rows.number("max_concurrency"));
        const synthetic_workload load{.input = {input, input},
                                      .output = {output, output},
                                      .num_requests = static_cast<std::int64_t>(num_requests)};
        simulated_engine simulation_engine{
            &p->model_server(), default_policy(vllm.name, p->model_server().target_device()), host, true, {}};
        simulation_engine.policy.has_prefix_cache = false;
        const simulation_summary s = summarize(simulate(simulation_engine, generate_requests(load), deployment));
        const latency_metrics measured{rows.number("median_ttft"), rows.number("p99_ttft"),
                                       rows.number("median_tpot"), rows.number("p99_tpot"),
                                       rows.number("median_e2el"), rows.number("p99_e2el")};
        std::array<char, 192> label{};
        std::snprintf(
            label.data(), label.size(),
            "vLLM, medians instead of means: MiniMax-M2.5, eight H200%s, %ld clients, %ld input, %ld output tokens",
            uses_data_parallelism ? ", data-parallel attention" : "", static_cast<long>(deployment.num_clients),
            static_cast<long>(input), static_cast<long>(output));
        out.add(label.data(), measured,
                {s.ttft.p50, s.ttft.p99, s.tpot.p50, s.tpot.p99, s.end_to_end.p50, s.end_to_end.p99},
                num_rows++ % 6 == 0);
    }
    out.add_medians(std::to_string(num_rows) + " such runs; the table lists every sixth");
}

}  // namespace trace_runs
