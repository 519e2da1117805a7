// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/block_pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/memory/kv_cache_layers.hpp>

namespace llmcost::detail {

[[nodiscard]] LLMCOST_INLINE std::int64_t ceil_divide(std::int64_t n, std::int64_t divisor) {
    return (n + divisor - 1) / divisor;
}

/// The kinds of layers in order of first appearance, with the number of layers of each.
[[nodiscard]] LLMCOST_INLINE std::vector<kv_cache_group> layers_by_kind(const std::vector<kv_cache_layer>& layers,
                                                                        std::int64_t block_size) {
    std::vector<kv_cache_group> kinds;
    for (const kv_cache_layer& layer : layers) {
        const auto found =
            std::find_if(kinds.begin(), kinds.end(), [&](const kv_cache_group& k) { return k.layer == layer; });
        if (found != kinds.end())
            ++found->num_layers;
        else
            kinds.push_back({.layer = layer, .num_layers = 1, .block_size = block_size});
    }
    return kinds;
}

/// Whether all layers store the same tokens, so that they share one block table with pages of different sizes.
[[nodiscard]] LLMCOST_INLINE bool stores_equal_tokens(const std::vector<kv_cache_group>& kinds) {
    return std::all_of(kinds.begin(), kinds.end(), [&](const kv_cache_group& k) {
        return k.layer.state_bytes == count{} && k.layer.window == kinds.front().layer.window &&
               k.layer.is_chunked == kinds.front().layer.is_chunked;
    });
}

/// Enlarges the block size of attention layers until a page holds the largest state.
LLMCOST_INLINE void fit_states_into_pages(std::vector<kv_cache_group>& kinds) {
    constexpr std::int64_t alignment = 16;
    count state_bytes, bytes_per_token;
    for (const kv_cache_group& k : kinds) {
        if (k.layer.state_bytes > state_bytes) state_bytes = k.layer.state_bytes;
        if (k.layer.bytes_per_token > bytes_per_token) bytes_per_token = k.layer.bytes_per_token;
    }
    if (state_bytes == count{} || bytes_per_token == count{}) return;
    const count aligned = bytes_per_token * count(alignment);
    const auto num_aligned = static_cast<std::int64_t>(((state_bytes + aligned - count(1)) / aligned).to_64());
    for (kv_cache_group& k : kinds) k.block_size = std::max(k.block_size, alignment * num_aligned);
}

/// The size of the largest page. Enlarges the block size of attention layers with smaller pages.
[[nodiscard]] LLMCOST_INLINE count unify_page_size(std::vector<kv_cache_group>& kinds) {
    count page_bytes;
    for (const kv_cache_group& k : kinds) {
        const count bytes =
            k.layer.state_bytes != count{} ? k.layer.state_bytes : k.layer.bytes_per_token * count(k.block_size);
        if (bytes > page_bytes) page_bytes = bytes;
    }
    for (kv_cache_group& k : kinds)
        if (k.layer.bytes_per_token != count{})
            k.block_size = static_cast<std::int64_t>((page_bytes / k.layer.bytes_per_token).to_64());
    return page_bytes;
}

/// Layers per group: the fewest layers of a kind, or the most if they are less than half more.
[[nodiscard]] LLMCOST_INLINE std::int64_t group_size_of(const std::vector<kv_cache_group>& kinds) {
    std::int64_t fewest = kinds.front().num_layers, largest = fewest;
    for (const kv_cache_group& k : kinds) {
        fewest = std::min(fewest, k.num_layers);
        largest = std::max(largest, k.num_layers);
    }
    return 2 * largest < 3 * fewest ? largest : fewest;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE block_pool::block_pool(const std::vector<kv_cache_layer>& layers, std::int64_t block_size,
                                      std::int64_t max_num_batched_tokens)
    : max_num_batched_tokens_(max_num_batched_tokens) {
    std::vector<kv_cache_group> kinds = detail::layers_by_kind(layers, block_size);
    if (kinds.empty()) return;
    if (detail::stores_equal_tokens(kinds)) {
        count bytes_per_token;
        for (const kv_cache_group& k : kinds) bytes_per_token += k.layer.bytes_per_token * count(k.num_layers);
        block_bytes_ = bytes_per_token * count(block_size);
        groups_.push_back(kinds.front());
        groups_.back().num_layers = static_cast<std::int64_t>(layers.size());
        return;
    }
    detail::fit_states_into_pages(kinds);
    const count page_bytes = detail::unify_page_size(kinds);
    const std::int64_t group_size = detail::group_size_of(kinds);
    block_bytes_ = page_bytes * count(group_size);
    for (const kv_cache_group& k : kinds)
        for (std::int64_t rest = k.num_layers; rest > 0; rest -= group_size) {
            groups_.push_back(k);
            groups_.back().num_layers = std::min(rest, group_size);
        }
}

LLMCOST_INLINE std::int64_t block_pool::num_blocks_of_request(std::int64_t num_tokens) const {
    const std::int64_t new_tokens = max_num_batched_tokens_ > 0 ? max_num_batched_tokens_ : num_tokens;
    std::int64_t num_blocks = 0;
    for (const kv_cache_group& g : groups_) {
        if (g.layer.bytes_per_token == count{}) {
            ++num_blocks;
            continue;
        }
        const std::int64_t window = g.layer.window;
        const std::int64_t stored_tokens =
            window == 0 ? num_tokens : std::min(window - (g.layer.is_chunked ? 0 : 1) + new_tokens, num_tokens);
        num_blocks += detail::ceil_divide(stored_tokens, g.block_size) + (window != 0 && !g.layer.is_chunked ? 1 : 0);
    }
    return num_blocks;
}

LLMCOST_INLINE std::int64_t block_pool::num_blocks_in(count bytes) const {
    return block_bytes_ == count{} ? 0 : static_cast<std::int64_t>((bytes / block_bytes_).to_64());
}

LLMCOST_INLINE std::int64_t block_pool::num_tokens_in(std::int64_t num_blocks) const {
    if (groups_.empty()) return 0;
    const auto smallest = std::min_element(groups_.begin(), groups_.end(),
                                           [](const auto& a, const auto& b) { return a.block_size < b.block_size; });
    return num_blocks / static_cast<std::int64_t>(groups_.size()) * smallest->block_size;
}

}  // namespace llmcost
