// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/flop_counters/observed_pass.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/function_call.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>
#include <llmcost/trace/trace_totals.hpp>

namespace llmcost {

LLMCOST_INLINE call_amounts& call_amounts::operator+=(const call_amounts& o) {
    calls += o.calls;
    products += o.products;
    by_columns += o.by_columns;
    inputs += o.inputs;
    outputs += o.outputs;
    added += o.added;
    biased_outputs += o.biased_outputs;
    addmm_outputs += o.addmm_outputs;
    affine_inputs += o.affine_inputs;
    path_flops += o.path_flops;
    rows += o.rows;
    places += o.places;
    unfused_products += o.unfused_products;
    return *this;
}

}  // namespace llmcost

namespace llmcost::detail {

[[nodiscard]] LLMCOST_INLINE count flops_of(op kind, count work, count rows) {
    const op_cost& p = op_cost_of(kind);
    count plus, minus;
    for (const int coefficient : {p.per_work.add, p.per_work.mult}) add_cost(plus, minus, coefficient, work);
    for (const int coefficient : {p.per_row.add, p.per_row.mult}) add_cost(plus, minus, coefficient, rows);
    // The negative cost per row never exceeds the cost of a row.
    return plus - minus;
}

LLMCOST_INLINE call_observer::call_observer(observed_pass& out) : out_(out) {
    out_.places.push_back({.called = true});
    children_.emplace_back();
}

LLMCOST_INLINE void call_observer::on_module_enter(const recorder& r, const module_info& m) {
    const bool called = !m.is_leaf && !r.is_not_executed();
    std::vector<std::int32_t>& siblings = children_[static_cast<std::size_t>(module_index_)];
    for (std::size_t i = siblings.size(); i-- > 0;) {
        module_node& known = out_.places[static_cast<std::size_t>(siblings[i])];
        if (known.index != m.index || known.name != std::string_view(m.name)) continue;
        known.called = known.called || called;
        module_index_ = siblings[i];
        return;
    }
    module_node place{
        .parent = module_index_, .name = m.name, .index = m.index, .is_leaf = m.is_leaf, .called = called};
    place.type.append(m.class_of_module.prefix).append(m.class_of_module.suffix);
    module_index_ = static_cast<std::int32_t>(out_.places.size());
    siblings.push_back(module_index_);
    out_.places.push_back(std::move(place));
    children_.emplace_back();
}

LLMCOST_INLINE void call_observer::on_parameter(const recorder&, literal name, const tensor& v, bool tied) {
    add_parameter(name, v, tied);
    if (tied) return;
    out_.parameters += count(v.numel);
    if (v.requires_grad) out_.trainable += count(v.numel);
}

LLMCOST_INLINE void call_observer::on_module_output(const recorder& r, const tensor& v) {
    module_node& m = current_module();
    m.called = true;
    if (m.parameters.empty()) return;
    observed_module& row = find_or_add_module(m.type);
    const count times = r.multiplier();
    count plain, other_elements;
    for (const module_node::owned_parameter& p : m.parameters) {
        bool is_exact_match = false, part = false;
        for (const std::string_view name : weights_by_name) {
            is_exact_match = is_exact_match || p.name == name;
            part = part || p.name.find(name) != p.name.npos;
        }
        if (is_exact_match) plain += p.elements;
        if (part && !is_exact_match) other_elements += p.elements;
    }
    const auto dim = [&](int i) { return i < v.rank ? count(v.size[i]) : count(1); };
    row.calls += times;
    row.outputs += count(v.numel) * times;
    row.weight_elements_times_batch += plain * dim(0) * times;
    count places = dim(0);
    for (int i = 2; i < v.rank; ++i) places = places * dim(i);
    row.weight_elements_times_positions += plain * places * times;
    row.other_elements_times_positions += other_elements * dim(0) * dim(1) * times;
}

LLMCOST_INLINE void call_observer::on_function_begin(const recorder& r, const function_call& call) {
    if (depth_++ > 0) return;
    function_ = call.function;
    amounts_ = {};
    nested_flops_ = {};
    nested_torch_flops_ = {};
    multiplications_ = {};
    amounts_.inputs = count(call.inputs[0]->numel);
    if (call.input_count > 1) amounts_.by_columns = amounts_.inputs * count(call.inputs[1]->dim(-1));
    if (call.bias != nullptr) amounts_.added = count(call.bias->numel);
    has_bias_ = call.bias != nullptr;
    if (function_ != torch_function::scaled_dot_product_attention) return;
    const tensor &q = *call.inputs[0], &k = *call.inputs[1], &v = *call.inputs[2];
    amounts_.products = count(q.numel) * count(k.dim(-2)) +
                        count(q.numel / static_cast<std::uint64_t>(q.dim(-1))) * count(k.dim(-2)) * count(v.dim(-1));
    if (q.dim(-1) != v.dim(-1)) amounts_.unfused_products = amounts_.products;
    previous_sums_ = r.totals();
}

LLMCOST_INLINE void call_observer::on_function_end(const recorder& r) {
    if (--depth_ > 0) return;
    observed_call& row = find_or_add_call(python_name_of(function_));
    row.has_weight = function_ == torch_function::linear || function_ == torch_function::addmm;
    const count times = r.multiplier();
    if (function_ == torch_function::scaled_dot_product_attention) {
        const trace_totals call_sums = r.totals().difference_from(previous_sums_);
        const primitives<count> executed = primitives_of(call_sums);
        row.flops += executed.add + executed.mult;
        row.torch_flops += llmcost::torch_flops(call_sums);
    }
    const bool adds = function_ == torch_function::baddbmm || function_ == torch_function::baddbmm_beta_zero;
    // The added tensor has the size of the result.
    if (adds && !has_bias_) amounts_.added = amounts_.outputs;
    if (function_ == torch_function::einsum)
        amounts_.path_flops =
            to_four_digits(amounts_.products == count{} ? multiplications_ : amounts_.products * count(2));
    amounts_.calls = count(1);
    row.flops += nested_flops_ * times;
    row.torch_flops += nested_torch_flops_ * times;
    row.amounts += scaled(amounts_, times);
}

LLMCOST_INLINE void call_observer::on_op(const recorder& r, const operation& o) {
    const op_cost& p = op_cost_of(o.kind);
    const count done = flops_of(o.kind, o.work, o.rows), torch = o.work * count(p.torch_flops);
    const count times = r.multiplier();
    if (o.kind == op::matmul_bias)
        find_or_add_call(decomposed_addmm).amounts += scaled({.calls = count(1), .products = o.work}, times);
    const bool multiplies = p.torch_flops != 0;
    if (depth_ > 0) {
        nested_flops_ += done;
        nested_torch_flops_ += torch;
        if (function_ == torch_function::scaled_dot_product_attention) return;
        if (multiplies) amounts_.products += o.work;
        if (o.kind == op::mul) multiplications_ += o.work;
        amounts_.outputs = count(o.output.numel);
        if (has_bias_) amounts_.biased_outputs = amounts_.outputs;
        if (o.kind == op::matmul_bias || o.kind == op::convolution_bias) amounts_.addmm_outputs += o.rows;
        if (o.kind == op::convolution_bias) amounts_.biased_outputs = o.rows;
        return;
    }
    call_amounts a{.calls = count(1), .outputs = count(o.output.numel)};
    if (o.input_count > 0) a.inputs = count(o.inputs[0]->numel);
    if (multiplies) a.products = o.work;
    if (o.kind == op::convolution_bias) a.biased_outputs = a.addmm_outputs = o.rows;
    if (o.kind == op::layer_norm_weight || o.kind == op::layer_norm_affine || o.kind == op::group_norm_affine ||
        o.kind == op::batch_norm_affine)
        a.affine_inputs = a.inputs;
    if (o.kind == op::softmax) a.rows = o.rows;
    if (o.kind == op::bilinear) a.places = count(o.output.dim(2)) * count(o.output.dim(3));
    observed_call& row = find_or_add_call(python_name_of(o.kind));
    row.has_weight = o.kind == op::convolution || o.kind == op::convolution_bias;
    row.amounts += scaled(a, times);
    row.flops += done * times;
    row.torch_flops += torch * times;
}

LLMCOST_INLINE call_amounts call_observer::scaled(call_amounts a, count times) {
    if (times == count(1)) return a;
    for (count* amount : {&a.calls, &a.products, &a.by_columns, &a.inputs, &a.outputs, &a.added, &a.biased_outputs,
                          &a.addmm_outputs, &a.affine_inputs, &a.unfused_products, &a.rows, &a.places, &a.path_flops})
        *amount = *amount * times;
    return a;
}

LLMCOST_INLINE void call_observer::add_parameter(literal name, const tensor& v, bool tied) {
    module_node& m = current_module();
    for (const module_node::owned_parameter& p : m.parameters)
        if (p.name == std::string_view(name)) return;
    std::vector<std::int64_t> sizes;
    for (int i = 0; i < v.rank; ++i) sizes.push_back(v.size[i]);
    m.parameters.push_back({name, count(v.numel), std::move(sizes), tied, v.requires_grad});
}

LLMCOST_INLINE observed_call& call_observer::find_or_add_call(std::string_view name) {
    const module_node& m = current_module();
    const std::string_view module_class = m.is_leaf ? std::string_view(m.type) : std::string_view{};
    for (observed_call& row : out_.calls)
        if (row.name == name && row.module_class == module_class) return row;
    return out_.calls.emplace_back(observed_call{name, std::string(module_class)});
}

LLMCOST_INLINE observed_module& call_observer::find_or_add_module(std::string_view type) {
    for (observed_module& row : out_.modules)
        if (row.type == type) return row;
    return out_.modules.emplace_back(observed_module{std::string(type)});
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE observed_pass observe(const model& m, workload load) {
    load.attention = attention_scores::full;
    observed_pass out;
    detail::call_observer listener(out);
    trace t{load, &listener};
    m.trace_with_loss(t);
    out.total = full_model_metrics_of(t.totals());
    return out;
}

}  // namespace llmcost
