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
enum class step_rule : std::uint8_t {
    mixed,         ///< all that write, and prompts beside them
    prompts_first  ///< prompts alone where any can be admitted, else all that write
};

/// What must be free before a prompt is admitted.
enum class admission_rule : std::uint8_t {
    prompt,          ///< room for its prompt
    expected_output,  ///< and for a share of what is still to be written by all, which falls from step to step
    whole_output     ///< and for all that will be written
};

/// Who gives its cache away where none is left for the next token.
enum class preemption_rule : std::uint8_t { newest, fewest_outputs };

/// Defaults that go by a device's memory.
struct memory_tier {
    double least_gigabytes = 0;         ///< of memory: the first tier counts that asks for no more than the device has
    std::int64_t tokens_per_step = 0;   ///< new tokens
    std::int64_t sequences = 0;         ///< at a time; 0: as the policy says
    std::int64_t largest_graph = 0;     ///< sequences of the largest captured step; 0: as the policy says
    string_ref not_on{};                ///< beginning of the names of devices that it leaves out
};

/// How an engine schedules requests.
struct scheduling_policy {
    string_ref engine{};
    string_ref version{};  ///< whose defaults these are
    step_rule steps = step_rule::mixed;
    admission_rule admits = admission_rule::prompt;
    preemption_rule preempts = preemption_rule::newest;
    std::int64_t tokens_per_step = 8192;  ///< most new tokens of a step: vLLM's max_num_batched_tokens, SGLang's chunked_prefill_size
    std::int64_t sequences = 1024;        ///< most requests that run at a time
    std::int64_t prompt_tokens = 0;       ///< most tokens of prompts in a step beside that, where a prompt may pass it alone; 0: no such bound
    bool chunked = true;                  ///< a prompt that does not fit in a step is computed in several
    bool knows_ends = false;  ///< `expected_output`: no prompts are shared and clients ask for all tokens, so that it is
                              ///< known who ends when
    bool mixes_chunks = false;            ///< `prompts_first`: those that write join steps of prompts
    std::int64_t block = 16;              ///< tokens of a page of the cache
    bool caches_prefixes = true;          ///< keeps blocks of prompts for those that begin alike
    std::int64_t steps_ahead = 1;         ///< steps that are composed before the one that runs has ended
    std::int64_t largest_graph = 512;     ///< sequences of the largest captured step
    bool pads = true;                     ///< a step of fewer runs the graph of the next captured size
    std::int64_t waits = 0;               ///< steps that prompts wait for others while any request writes
    double output_share = 0.7;            ///< `expected_output`: of what is still to be written, at first
    double least_output_share = 0.098;    ///< and at last
    std::int64_t share_falls_for = 600;   ///< steps from the one to the other
    memory_tier tiers[5]{};
};

// vLLM: v1/core/sched/scheduler.py, engine/arg_utils.py and config/vllm.py. SGLang: managers/scheduler.py,
// managers/schedule_policy.py and arg_groups/memory_hook.py. TensorRT-LLM: _torch/pyexecutor/scheduler/scheduler.py and
// llmapi/llm_args.py.
inline constexpr scheduling_policy scheduling_policies[]{
    {.engine = "vllm",
     .version = "0.33.0",
     .tiers = {{172, 16384, 1024}, {75, 8192, 1024, 0, "a100"}, {0, 2048, 256}}},
    {.engine = "sglang",
     .version = "0.5.23",
     .steps = step_rule::prompts_first,
     .admits = admission_rule::expected_output,
     .preempts = preemption_rule::fewest_outputs,
     .sequences = 2048,
     .prompt_tokens = 16384,
     .block = 1,
     .tiers = {{160, 16384, 0, 512}, {60, 8192, 0, 256}, {35, 4096, 0, 160}, {20, 4096, 0, 48}, {0, 2048, 0, 8}}},
    {.engine = "trtllm",
     .version = "1.3.0",
     .admits = admission_rule::whole_output,
     .sequences = 2048,
     .chunked = false,
     .block = 32,
     .largest_graph = 128,
     .pads = false,
     .tiers = {{0, 8192, 2048}}},
};

/// How an engine schedules on a device unless it is told otherwise; of an engine without a scheduler of its own: as vLLM.
[[nodiscard]] constexpr scheduling_policy policy_of(string_ref engine, const device& on) noexcept {
    scheduling_policy p = scheduling_policies[0];
    for (const scheduling_policy& row : scheduling_policies)
        if (row.engine == engine) p = row;
    for (const memory_tier& tier : p.tiers) {
        if (on.memory_gigabytes < tier.least_gigabytes) continue;
        if (!tier.not_on.empty() && on.names[0].starts_with(tier.not_on)) continue;
        if (tier.tokens_per_step > 0) p.tokens_per_step = tier.tokens_per_step;
        if (tier.sequences > 0) p.sequences = tier.sequences;
        if (tier.largest_graph > 0) p.largest_graph = tier.largest_graph;
        break;
    }
    return p;
}

/// The sequences that a step of `n` is padded to by the captured sizes 1, 2, 4, 8, 16 … 256 and from there on by sixteens;
/// as they are where they are more than the largest.
[[nodiscard]] constexpr std::int64_t padded(const scheduling_policy& p, std::int64_t n) noexcept {
    if (!p.pads || n > p.largest_graph || n <= 2) return n;
    const std::int64_t unit = n <= 4 ? 4 : n <= 256 ? 8 : 16;
    const std::int64_t size = (n + unit - 1) / unit * unit;
    return size < p.largest_graph ? size : p.largest_graph;
}

}  // namespace llmcost
