// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>

namespace llmcost {

/// A version of an engine with three numbers: major, minor, patch.
struct engine_version_number {
    std::array<int, 3> numbers{};

    friend constexpr auto operator<=>(const engine_version_number&, const engine_version_number&) = default;
};

/// Options of SGLang that affect memory. 0: the default of SGLang, which may depend on the device.
///
/// Source: sglang/srt/server_args.py, `ServerArgs`.
struct sglang_options {
    /// `--mem-fraction-static`: fraction of the free memory for weights and pools
    double mem_fraction_static = 0;
    std::int64_t chunked_prefill_size = 0;  ///< `--chunked-prefill-size`
    std::int64_t cuda_graph_max_bs = 0;     ///< `--cuda-graph-max-bs`: largest captured batch of a decode step
    std::int64_t max_total_tokens = 0;      ///< `--max-total-tokens`: upper limit of the token pool
    std::int64_t max_running_requests = 0;  ///< `--max-running-requests`
    std::int64_t max_mamba_cache_size = 0;  ///< `--max-mamba-cache-size`: slots of recurrent states
    std::int64_t page_size = 1;             ///< `--page-size`: tokens per page
    double swa_full_tokens_ratio = 0.8;     ///< `--swa-full-tokens-ratio`: tokens of sliding layers per token
    double mamba_full_memory_ratio = 0.9;   ///< `--mamba-full-memory-ratio`: memory of states per memory of tokens
    std::int64_t vision_layers = 0;         ///< layers that SGLang assumes of a vision encoder; 0: those of the model
    std::int64_t vision_hidden_size = 0;    ///< width that SGLang assumes of a vision encoder; 0: that of the model
    std::int64_t dp_attention_size = 1;     ///< `--dp-size` with `--enable-dp-attention`; 1: without
    bool has_radix_cache = true;            ///< false: `--disable-radix-cache`
    engine_version_number version{.numbers = {0, 5, 23}};
};

}  // namespace llmcost
