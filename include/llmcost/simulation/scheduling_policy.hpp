// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>

// Whom an engine puts into its next step: rules as data, with the defaults of a stated version.
namespace llmcost {

/// Who goes into a step together.
enum class batching_mode : std::uint8_t {
    mixed,         ///< all that write, and prompts beside them
    prefill_first  ///< prompts alone where any can be admitted, else all that write
};

/// What must be free before a prompt is admitted.
enum class admission_mode : std::uint8_t {
    prompt,           ///< room for its prompt
    expected_output,  ///< and for a share of what is still to be written by all, which falls from step to step
    full_output       ///< and for all that will be written
};

/// Who gives its cache away where none is left for the next token.
enum class victim_policy : std::uint8_t { last_admitted, fewest_output_tokens };

/// Defaults that go by a device's memory.
struct device_tier {
    double min_memory_gigabytes = 0;  ///< of memory: the first tier counts that asks for no more than the device has
    std::int64_t max_num_batched_tokens = 0;  ///< new tokens
    std::int64_t max_num_seqs = 0;            ///< at a time; 0: as the policy says
    std::int64_t max_cudagraph_size = 0;      ///< sequences of the largest captured step; 0: as the policy says
    string_ref excluded_device_prefix{};      ///< beginning of the names of devices that it leaves out
};

/// How an engine schedules requests.
struct scheduling_policy {
    string_ref engine{};
    string_ref version{};  ///< whose defaults these are
    batching_mode batching = batching_mode::mixed;
    admission_mode admission = admission_mode::prompt;
    victim_policy preemption = victim_policy::last_admitted;
    std::int64_t max_num_batched_tokens =
        8192;  ///< most new tokens of a step: vLLM's max_num_batched_tokens, SGLang's chunked_prefill_size
    std::int64_t max_num_seqs = 1024;  ///< most requests that run at a time
    std::int64_t max_prefill_tokens =
        0;  ///< most tokens of prompts in a step beside that, where a prompt may pass it alone; 0: no such bound
    bool has_chunked_prefill = true;      ///< a prompt that does not fit in a step is computed in several
    bool has_known_finish_times = false;  ///< `expected_output`: no prompts are shared and clients ask for all tokens,
                                          ///< so that it is known who ends when
    bool has_mixed_chunk = false;                    ///< `prefill_first`: those that write join steps of prompts
    std::int64_t page_size = 16;                     ///< tokens of a page of the cache
    bool has_prefix_cache = true;                    ///< keeps blocks of prompts for those that begin alike
    std::int64_t num_async_steps = 1;                ///< steps that are composed before the one that runs has ended
    std::int64_t max_cudagraph_size = 512;           ///< sequences of the largest captured step
    bool pads_to_cudagraph = true;                   ///< a step of fewer runs the graph of the next captured size
    std::int64_t batch_wait_steps = 0;               ///< steps that prompts wait for others while any request writes
    double init_new_token_ratio = 0.7;               ///< `expected_output`: of what is still to be written, at first
    double min_new_token_ratio = 0.098;              ///< and at last
    std::int64_t new_token_ratio_decay_steps = 600;  ///< steps from the one to the other
    device_tier tiers[5]{};
};

// vLLM: v1/core/sched/scheduler.py, engine/arg_utils.py and config/vllm.py. SGLang: managers/scheduler.py,
// managers/schedule_policy.py and arg_groups/memory_hook.py. TensorRT-LLM: _torch/pyexecutor/scheduler/scheduler.py and
// llmapi/llm_args.py.
inline constexpr scheduling_policy scheduling_policies[]{
    {.engine = "vllm", .version = "0.33.0", .tiers = {{172, 16384, 1024}, {75, 8192, 1024, 0, "a100"}, {0, 2048, 256}}},
    {.engine = "sglang",
     .version = "0.5.23",
     .batching = batching_mode::prefill_first,
     .admission = admission_mode::expected_output,
     .preemption = victim_policy::fewest_output_tokens,
     .max_num_seqs = 2048,
     .max_prefill_tokens = 16384,
     .page_size = 1,
     .tiers = {{160, 16384, 0, 512}, {60, 8192, 0, 256}, {35, 4096, 0, 160}, {20, 4096, 0, 48}, {0, 2048, 0, 8}}},
    {.engine = "trtllm",
     .version = "1.3.0",
     .admission = admission_mode::full_output,
     .max_num_seqs = 2048,
     .has_chunked_prefill = false,
     .page_size = 32,
     .max_cudagraph_size = 128,
     .pads_to_cudagraph = false,
     .tiers = {{0, 8192, 2048}}},
};

/// How an engine schedules on a device unless it is told otherwise; of an engine without a scheduler of its own: as
/// vLLM.
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

/// The sequences that a step of `n` is padded to by the captured sizes 1, 2, 4, 8, 16 … 256 and from there on by
/// sixteens; as they are where they are more than the largest.
[[nodiscard]] constexpr std::int64_t padded_batch_size(const scheduling_policy& p, std::int64_t n) noexcept {
    if (!p.pads_to_cudagraph || n > p.max_cudagraph_size || n <= 2) return n;
    const std::int64_t unit = n <= 4 ? 4 : n <= 256 ? 8 : 16;
    const std::int64_t size = (n + unit - 1) / unit * unit;
    return size < p.max_cudagraph_size ? size : p.max_cudagraph_size;
}

}  // namespace llmcost
