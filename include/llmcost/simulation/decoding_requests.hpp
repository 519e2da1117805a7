// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/step_batch.hpp>

namespace llmcost {

/// The requests that write: all of them advance by a turn in every step that they are in, so that a turn says how long
/// each is, when each ends and how many pages they come to need, whatever their number.
class decoding_requests {
protected:
    using place = request_progress::request_state;

    decoding_requests(const scheduling_policy& policy, const std::vector<simulated_request>& requests,
                      std::vector<request_progress>& progress, double tokens_per_step)
        : policy_(policy),
          requests_(&requests),
          progress_(&progress),
          tokens_per_step_(tokens_per_step),
          requests_by_page_phase_(static_cast<std::size_t>(policy.page_size)) {}

    [[nodiscard]] std::int64_t num_pages(std::int64_t tokens) const noexcept {
        return (tokens + policy_.page_size - 1) / policy_.page_size;
    }
    [[nodiscard]] bool reserves_full_output() const noexcept {
        return policy_.admission == admission_mode::full_output;
    }
    /// Tokens that are written for a request in the steps that are composed.
    [[nodiscard]] std::int64_t num_output_tokens(std::size_t id) const {
        const request_progress& p = (*progress_)[id];
        if (p.state == place::finished) return (*requests_)[id].output_tokens;
        if (p.state != place::decoding) return p.num_output_tokens;
        const auto num_new_tokens =
            static_cast<std::int64_t>(static_cast<double>(num_steps_ - p.first_decode_step) * tokens_per_step_);
        return std::min(p.num_output_tokens + 1 + num_new_tokens, (*requests_)[id].output_tokens);
    }
    /// Pages that one that writes has come to need until a turn.
    [[nodiscard]] double pages_allocated_since_prefill(const request_progress& p, std::int64_t step) const noexcept {
        const std::int64_t turns = step - p.first_decode_step;
        if (reserves_full_output()) return 0;
        if (tokens_per_step_ != 1)
            return static_cast<double>(turns) * tokens_per_step_ / static_cast<double>(policy_.page_size);
        return static_cast<double>(num_pages(p.num_computed_tokens + turns) - num_pages(p.num_computed_tokens));
    }
    [[nodiscard]] std::size_t page_phase(const request_progress& p) const noexcept {
        const std::int64_t offset = (p.num_computed_tokens - p.first_decode_step) % policy_.page_size;
        return static_cast<std::size_t>(offset < 0 ? offset + policy_.page_size : offset);
    }
    /// Pages that so many turns behind one need.
    [[nodiscard]] double pages_needed(std::int64_t step, std::int64_t turns) const noexcept {
        if (reserves_full_output()) return 0;
        if (tokens_per_step_ != 1)  // on an average
            return static_cast<double>(turns) * tokens_per_step_ * static_cast<double>(num_decoding_) /
                   static_cast<double>(policy_.page_size);
        std::int64_t pages = turns / policy_.page_size * num_decoding_;
        for (std::int64_t i = 0; i < turns % policy_.page_size; ++i)
            pages += requests_by_page_phase_[static_cast<std::size_t>(
                (policy_.page_size - (step + i) % policy_.page_size) % policy_.page_size)];
        return static_cast<double>(pages);
    }
    void add(std::size_t id, std::int64_t ends) {
        request_progress& p = (*progress_)[id];
        p.state = place::decoding;
        p.finish_step = ends;
        finish_heap_.push_back({ends, id, p.generation});
        std::push_heap(finish_heap_.begin(), finish_heap_.end());
        ++num_decoding_;
        total_length_offset_ +=
            static_cast<double>(p.num_computed_tokens) - static_cast<double>(p.first_decode_step) * tokens_per_step_;
        ++requests_by_page_phase_[page_phase(p)];
    }
    void remove(std::size_t id) {
        const request_progress& p = (*progress_)[id];
        --num_decoding_;
        total_length_offset_ -=
            static_cast<double>(p.num_computed_tokens) - static_cast<double>(p.first_decode_step) * tokens_per_step_;
        --requests_by_page_phase_[page_phase(p)];
    }
    /// The turn in which somebody ends.
    [[nodiscard]] std::int64_t next_finish_step() {
        while ((*progress_)[finish_heap_.front().id].generation != finish_heap_.front().generation) pop_next_finished();
        return finish_heap_.front().step;
    }
    /// Takes the one that ends next off the heap.
    std::size_t pop_next_finished() {
        const std::size_t id = finish_heap_.front().id;
        std::pop_heap(finish_heap_.begin(), finish_heap_.end());
        finish_heap_.pop_back();
        return id;
    }

    scheduling_policy policy_;
    const std::vector<simulated_request>* requests_;
    std::vector<request_progress>* progress_;
    double tokens_per_step_;  ///< tokens
    std::int64_t num_decoding_ = 0, num_steps_ = 0;
    double total_length_offset_ = 0;  ///< tokens of all that write, as if each had written from the first turn on

private:
    struct finish_event {
        std::int64_t step;
        std::size_t id;
        std::uint32_t generation;
        friend bool operator<(const finish_event& a, const finish_event& b) noexcept {  // the soonest on top of a heap
            return a.step != b.step ? a.step > b.step : a.id > b.id;
        }
    };

    std::vector<std::int64_t> requests_by_page_phase_;  ///< sequences that write, by the turn in which they need a page
    std::vector<finish_event> finish_heap_;             ///< a heap
};

}  // namespace llmcost
