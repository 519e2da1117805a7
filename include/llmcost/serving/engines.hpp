// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

/// What an engine adds to its kernels, which no kernel shows.
struct engine {
    string_ref name{};
    string_ref kernel_software{};             ///< of its kernels in calibrations
    bool has_static_scales = false;           ///< its fp8 checkpoints bring the scales of activations along
    bool has_8bit_cache = false;              ///< its recipes keep 8 bits in the cache beside any narrow weights
    bool has_8bit_prefill_attention = false;  ///< its attention of prompts multiplies in the type of an 8-bit cache
    double kernel_time_factor = 1;         ///< of the sum of kernels: below 1 where more is fused or runs side by side
    double host_seconds_per_step = 0;      ///< host time of a step
    double host_seconds_per_sequence = 0;  ///< and for each running sequence
    double host_seconds_per_request = 0;   ///< host time of a request before its prompt is computed
    double queueing_steps = 0;  ///< steps before a new request's prompt: half of the one that runs, and those planned
    double gpu_memory_utilization = 0.9;    ///< of a device's memory that weights and caches may fill
    string_ref required_vendor{};           ///< the vendor whose devices it runs on; empty: several
    bool supports_weight_unpacking = true;  ///< runs weights of types that a device of NVIDIA's does not multiply
};

// Fitted by bench/fit_engines to serving runs on H100 and H200 up to one node (docs/accuracy-serving.md), but for the
// steps that are waited: all three plan a step while the one before it runs (vLLM's async scheduling, v1/core/sched;
// TensorRT-LLM's and SGLang's overlap schedulers, pyexecutor/py_executor.py and managers/scheduler.py).
// clang-format off
inline constexpr engine engines[]{
    {"trtllm", "trtllm", true,  true,  false, 0.922, 2.57e-4, 3.59e-6, 0.064,  1.5, 0.9, "NVIDIA", false},
    {"vllm",   "vllm",   false, false, false, 1.03,  0,       1.7e-6,  0.0145, 1.5, 0.9},
    {"sglang", "sglang", false, false, true,  0.983, 1.55e-4, 0,       0.15,   1.5, 0.9},
};
// clang-format on

/// The engine of a name; nullptr where there is none.
[[nodiscard]] constexpr const engine* find_engine(string_ref name) noexcept {
    for (const engine& e : engines)
        if (e.name == name) return &e;
    return nullptr;
}

}  // namespace llmcost
