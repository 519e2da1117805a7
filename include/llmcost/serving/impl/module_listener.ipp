// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/module_listener.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

LLMCOST_INLINE double additions_of(const operation& o) noexcept {
    const auto kind = static_cast<std::size_t>(o.kind);
    return worth_of_operations.per_work[kind] * static_cast<double>(o.work) +
           worth_of_operations.per_row[kind] * static_cast<double>(o.rows);
}

LLMCOST_INLINE void module_listener::on_module_enter(const recorder&, const module_info& m) {
    open_.push_back({m, ++modules_, path_.size()});
    enter_module_path(m);
    if (is_block(m.module_role) && block_depth_++ == 0) has_experts_ = false;
}

LLMCOST_INLINE void module_listener::on_module_leave(const recorder& r, const module_info& m) {
    num_runs_ = as_size(r.multiplier());
    if (is_block(m.module_role) && --block_depth_ == 0 && !m.continues_block && !r.is_not_executed())
        join_residual_block();
    if (m.module_role == role::embedding && !r.is_not_executed())
        collective("all_reduce", last_elements_, execution_.parallel.tensor_parallel_size);
    if (m.module_role == role::head && !r.is_not_executed())
        collective("all_gather", checked_product(last_elements_, execution_.parallel.tensor_parallel_size),
                   execution_.parallel.tensor_parallel_size);
    path_.resize(open_.back().path_before);
    open_.pop_back();
}

LLMCOST_INLINE bool module_listener::reads_only_parameters(const operation& o) const noexcept {
    bool all = o.input_count > 0 && o.kind != op::constant && op_cost_of(o.kind).read != read_pattern::gathered;
    for (int i = 0; all && i < o.input_count; ++i) all = reads_only_parameters(*o.inputs[i]);
    return all;
}

LLMCOST_INLINE std::int64_t module_listener::as_size(count n) {
    if (n.to_uint128() >> 63 != 0) throw_overflow_error();
    return static_cast<std::int64_t>(n.to_64());
}

LLMCOST_INLINE std::int64_t module_listener::as_size(double n) {
    if (!(n < 9e18)) throw_overflow_error();
    return static_cast<std::int64_t>(n);
}

LLMCOST_INLINE bool module_listener::is_block(role module_role) noexcept {
    return module_role == role::attn || module_role == role::cross_attn || module_role == role::mlp ||
           module_role == role::mixer;
}

LLMCOST_INLINE void module_listener::enter_module_path(const module_info& m) {
    if (!is_empty(m.name)) {
        if (!path_.empty()) path_ += '.';
        path_ += m.name;
    }
    if (m.index >= 0) path_ += ".*";
}

LLMCOST_INLINE const tensor* module_listener::weight_of(const operation& o) noexcept {
    if (op_cost_of(o.kind).torch_flops == 0 || o.input_count < 2) return nullptr;
    if (is_parameter(*o.inputs[1])) return is_depthwise(o) ? nullptr : o.inputs[1];
    return is_parameter(*o.inputs[0]) ? o.inputs[0] : nullptr;
}

LLMCOST_INLINE bool module_listener::is_depthwise(const operation& o) noexcept {
    const bool convolves = o.kind == op::convolution || o.kind == op::convolution_bias;
    return convolves && o.inputs[1]->size[1] == 1 && o.inputs[0]->size[1] > 1;
}

LLMCOST_INLINE void module_listener::emit(std::string name, literal family, std::initializer_list<std::int64_t> sizes,
                                          const operand_type* operand, string_ref variant) {
    model_kernel k;
    k.module_path = std::move(name);
    k.is_adapter = is_adapter();
    k.shape.type = find_operator_type(family);
    k.shape.operand = operand;
    k.shape.variant = variant;
    k.num_runs = num_runs_;
    std::size_t i = 0;
    for (const std::int64_t size : sizes) k.shape.sizes[i++] = size;
    out_.push_back(std::move(k));
}

LLMCOST_INLINE void module_listener::join_residual_block() {
    const parallel_config& s = execution_.parallel;
    if (has_experts_ && execution_.dispatches_tokens()) {
        expert_all_to_all(last_elements_ / expert_hidden_size_, execution_.unquantized_type());
        collective("all_gather", last_elements_, s.tensor_parallel_size);
    } else if (has_experts_ && s.data_parallel_size > 1)
        collective("reduce_scatter", checked_product(last_elements_, s.data_parallel_size), s.data_parallel_size,
                   s.tensor_parallel_size);
    else if (has_experts_ && s.expert_parallel_size * s.expert_tensor_parallel_size > s.tensor_parallel_size)
        collective("all_reduce", last_elements_, s.expert_parallel_size * s.expert_tensor_parallel_size);
    else
        collective("all_reduce", last_elements_, s.tensor_parallel_size);
}

LLMCOST_INLINE void module_listener::expert_all_to_all(std::int64_t tokens, const operand_type* operand) {
    before_collective();
    const std::int64_t devices = execution_.parallel.world_size(), node = execution_.devices_per_node;
    const std::int64_t hidden = expert_hidden_size_ / execution_.parallel.tensor_parallel_size;
    const all_to_all_backend& backend = execution_.all_to_all();
    const string_ref mode = is_decoding_ ? backend.decode_mode : backend.prefill_mode;
    if (devices > node)
        emit(path_, "network_all_to_all", {tokens, hidden, num_experts_per_tok_, (devices + node - 1) / node}, operand,
             mode);
    else
        emit(path_, "deepep", {tokens, hidden, num_experts_per_tok_, devices}, operand, mode);
}

LLMCOST_INLINE void module_listener::collective(literal name, std::int64_t elements, std::int64_t devices,
                                                std::int64_t stride) {
    if (devices <= 1) return;
    before_collective();
    for (model_kernel& k : make_collective_kernels(name, elements, devices, stride, execution_.unquantized_type(),
                                                   execution_.devices_per_node)) {
        k.module_path = path_;
        k.is_adapter = is_adapter();
        k.num_runs *= num_runs_;
        out_.push_back(std::move(k));
    }
}

}  // namespace llmcost::detail
