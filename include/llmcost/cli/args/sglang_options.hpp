// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <llmcost/cli/args/options.hpp>

// The options of SGLang that affect memory, with its names.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec mem_fraction_static{
    .name = "--mem-fraction-static",
    .value = "X",
    .type = value_type::number,
    .help = "fraction of the free memory for weights and pools (default: by device size, as the version does)"};
inline constexpr option_spec memory_chunked_prefill_size{
    .name = "--chunked-prefill-size",
    .value = "N",
    .type = value_type::number,
    .help = "maximum tokens of a prefill step (default 2048 to 16384, by device size)"};
inline constexpr option_spec cuda_graph_max_bs{
    .name = "--cuda-graph-max-bs",
    .value = "N",
    .type = value_type::number,
    .help = "largest batch in a CUDA graph (default 8 to 512, by device size)"};
inline constexpr option_spec max_total_tokens{.name = "--max-total-tokens",
                                              .value = "N",
                                              .type = value_type::number,
                                              .help = "upper limit of the token pool (default: what memory allows)"};
inline constexpr option_spec memory_max_running_requests{
    .name = "--max-running-requests",
    .value = "N",
    .type = value_type::number,
    .help = "maximum running requests (default 2048 to 4096, by the token pool)"};
inline constexpr option_spec max_mamba_cache_size{
    .name = "--max-mamba-cache-size",
    .value = "N",
    .type = value_type::number,
    .help = "slots of recurrent states (default: by --mamba-full-memory-ratio)"};
inline constexpr option_spec mamba_full_memory_ratio{.name = "--mamba-full-memory-ratio",
                                                     .value = "X",
                                                     .type = value_type::number,
                                                     .help = "memory of states per memory of tokens (default 0.9)"};
inline constexpr option_spec swa_full_tokens_ratio{
    .name = "--swa-full-tokens-ratio",
    .value = "X",
    .type = value_type::number,
    .help = "tokens of sliding layers per token of other layers (default 0.8)"};
inline constexpr option_spec memory_page_size{
    .name = "--page-size", .value = "N", .type = value_type::number, .help = "tokens per page (default 1)"};
inline constexpr option_spec memory_disable_radix_cache{
    .name = "--disable-radix-cache", .help = "one slot of recurrent states per request instead of three"};

}  // namespace option

/// The options of `--engine sglang`.
inline constexpr std::array sglang_option_specs{
    option::mem_fraction_static,       option::memory_chunked_prefill_size, option::cuda_graph_max_bs,
    option::max_total_tokens,          option::memory_max_running_requests, option::max_mamba_cache_size,
    option::mamba_full_memory_ratio,   option::swa_full_tokens_ratio,       option::memory_page_size,
    option::memory_disable_radix_cache};

}  // namespace llmcost::cli
