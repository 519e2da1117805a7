// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/eager_listener.hpp>

#include <algorithm>
#include <cstdint>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/module_listener.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

LLMCOST_INLINE void eager_listener::on_fused_kernel_begin(const recorder& r, const fused_kernel& part) {
    if (fused_depth_ > 0) ++fused_depth_;
    if (fused_depth_ > 0 || !execution_.has_fused_attention || part.kind != fused_kernel_kind::attention ||
        !part.is_causal)
        return;
    fused_depth_ = 1;
    num_runs_ = as_size(r.multiplier());
    emit(path_, "context_attention",
         {part.batch, part.num_queries, part.heads, part.kv_heads, part.head_dim, part.window, part.past_length},
         execution_.prefill_attention_type, execution_.kv_cache_type->name);
}

LLMCOST_INLINE void eager_listener::on_op(const recorder& r, const operation& o) {
    last_elements_ = static_cast<std::int64_t>(o.output.numel);
    num_runs_ = as_size(r.multiplier());
    const bool shared = reads_only_parameters(o);
    mark(o, shared);
    if (o.kind == op::constant || o.output.numel == 0 || fused_depth_ > 0) return;
    const op_cost& price = op_cost_of(o.kind);
    const std::int64_t width = o.output.rank > 0 ? o.output.dim(-1) : 1, rows = last_elements_ / width;
    if (price.torch_flops != 0 && o.work > count(0) && !is_depthwise(o))
        add_gemm_kernel(o);
    else if (is_norm(o.kind) || is_softmax(o.kind))
        emit(path_, is_norm(o.kind) ? "norm" : "softmax", {rows, width}, execution_.unquantized_type());
    else
        add_elementwise_kernel(o, rows, width, shared);
}

LLMCOST_INLINE bool eager_listener::is_norm(op kind) noexcept {
    return kind == op::layer_norm || kind == op::layer_norm_weight || kind == op::layer_norm_affine ||
           kind == op::group_norm_affine;
}

LLMCOST_INLINE void eager_listener::add_elementwise_kernel(const operation& o, std::int64_t rows, std::int64_t width,
                                                           bool shared) {
    const op_cost& price = op_cost_of(o.kind);
    emit(path_, "elementwise",
         {rows, width, as_size(o.num_elements_read() + o.num_elements_written()),
          price.torch_flops != 0 ? 0 : as_size(additions_of(o)), price.torch_flops != 0 ? as_size(o.work) : 0},
         execution_.unquantized_type(), price.name);
    model_kernel& k = out_.back();
    if (shared) {
        std::copy_n(k.shape.sizes, max_operator_sizes, k.parameter_sizes);
    } else if (price.read == read_pattern::inputs) {
        count parameters;
        for (int i = 0; i < o.input_count; ++i)
            if (reads_only_parameters(*o.inputs[i])) parameters += count(o.inputs[i]->unique_numel());
        k.parameter_sizes[moved] = as_size(parameters);
    }
}

LLMCOST_INLINE void eager_listener::add_gemm_kernel(const operation& o) {
    const auto results = static_cast<std::int64_t>(o.output.numel);
    const auto k = static_cast<std::int64_t>((o.work / count(o.output.numel)).to_64());
    if (const tensor* weight = weight_of(o)) {
        const std::int64_t n = static_cast<std::int64_t>(weight->numel) / k;
        const bool convolves = o.kind == op::convolution || o.kind == op::convolution_bias;
        emit(
            path_, "gemm", {results / n, n, k},
            convolves && execution_.convolution_type != nullptr ? execution_.convolution_type : execution_.linear_type);
    } else {
        const std::int64_t n = o.output.dim(-1), m = o.output.rank > 1 ? o.output.dim(-2) : 1;
        emit(path_, "batched_gemm", {results / (m * n), m, n, k}, execution_.unquantized_type());
    }
}

}  // namespace llmcost::detail
