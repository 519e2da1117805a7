// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>

// The scheduler options of inference engines, with the names that the engines use.
namespace llmcost::cli {

/// A scheduler option of an engine, and the member of `scheduling_policy` that it sets.
struct scheduler_option {
    std::string_view engine;
    option_spec row;
    std::int64_t scheduling_policy::*number = nullptr;
    bool scheduling_policy::*flag = nullptr;
    bool becomes = true;                     ///< value of `flag` if the option is set
    const admission_mode* admits = nullptr;  ///< the admission mode of each choice
};

/// The admission modes of TensorRT-LLM's `capacity_scheduler_policy`, in the order of its choices.
///
/// Source: TensorRT-LLM, llmapi/llm_args.py, CapacitySchedulerPolicy.
inline constexpr admission_mode capacity_policies[]{admission_mode::full_output, admission_mode::prompt};

inline constexpr scheduler_option scheduler_options[]{
    {.engine = "vllm",
     .row = {.name = "--max-num-batched-tokens",
             .value = "N",
             .type = value_type::number,
             .help = "vllm: maximum tokens per step (default 8192, depends on device memory)"},
     .number = &scheduling_policy::max_num_batched_tokens},
    {.engine = "vllm",
     .row = {.name = "--max-num-seqs",
             .value = "N",
             .type = value_type::number,
             .help = "vllm: maximum running requests (default 1024, depends on device memory)"},
     .number = &scheduling_policy::max_num_seqs},
    {.engine = "vllm",
     .row = {.name = "--block-size",
             .value = "N",
             .type = value_type::number,
             .help = "vllm: tokens per KV cache block (default 16)"},
     .number = &scheduling_policy::page_size},
    {.engine = "vllm",
     .row = {.name = "--no-enable-chunked-prefill", .help = "vllm: compute each prompt in one step"},
     .flag = &scheduling_policy::has_chunked_prefill,
     .becomes = false},
    {.engine = "vllm",
     .row = {.name = "--no-enable-prefix-caching", .help = "vllm: do not share KV cache blocks of equal prefixes"},
     .flag = &scheduling_policy::has_prefix_cache,
     .becomes = false},
    {.engine = "sglang",
     .row = {.name = "--chunked-prefill-size",
             .value = "N",
             .type = value_type::number,
             .help = "sglang: maximum prefill tokens per step (default 8192, depends on device "
                     "memory)"},
     .number = &scheduling_policy::max_num_batched_tokens},
    {.engine = "sglang",
     .row = {.name = "--max-prefill-tokens",
             .value = "N",
             .type = value_type::number,
             .help = "sglang: maximum prompt tokens per prefill batch (default 16384)"},
     .number = &scheduling_policy::max_prefill_tokens},
    {.engine = "sglang",
     .row = {.name = "--max-running-requests",
             .value = "N",
             .type = value_type::number,
             .help = "sglang: maximum running requests (default 2048)"},
     .number = &scheduling_policy::max_num_seqs},
    {.engine = "sglang",
     .row = {.name = "--page-size",
             .value = "N",
             .type = value_type::number,
             .help = "sglang: tokens per KV cache page (default 1)"},
     .number = &scheduling_policy::page_size},
    {.engine = "sglang",
     .row = {.name = "--enable-mixed-chunk", .help = "sglang: mix decode tokens into prefill steps"},
     .flag = &scheduling_policy::has_mixed_chunk},
    {.engine = "sglang",
     .row = {.name = "--disable-radix-cache", .help = "sglang: do not share KV cache pages of equal prefixes"},
     .flag = &scheduling_policy::has_prefix_cache,
     .becomes = false},
    {.engine = "trtllm",
     .row = {.name = "--max_num_tokens",
             .value = "N",
             .type = value_type::number,
             .help = "trtllm: maximum tokens per step (default 8192)"},
     .number = &scheduling_policy::max_num_batched_tokens},
    {.engine = "trtllm",
     .row = {.name = "--max_batch_size",
             .value = "N",
             .type = value_type::number,
             .help = "trtllm: maximum running requests (default 2048)"},
     .number = &scheduling_policy::max_num_seqs},
    {.engine = "trtllm",
     .row = {.name = "--enable_chunked_prefill", .help = "trtllm: split prompts over several steps (chunked prefill)"},
     .flag = &scheduling_policy::has_chunked_prefill},
    {.engine = "trtllm",
     .row = {.name = "--capacity_scheduler_policy",
             .value = "POLICY",
             .type = value_type::choice,
             .choices = "GUARANTEED_NO_EVICT|MAX_UTILIZATION",
             .help = "trtllm: GUARANTEED_NO_EVICT reserves KV cache for all output tokens; "
                     "MAX_UTILIZATION does not, and preempts requests (default GUARANTEED_NO_EVICT)"},
     .admits = capacity_policies},
    {.engine = "trtllm",
     .row = {.name = "--batch_wait_timeout_iters",
             .value = "N",
             .type = value_type::number,
             .help = "trtllm: steps that a prefill waits to be batched (default 0)"},
     .number = &scheduling_policy::batch_wait_steps},
};

/// The scheduler options as options of a command.
inline constexpr auto scheduler_option_rows = [] {
    std::array<option_spec, std::size(scheduler_options)> rows{};
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = scheduler_options[i].row;
    return rows;
}();

/// The scheduling policy of an engine, changed by its options. Throws: `usage` for an option of another engine.
[[nodiscard]] scheduling_policy with_options(scheduling_policy p, std::string_view engine, const arguments& args);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/scheduler_options.ipp>  // IWYU pragma: export
#endif
