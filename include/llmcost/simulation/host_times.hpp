// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/string_ref.hpp>
#include <llmcost/serving/engines.hpp>

namespace llmcost {

/// Time that an engine adds to its kernels in a simulated step.
struct host_times {
    string_ref engine{};
    double overlap = 1;               ///< factor of the sum of kernel times; below 1 if kernels are fused or overlap
    double step_seconds = 0;          ///< s per step
    double sequence_seconds = 0;      ///< s per sequence of a step
    double layer_seconds = 0;         ///< s to launch a layer of a step without a CUDA graph
    double request_seconds = 0;       ///< s per request, before its waiting queue and after its first token
    double prompt_token_seconds = 0;  ///< s per prompt token of a request, before its waiting queue
};

// Fitted by bench/fit_engines to serving runs on H100 and H200 up to one node (docs/accuracy-serving.md).
// Exceptions for vLLM: 0.8 ms of host time per layer in steps without a graph (ai-dynamo/aiconfigurator @095f58a5,
// sdk/backends/vllm_backend.py), 15.6 ms per request (inference-sim @f90a1e3a, testdata/trained_physics_iter29.json).
inline constexpr host_times simulated_engines[]{
    {.engine = "trtllm",
     .overlap = 0.932,
     .step_seconds = 2.5e-5,
     .sequence_seconds = 1.85e-5,
     .request_seconds = 0.0475},
    {.engine = "vllm",
     .overlap = 1.03,
     .step_seconds = 2.5e-5,
     .sequence_seconds = 3.88e-6,
     .layer_seconds = 8e-4,
     .request_seconds = 0.0156},
    {.engine = "sglang",
     .overlap = 0.99,
     .step_seconds = 6.25e-5,
     .sequence_seconds = 2.38e-6,
     .request_seconds = 0.113},
};

/// Host times of an engine; none for an unknown engine.
[[nodiscard]] constexpr host_times host_times_of(string_ref engine) noexcept {
    for (const host_times& h : simulated_engines)
        if (h.engine == engine) return h;
    return {};
}

/// Host times of an engine whose constants moved from the shipped ones: moved as far as those of the closed form.
[[nodiscard]] constexpr host_times host_times_of(const engine& fitted) noexcept {
    host_times host = host_times_of(fitted.name);
    const engine* const shipped = find_engine(fitted.name);
    if (shipped == nullptr) return host;
    const auto moved = [](double simulated, double to, double from) {
        return simulated + to - from > 0 ? simulated + to - from : 0;
    };
    host.overlap *= fitted.kernel_time_factor / shipped->kernel_time_factor;
    host.step_seconds = moved(host.step_seconds, fitted.host_seconds_per_step, shipped->host_seconds_per_step);
    host.sequence_seconds =
        moved(host.sequence_seconds, fitted.host_seconds_per_sequence, shipped->host_seconds_per_sequence);
    host.request_seconds =
        moved(host.request_seconds, fitted.host_seconds_per_request, shipped->host_seconds_per_request);
    host.prompt_token_seconds += fitted.host_seconds_per_prompt_token;
    return host;
}

}  // namespace llmcost
