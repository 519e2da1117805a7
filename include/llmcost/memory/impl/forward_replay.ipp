// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/forward_replay.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/fsdp_sharding.hpp>
#include <llmcost/memory/memory_tracker.hpp>
#include <llmcost/memory/parameter_sharding.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/zero_sharding.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost::detail {

/// Creates the parameter sharding of one device.
[[nodiscard]] LLMCOST_INLINE std::unique_ptr<parameter_sharding> make_parameter_sharding(const tape& tape,
                                                                                         const training_schedule& plan,
                                                                                         memory_timeline& out,
                                                                                         memory_tracker& tracker) {
    if (plan.data_parallel_size > 1) {
        switch (plan.sharding) {
            case sharding_strategy::ddp: break;
            case sharding_strategy::zero1:
            case sharding_strategy::zero2: return std::make_unique<zero_sharding>(tape, plan, out, tracker);
            case sharding_strategy::zero3: return std::make_unique<zero3_sharding>(tape, plan, out, tracker);
            case sharding_strategy::fsdp: return std::make_unique<fsdp_sharding>(tape, plan, out, tracker);
        }
    }
    return std::make_unique<parameter_sharding>(tape, plan, out, tracker);
}

LLMCOST_INLINE std::uint64_t cublas_workspace_bytes(std::int32_t cuda_capability) noexcept {
    const bool has_large_workspace = cuda_capability == 90 || cuda_capability == 100;
    return has_large_workspace ? 4096U * 8 * 1024 : 4096U * 2 * 1024 + 16U * 8 * 1024;
}

LLMCOST_INLINE forward_replay::forward_replay(const tape& tape, const training_schedule& plan, memory_timeline& out,
                                              replay_observer* observer)
    : tape_(tape),
      plan_(plan),
      out_(out),
      observer_(observer),
      tracker_(out, plan.cuda_capability > 0 && plan.data_parallel_size == 1),
      parameters_(make_parameter_sharding(tape, plan, out, tracker_)),
      tensor_states_(tape.tensors.size()),
      has_backward_(tape.tensors.size()) {
    tracker_.allocate(category::buffers, tape.buffer_bytes);
    tracker_.allocate(category::others, plan.input_bytes);
    for (const tape_tensor& t : tape.tensors)
        if (t.producer < 0) tracker_.allocate(category::others, t.bytes);
    for (const tape_node& n : tape.nodes)
        if (n.has_backward && n.output >= 0) has_backward_[static_cast<std::size_t>(n.output)] = true;
    parameters_->allocate_parameters();
}

LLMCOST_INLINE void forward_replay::record_snapshot(std::int32_t layer, bool ends) {
    if (step_ != plan_.num_steps || !is_last_pass_ || !ends) return;
    tracker_.record_snapshot(layer < 0 ? std::string() : tape_.regions[static_cast<std::size_t>(layer)]);
}

LLMCOST_INLINE void forward_replay::report_collective(const tape_node& n, bool is_backward, training_phase phase) {
    if (n.collective_id < 0 || observer() == nullptr) return;
    const tape_collective& c = tape_.collectives[static_cast<std::size_t>(n.collective_id)];
    const collective_kind kind = is_backward ? c.call.backward : c.call.forward;
    if (kind == collective_kind::none) return;
    const bool is_reversed = is_backward && c.call.forward != collective_kind::none;
    observer()->on_collective({.kind = kind,
                               .axis = c.call.axis,
                               .group_size = c.call.ranks,
                               .in_bytes = is_reversed ? c.out_bytes : c.in_bytes,
                               .out_bytes = is_reversed ? c.in_bytes : c.out_bytes,
                               .type = c.type,
                               .has_integers = c.call.has_integers,
                               .phase = phase,
                               .module = c.module});
}

LLMCOST_INLINE void forward_replay::allocate(std::int32_t t, category is) {
    if (t < 0) return;
    tensor_state& h = state_of(t);
    if (h.is_live || tensor_state_of(t).producer < 0) return;
    h.is_live = true;
    h.category_of_tensor = is;
    h.block = tracker_.allocate_block(is, bytes_of(t));
}

LLMCOST_INLINE void forward_replay::free(std::int32_t t) {
    if (t < 0) return;
    tensor_state& h = state_of(t);
    if (!h.is_live || h.is_leaf) return;
    h.is_live = false;
    tracker_.free_block(h.category_of_tensor, bytes_of(t), h.block);
}

LLMCOST_INLINE void forward_replay::forward() {
    tracker_.begin(step_, "forward");
    parameters_->pre_forward_model();
    std::uint64_t offloaded = plan_.recompute == recompute_mode::none ? 0 : save_region_arguments();
    for (std::size_t i = 0; i < tape_.nodes.size(); ++i) {
        const tape_node& n = tape_.nodes[i];
        tracker_.set_operation(op_cost_of(n.kind).name);
        parameters_->before_forward(i);
        if (replay_observer* const o = observer()) o->on_forward(static_cast<std::int32_t>(i), false);
        report_collective(n, false, training_phase::forward);
        allocate(n.output);
        allocate_cublas_workspace(n, has_forward_workspace_);
        tracker_.allocate_temporary(category::activations, n.forward_temporary_bytes, op_cost_of(n.kind).name);
        for (const tape_edge& e : n.inputs)
            if (e.tensor >= 0 && e.requires_grad && !has_backward_[static_cast<std::size_t>(e.tensor)])
                state_of(e.tensor).is_leaf = true;
        if (is_offloaded(n))
            offloaded += offload_saved(n);
        else if (!is_recomputed(n))
            save_for_backward(n);
        else if (is_saved_operator(static_cast<std::int32_t>(i)))
            tracker_.allocate(category::activations, n.saved_extra_bytes);
        tracker_.update_peak(op_cost_of(n.kind).name);
        for (const tape_edge& e : n.inputs) free_if_unused(e.tensor, i);
        free_if_unused(n.output, i);
        const bool ends = i + 1 == tape_.nodes.size() || tape_.nodes[i + 1].region != n.region;
        parameters_->after_forward(i);
        record_snapshot(n.region, ends);
    }
    parameters_->post_forward_model();
    if (is_first_pass_) {
        out_.saved_bytes = saved();
        out_.offloaded_bytes += offloaded;
    }
}

LLMCOST_INLINE void forward_replay::allocate_cublas_workspace(const tape_node& n, bool& is_allocated) {
    const bool uses_cublas =
        op_cost_of(n.kind).torch_flops != 0 && n.kind != op::convolution && n.kind != op::convolution_bias;
    if (is_allocated || !uses_cublas) return;
    is_allocated = true;
    tracker_.allocate_library_workspace(cublas_workspace_bytes(plan_.cuda_capability));
}

LLMCOST_INLINE void forward_replay::save_for_backward(const tape_node& n) {
    for (const std::int32_t s : n.saved) {
        allocate(s);
        ++state_of(s).num_saved_by;
    }
    tracker_.allocate(category::activations, n.saved_extra_bytes);
    tracker_.allocate(category::activations, n.saved_integer_bytes);
}

LLMCOST_INLINE std::uint64_t forward_replay::offload_saved(const tape_node& n) {
    std::uint64_t made = n.saved_extra_bytes;
    for (const std::int32_t s : n.saved)
        if (!state_of(s).is_live && tensor_state_of(s).producer >= 0) made += bytes_of(s);
    tracker_.allocate(category::activations, n.saved_integer_bytes);
    tracker_.allocate_temporary(category::activations, made, op_cost_of(n.kind).name);
    return n.saved_view_bytes + n.saved_extra_bytes;
}

LLMCOST_INLINE void forward_replay::release_saved(const tape_node& n) {
    if (!is_offloaded(n)) {
        for (const std::int32_t s : n.saved)
            if (--state_of(s).num_saved_by == 0 && s != tape_.loss) free(s);
        tracker_.free(category::activations, n.saved_extra_bytes);
    }
    tracker_.free(category::activations, n.saved_integer_bytes);
}

LLMCOST_INLINE void forward_replay::free_if_unused(std::int32_t t, std::size_t node) {
    if (t < 0 || t == tape_.output || t == tape_.loss || state_of(t).num_saved_by > 0) return;
    if (tensor_state_of(t).last_read <= static_cast<std::int32_t>(node)) free(t);
}

LLMCOST_INLINE std::uint64_t forward_replay::saved() {
    std::uint64_t bytes = 0;
    for (std::size_t t = 0; t < tensor_states_.size(); ++t)
        if (tensor_states_[t].num_saved_by > 0) bytes += bytes_of(static_cast<std::int32_t>(t));
    for (const tape_node& n : tape_.nodes) bytes += is_recomputed(n) || is_offloaded(n) ? 0 : n.saved_extra_bytes;
    return bytes;
}

LLMCOST_INLINE std::int32_t forward_replay::region_index(const tape_node& n) const noexcept {
    switch (plan_.recompute) {
        case recompute_mode::none: return -1;
        case recompute_mode::selective: return n.attention_id;
        case recompute_mode::full: return n.region < plan_.num_recomputed_layers ? n.region : -1;
    }
    return -1;
}

LLMCOST_INLINE std::uint64_t forward_replay::save_region_arguments() {
    regions_.assign(
        plan_.recompute == recompute_mode::full ? tape_.regions.size() : static_cast<std::size_t>(tape_.num_attentions),
        {});
    std::uint64_t offloaded = 0;
    for (std::size_t i = 0; i < tape_.nodes.size(); ++i) {
        const tape_node& n = tape_.nodes[i];
        if (!is_recomputed(n)) continue;
        recompute_region& r = region_of(n);
        if (r.first_node < 0) r.first_node = static_cast<std::int32_t>(i);
        r.last_node = static_cast<std::int32_t>(i);
        if (saves_anything(n)) r.early_stop_node = static_cast<std::int32_t>(i);
        for (const tape_edge& e : n.inputs) {
            if (e.tensor < 0 || tensor_state_of(e.tensor).producer >= r.first_node ||
                std::ranges::find(r.arguments, e.tensor) != r.arguments.end() ||
                std::ranges::find(r.offloaded_arguments, e.tensor) != r.offloaded_arguments.end())
                continue;
            if (plan_.offloads_activations && e.requires_grad) {
                r.offloaded_arguments.push_back(e.tensor);
                offloaded += bytes_of(e.tensor);
            } else {
                r.arguments.push_back(e.tensor);
                ++state_of(e.tensor).num_saved_by;
            }
        }
    }
    if (plan_.saves_operators) save_operators();
    return offloaded;
}

LLMCOST_INLINE void forward_replay::save_operators() {
    is_saved_operator_.assign(tape_.nodes.size(), false);
    std::int32_t region = -1;
    int num_products = 0;
    for (std::size_t i = 0; i < tape_.nodes.size(); ++i) {
        const tape_node& n = tape_.nodes[i];
        if (!is_recomputed(n) || n.in_place || n.output < 0) continue;
        if (n.region != region) num_products = 0;
        region = n.region;
        const bool is_saved = n.kind == op::attention || (n.kind == op::matmul && ++num_products % 2 == 1);
        if (!is_saved) continue;
        is_saved_operator_[i] = true;
        ++state_of(n.output).num_saved_by;
        recompute_region& r = region_of(n);
        // recomputation does not reach it
        if (static_cast<std::int32_t>(i) >= r.early_stop_node) r.arguments.push_back(n.output);
    }
}

LLMCOST_INLINE void forward_replay::recompute(recompute_region& r) {
    r.is_recomputed = true;
    for (const std::int32_t t : r.offloaded_arguments) {
        allocate(t, category::temporaries);
        ++state_of(t).num_saved_by;
    }
    std::vector<std::int32_t> last(tape_.tensors.size(), -1);
    for (std::int32_t i = r.first_node; i <= r.early_stop_node; ++i)
        for (const tape_edge& e : node(i).inputs)
            if (e.tensor >= 0) last[static_cast<std::size_t>(e.tensor)] = i;
    for (std::int32_t i = r.first_node; i <= r.early_stop_node; ++i) {
        const tape_node& n = node(i);
        tracker_.set_operation(op_cost_of(n.kind).name);
        const bool runs = i < r.early_stop_node || std::ranges::find(n.saved, n.output) != n.saved.end();
        if (runs && !is_saved_operator(i)) {
            if (replay_observer* const o = observer()) o->on_forward(i, true);
            report_collective(n, false, training_phase::backward);
            allocate(n.output);
            tracker_.allocate_temporary(category::activations, n.forward_temporary_bytes, op_cost_of(n.kind).name);
            out_.recomputed_flops += is_first_pass_ ? n.torch_flops : 0;
        }
        save_for_backward(n);
        if (is_saved_operator(i)) tracker_.free(category::activations, n.saved_extra_bytes);
        if (is_saved_operator(i) && i < r.early_stop_node) --state_of(n.output).num_saved_by;
        tracker_.update_peak(op_cost_of(n.kind).name);
        const auto drop_read = [&](std::int32_t t) {
            if (t >= 0 && state_of(t).num_saved_by == 0 && last[static_cast<std::size_t>(t)] <= i) free(t);
        };
        for (const tape_edge& e : n.inputs) drop_read(e.tensor);
        drop_read(n.output);
    }
    for (const std::int32_t t : r.offloaded_arguments)
        if (--state_of(t).num_saved_by == 0) free(t);
}

LLMCOST_INLINE void forward_replay::free_region_arguments(const recompute_region& r) {
    for (const std::int32_t t : r.arguments)
        if (--state_of(t).num_saved_by == 0) free(t);
}

}  // namespace llmcost::detail
