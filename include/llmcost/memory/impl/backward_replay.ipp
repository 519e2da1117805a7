// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/backward_replay.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/graph/backward_graph.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/cuda_reduction.hpp>
#include <llmcost/memory/forward_replay.hpp>
#include <llmcost/memory/memory_tracker.hpp>
#include <llmcost/memory/parameter_sharding.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost::detail {

LLMCOST_INLINE void backward_replay::free_unreached_outputs() {
    is_reached_.assign(tape_.nodes.size(), false);
    std::vector<char> is_needed(tape_.tensors.size(), false);
    if (tape_.loss >= 0) is_needed[static_cast<std::size_t>(tape_.loss)] = true;
    for (const std::int32_t t : tape_.sent) is_needed[static_cast<std::size_t>(t)] = true;
    for (std::size_t i = tape_.nodes.size(); i-- > 0;) {
        const tape_node& n = tape_.nodes[i];
        if (!n.has_backward || n.output < 0 || !is_needed[static_cast<std::size_t>(n.output)]) continue;
        is_reached_[i] = true;
        for (const tape_edge& e : n.inputs) {
            if (!e.requires_grad) continue;
            if (e.tensor >= 0) is_needed[static_cast<std::size_t>(e.tensor)] = true;
            if (e.parameter >= 0) ++uses_[static_cast<std::size_t>(e.parameter)].num_pending;
        }
    }
    for (std::size_t i = 0; i < tape_.nodes.size(); ++i)
        if (!is_reached_[i] && !is_recomputed(tape_.nodes[i])) release_saved(tape_.nodes[i]);
    if (tape_.output >= 0 && state_of(tape_.output).num_saved_by == 0) free(tape_.output);
}

LLMCOST_INLINE void backward_replay::backward() {
    tracker_.begin("backward");
    tracker_.allocate(category::activations, 4);  // the initial gradient, a scalar 1
    gradients_.clear();
    parameters_->pre_backward_model();
    if (tape_.loss >= 0) state_of(tape_.loss).gradient = allocate_gradient(0);
    for (const std::int32_t t : tape_.sent)
        if (tensor_state_of(t).requires_grad) state_of(t).gradient = allocate_gradient(bytes_of(t));
    for (std::size_t i = tape_.nodes.size(); i-- > 0;) {
        const tape_node& n = tape_.nodes[i];
        if (is_reached_[i]) parameters_->before_backward(i);
        if (is_recomputed(n) && is_reached_[i] && !region_of(n).is_recomputed) recompute(region_of(n));
        if (is_reached_[i])
            run_backward(n);
        else if (is_recomputed(n) && region_of(n).is_recomputed &&
                 static_cast<std::int32_t>(i) <= region_of(n).early_stop_node)
            release_saved(n);
        if (is_recomputed(n) && region_of(n).first_node == static_cast<std::int32_t>(i))
            free_region_arguments(region_of(n));
        const bool ends = i == 0 || tape_.nodes[i - 1].region != n.region;
        parameters_->after_backward(i, is_reached_);
        record_snapshot(n.region, ends);
    }
    tracker_.free(category::activations, 4);
    parameters_->post_backward_model(is_last_pass_);
}

LLMCOST_INLINE void backward_replay::free_loss_and_leaves() {
    if (tape_.loss >= 0) free(tape_.loss);
    // autograd leaves other than parameters, and their gradients
    for (std::size_t i = 0; i < tensor_states_.size(); ++i) {
        tensor_state& t = tensor_states_[i];
        t.is_leaf = false;
        free(static_cast<std::int32_t>(i));
        release_gradient(t.gradient);
        t.gradient = -1;
        free_view_gradients(t);
    }
}

LLMCOST_INLINE void backward_replay::run_backward(const tape_node& n) {
    const std::string_view name = op_cost_of(n.kind).name;
    tracker_.set_operation(name);
    allocate_cublas_workspace(n, has_backward_workspace_);
    combine_view_gradients(state_of(n.output), tensor_state_of(n.output), n.element_bits);
    if (observer() != nullptr) observer()->on_backward(index_of(n));
    report_collective(n, true, training_phase::backward);
    const std::int32_t arrived = state_of(n.output).gradient;
    state_of(n.output).gradient = -1;
    input_gradients_.clear();
    const std::uint64_t fetched =
        n.backward_temporary_bytes + (is_offloaded(n) ? n.saved_view_bytes + n.saved_extra_bytes : 0);
    if (fetched > 0) {
        tracker_.allocate(category::temporaries, fetched);
        tracker_.update_peak("copy");
    }
    for (const tape_edge& e : n.inputs)
        input_gradients_.push_back(!e.requires_grad           ? -1
                                   : n.saves_gradients        ? saved_gradient(e)
                                   : passes_gradient_of(n, e) ? add_reference(arrived)
                                                              : compute_gradient(n, e, name));
    tracker_.free(category::temporaries, fetched);
    release_gradient(arrived);
    release_saved(n);  // before its gradients are accumulated (autograd's engine.cpp, `evaluate_function`)
    for (std::size_t i = 0; i < input_gradients_.size(); ++i) {
        const tape_edge& e = n.inputs[i];
        if (e.tensor < 0 && e.parameter < 0) release_gradient(input_gradients_[i]);  // its source is not on the tape
        if (input_gradients_[i] < 0 || e.tensor < 0) continue;
        if (e.bytes < tensor_state_of(e.tensor).bytes)
            store_view_gradient(state_of(e.tensor), input_gradients_[i]);
        else
            accumulate(state_of(e.tensor).gradient, input_gradients_[i],
                       {.tensor = e.tensor, .element_bits = n.element_bits});
    }
    // the bias of a product is its first input (derivatives.yaml, `addmm`)
    const bool is_product = op_cost_of(n.kind).torch_flops != 0;
    for (std::size_t k = 0; k < input_gradients_.size(); ++k) {
        const std::size_t i = is_product ? input_gradients_.size() - 1 - k : k;
        if (input_gradients_[i] >= 0 && n.inputs[i].parameter >= 0)
            accumulate_parameter_gradient(n.inputs[i].parameter, input_gradients_[i]);
    }
}

LLMCOST_INLINE bool backward_replay::passes_gradient_of(const tape_node& n, const tape_edge& e) const {
    const bool is_full_size = e.bytes == n.output_bytes;
    return is_full_size && !n.is_autograd_function && passes_gradient_through(n.kind, &e == &n.inputs.front());
}

LLMCOST_INLINE std::int32_t backward_replay::compute_gradient(const tape_node& n, const tape_edge& e,
                                                              std::string_view name) {
    const std::uint64_t target_bytes = e.tensor >= 0 ? tensor_state_of(e.tensor).bytes
                                       : e.parameter >= 0
                                           ? tape_.parameters[static_cast<std::size_t>(e.parameter)].gradient_bytes()
                                           : e.bytes;
    const std::uint64_t computed_bytes =
        backward_op_cost_of(n.kind).gradient_size == gradient_size_kind::as_output && n.output_bytes > e.bytes
            ? n.output_bytes
            : e.bytes;
    if (observer() != nullptr)
        observer()->on_gradient(index_of(n), static_cast<std::size_t>(&e - n.inputs.data()), computed_bytes,
                                std::min(computed_bytes, target_bytes));
    const std::uint64_t formula = formula_bytes(n, e);
    tracker_.allocate(category::temporaries, formula);
    const std::int32_t unreduced_gradient =
        allocate_gradient(e.tensor >= 0 || computed_bytes > target_bytes ? computed_bytes : target_bytes);
    gradients_[static_cast<std::size_t>(unreduced_gradient)].is_view = op_cost_of(n.kind).torch_flops != 0;
    tracker_.update_peak(name);
    tracker_.free(category::temporaries, formula);
    if (computed_bytes <= target_bytes) {
        const std::uint64_t sum_bytes = bias_sum_bytes(n, e);
        if (sum_bytes > 0) tracker_.allocate_temporary(category::temporaries, sum_bytes, "sum");
        return unreduced_gradient;
    }
    const std::int32_t summed = allocate_gradient(target_bytes);
    tracker_.update_peak("sum");
    release_gradient(unreduced_gradient);
    return summed;
}

LLMCOST_INLINE std::uint64_t backward_replay::formula_bytes(const tape_node& n, const tape_edge& e) const {
    if (n.kind == op::integer_power) return 2 * e.bytes;
    if (plan_.cuda_capability == 0) return 0;
    if (n.kind == op::softmax) return e.bytes;
    if (n.kind != op::gather || e.parameter < 0) return 0;
    const tape_parameter& table = tape_.parameters[static_cast<std::size_t>(e.parameter)];
    constexpr std::uint64_t max_unsorted_indices = 3072, rows_per_thread = 10;
    if (table.sizes.size() != 2 || table.sizes[1] == 0) return 0;
    const auto width = static_cast<std::uint64_t>(table.sizes[1]), rows = static_cast<std::uint64_t>(table.sizes[0]);
    const std::uint64_t indices = n.output_bytes * 8 / n.element_bits / width;
    return indices <= max_unsorted_indices
               ? 0
               : 16 * indices + 4 * width * (indices / rows_per_thread + std::min(indices, rows));
}

LLMCOST_INLINE std::uint64_t backward_replay::bias_sum_bytes(const tape_node& n, const tape_edge& e) const {
    constexpr std::size_t num_operands = 2;
    const bool is_bias = n.kind == op::matmul_bias && static_cast<std::size_t>(&e - n.inputs.data()) >= num_operands;
    if (plan_.cuda_capability == 0 || !is_bias || e.bytes == 0) return 0;
    return column_sum_buffer_bytes(n.output_bytes / e.bytes, e.bytes * 8 / n.element_bits,
                                   plan_.num_multiprocessors * threads_per_multiprocessor(plan_.cuda_capability));
}

LLMCOST_INLINE void backward_replay::store_view_gradient(tensor_state& state, std::int32_t g) {
    const gradient_buffer& arrived = gradients_[static_cast<std::size_t>(g)];
    if (arrived.num_references > 1 || arrived.gradient_category != category::temporaries) {
        const std::uint64_t bytes = arrived.bytes;
        release_gradient(g);
        g = allocate_gradient(bytes);
    }
    state.view_gradients.push_back(g);
}

LLMCOST_INLINE void backward_replay::combine_view_gradients(tensor_state& state, const tape_tensor& source,
                                                            std::uint64_t element_bits) {
    if (state.view_gradients.empty()) return;
    if (observer() != nullptr) {
        std::vector<std::uint64_t> views;
        for (const std::int32_t g : state.view_gradients)
            views.push_back(gradients_[static_cast<std::size_t>(g)].bytes);
        observer()->on_view_gradients(views, source.bytes, element_bits, source.is_sliced);
    }
    accumulate(state.gradient, allocate_gradient(source.bytes), {.element_bits = element_bits});
    tracker_.update_peak("cat");
    free_view_gradients(state);
}

LLMCOST_INLINE void backward_replay::free_view_gradients(tensor_state& state) {
    for (const std::int32_t g : state.view_gradients) release_gradient(g);
    state.view_gradients.clear();
}

LLMCOST_INLINE void backward_replay::accumulate(std::int32_t& place, std::int32_t g, gradient_sum sum) {
    if (place < 0) {
        place = g;
        return;
    }
    gradient_buffer& first = gradients_[static_cast<std::size_t>(place)];
    sum.bytes = first.bytes;
    sum.is_in_place = first.num_references == 1 && !first.is_view;
    if (observer() != nullptr) observer()->on_gradient_sum(sum);
    if (!sum.is_in_place) {
        const std::int32_t added = allocate_gradient(first.bytes);
        tracker_.update_peak("add");
        release_gradient(place);
        place = added;
    }
    release_gradient(g);
}

LLMCOST_INLINE void backward_replay::accumulate_parameter_gradient(std::int32_t parameter, std::int32_t g) {
    parameter_gradient& use = uses_[static_cast<std::size_t>(parameter)];
    const tape_parameter& p = tape_.parameters[static_cast<std::size_t>(parameter)];
    accumulate(use.gradient, g,
               {.parameter = parameter, .element_bits = 8 * p.bytes / std::max<std::uint64_t>(p.elements, 1)});
    if (--use.num_pending > 0) return;
    parameters_->before_gradient();
    release_gradient(use.gradient);
    use.gradient = -1;
    if (observer() != nullptr) observer()->on_parameter_gradient(parameter, plan_.gradient_accumulation_steps > 1);
    parameters_->on_parameter_gradient(parameter);
    if (p.gradient_sum_over_ranks == gradient_sum_kind::after_backward && observer() != nullptr &&
        plan_.tensor_parallel_size > 1)
        observer()->on_collective(
            {.kind = collective_kind::all_reduce,
             .axis = mesh_axis::tensor,
             .group_size = plan_.tensor_parallel_size,
             .in_bytes = p.bytes,
             .out_bytes = p.bytes,
             .type = p.type,
             .phase = training_phase::backward,
             .module = plan_.sharding == sharding_strategy::fsdp && plan_.data_parallel_size > 1 ? "" : p.name});
}

LLMCOST_INLINE std::int32_t backward_replay::allocate_gradient(std::uint64_t bytes, category gradient_category) {
    gradients_.push_back({.bytes = bytes,
                          .num_references = 1,
                          .gradient_category = gradient_category,
                          .block = tracker_.allocate_block(gradient_category, bytes)});
    return static_cast<std::int32_t>(gradients_.size()) - 1;
}

LLMCOST_INLINE std::int32_t backward_replay::add_reference(std::int32_t g) {
    ++gradients_[static_cast<std::size_t>(g)].num_references;
    return g;
}

LLMCOST_INLINE void backward_replay::release_gradient(std::int32_t g) {
    if (g < 0) return;
    gradient_buffer& m = gradients_[static_cast<std::size_t>(g)];
    if (--m.num_references == 0) tracker_.free_block(m.gradient_category, m.bytes, m.block);
}

}  // namespace llmcost::detail
