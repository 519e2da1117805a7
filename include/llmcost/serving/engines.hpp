// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

/// An inference engine: its kernels, and the time that it adds to them.
struct engine {
    string_ref name{};
    string_ref kernel_software{};    ///< software of its kernels in calibrations
    bool has_static_scales = false;  ///< fp8 checkpoints contain the activation scales
    bool has_8bit_cache = false;     ///< the default KV cache has 8 bits with any weights narrower than 16 bits
    bool has_8bit_prefill_attention = false;  ///< prefill attention multiplies in the type of an 8-bit KV cache
    double kernel_time_factor = 1;     ///< factor of the sum of kernel times; below 1 if kernels are fused or overlap
    double host_seconds_per_step = 0;  ///< host time per step
    double host_seconds_per_sequence = 0;      ///< host time per step and running sequence
    double host_seconds_per_request = 0;       ///< host time per request before its prefill
    double host_seconds_per_prompt_token = 0;  ///< host time per prompt token before its prefill, as of the tokenizer
    double queueing_steps =
        0;  ///< steps before the prefill of a new request: half of the running one, and the scheduled ones
    string_ref required_vendor{};           ///< the only vendor of supported devices; empty: any
    std::int64_t vocabulary_multiple = 1;   ///< outputs of the head are padded to a multiple of this
    bool supports_weight_unpacking = true;  ///< unpacks weight types that an NVIDIA device does not multiply
};

// Fitted by bench/fit_engines to serving runs on H100 and H200 up to one node (docs/accuracy-serving.md).
// Exception: `queueing_steps`. All three engines schedule a step while the previous one runs. Source: vLLM's
// asynchronous scheduling, v1/core/sched; the overlap schedulers of TensorRT-LLM and SGLang, pyexecutor/py_executor.py
// and managers/scheduler.py. `vocabulary_multiple`: `DEFAULT_VOCAB_PADDING_SIZE`, vllm/model_executor/layers and
// sglang/srt/layers, vocab_parallel_embedding.py.
inline constexpr engine engines[]{
    {.name = "trtllm",
     .kernel_software = "trtllm",
     .has_static_scales = true,
     .has_8bit_cache = true,
     .kernel_time_factor = 0.922,
     .host_seconds_per_step = 2.57e-4,
     .host_seconds_per_sequence = 3.59e-6,
     .host_seconds_per_request = 0.064,
     .queueing_steps = 1.5,
     .required_vendor = "NVIDIA",
     .supports_weight_unpacking = false},
    {.name = "vllm",
     .kernel_software = "vllm",
     .kernel_time_factor = 1.03,
     .host_seconds_per_sequence = 1.61e-6,
     .host_seconds_per_request = 0.0145,
     .queueing_steps = 1.5,
     .vocabulary_multiple = 64},
    {.name = "sglang",
     .kernel_software = "sglang",
     .has_8bit_prefill_attention = true,
     .kernel_time_factor = 0.983,
     .host_seconds_per_step = 1.55e-4,
     .host_seconds_per_request = 0.15,
     .queueing_steps = 1.5,
     .vocabulary_multiple = 64},
};

/// A device on which the constants of `engines` were fitted to serving runs.
struct fitted_device {
    string_ref device{};
    std::int64_t max_devices = 0;
};
inline constexpr fitted_device fitted_devices[]{
    {.device = "h100_sxm", .max_devices = 8},
    {.device = "h200_sxm", .max_devices = 8},
};

/// The engine with a name; nullptr if there is none.
[[nodiscard]] constexpr const engine* find_engine(string_ref name) noexcept {
    for (const engine& e : engines)
        if (e.name == name) return &e;
    return nullptr;
}

}  // namespace llmcost
