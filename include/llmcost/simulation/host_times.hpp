// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

/// What an engine adds to its kernels where its steps are simulated; seconds.
struct host_times {
    string_ref engine{};
    double overlap = 1;           ///< of the sum of kernels: below 1 where more is fused or runs side by side
    double step_seconds = 0;      ///< of a step
    double sequence_seconds = 0;  ///< and of each sequence in it
    double layer_seconds = 0;     ///< of issuing a layer of a step that no graph holds
    double request_seconds = 0;  ///< of a request before it is in the engine's queue, and of its first token's way back
};

// Fitted by bench/fit_engines to serving runs on H100 and H200 up to one node (docs/accuracy-serving.md), but for what
// others say of vLLM: 0.8 ms of the host for a layer in steps without a graph (ai-dynamo/aiconfigurator @095f58a5,
// sdk/backends/vllm_backend.py), 15.6 ms of a request (inference-sim @f90a1e3a, testdata/trained_physics_iter29.json).
// clang-format off
inline constexpr host_times simulated_engines[]{
    {"trtllm", 0.932, 2.5e-5,  1.85e-5, 0,    0.0475},
    {"vllm",   1.03,  2.5e-5,  1.63e-6, 8e-4, 0.0156},
    {"sglang", 0.99,  6.25e-5, 2.38e-6, 0,    0.113},
};
// clang-format on

/// Those of an engine; none where it is not known.
[[nodiscard]] constexpr host_times host_times_of(string_ref engine) noexcept {
    for (const host_times& h : simulated_engines)
        if (h.engine == engine) return h;
    return {};
}

}  // namespace llmcost
