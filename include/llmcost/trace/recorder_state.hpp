// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/workload.hpp>
#include <llmcost/trace/dropout.hpp>
#include <llmcost/trace/leaf_policy.hpp>
#include <llmcost/trace/ledger.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/selection.hpp>
#include <llmcost/trace/value_guard.hpp>

namespace llmcost {

/// What a walk knows of itself: its workload, who listens, what is asked for, where its figures bend, the sums so far.
class recorder_state {
public:
    [[nodiscard]] constexpr const workload& load() const noexcept { return load_; }
    [[nodiscard]] constexpr const ledger& sums() const noexcept { return sums_; }
    /// Whether the scope that was asked for has been met.
    [[nodiscard]] constexpr bool found() const noexcept { return selection_.found(); }
    /// Whether all that was met of it are parameters that are counted under other names.
    [[nodiscard]] constexpr bool only_tied() const noexcept { return selection_.only_tied(); }
    /// Whether layers are walked one by one instead of kind by kind.
    [[nodiscard]] constexpr bool lists_layers() const noexcept {
        return listener_ != nullptr || policy_ != nullptr || selection_.names_a_layer();
    }
    /// How often what is described now happens.
    [[nodiscard]] constexpr count times() const noexcept { return times_; }
    [[nodiscard]] constexpr bool idle() const noexcept { return idle_ != 0; }
    /// Whether nobody holds what is cached when the run is over.
    [[nodiscard]] constexpr bool drops_cache() const noexcept { return dropped_cache_ != 0; }
    [[nodiscard]] constexpr bool training() const noexcept { return load_.training; }
    /// What is saved for the backward that is told next are gradients, which it hands on as they are.
    constexpr void saves_gradients() const {
        if (listener_ != nullptr && idle_ == 0) listener_->saves_gradients();
    }
    /// Whether this pass drops something there.
    [[nodiscard]] constexpr bool drops(dropout_of place) const noexcept {
        return load_.keeps_dropout && load_.training && drops_.has(place);
    }
    /// While it lives, these rates are above zero: those of the model that is walked.
    struct dropout_guard : value_guard<dropout_set> {
        constexpr dropout_guard(recorder_state& r, dropout_set now) noexcept : value_guard(r.drops_, now) {}
    };
    /// The type that activations have: the workload's, float32 where it leaves it open.
    [[nodiscard]] constexpr dtype activation_type() const noexcept {
        return (load_.training || load_.typed) && load_.activations != dtype::unspecified ? load_.activations
                                                                                          : dtype::float32;
    }

    /// While it lives, a policy changes what happens at leaf modules; null: none does.
    struct policy_guard : value_guard<leaf_policy*> {
        constexpr policy_guard(recorder_state& r, leaf_policy* policy) noexcept : value_guard(r.policy_, policy) {}
    };
    [[nodiscard]] constexpr leaf_policy* policy() const noexcept { return policy_; }

    // ---- regions

    /// Asks the walk to tell where its figures bend.
    constexpr void tell_edges(region_edges* into) noexcept { edges_ = into; }
    /// What is described behaves differently from this value on.
    constexpr void edge(axis along, std::int64_t at) noexcept {
        if (edges_ != nullptr) edges_->add(along, at);
    }
    /// What is described pads the sequence to whole chunks; one chunk alone is a case of its own.
    constexpr void chunked(std::int64_t length) noexcept {
        if (edges_ == nullptr) return;
        if (edges_->chunk != 0 && edges_->chunk != length) edges_->complete = false;
        edges_->chunk = length;
        edges_->add(axis::sequence, length + 1);
    }
    /// What is described follows no polynomial around this workload, so that each workload has a walk of its own.
    constexpr void formless() noexcept {
        if (edges_ != nullptr) edges_->complete = false;
    }

    /// A table of positions that is looked up for `asked` of them, those of the past included or not; more than it has is
    /// an error.
    constexpr void positions(std::int64_t held, std::int64_t asked) {
        edge(asked == load_.past + load_.sequence ? axis::total : axis::sequence, held + 1);
        if (asked > held && idle_ == 0) report_positions(held, asked);
    }

protected:
    constexpr explicit recorder_state(const workload& load, listener* ear, scope_query asked)
        : load_(load), listener_(ear), selection_(asked), active_(selection_.active()), grad_(load.training) {
        if (!load.in_range())
            report_description("a workload's batch and sequence are from 1, all its numbers to 2147483647");
        if (load.training && load.past > 0) report_description("a training step has no past");
    }

    workload load_;
    listener* listener_;
    leaf_policy* policy_ = nullptr;
    region_edges* edges_ = nullptr;
    scope_selection selection_;
    dropout_set drops_{};
    ledger sums_{};
    count times_{1};
    int idle_ = 0;
    int off_loss_ = 0;
    int dropped_cache_ = 0;
    bool active_;
    bool grad_;
};

}  // namespace llmcost
