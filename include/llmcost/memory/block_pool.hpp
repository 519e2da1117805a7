// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/memory/kv_cache_layers.hpp>

// The paged KV cache of an engine: blocks of equal size for layers of all kinds.
namespace llmcost {

/// Layers that share a block table.
struct kv_cache_group {
    kv_cache_layer layer{};
    std::int64_t num_layers = 0;
    std::int64_t block_size = 0;  ///< tokens per block; a recurrent layer has one state per block
    count page_bytes{};           ///< of all layers; layers with compressed entries: groups have different sizes
};

/// Block tables of equal layers. A request has one block per `block_size` tokens in each of them.
struct block_table_kind {
    std::int64_t num_tables = 1;
    std::int64_t block_size = 1;  ///< tokens
    std::int64_t max_tokens = 0;  ///< tokens that are stored at the same time; 0: all tokens

    friend constexpr bool operator==(const block_table_kind&, const block_table_kind&) = default;
};

/// Blocks of the KV cache that a request has, as a function of its number of tokens.
///
///     num_units(n) = fixed_blocks + sum over kinds: num_tables · ceil(min(n, max_tokens) / block_size)
///     num_blocks(n) = ceil(num_units(n) / units_per_block).
struct request_blocks {
    std::int64_t fixed_blocks = 0;  ///< states, and the additional block of a sliding window
    std::vector<block_table_kind> kinds{};
    /// Layers with compressed entries have pages of different sizes: `fixed_blocks` and `num_tables` count units of
    /// memory, and a block has several of them.
    std::int64_t units_per_block = 1;

    [[nodiscard]] std::int64_t num_units(std::int64_t num_tokens) const noexcept;
    [[nodiscard]] std::int64_t operator()(std::int64_t num_tokens) const noexcept;
};

/// One block table for all layers, in which all tokens are stored.
[[nodiscard]] request_blocks blocks_of_all_tokens(std::int64_t block_size);

/// The blocks of a KV cache.
///
/// The first constructor is the hybrid KV cache manager of vLLM.
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
/// Layers with compressed entries have several caches, whose pages are multiples of 576 bytes:
///
///     entries: 256 / ratio entries of head_dim − rotary_dim + 2 · rotary_dim + 8 bytes
///     indexer: 256 / ratio entries of index_head_dim · (1 + 4 / 128) bytes
///     window: 64 tokens of the size of an entry
///     states of the next entries: 4 tokens (8 without overlap) of 2 · head_dim float32 values, twice with overlap.
///
/// A block has one page of each size for each of `n` layer tuples, where n is the number of layers of the most frequent
/// size. The caches of windows and of states are groups of up to n layers, with pages of the sizes of entries.
///
/// Source: vllm/v1/core/kv_cache_utils.py, `_get_kv_cache_groups_uniform_groups`, `_get_kv_cache_config_deepseek_v4`;
/// vllm/model_executor/layers/deepseek_compressor.py, `CompressorStateCache`;
/// vllm/v1/attention/backends/mla/sparse_swa.py, `DeepseekV4SWACache`. Of pages:
/// vllm/v1/core/kv_cache_utils.py, `unify_kv_cache_spec_page_size`, `_get_kv_cache_groups_uniform_page_size`,
/// `get_max_concurrency_for_kv_cache_config`, `_report_kv_cache_config`; vllm/model_executor/models/config.py,
/// `HybridAttentionMambaModelConfig`; vllm/v1/kv_cache_interface.py, `max_memory_usage_bytes`.
class block_pool {
public:
    /// `block_size`: tokens per block. `max_num_batched_tokens`: new tokens per step; 0: the entire prompt.
    block_pool(const std::vector<kv_cache_layer>& layers, std::int64_t block_size, std::int64_t max_num_batched_tokens);

    /// The pool of an engine without a hybrid cache manager: all layers have one block table.
    ///
    /// `window`: tokens of the sliding window of all layers; 0: all tokens are stored. States take entire blocks of the
    /// pool. Without attention layers, a block has 1 KiB.
    block_pool(const kv_cache_size& size, std::int64_t window, std::int64_t block_size);

    [[nodiscard]] const std::vector<kv_cache_group>& groups() const noexcept { return groups_; }
    [[nodiscard]] count block_bytes() const noexcept { return block_bytes_; }

    /// Blocks of a request with `num_tokens` tokens: the most that it ever has.
    ///
    ///     all tokens: ceil(num_tokens / block_size)
    ///     sliding window: ceil(min(window − 1 + max_num_batched_tokens, num_tokens) / block_size) + 1
    ///     chunks: ceil(min(chunk + max_num_batched_tokens, num_tokens) / block_size)
    ///     state: 1.
    ///
    /// With compressed entries: ceil(Σ blocks of a group · its page_bytes / page_bytes of the first group).
    [[nodiscard]] std::int64_t num_blocks_of_request(std::int64_t num_tokens) const { return blocks_(num_tokens); }
    [[nodiscard]] const request_blocks& blocks_of_requests() const noexcept { return blocks_; }

    /// Bytes of a request with `num_tokens` tokens.
    [[nodiscard]] count request_bytes(std::int64_t num_tokens) const {
        return block_bytes_ * count(num_blocks_of_request(num_tokens));
    }

    /// Blocks that fit into `bytes`.
    [[nodiscard]] std::int64_t num_blocks_in(count bytes) const;

    /// Whether a layer has compressed entries: the tokens in a block depend on the length of a request.
    [[nodiscard]] bool has_compressed_entries() const noexcept {
        return !groups_.empty() && groups_.front().layer.compressed.head_dim > 0;
    }

    /// Tokens in `num_blocks` blocks, as the log of vLLM prints them: "GPU KV cache size".
    [[nodiscard]] std::int64_t num_tokens_in(std::int64_t num_blocks) const;

private:
    void add_compressed_groups(const std::vector<kv_cache_layer>& layers);

    std::vector<kv_cache_group> groups_;
    count block_bytes_;
    request_blocks blocks_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/block_pool.ipp>  // IWYU pragma: export
#endif
