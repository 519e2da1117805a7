// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/memory/inference.hpp>

// The options of commands that compute the memory of an inference step.
namespace llmcost::cli {

namespace detail {

inline std::vector<std::string_view> engine_memory_names(const program&) { return names_in(engine_memory_profiles); }

}  // namespace detail

namespace option {

inline constexpr option_spec allocator{
    .name = "--engine",
    .value = "NAME",
    .type = value_type::text,
    .help =
        "engine whose memory management is used: vllm, sglang, trtllm, llama.cpp, transformers, "
        "pytorch or none (default vllm; pytorch for models without tokens)",
    .completions = detail::engine_memory_names};
inline constexpr option_spec utilization{
    .name = "--gpu-memory-utilization",
    .aliases = {"--memory-share"},
    .value = "X",
    .type = value_type::number,
    .help = "fraction of device memory that the engine uses; vllm only (default 0.92)"};
inline constexpr option_spec free_memory_fraction{
    .name = "--free-gpu-memory-fraction",
    .aliases = {"--kv-cache-free-gpu-memory-fraction"},
    .value = "X",
    .type = value_type::number,
    .help = "trtllm: fraction of the memory that weights and activations leave, for the KV cache (default 0.9)"};
inline constexpr option_spec tokens_per_block{.name = "--tokens-per-block",
                                              .value = "N",
                                              .type = value_type::number,
                                              .help = "trtllm: tokens per block of the KV cache (default 32)"};
inline constexpr option_spec max_attention_window{
    .name = "--max-attention-window",
    .value = "LIST",
    .type = value_type::text,
    .help = "trtllm: tokens that layers store, repeated over the layers: 512,512,32768 (default: all tokens)"};
inline constexpr option_spec engine_memory{
    .name = "--engine-memory",
    .value = "SIZE",
    .type = value_type::text,
    .help =
        "memory of the engine as in its log: activation peak and non-PyTorch memory "
        "(default: computed)"};
inline constexpr option_spec memory_engine_version{
    .name = "--engine-version",
    .value = "VERSION",
    .type = value_type::text,
    .help = "version of vllm or sglang, whose memory depends on it (default: newest)"};
inline constexpr option_spec memory_num_batched_tokens{
    .name = "--max-num-batched-tokens",
    .value = "N",
    .type = value_type::number,
    .help = "vllm: maximum tokens per step (default 8192; 2048 on devices below 70 GiB)"};
inline constexpr option_spec memory_num_seqs{
    .name = "--max-num-seqs",
    .value = "N",
    .type = value_type::number,
    .help = "vllm: maximum running requests (default 1024; 256 on devices below 70 GiB)"};
inline constexpr option_spec memory_sequence = [] {
    option_spec row = option::sequence;
    row.aliases[3] = "--max-model-len";
    return row;
}();

}  // namespace option

/// The options of an engine's memory management.
inline constexpr std::array engine_memory_options{option::allocator,
                                                  option::memory_engine_version,
                                                  option::utilization,
                                                  option::engine_memory,
                                                  option::memory_num_batched_tokens,
                                                  option::memory_num_seqs,
                                                  option::free_memory_fraction,
                                                  option::tokens_per_block,
                                                  option::max_attention_window};

/// The options of an inference step that accept lists.
inline constexpr std::array memory_lists{accepts_list(option::batch), accepts_list(option::memory_sequence),
                                         accepts_list(option::past), accepts_list(option::encoder_sequence)};

}  // namespace llmcost::cli
