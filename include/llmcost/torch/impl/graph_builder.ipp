// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/graph_builder.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/torch/graph_rules.hpp>
#include <llmcost/torch/joint_graph.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

LLMCOST_INLINE bool has_equal_sizes(const shape& a, const shape& b) noexcept {
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; ++i)
        if (a.size[i] != b.size[i]) return false;
    return true;
}

LLMCOST_INLINE bool has_equal_dimensions(const shape& a, const shape& b) noexcept {
    int i = 0, j = 0;
    while (true) {
        while (i < a.rank && a.size[i] == 1) ++i;
        while (j < b.rank && b.size[j] == 1) ++j;
        if (i == a.rank || j == b.rank) return i == a.rank && j == b.rank;
        if (a.size[i++] != b.size[j++]) return false;
    }
}

LLMCOST_INLINE std::int32_t graph_builder::add(fx_node_kind kind, literal name, std::vector<std::int32_t> inputs,
                                               const shape& sizes, dtype type) {
    fx_node n;
    n.name = name;
    n.kind = kind;
    n.sizes = sizes;
    n.numel = num_elements(sizes.size, sizes.rank);
    n.type = type;
    n.bytes = n.numel * static_cast<std::uint64_t>(std::max(bits_of(type), 8)) / 8;
    n.tape_node = tape_node;
    for (const std::int32_t i : inputs) n.requires_grad = n.requires_grad || node(i).requires_grad;
    n.inputs = std::move(inputs);
    graph.nodes.push_back(std::move(n));
    gradients_.push_back(none);
    return static_cast<std::int32_t>(graph.nodes.size()) - 1;
}

/// Whether a reduction keeps only leading dimensions.
[[nodiscard]] LLMCOST_INLINE bool is_leading(const shape& remaining, const shape& full) noexcept {
    bool is_reduced = false;
    for (int d = 0; d < full.rank; ++d) {
        const bool keeps = d < remaining.rank && remaining.size[d] == full.size[d];
        if (keeps && is_reduced && full.size[d] > 1) return false;
        is_reduced = is_reduced || !keeps;
    }
    return true;
}

LLMCOST_INLINE std::int32_t graph_builder::reduce(literal name, std::int32_t input, const shape& sizes, dtype type) {
    const std::uint64_t elements = node(input).numel;
    const shape full = node(input).sizes;
    const std::int32_t i = add(fx_node_kind::reduction, name, {input}, sizes, type);
    fx_node& n = node(i);
    n.reduced = static_cast<std::int64_t>(elements / std::max<std::uint64_t>(n.numel, 1));
    n.is_column_reduction = n.numel > 1 && !is_leading(sizes, full);
    return i;
}

LLMCOST_INLINE std::int32_t graph_builder::reduce_rows(literal name, std::int32_t input) {
    shape sizes = node(input).sizes;
    if (sizes.rank > 0) sizes.size[sizes.rank - 1] = 1;
    const std::int32_t i = reduce(name, input, sizes, node(input).type);
    node(i).is_column_reduction = false;
    return i;
}

LLMCOST_INLINE std::int32_t graph_builder::external(literal name, std::vector<std::int32_t> inputs, const shape& sizes,
                                                    dtype type, std::vector<torch_kernel> kernels) {
    const std::int32_t i = add(fx_node_kind::external, name, std::move(inputs), sizes, type);
    node(i).kernels = std::move(kernels);
    return i;
}

LLMCOST_INLINE std::int32_t graph_builder::result(std::int32_t source, const shape& sizes, dtype type) {
    const std::int32_t i = add(fx_node_kind::result, "getitem", {source}, sizes, type);
    fx_node& from = node(source);
    from.bytes = (from.has_several_results ? from.bytes : 0) + node(i).bytes;
    from.has_several_results = true;
    return i;
}

LLMCOST_INLINE std::int32_t graph_builder::view(literal name, std::int32_t input, const shape& sizes) {
    std::string key(name);
    for (int d = 0; d < sizes.rank; ++d) key.append(",").append(std::to_string(sizes.size[d]));
    // a view of transposed dimensions needs a copy, unless it only adds or removes dimensions of one element
    if (std::string_view(name) == "view" && !has_equal_dimensions(node(input).sizes, sizes)) {
        std::int32_t base = input;
        bool is_permuted = false;
        while (node(base).kind == fx_node_kind::view) {
            is_permuted = is_permuted || (std::string_view(node(base).name) == "permute" && node(base).sizes.rank > 2);
            base = node(base).inputs.front();
        }
        if (is_permuted) input = clone(input);
    }
    const auto [place, is_new] = views_.try_emplace({input, std::move(key)}, none);
    if (!is_new) return place->second;
    const std::int32_t out = add(fx_node_kind::view, name, {input}, sizes, node(input).type);
    place->second = out;
    on_backward(out, [this, name, input](std::int32_t g) { add_gradient(input, view(name, g, node(input).sizes)); });
    return out;
}

LLMCOST_INLINE std::int32_t graph_builder::slice(std::int32_t input, const shape& sizes) {
    const std::int32_t out = add(fx_node_kind::view, "slice", {input}, sizes, node(input).type);
    on_backward(out, [this, input](std::int32_t g) {
        const fx_node n = node(input);
        const std::int32_t zeros = add(fx_node_kind::constant, "full", {}, n.sizes, n.type);
        add_gradient(input, pointwise("slice_scatter", {zeros, g}, n.sizes, n.type));
    });
    return out;
}

LLMCOST_INLINE std::int32_t graph_builder::expand(std::int32_t input, const shape& sizes) {
    const std::int32_t out = add(fx_node_kind::view, "expand", {input}, sizes, node(input).type);
    on_backward(out, [this, input](std::int32_t g) {
        const fx_node n = node(input);
        add_gradient(input, n.numel == node(g).numel ? g : reduce("sum", g, n.sizes, n.type));
    });
    return out;
}

LLMCOST_INLINE std::int32_t graph_builder::clone(std::int32_t input) {
    const std::int32_t out = pointwise("clone", {input}, node(input).sizes, node(input).type);
    on_backward(out, [this, input](std::int32_t g) { add_gradient(input, g); });
    return out;
}

LLMCOST_INLINE std::int32_t graph_builder::convert(std::int32_t input, dtype type) {
    if (node(input).type == type) return input;
    const dtype from = node(input).type;
    const std::int32_t out = pointwise("convert_element_type", {input}, node(input).sizes, type);
    on_backward(out, [this, input, from](std::int32_t g) {
        add_gradient(input, pointwise("convert_element_type", {g}, node(g).sizes, from));
    });
    return out;
}

LLMCOST_INLINE std::vector<std::int32_t> graph_builder::add_steps(const graph_step* steps,
                                                                  const std::vector<std::int32_t>& inputs,
                                                                  const std::vector<std::int32_t>& forward,
                                                                  std::int32_t output, std::int32_t gradient,
                                                                  const shape& sizes, dtype type) {
    std::vector<std::int32_t> out;
    for (int s = 0; s < graph_rule::max_steps && !is_empty(steps[s].operands); ++s) {
        std::vector<std::int32_t> operands;
        std::uint64_t numel = 0;
        shape result = sizes;
        for (const char* c = steps[s].operands; *c != '\0'; ++c) {
            const std::size_t second = std::min<std::size_t>(1, inputs.size() - 1);
            const std::int32_t operand = *c == 'x'                ? inputs[0]
                                         : *c == 'w'              ? inputs[second]
                                         : *c == 'y'              ? output
                                         : *c == 'g'              ? gradient
                                         : *c >= 'A' && *c <= 'Z' ? forward[static_cast<std::size_t>(*c - 'A')]
                                                                  : out[static_cast<std::size_t>(*c - '0')];
            // a factor that is a number has no node
            if (*c == 'w' && inputs.size() < 2) continue;
            operands.push_back(operand);
            if (node(operand).numel >= numel) {
                numel = node(operand).numel;
                result = node(operand).sizes;
            }
        }
        if (is_empty(steps[s].name)) {
            out.push_back(operands.front());
            continue;
        }
        out.push_back(pointwise(steps[s].name, std::move(operands), forward.empty() ? sizes : result, type));
    }
    return out;
}

LLMCOST_INLINE std::int32_t graph_builder::apply(const graph_rule& rule, std::vector<std::int32_t> inputs,
                                                 const shape& sizes, dtype type) {
    const bool converts = rule.computes_in_float32 && bits_of(type) == 16;
    const dtype computed = converts ? dtype::float32 : type;
    if (converts)
        for (std::int32_t& i : inputs) i = convert(i, computed);
    const std::vector<std::int32_t> steps = add_steps(rule.forward, inputs, {}, none, none, sizes, computed);
    const std::int32_t out = steps.back();
    on_backward(out, [this, &rule, inputs, steps, out, computed](std::int32_t g) {
        for (std::size_t i = 0; i < inputs.size() && i < 2; ++i) {
            const graph_step* gradient = i == 0 ? rule.first : rule.second;
            if (!requires_grad(inputs[i]) || is_empty(gradient[0].operands)) continue;
            const std::vector<std::int32_t> traced =
                add_steps(gradient, inputs, steps, out, g, node(g).sizes, computed);
            add_gradient(inputs[i], traced.back());
        }
    });
    return converts ? convert(out, type) : out;
}

LLMCOST_INLINE void graph_builder::on_backward(std::int32_t output, backward_function f) {
    if (!is_backward_ && requires_grad(output)) operators_.push_back({output, std::move(f)});
}

LLMCOST_INLINE void graph_builder::add_gradient(std::int32_t input, std::int32_t gradient) {
    if (!requires_grad(input)) return;
    const fx_node n = node(input);
    if (node(gradient).numel > n.numel) {
        // `sum_to`: the sum keeps the dimensions, and a view removes those in front
        shape remaining = n.sizes;
        const int missing = node(gradient).sizes.rank - n.sizes.rank;
        if (missing > 0) {
            remaining = node(gradient).sizes;
            for (int d = 0; d < remaining.rank; ++d) remaining.size[d] = d < missing ? 1 : n.sizes.size[d - missing];
        }
        gradient = reduce("sum", gradient, remaining, n.type);
        if (missing > 0) gradient = add(fx_node_kind::view, "view", {gradient}, n.sizes, n.type);
    }
    std::int32_t& sum = gradients_[static_cast<std::size_t>(input)];
    if (sum == none) {
        sum = gradient;
        return;
    }
    const std::int32_t first = sum;
    const std::int32_t added = pointwise("add", {first, gradient}, n.sizes, n.type);
    gradients_[static_cast<std::size_t>(input)] = added;
}

LLMCOST_INLINE void graph_builder::backward(const std::vector<std::int32_t>& outputs) {
    graph.num_forward_nodes = graph.nodes.size();
    is_backward_ = true;
    for (const std::int32_t output : outputs) {
        if (!requires_grad(output)) continue;
        const fx_node n = node(output);
        tape_node = n.tape_node;
        const std::int32_t tangent = add(fx_node_kind::tangent, "tangent", {}, n.sizes, n.type);
        gradients_[static_cast<std::size_t>(output)] = tangent;
    }
    for (std::size_t i = operators_.size(); i-- > 0;) {
        const std::int32_t output = operators_[i].output, gradient = gradient_of(output);
        if (gradient == none) continue;
        tape_node = node(output).tape_node;
        const backward_function f = operators_[i].function;
        f(gradient);
    }
}

}  // namespace llmcost::detail
