// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

// Prefix blocks of a KV cache in memory below that of the device: host memory, then storage.
namespace llmcost {

/// The size of a tier below the memory of a device.
struct kv_cache_tier_size {
    double bytes = 0;  ///< for each device; 0: `kv_cache_ratio` times the KV cache of the device
    double kv_cache_ratio = 0;
    double bytes_per_second = 0;  ///< to the device
};

/// A tier below the device memory.
struct kv_cache_tier {
    std::int64_t num_blocks = 0;   ///< prefix blocks that it holds
    double seconds_per_block = 0;  ///< time to load a block into the device memory
};

/// Consecutive prefix blocks in the tiers, and the time to load them.
struct prefix_load {
    std::int64_t num_blocks = 0;
    double seconds = 0;
};

/// The prefix blocks of each tier, of which the least recently used are removed first.
///
/// Source: vllm, v1/kv_offload/cpu/policies/lru.py; sglang, mem_cache/hiradix_cache.py.
class prefix_tiers {
public:
    explicit prefix_tiers(const std::vector<kv_cache_tier>& tiers);

    [[nodiscard]] bool empty() const noexcept { return tiers_.empty(); }
    /// Stores a block in all tiers, or marks it as used.
    void store(std::uint64_t name);
    /// The blocks from `first` up to the first that no tier has. Each is loaded from the first tier that has it.
    [[nodiscard]] prefix_load find(const std::vector<std::uint64_t>& names, std::int64_t first) const;

private:
    struct tier {
        kv_cache_tier sizes{};
        std::list<std::uint64_t> lru_names{};  ///< least recently used first
        std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> places{};
    };
    std::vector<tier> tiers_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/simulation/impl/prefix_tiers.ipp>  // IWYU pragma: export
#endif
