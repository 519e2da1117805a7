// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/fsdp_sharding.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/memory_tracker.hpp>
#include <llmcost/memory/optimizer_step.hpp>
#include <llmcost/memory/parameter_sharding.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost::detail {

LLMCOST_INLINE void fsdp_sharding::allocate_parameters() {
    for (const tape_parameter& p : tape_.parameters) {
        tracker_.allocate(category::parameters, shard_of(p).bytes);
        group_of(p.region_id).unsharded_bytes += unsharded_bytes_of(p);
    }
}

LLMCOST_INLINE void fsdp_sharding::pre_forward_model() {
    forward_order_.clear();
    unshard(-1);
}

LLMCOST_INLINE void fsdp_sharding::pre_forward(std::int32_t layer) {
    forward_order_.push_back(layer);
    unshard(layer);
}

LLMCOST_INLINE void fsdp_sharding::post_forward_model() {
    tracker_.free(category::parameters, all_gather_buffer_bytes_);
    all_gather_buffer_bytes_ = 0;
}

LLMCOST_INLINE void fsdp_sharding::pre_backward_model() {
    next_prefetch_ = forward_order_.size();
    prefetch_next();
}

LLMCOST_INLINE void fsdp_sharding::pre_backward(std::int32_t layer) {
    const std::uint64_t bytes = group_of(layer).unsharded_bytes;
    while (!is_prefetched(layer) && next_prefetch_ > 0) prefetch_next();
    tracker_.allocate_temporary(category::parameters, bytes, "all_gather");  // copied out of its buffer
    prefetch_next();
}

LLMCOST_INLINE void fsdp_sharding::post_backward(std::int32_t layer, bool of_gradients) {
    if (of_gradients)
        reduce_scatter(layer);
    else
        deferred_layers_.push_back(layer);
}

LLMCOST_INLINE void fsdp_sharding::post_backward_model(bool) {
    reduce_scatter(-1);
    for (std::size_t i = deferred_layers_.size(); i-- > 0;) reduce_scatter(deferred_layers_[i]);
    deferred_layers_.clear();
    tracker_.free(category::gradients, reduce_scatter_buffer_bytes_);
    reduce_scatter_buffer_bytes_ = 0;
}

LLMCOST_INLINE void fsdp_sharding::zero_gradients() {
    for (parameter_group& g : groups_) g.has_gradient_shard = false;
    parameter_sharding::zero_gradients();
}

LLMCOST_INLINE tape_parameter fsdp_sharding::shard_of(const tape_parameter& p) const {
    tape_parameter out = p;
    if (p.sizes.empty() || p.elements == 0) return out;
    const std::int64_t rows = (p.sizes[0] + plan_.data_parallel_size - 1) / plan_.data_parallel_size;
    out.elements = p.elements / static_cast<std::uint64_t>(p.sizes[0]) * static_cast<std::uint64_t>(rows);
    out.sizes[0] = rows;
    out.bytes = out.elements * element_bytes(p);
    return out;
}

LLMCOST_INLINE std::vector<tape_parameter> fsdp_sharding::optimizer_parameters() const {
    std::vector<tape_parameter> out;
    out.reserve(trained_.size());
    for (const tape_parameter* p : trained_) out.push_back(shard_of(*p));
    return out;
}

LLMCOST_INLINE void fsdp_sharding::store_gradient(const tape_parameter& p, parameter_state&) {
    group_of(p.region_id).unreduced_gradient_bytes += p.bytes;
    group_of(p.region_id).padded_gradient_bytes += padded_bytes(p);
    tracker_.allocate(category::gradients, p.bytes);
    tracker_.update_peak("grad");
}

LLMCOST_INLINE void fsdp_sharding::all_gather(std::uint64_t bytes) {
    tracker_.allocate(category::parameters, bytes);
    tracker_.update_peak("all_gather");
}

LLMCOST_INLINE void fsdp_sharding::unshard(std::int32_t layer) {
    const std::uint64_t bytes = group_of(layer).unsharded_bytes;
    all_gather(bytes);
    tracker_.free(category::parameters, all_gather_buffer_bytes_);
    tracker_.allocate(category::parameters, bytes);
    tracker_.update_peak("all_gather");
    all_gather_buffer_bytes_ = bytes;
}

LLMCOST_INLINE void fsdp_sharding::reduce_scatter(std::int32_t layer) {
    parameter_group& g = group_of(layer);
    tracker_.free(category::parameters, g.unsharded_bytes);
    tracker_.free(category::gradients, reduce_scatter_buffer_bytes_);
    reduce_scatter_buffer_bytes_ = 0;
    if (g.unreduced_gradient_bytes == 0) return;
    tracker_.allocate(category::gradients, g.padded_gradient_bytes);
    tracker_.update_peak("reduce_scatter");
    tracker_.free(category::gradients, g.unreduced_gradient_bytes);
    const std::uint64_t shard_bytes = g.padded_gradient_bytes / static_cast<std::uint64_t>(plan_.data_parallel_size);
    tracker_.allocate(category::gradients, shard_bytes);
    tracker_.update_peak("reduce_scatter");
    if (g.has_gradient_shard)
        tracker_.free(category::gradients, shard_bytes);  // added to the shard of the previous pass
    else {
        stored_gradient_bytes_ += shard_bytes;
        g.has_gradient_shard = true;
    }
    reduce_scatter_buffer_bytes_ = g.padded_gradient_bytes;
    g.unreduced_gradient_bytes = g.padded_gradient_bytes = 0;
}

}  // namespace llmcost::detail
