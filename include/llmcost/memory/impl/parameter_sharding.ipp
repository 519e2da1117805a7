// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/parameter_sharding.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/memory_tracker.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/optimizer_primitives.hpp>
#include <llmcost/memory/optimizer_step.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost::detail {

LLMCOST_INLINE parameter_sharding::parameter_sharding(const tape& tape, const training_schedule& plan,
                                                      memory_timeline& out, memory_tracker& tracker)
    : tape_(tape), plan_(plan), out_(out), tracker_(tracker), states_(tape.parameters.size()) {
    for (const tape_parameter& p : tape.parameters)
        if (p.is_trainable) {
            trained_.push_back(&p);
            out.num_trainable += p.elements;
        }
    // optimizers visit parameters in declaration order: most layers declare norms after the normalized modules
    for (std::size_t i = 0; i < trained_.size();) {
        std::size_t end = i + 1;
        while (end < trained_.size() && trained_[end]->region_id == trained_[i]->region_id) ++end;
        const auto run = trained_.begin();
        if (trained_[i]->region_id >= 0)
            std::stable_partition(run + static_cast<std::ptrdiff_t>(i), run + static_cast<std::ptrdiff_t>(end),
                                  [](const tape_parameter* p) { return p->sizes.size() >= 2; });
        i = end;
    }
}

LLMCOST_INLINE void parameter_sharding::allocate_parameters() {
    for (const tape_parameter& p : tape_.parameters) tracker_.allocate(category::parameters, p.bytes);
    for (const tape_parameter* p : trained_) {
        if (plan_.data_parallel_size > 1) tracker_.allocate(category::gradients, p->bytes);
        if (has_master_weight(*p)) allocate_optimizer_state(4 * p->elements);
        if (accumulates_in_float32(*p)) tracker_.allocate(category::gradients, 4 * p->elements);
    }
}

LLMCOST_INLINE void parameter_sharding::before_gradient() {
    if (pending_parameter_ != nullptr) {
        step_in_backward(*pending_parameter_);
        pending_parameter_ = nullptr;
    }
}

LLMCOST_INLINE void parameter_sharding::on_parameter_gradient(std::int32_t parameter) {
    const tape_parameter& p = tape_.parameters[static_cast<std::size_t>(parameter)];
    parameter_state& s = states_[static_cast<std::size_t>(parameter)];
    s.reached = true;
    store_gradient(p, s);
}

LLMCOST_INLINE void parameter_sharding::optimizer_step() {
    tracker_.begin("step");
    // an optimizer skips parameters without a gradient
    std::erase_if(trained_, [&](const tape_parameter* p) { return !state(*p).reached; });
    before_gradient();
    if (!plan_.updates_in_backward()) step_all(!has_stepped_);
    has_stepped_ = true;
}

LLMCOST_INLINE void parameter_sharding::zero_gradients() {
    if (tracker_.has_caching_allocator()) {
        for (const tape_parameter* p : trained_)
            if (state(*p).has_gradient) tracker_.free(category::gradients, p->gradient_bytes());
    } else
        tracker_.free(category::gradients, stored_gradient_bytes_);
    stored_gradient_bytes_ = 0;
    for (parameter_state& s : states_) s.has_gradient = false;
}

LLMCOST_INLINE void parameter_sharding::allocate_optimizer_state(std::uint64_t bytes) {
    if (plan_.offloads_optimizer)
        out_.offloaded_bytes += bytes;
    else
        tracker_.allocate(category::optimizer, bytes);
}

LLMCOST_INLINE void parameter_sharding::store_gradient(const tape_parameter& p, parameter_state& s) {
    if (s.has_gradient) return;
    if (accumulates_in_float32(p)) return tracker_.allocate_temporary(category::gradients, p.gradient_bytes(), "grad");
    tracker_.allocate(category::gradients, p.gradient_bytes());
    tracker_.update_peak("grad");
    if (!plan_.updates_in_backward()) {
        s.has_gradient = true;
        stored_gradient_bytes_ += p.gradient_bytes();
    } else if (plan_.optimizer->steps_at_next_gradient)
        pending_parameter_ = &p;
    else
        step_in_backward(p);
}

LLMCOST_INLINE void parameter_sharding::step_all(bool first) {
    const std::uint64_t copies = prepare_gradients_for_step();
    step(optimizer_parameters(), first);
    tracker_.free(category::optimizer, copies);
}

LLMCOST_INLINE std::uint64_t parameter_sharding::prepare_gradients_for_step() {
    std::uint64_t bytes = 0;
    for (const tape_parameter* p : trained_)
        if (has_master_weight(*p) && !accumulates_in_float32(*p) && !plan_.offloads_optimizer) bytes += 4 * p->elements;
    tracker_.allocate(category::optimizer, bytes);
    tracker_.update_peak("copy");
    return bytes;
}

LLMCOST_INLINE std::vector<tape_parameter> parameter_sharding::optimizer_parameters() const {
    std::vector<tape_parameter> out;
    out.reserve(trained_.size());
    for (const tape_parameter* p : trained_) {
        out.push_back(*p);
        if (has_master_weight(*p)) out.back().bytes = 4 * p->elements;
    }
    return out;
}

LLMCOST_INLINE void parameter_sharding::step(const std::vector<tape_parameter>& parameters, bool first) {
    if (observer_ != nullptr) observer_->on_optimizer_step(parameters);
    if (first) count_optimizer_flops(parameters);
    const optimizer_memory m = compute_optimizer_memory(*plan_.optimizer, plan_.galore_rank, parameters, first);
    if (tracker_.has_caching_allocator() && !plan_.offloads_optimizer) return step_by_tensor(parameters, m, first);
    if (first && plan_.offloads_optimizer) allocate_optimizer_state(m.state);
    if (plan_.offloads_optimizer) return;
    tracker_.allocate_temporary(category::optimizer, first ? m.maximum : m.maximum - m.state, plan_.optimizer->name);
    if (first) allocate_optimizer_state(m.state);
    tracker_.update_peak("state");
}

LLMCOST_INLINE void parameter_sharding::step_by_tensor(const std::vector<tape_parameter>& parameters,
                                                       const optimizer_memory& total, bool first) {
    tracker_.set_operation(plan_.optimizer->name);
    const optimizer_spec& o = *plan_.optimizer;
    if (first)
        for (const tape_parameter& p : parameters)
            for (const std::uint64_t bytes : device_state_tensors(o, plan_.galore_rank, p))
                tracker_.allocate(category::optimizer, bytes);
    std::vector<std::uint64_t> temporaries;
    if (o.temporaries == optimizer_temporaries::all || o.temporaries == optimizer_temporaries::all_twice)
        for (int i = 0; i < (o.temporaries == optimizer_temporaries::all ? 1 : 2); ++i)
            for (const tape_parameter& p : parameters) temporaries.push_back(p.bytes);
    else
        temporaries.push_back(total.maximum - total.state);
    for (const std::uint64_t bytes : temporaries) tracker_.allocate(category::optimizer, bytes);
    for (std::size_t i = temporaries.size(); i-- > 0;) tracker_.free(category::optimizer, temporaries[i]);
}

LLMCOST_INLINE void parameter_sharding::count_optimizer_flops(const std::vector<tape_parameter>& parameters) {
    const primitives<count> added_primitives = step_primitives(*plan_.optimizer, plan_.galore_rank, parameters);
    for (const auto member : primitive_members<count>) out_.optimizer_step.*member += added_primitives.*member;
    for (const tape_parameter& p : parameters) out_.step_counter_bytes += step_counter_bytes_of(*plan_.optimizer, p);
    const std::vector<optimizer_product> products = step_products(*plan_.optimizer, plan_.galore_rank, parameters);
    out_.optimizer_products.insert(out_.optimizer_products.end(), products.begin(), products.end());
}

LLMCOST_INLINE void parameter_sharding::step_in_backward(const tape_parameter& p) {
    parameter_state& s = state(p);
    if (observer_ != nullptr) observer_->on_optimizer_step({p});
    if (plan_.optimizer->steps_at_next_gradient) {
        if (!s.has_state) {
            count_optimizer_flops({p});
            s.has_state = true;
        }
        const std::uint64_t float32_bytes = element_bytes(p) < 4 ? 4 * p.elements : 0;
        tracker_.allocate(category::optimizer, float32_bytes);
        tracker_.update_peak(plan_.optimizer->name);
        tracker_.free(category::gradients, p.gradient_bytes());
        tracker_.allocate(category::optimizer, float32_bytes);
        tracker_.update_peak(plan_.optimizer->name);
        tracker_.free(category::optimizer, float32_bytes);
        tracker_.free(category::optimizer, float32_bytes);
        return;
    }
    const optimizer_memory m = compute_optimizer_memory(*plan_.optimizer, plan_.galore_rank, {p}, !s.has_state);
    if (!plan_.offloads_optimizer)
        tracker_.allocate_temporary(category::optimizer, s.has_state ? m.maximum - m.state : m.maximum,
                                    plan_.optimizer->name);
    if (!s.has_state) {
        allocate_optimizer_state(m.state);
        count_optimizer_flops({p});
    }
    s.has_state = true;
    tracker_.free(category::gradients, p.gradient_bytes());
}

}  // namespace llmcost::detail
