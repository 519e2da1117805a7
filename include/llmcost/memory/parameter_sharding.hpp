// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/memory/category.hpp>
#include <llmcost/memory/memory_tracker.hpp>
#include <llmcost/memory/optimizer_step.hpp>
#include <llmcost/memory/replay_observer.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost::detail {

/// Parameters, gradients and optimizer state on one device during a replay.
///
/// The base class stores all of them in full (no sharding). With data parallelism it also stores gradient buckets.
///
/// Source: torch/csrc/distributed/c10d/reducer.cpp, `initialize_buckets` (`gradient_as_bucket_view` is off).
class parameter_sharding {
public:
    parameter_sharding(const tape& tape, const training_schedule& plan, memory_timeline& out, memory_tracker& tracker);
    parameter_sharding(const parameter_sharding&) = delete;
    parameter_sharding& operator=(const parameter_sharding&) = delete;
    virtual ~parameter_sharding() = default;

    /// Allocates the memory that exists before the first step.
    virtual void allocate_parameters();
    // hooks of a pass: forward over all nodes, then backward in reverse order
    virtual void pre_forward_model() {}
    virtual void before_forward(std::size_t /*node*/) {}
    virtual void after_forward(std::size_t /*node*/) {}
    virtual void post_forward_model() {}
    virtual void pre_backward_model() {}
    /// Called for nodes that a gradient reaches.
    virtual void before_backward(std::size_t /*node*/) {}
    /// Called for all nodes; `is_reached`: by node, whether a gradient reaches it.
    virtual void after_backward(std::size_t /*node*/, const std::vector<char>& /*is_reached*/) {}
    virtual void post_backward_model(bool /*last*/) {}

    /// Called before a gradient arrives: LOMO updates the previous parameter now (lomo_optim/lomo.py, `fuse_update`).
    void before_gradient();
    /// Called when a parameter's gradient is complete and its temporaries are freed.
    void on_parameter_gradient(std::int32_t parameter);
    void optimizer_step();
    /// Reports the optimizer steps from now on; null: none.
    void set_observer(replay_observer* observer) noexcept { observer_ = observer; }
    /// Begins a pass; `last`: of a step.
    void begin_pass(bool last) noexcept { is_last_pass_ = last; }
    virtual void zero_gradients();

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
    void allocate_optimizer_state(std::uint64_t bytes);
    /// Stores a gradient. Later gradients are added to the first in place.
    ///
    /// Source: torch/csrc/autograd/functions/accumulate_grad.h.
    virtual void store_gradient(const tape_parameter& p, parameter_state& s);
    virtual void step_all(bool first);
    /// Converts gradients for the optimizer. Returns the bytes that are freed after the step.
    virtual std::uint64_t prepare_gradients_for_step();
    /// The tensors that the optimizer updates: parameters, or their float32 copies.
    [[nodiscard]] virtual std::vector<tape_parameter> optimizer_parameters() const;
    void step(const std::vector<tape_parameter>& parameters, bool first);
    /// A step on a CUDA device, where each tensor of the state and of a foreach function has a block.
    void step_by_tensor(const std::vector<tape_parameter>& parameters, const optimizer_memory& total, bool first);
    /// Counts the primitives and products of a step. Called once per parameter.
    void count_optimizer_flops(const std::vector<tape_parameter>& parameters);
    /// Updates one parameter and frees its gradient.
    void step_in_backward(const tape_parameter& p);

    const tape& tape_;
    const training_schedule& plan_;
    memory_timeline& out_;
    memory_tracker& tracker_;
    std::vector<parameter_state> states_;
    std::vector<const tape_parameter*> trained_;
    std::uint64_t stored_gradient_bytes_ = 0;  ///< bytes of gradients that are freed after the step

    [[nodiscard]] replay_observer* observer() const noexcept { return observer_; }
    [[nodiscard]] bool is_last_pass() const noexcept { return is_last_pass_; }

private:
    replay_observer* observer_ = nullptr;
    bool is_last_pass_ = true;
    const tape_parameter* pending_parameter_ = nullptr;  ///< has a gradient and is updated when the next one arrives
    bool has_stepped_ = false;
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/parameter_sharding.ipp>  // IWYU pragma: export
#endif
