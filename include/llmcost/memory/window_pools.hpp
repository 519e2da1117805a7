// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/memory/kv_cache_layers.hpp>
#include <llmcost/model/model_spec.hpp>

// The pools of TensorRT-LLM's KV cache: one for each size of attention windows.
namespace llmcost {

/// Attention windows in tokens, repeated over the layers of a pipeline stage. Empty: all layers store all tokens.
///
/// Source: tensorrt_llm/llmapi/llm_args.py, `KvCacheConfig.max_attention_window`.
struct attention_window_pattern {
    static constexpr std::size_t max_size = 128;
    std::array<std::int64_t, max_size> windows{};
    std::size_t size = 0;
};

/// A pool of blocks for all layers with one window.
struct window_pool {
    std::int64_t window = 0;      ///< tokens; at most those of the context
    std::int64_t max_tokens = 0;  ///< of a request at the same time; 0: all tokens
    count token_bytes{};          ///< of its layers
    std::int64_t num_blocks = 0;
};

/// The pools of one rank.
///
/// Each pool has an equal share of the memory. A request has, in the pool of a window w below the context length c:
///
///     tokens = min(n, w + min(max_num_batched_tokens, c − 1 − w)), in entire blocks.
///
/// Source: tensorrt_llm/_torch/pyexecutor/resource_manager.py, `KVCacheManager._get_window_size_to_layers`,
/// `calculate_max_num_blocks_for_vswa`; cpp/include/tensorrt_llm/batch_manager/kvCacheManager.h,
/// `calculateTemporaryAttentionWindow`; cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp,
/// `getRemainingBlocksToCompletion`.
class window_pool_layout {
public:
    /// `block_size`: tokens per block. `layers`: those of a pipeline stage.
    window_pool_layout(const model& shard, const workload& load, const attention_window_pattern& pattern,
                       std::int64_t block_size, std::int64_t max_num_batched_tokens, layer_range layers = all_layers);

    [[nodiscard]] std::int64_t block_size() const noexcept { return block_size_; }
    /// Blocks of a request with `num_tokens` tokens in a pool.
    [[nodiscard]] std::int64_t blocks_of_request(const window_pool& pool, std::int64_t num_tokens) const;
    /// Bytes of a request with `num_tokens` tokens, in all pools.
    [[nodiscard]] count request_bytes(std::int64_t num_tokens) const;
    /// The smallest memory whose pools hold `num_requests` requests of `num_tokens` tokens.
    [[nodiscard]] count required_bytes(std::int64_t num_requests, std::int64_t num_tokens) const;
    /// The pools in `bytes`, in ascending order of windows.
    ///
    ///     num_blocks = floor(bytes / pools / token_bytes / block_size).
    [[nodiscard]] std::vector<window_pool> pools_in(count bytes) const;

private:
    std::int64_t block_size_;
    std::vector<window_pool> pools_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/window_pools.ipp>  // IWYU pragma: export
#endif
