// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/fsdp_sharding.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/fsdp_units.hpp>
#include <llmcost/memory/memory_tracker.hpp>
#include <llmcost/memory/optimizer_step.hpp>
#include <llmcost/memory/parameter_sharding.hpp>
#include <llmcost/memory/replay_observer.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/trace/collective.hpp>

namespace llmcost::detail {

/// Bytes of `elements` of a parameter in a type; without one, in its own.
[[nodiscard]] LLMCOST_INLINE std::uint64_t bytes_in(dtype type, const tape_parameter& p, std::uint64_t elements) {
    return type == dtype::unspecified ? elements * element_bytes(p)
                                      : elements * static_cast<std::uint64_t>(bits_of(type)) / 8;
}

LLMCOST_INLINE fsdp_sharding::fsdp_sharding(const tape& tape, const training_schedule& plan, memory_timeline& out,
                                            memory_tracker& tracker)
    : parameter_sharding(tape, plan, out, tracker) {
    for (fsdp_unit& unit : fsdp_units_of(tape, plan.fsdp)) {
        units_.emplace_back();
        units_.back().unit = std::move(unit);
    }
}

LLMCOST_INLINE void fsdp_sharding::allocate_parameters() {
    shards_.clear();
    for (const tape_parameter& p : tape_.parameters) {
        const tape_parameter part = shard_of(p);
        shards_.push_back({part.elements, part.bytes});
        tracker_.allocate(category::parameters, part.bytes);
    }
    for (unit_state& u : units_)
        for (const std::int32_t p : u.unit.parameters)
            u.unsharded_bytes += unsharded_bytes_of(tape_.parameters[static_cast<std::size_t>(p)]);
}

LLMCOST_INLINE void fsdp_sharding::pre_forward_model() {
    forward_order_.clear();
    is_forward_ = true;
    unshard(model_unit());
}

LLMCOST_INLINE void fsdp_sharding::before_forward(std::size_t node) {
    for (unit_state& u : units_)
        if (u.unit.first_node == static_cast<std::int32_t>(node)) unshard(u);
}

LLMCOST_INLINE void fsdp_sharding::after_forward(std::size_t node) {
    for (std::size_t i = 1; i < units_.size(); ++i) {
        if (units_[i].unit.last_node != static_cast<std::int32_t>(node)) continue;
        forward_order_.push_back(i);
        if (!units_[i].unit.reshards_after_forward) continue;
        free_unsharded(units_[i]);
        if (plan_.fsdp.reshard_size == 0 || units_[i].unit.is_expert_unit) continue;
        units_[i].post_forward_bytes = units_[i].unsharded_bytes / static_cast<std::uint64_t>(plan_.fsdp.reshard_size);
        tracker_.allocate(category::parameters, units_[i].post_forward_bytes);
        tracker_.update_peak("reshard");
    }
}

LLMCOST_INLINE void fsdp_sharding::post_forward_model() {
    tracker_.free(category::parameters, all_gather_buffer_bytes_);
    all_gather_buffer_bytes_ = 0;
    if (!model_unit().unit.parameters.empty()) forward_order_.push_back(0);
}

LLMCOST_INLINE void fsdp_sharding::pre_backward_model() {
    is_forward_ = false;
    if (!model_unit().unit.parameters.empty()) pre_backward(model_unit());
}

LLMCOST_INLINE void fsdp_sharding::before_backward(std::size_t node) {
    const auto i = static_cast<std::int32_t>(node);
    for (std::size_t k = units_.size(); k-- > 1;)
        if (unit_state& u = units_[k]; !u.is_in_backward && u.unit.first_node <= i && i <= u.unit.last_node)
            pre_backward(u);
}

LLMCOST_INLINE void fsdp_sharding::pre_backward(unit_state& u) {
    u.is_in_backward = true;
    const bool was_gathered = u.is_unsharded && !u.unit.reshards_after_forward;
    all_gather(u, true);
    if (!was_gathered)  // copied out of its buffer
        tracker_.allocate_temporary(category::parameters, u.unsharded_bytes, "all_gather");
    tracker_.free(category::parameters, u.post_forward_bytes);
    u.post_forward_bytes = 0;
    const auto place = std::ranges::find(forward_order_, static_cast<std::size_t>(&u - units_.data()));
    if (place != forward_order_.begin() && place != forward_order_.end()) all_gather(units_[*(place - 1)], true);
}

LLMCOST_INLINE void fsdp_sharding::after_backward(std::size_t node, const std::vector<char>& is_reached) {
    for (unit_state& u : units_)
        if (u.is_in_backward && u.unit.first_node == static_cast<std::int32_t>(node) && propagates(u, is_reached)) {
            post_backward(u);
            u.is_in_backward = false;
        }
}

LLMCOST_INLINE bool fsdp_sharding::propagates(const unit_state& u, const std::vector<char>& is_reached) const {
    for (auto i = static_cast<std::size_t>(u.unit.first_node); i <= static_cast<std::size_t>(u.unit.last_node); ++i)
        for (const tape_edge& e : tape_.nodes[i].inputs)
            if (is_reached[i] != 0 && e.requires_grad && e.tensor >= 0 &&
                tape_.tensors[static_cast<std::size_t>(e.tensor)].producer < u.unit.first_node)
                return true;
    return false;
}

LLMCOST_INLINE void fsdp_sharding::post_backward(unit_state& u) { reduce_scatter(u); }

LLMCOST_INLINE void fsdp_sharding::post_backward_model(bool) {
    for (unit_state& u : units_) {
        if (u.is_in_backward || u.is_unsharded) post_backward(u);
        u.is_in_backward = false;
    }
    tracker_.free(category::gradients, reduce_scatter_buffer_bytes_);
    reduce_scatter_buffer_bytes_ = 0;
}

LLMCOST_INLINE void fsdp_sharding::zero_gradients() {
    for (unit_state& u : units_) u.has_gradient_shard = false;
    parameter_sharding::zero_gradients();
}

LLMCOST_INLINE tape_parameter fsdp_sharding::shard_of(const tape_parameter& p) const {
    tape_parameter out = p;
    if (p.sizes.empty() || p.elements == 0) return out;
    const std::int64_t rows = rows_of_rank(p.sizes[0], ranks_of(p), 0);
    out.elements = p.elements / static_cast<std::uint64_t>(p.sizes[0]) * static_cast<std::uint64_t>(rows);
    out.sizes[0] = rows;
    out.bytes = bytes_in(plan_.fsdp.stored_type, p, out.elements);
    return out;
}

LLMCOST_INLINE std::uint64_t fsdp_sharding::padded_bytes(const tape_parameter& p) const {
    return bytes_in(plan_.fsdp.gathered_type, p, shard_size_of(p).elements) * static_cast<std::uint64_t>(ranks_of(p));
}

LLMCOST_INLINE std::vector<tape_parameter> fsdp_sharding::optimizer_parameters() const {
    std::vector<tape_parameter> out;
    out.reserve(trained_.size());
    for (const tape_parameter* p : trained_) out.push_back(shard_of(*p));
    return out;
}

LLMCOST_INLINE void fsdp_sharding::store_gradient(const tape_parameter& p, parameter_state& s) {
    const auto index = static_cast<std::int32_t>(&p - tape_.parameters.data());
    const bool is_accumulated = s.has_gradient;  // a gradient of an earlier pass that is not reduced
    s.has_gradient = !is_reduced_in_pass();
    const shard_size shard = shard_size_of(p);
    for (unit_state& u : units_) {
        if (std::ranges::find(u.unit.parameters, index) == u.unit.parameters.end() || is_accumulated) continue;
        u.unreduced_gradient_bytes += p.bytes;
        u.padded_gradient_bytes +=
            bytes_in(plan_.fsdp.reduced_type, p, shard.elements) * static_cast<std::uint64_t>(ranks_of(p));
        u.shard_gradient_bytes += shard.bytes;
        tracker_.allocate(category::gradients, p.bytes);
    }
    tracker_.update_peak("grad");
}

LLMCOST_INLINE void fsdp_sharding::all_gather(unit_state& u, bool is_backward) {
    if (u.is_unsharded) return;
    u.is_unsharded = true;
    tracker_.allocate(category::parameters, u.unsharded_bytes);
    tracker_.update_peak("all_gather");
    if (u.unit.parameters.empty()) return;
    const bool is_partly_resharded = is_backward && plan_.fsdp.reshard_size > 0 && !u.unit.is_expert_unit;
    const std::int64_t ranks = is_partly_resharded ? plan_.fsdp.reshard_size : ranks_of(u.unit);
    if (ranks == 1) return;
    report(collective_kind::all_gather, axis_of(u.unit), ranks, u.unsharded_bytes / static_cast<std::uint64_t>(ranks),
           u.unsharded_bytes, u, false);
}

LLMCOST_INLINE void fsdp_sharding::unshard(unit_state& u) {
    if (u.is_unsharded) return;
    all_gather(u, false);
    tracker_.free(category::parameters, all_gather_buffer_bytes_);
    tracker_.allocate(category::parameters, u.unsharded_bytes);
    tracker_.update_peak("all_gather");
    all_gather_buffer_bytes_ = u.unsharded_bytes;
}

LLMCOST_INLINE void fsdp_sharding::free_unsharded(unit_state& u) {
    if (!u.is_unsharded) return;
    tracker_.free(category::parameters, u.unsharded_bytes);
    u.is_unsharded = false;
}

LLMCOST_INLINE void fsdp_sharding::reduce_scatter(unit_state& u) {
    free_unsharded(u);
    tracker_.free(category::gradients, reduce_scatter_buffer_bytes_);
    reduce_scatter_buffer_bytes_ = 0;
    if (u.unreduced_gradient_bytes == 0 || !is_reduced_in_pass()) return;
    const std::int64_t ranks = ranks_of(u.unit);
    const std::uint64_t part_bytes = u.padded_gradient_bytes / static_cast<std::uint64_t>(ranks);
    for (const std::int32_t i : u.unit.parameters)
        if (const tape_parameter& p = tape_.parameters[static_cast<std::size_t>(i)];
            p.gradient_sum_over_ranks == gradient_sum_kind::before_use && observer() != nullptr)
            observer()->on_collective(
                {.kind = collective_kind::all_reduce,
                 .axis = mesh_axis::tensor,
                 .group_size = plan_.tensor_parallel_size,
                 .in_bytes = bytes_in(plan_.fsdp.reduced_type, p, p.elements),
                 .out_bytes = bytes_in(plan_.fsdp.reduced_type, p, p.elements),
                 .type = plan_.fsdp.reduced_type == dtype::unspecified ? p.type : plan_.fsdp.reduced_type,
                 .phase = training_phase::backward,
                 .module = u.unit.name});
    if (ranks > 1)
        report(collective_kind::reduce_scatter, axis_of(u.unit), ranks, u.padded_gradient_bytes, part_bytes, u, true);
    if (plan_.fsdp.replicas > 1 && (plan_.sync != gradient_sync::last_all_reduce || is_last_pass()))
        report(collective_kind::all_reduce, mesh_axis::data_replicate, plan_.fsdp.replicas, part_bytes, part_bytes, u,
               true);
    tracker_.allocate(category::gradients, u.padded_gradient_bytes);
    tracker_.update_peak("reduce_scatter");
    tracker_.free(category::gradients, u.unreduced_gradient_bytes);
    tracker_.allocate(category::gradients, u.shard_gradient_bytes);
    tracker_.update_peak("reduce_scatter");
    if (u.has_gradient_shard)
        tracker_.free(category::gradients, u.shard_gradient_bytes);  // added to the shard of the previous pass
    else {
        stored_gradient_bytes_ += u.shard_gradient_bytes;
        u.has_gradient_shard = true;
    }
    reduce_scatter_buffer_bytes_ = u.padded_gradient_bytes;
    u.unreduced_gradient_bytes = u.padded_gradient_bytes = u.shard_gradient_bytes = 0;
}

LLMCOST_INLINE void fsdp_sharding::report(collective_kind kind, mesh_axis axis, std::int64_t ranks,
                                          std::uint64_t in_bytes, std::uint64_t out_bytes, const unit_state& u,
                                          bool is_gradient) {
    if (observer() == nullptr) return;
    const dtype chosen = is_gradient ? plan_.fsdp.reduced_type : plan_.fsdp.gathered_type;
    const tape_parameter& first = tape_.parameters[static_cast<std::size_t>(u.unit.parameters.front())];
    observer()->on_collective({.kind = kind,
                               .axis = axis,
                               .group_size = ranks,
                               .in_bytes = in_bytes,
                               .out_bytes = out_bytes,
                               .type = chosen == dtype::unspecified ? first.type : chosen,
                               .phase = is_forward_ ? training_phase::forward : training_phase::backward,
                               .module = u.unit.name});
}

}  // namespace llmcost::detail
