// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/memory/meter.hpp>
#include <llmcost/memory/optimizer_primitives.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost::detail {

/// What one device holds of parameters, of their gradients and of the optimizer's state while a step is played.
///
/// This one holds all of each; where others train replicas beside it, sums of gradients too
/// (torch/csrc/distributed/c10d/reducer.cpp, `initialize_buckets`: `gradient_as_bucket_view` is off).
class parameter_keeper {
public:
    parameter_keeper(const tape& of, const training_schedule& plan, memory_timeline& out, memory_meter& now)
        : of_(of), plan_(plan), out_(out), now_(now), states_(of.parameters.size()) {
        for (const tape_parameter& p : of.parameters)
            if (p.trained) trained_.push_back(&p), out.trainable += p.elements;
        // optimizers go through parameters as modules declare them: layers mostly have their norms behind what they norm
        for (std::size_t i = 0; i < trained_.size();) {
            std::size_t end = i + 1;
            while (end < trained_.size() && trained_[end]->region == trained_[i]->region) ++end;
            const auto run = trained_.begin();
            if (trained_[i]->region >= 0)
                std::stable_partition(run + static_cast<std::ptrdiff_t>(i), run + static_cast<std::ptrdiff_t>(end),
                                      [](const tape_parameter* p) { return p->sizes.size() >= 2; });
            i = end;
        }
    }
    parameter_keeper(const parameter_keeper&) = delete;
    parameter_keeper& operator=(const parameter_keeper&) = delete;
    virtual ~parameter_keeper() = default;

    /// What is there before the first step.
    virtual void begin() {
        for (const tape_parameter& p : of_.parameters) now_.add(category::parameters, p.bytes);
        for (const tape_parameter* p : trained_) {
            if (plan_.shards > 1) now_.add(category::gradients, p->bytes);
            if (has_master(*p)) hold_state(4 * p->elements);
            if (is_summed_in_float(*p)) now_.add(category::gradients, 4 * p->elements);
        }
    }
    // what a pass goes through: the model, then each layer (none is -1), and all of it backwards
    virtual void forward_begins() {}
    virtual void enter(std::int32_t /*layer*/) {}
    virtual void leave(std::int32_t /*layer*/) {}
    virtual void forward_ends() {}
    virtual void backward_begins() {}
    virtual void go_back_into(std::int32_t /*layer*/) {}
    virtual void come_out_of(std::int32_t /*layer*/, bool /*of_gradients*/) {}
    virtual void backward_ends(bool /*last*/) {}

    /// A gradient is about to arrive: LOMO moves the parameter before it now (lomo_optim/lomo.py, `fuse_update`).
    void expect() {
        if (waits_ != nullptr) update_now(*waits_), waits_ = nullptr;
    }
    /// A parameter's gradient is there, and what it was made in is gone.
    void give(std::int32_t parameter) {
        const tape_parameter& p = of_.parameters[static_cast<std::size_t>(parameter)];
        state_of_parameter& s = states_[static_cast<std::size_t>(parameter)];
        s.reached = true;
        take_gradient(p, s);
    }
    void update() {
        now_.begin("step");
        // an optimizer passes over parameters that no gradient reaches
        std::erase_if(trained_, [&](const tape_parameter* p) { return !state(*p).reached; });
        expect();
        if (!plan_.updates_in_backward()) move_all(!stepped_);
        stepped_ = true;
    }
    virtual void end() {
        now_.take(category::gradients, given_), given_ = 0;
        for (state_of_parameter& s : states_) s.has_gradient = false;
    }

protected:
    using category = memory_category;
    struct state_of_parameter {
        bool reached = false;       ///< it has had a gradient
        bool has_gradient = false;  ///< since the last step
        bool has_state = false;
    };

    [[nodiscard]] bool has_master(const tape_parameter& p) const noexcept {
        return plan_.master_weights && element_bytes(p) < 4;
    }
    [[nodiscard]] bool is_summed_in_float(const tape_parameter& p) const noexcept {
        return plan_.gradients_in_float && element_bytes(p) < 4;
    }
    [[nodiscard]] state_of_parameter& state(const tape_parameter& p) {
        return states_[static_cast<std::size_t>(&p - of_.parameters.data())];
    }
    void hold_state(std::uint64_t bytes) {
        if (plan_.offloads_optimizer)
            out_.offloaded += bytes;
        else
            now_.add(category::optimizer, bytes);
    }
    /// Later gradients are added to the first in place (torch/csrc/autograd/functions/accumulate_grad.h).
    virtual void take_gradient(const tape_parameter& p, state_of_parameter& s) {
        if (s.has_gradient) return;
        if (is_summed_in_float(p)) return now_.pass(category::gradients, p.bytes, "grad");
        now_.add(category::gradients, p.bytes), now_.look("grad");
        if (!plan_.updates_in_backward())
            s.has_gradient = true, given_ += p.bytes;
        else if (plan_.optimizer->waits_for_next)
            waits_ = &p;
        else
            update_now(p);
    }
    virtual void move_all(bool first) {
        const std::uint64_t copies = hand_over();
        step(handed(), first);
        now_.take(category::optimizer, copies);
    }
    /// Makes of gradients what the optimizer reads; bytes that go once it has run.
    virtual std::uint64_t hand_over() {
        std::uint64_t bytes = 0;
        for (const tape_parameter* p : trained_)
            if (has_master(*p) && !is_summed_in_float(*p) && !plan_.offloads_optimizer) bytes += 4 * p->elements;
        now_.add(category::optimizer, bytes), now_.look("copy");
        return bytes;
    }
    /// What the optimizer is handed: parameters, or their copies in 32 bits.
    [[nodiscard]] virtual std::vector<tape_parameter> handed() const {
        std::vector<tape_parameter> out;
        out.reserve(trained_.size());
        for (const tape_parameter* p : trained_) {
            out.push_back(*p);
            if (has_master(*p)) out.back().bytes = 4 * p->elements;
        }
        return out;
    }
    void step(const std::vector<tape_parameter>& of, bool first) {
        if (first) executed(of);
        const optimizer_memory m = optimizer_memory_of(*plan_.optimizer, plan_.rank, of, first);
        if (first && plan_.offloads_optimizer) hold_state(m.state);
        if (plan_.offloads_optimizer) return;
        now_.pass(category::optimizer, first ? m.most : m.most - m.state, plan_.optimizer->name);
        if (first) hold_state(m.state);
        now_.look("state");
    }
    /// Counts what a step executes, once.
    void executed(const std::vector<tape_parameter>& of) {
        const primitives<count> more = step_primitives(*plan_.optimizer, plan_.rank, of);
        for (const auto member : primitive_members<count>) out_.optimizer_step.*member += more.*member;
        for (const tape_parameter& p : of) out_.counts_of_steps += count_of_steps(*plan_.optimizer, p);
        const std::vector<optimizer_product> products = step_products(*plan_.optimizer, plan_.rank, of);
        out_.optimizer_products.insert(out_.optimizer_products.end(), products.begin(), products.end());
    }
    /// One parameter's step, after which its gradient goes.
    void update_now(const tape_parameter& p) {
        state_of_parameter& s = state(p);
        if (plan_.optimizer->waits_for_next) {
            if (!s.has_state) executed({p}), s.has_state = true;
            const std::uint64_t wide = element_bytes(p) < 4 ? 4 * p.elements : 0;
            now_.add(category::optimizer, wide), now_.look(plan_.optimizer->name);
            now_.take(category::gradients, p.bytes), now_.add(category::optimizer, wide);
            now_.look(plan_.optimizer->name), now_.take(category::optimizer, 2 * wide);
            return;
        }
        const optimizer_memory m = optimizer_memory_of(*plan_.optimizer, plan_.rank, {p}, !s.has_state);
        if (!plan_.offloads_optimizer)
            now_.pass(category::optimizer, s.has_state ? m.most - m.state : m.most, plan_.optimizer->name);
        if (!s.has_state) hold_state(m.state), executed({p});
        s.has_state = true;
        now_.take(category::gradients, p.bytes);
    }

    const tape& of_;
    const training_schedule& plan_;
    memory_timeline& out_;
    memory_meter& now_;
    std::vector<state_of_parameter> states_;
    std::vector<const tape_parameter*> trained_;
    std::uint64_t given_ = 0;  ///< bytes of gradients that go after the step

private:
    const tape_parameter* waits_ = nullptr;  ///< has a gradient, and moves as the next one comes
    bool stepped_ = false;
};

}  // namespace llmcost::detail
