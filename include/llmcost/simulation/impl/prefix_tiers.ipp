// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/prefix_tiers.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/inline.hpp>

namespace llmcost {

LLMCOST_INLINE prefix_tiers::prefix_tiers(const std::vector<kv_cache_tier>& tiers) {
    for (const kv_cache_tier& sizes : tiers)
        if (sizes.num_blocks > 0) tiers_.push_back({.sizes = sizes});
}

LLMCOST_INLINE void prefix_tiers::store(std::uint64_t name) {
    for (tier& t : tiers_) {
        const auto [entry, is_new] = t.places.try_emplace(name);
        if (!is_new) t.lru_names.erase(entry->second);
        entry->second = t.lru_names.insert(t.lru_names.end(), name);
        if (static_cast<std::int64_t>(t.places.size()) <= t.sizes.num_blocks) continue;
        t.places.erase(t.lru_names.front());
        t.lru_names.pop_front();
    }
}

LLMCOST_INLINE prefix_load prefix_tiers::find(const std::vector<std::uint64_t>& names, std::int64_t first) const {
    prefix_load load;
    for (auto i = static_cast<std::size_t>(first); i < names.size(); ++i) {
        const auto found = std::ranges::find_if(tiers_, [&](const tier& t) { return t.places.contains(names[i]); });
        if (found == tiers_.end()) break;
        ++load.num_blocks;
        load.seconds += found->sizes.seconds_per_block;
    }
    return load;
}

}  // namespace llmcost
