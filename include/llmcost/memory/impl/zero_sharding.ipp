// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/zero_sharding.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/fsdp_sharding.hpp>
#include <llmcost/memory/memory_tracker.hpp>
#include <llmcost/memory/optimizer_step.hpp>
#include <llmcost/memory/parameter_sharding.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost::detail {

LLMCOST_INLINE void gradient_bucket::add(const tape_parameter& p) {
    num_elements_ += p.elements;
    bytes_ += p.bytes;
    parameters_.push_back(&p);
    if (p.elements <= size) tracker_.free(memory_category::gradients, p.bytes);
}

LLMCOST_INLINE void gradient_bucket::clear() {
    for (const tape_parameter* p : parameters_)
        if (p->elements > size) tracker_.free(memory_category::gradients, p->bytes);
    parameters_.clear();
    num_elements_ = bytes_ = 0;
}

LLMCOST_INLINE zero_sharding::zero_sharding(const tape& tape, const training_schedule& plan, memory_timeline& out,
                                            memory_tracker& tracker)
    : parameter_sharding(tape, plan, out, tracker), bucket_(tracker) {
    const auto devices = static_cast<std::uint64_t>(plan.data_parallel_size);
    for (const tape_parameter* p : trained_) {
        elements_ += p->elements;
        element_bytes_ = element_bytes(*p);
    }
    elements_ = (elements_ + 2 * devices - 1) / (2 * devices) * (2 * devices);
    partition_elements_ = elements_ / devices;
    partition_ranges_.resize(tape.parameters.size());
    std::uint64_t num_previous_elements = 0;
    for (const tape_parameter* p : trained_) {
        if (p->elements == 0) continue;
        partition_range_of(*p) = {num_previous_elements / partition_elements_,
                                  (num_previous_elements + p->elements - 1) / partition_elements_};
        if (num_previous_elements < partition_elements_) own_gradient_bytes_ += p->bytes;
        num_previous_elements += p->elements;
    }
}

LLMCOST_INLINE void zero_sharding::allocate_parameters() {
    for (const tape_parameter& p : tape_.parameters)
        if (!p.is_trainable) tracker_.allocate(category::parameters, p.bytes);
    tracker_.allocate(category::parameters, elements_ * element_bytes_);
    allocate_optimizer_state(4 * partition_elements_);
}

LLMCOST_INLINE void zero_sharding::post_backward_model(bool last) {
    if (!shards_gradients() && last)
        for (const tape_parameter* p : pending_parameters_) add_to_bucket(*p);
    if (!shards_gradients() && !last) return;
    pending_parameters_.clear();
    reduce();
    tracker_.free(category::gradients, bucket_buffer_bytes_);
    bucket_buffer_bytes_ = 0;
    if (has_accumulated_gradients_)
        tracker_.free(category::gradients, reduced_gradient_bytes_);  // added to those of the previous pass
    else
        stored_gradient_bytes_ = reduced_gradient_bytes_;
    has_accumulated_gradients_ = reduced_gradient_bytes_ > 0;
    reduced_gradient_bytes_ = 0;
}

LLMCOST_INLINE void zero_sharding::zero_gradients() {
    has_accumulated_gradients_ = false;
    parameter_sharding::zero_gradients();
}

LLMCOST_INLINE void zero_sharding::store_gradient(const tape_parameter& p, parameter_state& s) {
    if (!s.has_gradient) tracker_.allocate(category::gradients, p.bytes);
    if (bucket_buffer_bytes_ == 0) {
        bucket_buffer_bytes_ = gradient_bucket::size * element_bytes_;
        tracker_.allocate(category::gradients, bucket_buffer_bytes_);
    }
    tracker_.update_peak("grad");
    if (shards_gradients()) return add_to_bucket(p);
    if (!s.has_gradient) pending_parameters_.push_back(&p);
    s.has_gradient = true;
}

LLMCOST_INLINE std::uint64_t zero_sharding::prepare_gradients_for_step() {
    if (plan_.offloads_optimizer) return 0;
    tracker_.allocate(category::optimizer, partition_elements_ * element_bytes_);
    tracker_.update_peak("flatten");
    std::uint64_t partition_bytes = partition_elements_ * element_bytes_;
    if (element_bytes_ < 4) {
        partition_bytes = partition_elements_ * 4;
        tracker_.allocate(category::optimizer, partition_bytes);
        tracker_.update_peak("copy");
        tracker_.free(category::optimizer, partition_elements_ * element_bytes_);
    }
    tracker_.free(category::gradients, stored_gradient_bytes_);
    stored_gradient_bytes_ = 0;
    return partition_bytes;
}

LLMCOST_INLINE std::vector<tape_parameter> zero_sharding::optimizer_parameters() const {
    tape_parameter all;
    all.sizes = {static_cast<std::int64_t>(partition_elements_)};
    all.elements = partition_elements_;
    all.bytes = 4 * partition_elements_;
    return {all};
}

LLMCOST_INLINE void zero_sharding::add_to_bucket(const tape_parameter& p) {
    if (!bucket_.fits(p)) reduce();
    bucket_.add(p);
}

LLMCOST_INLINE void zero_sharding::reduce() {
    if (bucket_.parameters().empty()) return;
    // slices for several devices are concatenated before the reduction; those for one device are already contiguous
    partition_range all = partition_range_of(*bucket_.parameters().front());
    for (const tape_parameter* p : bucket_.parameters())
        all = {std::min(all.first, partition_range_of(*p).first), std::max(all.last, partition_range_of(*p).last)};
    if (all.first < all.last) tracker_.allocate_temporary(category::gradients, bucket_.bytes(), "flatten");
    if (all.first == 0 && reduced_gradient_bytes_ == 0 && !plan_.offloads_optimizer) {
        reduced_gradient_bytes_ = own_gradient_bytes_;
        tracker_.allocate(category::gradients, own_gradient_bytes_);
        tracker_.update_peak("reduce");
    }
    bucket_.clear();
}

LLMCOST_INLINE void zero3_sharding::allocate_parameters() {
    fsdp_sharding::allocate_parameters();
    std::uint64_t part_elements = 0;
    for (const tape_parameter& p : tape_.parameters)
        if (p.elements <= persistence_threshold) tracker_.allocate(category::parameters, p.bytes);
    for (const tape_parameter* p : trained_) {
        const tape_parameter shard = shard_of(*p);
        part_elements += shard.elements;
        tracker_.allocate(category::gradients, shard.bytes);
        element_bytes_ = element_bytes(*p);
    }
    allocate_optimizer_state(4 * part_elements);
    tracker_.allocate(category::gradients, gradient_bucket::size * element_bytes_);
}

LLMCOST_INLINE void zero3_sharding::post_backward_model(bool last) {
    fsdp_sharding::post_backward_model(last);
    reduce();
}

LLMCOST_INLINE tape_parameter zero3_sharding::shard_of(const tape_parameter& p) const {
    tape_parameter out = p;
    const auto devices = static_cast<std::uint64_t>(plan_.data_parallel_size);
    out.elements = (p.elements + devices - 1) / devices;
    out.sizes = {static_cast<std::int64_t>(out.elements)};
    out.bytes = out.elements * element_bytes(p);
    return out;
}

LLMCOST_INLINE void zero3_sharding::store_gradient(const tape_parameter& p, parameter_state&) {
    tracker_.allocate(category::gradients, p.bytes);
    tracker_.update_peak("grad");
    if (!bucket_.fits(p)) reduce();
    bucket_.add(p);
}

LLMCOST_INLINE void zero3_sharding::step_all(bool first) {
    std::vector<tape_parameter> group;
    std::uint64_t elements = 0;
    const auto add_to_bucket = [&] {
        const std::uint64_t float32_bytes = plan_.offloads_optimizer ? 0 : 4 * elements;
        tracker_.allocate(category::optimizer, float32_bytes);
        tracker_.update_peak("copy");
        step(group, first);
        tracker_.free(category::optimizer, float32_bytes);
        group.clear();
        elements = 0;
    };
    for (const tape_parameter* p : trained_) {
        group.push_back(shard_of(*p));
        elements += group.back().elements;
        group.back().bytes = 4 * group.back().elements;
        if (elements >= sub_group_size) add_to_bucket();
    }
    if (!group.empty()) add_to_bucket();
}

LLMCOST_INLINE void zero3_sharding::reduce() {
    std::uint64_t bucket_bytes = 0;
    for (const tape_parameter* p : bucket_.parameters()) bucket_bytes += padded_bytes(*p);
    tracker_.allocate_temporary(category::gradients, bucket_bytes, "reduce_scatter");
    bucket_.clear();
}

}  // namespace llmcost::detail
