// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include <llmcost/simulation/prefix_tiers.hpp>

namespace llmcost {

/// The pages of a KV cache. Prefix blocks of pages can be shared by several requests.
///
/// A prefix block without references stays cached until its pages are needed. The least recently used is evicted first.
/// Source: vllm, v1/core/kv_cache_manager.py; sglang, mem_cache/radix_cache.py.
class kv_cache_pool {
public:
    /// A pool of `pages` pages. A prefix block has `pages_per_block` of them and stores `tokens_per_block` tokens.
    kv_cache_pool(std::int64_t pages, std::int64_t pages_per_block, std::int64_t tokens_per_block)
        : pages_(pages), pages_per_block_(pages_per_block), tokens_per_block_(tokens_per_block) {}

    /// Stores prefix blocks in lower tiers as soon as they exist, or when they are evicted.
    void set_lower_tiers(prefix_tiers* tiers, bool stores_on_eviction) noexcept {
        lower_tiers_ = tiers;
        stores_on_eviction_ = stores_on_eviction;
    }

    [[nodiscard]] std::int64_t num_pages() const noexcept { return pages_; }
    [[nodiscard]] std::int64_t pages_per_block() const noexcept { return pages_per_block_; }
    [[nodiscard]] std::int64_t tokens_per_block() const noexcept { return tokens_per_block_; }
    /// Cached prefix blocks.
    [[nodiscard]] std::size_t num_prefix_blocks() const noexcept { return prefix_blocks_.size(); }
    /// Pages of running requests.
    [[nodiscard]] double num_used() const noexcept {
        return private_pages_ + static_cast<double>(pages_per_block_ * num_pinned_blocks_);
    }
    /// Pages that can be allocated, including those of prefix blocks without references.
    [[nodiscard]] double num_available() const noexcept { return static_cast<double>(pages_) - num_used(); }

    /// Whether a prefix block was evicted.
    [[nodiscard]] bool has_evicted() const noexcept { return has_evicted_; }

    /// Allocates private pages of a request. Requires that they are available.
    void allocate(double pages);
    void free(double pages) noexcept { private_pages_ -= pages; }

    /// Length of the longest cached prefix of `names`, in blocks.
    [[nodiscard]] std::int64_t num_cached_prefix_blocks(const std::vector<std::uint64_t>& names) const;
    /// Number of blocks of `names` that are cached at any position.
    [[nodiscard]] std::int64_t num_cached_blocks(const std::vector<std::uint64_t>& names) const;
    /// Number of cached blocks of `names` that no running request uses. `pin` takes their pages.
    [[nodiscard]] std::int64_t num_unreferenced_blocks(const std::vector<std::uint64_t>& names) const;
    /// Adds a reference to each block of `names`, and caches the missing ones.
    void pin(const std::vector<std::uint64_t>& names);
    /// Removes a reference from each block. The last blocks of a prompt are evicted before the first.
    ///
    /// Source: vllm, v1/core/single_type_kv_cache_manager.py, `free`; sglang and TensorRT-LLM evict leaves of a tree.
    void unpin(const std::vector<std::uint64_t>& names);
    /// Caches blocks without references. Requires that their pages are available.
    void insert(const std::vector<std::uint64_t>& names);

private:
    struct prefix_block {
        std::int64_t num_references = 0;
        std::list<std::uint64_t>::iterator place{};  ///< position in `lru_blocks_`
    };
    void evict_if_needed();
    void store_in_lower_tiers(std::uint64_t name, bool is_evicted) {
        if (lower_tiers_ != nullptr && is_evicted == stores_on_eviction_) lower_tiers_->store(name);
    }

    std::int64_t pages_, pages_per_block_, tokens_per_block_;
    double private_pages_ = 0;  ///< an integer without draft tokens, otherwise a mean
    std::int64_t num_pinned_blocks_ = 0;
    bool has_evicted_ = false;
    bool stores_on_eviction_ = false;
    prefix_tiers* lower_tiers_ = nullptr;
    std::unordered_map<std::uint64_t, prefix_block> prefix_blocks_;
    std::list<std::uint64_t> lru_blocks_;  ///< without references, least recently used first
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/simulation/impl/kv_cache_pool.ipp>  // IWYU pragma: export
#endif
