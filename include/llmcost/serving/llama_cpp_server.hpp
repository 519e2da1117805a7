// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The latency and the throughput of llama-server with continuous batching.
namespace llmcost {

/// The load of llama-server in a steady state: each user sends the next request when the previous one completes.
struct llama_cpp_load {
    std::int64_t input_tokens = 1024;   ///< of a request
    std::int64_t output_tokens = 1024;  ///< of a request
    std::int64_t num_users = 1;         ///< concurrent requests
    std::int64_t num_slots = 1;         ///< `-np`: requests that run at the same time; others wait
    std::int64_t num_batch = 2048;      ///< `-b`: tokens of a logical batch

    /// The requests that run at the same time.
    [[nodiscard]] std::int64_t num_running() const noexcept { return num_users < num_slots ? num_users : num_slots; }
};

/// Mean latencies and throughput.
struct llama_cpp_serving_metrics {
    double ttft_seconds = 0;  ///< with the time in which a request waits for a slot
    double tpot_seconds = 0;
    double tokens_per_second = 0;           ///< output tokens of all users
    double tokens_per_second_per_user = 0;  ///< output tokens of a running request after its first one
};

/// The metrics for the time of a prompt and of a decode step.
///
///     running requests           c = min(users, slots)
///     logical batches of a prompt  b = ceil(input / num_batch)
///     decode steps without prompt  s = max(output - 1 - (c - 1) b, 0)
///     seconds of a request       T = c P + s D
///     output tokens per second   c output / T
///     TPOT                       (T - P) / (output - 1)
///     TTFT                       P + T (users - c) / c
///
/// `prompt_seconds` P: of one prompt. `decode_seconds` D: of a step with one token of each of c sequences. During the
/// life of a request, the server processes its prompt and one of each other slot. Each logical batch with a prompt also
/// has one token of each slot that generates. Source: tools/server/server-context.cpp, `update_slots`.
[[nodiscard]] llama_cpp_serving_metrics llama_cpp_serving_of(const llama_cpp_load& load, double prompt_seconds,
                                                             double decode_seconds) noexcept;

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/llama_cpp_server.ipp>  // IWYU pragma: export
#endif
