// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/collective_recorder.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/distributed/ddp_buckets.hpp>
#include <llmcost/memory/replay_observer.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/trace/collective.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost {

LLMCOST_INLINE void collective_recorder::set_buckets(std::vector<ddp_bucket> buckets) {
    buckets_ = std::move(buckets);
    bucket_of_parameter_.assign(pass_.parameters.size(), buckets_.size());
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
        num_missing_.push_back(buckets_[b].parameters.size());
        for (const std::int32_t p : buckets_[b].parameters) bucket_of_parameter_[static_cast<std::size_t>(p)] = b;
    }
}

LLMCOST_INLINE void collective_recorder::add(collective_event event) {
    if (parts_.empty() || parts_.back().next_collective != collectives_.size())
        parts_.push_back({.next_collective = collectives_.size(), .phase = event.phase});
    collectives_.push_back(std::move(event));
}

LLMCOST_INLINE std::vector<computed_part> collective_recorder::computed_parts() const {
    std::vector<computed_part> out = parts_;
    std::erase_if(out, [](const computed_part& p) { return p.flops == 0 && p.bytes == 0; });
    return out;
}

LLMCOST_INLINE void collective_recorder::begin_forward() {
    if (!is_in_backward_) return;
    is_in_backward_ = false;
    if (++num_passes_ == 1 && !buckets_.empty() && pass_.buffer_bytes > 0)
        add({.kind = collective_kind::broadcast,
             .axis = mesh_axis::data,
             .group_size = plan_.data_parallel_size,
             .in_bytes = pass_.buffer_bytes,
             .out_bytes = pass_.buffer_bytes,
             .type = dtype::float32,
             .phase = training_phase::forward});
}

LLMCOST_INLINE void collective_recorder::begin_backward() {
    if (is_in_backward_) return;
    is_in_backward_ = true;
    constexpr int num_sums = 3;
    for (int i = 0; i < num_sums && loss_sum_bytes_ > 0; ++i)
        add({.kind = collective_kind::all_reduce,
             .axis = mesh_axis::tensor,
             .group_size = parallel_.tensor,
             .in_bytes = loss_sum_bytes_,
             .out_bytes = loss_sum_bytes_,
             .type = dtype::float32,
             .phase = training_phase::forward});
}

LLMCOST_INLINE void collective_recorder::on_collective(const collective_event& event) {
    if (event.phase == training_phase::forward)
        begin_forward();
    else
        begin_backward();
    add(event);
}

LLMCOST_INLINE void collective_recorder::count_work(std::int32_t node, std::uint64_t flops, std::uint64_t times,
                                                    training_phase phase) {
    const tape_node& n = pass_.nodes[static_cast<std::size_t>(node)];
    if (parts_.empty() || parts_.back().next_collective != collectives_.size() || parts_.back().phase != phase)
        parts_.push_back({.next_collective = collectives_.size(), .phase = phase});
    parts_.back().flops += flops;
    std::uint64_t bytes = n.output_bytes;
    for (const tape_edge& e : n.inputs) bytes += e.bytes;
    parts_.back().bytes += bytes * times;
}

LLMCOST_INLINE void collective_recorder::on_forward(std::int32_t node, bool is_recomputed) {
    if (!is_recomputed) begin_forward();
    const training_phase phase = is_recomputed ? training_phase::backward : training_phase::forward;
    if (is_divided_attention(node))
        for (std::int64_t turn = 1; turn < (parallel_.rotates_context ? parallel_.context : 2); ++turn)
            exchange_keys(node, phase);
    count_work(node, pass_.nodes[static_cast<std::size_t>(node)].torch_flops, 1, phase);
}

LLMCOST_INLINE void collective_recorder::on_backward(std::int32_t node) {
    begin_backward();
    const tape_node& n = pass_.nodes[static_cast<std::size_t>(node)];
    const auto gradients =
        static_cast<std::uint64_t>(std::ranges::count_if(n.inputs, [](const tape_edge& e) { return e.requires_grad; }));
    // fused attention has two products in forward and five in backward (torch/utils/flop_counter.py)
    const std::uint64_t flops =
        n.kind == op::attention && gradients > 0 ? n.torch_flops * 5 / 2 : n.torch_flops * gradients;
    count_work(node, flops, gradients, training_phase::backward);
    if (!is_divided_attention(node)) return;
    if (!parallel_.rotates_context) exchange_keys(node, training_phase::backward);
    for (std::int64_t turn = 1; turn <= parallel_.context; ++turn) {
        if (parallel_.rotates_context && turn < parallel_.context) exchange_keys(node, training_phase::backward);
        exchange_gradients(node);
    }
}

LLMCOST_INLINE void collective_recorder::on_parameter_gradient(std::int32_t parameter, bool) {
    if (std::ranges::find(gradient_order_, parameter) == gradient_order_.end()) gradient_order_.push_back(parameter);
    if (buckets_.empty() || num_passes_ < plan_.gradient_accumulation_steps) return;
    const std::size_t bucket = bucket_of_parameter_[static_cast<std::size_t>(parameter)];
    if (bucket < buckets_.size()) --num_missing_[bucket];
    for (; next_bucket_ < buckets_.size() && num_missing_[next_bucket_] == 0; ++next_bucket_)
        add({.kind = collective_kind::all_reduce,
             .axis = mesh_axis::data,
             .group_size = plan_.data_parallel_size,
             .in_bytes = buckets_[next_bucket_].bytes,
             .out_bytes = buckets_[next_bucket_].bytes,
             .type = buckets_[next_bucket_].type,
             .phase = training_phase::backward});
}

/// Elements of the keys and the values of an attention, its second and its third operand.
[[nodiscard]] LLMCOST_INLINE std::uint64_t key_value_elements(const tape_operands& attention) {
    return attention.inputs[1].numel + attention.inputs[2].numel;
}

LLMCOST_INLINE void collective_recorder::exchange_keys(std::int32_t node, training_phase phase) {
    const tape_operands& attention = pass_.operands[static_cast<std::size_t>(node)];
    const dtype type = attention.inputs[1].type;
    const std::uint64_t bytes = key_value_elements(attention) * static_cast<std::uint64_t>(bits_of(type)) / 8;
    const auto ranks = static_cast<std::uint64_t>(parallel_.context);
    add({.kind = parallel_.rotates_context ? collective_kind::all_to_all : collective_kind::all_gather,
         .axis = mesh_axis::context,
         .group_size = parallel_.context,
         .in_bytes = bytes,
         .out_bytes = parallel_.rotates_context ? bytes : bytes * ranks,
         .type = type,
         .phase = phase,
         .module = pass_.modules[static_cast<std::size_t>(attention.module)]});
}

LLMCOST_INLINE void collective_recorder::exchange_gradients(std::int32_t node) {
    const tape_operands& attention = pass_.operands[static_cast<std::size_t>(node)];
    const std::uint64_t bytes = 4 * key_value_elements(attention);
    add({.kind = collective_kind::all_to_all,
         .axis = mesh_axis::context,
         .group_size = parallel_.context,
         .in_bytes = bytes,
         .out_bytes = bytes,
         .type = dtype::float32,
         .phase = training_phase::backward,
         .module = pass_.modules[static_cast<std::size_t>(attention.module)]});
}

}  // namespace llmcost
