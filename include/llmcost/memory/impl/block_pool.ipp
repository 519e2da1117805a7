// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/block_pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/layers/model_config.hpp>
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

/// Bytes of a page of `num_entries` vectors, up to a multiple of the alignment of FlashMLA.
[[nodiscard]] LLMCOST_INLINE std::int64_t aligned_page_bytes(std::int64_t num_entries, std::int64_t entry_bytes) {
    constexpr std::int64_t alignment = 576;
    return ceil_divide(num_entries * entry_bytes, alignment) * alignment;
}

/// The number of layers of a group that adds the fewest empty places, among `smallest` to the largest of `sizes`.
[[nodiscard]] LLMCOST_INLINE std::int64_t least_padded_size(const std::vector<std::int64_t>& sizes,
                                                            std::int64_t smallest) {
    std::int64_t best = smallest, least_padding = -1;
    for (std::int64_t size = smallest; size <= *std::max_element(sizes.begin(), sizes.end()); ++size) {
        std::int64_t padding = 0;
        for (const std::int64_t n : sizes) padding += ceil_divide(n, size) * size - n;
        if (least_padding < 0 || padding <= least_padding) {
            best = size;
            least_padding = padding;
        }
    }
    return best;
}

/// Caches of one kind of layers with compressed entries: their number, tokens per block and bytes per layer.
struct compressed_cache {
    compressed_attention attention{};
    std::int64_t window = 0;
    std::int64_t block_size = 0;
    std::int64_t num_layers = 0;
    std::int64_t page_bytes = 0;  ///< of a layer
};

/// The blocks of a request in groups of layers, each with a block table. Equal groups are merged.
///
/// If groups have pages of different sizes, the unit is the greatest common divisor of the sizes.
[[nodiscard]] LLMCOST_INLINE request_blocks blocks_of_groups(const std::vector<kv_cache_group>& groups,
                                                             std::int64_t max_num_batched_tokens) {
    request_blocks blocks;
    std::uint64_t unit_bytes = 0;
    for (const kv_cache_group& g : groups) unit_bytes = std::gcd(unit_bytes, g.page_bytes.to_64());
    const auto units_of = [&](const kv_cache_group& g) {
        return unit_bytes == 0 ? 1 : static_cast<std::int64_t>(g.page_bytes.to_64() / unit_bytes);
    };
    blocks.units_per_block = units_of(groups.front());
    for (const kv_cache_group& g : groups) {
        const std::int64_t units = units_of(g);
        if (g.layer.bytes_per_token == count{}) {
            blocks.fixed_blocks += units;
            continue;
        }
        const std::int64_t window = g.layer.window;
        const bool is_sliding = window != 0 && !g.layer.is_chunked;
        if (is_sliding) blocks.fixed_blocks += units;
        const bool has_limit = window != 0 && max_num_batched_tokens > 0;
        block_table_kind kind{.num_tables = units,
                              .block_size = g.block_size,
                              .max_tokens = has_limit ? window - (is_sliding ? 1 : 0) + max_num_batched_tokens : 0};
        const auto found = std::find_if(blocks.kinds.begin(), blocks.kinds.end(), [&](const block_table_kind& k) {
            return k.block_size == kind.block_size && k.max_tokens == kind.max_tokens;
        });
        if (found != blocks.kinds.end())
            found->num_tables += units;
        else
            blocks.kinds.push_back(kind);
    }
    return blocks;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::int64_t request_blocks::num_units(std::int64_t num_tokens) const noexcept {
    std::int64_t num_units = fixed_blocks;
    for (const block_table_kind& k : kinds) {
        const std::int64_t stored_tokens = k.max_tokens > 0 ? std::min(num_tokens, k.max_tokens) : num_tokens;
        num_units += k.num_tables * detail::ceil_divide(stored_tokens, k.block_size);
    }
    return num_units;
}

LLMCOST_INLINE std::int64_t request_blocks::operator()(std::int64_t num_tokens) const noexcept {
    return detail::ceil_divide(num_units(num_tokens), units_per_block);
}

LLMCOST_INLINE request_blocks blocks_of_all_tokens(std::int64_t block_size) {
    return {.fixed_blocks = 0, .kinds = {{.num_tables = 1, .block_size = block_size, .max_tokens = 0}}};
}

LLMCOST_INLINE block_pool::block_pool(const std::vector<kv_cache_layer>& layers, std::int64_t block_size,
                                      std::int64_t max_num_batched_tokens) {
    std::vector<kv_cache_group> kinds = detail::layers_by_kind(layers, block_size);
    if (kinds.empty()) return;
    if (std::any_of(kinds.begin(), kinds.end(), [](const kv_cache_group& k) { return k.layer.compressed.ratio > 0; })) {
        add_compressed_groups(layers);
    } else if (detail::stores_equal_tokens(kinds)) {
        count bytes_per_token;
        for (const kv_cache_group& k : kinds) bytes_per_token += k.layer.bytes_per_token * count(k.num_layers);
        block_bytes_ = bytes_per_token * count(block_size);
        groups_.push_back(kinds.front());
        groups_.back().num_layers = static_cast<std::int64_t>(layers.size());
    } else {
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
    blocks_ = detail::blocks_of_groups(groups_, max_num_batched_tokens);
}

LLMCOST_INLINE void block_pool::add_compressed_groups(const std::vector<kv_cache_layer>& layers) {
    constexpr std::int64_t entry_block_size = 256, window_block_size = 64, scale_bytes = 8, float_bytes = 4;
    std::vector<kv_cache_group> kinds = detail::layers_by_kind(layers, entry_block_size);
    const compressed_attention& any = kinds.front().layer.compressed;
    const std::int64_t entry_bytes = any.head_dim + any.rotary_dim + scale_bytes;

    std::vector<std::int64_t> page_sizes, layers_of_size;
    count full_bytes;
    const auto add_page = [&](std::int64_t bytes, std::int64_t num_layers) {
        full_bytes += count(bytes) * count(num_layers);
        const auto found = std::find(page_sizes.begin(), page_sizes.end(), bytes);
        if (found == page_sizes.end()) {
            page_sizes.push_back(bytes);
            layers_of_size.push_back(num_layers);
        } else {
            layers_of_size[static_cast<std::size_t>(found - page_sizes.begin())] += num_layers;
        }
    };
    for (const kv_cache_group& k : kinds) {
        const compressed_attention& a = k.layer.compressed;
        if (a.ratio == 0) continue;
        const std::int64_t num_entries = entry_block_size / a.ratio;
        add_page(detail::aligned_page_bytes(num_entries, entry_bytes), k.num_layers);
        if (a.index_head_dim > 0)
            add_page(detail::aligned_page_bytes(
                         num_entries, static_cast<std::int64_t>(detail::index_key_bytes(a.index_head_dim).to_64())),
                     k.num_layers);
    }
    const auto page_for = [&](std::int64_t bytes) {
        std::int64_t page = 0;
        for (const std::int64_t size : page_sizes)
            if (size >= bytes && (page == 0 || size < page)) page = size;
        return page;
    };

    std::vector<detail::compressed_cache> caches{
        {.attention = any,
         .window = kinds.front().layer.window,
         .block_size = window_block_size,
         .num_layers = static_cast<std::int64_t>(layers.size()),
         .page_bytes = page_for(detail::aligned_page_bytes(window_block_size, entry_bytes))}};
    for (const kv_cache_group& k : kinds) {
        const compressed_attention& a = k.layer.compressed;
        if (a.ratio == 0) continue;
        const std::int64_t overlap = a.overlaps ? 2 : 1, block_size = a.overlaps ? 4 : 8;
        const auto state_page = [&](std::int64_t dim) {
            return dim == 0 ? 0 : page_for(detail::aligned_page_bytes(block_size, 2 * overlap * dim * float_bytes));
        };
        caches.push_back({.attention = a,
                          .window = overlap * a.ratio,
                          .block_size = block_size,
                          .num_layers = k.num_layers,
                          .page_bytes = state_page(a.head_dim) + state_page(a.index_head_dim)});
    }
    const std::int64_t num_tuples = *std::max_element(layers_of_size.begin(), layers_of_size.end());
    std::vector<std::int64_t> group_sizes{num_tuples};
    for (const detail::compressed_cache& c : caches) group_sizes.push_back(c.num_layers);
    const std::int64_t group_size = detail::least_padded_size(group_sizes, num_tuples);

    groups_.push_back({.layer = {.bytes_per_token = count(1), .compressed = any},
                       .num_layers = num_tuples,
                       .block_size = entry_block_size,
                       .page_bytes = full_bytes});
    for (const detail::compressed_cache& c : caches) {
        const std::int64_t num_groups = detail::ceil_divide(c.num_layers, group_size);
        for (std::int64_t g = 0; g < num_groups; ++g) {
            const std::int64_t n = (c.num_layers - g + num_groups - 1) / num_groups;
            groups_.push_back({.layer = {.bytes_per_token = count(1), .window = c.window, .compressed = c.attention},
                               .num_layers = n,
                               .block_size = c.block_size,
                               .page_bytes = count(n) * count(c.page_bytes)});
        }
    }
    count tuple_bytes;
    for (const std::int64_t size : page_sizes) tuple_bytes += count(size);
    const auto longest = std::max_element(groups_.begin(), groups_.end(),
                                          [](const auto& a, const auto& b) { return a.num_layers < b.num_layers; });
    block_bytes_ = tuple_bytes * count(longest->num_layers);
}

LLMCOST_INLINE block_pool::block_pool(const kv_cache_size& size, std::int64_t window, std::int64_t block_size) {
    constexpr std::uint64_t state_block_bytes = 1024;
    const bool has_tokens = size.bytes_per_token != count{};
    block_bytes_ = has_tokens ? size.bytes_per_token * count(block_size) : count(state_block_bytes);
    groups_.push_back({.layer = {.bytes_per_token = size.bytes_per_token,
                                 .window = window,
                                 .is_chunked = false,
                                 .state_bytes = size.bytes_per_sequence},
                       .num_layers = 1,
                       .block_size = block_size});
    if (has_tokens) blocks_.kinds = {{.num_tables = 1, .block_size = block_size, .max_tokens = window}};
    const count state_blocks = (size.bytes_per_sequence + block_bytes_ - count(1)) / block_bytes_;
    blocks_.fixed_blocks = static_cast<std::int64_t>(state_blocks.to_64()) + (window > 0 ? 1 : 0);
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
