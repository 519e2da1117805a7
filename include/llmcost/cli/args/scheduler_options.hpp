// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>

// Engines' own options, by their own names.
namespace llmcost::cli {

/// An option of an engine: the member of its policy that it says.
struct scheduler_option {
    std::string_view engine;
    option_spec row;
    std::int64_t scheduling_policy::*number = nullptr;
    bool scheduling_policy::*flag = nullptr;
    bool becomes = true;                     ///< what the flag is where the option stands
    const admission_mode* admits = nullptr;  ///< what each of its words means
};

/// TensorRT-LLM's `capacity_scheduler_policy` (llmapi/llm_args.py), in the order of its words.
inline constexpr admission_mode capacity_policies[]{admission_mode::full_output, admission_mode::prompt};

// clang-format off
inline constexpr scheduler_option scheduler_options[]{
    {"vllm", {"--max-num-batched-tokens", value_type::number, "N", "vllm: new tokens of a step (8192, by memory)", "Engine"}, &scheduling_policy::max_num_batched_tokens},
    {"vllm", {"--max-num-seqs", value_type::number, "N", "vllm: sequences at a time (1024, by memory)"}, &scheduling_policy::max_num_seqs},
    {"vllm", {"--block-size", value_type::number, "N", "vllm: tokens of a page of the cache (16)"}, &scheduling_policy::page_size},
    {"vllm", {"--no-enable-chunked-prefill", value_type::none, "", "vllm: prompts in one step"}, nullptr, &scheduling_policy::has_chunked_prefill, false},
    {"vllm", {"--no-enable-prefix-caching", value_type::none, "", "vllm: prompts share no blocks"}, nullptr, &scheduling_policy::has_prefix_cache, false},
    {"sglang", {"--chunked-prefill-size", value_type::number, "N", "sglang: tokens of prompts in a step (8192, by memory)"}, &scheduling_policy::max_num_batched_tokens},
    {"sglang", {"--max-prefill-tokens", value_type::number, "N", "sglang: and of whole prompts (16384)"}, &scheduling_policy::max_prefill_tokens},
    {"sglang", {"--max-running-requests", value_type::number, "N", "sglang: sequences at a time (2048)"}, &scheduling_policy::max_num_seqs},
    {"sglang", {"--page-size", value_type::number, "N", "sglang: tokens of a page of the cache (1)"}, &scheduling_policy::page_size},
    {"sglang", {"--enable-mixed-chunk", value_type::none, "", "sglang: those that write join prompts"}, nullptr, &scheduling_policy::has_mixed_chunk, true},
    {"sglang", {"--disable-radix-cache", value_type::none, "", "sglang: prompts share no blocks"}, nullptr, &scheduling_policy::has_prefix_cache, false},
    {"trtllm", {"--max_num_tokens", value_type::number, "N", "trtllm: new tokens of a step (8192)"}, &scheduling_policy::max_num_batched_tokens},
    {"trtllm", {"--max_batch_size", value_type::number, "N", "trtllm: sequences at a time (2048)"}, &scheduling_policy::max_num_seqs},
    {"trtllm", {"--enable_chunked_prefill", value_type::none, "", "trtllm: prompts in several steps"}, nullptr, &scheduling_policy::has_chunked_prefill, true},
    {"trtllm", {"--capacity_scheduler_policy", value_type::choice, "GUARANTEED_NO_EVICT|MAX_UTILIZATION", "trtllm: whether room for answers is kept"}, nullptr, nullptr, true, capacity_policies},
    {"trtllm", {"--batch_wait_timeout_iters", value_type::number, "N", "trtllm: steps that prompts wait (0)"}, &scheduling_policy::batch_wait_steps},
};
// clang-format on

/// Their rows as options of a command.
inline constexpr auto scheduler_option_rows = [] {
    std::array<option_spec, std::size(scheduler_options)> rows{};
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = scheduler_options[i].row;
    return rows;
}();

/// What an engine's options make of its policy; refuses those of another engine.
[[nodiscard]] inline scheduling_policy with_options(scheduling_policy p, std::string_view engine,
                                                    const arguments& args) {
    for (const scheduler_option& o : scheduler_options) {
        if (!args.has(o.row)) continue;
        if (o.engine != engine)
            throw_usage(o.row.name,
                        "is an option of " + std::string(o.engine) + ", and --engine says " + std::string(engine));
        if (o.number != nullptr) p.*o.number = args.number(o.row, p.*o.number);
        if (o.flag != nullptr) p.*o.flag = o.becomes;
        if (o.admits != nullptr) p.admission = o.admits[args.choice(o.row)];
    }
    if (p.max_num_batched_tokens < p.max_num_seqs && p.batching == batching_mode::mixed)
        p.max_num_seqs = p.max_num_batched_tokens;
    return p;
}

}  // namespace llmcost::cli
