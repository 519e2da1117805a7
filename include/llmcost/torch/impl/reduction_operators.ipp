// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/reduction_operators.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/torch/graph_builder.hpp>
#include <llmcost/torch/graph_rules.hpp>
#include <llmcost/torch/joint_graph.hpp>
#include <llmcost/torch/kernel_operands.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/tensor.hpp>

// Reductions, norms, softmax, embeddings and the loss, decomposed as by Inductor.
// Source: torch/_decomp/decompositions.py, `_softmax`, `_softmax_backward_data`, `_log_softmax`,
// `_log_softmax_backward_data`, `native_layer_norm`, `native_layer_norm_backward`, `native_batch_norm`,
// `native_batch_norm_backward`, `nll_loss_forward`, `nll_loss_backward`, `embedding_dense_backward`.
namespace llmcost::detail {

LLMCOST_INLINE std::int32_t reduction_operators::add_softmax(std::size_t i) {
    const tensor& result = tape_.operands[i].output;
    const shape sizes = shape_of(result);
    const std::int32_t x = graph_.convert(operand(i, 0), dtype::float32);
    const std::int32_t maximum = graph_.reduce_rows("amax", x);
    const std::int32_t shifted = graph_.pointwise("sub", {x, maximum}, sizes, dtype::float32);
    const std::int32_t power = graph_.pointwise("exp", {shifted}, sizes, dtype::float32);
    const std::int32_t sum = graph_.reduce_rows("sum", power);
    const std::int32_t out = graph_.pointwise("div", {power, sum}, sizes, dtype::float32);
    graph_.on_backward(out, [this, x, out, sizes](std::int32_t g) {
        const std::int32_t product = graph_.pointwise("mul", {g, out}, sizes, dtype::float32);
        const std::int32_t total = graph_.reduce_rows("sum", product);
        const std::int32_t negative = graph_.pointwise("neg", {out}, sizes, dtype::float32);
        graph_.add_gradient(x, graph_.pointwise("fma", {negative, total, product}, sizes, dtype::float32));
    });
    return graph_.convert(out, result.type);
}

LLMCOST_INLINE std::int32_t reduction_operators::add_log_softmax(std::size_t i) {
    const tensor& result = tape_.operands[i].output;
    const shape sizes = shape_of(result);
    const std::int32_t x = graph_.convert(operand(i, 0), dtype::float32);
    const std::int32_t maximum = graph_.reduce_rows("amax", x);
    const std::int32_t shifted = graph_.pointwise("sub", {x, maximum}, sizes, dtype::float32);
    const std::int32_t power = graph_.pointwise("exp", {shifted}, sizes, dtype::float32);
    const std::int32_t sum = graph_.reduce_rows("sum", power);
    const std::int32_t logarithm = graph_.pointwise("log", {sum}, graph_.node(sum).sizes, dtype::float32);
    const std::int32_t out = graph_.pointwise("sub", {shifted, logarithm}, sizes, dtype::float32);
    graph_.on_backward(out, [this, x, out, sizes](std::int32_t g) {
        const std::int32_t power_of_result = graph_.pointwise("exp", {out}, sizes, dtype::float32);
        const std::int32_t total = graph_.reduce_rows("sum", g);
        const std::int32_t product = graph_.pointwise("mul", {power_of_result, total}, sizes, dtype::float32);
        graph_.add_gradient(x, graph_.pointwise("sub", {g, product}, sizes, dtype::float32));
    });
    return graph_.convert(out, result.type);
}

LLMCOST_INLINE std::int32_t reduction_operators::add_layer_norm(std::size_t i) {
    constexpr dtype type = dtype::float32;  // 16-bit inputs are converted
    const tape_operands& operands = tape_.operands[i];
    const shape sizes = shape_of(operands.output);
    const std::int32_t x = graph_.convert(operand(i, 0), type);
    const std::int32_t weight = operands.inputs.size() > 1 ? operand(i, 1) : graph_builder::none;
    const std::int32_t bias = operands.inputs.size() > 2 ? operand(i, 2) : graph_builder::none;
    const std::int32_t moments = graph_.reduce_rows("var_mean", x);
    const shape rows = graph_.node(moments).sizes;
    const std::int32_t variance = graph_.result(moments, rows, type), mean = graph_.result(moments, rows, type);
    const std::int32_t shifted_variance = graph_.pointwise("add", {variance}, rows, type);
    const std::int32_t deviation = graph_.pointwise("rsqrt", {shifted_variance}, rows, type);
    const std::int32_t centered = graph_.pointwise("sub", {x, mean}, sizes, type);
    const std::int32_t normalized = graph_.pointwise("mul", {centered, deviation}, sizes, type);
    std::int32_t out = normalized;
    if (weight != graph_builder::none) out = graph_.pointwise("mul", {out, weight}, sizes, type);
    if (bias != graph_builder::none) out = graph_.pointwise("add", {out, bias}, sizes, type);
    graph_.on_backward(out, [this, x, weight, bias, deviation, normalized, sizes, rows](std::int32_t g) {
        if (graph_.requires_grad(x)) {
            const std::int32_t scaled =
                weight == graph_builder::none ? g : graph_.pointwise("mul", {g, weight}, sizes, type);
            const std::int32_t multiple = graph_.pointwise("mul", {scaled}, sizes, type);
            const std::int32_t sum = graph_.reduce_rows("sum", scaled);
            const std::int32_t product = graph_.pointwise("mul", {scaled, normalized}, sizes, type);
            const std::int32_t product_sum = graph_.reduce_rows("sum", product);
            const std::int32_t projection = graph_.pointwise("mul", {normalized, product_sum}, sizes, type);
            const std::int32_t difference = graph_.pointwise("sub", {multiple, sum}, sizes, type);
            const std::int32_t inner = graph_.pointwise("sub", {difference, projection}, sizes, type);
            const std::int32_t factor = graph_.pointwise("div", {deviation}, rows, type);
            graph_.add_gradient(x, graph_.pointwise("mul", {factor, inner}, sizes, type));
        }
        if (weight != graph_builder::none && graph_.requires_grad(weight)) {
            graph_.add_gradient(weight, graph_.pointwise("mul", {g, normalized}, sizes, type));
        }
        if (bias != graph_builder::none) graph_.add_gradient(bias, g);
    });
    return graph_.convert(out, operands.output.type);
}

LLMCOST_INLINE std::int32_t reduction_operators::add_batch_norm(std::size_t i) {
    constexpr dtype type = dtype::float32;
    const tape_operands& operands = tape_.operands[i];
    const shape sizes = shape_of(operands.output);
    if (sizes.rank < 2) return add_eager(i);
    const std::int32_t x = graph_.convert(operand(i, 0), type);
    const std::int32_t weight = operands.inputs.size() > 1 ? operand(i, 1) : graph_builder::none;
    const std::int32_t bias = operands.inputs.size() > 2 ? operand(i, 2) : graph_builder::none;
    shape channels = sizes;
    for (int d = 0; d < channels.rank; ++d)
        if (d != 1) channels.size[d] = 1;
    const std::int32_t moments = graph_.reduce("var_mean", x, channels, type);
    const std::int32_t variance = graph_.result(moments, channels, type), mean = graph_.result(moments, channels, type);
    const std::int32_t shifted_variance = graph_.pointwise("add", {variance}, channels, type);
    const std::int32_t deviation = graph_.pointwise("rsqrt", {shifted_variance}, channels, type);
    const std::int32_t centered = graph_.pointwise("sub", {x, mean}, sizes, type);
    const std::int32_t normalized = graph_.pointwise("mul", {centered, deviation}, sizes, type);
    std::int32_t out = normalized;
    if (weight != graph_builder::none) out = graph_.pointwise("mul", {out, weight}, sizes, type);
    if (bias != graph_builder::none) out = graph_.pointwise("add", {out, bias}, sizes, type);
    graph_.on_backward(out, [this, x, weight, bias, deviation, mean, sizes, channels](std::int32_t g) {
        const std::int32_t sum = graph_.reduce("sum", g, channels, type);
        const std::int32_t centered_again = graph_.pointwise("sub", {x, mean}, sizes, type);
        const std::int32_t product = graph_.pointwise("mul", {g, centered_again}, sizes, type);
        const std::int32_t product_sum = graph_.reduce("sum", product, channels, type);
        const std::int32_t mean_gradient = graph_.pointwise("mul", {sum}, channels, type);
        const std::int32_t square = graph_.pointwise("mul", {deviation, deviation}, channels, type);
        const std::int32_t scale = graph_.pointwise("mul", {product_sum, square}, channels, type);
        std::vector<std::int32_t> factors{deviation};
        if (weight != graph_builder::none) factors.push_back(weight);
        const std::int32_t factor = graph_.pointwise("mul", factors, channels, type);
        if (graph_.requires_grad(x)) {
            const std::int32_t projection = graph_.pointwise("mul", {centered_again, scale}, sizes, type);
            const std::int32_t difference = graph_.pointwise("sub", {g, projection}, sizes, type);
            const std::int32_t inner = graph_.pointwise("sub", {difference, mean_gradient}, sizes, type);
            graph_.add_gradient(x, graph_.pointwise("mul", {inner, factor}, sizes, type));
        }
        const auto add_sum = [&](std::int32_t parameter, std::int32_t gradient) {
            if (parameter == graph_builder::none || !graph_.requires_grad(parameter)) return;
            const fx_node p = graph_.node(parameter);
            graph_.add_gradient(parameter, graph_.add(fx_node_kind::view, "view", {gradient}, p.sizes, p.type));
        };
        add_sum(weight, graph_.pointwise("mul", {product_sum, deviation}, channels, type));
        add_sum(bias, sum);
    });
    return graph_.convert(out, operands.output.type);
}

LLMCOST_INLINE std::int32_t reduction_operators::add_reduction(std::size_t i, literal name) {
    const tensor& result = tape_.operands[i].output;
    const std::int32_t x = operand(i, 0);
    const std::int32_t out = graph_.reduce(name, x, shape_of(result), result.type);
    const bool is_mean = node_at(i).kind == op::mean;
    graph_.on_backward(out, [this, x, is_mean](std::int32_t g) {
        const fx_node in = graph_.node(x);
        std::int32_t gradient = graph_.add(fx_node_kind::view, "expand", {g}, in.sizes, in.type);
        if (is_mean) gradient = graph_.pointwise("div", {gradient}, in.sizes, in.type);
        graph_.add_gradient(x, gradient);
    });
    return out;
}

LLMCOST_INLINE std::int32_t reduction_operators::add_embedding(std::size_t i) {
    const tape_node& n = node_at(i);
    const tensor& result = tape_.operands[i].output;
    const std::int32_t table = operand(i, 0);
    const bool is_embedding = n.inputs[0].parameter >= 0;
    const std::int64_t num_rows =
        static_cast<std::int64_t>(result.numel) / std::max<std::int64_t>(result.rank > 0 ? result.dim(-1) : 1, 1);
    const std::int32_t tokens = integers(num_rows);
    const std::int32_t out =
        graph_.add(is_embedding ? fx_node_kind::gather : fx_node_kind::pointwise, is_embedding ? "embedding" : "index",
                   {table, tokens}, shape_of(result), result.type);
    graph_.node(out).gathered_bytes = n.output_bytes;
    graph_.on_backward(out, [this, table, tokens](std::int32_t g) {
        const fx_node in = graph_.node(table);
        // additions of 16-bit gradients are in float32
        const dtype type = bits_of(in.type) == 16 ? dtype::float32 : in.type;
        const std::int32_t zeros = graph_.add(fx_node_kind::constant, "full", {}, in.sizes, type);
        const std::int32_t sum =
            graph_.add(fx_node_kind::scatter, "index_put", {zeros, graph_.convert(g, type), tokens}, in.sizes, type);
        graph_.add_gradient(table, graph_.convert(sum, in.type));
    });
    return out;
}

// Source: torch/_inductor/decomposition.py, `max_pool2d_with_indices`; torch/_inductor/lowering.py,
// `_low_memory_max_pool_with_offsets`: offsets within the window are saved
LLMCOST_INLINE std::int32_t reduction_operators::add_max_pool(std::size_t i) {
    const tensor& result = tape_.operands[i].output;
    const std::int32_t x = operand(i, 0);
    const shape sizes = shape_of(result);
    const std::int32_t all =
        graph_.add(fx_node_kind::gather, "_low_memory_max_pool_with_offsets", {x}, sizes, result.type);
    graph_.node(all).gathered_bytes = graph_.node(x).bytes;
    const std::int32_t out = graph_.result(all, sizes, result.type);
    const std::int32_t offsets = graph_.result(all, sizes, dtype::int8);
    graph_.on_backward(out, [this, x, offsets, sizes](std::int32_t g) {
        const fx_node in = graph_.node(x);
        const std::int32_t indices =
            graph_.pointwise("_low_memory_max_pool_offsets_to_indices", {offsets}, sizes, in.type);
        const std::int32_t zeros = graph_.add(fx_node_kind::constant, "full", {}, in.sizes, in.type);
        graph_.add_gradient(x,
                            graph_.add(fx_node_kind::scatter, "scatter_add", {zeros, indices, g}, in.sizes, in.type));
    });
    return out;
}

LLMCOST_INLINE std::int32_t reduction_operators::add_copy(std::size_t i) {
    const tensor& result = tape_.operands[i].output;
    const std::int32_t x = operand(i, 0);
    return graph_.node(x).type != result.type ? graph_.convert(x, result.type) : graph_.clone(x);
}

LLMCOST_INLINE std::int32_t reduction_operators::add_cat(std::size_t i) {
    const tensor& result = tape_.operands[i].output;
    std::vector<std::int32_t> inputs;
    for (std::size_t k = 0; k < tape_.operands[i].inputs.size(); ++k) inputs.push_back(operand(i, k));
    if (inputs.size() == 1) {  // the first entry of a KV cache: Inductor removes the copy (`remove_noop_ops`)
        outputs_.push_back(inputs[0]);
        if (!tape_.operands[i].inputs[0].is_contiguous()) strided_.insert(inputs[0]);
        return inputs[0];
    }
    // copies of one tensor are broadcast and cloned (torch/_inductor/decomposition.py, `cat`)
    const bool repeats = std::all_of(inputs.begin(), inputs.end(), [&](std::int32_t k) { return k == inputs[0]; });
    const std::int32_t out = graph_.add(repeats ? fx_node_kind::pointwise : fx_node_kind::cat,
                                        repeats ? "clone" : "cat", inputs, shape_of(result), result.type);
    graph_.on_backward(out, [this, inputs](std::int32_t g) {
        for (const std::int32_t input : inputs)
            if (graph_.requires_grad(input)) graph_.add_gradient(input, graph_.slice(g, graph_.node(input).sizes));
    });
    return out;
}

LLMCOST_INLINE std::int32_t reduction_operators::add_loss(std::size_t i) {
    const tensor& result = tape_.operands[i].output;
    const std::int32_t x = operand(i, 0);
    const dtype type = graph_.node(x).type;
    const shape sizes = graph_.node(x).sizes;
    const std::int64_t rows = sizes.rank > 0 ? sizes.size[0] : 1;
    const std::int32_t labels = integers(rows);
    const std::int32_t chosen = graph_.pointwise("gather", {x, labels}, shape(rows, 1), type);
    graph_.node(chosen).gathered_bytes = graph_.node(chosen).bytes;
    const std::int32_t negative = graph_.pointwise("neg", {chosen}, shape(rows, 1), type);
    const std::int32_t valid = graph_.pointwise("where", {negative, labels}, shape(rows, 1), type);
    const std::int32_t number = graph_.pointwise("ne", {labels}, shape(rows, 1), type);
    const std::int32_t total = graph_.reduce("sum", number, shape(1), type);
    const std::int32_t sum = graph_.reduce("sum", valid, shape(1), type);
    const std::int32_t out = graph_.pointwise("div", {sum, total}, shape_of(result), type);
    graph_.on_backward(out, [this, x, labels, total, sizes, rows, type](std::int32_t g) {
        const std::int32_t scaled = graph_.pointwise("div", {g, total}, shape(1), type);
        const std::int32_t mask = graph_.pointwise("where", {labels}, sizes, type);
        const std::int32_t valid_rows = graph_.pointwise("where", {labels, scaled}, shape(rows, 1), type);
        graph_.add_gradient(x, graph_.pointwise("mul", {mask, valid_rows}, sizes, type));
    });
    return out;
}

}  // namespace llmcost::detail
