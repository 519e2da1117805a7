// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <llmcost/cli/arguments.hpp>
#include <llmcost/cli/options.hpp>
#include <llmcost/simulation/scheduling.hpp>

// Engines' own options, by their own names.
namespace llmcost::cli {

/// An option of an engine: the member of its policy that it says.
struct scheduler_option {
    std::string_view engine;
    option_row row;
    std::int64_t scheduling_policy::*number = nullptr;
    bool scheduling_policy::*flag = nullptr;
    bool becomes = true;                     ///< what the flag is where the option stands
    const admission_rule* admits = nullptr;  ///< what each of its words means
};

/// TensorRT-LLM's `capacity_scheduler_policy` (llmapi/llm_args.py), in the order of its words.
inline constexpr admission_rule capacity_policies[]{admission_rule::whole_output, admission_rule::prompt};

// clang-format off
inline constexpr scheduler_option scheduler_options[]{
    {"vllm", {"--max-num-batched-tokens", value_kind::number, "N", "vllm: new tokens of a step (8192, by memory)", "Engine"}, &scheduling_policy::tokens_per_step},
    {"vllm", {"--max-num-seqs", value_kind::number, "N", "vllm: sequences at a time (1024, by memory)"}, &scheduling_policy::sequences},
    {"vllm", {"--block-size", value_kind::number, "N", "vllm: tokens of a page of the cache (16)"}, &scheduling_policy::block},
    {"vllm", {"--no-enable-chunked-prefill", value_kind::none, "", "vllm: prompts in one step"}, nullptr, &scheduling_policy::chunked, false},
    {"vllm", {"--no-enable-prefix-caching", value_kind::none, "", "vllm: prompts share no blocks"}, nullptr, &scheduling_policy::caches_prefixes, false},
    {"sglang", {"--chunked-prefill-size", value_kind::number, "N", "sglang: tokens of prompts in a step (8192, by memory)"}, &scheduling_policy::tokens_per_step},
    {"sglang", {"--max-prefill-tokens", value_kind::number, "N", "sglang: and of whole prompts (16384)"}, &scheduling_policy::prompt_tokens},
    {"sglang", {"--max-running-requests", value_kind::number, "N", "sglang: sequences at a time (2048)"}, &scheduling_policy::sequences},
    {"sglang", {"--page-size", value_kind::number, "N", "sglang: tokens of a page of the cache (1)"}, &scheduling_policy::block},
    {"sglang", {"--enable-mixed-chunk", value_kind::none, "", "sglang: those that write join prompts"}, nullptr, &scheduling_policy::mixes_chunks, true},
    {"sglang", {"--disable-radix-cache", value_kind::none, "", "sglang: prompts share no blocks"}, nullptr, &scheduling_policy::caches_prefixes, false},
    {"trtllm", {"--max_num_tokens", value_kind::number, "N", "trtllm: new tokens of a step (8192)"}, &scheduling_policy::tokens_per_step},
    {"trtllm", {"--max_batch_size", value_kind::number, "N", "trtllm: sequences at a time (2048)"}, &scheduling_policy::sequences},
    {"trtllm", {"--enable_chunked_prefill", value_kind::none, "", "trtllm: prompts in several steps"}, nullptr, &scheduling_policy::chunked, true},
    {"trtllm", {"--capacity_scheduler_policy", value_kind::choice, "GUARANTEED_NO_EVICT|MAX_UTILIZATION", "trtllm: whether room for answers is kept"}, nullptr, nullptr, true, capacity_policies},
    {"trtllm", {"--batch_wait_timeout_iters", value_kind::number, "N", "trtllm: steps that prompts wait (0)"}, &scheduling_policy::waits},
};
// clang-format on

/// Their rows as options of a command.
inline constexpr auto scheduler_option_rows = [] {
    std::array<option_row, std::size(scheduler_options)> rows{};
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = scheduler_options[i].row;
    return rows;
}();

/// What an engine's options make of its policy; refuses those of another engine.
[[nodiscard]] inline scheduling_policy with_options(scheduling_policy p, std::string_view engine, const arguments& args) {
    for (const scheduler_option& o : scheduler_options) {
        if (!args.has(o.row)) continue;
        if (o.engine != engine)
            refuse(o.row.name, "is an option of " + std::string(o.engine) + ", and --engine says " + std::string(engine));
        if (o.number != nullptr) p.*o.number = args.number(o.row, p.*o.number);
        if (o.flag != nullptr) p.*o.flag = o.becomes;
        if (o.admits != nullptr) p.admits = o.admits[args.choice(o.row)];
    }
    if (p.tokens_per_step < p.sequences && p.steps == step_rule::mixed) p.sequences = p.tokens_per_step;
    return p;
}

}  // namespace llmcost::cli
