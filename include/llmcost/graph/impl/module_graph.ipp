// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/graph/module_graph.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost::detail {

LLMCOST_INLINE node_graph_builder::node_graph_builder(const operator_graph& graph, graph_granularity grain)
    : graph_(graph) {
    choose(grain);
    cut();
    connect();
    assign_unread_parameters();
    compute_metrics();
    compute_live_bytes();
}

LLMCOST_INLINE void node_graph_builder::choose(graph_granularity grain) {
    std::vector<bool> has_children(graph_.modules.size());
    for (const graph_module& m : graph_.modules)
        if (m.parent >= 0) has_children[static_cast<std::size_t>(m.parent)] = true;
    for (std::size_t i = 0; i < graph_.modules.size(); ++i) {
        const graph_module& m = graph_.modules[i];
        const std::int32_t above = m.parent >= 0 ? at_place(module_parts_, m.parent) : -1;
        const bool by_level = grain.level == graph_level::layer
                                  ? m.index >= 0 || !has_children[i]
                                  : grain.level == graph_level::module && !has_children[i];
        const bool is_part = grain.depth > 0 ? m.depth == grain.depth || !has_children[i] : by_level;
        module_parts_.push_back(above >= 0 ? above : is_part ? static_cast<std::int32_t>(i) : -1);
    }
}

LLMCOST_INLINE void node_graph_builder::cut() {
    std::vector<bool> call_begins(graph_.operations.size() + 1);
    for (std::size_t i = 0; i < graph_.modules.size(); ++i)
        if (module_parts_[i] == static_cast<std::int32_t>(i))
            for (const std::int32_t call : graph_.modules[i].calls) call_begins[static_cast<std::size_t>(call)] = true;
    add(part_kind::input, "Input", "Input", -1, 0);
    bool went_back = false;
    for (std::int32_t i = 0; i < length_of(graph_.operations); ++i) {
        const graph_operation& o = at_place(graph_.operations, i);
        const std::int32_t module = o.module >= 0 ? at_place(module_parts_, o.module) : -1;
        const bool is_backward = o.pass != graph_pass::forward;
        const bool is_continuation = module >= 0 && is_backward == went_back && out_.parts.back().module == module &&
                                     out_.parts.back().kind == part_kind::module &&
                                     !call_begins[static_cast<std::size_t>(i)];
        if (module >= 0 && !is_continuation) {
            const graph_module& m = at_place(graph_.modules, module);
            add(part_kind::module, m.path + (is_backward ? ".backward" : ""), m.type, module, i);
        } else if (module < 0) {
            const std::string path = o.module >= 0 ? at_place(graph_.modules, o.module).path : std::string();
            std::string kind(op_cost_of(o.kind).name);
            if (is_backward) kind += o.pass == graph_pass::gradient_sum ? ".gradients" : ".backward";
            add(part_kind::operation, path.empty() ? kind : path + "." + kind, kind, o.module, i);
        }
        out_.parts.back().end = i + 1;
        went_back = is_backward;
        operation_parts_.push_back(length_of(out_.parts) - 1);
    }
    add(part_kind::output, "Output", "Output", -1, length_of(graph_.operations));
}

LLMCOST_INLINE void node_graph_builder::add(part_kind kind, std::string name, std::string type, std::int32_t module,
                                            std::int32_t first) {
    graph_node p;
    p.kind = kind;
    p.name = std::move(name);
    p.type = std::move(type);
    p.module = module;
    p.first = p.end = first;
    out_.parts.push_back(std::move(p));
}

LLMCOST_INLINE void node_graph_builder::connect() {
    const auto link = [&](std::int32_t source, std::int32_t to, const graph_input& in) {
        out_.edges.push_back({source, to, in.tensor, in.producer, in.sizes, in.type, in.bytes});
    };
    for (std::int32_t i = 0; i < length_of(graph_.operations); ++i) {
        const std::int32_t node = at_place(operation_parts_, i);
        for (const graph_input& in : at_place(graph_.operations, i).inputs) {
            if (at_place(graph_.tensors, in.tensor).source == tensor_origin::parameter) {
                add_parameter(node, in.tensor);
            } else if (in.producer < 0) {
                link(0, node, in);
            } else if (at_place(operation_parts_, in.producer) != node) {
                link(at_place(operation_parts_, in.producer), node, in);
            }
        }
    }
    const auto add_output_edge = [&](std::int32_t tensor) {
        const graph_tensor& t = at_place(graph_.tensors, tensor);
        graph_input out;
        out.tensor = tensor;
        out.producer = t.producer;
        out.sizes = t.sizes;
        out.type = t.type;
        out.bytes = t.bytes;
        link(t.producer < 0 ? 0 : at_place(operation_parts_, t.producer), length_of(out_.parts) - 1, out);
    };
    if (graph_.output >= 0) add_output_edge(graph_.output);
    for (const std::int32_t gradient : graph_.gradients) add_output_edge(gradient);
    const auto key = [](const graph_edge& e) { return std::tie(e.source, e.to, e.tensor, e.producer, e.sizes); };
    std::ranges::stable_sort(out_.edges, {}, key);
    const auto is_same_edge = [&](const graph_edge& a, const graph_edge& b) { return key(a) == key(b); };
    out_.edges.erase(std::unique(out_.edges.begin(), out_.edges.end(), is_same_edge), out_.edges.end());
}

LLMCOST_INLINE void node_graph_builder::add_parameter(std::int32_t part, std::int32_t tensor) {
    std::vector<std::int32_t>& part_parameters = at_place(out_.parts, part).parameters;
    if (std::ranges::find(part_parameters, tensor) == part_parameters.end()) part_parameters.push_back(tensor);
}

LLMCOST_INLINE void node_graph_builder::assign_unread_parameters() {
    for (const graph_module& m : graph_.modules)
        for (const std::int32_t tensor : m.parameter_ids)
            if (at_place(graph_.tensors, tensor).consumers.empty() && !operation_parts_.empty())
                add_parameter(at_place(operation_parts_, std::min(m.first, length_of(operation_parts_) - 1)), tensor);
}

LLMCOST_INLINE void node_graph_builder::compute_metrics() {
    for (graph_node& p : out_.parts) {
        for (const std::int32_t parameter : p.parameters) {
            const graph_tensor& t = at_place(graph_.tensors, parameter);
            std::uint64_t elements = 1;
            for (const std::int64_t n : t.sizes) elements *= static_cast<std::uint64_t>(n);
            p.parameter_elements += elements;
            p.weight_bytes += t.bytes;
        }
        for (std::int32_t i = p.first; i < p.end; ++i) {
            const graph_operation& o = at_place(graph_.operations, i);
            p.bytes_read += o.bytes_read;
            p.bytes_written += o.bytes_written;
            for (const auto primitive : primitive_members<count>) p.done.*primitive += o.metrics_of_op.*primitive;
            p.done.torch_flops += o.metrics_of_op.torch_flops;
        }
    }
    for (const graph_tensor& t : graph_.tensors) {
        if (t.producer < 0) continue;
        graph_node& maker = at_place(out_.parts, at_place(operation_parts_, t.producer));
        if (t.is_cached) maker.cache_bytes += t.bytes;
        if (t.is_saved) maker.saved_bytes += t.bytes;
    }
    std::vector<std::array<std::int32_t, 3>> outputs;
    for (const graph_edge& e : out_.edges) outputs.push_back({e.tensor, e.producer, e.source});
    std::ranges::sort(outputs);
    outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
    for (const auto& [tensor, producer, part] : outputs)
        at_place(out_.parts, part).output_bytes += at_place(graph_.tensors, tensor).bytes;
}

LLMCOST_INLINE void node_graph_builder::compute_live_bytes() {
    const std::size_t n = graph_.operations.size();
    if (n == 0) return;
    std::vector<std::uint64_t> allocated_bytes(n), freed_bytes(n);
    std::vector<std::int32_t> made(graph_.tensors.size(), -1);
    for (std::size_t i = n; i-- > 0;)
        if (graph_.operations[i].output >= 0)
            at_place(made, graph_.operations[i].output) = static_cast<std::int32_t>(i);
    std::vector<bool> stays(graph_.tensors.size());
    for (const std::int32_t gradient : graph_.gradients) stays[static_cast<std::size_t>(gradient)] = true;
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
        const graph_tensor& t = graph_.tensors[i];
        if (t.is_cached || t.source == tensor_origin::parameter) continue;
        const bool was_made = t.source == tensor_origin::operation;
        if (!was_made && t.consumers.empty()) continue;
        const std::int32_t first = !was_made ? t.consumers.front() : made[i] >= 0 ? made[i] : t.producer;
        if (first < 0) continue;
        std::int32_t last = t.consumers.empty() ? first : std::max(first, t.consumers.back());
        if (t.is_saved || stays[i] || static_cast<std::int32_t>(i) == graph_.output)
            last = static_cast<std::int32_t>(n) - 1;
        at_place(allocated_bytes, first) += t.bytes;
        at_place(freed_bytes, last) += t.bytes;
    }
    std::uint64_t live = 0;
    for (std::size_t i = 0; i < n; ++i) {
        live += allocated_bytes[i];
        graph_node& p = at_place(out_.parts, operation_parts_[i]);
        p.live_bytes = std::max(p.live_bytes, live);
        live -= freed_bytes[i];
    }
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE void set_times(node_graph& g, const std::vector<double>& seconds_of_operations) {
    for (graph_node& p : g.parts) {
        p.seconds = 0;
        for (std::int32_t i = p.first; i < p.end; ++i) p.seconds += detail::at_place(seconds_of_operations, i);
    }
    g.timed = true;
}

LLMCOST_INLINE std::string sizes_text(const std::vector<std::int64_t>& sizes, const char* separator) {
    std::string out;
    for (const std::int64_t n : sizes) out.append(out.empty() ? "" : separator).append(std::to_string(n));
    return out;
}

}  // namespace llmcost
