// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/memory/kv_cache_layers.hpp>

// The paged KV cache of vLLM: blocks of equal size for layers of all kinds.
namespace llmcost {

/// Layers that share a block table.
struct kv_cache_group {
    kv_cache_layer layer{};
    std::int64_t num_layers = 0;
    std::int64_t block_size = 0;  ///< tokens per block; a recurrent layer has one state per block
};

/// The hybrid KV cache manager of vLLM.
///
/// All layers have pages of equal size:
///
///     page_bytes = block_size · bytes_per_token, with a larger block_size for layers with smaller pages,
///     block_bytes = page_bytes · group_size.
///
/// A group has `group_size` layers of one kind, so that a block of any group has the same size. With recurrent layers,
/// the block size of attention layers grows until a page holds a state:
///
///     block_size = 16 · ceil(state_bytes / (16 · bytes_per_token)).
///
/// Source: vllm/v1/core/kv_cache_utils.py, `unify_kv_cache_spec_page_size`, `_get_kv_cache_groups_uniform_page_size`,
/// `get_max_concurrency_for_kv_cache_config`, `_report_kv_cache_config`; vllm/model_executor/models/config.py,
/// `HybridAttentionMambaModelConfig`; vllm/v1/kv_cache_interface.py, `max_memory_usage_bytes`.
class block_pool {
public:
    /// `block_size`: tokens per block. `max_num_batched_tokens`: new tokens per step; 0: the entire prompt.
    block_pool(const std::vector<kv_cache_layer>& layers, std::int64_t block_size, std::int64_t max_num_batched_tokens);

    [[nodiscard]] const std::vector<kv_cache_group>& groups() const noexcept { return groups_; }
    [[nodiscard]] count block_bytes() const noexcept { return block_bytes_; }

    /// Blocks of a request with `num_tokens` tokens: the most that it ever has.
    ///
    ///     all tokens: ceil(num_tokens / block_size)
    ///     sliding window: ceil(min(window − 1 + max_num_batched_tokens, num_tokens) / block_size) + 1
    ///     chunks: ceil(min(chunk + max_num_batched_tokens, num_tokens) / block_size)
    ///     state: 1.
    [[nodiscard]] std::int64_t num_blocks_of_request(std::int64_t num_tokens) const;

    /// Bytes of a request with `num_tokens` tokens.
    [[nodiscard]] count request_bytes(std::int64_t num_tokens) const {
        return block_bytes_ * count(num_blocks_of_request(num_tokens));
    }

    /// Blocks that fit into `bytes`.
    [[nodiscard]] std::int64_t num_blocks_in(count bytes) const;

    /// Tokens in `num_blocks` blocks, as the log of vLLM prints them: "GPU KV cache size".
    [[nodiscard]] std::int64_t num_tokens_in(std::int64_t num_blocks) const;

private:
    std::vector<kv_cache_group> groups_;
    count block_bytes_;
    std::int64_t max_num_batched_tokens_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/block_pool.ipp>  // IWYU pragma: export
#endif
