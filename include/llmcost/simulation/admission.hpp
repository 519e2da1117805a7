// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/simulation/cache_pages.hpp>
#include <llmcost/simulation/known_ends.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/scheduling.hpp>
#include <llmcost/simulation/step_batch.hpp>
#include <llmcost/simulation/writing_requests.hpp>

namespace llmcost {

/// Whether the cache has room for one more prompt, by what those that run hold and are still to write (SGLang,
/// managers/schedule_policy.py, PrefillAdder).
class admission : protected writing_requests {
protected:
    admission(const scheduling_policy& how, std::int64_t pages, std::int64_t pages_per_block,
              const std::vector<simulated_request>& requests, std::vector<request_progress>& progress,
              double tokens_per_turn)
        : writing_requests(how, requests, progress, tokens_per_turn),
          pages_(pages, pages_per_block),
          share_(how.output_share) {}

    /// The share of outputs that admission foresees, so many steps later.
    [[nodiscard]] double fallen(double share, std::int64_t steps) const noexcept {
        const double fall = (how_.output_share - how_.least_output_share) / static_cast<double>(how_.share_falls_for);
        return std::max(how_.least_output_share, share - fall * static_cast<double>(steps));
    }
    /// In how many of the steps that were composed last it falls: not in one before which somebody gave way.
    [[nodiscard]] std::int64_t falls(std::int64_t steps) const noexcept { return preempted_now_ ? steps - 1 : steps; }
    /// And those of them that an engine knows of when it composes the next one: not those of a step that still runs.
    [[nodiscard]] std::int64_t handled(std::size_t id) const {
        const request_progress& p = (*progress_)[id];
        const bool runs =
            how_.steps_ahead > 0 && (p.at == place::writes || p.at == place::ended) && (wrote_ || p.joined == batches_);
        return written(id) - (runs ? 1 : 0);
    }
    /// The share of outputs that those that are left have written, and what they will write soon (SGLang,
    /// managers/scheduler_components/new_token_ratio_tracker.py).
    [[nodiscard]] double share_behind_preemption() {
        tidy();
        double asked = 1, soon = 0;
        for (const admitted& a : order_)
            if ((*progress_)[a.id].at == place::writes)
                asked += static_cast<double>((*requests_)[a.id].output), soon += static_cast<double>(handled(a.id) + 20);
        return std::min(1.0, soon / asked);
    }
    /// Forgets who is no longer there.
    void tidy() {
        order_.erase(std::remove_if(order_.begin(), order_.end(),
                                    [&](const admitted& a) { return (*progress_)[a.id].life != a.life; }),
                     order_.end());
    }
    /// Tokens of a prompt that are in the cache; the last one is always computed.
    [[nodiscard]] std::int64_t found(const simulated_request& r) const {
        auto tokens = static_cast<std::int64_t>(r.cached * static_cast<double>(r.input));
        if (is_named(r)) tokens = pages_.held(r.blocks) * pages_.per_block() * how_.block;
        return std::min(tokens, r.input - 1);
    }
    [[nodiscard]] double still_to_write() {
        tidy();
        double tokens = 0;
        for (const admitted& a : order_)
            if ((*progress_)[a.id].at != place::prompt)
                tokens += static_cast<double>(std::min((*requests_)[a.id].output - handled(a.id), most_output_foreseen));
        return tokens * (how_.knows_ends ? 1 : share_);
    }
    /// Whether all that run, and one more, can write to their ends.
    [[nodiscard]] bool ends_fit(std::size_t id, double foreseen) {
        const auto end_of = [&](std::size_t of) {
            const std::int64_t written = handled(of);
            return known_end{static_cast<double>((*requests_)[of].output - written),
                             static_cast<double>((*requests_)[of].input + written)};
        };
        const auto block = static_cast<double>(how_.block);
        const double taken = static_cast<double>(pages_of((*progress_)[id].wanted) + 1) * block;
        if (taken > room(foreseen)) return false;
        if (!ends_.empty()) {
            ends_.insert(end_of(id));
        } else {
            ends_.add(end_of(id));
            for (const bool prompts : {false, true})
                for (const admitted& a : order_)
                    if (((*progress_)[a.id].at == place::prompt) == prompts) ends_.add(end_of(a.id));
            ends_.sort();
        }
        return ends_.fit(room(static_cast<double>(batch_.prompts.size()) * block) - taken);
    }
    /// Beside the pages that a prompt takes: one more, and behind its last chunk all that it may write.
    [[nodiscard]] double foreseen_behind(std::size_t id) const {
        const request_progress& p = (*progress_)[id];
        const std::int64_t output = std::min((*requests_)[id].output, most_output_foreseen);
        return static_cast<double>(how_.block + (p.computed == p.wanted ? output : 0));
    }
    /// Tokens that the cache has room for beside those that are foreseen.
    [[nodiscard]] double room(double foreseen) const {
        return (pages_.available() - claimed_) * static_cast<double>(how_.block) - foreseen;
    }
    /// Of a chunk; all of it where there is room for nothing, so that it comes to an end.
    [[nodiscard]] std::int64_t room_for_chunk(double foreseen, std::int64_t chunk) const {
        const auto tokens = static_cast<std::int64_t>(room(foreseen));
        return tokens > 0 ? tokens : chunk;
    }
    [[nodiscard]] bool is_named(const simulated_request& r) const { return how_.caches_prefixes && !r.blocks.empty(); }
    /// Pages beside its named blocks that a request holds once so many of its tokens are computed.
    [[nodiscard]] std::int64_t own_pages(std::size_t id, std::int64_t computed) const {
        const simulated_request& r = (*requests_)[id];
        const std::int64_t all = pages_of(reserves_all() ? (*progress_)[id].wanted + r.output - 1 : computed);
        if (!is_named(r)) return all;
        return std::max<std::int64_t>(0, all - static_cast<std::int64_t>(r.blocks.size()) * pages_.per_block());
    }
    /// Pages that its whole prompt needs, with those of its blocks that no running request holds.
    [[nodiscard]] std::int64_t new_pages(std::size_t id) const {
        const simulated_request& r = (*requests_)[id];
        const std::int64_t own = own_pages(id, (*progress_)[id].wanted);
        if (!is_named(r)) return own;
        const std::int64_t missing = static_cast<std::int64_t>(r.blocks.size()) - pages_.present(r.blocks);
        return own + (missing + pages_.unused(r.blocks)) * pages_.per_block();
    }
    [[nodiscard]] bool has_room(std::size_t id, double foreseen) {
        const std::int64_t needed = new_pages(id);
        if (running_ == 0 && batch_.prompts.empty()) return true;  // else it would never be answered
        if (how_.admits != admission_rule::expected_output)
            return static_cast<double>(needed) <= pages_.available() - claimed_;
        if (how_.knows_ends) return ends_fit(id, foreseen);
        const std::int64_t output = std::min((*requests_)[id].output - (*progress_)[id].written, most_output_foreseen);
        return static_cast<double>(needed * how_.block + output + how_.block) < room(foreseen);
    }

    struct admitted {
        std::size_t id;
        std::uint32_t life;
    };
    known_ends ends_;  ///< of those that run and were looked at for this step
    cache_pages pages_;
    double share_, share_before_ = 0;  ///< of what is to be written that admission foresees; before the last batch
    std::vector<admitted> order_;      ///< as they were admitted
    std::int64_t running_ = 0;
    std::int64_t batches_ = 0;  ///< that were composed
    bool wrote_ = false;        ///< whether the last of them has those that write
    double claimed_ = 0;        ///< pages that those that write need in the step that is composed
    bool preempted_now_ = false;
    step_batch batch_;

private:
    static constexpr std::int64_t most_output_foreseen = 4096;  ///< SGLang's CLIP_MAX_NEW_TOKENS
};

}  // namespace llmcost
