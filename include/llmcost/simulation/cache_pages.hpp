// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

namespace llmcost {

/// Pages of a cache, some of which hold named blocks of prompts that others may begin with.
///
/// A named block that no running request uses stays until its place is needed; the one that was used longest ago goes first
/// (vLLM, v1/core/kv_cache_manager.py; SGLang, mem_cache/radix_cache.py evict by least recent use).
class cache_pages {
public:
    /// So many pages, of which each named block takes `pages_per_block`.
    cache_pages(std::int64_t pages, std::int64_t pages_per_block) : pages_(pages), per_block_(pages_per_block) {}

    [[nodiscard]] std::int64_t all() const noexcept { return pages_; }
    [[nodiscard]] std::int64_t per_block() const noexcept { return per_block_; }
    /// Named blocks that it holds.
    [[nodiscard]] std::size_t named() const noexcept { return known_.size(); }
    /// Pages that running requests hold.
    [[nodiscard]] double used() const noexcept { return own_ + static_cast<double>(per_block_ * pinned_); }
    /// Pages that can be had, those of unused blocks among them.
    [[nodiscard]] double available() const noexcept { return static_cast<double>(pages_) - used(); }

    /// Takes pages that belong to one request alone, which must be available.
    void take(double pages) {
        own_ += pages;
        make_room();
    }
    void give_back(double pages) noexcept { own_ -= pages; }

    /// How many of these blocks, from the first on without a gap, are held.
    [[nodiscard]] std::int64_t held(const std::vector<std::uint64_t>& names) const {
        std::int64_t n = 0;
        for (const std::uint64_t name : names) {
            if (known_.find(name) == known_.end()) break;
            ++n;
        }
        return n;
    }
    /// How many of these blocks are held, wherever they stand.
    [[nodiscard]] std::int64_t present(const std::vector<std::uint64_t>& names) const {
        std::int64_t n = 0;
        for (const std::uint64_t name : names) n += known_.find(name) != known_.end() ? 1 : 0;
        return n;
    }
    /// Of those that are held, how many no running request uses: pinning them takes their pages.
    [[nodiscard]] std::int64_t unused(const std::vector<std::uint64_t>& names) const {
        std::int64_t n = 0;
        for (const std::uint64_t name : names)
            if (const auto found = known_.find(name); found != known_.end() && found->second.users == 0) ++n;
        return n;
    }
    /// Holds these blocks until they are unpinned as often as they were pinned.
    void pin(const std::vector<std::uint64_t>& names) {
        for (const std::uint64_t name : names) {
            const auto [at, fresh] = known_.try_emplace(name);
            if (at->second.users++ > 0) continue;
            ++pinned_;
            if (!fresh) idle_.erase(at->second.place);
        }
        make_room();
    }
    void unpin(const std::vector<std::uint64_t>& names) {
        for (const std::uint64_t name : names) {
            const auto at = known_.find(name);
            if (--at->second.users > 0) continue;
            --pinned_;
            at->second.place = idle_.insert(idle_.end(), name);
        }
    }

private:
    struct block {
        std::int64_t users = 0;
        std::list<std::uint64_t>::iterator place{};  ///< among the idle ones
    };
    void make_room() {
        while (!idle_.empty() && available() < static_cast<double>(per_block_) * static_cast<double>(idle_.size())) {
            known_.erase(idle_.front());
            idle_.pop_front();
        }
    }

    std::int64_t pages_, per_block_;
    double own_ = 0;  ///< a whole number, but where tokens are drafted: then an average
    std::int64_t pinned_ = 0;
    std::unordered_map<std::uint64_t, block> known_;
    std::list<std::uint64_t> idle_;  ///< the one used longest ago first
};

}  // namespace llmcost
