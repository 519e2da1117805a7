// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/kernel_list.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/timeline.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/torch/convolution_kernels.hpp>
#include <llmcost/torch/expert_kernels.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/kernel_operands.hpp>
#include <llmcost/torch/kernel_table.hpp>
#include <llmcost/torch/optimizer_kernels.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::detail {

/// The float type of an element size.
[[nodiscard]] LLMCOST_INLINE dtype float_type_of(std::uint64_t element_bits) noexcept {
    return element_bits >= 64 ? dtype::float64 : element_bits >= 32 ? dtype::float32 : dtype::bfloat16;
}

/// The class of an elementwise kernel.
///
/// Source: aten/src/ATen/native/cuda/CUDALoops.cuh, `gpu_kernel_impl`: contiguous operands of one type are vectorized,
/// contiguous operands of several types are cast in an unrolled kernel, others compute an offset per operand.
[[nodiscard]] LLMCOST_INLINE torch_kernel_kind elementwise_kind(const std::vector<tensor>& inputs, const tensor& out) {
    bool is_strided = false, is_cast = false;
    for (const tensor& v : inputs) {
        if (v.rank == 0 || v.numel <= 1) continue;
        is_cast = is_cast || v.type != out.type;
        bool same = v.rank == out.rank;
        for (int i = 0; same && i < v.rank; ++i)
            same = v.size[i] == out.size[i] && (v.size[i] == 1 || v.stride[i] == out.stride[i]);
        is_strided = is_strided || !same || v.unique_numel() != v.numel;
    }
    return is_strided ? torch_kernel_kind::elementwise_strided
           : is_cast  ? torch_kernel_kind::elementwise_cast
                      : torch_kernel_kind::elementwise;
}

/// Columns and rows of a reduction or norm over the last dimension of a tensor.
LLMCOST_INLINE void set_rows(torch_kernel& k, const tensor& v) {
    k.columns = v.rank > 0 ? v.dim(-1) : 1;
    k.rows = static_cast<std::int64_t>(v.numel) / std::max<std::int64_t>(k.columns, 1);
}

/// Channels and elements of a channel of a batch norm; `is_instance`: statistics of each image (`F.instance_norm`).
LLMCOST_INLINE void set_channels(torch_kernel& k, const tensor& v, bool is_instance) {
    const std::int64_t batch = v.rank > 1 ? v.size[0] : 1, channels = v.rank > 1 ? v.size[1] : 1;
    k.batch = is_instance ? 1 : batch;
    k.rows = is_instance ? batch * channels : channels;
    k.columns = static_cast<std::int64_t>(v.numel) / std::max<std::int64_t>(k.rows, 1);
}

/// The operands as the profiler lists them: `copy_(destination, source)`; a list of tensors has no sizes.
LLMCOST_INLINE void set_profiled_operands(torch_kernel& k, const tape_node& n, const tape_operands& operands) {
    const shape output = shape_of(operands.output);
    if (n.kind == op::copy || n.kind == op::cat || n.kind == op::constant) k.num_operands = 0;
    if (n.kind == op::copy)
        for (int i = 0; i < 2; ++i) add_operand(k, output);
    if (n.kind != op::gather || n.inputs.empty() || n.inputs.front().parameter < 0) return;
    // Indexing.cu, `index_select_out_cuda` of rows: `gather` with an expanded index
    const shape rows(static_cast<std::int64_t>(operands.output.numel) / std::max<std::int64_t>(k.columns, 1),
                     k.columns);
    k.name = "aten::gather";
    k.num_operands = 1;
    for (int i = 0; i < 2; ++i) add_operand(k, rows);
}

/// `native_layer_norm_backward(gradient, input, mean, reciprocal standard deviation, weight, bias)`.
LLMCOST_INLINE void set_layer_norm_operands(torch_kernel& k, const tape_operands& operands) {
    const shape output = shape_of(operands.output);
    shape statistics = output;
    if (statistics.rank > 0) statistics.size[statistics.rank - 1] = 1;
    for (const shape& s : {output, output, statistics, statistics}) add_operand(k, s);
    for (std::size_t i = 1; i < operands.inputs.size(); ++i) add_operand(k, shape_of(operands.inputs[i]));
}

/// The ATen operator of a node, as PyTorch's profiler lists it.
[[nodiscard]] LLMCOST_INLINE literal operator_name(const tape_node& n) noexcept {
    if (n.in_place)
        for (const in_place_operator& o : in_place_operators)
            if (o.kind == n.kind) return o.name;
    return kernels_of(n.kind).name;
}

LLMCOST_INLINE std::vector<std::int32_t> operations_of_nodes(const tape& pass) {
    std::vector<std::int32_t> operations;
    operations.reserve(pass.nodes.size());
    std::int32_t num_operations = 0;
    for (const tape_node& n : pass.nodes) {
        if (!n.is_autograd_function) ++num_operations;
        operations.push_back(std::max(num_operations - 1, 0));
    }
    return operations;
}

LLMCOST_INLINE void set_operations(const tape& pass, std::vector<torch_kernel>& kernels) {
    const std::vector<std::int32_t> operations = operations_of_nodes(pass);
    for (torch_kernel& k : kernels)
        if (k.node >= 0) k.operation = operations[static_cast<std::size_t>(k.node)];
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE torch_kernel& kernel_listener::add(literal name, torch_kernel_kind kind, std::uint64_t bytes_read,
                                                  std::uint64_t bytes_written) {
    torch_kernel k;
    k.name = name;
    k.kind = kind;
    k.phase = phase_;
    k.node = node_;
    k.num_repetitions = num_time_steps_of(node_);
    k.bytes_read = bytes_read;
    k.bytes_written = bytes_written;
    kernels.push_back(k);
    return kernels.back();
}

LLMCOST_INLINE std::int64_t kernel_listener::num_time_steps_of(std::int32_t node) const {
    const std::int32_t output = node >= 0 ? node_at(node).output : -1;
    if (output < 0) return 1;
    const std::uint64_t steps = tape_.tensors[static_cast<std::size_t>(output)].num_time_steps;
    return static_cast<std::int64_t>(std::max<std::uint64_t>(steps, 1));
}

LLMCOST_INLINE void kernel_listener::on_forward(std::int32_t node, bool is_recomputed) {
    phase_ = is_recomputed ? step_phase::recompute : step_phase::forward;
    node_ = node;
    add_forward(node);
}

LLMCOST_INLINE void kernel_listener::add_forward(std::int32_t node) {
    const tape_node& n = node_at(node);
    const tape_operands& operands = operands_at(node);
    if (n.is_autograd_function || operands.output.numel == 0) return;
    if (const fused_kernel* const experts = experts_of(node); experts != nullptr) {
        const bool is_first = node == 0 || experts_of(node - 1) != experts;
        if (n.kind == op::gather && is_first) add_kernels(expert_sort_kernels(*experts));
        if (const auto list = expert_kernels(n, operands, *experts)) return add_kernels(*list);
    }
    const operation_kernels& rule = kernels_of(n.kind);
    if (rule.forward == torch_kernel_kind::convolution) return add_convolution(node);
    if (rule.forward == torch_kernel_kind::batch_norm) return add_batch_norm(node);
    if (n.in_place && n.has_backward && op_cost_of(n.kind).saved == saved_tensors::input) {
        // torch/csrc/autograd: an in-place function that saves `self` clones it first
        torch_kernel& clone = add("aten::copy_", torch_kernel_kind::copy_contiguous, n.output_bytes, n.output_bytes);
        clone.type = operands.output.type;
        for (int i = 0; i < 2; ++i) detail::add_operand(clone, detail::shape_of(operands.output));
    }
    std::uint64_t read = 0;
    const bool gathers = op_cost_of(n.kind).read == read_pattern::gathered;
    for (std::size_t i = 0; i < operands.inputs.size(); ++i)
        read += gathers && i == 0 ? n.output_bytes : detail::unique_bytes(operands.inputs[i]);
    if (op_cost_of(n.kind).read == read_pattern::none) read = 0;
    torch_kernel_kind kind = rule.forward;
    if (kind == torch_kernel_kind::elementwise || kind == torch_kernel_kind::copy) {
        const torch_kernel_kind layout = detail::elementwise_kind(operands.inputs, operands.output);
        if (kind == torch_kernel_kind::elementwise || layout == torch_kernel_kind::elementwise_cast) kind = layout;
    }
    torch_kernel& k = add(detail::operator_name(n), kind, read, n.output_bytes);
    k.type = operands.output.type;
    for (const tensor& v : operands.inputs) detail::add_operand(k, detail::shape_of(v));
    detail::set_rows(k, operands.inputs.empty() ? operands.output : operands.inputs.front());
    k.flops = n.torch_flops;
    k.is_causal = operands.is_causal;
    if (kind == torch_kernel_kind::row_reduction && !operands.inputs.empty()) {
        const tensor& in = operands.inputs.front();
        const auto results = static_cast<std::int64_t>(operands.output.numel);
        const auto elements = static_cast<std::int64_t>(in.numel);
        if (results > 0 && in.rank > 0 && elements / results % std::max<std::int64_t>(in.dim(-1), 1) != 0) {
            k.kind = torch_kernel_kind::column_reduction;
            k.rows = elements / results;
            k.columns = results;
        } else if (results > 0) {
            k.rows = results;
            k.columns = elements / results;
        }
    }
    if (kind == torch_kernel_kind::product || kind == torch_kernel_kind::batched_product) {
        const detail::product_sizes s =
            detail::product_sizes_of(operands.output, n.torch_flops, kind == torch_kernel_kind::batched_product);
        k.batch = s.batch;
        k.rows = s.rows;
        k.columns = s.columns;
        k.inner = s.inner;
        k.is_transposed_b = true;  // a weight is stored as (columns, inner)
        k.num_operands = 0;
        const bool is_batched = s.batch > 1 || kind == torch_kernel_kind::batched_product;
        // `addmm(bias, a, b)`, `baddbmm(bias, a, b)`
        if (operands.inputs.size() > 2) detail::add_operand(k, detail::shape_of(operands.inputs.back()));
        detail::add_operand(k, is_batched ? shape(s.batch, s.rows, s.inner) : shape(s.rows, s.inner));
        detail::add_operand(k, is_batched ? shape(s.batch, s.inner, s.columns) : shape(s.inner, s.columns));
    }
    detail::set_profiled_operands(k, n, operands);
}

LLMCOST_INLINE void kernel_listener::add_kernels(const std::vector<torch_kernel>& list) {
    for (torch_kernel k : list) {
        k.phase = phase_;
        k.node = node_;
        k.num_repetitions = num_time_steps_of(node_);
        kernels.push_back(k);
    }
}

LLMCOST_INLINE void kernel_listener::add_convolution(std::int32_t node) {
    const tape_node& n = node_at(node);
    const tape_operands& operands = operands_at(node);
    const std::vector<torch_kernel> list = convolution_kernels(operands, convolution_result::output);
    add_kernels(list);
    // aten/src/ATen/native/Convolution.cpp, `_convolution`: cuDNN's result plus the bias; the depthwise kernel adds it
    if (n.kind != op::convolution_bias || list.empty()) return;
    if (std::string_view(list.front().name) == "aten::_conv_depthwise2d") return;
    torch_kernel& bias = add("aten::add_", torch_kernel_kind::elementwise_strided, n.output_bytes, n.output_bytes);
    bias.type = operands.output.type;
    const shape output = detail::shape_of(operands.output);
    shape channels = output;
    for (int i = 0; i < channels.rank; ++i)
        if (i != 1) channels.size[i] = 1;
    for (const shape& s : {output, channels}) detail::add_operand(bias, s);
}

LLMCOST_INLINE void kernel_listener::add_convolution_gradient(std::int32_t node, std::size_t input) {
    const tape_node& n = node_at(node);
    const tape_operands& operands = operands_at(node);
    if (input < 2) {  // one call of `convolution_backward` computes both gradients
        std::vector<torch_kernel> list = convolution_kernels(
            operands, input == 0 ? convolution_result::input_gradient : convolution_result::weight_gradient);
        if (has_joint_backward_ && !list.empty()) list.front().is_continuation = true;
        has_joint_backward_ = true;
        return add_kernels(list);
    }
    const tensor& output = operands.output;
    const bool has_pixels =
        output.rank > 2 && static_cast<std::int64_t>(output.numel) > output.size[0] * output.size[1];
    torch_kernel& sum =
        add("aten::sum", has_pixels ? torch_kernel_kind::channel_reduction : torch_kernel_kind::column_reduction,
            n.output_bytes, n.inputs[input].bytes);
    sum.type = output.type;
    detail::add_operand(sum, detail::shape_of(output));
    sum.columns = static_cast<std::int64_t>(n.inputs[input].bytes * 8 / n.element_bits);
    sum.rows = static_cast<std::int64_t>(output.numel) / std::max<std::int64_t>(sum.columns, 1);
}

LLMCOST_INLINE void kernel_listener::add_batch_norm(std::int32_t node) {
    const tape_node& n = node_at(node);
    const tape_operands& operands = operands_at(node);
    const tensor& input = operands.inputs.front();
    const auto add_kernel = [&](literal name, torch_kernel_kind kind, std::uint64_t read, std::uint64_t written) {
        torch_kernel& k = add(name, kind, read, written);
        k.type = operands.output.type;
        detail::set_channels(k, input, n.kind == op::instance_norm_affine);
        // `cudnn_batch_norm(input, weight, bias, running mean, running variance)`
        for (const tensor& v : operands.inputs) detail::add_operand(k, detail::shape_of(v));
        const shape channels(input.rank > 1 ? input.size[1] : 1);
        for (int i = 0; i < 2 && operands.inputs.size() > 1; ++i) detail::add_operand(k, channels);
    };
    if (is_evaluation_)  // cudnn's `bn_fw_inf_1C11` and `batch_norm_transform_input_kernel` compute a channel index
        return add_kernel(
            operands.output.type != dtype::bfloat16 ? "aten::cudnn_batch_norm" : "aten::native_batch_norm",
            torch_kernel_kind::elementwise_strided, n.output_bytes, n.output_bytes);
    if (n.kind == op::batch_norm || n.kind == op::batch_norm_affine) {
        // torch/nn/modules/batchnorm.py, `_BatchNorm.forward`: num_batches_tracked, one integer
        constexpr std::uint64_t integer_bytes = 8;
        add("aten::add_", torch_kernel_kind::elementwise, integer_bytes, integer_bytes).type = dtype::unspecified;
    }
    if (operands.output.type != dtype::bfloat16)
        return add_kernel("aten::cudnn_batch_norm", torch_kernel_kind::batch_norm, n.output_bytes, n.output_bytes);
    // aten/src/ATen/native/cuda/Normalization.cu, `batch_norm_cuda_out`: cuDNN has no bfloat16
    constexpr literal name = "aten::native_batch_norm";
    add_kernel(name, torch_kernel_kind::batch_norm_statistics, n.output_bytes, 0);
    for (const auto& [kind, bytes] : {std::pair{torch_kernel_kind::batch_norm_update, std::uint64_t{0}},
                                      std::pair{torch_kernel_kind::batch_norm_transform, n.output_bytes}}) {
        add_kernel(name, kind, bytes, bytes);
        kernels.back().is_continuation = true;
    }
}

LLMCOST_INLINE const fused_kernel* kernel_listener::experts_of(std::int32_t node) const {
    const std::int32_t id = node_at(node).kernel_id;
    if (id < 0) return nullptr;
    const fused_kernel& k = tape_.kernels[static_cast<std::size_t>(id)];
    return k.kind == fused_kernel_kind::experts ? &k : nullptr;
}

LLMCOST_INLINE void kernel_listener::on_backward(std::int32_t node) {
    phase_ = step_phase::backward;
    node_ = node;
    has_joint_backward_ = false;
    if (node_at(node).kind == op::attention && !node_at(node).is_autograd_function) add_attention_backward(node);
}

LLMCOST_INLINE void kernel_listener::add_attention_backward(std::int32_t node) {
    const tape_operands& operands = operands_at(node);
    std::uint64_t bytes = 0;
    for (const tensor& v : operands.inputs) bytes += detail::unique_bytes(v);
    torch_kernel& k = add("aten::_scaled_dot_product_attention_backward", torch_kernel_kind::attention_backward,
                          bytes + 2 * node_at(node).output_bytes, bytes);
    k.type = operands.output.type;
    k.flops = node_at(node).torch_flops * 5 / 2;
    k.is_causal = operands.is_causal;
    if (!operands.inputs.empty()) detail::set_rows(k, operands.inputs.front());
    for (const tensor& v : operands.inputs) detail::add_operand(k, detail::shape_of(v));
    // gradients have the layout of their operands (cudnn/MHA.cpp, `alloc_with_matching_layout`); those of contiguous
    // heads are copied before the projection's `view`
    for (const tensor& v : operands.inputs) {
        if (v.rank != 4 || v.size[1] == 1 || v.size[2] == 1 || !v.is_contiguous()) continue;
        torch_kernel& copy =
            add("aten::copy_", torch_kernel_kind::copy, detail::unique_bytes(v), detail::unique_bytes(v));
        copy.type = v.type;
        for (int i = 0; i < 2; ++i) detail::add_operand(copy, shape(v.size[0], v.size[2], v.size[1], v.size[3]));
    }
}

LLMCOST_INLINE void kernel_listener::add_product_gradient(std::int32_t node, std::size_t input) {
    const tape_node& n = node_at(node);
    const tape_operands& operands = operands_at(node);
    const bool is_batched = kernels_of(n.kind).forward == torch_kernel_kind::batched_product;
    const detail::product_sizes s = detail::product_sizes_of(operands.output, n.torch_flops, is_batched);
    if (input >= 2) {  // the bias
        torch_kernel& sum =
            add("aten::sum", torch_kernel_kind::column_reduction, n.output_bytes, n.inputs[input].bytes);
        sum.type = operands.output.type;
        sum.rows = s.rows * s.batch;
        sum.columns = s.columns;
        detail::add_operand(sum, shape(sum.rows, sum.columns));
        return;
    }
    const bool of_first = input == 0;
    torch_kernel& k = add(is_batched ? "aten::bmm" : "aten::mm", kernels_of(n.kind).forward, 0, 0);
    k.type = operands.output.type;
    k.batch = s.batch;
    k.rows = of_first ? s.rows : s.columns;
    k.columns = s.inner;
    k.inner = of_first ? s.columns : s.rows;
    k.is_transposed_a = !of_first;
    k.flops = n.torch_flops;
    // a weight that is stored as (inner, columns), as that of `Conv1D`, has a gradient of these sizes
    const bool is_stored_by_inner = operands.inputs.size() > 1 && operands.inputs[1].rank == 2 &&
                                    operands.inputs[1].is_contiguous() && operands.inputs[1].size[0] == s.inner &&
                                    operands.inputs[1].size[1] == s.columns;
    if (!of_first && is_stored_by_inner) std::swap(k.rows, k.columns);
    const std::uint64_t element = n.element_bits / 8;
    const auto elements = [&](std::int64_t a, std::int64_t b) {
        return static_cast<std::uint64_t>(s.batch) * static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b) *
               element;
    };
    k.bytes_read = elements(k.rows, k.inner) + elements(k.inner, k.columns);
    k.bytes_written = elements(k.rows, k.columns);
    detail::add_operand(k, is_batched ? shape(k.batch, k.rows, k.inner) : shape(k.rows, k.inner));
    detail::add_operand(k, is_batched ? shape(k.batch, k.inner, k.columns) : shape(k.inner, k.columns));
}

LLMCOST_INLINE void kernel_listener::add_gradient_cast(std::int32_t node, std::size_t input, std::uint64_t bytes_read,
                                                       std::uint64_t bytes_written) {
    const tape_operands& operands = operands_at(node);
    if (node_at(node).kind != op::add && node_at(node).kind != op::copy && node_at(node).kind != op::cat) {
        const gradient_kernel& g = kernels_of(node_at(node).kind).backward[0];
        torch_kernel& k = add(g.name, torch_kernel_kind::elementwise, 2 * bytes_read, bytes_read);
        k.type = operands.output.type;
        set_gradient_operands(k, node, input, g.reads);
    }
    torch_kernel& k = add("aten::copy_", torch_kernel_kind::elementwise_cast, bytes_read, bytes_written);
    k.type = operands.inputs[input].type;
    for (int i = 0; i < 2; ++i) detail::add_operand(k, detail::shape_of(operands.inputs[input]));
}

LLMCOST_INLINE void kernel_listener::on_gradient(std::int32_t node, std::size_t input, std::uint64_t computed_bytes,
                                                 std::uint64_t gradient_bytes) {
    const tape_node& n = node_at(node);
    const tape_operands& operands = operands_at(node);
    if (n.is_autograd_function && n.kind == op::copy && n.output_bytes > 0) {  // the gradient of a written slice
        torch_kernel& copy = add("aten::copy_", torch_kernel_kind::copy, computed_bytes, computed_bytes);
        copy.type = operands.output.type;
        for (int i = 0; i < 2 && input < operands.inputs.size(); ++i)
            detail::add_operand(copy, detail::shape_of(operands.inputs[input]));
    }
    if (n.is_autograd_function || n.kind == op::attention) return;
    if (const fused_kernel* const experts = experts_of(node); experts != nullptr)
        if (const auto list = expert_gradient_kernels(n, operands, input, *experts)) return add_kernels(*list);
    const operation_kernels& rule = kernels_of(n.kind);
    switch (rule.forward) {
        case torch_kernel_kind::product:
        case torch_kernel_kind::batched_product: return add_product_gradient(node, input);
        case torch_kernel_kind::convolution: return add_convolution_gradient(node, input);
        default: break;
    }
    const bool has_operand = input < operands.inputs.size();
    // an input of another type than the result: its gradient is cast (autograd's `ToCopyBackward`, type promotion)
    if (has_operand && computed_bytes != gradient_bytes && operands.inputs[input].numel == operands.output.numel &&
        operands.inputs[input].type != operands.output.type)
        return add_gradient_cast(node, input, n.output_bytes, n.inputs[input].bytes);
    const bool is_parameter = n.inputs[input].parameter >= 0;
    const std::uint64_t full = std::max(computed_bytes, n.inputs[input].bytes);
    if (n.kind == op::gather && is_parameter) {  // Embedding.cu, `embedding_dense_backward_cuda`: zeros, then rows
        torch_kernel& zeros = add("aten::fill_", torch_kernel_kind::fill, 0, full);
        zeros.type = operands.output.type;
        if (has_operand) detail::add_operand(zeros, detail::shape_of(operands.inputs[input]));
        torch_kernel& k = add("aten::embedding_dense_backward", torch_kernel_kind::embedding_backward, n.output_bytes,
                              n.output_bytes);
        k.type = operands.output.type;
        detail::set_rows(k, operands.output);
        shape indices = detail::shape_of(operands.output);
        detail::add_operand(k, indices);
        indices.rank = std::max(indices.rank - 1, 0);
        detail::add_operand(k, indices);
        return;
    }
    if (rule.is_joint && has_joint_backward_) return;
    has_joint_backward_ = true;
    const bool is_strided =
        rule.forward == torch_kernel_kind::elementwise &&
        detail::elementwise_kind(operands.inputs, operands.output) == torch_kernel_kind::elementwise_strided;
    const shape gradient = has_operand ? detail::shape_of(operands.inputs[input]) : shape{};
    const dtype type = has_operand ? operands.inputs[input].type : operands.output.type;
    for (const gradient_kernel& g : rule.backward) {
        if (*g.name == 0) break;
        const std::uint64_t size = rule.is_joint ? n.output_bytes : full;
        torch_kernel& k = add(g.name, g.kind, static_cast<std::uint64_t>(g.reads) * size, size);
        k.type = type;
        if (g.kind == torch_kernel_kind::batch_norm_backward) {
            if (operands.output.type == dtype::bfloat16) k.name = "aten::native_batch_norm_backward";
            detail::set_channels(k, operands.inputs.front(), n.kind == op::instance_norm_affine);
            // input, gradient, and five tensors of a value per channel; cuDNN's reserve space is empty
            constexpr int num_channel_tensors = 5;
            for (int i = 0; i < 2; ++i) detail::add_operand(k, gradient);
            for (int i = 0; i < num_channel_tensors; ++i)
                detail::add_operand(k, shape(gradient.rank > 1 ? gradient.size[1] : 1));
            if (operands.output.type != dtype::bfloat16) detail::add_operand(k, shape(0));
            continue;
        }
        if (n.kind == op::clamp && n.in_place) {  // `relu6_` is `hardtanh_`
            k.name = "aten::hardtanh_backward";
            k.bytes_read = 2 * size;
            detail::add_operand(k, gradient);
            break;
        }
        const bool is_square = n.kind == op::integer_power && operands.work == count(operands.output.numel);
        if (is_square && &g == rule.backward) {  // x^1 is a copy
            k.name = "aten::copy_";
            k.kind = torch_kernel_kind::copy_contiguous;
        } else if (g.reads == 0 && g.kind == torch_kernel_kind::elementwise) {  // of an expanded gradient
            k.kind = torch_kernel_kind::elementwise_strided;
        } else if (g.kind == torch_kernel_kind::elementwise) {
            if (n.kind == op::copy)
                k.kind = type != operands.output.type ? torch_kernel_kind::elementwise_cast : torch_kernel_kind::copy;
            else if (is_strided)
                k.kind = torch_kernel_kind::elementwise_strided;
        }
        detail::set_rows(k, operands.output);
        if (g.kind == torch_kernel_kind::pooling_backward)  // gradient, input, indices
            for (const shape& s : {detail::shape_of(operands.output), gradient, detail::shape_of(operands.output)})
                detail::add_operand(k, s);
        else if (g.kind == torch_kernel_kind::layer_norm_backward)
            detail::set_layer_norm_operands(k, operands);
        else if (rule.is_joint || g.reads == 0)
            detail::add_operand(k, rule.is_joint ? detail::shape_of(operands.output) : gradient);
        else
            set_gradient_operands(k, node, input, g.reads);
    }
    if (computed_bytes > gradient_bytes && gradient_bytes > 0) {
        torch_kernel& sum = add("aten::sum", torch_kernel_kind::column_reduction, computed_bytes, gradient_bytes);
        sum.type = type;
        const std::uint64_t element = std::max<std::uint64_t>(static_cast<std::uint64_t>(bits_of(type)) / 8, 1);
        sum.columns = static_cast<std::int64_t>(gradient_bytes / element);
        sum.rows = static_cast<std::int64_t>(computed_bytes / std::max<std::uint64_t>(gradient_bytes, 1));
        detail::add_operand(sum, detail::shape_of(operands.output));
        const int last = gradient.rank - 1;
        if (last >= 0 && gradient.size[last] == 1 && operands.output.dim(-1) > 1) {
            sum.kind = torch_kernel_kind::row_reduction;
            std::swap(sum.rows, sum.columns);
        }
    }
}

LLMCOST_INLINE void kernel_listener::set_gradient_operands(torch_kernel& k, std::int32_t node, std::size_t input,
                                                           int reads) {
    const tape_node& n = node_at(node);
    const tape_operands& operands = operands_at(node);
    const shape output = detail::shape_of(operands.output);
    if (std::string_view(k.name) == "aten::copy_") {
        const bool has_operand = input < operands.inputs.size();
        for (int i = 0; i < 2; ++i)
            detail::add_operand(k, has_operand ? detail::shape_of(operands.inputs[input]) : output);
        return;
    }
    detail::add_operand(k, output);
    if (reads < 2) return;
    const bool is_product = n.kind == op::mul || n.kind == op::div;
    if (!is_product) return detail::add_operand(k, output);
    // derivatives.yaml, `mul.Tensor`, `div.Tensor`: the gradient and the other operand, which may be a number
    const std::uint64_t gradient_bytes = k.bytes_read / 2;
    k.bytes_read = gradient_bytes;
    if (operands.inputs.size() < 2 || input > 1) return;
    const tensor& other = operands.inputs[1 - input];
    k.bytes_read += detail::unique_bytes(other);
    detail::add_operand(k, detail::shape_of(other));
    tensor gradient = operands.output;
    gradient.make_contiguous_strides();
    k.kind = detail::elementwise_kind({gradient, other}, gradient);
}

LLMCOST_INLINE void kernel_listener::on_gradient_sum(const gradient_sum& sum) {
    torch_kernel& k =
        add(sum.is_in_place ? "aten::add_" : "aten::add", torch_kernel_kind::elementwise, 2 * sum.bytes, sum.bytes);
    k.type = detail::float_type_of(sum.element_bits);
    shape sizes(static_cast<std::int64_t>(sum.bytes * 8 / std::max<std::uint64_t>(sum.element_bits, 1)));
    if (sum.parameter >= 0) {
        sizes.rank = 0;
        for (const std::int64_t n : tape_.parameters[static_cast<std::size_t>(sum.parameter)].sizes)
            if (sizes.rank < max_rank) sizes.size[sizes.rank++] = n;
    }
    const std::int32_t producer = sum.tensor >= 0 ? tape_.tensors[static_cast<std::size_t>(sum.tensor)].producer : -1;
    if (producer >= 0) {
        const tensor& summed = operands_at(producer).output;
        if (summed.numel * static_cast<std::uint64_t>(bits_of(summed.type)) / 8 == sum.bytes) {
            sizes = detail::shape_of(summed);
            k.type = summed.type;
        }
    }
    for (int i = 0; i < 2; ++i) detail::add_operand(k, sizes);
}

LLMCOST_INLINE void kernel_listener::on_view_gradients(const std::vector<std::uint64_t>& view_bytes,
                                                       std::uint64_t tensor_bytes, std::uint64_t element_bits,
                                                       bool is_sliced) {
    const dtype type = detail::float_type_of(element_bits);
    if (!is_sliced) {
        add("aten::cat", torch_kernel_kind::cat, tensor_bytes, tensor_bytes).type = type;
        return;
    }
    for (std::size_t i = 0; i < view_bytes.size(); ++i) {
        add("aten::fill_", torch_kernel_kind::fill, 0, tensor_bytes).type = type;
        add("aten::copy_", torch_kernel_kind::copy, view_bytes[i], view_bytes[i]).type = type;
        if (i > 0) on_gradient_sum({.bytes = tensor_bytes, .element_bits = element_bits});
    }
}

LLMCOST_INLINE void kernel_listener::on_parameter_gradient(std::int32_t parameter, bool is_accumulated) {
    const tape_parameter& p = tape_.parameters[static_cast<std::size_t>(parameter)];
    if (!is_accumulated) return;
    torch_kernel& k = add("aten::add_", torch_kernel_kind::elementwise, 2 * p.bytes, p.bytes);
    k.is_accumulation = true;
    k.type = detail::float_type_of(8 * p.bytes / std::max<std::uint64_t>(p.elements, 1));
}

LLMCOST_INLINE void kernel_listener::on_optimizer_step(const std::vector<tape_parameter>& parameters) {
    phase_ = step_phase::optimizer;
    node_ = -1;
    const std::vector<torch_kernel> step = optimizer_step_kernels(*plan_.optimizer, plan_.galore_rank, parameters);
    kernels.insert(kernels.end(), step.begin(), step.end());
}

LLMCOST_INLINE std::vector<torch_kernel> training_kernels(const model& m, const workload& load, training_plan plan) {
    const recorded_training recorded = record_training(m, load, std::move(plan), true);
    kernel_listener listener(recorded.pass, recorded.plan.schedule);
    (void)replay_training(recorded.pass, recorded.plan.schedule, &listener);
    detail::set_operations(recorded.pass, listener.kernels);
    return std::move(listener.kernels);
}

LLMCOST_INLINE std::vector<torch_kernel> forward_kernels(const model& m, const workload& load) {
    tape pass;
    detail::tape_listener recorded{pass, {.records_operands = true}};
    workload typed = with_storage_types(load, storage_types_of(m, load));
    typed.uses_workload_dtypes = true;
    trace t{typed, &recorded};
    (void)m.forward(t);
    const training_schedule schedule;
    kernel_listener listener(pass, schedule, true);
    for (std::size_t i = 0; i < pass.nodes.size(); ++i) listener.on_forward(static_cast<std::int32_t>(i), false);
    detail::set_operations(pass, listener.kernels);
    return std::move(listener.kernels);
}

}  // namespace llmcost
