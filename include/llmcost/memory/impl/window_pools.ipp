// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/window_pools.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/memory/kv_cache_layers.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

LLMCOST_INLINE window_pool_layout::window_pool_layout(const model& shard, const workload& load,
                                                      const attention_window_pattern& pattern, std::int64_t block_size,
                                                      std::int64_t max_num_batched_tokens, layer_range layers)
    : block_size_(block_size) {
    const std::int64_t context = shard.config.context_length() > 0 ? shard.config.context_length() : max_input;
    std::size_t index = 0;
    for (const kv_cache_layer& layer : kv_cache_layers_of(shard, load, layers)) {
        const std::int64_t window = std::min(pattern.windows[index++ % pattern.size], context);
        auto found =
            std::find_if(pools_.begin(), pools_.end(), [&](const window_pool& p) { return p.window == window; });
        if (found == pools_.end()) {
            const std::int64_t chunk =
                std::max<std::int64_t>(std::min(max_num_batched_tokens, context - 1 - window), 0);
            found = pools_.insert(
                std::find_if(pools_.begin(), pools_.end(), [&](const window_pool& p) { return p.window > window; }),
                {.window = window, .max_tokens = window < context ? window + chunk : 0});
        }
        found->token_bytes += layer.bytes_per_token;
    }
}

LLMCOST_INLINE std::int64_t window_pool_layout::blocks_of_request(const window_pool& pool,
                                                                  std::int64_t num_tokens) const {
    const std::int64_t stored = pool.max_tokens > 0 ? std::min(num_tokens, pool.max_tokens) : num_tokens;
    return (stored + block_size_ - 1) / block_size_;
}

LLMCOST_INLINE count window_pool_layout::request_bytes(std::int64_t num_tokens) const {
    count bytes;
    for (const window_pool& p : pools_)
        bytes += count(blocks_of_request(p, num_tokens)) * count(block_size_) * p.token_bytes;
    return bytes;
}

LLMCOST_INLINE count window_pool_layout::required_bytes(std::int64_t num_requests, std::int64_t num_tokens) const {
    count largest;
    for (const window_pool& p : pools_)
        largest = std::max(largest, count(num_requests) * count(blocks_of_request(p, num_tokens)) * count(block_size_) *
                                        p.token_bytes);
    return largest * count(static_cast<std::int64_t>(pools_.size()));
}

LLMCOST_INLINE std::vector<window_pool> window_pool_layout::pools_in(count bytes) const {
    std::vector<window_pool> pools = pools_;
    const count num_pools(static_cast<std::int64_t>(pools.size()));
    for (window_pool& p : pools)
        if (p.token_bytes != count{})
            p.num_blocks =
                static_cast<std::int64_t>((bytes / (num_pools * p.token_bytes * count(block_size_))).to_64());
    return pools;
}

}  // namespace llmcost
