// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/workload.hpp>
#include <llmcost/trace/dropout.hpp>
#include <llmcost/trace/leaf_module_policy.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/scoped_value.hpp>
#include <llmcost/trace/selection.hpp>
#include <llmcost/trace/trace_totals.hpp>

namespace llmcost {

/// The state of a trace: workload, listener, scope query, region edges and totals.
class recorder_base {
public:
    [[nodiscard]] constexpr const workload& load() const noexcept { return load_; }
    [[nodiscard]] constexpr const trace_totals& totals() const noexcept { return sums_; }
    /// Whether the trace has met the queried scope.
    [[nodiscard]] constexpr bool has_match() const noexcept { return selection_.has_match(); }
    /// Whether the scope matched only parameters that are counted under other names.
    [[nodiscard]] constexpr bool only_tied() const noexcept { return selection_.has_only_tied_parameters(); }
    /// Whether each layer is traced, instead of each distinct layer spec.
    [[nodiscard]] constexpr bool traces_every_layer() const noexcept {
        return listener_ != nullptr || policy_ != nullptr || selection_.selects_layer();
    }
    /// How often the current operations are repeated.
    [[nodiscard]] constexpr count multiplier() const noexcept { return multiplier_; }
    [[nodiscard]] constexpr bool is_not_executed() const noexcept { return not_executed_depth_ != 0; }
    /// Whether the cache is discarded after the pass.
    [[nodiscard]] constexpr bool discards_cache() const noexcept { return discarded_cache_depth_ != 0; }
    [[nodiscard]] constexpr bool is_training() const noexcept { return load_.training; }
    /// Marks the tensors that the next operation saves as gradients, which its backward passes on unchanged.
    constexpr void save_gradients() const {
        if (listener_ != nullptr && not_executed_depth_ == 0) listener_->on_gradients_saved();
    }
    /// Whether this pass has dropout at a position.
    [[nodiscard]] constexpr bool applies_dropout(dropout_position place) const noexcept {
        return load_.has_dropout && load_.training && dropout_positions_.contains(place);
    }
    /// While it lives, these dropout positions have rates above zero.
    struct dropout_guard : scoped_value<dropout_set> {
        constexpr dropout_guard(recorder_base& r, dropout_set now) noexcept : scoped_value(r.dropout_positions_, now) {}
    };
    /// Element type of activations: that of the workload, float32 if unspecified.
    [[nodiscard]] constexpr dtype activation_type() const noexcept {
        return (load_.training || load_.uses_workload_dtypes) && load_.activations != dtype::unspecified
                   ? load_.activations
                   : dtype::float32;
    }

    /// While it lives, a policy changes leaf modules; null: no policy.
    struct policy_guard : scoped_value<leaf_module_policy*> {
        constexpr policy_guard(recorder_base& r, leaf_module_policy* policy) noexcept
            : scoped_value(r.policy_, policy) {}
    };
    [[nodiscard]] constexpr leaf_module_policy* policy() const noexcept { return policy_; }

    // ---- regions

    /// Collects the edges of the regions in which the figures are polynomials.
    constexpr void set_region_edges(region_edges* edges) noexcept { edges_ = edges; }
    /// Declares that the forward pass changes at this position of an axis.
    constexpr void add_region_edge(workload_axis axis, std::int64_t at) noexcept {
        if (edges_ != nullptr) edges_->add(axis, at);
    }
    /// Declares that the sequence is padded to complete chunks. A single chunk is a separate region.
    constexpr void set_chunk_size(std::int64_t length) noexcept {
        if (edges_ == nullptr) return;
        if (edges_->chunk_size != 0 && edges_->chunk_size != length) edges_->is_complete = false;
        edges_->chunk_size = length;
        edges_->add(workload_axis::sequence, length + 1);
    }
    /// Declares that no polynomial holds around this workload, so that each workload is traced separately.
    constexpr void disable_closed_form() noexcept {
        if (edges_ != nullptr) edges_->is_complete = false;
    }

    /// Checks that a position table of `max_positions` entries has `requested_positions`, which may include past
    /// positions.
    ///
    /// Throws: `workload_error` if it has not.
    constexpr void check_positions(std::int64_t max_positions, std::int64_t requested_positions) {
        add_region_edge(
            requested_positions == load_.past + load_.sequence ? workload_axis::total : workload_axis::sequence,
            max_positions + 1);
        if (requested_positions > max_positions && not_executed_depth_ == 0)
            throw_position_error(max_positions, requested_positions);
    }

protected:
    constexpr explicit recorder_base(const workload& load, listener* listener, scope_query requested_positions)
        : load_(load),
          listener_(listener),
          selection_(requested_positions),
          is_in_scope_(selection_.is_in_scope()),
          is_grad_enabled_(load.training) {
        if (!load.is_valid())
            throw_description_error("workload: batch and sequence must be at least 1, all numbers at most 2147483647");
        if (load.training && load.past > 0) throw_description_error("a training step has no past");
    }

    workload load_;
    listener* listener_;
    leaf_module_policy* policy_ = nullptr;
    region_edges* edges_ = nullptr;
    scope_selection selection_;
    dropout_set dropout_positions_{};
    trace_totals sums_{};
    count multiplier_{1};
    int not_executed_depth_ = 0;
    int detach_depth_ = 0;
    int discarded_cache_depth_ = 0;
    bool is_in_scope_;
    bool is_grad_enabled_;
};

}  // namespace llmcost
