// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

/// What an engine adds to its kernels, which no kernel shows.
struct engine {
    string_ref name{};
    string_ref software{};        ///< of its kernels in calibrations
    bool static_scales = false;   ///< its fp8 checkpoints bring the scales of activations along
    bool narrow_cache = false;    ///< its recipes keep 8 bits in the cache beside any narrow weights
    bool narrow_prompts = false;  ///< its attention of prompts multiplies in the type of an 8-bit cache
    double overlap = 1;           ///< of the sum of kernels: below 1 where more is fused or runs side by side
    double step_seconds = 0;      ///< host time of a step
    double sequence_seconds = 0;  ///< and for each running sequence
    double request_seconds = 0;   ///< host time of a request before its prompt is computed
    double steps_waited = 0;      ///< steps before a new request's prompt: half of the one that runs, and those planned
    double memory_share = 0.9;    ///< of a device's memory that weights and caches may fill
    string_ref only_on{};         ///< the vendor whose devices it runs on; empty: several
    bool unpacks = true;          ///< runs weights of types that a device of NVIDIA's does not multiply
};

// Fitted by bench/fit_engines to serving runs on H100 and H200 up to one node (docs/accuracy-serving.md), but for the steps
// that are waited: all three plan a step while the one before it runs (vLLM's async scheduling, v1/core/sched;
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
