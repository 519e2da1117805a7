// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/graph/operator_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/graph/parameter_names.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>
#include <llmcost/trace/trace_totals.hpp>

namespace llmcost::detail {

LLMCOST_INLINE void graph_listener::on_module_enter(const recorder&, const module_info& m) {
    const std::int32_t parent = open_.empty() ? -1 : open_.back();
    std::string path = parent < 0 ? std::string() : module(parent).path;
    const auto append_segment = [&](std::string_view segment) { path.append(path.empty() ? "" : ".").append(segment); };
    if (!is_empty(m.name)) append_segment(m.name);
    if (m.index >= 0) append_segment(std::to_string(m.index));
    const auto [found, fresh] = module_indices_.try_emplace(path, static_cast<std::int32_t>(out_.modules.size()));
    if (fresh) {
        if (out_.modules.size() == max_modules) throw_overflow_error();
        graph_module made;
        made.path = std::move(path);
        made.type = std::string(m.class_of_module.prefix) + std::string(m.class_of_module.suffix);
        made.module_role = m.module_role;
        made.parent = parent;
        made.index = m.index;
        made.is_leaf = m.is_leaf;
        made.depth = parent < 0 ? 0 : module(parent).depth + 1;
        made.first = made.end = next_operation();
        out_.modules.push_back(std::move(made));
    }
    if (!fresh) module(found->second).calls.push_back(next_operation());
    open_.push_back(found->second);
    calls_.push_back({fresh, next_operation()});
}

LLMCOST_INLINE void graph_listener::on_module_leave(const recorder&, const module_info&) {
    graph_module& m = module(open_.back());
    const call_of_module call = calls_.back();
    open_.pop_back();
    calls_.pop_back();
    if (call.first_call) {
        m.end = next_operation();
    } else {
        for (std::int32_t i = call.first_operation; i < next_operation(); ++i) m.reuse_operations.push_back(i);
    }
}

LLMCOST_INLINE void graph_listener::on_parameter(const recorder&, literal name, const tensor& v, bool tied) {
    const auto [number, fresh] = names_.declared(full_name(name), v, tied);
    if (fresh) {
        parameters_.push_back(add(v, tensor_origin::parameter, v.numel));
        tensor_node(parameters_.back()).name = full_name(name);
    }
    if (tied || open_.empty()) return;
    module(open_.back()).parameters += v.numel;
    module(open_.back()).parameter_ids.push_back(parameters_[static_cast<std::size_t>(number)]);
}

LLMCOST_INLINE void graph_listener::on_loop_output(const recorder&, const tensor& v) {
    if (!out_.operations.empty())
        set(tensor_indices_, static_cast<std::size_t>(v.storage_id), out_.operations.back().output);
}

LLMCOST_INLINE void graph_listener::on_slice_written(const recorder&, const tensor& destination, const tensor& part) {
    graph_function made;
    made.position = next_operation();
    made.writes_output = true;
    made.module = open_.empty() ? -1 : open_.back();
    made.output = tensor_of(destination);
    made.inputs.push_back(input_of(part));
    out_.functions.push_back(std::move(made));
}

LLMCOST_INLINE void graph_listener::on_autograd_function(const recorder&, const tensor& out, const tensor* const* in,
                                                         int n) {
    graph_function made;
    made.position = next_operation();
    made.module = open_.empty() ? -1 : open_.back();
    made.output = tensor_of(out);
    for (int i = 0; i < n; ++i) made.inputs.push_back(input_of(*in[i]));
    made.saved = take_saved_inputs(-1);
    out_.functions.push_back(std::move(made));
}

LLMCOST_INLINE void graph_listener::on_op(const recorder& r, const operation& o) {
    graph_operation n;
    n.kind = o.kind;
    n.module = open_.empty() ? -1 : open_.back();
    n.num_time_steps = r.multiplier().to_64();
    for (int i = 0; i < o.input_count; ++i) n.inputs.push_back(input_of(*o.inputs[i]));
    std::uint64_t parameter_bytes = 0;
    count trained;  // number of trained elements among them
    for (graph_input& i : pending_parameters_) {
        parameter_bytes += i.bytes;
        if (i.requires_grad) trained += count(num_elements(i.sizes.data(), static_cast<int>(i.sizes.size())));
        n.inputs.push_back(std::move(i));
    }
    pending_parameters_.clear();
    if (o.kind == op::gather) read_ids(n, o.output);
    n.in_place = o.input_count > 0 && o.output.is_stored() && o.inputs[0]->storage_id == o.output.storage_id;
    n.output = n.in_place ? tensor_of(o.output) : add(o.output, tensor_origin::operation, o.output.storage_numel);
    if (!n.in_place && o.output.is_stored())
        set(tensor_indices_, static_cast<std::size_t>(o.output.storage_id), n.output);
    n.sizes = sizes_of(o.output);
    n.type = o.output.type;
    const trace_totals now = r.totals();
    const trace_totals op_sums = now.difference_from(previous_sums_);
    previous_sums_ = now;
    n.metrics_of_op = model_metrics_of(op_sums);
    const count times = r.multiplier();
    n.has_backward = share_backward(op_sums, o, times, trained, n.metrics_of_op.backward);
    n.bytes_read = read_by(o, times) + (count(parameter_bytes) * times).to_64();
    n.bytes_written = bytes_of_elements(o.num_elements_written() * times, o.output.type);
    for (const graph_input& i : n.inputs)
        if (i.tensor >= 0) tensor_node(i.tensor).consumers.push_back(next_operation());
    if (n.output >= 0) tensor_node(n.output).producer = next_operation();
    n.saved = take_saved_inputs(next_operation());
    out_.operations.push_back(std::move(n));
}

LLMCOST_INLINE void graph_listener::on_storage_renamed(const recorder&, std::int32_t old_storage,
                                                       std::int32_t new_storage) {
    const auto old_index = static_cast<std::size_t>(old_storage);
    const std::int32_t tensor_id =
        // tensors of modules that are not executed have no index
        old_index < tensor_indices_.size() ? tensor_indices_[old_index] : -1;
    tensor_indices_.resize(static_cast<std::size_t>(new_storage), -1);
    tensor_indices_.push_back(tensor_id);
}

LLMCOST_INLINE std::int32_t graph_listener::tensor_of(const tensor& v) {
    if (const std::int32_t p = names_.number_of(v); p >= 0) return parameters_[static_cast<std::size_t>(p)];
    if (!v.is_stored()) return -1;
    const auto s = static_cast<std::size_t>(v.storage_id);
    if (s < tensor_indices_.size() && tensor_indices_[s] >= 0) return tensor_indices_[s];
    const std::int32_t tensor_index = add(v, tensor_origin::input, v.storage_numel);
    set(tensor_indices_, s, tensor_index);
    return tensor_index;
}

LLMCOST_INLINE std::string graph_listener::full_name(literal name) const {
    const std::string path = open_.empty() ? std::string() : out_.modules[static_cast<std::size_t>(open_.back())].path;
    return path.empty() ? std::string(name) : path + "." + std::string(name);
}

LLMCOST_INLINE void graph_listener::set(std::vector<std::int32_t>& in, std::size_t index, std::int32_t to) {
    if (index >= in.size()) in.resize(index + 1, -1);
    in[index] = to;
}

LLMCOST_INLINE std::int32_t graph_listener::add(const tensor& v, tensor_origin source, std::uint64_t elements) {
    const auto tensor_index = static_cast<std::int32_t>(out_.tensors.size());
    graph_tensor made;
    made.sizes = sizes_of(v);
    made.type = v.type;
    made.bytes = bytes_of_elements(count(elements), v.type);
    made.source = source;
    out_.tensors.push_back(std::move(made));
    return tensor_index;
}

LLMCOST_INLINE graph_input graph_listener::input_of(const tensor& v) {
    graph_input in;
    in.sizes = sizes_of(v);
    in.type = v.type;
    in.bytes = bytes_of_elements(count(v.unique_numel()), v.type);
    in.tensor = tensor_of(v);
    if (in.tensor < 0) in.tensor = add(v, tensor_origin::input, v.numel);  // no storage: a mask, positions
    in.producer = tensor_node(in.tensor).producer;
    in.is_view = tensor_node(in.tensor).sizes != in.sizes;
    in.requires_grad = v.requires_grad;
    return in;
}

LLMCOST_INLINE std::vector<graph_input> graph_listener::take_saved_inputs(std::int32_t producer) {
    std::vector<graph_input> all;
    const auto add_saved_tensor = [&](std::vector<std::int64_t> sizes, dtype type, std::uint64_t bytes) {
        graph_tensor made;
        made.sizes = std::move(sizes);
        made.type = type;
        made.bytes = bytes;
        made.producer = producer;
        made.source = producer >= 0 ? tensor_origin::operation : tensor_origin::input;
        graph_input& in = all.emplace_back();
        in.tensor = static_cast<std::int32_t>(out_.tensors.size());
        in.producer = producer;
        in.sizes = made.sizes;
        in.type = type;
        in.bytes = bytes;
        out_.tensors.push_back(std::move(made));
    };
    for (const tensor& v : saved_) {
        const auto s = static_cast<std::size_t>(v.storage_id);
        if (producer >= 0 && (s >= tensor_indices_.size() || tensor_indices_[s] < 0)) {
            add_saved_tensor(sizes_of(v), v.type, bytes_of_elements(count(v.storage_numel), v.type));
            set(tensor_indices_, s, all.back().tensor);
        } else {
            all.push_back(input_of(v));
        }
        tensor_node(all.back().tensor).is_saved = true;
    }
    for (const tensor& v : backward_reads_) all.push_back(input_of(v));
    if (saved_extra_bytes_ > 0)
        add_saved_tensor({static_cast<std::int64_t>(saved_extra_bytes_)}, dtype::int8, saved_extra_bytes_);
    const auto integers = static_cast<std::int64_t>(saved_integer_bytes_ / sizeof(std::int64_t));
    if (saved_integer_bytes_ > 0) add_saved_tensor({integers}, dtype::unspecified, saved_integer_bytes_);
    saved_.clear();
    backward_reads_.clear();
    saved_extra_bytes_ = saved_integer_bytes_ = 0;
    return all;
}

LLMCOST_INLINE void graph_listener::read_ids(graph_operation& n, const tensor& picked) {
    for (const graph_input& in : n.inputs)
        if (tensor_node(in.tensor).source != tensor_origin::parameter) return;
    graph_tensor ids;
    ids.sizes = sizes_of(picked);
    ids.type = dtype::unspecified;
    ids.source = tensor_origin::input;
    if (!ids.sizes.empty()) ids.sizes.pop_back();
    ids.bytes = sizeof(std::int64_t);
    for (const std::int64_t size : ids.sizes) ids.bytes *= static_cast<std::uint64_t>(size);
    graph_input& in = n.inputs.emplace_back();
    in.tensor = static_cast<std::int32_t>(out_.tensors.size());
    in.sizes = ids.sizes;
    in.type = ids.type;
    in.bytes = ids.bytes;
    out_.tensors.push_back(std::move(ids));
}

LLMCOST_INLINE std::uint64_t graph_listener::read_by(const operation& o, count times) {
    const read_pattern read_kind = op_cost_of(o.kind).read;
    count bytes;
    for (int i = 0; i < o.input_count && read_kind != read_pattern::none; ++i) {
        const bool picked = i == 0 && read_kind == read_pattern::gathered;
        bytes += bytes_of(count(picked ? o.output.numel : o.inputs[i]->unique_numel()), o.inputs[i]->type);
    }
    return (bytes * times).to_64();
}

LLMCOST_INLINE primitives<count> graph_listener::compute_op_backward(const operation& o, count times,
                                                                     count parameter_elements) {
    const backward_op_cost& price = backward_op_cost_of(o.kind);
    primitives<count> plus, minus{.add = parameter_elements};
    const auto charge = [&](const primitives<std::int8_t>& coefficients, count n) {
        for (std::size_t k = 0; k < num_primitives; ++k) {
            const auto member = primitive_members<count>[k];
            add_cost(plus.*member, minus.*member, coefficients.*primitive_members<std::int8_t>[k], n);
        }
    };
    const auto numbers_of = [&](const tensor& v) {
        return count(v.numel) * times * count(v.type == dtype::complex64 ? 2 : 1);
    };
    charge(price.per_row, o.rows * times);
    for (int i = 0; i < o.input_count; ++i) {
        const tensor& in = *o.inputs[i];
        if (!in.requires_grad) continue;
        if (i < 2) charge(i == 0 ? price.first : price.second, o.work * times);
        plus.mult += numbers_of(in) * count(price.mult_per_element);
        if (price.gradient_size == gradient_size_kind::as_output) plus.add += numbers_of(o.output);
        if (price.gradient_size != gradient_size_kind::as_input) minus.add += numbers_of(in);
    }
    for (const auto member : primitive_members<count>)  // an empty sum has no first term to omit
        plus.*member = plus.*member > minus.*member ? plus.*member - minus.*member : count{};
    return plus;
}

LLMCOST_INLINE bool graph_listener::share_backward(const trace_totals& sums, const operation& o, count times,
                                                   count parameter_elements, primitives<count>& op_backward) {
    bool has_backward = o.output.requires_grad && sums.unsummed_gradients != count{};
    if (has_backward && o.kind == op::attention) {
        op_backward = sums.backward;
        for (int i = 0; i < o.input_count; ++i) op_backward.add -= count(o.inputs[i]->numel) * times;
        return true;
    }
    const primitives<count> price =
        has_backward ? compute_op_backward(o, times, parameter_elements) : primitives<count>{};
    for (const auto member : primitive_members<count>)
        has_backward = has_backward && !(sums.backward.*member < price.*member);
    if (has_backward) op_backward = price;
    record_backward(sums.backward, op_backward);
    return has_backward;
}

LLMCOST_INLINE void graph_listener::record_backward(const primitives<count>& recorded,
                                                    const primitives<count>& op_backward) {
    for (const auto member : primitive_members<count>) {
        if (member == &primitives<count>::add || recorded.*member == op_backward.*member || out_.operations.empty())
            continue;
        out_.operations.back().metrics_of_op.backward.*member += recorded.*member - op_backward.*member;
        out_.operations.back().has_backward = true;
    }
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE operator_graph graph_of(const model& m, workload load) {
    operator_graph out;
    const storage_types types = storage_types_of(m, load);
    load.uses_workload_dtypes = true;
    detail::graph_listener listener{out};
    trace t{with_storage_types(load, types), &listener};
    const tensor output = m.forward(t);
    t.accumulate_gradient(output);
    out.output = listener.tensor_of(output);
    listener.finish(t);
    out.total_metrics = full_model_metrics_of(t.totals(), types);
    return out;
}

}  // namespace llmcost
