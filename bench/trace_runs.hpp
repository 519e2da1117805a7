// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Runs that took no part in any fit, request by request or in percentiles, and what a simulation says of them.
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

#include <llmcost/cli/serve_table.hpp>
#include <llmcost/kernels/evidence.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/simulation/load.hpp>
#include <llmcost/simulation/request_trace.hpp>
#include <llmcost/simulation/simulate.hpp>

#include "rows.hpp"

namespace trace_runs {

using namespace llmcost;

/// Seconds of a run: means and what one request in a hundred exceeds; negative: not measured.
struct told_times {
    double ttft = -1, ttft_p99 = -1, tpot = -1, tpot_p99 = -1, whole = -1, whole_p99 = -1;
};
inline constexpr double told_times::*each_time[]{&told_times::ttft,     &told_times::ttft_p99, &told_times::tpot,
                                                 &told_times::tpot_p99, &told_times::whole,    &told_times::whole_p99};

/// Columns of a table without quotes, by their names.
class plain_table {
public:
    explicit plain_table(const std::string& path) : in_(path) {
        if (!in_) throw std::runtime_error(path + ": cannot be read");
        std::string line;
        std::getline(in_, line);
        const std::vector<std::string> names = fields_of(line);
        for (std::size_t i = 0; i < names.size(); ++i) at_[names[i]] = i;
    }
    bool next() {
        std::string line;
        if (!std::getline(in_, line) || line.empty()) return false;
        fields_ = fields_of(line);
        return true;
    }
    [[nodiscard]] const std::string& word(const std::string& column) const { return fields_.at(at_.at(column)); }
    [[nodiscard]] double number(const std::string& column) const { return std::stod(word(column)); }

private:
    static std::vector<std::string> fields_of(std::string line) {
        if (line.ends_with('\r')) line.pop_back();
        std::vector<std::string> fields;
        for (std::size_t from = 0; from <= line.size();) {
            const std::size_t to = std::min(line.find(',', from), line.size());
            fields.push_back(line.substr(from, to - from)), from = to + 1;
        }
        return fields;
    }
    std::ifstream in_;
    std::map<std::string, std::size_t> at_;
    std::vector<std::string> fields_;
};

/// A configuration that the program knows.
inline config_document bundled(const std::string& name) {
    for (const bundled_config& c : parts::configurations)
        if (c.name == name) return parse_config(c.json, name);
    throw std::runtime_error("no configuration of " + name);
}

/// A model on devices under an engine, with all that it looks at.
class placed {
public:
    placed(config_document config, const std::string& device, const engine& by, std::int64_t tensor,
           const std::string& calibrations, std::int64_t data = 1, std::int64_t expert = 1)
        : file_(std::move(config)),
          subject_(file_.read_with([](config_view root) { return parts::rows.read(root); })),
          kernels_(device, std::string(by.software), "", calibrations),
          on_(&kernels_.on()),
          server_(subject_,
                  execution_of(by, *on_,
                               file_.read_with([&](config_view root) { return stored_types_of(root, subject_.dims.type); }),
                               shared_over(subject_, tensor, data, expert)),
                  by, *on_, kernels_) {}
    [[nodiscard]] server& on() noexcept { return server_; }

private:
    config_document file_;
    model subject_;
    kernel_library kernels_;
    const device* on_;
    server server_;
};

inline told_times told(const simulation_summary& s) {
    return {s.ttft.mean, s.ttft.p99, s.tpot.mean, s.tpot.p99, s.end_to_end.mean, s.end_to_end.p99};
}

/// Rows of a page: what ran, and per time measured and how far the simulation is off.
class page {
public:
    /// A row, or where it is one of many only its errors.
    void add(const std::string& what, const told_times& measured, const told_times& simulated, bool shown = true) {
        const std::size_t before = text_.size();
        text_ += "| " + what;
        for (std::size_t i = 0; i < std::size(each_time); ++i) {
            const double is = measured.*each_time[i], said = simulated.*each_time[i];
            std::array<char, 64> cell{};
            if (is < 0)
                std::snprintf(cell.data(), cell.size(), " | -");
            else
                std::snprintf(cell.data(), cell.size(), " | %.3g %s, %+.0f %%", is < 0.1 ? 1e3 * is : is,
                              is < 0.1 ? "ms" : "s", 100 * (said / is - 1));
            text_ += cell.data();
            if (is >= 0) off_[i].push_back(std::fabs(said / is - 1));
        }
        text_ += " |\n";
        if (!shown) text_.resize(before);
    }
    /// The medians of all errors so far.
    void add_medians(const std::string& what) {
        text_ += "| median of " + what;
        for (std::vector<double>& values : off_) {
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
    std::array<std::vector<double>, std::size(each_time)> off_{};
};

/// A number behind a key of a flat JSON object.
inline double number_of(const std::string& line, const std::string& key) {
    const std::size_t at = line.find('"' + key + "\":");
    if (at == std::string::npos) throw std::runtime_error("no " + key + " in " + line);
    return std::strtod(line.c_str() + at + key.size() + 3, nullptr);
}
inline told_times times_of(std::vector<double> ttft, std::vector<double> tpot, std::vector<double> whole) {
    const auto both = [](std::vector<double>& v) {
        double sum = 0;
        for (const double x : v) sum += x;
        std::sort(v.begin(), v.end());
        const auto at = static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(v.size()))) - 1;
        return std::pair{sum / static_cast<double>(v.size()), v[at]};
    };
    const auto [a, b] = both(ttft);
    const auto [c, d] = both(tpot);
    const auto [e, f] = both(whole);
    return {a, b, c, d, e, f};
}

/// LLMServingSim's runs of vLLM 0.19.0, request by request (casys-kaist/LLMServingSim @5daddb21, bench/examples): 300
/// requests of ShareGPT at ten a second, at most 2,048 new tokens a step. Its clock of arrivals has an offset of its own, so
/// that the request that was queued soonest behind its arrival counts as queued at once.
inline void add_llmservingsim(page& out, const std::string& folder, const std::string& calibrations, const engine& vllm,
                              const host_times& host) {
    struct example {
        const char *folder, *model, *what, *device;
        std::int64_t tensor, sequences, blocks;  ///< of its meta.json; 0: not told
    };
    for (const example& e :
         {example{"RTX4090__Llama-3.1-8B", "meta-llama/Llama-3.1-8B", "Llama-3.1-8B, RTX 4090, a cache of 2,588 pages",
                  "rtx_4090", 1, 256, 2588},
          example{"RTXPRO6000__Qwen3-32B", "Qwen/Qwen3-32B", "Qwen3-32B, two RTX PRO 6000", "rtx_pro_6000", 2, 128, 0}}) {
        const std::string at = folder + "/measured/llmservingsim/" + e.folder;
        placed p(bundled(e.model), e.device, vllm, e.tensor, calibrations);
        std::vector<simulated_request> requests;
        std::vector<double> ttft, tpot, whole, arrived, queued, first, last;
        std::ifstream in(at + "/requests.jsonl");
        for (std::string line; std::getline(in, line) && !line.empty();) {
            requests.push_back({.input = static_cast<std::int64_t>(number_of(line, "input_toks")),
                                .output = static_cast<std::int64_t>(number_of(line, "output_toks")),
                                .at = number_of(line, "arrival_time")});
            arrived.push_back(requests.back().at), queued.push_back(number_of(line, "queued_ts"));
            first.push_back(number_of(line, "first_token_ts")), last.push_back(number_of(line, "last_token_ts"));
        }
        if (requests.empty()) throw std::runtime_error(at + "/requests.jsonl: no requests");
        double offset = std::numeric_limits<double>::infinity(), begin = offset;
        for (std::size_t i = 0; i < requests.size(); ++i)
            offset = std::min(offset, queued[i] - arrived[i]), begin = std::min(begin, arrived[i]);
        for (std::size_t i = 0; i < requests.size(); ++i) {
            const double sent = arrived[i] + offset;
            ttft.push_back(first[i] - sent), whole.push_back(last[i] - sent);
            if (requests[i].output > 1) tpot.push_back((last[i] - first[i]) / static_cast<double>(requests[i].output - 1));
            requests[i].at -= begin;
        }
        scheduling_policy policy = policy_of(vllm.name, p.on().on());
        policy.tokens_per_step = 2048, policy.sequences = e.sequences;
        batch_prices price(p.on(), policy, host);
        cluster_plan plan{.policy = policy,
                          .pages = e.blocks > 0 ? e.blocks : static_cast<std::int64_t>(p.on().cache_tokens(2048) / 16),
                          .request_seconds = host.request_seconds};
        cluster<batch_prices> all(requests, 0, plan, price);
        out.add(std::string("vLLM 0.19: ") + e.what, times_of(ttft, tpot, whole), told(summary_of(all.run())));
    }
    out.add_medians("these");
}

/// inference-perf's stages of vLLM 0.11.0 with Llama-3.1-8B on one H100 (kubernetes-sigs/inference-perf @7de5ef2e,
/// demos/kubecon-na-2025): 60 s each at a constant rate, at most 128 sequences; beyond what it can answer 440 requests are
/// in flight, 44 workers with ten each. Prompts begin with one of ten texts of 128 tokens.
inline void add_inference_perf(page& out, const std::string& folder, const std::string& calibrations, const engine& vllm,
                               const host_times& host) {
    placed p(bundled("meta-llama/Llama-3.1-8B"), "h100_sxm", vllm, 1, calibrations);
    plain_table rows(folder + "/measured/inference_perf_kubecon2025/stages.csv");
    while (rows.next()) {
        const bool shares = rows.word("variant") != "vllm";
        if (shares && rows.word("variant") != "vllm+chunking_and_prefix_caching") continue;
        const auto input = static_cast<std::int64_t>(std::llround(rows.number("prompt_len_mean"))),
                   output = static_cast<std::int64_t>(std::llround(rows.number("out_len_mean")));
        const double asked = rows.number("requested_rate"), reached = rows.number("achieved_rate");
        const bool saturated = reached < 0.95 * asked;
        simulated_deployment as;
        as.clients = saturated ? 440 : 0;
        simulated_load load{.input = {input, input},
                            .output = {output, output},
                            .requests = static_cast<std::int64_t>(rows.number("completed")),
                            .rate = saturated ? 0 : asked,
                            .burstiness = 1e6,
                            .cached = shares ? 128 / static_cast<double>(input) : 0};
        simulated_server by{&p.on(), policy_of(vllm.name, p.on().on()), host, false, {}};
        by.policy.sequences = 128, by.policy.chunked = shares, by.policy.caches_prefixes = false;
        const told_times measured{.ttft = rows.number("time_to_first_token_mean_s"),
                                  .ttft_p99 = rows.number("time_to_first_token_p99_s"),
                                  .whole = rows.number("request_latency_mean_s"),
                                  .whole_p99 = rows.number("request_latency_p99_s")};
        std::array<char, 96> what{};
        std::snprintf(what.data(), what.size(), "vLLM 0.11%s: Llama-3.1-8B, H100, %.0f a second%s",
                      shares ? ", prefixes shared" : "", asked, saturated ? " (440 in flight)" : "");
        out.add(what.data(), measured, told(summary_of(simulate(by, requests_of(load), as))));
    }
    out.add_medians("these");
}

/// dstack's runs of SGLang that computes prompts on workers of their own (dstackai/benchmarks @06c957ab,
/// comparison/pd_ratio): gpt-oss-120b on H200, two devices a worker, clients that send 500 prompts. Answers end by
/// themselves, at lengths that are not told: each is taken as long as their mean.
inline void add_pd_ratio(page& out, const std::string& folder, const std::string& configs, const std::string& calibrations,
                         const engine& sglang, const host_times& host) {
    placed p(read_regular_file(configs + "/openai__gpt-oss-120b.json"), "h200_sxm", sglang, 2, calibrations);
    plain_table rows(folder + "/measured/dstack_pd_ratio_h200/results.csv");
    while (rows.next()) {
        const double many = rows.number("completed");
        const auto input = static_cast<std::int64_t>(std::llround(rows.number("total_input_tokens") / many)),
                   output = static_cast<std::int64_t>(std::llround(rows.number("total_output_tokens") / many));
        simulated_deployment as;
        as.clients = static_cast<std::int64_t>(rows.number("conc"));
        as.replicas = static_cast<std::int64_t>(rows.number("prefill"));
        as.writing_replicas = static_cast<std::int64_t>(rows.number("decode"));
        as.network = p.on().on().link_bandwidth, as.network_latency = 50e-6;  // within one node
        const simulated_load load{
            .input = {input, input}, .output = {output, output}, .requests = static_cast<std::int64_t>(many)};
        simulated_server by{&p.on(), policy_of(sglang.name, p.on().on()), host, true, {}};
        by.policy.caches_prefixes = false;
        const told_times measured{1e-3 * rows.number("mean_ttft_ms"), 1e-3 * rows.number("p99_ttft_ms"),
                                  1e-3 * rows.number("mean_tpot_ms"), 1e-3 * rows.number("p99_tpot_ms")};
        std::array<char, 128> what{};
        std::snprintf(what.data(), what.size(), "SGLang, %s + %s workers: gpt-oss-120b, %s clients, %ld in, %ld out",
                      rows.word("prefill").c_str(), rows.word("decode").c_str(), rows.word("conc").c_str(),
                      static_cast<long>(input), static_cast<long>(output));
        out.add(what.data(), measured, told(summary_of(simulate(by, requests_of(load), as))));
    }
    out.add_medians("these");
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
inline void add_token_position(page& out, const std::string& folder, const std::string& calibrations, const engine& vllm,
                               const host_times& host) {
    std::map<bool, std::unique_ptr<placed>> servers;  // by whether each device attends to requests of its own
    plain_table rows(folder + "/measured/inferencex_token_position/results.csv");
    std::size_t seen = 0;
    while (rows.next()) {
        const std::string& file = rows.word("file");
        if (!file.starts_with("minimax-m2.5/")) continue;
        const bool apart = file.find("_dep8_") != std::string::npos;
        std::unique_ptr<placed>& p = servers[apart];
        if (!p)
            p = std::make_unique<placed>(parse_config(minimax_m2, "MiniMax-M2.5"), "h200_sxm", vllm, apart ? 1 : 8,
                                         calibrations, apart ? 8 : 1, 8);
        const double many = rows.number("completed");
        const auto input = static_cast<std::int64_t>(std::llround(rows.number("total_input_tokens") / many)),
                   output = static_cast<std::int64_t>(std::llround(rows.number("total_output_tokens") / many));
        simulated_deployment as;
        as.clients = static_cast<std::int64_t>(rows.number("max_concurrency"));
        const simulated_load load{
            .input = {input, input}, .output = {output, output}, .requests = static_cast<std::int64_t>(many)};
        simulated_server by{&p->on(), policy_of(vllm.name, p->on().on()), host, true, {}};
        by.policy.caches_prefixes = false;
        const simulation_summary s = summary_of(simulate(by, requests_of(load), as));
        const told_times measured{rows.number("median_ttft"), rows.number("p99_ttft"),    rows.number("median_tpot"),
                                  rows.number("p99_tpot"),    rows.number("median_e2el"), rows.number("p99_e2el")};
        std::array<char, 128> what{};
        std::snprintf(what.data(), what.size(), "vLLM, medians: MiniMax-M2.5, eight H200%s, %ld clients, %ld in, %ld out",
                      apart ? " apart" : "", static_cast<long>(as.clients), static_cast<long>(input),
                      static_cast<long>(output));
        out.add(what.data(), measured, {s.ttft.p50, s.ttft.p99, s.tpot.p50, s.tpot.p99, s.end_to_end.p50, s.end_to_end.p99},
                seen++ % 6 == 0);
    }
    out.add_medians(std::to_string(seen) + " such, every sixth of which is shown");
}

}  // namespace trace_runs
