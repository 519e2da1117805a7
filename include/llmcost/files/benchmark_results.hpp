// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Results of benchmarks of inference engines, as their tools write them (docs/calibrate-engine.md).
namespace llmcost {

/// A metric of all requests of a run, in seconds; 0: not in the file.
struct latency_statistics {
    double mean = 0, median = 0, p90 = 0, p99 = 0;
};

/// One measured load. 0 or empty: not in the file.
struct benchmark_result {
    std::string location;     ///< file, and line or JSON pointer
    std::string_view format;  ///< name of a `benchmark_format`
    std::string model, engine, device;
    double input_tokens = 0, output_tokens = 0;  ///< mean per request
    double concurrency = 0;                      ///< requests in the system; of a static batch: its size
    double request_rate = 0;                     ///< arrivals per second, if requests arrive independently
    double num_requests = 0;
    latency_statistics ttft{}, tpot{};
    double batch_seconds = 0;      ///< of a static batch
    double tokens_per_second = 0;  ///< output tokens of all requests
    bool is_static_batch = false;  ///< all requests begin together, and no server takes part
    std::int64_t tensor_parallel_size = 0, data_parallel_size = 0, expert_parallel_size = 0, pipeline_parallel_size = 0;
};

class config_view;

namespace detail {

[[nodiscard]] benchmark_result parse_client_result(config_view root);
[[nodiscard]] benchmark_result parse_vllm_latency(config_view root);
[[nodiscard]] benchmark_result parse_vllm_throughput(config_view root);
[[nodiscard]] benchmark_result parse_sglang_one_batch(config_view root);
[[nodiscard]] benchmark_result parse_inferencex(config_view root);
[[nodiscard]] benchmark_result parse_aiperf(config_view root);

}  // namespace detail

/// A format of results: the members by which it is recognized, and its parser.
struct benchmark_format {
    static constexpr std::size_t max_members = 4;

    std::string_view name;
    std::string_view members[max_members]{};
    benchmark_result (*parse)(config_view root) = nullptr;  ///< null: not JSON
};

// Sources: vllm @1a91bc2d, vllm/benchmarks/serve.py, latency.py, throughput.py; sglang @fe867456,
// python/sglang/bench_serving.py, bench_one_batch.py; InferenceX @00e51cc7, utils/process_result.py; aiperf @13992dbd,
// docs/metrics-reference.md (metrics as in GenAI-Perf).
inline constexpr benchmark_format benchmark_formats[]{
    {"SGLang bench_serving",
     {"mean_ttft_ms", "output_throughput", "total_output_tokens_retokenized"},
     &detail::parse_client_result},
    {"vllm bench serve",
     {"mean_ttft_ms", "output_throughput", "total_output_tokens", "num_prompts"},
     &detail::parse_client_result},
    {"vllm bench latency", {"avg_latency", "latencies", "percentiles"}, &detail::parse_vllm_latency},
    {"vllm bench throughput",
     {"elapsed_time", "num_requests", "total_num_tokens", "requests_per_second"},
     &detail::parse_vllm_throughput},
    {"SGLang bench_one_batch",
     {"prefill_latency", "batch_size", "input_len", "output_len"},
     &detail::parse_sglang_one_batch},
    {"InferenceX", {"conc", "tput_per_gpu", "mean_ttft", "mean_tpot"}, &detail::parse_inferencex},
    {"AIPerf or GenAI-Perf",
     {"time_to_first_token", "inter_token_latency", "output_sequence_length"},
     &detail::parse_aiperf},
    {"Prometheus metrics"},
    {"CSV"},
};

/// Reads all results of a file: JSON (an object or a list of them), JSON Lines, Prometheus text, or CSV.
///
/// CSV columns: `isl` and `osl` (or input, output), `concurrency` (or batch_size), `ttft_ms`, `tpot_ms`; optionally
/// `request_rate`, `output_throughput`, `tp_size`, `pp_size`, `attention_dp_size`, `moe_ep_size`, `model_path`,
/// `backend`, `system`. The names of measurements may begin with `silicon_`.
/// Throws: `error` with the file and a line or JSON pointer, what is expected, and the nearest format or name.
[[nodiscard]] std::vector<benchmark_result> read_benchmark_results(const std::string& path);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/files/impl/benchmark_results.ipp>  // IWYU pragma: export
#endif
