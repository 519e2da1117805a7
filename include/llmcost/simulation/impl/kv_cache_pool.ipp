// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/kv_cache_pool.hpp>

#include <cstdint>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/simulation/prefix_tiers.hpp>

namespace llmcost {

LLMCOST_INLINE void kv_cache_pool::allocate(double pages) {
    private_pages_ += pages;
    evict_if_needed();
}

LLMCOST_INLINE std::int64_t kv_cache_pool::num_cached_prefix_blocks(const std::vector<std::uint64_t>& names) const {
    std::int64_t n = 0;
    for (const std::uint64_t name : names) {
        if (prefix_blocks_.find(name) == prefix_blocks_.end()) break;
        ++n;
    }
    return n;
}

LLMCOST_INLINE std::int64_t kv_cache_pool::num_cached_blocks(const std::vector<std::uint64_t>& names) const {
    std::int64_t n = 0;
    for (const std::uint64_t name : names) n += prefix_blocks_.find(name) != prefix_blocks_.end() ? 1 : 0;
    return n;
}

LLMCOST_INLINE std::int64_t kv_cache_pool::num_unreferenced_blocks(const std::vector<std::uint64_t>& names) const {
    std::int64_t n = 0;
    for (const std::uint64_t name : names)
        if (const auto found = prefix_blocks_.find(name);
            found != prefix_blocks_.end() && found->second.num_references == 0)
            ++n;
    return n;
}

LLMCOST_INLINE void kv_cache_pool::pin(const std::vector<std::uint64_t>& names) {
    for (const std::uint64_t name : names) {
        const auto [entry, fresh] = prefix_blocks_.try_emplace(name);
        store_in_lower_tiers(name, false);
        if (entry->second.num_references++ > 0) continue;
        ++num_pinned_blocks_;
        if (!fresh) lru_blocks_.erase(entry->second.place);
    }
    evict_if_needed();
}

LLMCOST_INLINE void kv_cache_pool::unpin(const std::vector<std::uint64_t>& names) {
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
        const auto entry = prefix_blocks_.find(*name);
        if (--entry->second.num_references > 0) continue;
        --num_pinned_blocks_;
        entry->second.place = lru_blocks_.insert(lru_blocks_.end(), *name);
    }
}

LLMCOST_INLINE void kv_cache_pool::insert(const std::vector<std::uint64_t>& names) {
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
        const auto [entry, is_new] = prefix_blocks_.try_emplace(*name);
        store_in_lower_tiers(*name, false);
        if (is_new) entry->second.place = lru_blocks_.insert(lru_blocks_.end(), *name);
    }
    evict_if_needed();
}

LLMCOST_INLINE void kv_cache_pool::evict_if_needed() {
    while (!lru_blocks_.empty() &&
           num_available() < static_cast<double>(pages_per_block_) * static_cast<double>(lru_blocks_.size())) {
        has_evicted_ = true;
        store_in_lower_tiers(lru_blocks_.front(), true);
        prefix_blocks_.erase(lru_blocks_.front());
        lru_blocks_.pop_front();
    }
}

}  // namespace llmcost
