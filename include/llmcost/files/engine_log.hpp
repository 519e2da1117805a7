// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Start-up logs of inference engines: the memory that they report, and the options with which they were started.
namespace llmcost {

/// What a line of a log measures.
enum class log_quantity : std::uint8_t {
    weights,               ///< bytes
    kv_cache,              ///< bytes
    kv_cache_tokens,       ///< tokens
    max_concurrency,       ///< requests of the maximum length
    recurrent_states,      ///< bytes
    max_running_requests,  ///< requests
    cuda_graphs,           ///< bytes
    compute_buffer,        ///< bytes; llama.cpp
    output_buffer          ///< bytes; llama.cpp
};

/// The name of a quantity in JSON and CSV: `kv_cache_tokens`.
[[nodiscard]] std::string_view name_of(log_quantity quantity) noexcept;

/// Whether a quantity is a number of bytes.
[[nodiscard]] bool is_in_bytes(log_quantity quantity) noexcept;

/// A figure of a log. Ranks print the same lines: the first line counts.
struct log_figure {
    log_quantity quantity{};
    double value = 0;
    std::string device{};         ///< llama.cpp: `GPU0`, or `CPU` for buffers of the host
    std::string line{};           ///< the text of the line, without time stamp and source
    std::size_t line_number = 0;  ///< from 1
};

/// An option of the engine, as an option of llmcost: `--tp`, `4`. A flag has no value.
struct log_option {
    std::string name;
    std::string value;
};

/// A start-up log.
struct engine_log {
    std::string_view engine{};  ///< `vllm`, `sglang` or `llama.cpp`; empty: not recognized
    std::string version{};      ///< `0.11.2`, llama.cpp `b6123`; empty: not stated
    std::string model{};        ///< name or path; empty: not stated
    std::vector<log_option> options{};
    std::vector<log_figure> figures{};
    std::int64_t max_model_len = 0;  ///< tokens per request; 0: not stated
    std::int64_t num_sequences = 1;  ///< llama.cpp: sequences that share `n_ctx`
    double free_bytes = 0;           ///< SGLang: free memory before the weights; 0: not stated
    std::size_t num_lines = 0;
};

/// Reads a start-up log.
///
/// Source: vllm/v1/worker/gpu_model_runner.py, `load_model`, `capture_model`; gpu_worker.py,
/// `determine_available_memory`; vllm/v1/core/kv_cache_utils.py, `_report_kv_cache_config`; vllm/v1/engine/core.py.
/// Source: sglang/srt/model_executor/model_runner.py, `load_model`; sglang/srt/mem_cache/memory_pool.py,
/// `_finalize_allocation_log`; sglang/srt/managers/scheduler.py.
/// Source: llama.cpp, src/llama-model.cpp, `load_tensors`; src/llama-context.cpp; src/llama-kv-cache.cpp.
[[nodiscard]] engine_log read_engine_log(std::string_view text);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/files/impl/engine_log.ipp>  // IWYU pragma: export
#endif
