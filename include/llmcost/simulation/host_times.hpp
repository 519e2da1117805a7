// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/string_ref.hpp>
#include <llmcost/serving/engines.hpp>

namespace llmcost {

/// What an engine adds to its kernels where its steps are simulated; seconds.
struct host_times {
    string_ref engine{};
    double overlap = 1;           ///< of the sum of kernels: below 1 where more is fused or runs side by side
    double step_seconds = 0;      ///< of a step
    double sequence_seconds = 0;  ///< and of each sequence in it
    double layer_seconds = 0;     ///< of issuing a layer of a step that no graph holds
    double request_seconds = 0;   ///< of a request before it is in the engine's queue, and of its first token's way back
    serving_error tpot_error{};   ///< of the mean time per token
    serving_error ttft_error{};   ///< of the mean time to the first token
};

// Fitted by bench/fit_engines to serving runs on H100 and H200 up to one node (docs/accuracy-serving.md), but for the host's
// time of a layer, which was measured: 0.8 ms in vLLM's steps without a graph (ai-dynamo/aiconfigurator @095f58a5,
// sdk/backends/vllm_backend.py); others capture steps of prompts in parts, or nobody measured them.
// clang-format off
inline constexpr host_times simulated_engines[]{
    {"trtllm", 0.956, 4.37e-5, 1.4e-5,  0,    0.0525, {-0.17, 0.41}, {-1.55, 0.86}},
    {"vllm",   0.98,  1e-4,    2e-6,    8e-4, 0.01,   {-0.22, 0.73}, {-1.17, 1.22}},
    {"sglang", 0.99,  6.25e-5, 2.38e-6, 0,    0.113,  {-0.37, 0.59}, {-0.39, 1.29}},
};
// clang-format on

/// Those of an engine; none where it is not known.
[[nodiscard]] constexpr host_times host_times_of(string_ref engine) noexcept {
    for (const host_times& h : simulated_engines)
        if (h.engine == engine) return h;
    return {};
}

}  // namespace llmcost
