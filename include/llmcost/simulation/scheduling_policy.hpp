// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>

// Scheduling policies of inference engines as data, with the defaults of a stated version.
namespace llmcost {

/// Which requests a batch combines.
enum class batching_mode : std::uint8_t {
    mixed,         ///< vLLM, TensorRT-LLM: all decodes, then prefills
    prefill_first  ///< SGLang: prefills only, as long as a request can be admitted; otherwise decodes only
};

/// The pages that must be free before a request is admitted.
enum class admission_mode : std::uint8_t {
    prompt,           ///< for its prompt
    expected_output,  ///< for its prompt and a decaying fraction of the remaining output of all requests
    full_output       ///< for its prompt and its complete output
};

/// The request that is preempted when the cache has no page for the next token.
enum class victim_policy : std::uint8_t { last_admitted, fewest_output_tokens };

/// How an engine loads a prefix from host memory or storage.
enum class prefix_load_mode : std::uint8_t {
    asynchronous,  ///< vLLM: the request waits, and other requests continue
    by_layer,      ///< SGLang: each layer of the prefill waits for its part
    before_step    ///< TensorRT-LLM: the step waits
};

/// Defaults that depend on the memory of a device.
struct device_tier {
    double min_memory_gigabytes = 0;          ///< the first tier with at most the memory of the device applies
    std::int64_t max_num_batched_tokens = 0;  ///< new tokens
    std::int64_t max_num_seqs = 0;            ///< 0: that of the policy
    std::int64_t max_cudagraph_size = 0;      ///< sequences of the largest captured graph; 0: that of the policy
    string_ref excluded_device_prefix{};      ///< devices whose name begins with it skip the tier
};

/// The scheduling policy of an engine.
struct scheduling_policy {
    string_ref engine{};
    string_ref version{};  ///< version of the engine with these defaults
    batching_mode batching = batching_mode::mixed;
    admission_mode admission = admission_mode::prompt;
    victim_policy preemption = victim_policy::last_admitted;
    std::int64_t max_num_batched_tokens =
        8192;  ///< maximum new tokens of a step (vLLM: max_num_batched_tokens, SGLang: chunked_prefill_size)
    std::int64_t max_num_seqs = 1024;     ///< maximum running requests
    std::int64_t max_prefill_tokens = 0;  ///< maximum prompt tokens of a step, which one prompt may exceed; 0: no limit
    bool has_chunked_prefill = true;      ///< a prompt that exceeds the budget of a step is split
    /// `expected_output`: no shared prefixes, and clients ignore the end of sequence. The finish times are then known.
    bool has_known_finish_times = false;
    bool has_mixed_chunk = false;  ///< `prefill_first`: decodes are added to prefill batches
    std::int64_t page_size = 16;   ///< tokens per page
    bool has_prefix_cache = true;  ///< reuses the blocks of common prefixes
    prefix_load_mode prefix_loads = prefix_load_mode::asynchronous;
    bool stores_on_eviction = false;        ///< prefix blocks enter lower tiers when they leave the device
    std::int64_t num_async_steps = 1;       ///< batches that are scheduled before the running one ends
    std::int64_t max_cudagraph_size = 512;  ///< sequences of the largest captured graph
    bool pads_to_cudagraph = true;          ///< a smaller batch runs the graph of the next captured size
    std::int64_t batch_wait_steps = 0;      ///< steps that prefills wait for more requests while any request decodes
    double init_new_token_ratio = 0.7;      ///< `expected_output`: initial fraction of the remaining output
    double min_new_token_ratio = 0.098;     ///< final fraction
    std::int64_t new_token_ratio_decay_steps = 600;  ///< steps from the initial to the final fraction
    device_tier tiers[5]{};

    /// Whether a request gets the pages for its complete output at admission.
    [[nodiscard]] constexpr bool reserves_full_output() const noexcept {
        return admission == admission_mode::full_output;
    }
};

// vLLM: v1/core/sched/scheduler.py, engine/arg_utils.py and config/vllm.py. SGLang: managers/scheduler.py,
// managers/schedule_policy.py and arg_groups/memory_hook.py. TensorRT-LLM: _torch/pyexecutor/scheduler/scheduler.py and
// llmapi/llm_args.py. Lower tiers: vllm, v1/kv_offload/cpu/gpu_worker.py (transfers in order, on streams of their own);
// sglang, mem_cache/hiradix_cache.py and managers/cache_controller.py; TensorRT-LLM, batch_manager/kvCacheManager.cpp
// and kvCacheTransferManager.cpp.
inline constexpr scheduling_policy scheduling_policies[]{
    {.engine = "vllm",
     .version = "0.33.0",
     .tiers = {{.min_memory_gigabytes = 172, .max_num_batched_tokens = 16384, .max_num_seqs = 1024},
               {.min_memory_gigabytes = 75,
                .max_num_batched_tokens = 8192,
                .max_num_seqs = 1024,
                .excluded_device_prefix = "a100"},
               {.min_memory_gigabytes = 0, .max_num_batched_tokens = 2048, .max_num_seqs = 256}}},
    {.engine = "sglang",
     .version = "0.5.23",
     .batching = batching_mode::prefill_first,
     .admission = admission_mode::expected_output,
     .preemption = victim_policy::fewest_output_tokens,
     .max_num_seqs = 2048,
     .max_prefill_tokens = 16384,
     .page_size = 1,
     .prefix_loads = prefix_load_mode::by_layer,
     .tiers = {{.min_memory_gigabytes = 160, .max_num_batched_tokens = 16384, .max_cudagraph_size = 512},
               {.min_memory_gigabytes = 60, .max_num_batched_tokens = 8192, .max_cudagraph_size = 256},
               {.min_memory_gigabytes = 35, .max_num_batched_tokens = 4096, .max_cudagraph_size = 160},
               {.min_memory_gigabytes = 20, .max_num_batched_tokens = 4096, .max_cudagraph_size = 48},
               {.min_memory_gigabytes = 0, .max_num_batched_tokens = 2048, .max_cudagraph_size = 8}}},
    {.engine = "trtllm",
     .version = "1.3.0",
     .admission = admission_mode::full_output,
     .max_num_seqs = 2048,
     .has_chunked_prefill = false,
     .page_size = 32,
     .prefix_loads = prefix_load_mode::before_step,
     .stores_on_eviction = true,
     .max_cudagraph_size = 128,
     .pads_to_cudagraph = false,
     .tiers = {{.min_memory_gigabytes = 0, .max_num_batched_tokens = 8192, .max_num_seqs = 2048}}},
};

/// The default policy of an engine on a device; that of vLLM for an engine without a policy.
[[nodiscard]] constexpr scheduling_policy default_policy(string_ref engine, const device& device) noexcept {
    scheduling_policy p = scheduling_policies[0];
    for (const scheduling_policy& row : scheduling_policies)
        if (row.engine == engine) p = row;
    for (const device_tier& tier : p.tiers) {
        if (device.memory_gigabytes < tier.min_memory_gigabytes) continue;
        if (!tier.excluded_device_prefix.empty() && device.names[0].starts_with(tier.excluded_device_prefix)) continue;
        if (tier.max_num_batched_tokens > 0) p.max_num_batched_tokens = tier.max_num_batched_tokens;
        if (tier.max_num_seqs > 0) p.max_num_seqs = tier.max_num_seqs;
        if (tier.max_cudagraph_size > 0) p.max_cudagraph_size = tier.max_cudagraph_size;
        break;
    }
    return p;
}

/// The sequences to which a decode batch of `n` is padded.
///
/// Captured sizes are 1, 2, 4, then multiples of 8 up to 256, then multiples of 16. Returns `n` above the largest.
[[nodiscard]] constexpr std::int64_t padded_batch_size(const scheduling_policy& p, std::int64_t n) noexcept {
    if (!p.pads_to_cudagraph || n > p.max_cudagraph_size || n <= 2) return n;
    const std::int64_t unit = n <= 4 ? 4 : n <= 256 ? 8 : 16;
    const std::int64_t size = (n + unit - 1) / unit * unit;
    return size < p.max_cudagraph_size ? size : p.max_cudagraph_size;
}

}  // namespace llmcost
