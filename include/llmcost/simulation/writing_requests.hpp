// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/scheduling.hpp>
#include <llmcost/simulation/step_batch.hpp>

namespace llmcost {

/// The requests that write: all of them advance by a turn in every step that they are in, so that a turn says how long each
/// is, when each ends and how many pages they come to need, whatever their number.
class writing_requests {
protected:
    using place = request_progress::place;

    writing_requests(const scheduling_policy& how, const std::vector<simulated_request>& requests,
                     std::vector<request_progress>& progress, double tokens_per_turn)
        : how_(how), requests_(&requests), progress_(&progress), per_turn_(tokens_per_turn),
          phases_(static_cast<std::size_t>(how.block)) {}

    [[nodiscard]] std::int64_t pages_of(std::int64_t tokens) const noexcept {
        return (tokens + how_.block - 1) / how_.block;
    }
    [[nodiscard]] bool reserves_all() const noexcept { return how_.admits == admission_rule::whole_output; }
    /// Tokens that are written for a request in the steps that are composed.
    [[nodiscard]] std::int64_t written(std::size_t id) const {
        const request_progress& p = (*progress_)[id];
        if (p.at == place::ended) return (*requests_)[id].output;
        if (p.at != place::writes) return p.written;
        const auto more = static_cast<std::int64_t>(static_cast<double>(turns_ - p.entered) * per_turn_);
        return std::min(p.written + 1 + more, (*requests_)[id].output);
    }
    /// Pages that one that writes has come to need until a turn.
    [[nodiscard]] double grown(const request_progress& p, std::int64_t turn) const noexcept {
        const std::int64_t turns = turn - p.entered;
        if (reserves_all()) return 0;
        if (per_turn_ != 1) return static_cast<double>(turns) * per_turn_ / static_cast<double>(how_.block);
        return static_cast<double>(pages_of(p.computed + turns) - pages_of(p.computed));
    }
    [[nodiscard]] std::size_t phase(const request_progress& p) const noexcept {
        const std::int64_t of = (p.computed - p.entered) % how_.block;
        return static_cast<std::size_t>(of < 0 ? of + how_.block : of);
    }
    /// Pages that so many turns behind one need.
    [[nodiscard]] double growth(std::int64_t turn, std::int64_t turns) const noexcept {
        if (reserves_all()) return 0;
        if (per_turn_ != 1)  // on an average
            return static_cast<double>(turns) * per_turn_ * static_cast<double>(writing_) / static_cast<double>(how_.block);
        std::int64_t pages = turns / how_.block * writing_;
        for (std::int64_t i = 0; i < turns % how_.block; ++i)
            pages += phases_[static_cast<std::size_t>((how_.block - (turn + i) % how_.block) % how_.block)];
        return static_cast<double>(pages);
    }
    void enter(std::size_t id, std::int64_t ends) {
        request_progress& p = (*progress_)[id];
        p.at = place::writes, p.ends = ends;
        endings_.push_back({ends, id, p.life});
        std::push_heap(endings_.begin(), endings_.end());
        ++writing_, past_ += static_cast<double>(p.computed) - static_cast<double>(p.entered) * per_turn_;
        ++phases_[phase(p)];
    }
    void leave(std::size_t id) {
        const request_progress& p = (*progress_)[id];
        --writing_, past_ -= static_cast<double>(p.computed) - static_cast<double>(p.entered) * per_turn_;
        --phases_[phase(p)];
    }
    /// The turn in which somebody ends.
    [[nodiscard]] std::int64_t next_ending() {
        while ((*progress_)[endings_.front().id].life != endings_.front().life) pop_ending();
        return endings_.front().turn;
    }
    /// Takes the one that ends next off the heap.
    std::size_t pop_ending() {
        const std::size_t id = endings_.front().id;
        std::pop_heap(endings_.begin(), endings_.end());
        endings_.pop_back();
        return id;
    }

    scheduling_policy how_;
    const std::vector<simulated_request>* requests_;
    std::vector<request_progress>* progress_;
    double per_turn_;  ///< tokens
    std::int64_t writing_ = 0, turns_ = 0;
    double past_ = 0;  ///< tokens of all that write, as if each had written from the first turn on

private:
    struct ending {
        std::int64_t turn;
        std::size_t id;
        std::uint32_t life;
        friend bool operator<(const ending& a, const ending& b) noexcept {  // the soonest on top of a heap
            return a.turn != b.turn ? a.turn > b.turn : a.id > b.id;
        }
    };

    std::vector<std::int64_t> phases_;  ///< sequences that write, by the turn in which they need a page
    std::vector<ending> endings_;       ///< a heap
};

}  // namespace llmcost
