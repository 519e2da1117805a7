// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/tensor_parallel_policy.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/distributed/tensor_parallel_plan.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/fsdp_units.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/collective.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::detail {

[[nodiscard]] LLMCOST_INLINE shape sizes_of(const tensor& v) {
    shape out;
    for (out.rank = 0; out.rank < v.rank; ++out.rank) out.size[out.rank] = v.size[out.rank];
    return out;
}

[[nodiscard]] LLMCOST_INLINE bool is_column(tensor_parallel_style s) {
    return s == tensor_parallel_style::colwise || s == tensor_parallel_style::packed_colwise;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE tensor_parallel_policy::tensor_parallel_policy(const model& m, const training_parallelism& parallel,
                                                              std::int64_t rank)
    : plan_(parallel.tensor > 1 ? find_tensor_parallel_plan(m).value_or(tensor_parallel_plan{})
                                : tensor_parallel_plan{}),
      parallel_(parallel),
      rank_(rank),
      vocabulary_(m.config.vocab_size),
      rope_features_(m.config.mla.qk_rope_head_dim),
      num_experts_(m.config.moe.num_experts),
      num_experts_per_tok_(m.config.moe.num_experts_per_tok) {}

LLMCOST_INLINE std::int64_t tensor_parallel_policy::part_of(std::int64_t size) const noexcept {
    return detail::rows_of_rank(size, parallel_.tensor, rank_);
}

LLMCOST_INLINE model tensor_parallel_policy::shard(model m) const {
    bool has_attention = false, has_mlp = false, has_experts = false, has_shared = false;
    for (const tensor_parallel_rule& rule : plan_.rules) {
        if (!detail::is_column(rule.style)) continue;
        const std::string_view pattern = rule.pattern;
        const bool is_attention =
            pattern.find("attn") != std::string_view::npos || pattern.find("attention") != std::string_view::npos;
        const bool is_shared = pattern.find("shared_expert") != std::string_view::npos;
        const bool is_expert = !is_shared && pattern.find("experts") != std::string_view::npos;
        (is_attention ? has_attention : is_shared ? has_shared : is_expert ? has_experts : has_mlp) = true;
    }
    model_config& c = m.config;
    if (has_attention) {
        c.num_attention_heads /= parallel_.tensor;
        c.num_key_value_heads /= parallel_.tensor;
    }
    if (has_mlp) {
        c.intermediate_size = part_of(c.intermediate_size);
        for (int i = 0; i < c.layers.num_specs; ++i)
            c.layers.specs[i].intermediate_size =
                static_cast<std::int32_t>(part_of(c.layers.specs[i].intermediate_size));
    }
    if (has_experts && parallel_.expert == 1) c.moe.intermediate_size = part_of(c.moe.intermediate_size);
    if (has_shared) c.moe.shared_intermediate_size = part_of(c.moe.shared_intermediate_size);
    return m;
}

LLMCOST_INLINE bool tensor_parallel_policy::sums_gradient(std::string_view parameter) const {
    const std::string_view module = parameter.substr(0, parameter.rfind('.'));
    return !is_torch() && plan_.style_of(module) == tensor_parallel_style::replicated_with_grad_allreduce;
}

LLMCOST_INLINE bool tensor_parallel_policy::is_read_along_sequence(std::string_view parameter) const {
    return parallel_.has_sequence_parallel &&
           plan_.style_of(parameter.substr(0, parameter.rfind('.'))) == tensor_parallel_style::none;
}

LLMCOST_INLINE void tensor_parallel_policy::mark_parameters(tape& pass, bool has_fsdp) const {
    std::vector<int> readers(pass.parameters.size());
    for (const tape_node& n : pass.nodes)
        for (const tape_edge& e : n.inputs)
            if (e.parameter >= 0) ++readers[static_cast<std::size_t>(e.parameter)];
    for (std::size_t i = 0; i < pass.parameters.size(); ++i) {
        tape_parameter& p = pass.parameters[i];
        p.is_distributed_expert = is_distributed_expert(p.name);
        p.gradient_sum_over_ranks = sums_gradient(p.name)            ? gradient_sum_kind::after_backward
                                    : is_read_along_sequence(p.name) ? gradient_sum_kind::before_use
                                                                     : gradient_sum_kind::none;
        const bool is_embedding =
            plan_.style_of(detail::module_of_parameter(p)) == tensor_parallel_style::embedding_rowwise;
        if (is_embedding && readers[i] == 1 && !has_fsdp && p.sizes.front() > 0)
            p.whole_gradient_bytes =
                p.bytes / static_cast<std::uint64_t>(p.sizes.front()) * static_cast<std::uint64_t>(vocabulary_);
    }
}

LLMCOST_INLINE bool tensor_parallel_policy::is_distributed_expert(std::string_view parameter) const {
    return std::ranges::any_of(expert_paths_, [&](const std::string& path) {
        return parameter.size() > path.size() && parameter.starts_with(path) && parameter[path.size()] == '.';
    });
}

LLMCOST_INLINE void tensor_parallel_policy::on_trace_begin() {
    path_.clear();
    parent_lengths_.clear();
    gathered_source_ = -1;
    experts_depth_ = 0;
    expert_paths_.clear();
}

LLMCOST_INLINE void tensor_parallel_policy::enter(const module_info& m) {
    parent_lengths_.push_back(path_.size());
    const std::string_view name = m.name;
    if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
    if (m.index >= 0) path_.append(path_.empty() ? "" : ".").append(std::to_string(m.index));
    if (parallel_.expert == 1 || m.module_role != role::experts || experts_depth_ > 0) return;
    experts_depth_ = parent_lengths_.size();
    expert_paths_.push_back(path_);
}

LLMCOST_INLINE void tensor_parallel_policy::leave(const module_info&) {
    if (experts_depth_ == parent_lengths_.size()) experts_depth_ = 0;
    path_.resize(parent_lengths_.back());
    parent_lengths_.pop_back();
}

LLMCOST_INLINE shape tensor_parallel_policy::shard_parameter(literal, const shape& sizes) const {
    shape out = sizes;
    if (is_in_distributed_experts()) {
        out.size[0] /= parallel_.expert;
        return out;
    }
    switch (plan_.style_of(path_)) {
        case tensor_parallel_style::embedding_rowwise:
        case tensor_parallel_style::colwise_gather_output: out.size[0] = part_of(out.size[0]); break;
        case tensor_parallel_style::rowwise_split_input:
            if (out.rank > 1) out.size[out.rank - 1] = part_of(out.size[out.rank - 1]);
            break;
        default: break;
    }
    return out;
}

LLMCOST_INLINE tensor tensor_parallel_policy::transform_linear_input(trace& t, const tensor& x) {
    const tensor_parallel_style style = plan_.style_of(path_);
    const bool is_head = style == tensor_parallel_style::colwise_gather_output;
    if (!is_head && !detail::is_column(style)) return x;
    if (parallel_.has_sequence_parallel) return gather_sequence(t, x, !is_head);
    return sum_gradient(t, x);
}

LLMCOST_INLINE tensor tensor_parallel_policy::sum_gradient(trace& t, const tensor& x) const {
    return t.collective_in_place(
        {.backward = collective_kind::all_reduce, .axis = mesh_axis::tensor, .ranks = parallel_.tensor}, x);
}

LLMCOST_INLINE tensor tensor_parallel_policy::slice_tokens(trace& t, const tensor& x) const {
    if (parallel_.tensor == 1) return x;
    const std::int64_t largest_part = (x.dim(0) + parallel_.tensor - 1) / parallel_.tensor;
    return t
        .collective_in_place({.backward = collective_kind::all_gather,
                              .axis = mesh_axis::tensor,
                              .ranks = parallel_.tensor,
                              .part_elements = largest_part * x.dim(1)},
                             x)
        .slice(0, part_of(x.dim(0)));
}

LLMCOST_INLINE tensor tensor_parallel_policy::exchange(trace& t, const tensor& x, std::int64_t elements,
                                                       bool has_integers, collective_kind backward) const {
    const bool is_tensor_group = parallel_.expert == parallel_.tensor;
    const bool is_data_group = parallel_.tensor == 1 && parallel_.expert == parallel_.data;
    const mesh_axis data_axis =
        parallel_.rules == split_rules::transformers ? mesh_axis::fully_sharded : mesh_axis::data;
    return t.collective_in_place({.forward = collective_kind::all_to_all,
                                  .backward = backward,
                                  .axis = is_tensor_group ? mesh_axis::tensor
                                          : is_data_group ? data_axis
                                                          : mesh_axis::expert,
                                  .ranks = parallel_.expert,
                                  .part_elements = elements,
                                  .has_integers = has_integers},
                                 x);
}

LLMCOST_INLINE tensor_pair tensor_parallel_policy::transform_expert_inputs(trace& t, const tensor& tokens,
                                                                           const tensor& weights) {
    num_tokens_ = tokens.dim(0);
    if (parallel_.expert == 1) {
        if (plan_.style_of(path_) != tensor_parallel_style::moe_tp_experts) return {tokens, weights};
        const tensor own_tokens = sum_gradient(t, tokens);
        return {own_tokens, sum_gradient(t, weights)};
    }
    num_sent_tokens_ = parallel_.tensor == 1 ? num_tokens_ : part_of(num_tokens_);
    const tensor own_tokens = slice_tokens(t, tokens);
    const tensor own_weights = slice_tokens(t, weights);
    const tensor counted = exchange(t, own_weights, num_experts_, true, collective_kind::none);
    return {own_tokens, exchange(t, counted, num_sent_tokens_ * num_experts_per_tok_ * tokens.dim(1), false,
                                 collective_kind::all_to_all)};
}

LLMCOST_INLINE tensor tensor_parallel_policy::combine(trace& t, const tensor& y) const {
    const tensor received =
        exchange(t, y, num_sent_tokens_ * num_experts_per_tok_ * y.dim(1), false, collective_kind::all_to_all);
    if (parallel_.tensor == 1) return received;
    const std::int64_t largest_part = (num_tokens_ + parallel_.tensor - 1) / parallel_.tensor;
    return t.collective({.forward = collective_kind::all_gather,
                         .axis = mesh_axis::tensor,
                         .ranks = parallel_.tensor,
                         .part_elements = largest_part * y.dim(1)},
                        received, {num_tokens_, y.dim(1)});
}

LLMCOST_INLINE tensor tensor_parallel_policy::transform_expert_output(trace& t, const tensor& y) {
    if (parallel_.expert > 1) return combine(t, y);
    if (plan_.style_of(path_) != tensor_parallel_style::moe_tp_experts) return y;
    return t.collective({.forward = collective_kind::all_reduce, .axis = mesh_axis::tensor, .ranks = parallel_.tensor},
                        y, detail::sizes_of(y));
}

LLMCOST_INLINE tensor tensor_parallel_policy::transform_embedding_output(trace& t, const tensor&, bool,
                                                                         const tensor& found) {
    return plan_.style_of(path_) == tensor_parallel_style::embedding_rowwise ? sum_output(t, found) : found;
}

LLMCOST_INLINE tensor tensor_parallel_policy::transform_linear_output(trace& t, const tensor&, const tensor&, bool,
                                                                      const tensor*, const tensor& y) {
    switch (plan_.style_of(path_)) {
        case tensor_parallel_style::rowwise:
        case tensor_parallel_style::rowwise_split_input: return sum_output(t, y);
        case tensor_parallel_style::colwise_gather_output:
            if (parallel_.has_loss_parallel) return y;
            return gather_features(t, y, path_.ends_with("lm_head") ? vocabulary_ : y.dim(-1) * parallel_.tensor);
        case tensor_parallel_style::mla_kv_a_proj:
            return t.collective_in_place(
                {.backward = collective_kind::all_reduce,
                 .axis = mesh_axis::tensor,
                 .ranks = parallel_.tensor,
                 .part_elements = static_cast<std::int64_t>(y.numel) / y.dim(-1) * rope_features_},
                y);
        default: return y;
    }
}

LLMCOST_INLINE tensor tensor_parallel_policy::gather_sequence(trace& t, const tensor& x, bool is_in_parent) {
    if (x.storage_id == gathered_source_ && x.is_stored()) return gathered_;
    const collective_call call{.forward = collective_kind::all_gather,
                               .backward = collective_kind::reduce_scatter,
                               .axis = mesh_axis::tensor,
                               .ranks = parallel_.tensor,
                               .part_elements = static_cast<std::int64_t>(x.numel),
                               .is_in_parent = is_in_parent};
    gathered_source_ = x.storage_id;
    return gathered_ = t.collective(call, x, {x.dim(0), x.dim(1) * parallel_.tensor, x.dim(2)});
}

LLMCOST_INLINE tensor tensor_parallel_policy::sum_output(trace& t, const tensor& y) const {
    if (!parallel_.has_sequence_parallel)
        return t.collective({.forward = collective_kind::all_reduce,
                             .axis = mesh_axis::tensor,
                             .ranks = parallel_.tensor,
                             .is_in_parent = is_torch()},
                            y, detail::sizes_of(y));
    const std::int64_t positions = (y.dim(1) + parallel_.tensor - 1) / parallel_.tensor;
    return t.collective({.forward = collective_kind::reduce_scatter,
                         .backward = collective_kind::all_gather,
                         .axis = mesh_axis::tensor,
                         .ranks = parallel_.tensor,
                         .part_elements = y.dim(0) * positions * y.dim(2),
                         .is_in_parent = is_torch()},
                        y, {y.dim(0), part_of(y.dim(1)), y.dim(2)});
}

LLMCOST_INLINE tensor tensor_parallel_policy::gather_features(trace& t, const tensor& y, std::int64_t features) const {
    const std::int64_t rows = static_cast<std::int64_t>(y.numel) / std::max<std::int64_t>(1, y.dim(-1));
    shape to = detail::sizes_of(y);
    to.size[to.rank - 1] = features;
    return t.collective({.forward = collective_kind::all_gather,
                         .axis = mesh_axis::tensor,
                         .ranks = parallel_.tensor,
                         .part_elements = rows * ((features + parallel_.tensor - 1) / parallel_.tensor),
                         .is_in_parent = is_torch()},
                        y, to);
}

}  // namespace llmcost
