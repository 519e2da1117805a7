// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/memory/memory_tracker.hpp>
#include <llmcost/memory/optimizer_primitives.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost::detail {

/// Parameters, gradients and optimizer state on one device during a replay.
///
/// The base class stores all of them in full (no sharding). With data parallelism it also stores gradient buckets.
///
/// Source: torch/csrc/distributed/c10d/reducer.cpp, `initialize_buckets` (`gradient_as_bucket_view` is off).
class parameter_sharding {
public:
    parameter_sharding(const tape& tape, const training_schedule& plan, memory_timeline& out, memory_tracker& now)
        : tape_(tape), plan_(plan), out_(out), now_(now), states_(tape.parameters.size()) {
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
    parameter_sharding(const parameter_sharding&) = delete;
    parameter_sharding& operator=(const parameter_sharding&) = delete;
    virtual ~parameter_sharding() = default;

    /// Allocates the memory that exists before the first step.
    virtual void allocate_parameters() {
        for (const tape_parameter& p : tape_.parameters) now_.allocate(category::parameters, p.bytes);
        for (const tape_parameter* p : trained_) {
            if (plan_.data_parallel_size > 1) now_.allocate(category::gradients, p->bytes);
            if (has_master_weight(*p)) allocate_optimizer_state(4 * p->elements);
            if (accumulates_in_float32(*p)) now_.allocate(category::gradients, 4 * p->elements);
        }
    }
    // hooks of a pass: the model, then each layer (-1: outside of layers), then backward in reverse order
    virtual void pre_forward_model() {}
    virtual void pre_forward(std::int32_t /*layer*/) {}
    virtual void post_forward(std::int32_t /*layer*/) {}
    virtual void post_forward_model() {}
    virtual void pre_backward_model() {}
    virtual void pre_backward(std::int32_t /*layer*/) {}
    virtual void post_backward(std::int32_t /*layer*/, bool /*of_gradients*/) {}
    virtual void post_backward_model(bool /*last*/) {}

    /// Called before a gradient arrives: LOMO updates the previous parameter now (lomo_optim/lomo.py, `fuse_update`).
    void before_gradient() {
        if (pending_parameter_ != nullptr) {
            step_in_backward(*pending_parameter_);
            pending_parameter_ = nullptr;
        }
    }
    /// Called when a parameter's gradient is complete and its temporaries are freed.
    void on_parameter_gradient(std::int32_t parameter) {
        const tape_parameter& p = tape_.parameters[static_cast<std::size_t>(parameter)];
        parameter_state& s = states_[static_cast<std::size_t>(parameter)];
        s.reached = true;
        store_gradient(p, s);
    }
    void optimizer_step() {
        now_.begin("step");
        // an optimizer skips parameters without a gradient
        std::erase_if(trained_, [&](const tape_parameter* p) { return !state(*p).reached; });
        before_gradient();
        if (!plan_.updates_in_backward()) step_all(!has_stepped_);
        has_stepped_ = true;
    }
    virtual void zero_gradients() {
        now_.free(category::gradients, stored_gradient_bytes_);
        stored_gradient_bytes_ = 0;
        for (parameter_state& s : states_) s.has_gradient = false;
    }

protected:
    using category = memory_category;
    struct parameter_state {
        bool reached = false;       ///< it has had a gradient
        bool has_gradient = false;  ///< it has a gradient since the last step
        bool has_state = false;
    };

    [[nodiscard]] bool has_master_weight(const tape_parameter& p) const noexcept {
        return plan_.has_master_weights && element_bytes(p) < 4;
    }
    [[nodiscard]] bool accumulates_in_float32(const tape_parameter& p) const noexcept {
        return plan_.has_float32_gradients && element_bytes(p) < 4;
    }
    [[nodiscard]] parameter_state& state(const tape_parameter& p) {
        return states_[static_cast<std::size_t>(&p - tape_.parameters.data())];
    }
    void allocate_optimizer_state(std::uint64_t bytes) {
        if (plan_.offloads_optimizer)
            out_.offloaded_bytes += bytes;
        else
            now_.allocate(category::optimizer, bytes);
    }
    /// Stores a gradient. Later gradients are added to the first in place.
    ///
    /// Source: torch/csrc/autograd/functions/accumulate_grad.h.
    virtual void store_gradient(const tape_parameter& p, parameter_state& s) {
        if (s.has_gradient) return;
        if (accumulates_in_float32(p)) return now_.allocate_temporary(category::gradients, p.bytes, "grad");
        now_.allocate(category::gradients, p.bytes);
        now_.update_peak("grad");
        if (!plan_.updates_in_backward()) {
            s.has_gradient = true;
            stored_gradient_bytes_ += p.bytes;
        } else if (plan_.optimizer->steps_at_next_gradient)
            pending_parameter_ = &p;
        else
            step_in_backward(p);
    }
    virtual void step_all(bool first) {
        const std::uint64_t copies = prepare_gradients_for_step();
        step(optimizer_parameters(), first);
        now_.free(category::optimizer, copies);
    }
    /// Converts gradients for the optimizer. Returns the bytes that are freed after the step.
    virtual std::uint64_t prepare_gradients_for_step() {
        std::uint64_t bytes = 0;
        for (const tape_parameter* p : trained_)
            if (has_master_weight(*p) && !accumulates_in_float32(*p) && !plan_.offloads_optimizer)
                bytes += 4 * p->elements;
        now_.allocate(category::optimizer, bytes);
        now_.update_peak("copy");
        return bytes;
    }
    /// The tensors that the optimizer updates: parameters, or their float32 copies.
    [[nodiscard]] virtual std::vector<tape_parameter> optimizer_parameters() const {
        std::vector<tape_parameter> out;
        out.reserve(trained_.size());
        for (const tape_parameter* p : trained_) {
            out.push_back(*p);
            if (has_master_weight(*p)) out.back().bytes = 4 * p->elements;
        }
        return out;
    }
    void step(const std::vector<tape_parameter>& parameters, bool first) {
        if (first) count_optimizer_flops(parameters);
        const optimizer_memory m = compute_optimizer_memory(*plan_.optimizer, plan_.galore_rank, parameters, first);
        if (first && plan_.offloads_optimizer) allocate_optimizer_state(m.state);
        if (plan_.offloads_optimizer) return;
        now_.allocate_temporary(category::optimizer, first ? m.maximum : m.maximum - m.state, plan_.optimizer->name);
        if (first) allocate_optimizer_state(m.state);
        now_.update_peak("state");
    }
    /// Counts the primitives and products of a step. Called once per parameter.
    void count_optimizer_flops(const std::vector<tape_parameter>& parameters) {
        const primitives<count> added_primitives = step_primitives(*plan_.optimizer, plan_.galore_rank, parameters);
        for (const auto member : primitive_members<count>) out_.optimizer_step.*member += added_primitives.*member;
        for (const tape_parameter& p : parameters)
            out_.step_counter_bytes += step_counter_bytes_of(*plan_.optimizer, p);
        const std::vector<optimizer_product> products = step_products(*plan_.optimizer, plan_.galore_rank, parameters);
        out_.optimizer_products.insert(out_.optimizer_products.end(), products.begin(), products.end());
    }
    /// Updates one parameter and frees its gradient.
    void step_in_backward(const tape_parameter& p) {
        parameter_state& s = state(p);
        if (plan_.optimizer->steps_at_next_gradient) {
            if (!s.has_state) {
                count_optimizer_flops({p});
                s.has_state = true;
            }
            const std::uint64_t float32_bytes = element_bytes(p) < 4 ? 4 * p.elements : 0;
            now_.allocate(category::optimizer, float32_bytes);
            now_.update_peak(plan_.optimizer->name);
            now_.free(category::gradients, p.bytes);
            now_.allocate(category::optimizer, float32_bytes);
            now_.update_peak(plan_.optimizer->name);
            now_.free(category::optimizer, 2 * float32_bytes);
            return;
        }
        const optimizer_memory m = compute_optimizer_memory(*plan_.optimizer, plan_.galore_rank, {p}, !s.has_state);
        if (!plan_.offloads_optimizer)
            now_.allocate_temporary(category::optimizer, s.has_state ? m.maximum - m.state : m.maximum,
                                    plan_.optimizer->name);
        if (!s.has_state) {
            allocate_optimizer_state(m.state);
            count_optimizer_flops({p});
        }
        s.has_state = true;
        now_.free(category::gradients, p.bytes);
    }

    const tape& tape_;
    const training_schedule& plan_;
    memory_timeline& out_;
    memory_tracker& now_;
    std::vector<parameter_state> states_;
    std::vector<const tape_parameter*> trained_;
    std::uint64_t stored_gradient_bytes_ = 0;  ///< bytes of gradients that are freed after the step

private:
    const tape_parameter* pending_parameter_ = nullptr;  ///< has a gradient and is updated when the next one arrives
    bool has_stepped_ = false;
};

}  // namespace llmcost::detail
