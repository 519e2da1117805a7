// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/tape.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/graph/parameter_names.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace_totals.hpp>

namespace llmcost::detail {

[[nodiscard]] LLMCOST_INLINE bool is_attention(fused_kernel_kind kind) {
    return kind == fused_kernel_kind::attention || kind == fused_kernel_kind::latent_attention;
}

/// Whether an inference engine runs the operations as one kernel, or with a workspace of its own.
[[nodiscard]] LLMCOST_INLINE bool is_engine_kernel(fused_kernel_kind kind) {
    return is_attention(kind) || kind == fused_kernel_kind::index_selection || kind == fused_kernel_kind::experts;
}

LLMCOST_INLINE void tape_listener::on_module_enter(const recorder&, const module_info& m) {
    open_.push_back({path_.size(), out_.parameters.size(), out_.nodes.size(), wraps(m)});
    const std::string_view name = m.name;
    if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
    if (m.index >= 0) path_.append(path_.empty() ? "" : ".").append(std::to_string(m.index));
    if (wraps(m) && list_depth_++ == 0) out_.regions.push_back(path_);
}

LLMCOST_INLINE void tape_listener::on_module_leave(const recorder&, const module_info&) {
    const open_module top = std::move(open_.back());
    open_.pop_back();
    path_.resize(top.parent_path_length);
    if (top.in_list) --list_depth_;
    // a parameter that no operation reads separately is read by the module's last one: the bias of a convolution
    for (std::size_t i = top.first_parameter; i < out_.parameters.size() && !out_.nodes.empty(); ++i)
        if (!is_parameter_read_[i]) read(static_cast<std::int32_t>(i), out_.nodes.back());
    if (out_.nodes.size() == top.first_node) return;
    // the call refers to its arguments until it returns (torch/nn/modules/module.py, `_call_impl`)
    for (const std::int32_t input : top.inputs) {
        tape_tensor& argument = out_.tensors[static_cast<std::size_t>(input)];
        if (argument.last_read >= next_node_id() - 1) continue;
        argument.last_read = next_node_id() - 1;
        out_.nodes.back().inputs.push_back({input, -1, argument.bytes, false});
    }
}

LLMCOST_INLINE void tape_listener::on_parameter(const recorder& r, literal name, const tensor& v, bool tied) {
    std::string path = path_of(name);
    if (!names_.declared(path, v, tied).fresh) return;
    out_.parameters.push_back({.name = std::move(path),
                               .sizes = sizes_of(v),
                               .elements = v.numel,
                               .bytes = bytes_of(v, v.numel),
                               .is_trainable = v.requires_grad,
                               .region_id = region(),
                               .type = v.type});
    is_parameter_read_.push_back(r.has_no_gradients());  // no operation reads it
}

LLMCOST_INLINE void tape_listener::on_op(const recorder& r, const operation& o) {
    num_runs_ = r.multiplier().to_64();
    tape_node n;
    n.kind = o.kind;
    n.region = region();
    if (o.kind == op::attention && attention_depth_ == 0) ++out_.num_attentions;
    if (o.kind == op::attention || attention_depth_ > 0) n.attention_id = out_.num_attentions - 1;
    if (kernel_depth_ > 0) n.kernel_id = static_cast<std::int32_t>(out_.kernels.size()) - 1;
    n.inputs.reserve(static_cast<std::size_t>(o.input_count) + pending_parameter_edges_.size());
    n.saved.reserve(saved_.size());
    for (int i = 0; i < o.input_count; ++i) n.inputs.push_back(edge_to(*o.inputs[i]));
    for (const tape_edge& e : pending_parameter_edges_) n.inputs.push_back(e);
    n.has_backward = o.output.requires_grad;
    n.in_place = o.input_count > 0 && o.inputs[0]->storage_id == o.output.storage_id;
    n.output = n.in_place ? tensor_id(o.output) : add_tensor(o.output, next_node_id());
    n.output_bytes = bytes_of(o.output, o.output.numel);
    n.element_bits = static_cast<std::uint64_t>(bits_of(o.output.type));
    // a saved tensor with an unknown id is a clone of what an in-place operation overwrites
    for (const tensor& v : saved_) {
        n.saved.push_back(tensor_id(v, next_node_id()));
        n.saved_view_bytes += bytes_of(v, v.numel) * num_runs_;
    }
    const int flops_per_product = op_cost_of(o.kind).torch_flops;
    if (flops_per_product != 0 ||
        // products inside a fused call are not reported: counts those since the last one
        o.kind == op::attention) {
        const count sum = torch_flops(r.totals());
        n.torch_flops = flops_per_product != 0 ? (o.work * count(flops_per_product) * r.multiplier()).to_64()
                        : sum > flops_         ? (sum - flops_).to_64()
                                               : 0;
        flops_ = sum;
    }
    n.saved_extra_bytes = saved_extra_bytes_;
    n.saved_integer_bytes = saved_integer_bytes_;
    n.forward_temporary_bytes = forward_temporary_bytes_;
    n.backward_temporary_bytes = backward_temporary_bytes_;
    for (const tape_edge& e : n.inputs) mark_read(e);
    record_operands(o.inputs, o.input_count, o.output, o.work);
    if (has_pending_collective_) record_collective(n, *o.inputs[0], o.output);
    pending_parameter_edges_.clear();
    saved_.clear();
    saved_extra_bytes_ = saved_integer_bytes_ = 0;
    forward_temporary_bytes_ = backward_temporary_bytes_ = 0;
    out_.nodes.push_back(std::move(n));
}

LLMCOST_INLINE void tape_listener::on_autograd_function(const recorder&, const tensor& out, const tensor* const* in,
                                                        int n) {
    tape_node made;
    made.region = region();
    made.output = tensor_id(out);
    made.has_backward = made.in_place = made.is_autograd_function = true;
    made.saves_gradients = has_saved_gradients_;
    has_saved_gradients_ = false;
    for (int i = 0; i < n; ++i) made.inputs.push_back(edge_to(*in[i]));
    for (const tensor& v : saved_) {
        made.saved.push_back(tensor_id(v, next_node_id()));
        made.saved_view_bytes += bytes_of(v, v.numel) * num_runs_;
    }
    for (const tape_edge& e : made.inputs) mark_read(e);
    record_operands(in, n, out, {});
    if (has_pending_collective_) record_collective(made, *in[0], out);
    saved_.clear();
    out_.nodes.push_back(std::move(made));
}

// `CopySlices::apply` clones the gradient of the destination and its slice (torch/csrc/autograd/functions/tensor.cpp).
LLMCOST_INLINE void tape_listener::on_slice_written(const recorder&, const tensor& destination, const tensor& part) {
    if (!destination.requires_grad || !destination.is_stored() || part.storage_id == destination.storage_id) return;
    tape_node made;
    made.kind = op::copy;
    made.region = region();
    made.output = tensor_id(destination);
    made.output_bytes = bytes_of(destination, destination.numel);
    made.element_bits = static_cast<std::uint64_t>(bits_of(destination.type));
    made.has_backward = made.in_place = made.is_autograd_function = true;
    tape_edge previous = edge_to(destination);
    previous.requires_grad = has_backward_producer(made.output);
    if (!previous.requires_grad) made.backward_temporary_bytes = made.output_bytes;
    made.inputs = {previous, edge_to(part)};
    for (const tape_edge& e : made.inputs) mark_read(e);
    const tensor* const operands[]{&destination, &part};
    record_operands(operands, 2, destination, {});
    out_.nodes.push_back(std::move(made));
}

LLMCOST_INLINE void tape_listener::record_collective(tape_node& n, const tensor& in, const tensor& out) {
    has_pending_collective_ = false;
    const collective_call& c = pending_collective_;
    const std::uint64_t bits = c.has_integers ? 64 : static_cast<std::uint64_t>(bits_of(in.type));
    const std::uint64_t part = static_cast<std::uint64_t>(c.part_elements) * bits / 8;
    const std::uint64_t gathered_bytes = part * static_cast<std::uint64_t>(c.ranks);
    tape_collective made{.call = c, .module = path_, .type = in.type};
    switch (c.forward == collective_kind::none ? c.backward : c.forward) {
        case collective_kind::all_gather: made.in_bytes = part, made.out_bytes = gathered_bytes; break;
        case collective_kind::reduce_scatter: made.in_bytes = gathered_bytes, made.out_bytes = part; break;
        default:
            made.in_bytes = c.part_elements > 0 ? part : bytes_of(in, in.numel);
            made.out_bytes = c.part_elements > 0 ? part : bytes_of(out, out.numel);
    }
    if (c.is_in_parent) {
        const std::size_t dot = path_.rfind('.');
        made.module.resize(dot == std::string::npos ? 0 : dot);
    }
    n.collective_id = static_cast<std::int32_t>(out_.collectives.size());
    out_.collectives.push_back(std::move(made));
}

LLMCOST_INLINE bool tape_listener::has_backward_producer(std::int32_t tensor) const {
    for (std::size_t i = out_.nodes.size(); i-- > 0;) {
        if (out_.nodes[i].output != tensor) continue;
        if (out_.nodes[i].has_backward) return true;
        if (!out_.nodes[i].in_place) return false;
    }
    return false;
}

LLMCOST_INLINE void tape_listener::on_fused_kernel_begin(const recorder&, const fused_kernel& part) {
    open_kernels_.push_back(part.kind);
    is_causal_ = part.is_causal;
    if (is_attention(part.kind) && attention_depth_++ == 0) ++out_.num_attentions;
    if (is_engine_kernel(part.kind) && kernel_depth_++ == 0) out_.kernels.push_back(part);
}

LLMCOST_INLINE void tape_listener::on_fused_kernel_end(const recorder&) {
    if (is_attention(open_kernels_.back())) --attention_depth_;
    if (is_engine_kernel(open_kernels_.back())) --kernel_depth_;
    open_kernels_.pop_back();
}

LLMCOST_INLINE void tape_listener::on_storage_renamed(const recorder&, std::int32_t old_storage_id,
                                                      std::int32_t new_storage) {
    const auto old_index = static_cast<std::size_t>(old_storage_id);
    const std::int32_t moved_tensor =
        // tensors of modules that are not executed have no index
        old_index < tensor_indices_.size() ? tensor_indices_[old_index] : -1;
    tensor_indices_.resize(static_cast<std::size_t>(new_storage), -1);
    tensor_indices_.push_back(moved_tensor);
}

LLMCOST_INLINE void tape_listener::on_loop_output(const recorder& r, const tensor& v) {
    num_runs_ = r.multiplier().to_64();
    (void)add_tensor(v, next_node_id() - 1);
}

LLMCOST_INLINE std::int32_t tape_listener::tensor_id(const tensor& v, std::int32_t producer) {
    if (!v.is_stored()) return -1;
    const auto s = static_cast<std::size_t>(v.storage_id);
    return s >= tensor_indices_.size() || tensor_indices_[s] < 0 ? add_tensor(v, producer) : tensor_indices_[s];
}

LLMCOST_INLINE void tape_listener::record_operands(const tensor* const* inputs, int input_count, const tensor& output,
                                                   count work) {
    if (!records_operands_) return;
    tape_operands made;
    made.inputs.reserve(static_cast<std::size_t>(input_count) + pending_parameters_.size());
    for (int i = 0; i < input_count; ++i) made.inputs.push_back(*inputs[i]);
    for (const tensor& v : pending_parameters_) made.inputs.push_back(v);
    pending_parameters_.clear();
    made.output = output;
    made.work = work;
    made.is_causal = is_causal_;
    if (out_.modules.empty() || out_.modules.back() != path_) out_.modules.push_back(path_);
    made.module = static_cast<std::int32_t>(out_.modules.size()) - 1;
    out_.operands.push_back(std::move(made));
}

LLMCOST_INLINE std::vector<tensor> tape_listener::router_logits(recorder& r) {
    std::vector<tensor> all = router_logits_;
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].storage_id = r.input({}).storage_id;
        set(tensor_indices_, static_cast<std::size_t>(all[i].storage_id), router_logits_indices_[i]);
    }
    return all;
}

LLMCOST_INLINE void tape_listener::set(std::vector<std::int32_t>& in, std::size_t index, std::int32_t to) {
    if (index >= in.size()) in.resize(index + 1, -1);
    in[index] = to;
}

LLMCOST_INLINE std::int32_t tape_listener::add_tensor(const tensor& v, std::int32_t producer) {
    const auto tensor_index = static_cast<std::int32_t>(out_.tensors.size());
    out_.tensors.push_back({bytes_of(v, v.storage_numel), num_runs_, producer, next_node_id(), v.requires_grad});
    set(tensor_indices_, static_cast<std::size_t>(v.storage_id), tensor_index);
    return tensor_index;
}

LLMCOST_INLINE void tape_listener::mark_read(const tape_edge& e) {
    if (e.tensor >= 0) out_.tensors[static_cast<std::size_t>(e.tensor)].last_read = next_node_id();
    if (e.parameter >= 0) is_parameter_read_[static_cast<std::size_t>(e.parameter)] = true;
}

LLMCOST_INLINE tape_edge tape_listener::edge_to(const tensor& v) {
    tape_edge e;
    e.bytes = bytes_of(v, v.numel);
    e.requires_grad = v.requires_grad;
    if (v.is_stored()) e.tensor = tensor_id(v);
    e.parameter = names_.number_of(v);
    return e;
}

LLMCOST_INLINE void tape_listener::read(std::int32_t parameter, tape_node& producer) {
    tape_parameter& p = out_.parameters[static_cast<std::size_t>(parameter)];
    is_parameter_read_[static_cast<std::size_t>(parameter)] = true;
    producer.inputs.push_back({-1, parameter, p.bytes, p.is_trainable});
}

}  // namespace llmcost::detail
