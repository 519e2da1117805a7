// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/custom/layer_table.hpp>

#include <cstdint>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/custom/arguments.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/layers/multihead_attention.hpp>
#include <llmcost/layers/rotary.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::custom::layer {

LLMCOST_INLINE void embedding(trace& t, const arguments& a, const operands& x) {
    shape ids;
    for (int i = 0; i < x[0].rank; ++i) ids.size[ids.rank++] = x[0].size[i];
    *x.out = llmcost::embedding{a[0], a[1], false, {}, a[2] != 0, are_made(x[0])}.forward(t, ids);
}

LLMCOST_INLINE void batch_norm(trace& t, const arguments& a, const operands& x) {
    if (x[0].dim(1) != a[0]) throw_description_error("num_features does not match the number of channels of the input");
    const bool affine = a[1] != 0;
    if (affine) {
        t.read_parameter_in_next_op(t.param("weight", {a[0]}));
        t.read_parameter_in_next_op(t.param("bias", {a[0]}));
    }
    const bool tracks = a[2] != 0;
    if (tracks) t.register_buffer(count(static_cast<std::uint64_t>(2 * a[0] * 4 + 8)));
    *x.out = t.batch_norm(tracks   ? affine ? op::batch_norm_affine : op::batch_norm_with_stats
                          : affine ? op::instance_norm_affine
                                   : op::batch_norm,
                          x[0]);
}

LLMCOST_INLINE void instance_norm(trace& t, const arguments& a, const operands& x) {
    if (x[0].rank < 3 || x[0].dim(1) != a[0])
        throw_description_error("num_features does not match the number of channels of the input");
    const bool affine = a[1] != 0, tracks = a[2] != 0;
    const tensor weight = affine ? t.param("weight", {a[0]}) : tensor{},
                 bias = affine ? t.param("bias", {a[0]}) : tensor{};
    if (tracks) t.register_buffer(count(static_cast<std::uint64_t>(2 * a[0] * 4 + 8)));
    const tensor statistic = trace::buffer({a[0]});
    *x.out = t.instance_norm(x[0], affine ? &weight : nullptr, affine ? &bias : nullptr, tracks ? &statistic : nullptr,
                             tracks ? &statistic : nullptr);
}

LLMCOST_INLINE void group_norm(trace& t, const arguments& a, const operands& x) {
    if (x[0].dim(1) != a[1] || a[1] % a[0] != 0)
        throw_description_error(
            "num_channels must be the number of channels of the input and a multiple of num_groups");
    const bool affine = a[2] != 0;
    if (affine) {
        t.read_parameter_in_next_op(t.param("weight", {a[1]}));
        t.read_parameter_in_next_op(t.param("bias", {a[1]}));
    }
    *x.out = t.group_norm(x[0], a[0], affine);
}

LLMCOST_INLINE void layer_norm(trace& t, const arguments& a, const operands& x) {
    const shape sizes = a.shape_argument(0);
    bool is_compatible = sizes.rank <= x[0].rank;
    for (int i = 0; is_compatible && i < sizes.rank; ++i) is_compatible = sizes.size[i] == x[0].dim(i - sizes.rank);
    if (!is_compatible) throw_description_error("normalized_shape does not match the last dimensions of the input");
    const bool weighted = a[1] != 0, biased = weighted && a[2] != 0;
    if (weighted) t.read_parameter_in_next_op(t.param("weight", sizes));
    if (biased) t.read_parameter_in_next_op(t.param("bias", sizes));
    *x.out = t.layer_norm(x[0], (weighted ? 1 : 0) + (biased ? 1 : 0), sizes.rank);
}

LLMCOST_INLINE void torch_rms_norm(trace& t, const arguments& a, const operands& x) {
    if (a[0] != x[0].dim(-1))
        throw_description_error("normalized_shape does not match the last dimension of the input");
    const tensor h = t.to(x[0], dtype::float32);
    tensor mean_square = t.mean(t.pow(h, 2), -1, true);
    t.apply_inplace(op::add, mean_square);
    tensor out = t.mul(h, t.rsqrt(mean_square));
    if (a[1] != 0) out = t.mul(out, t.param("weight", {a[0]}));
    *x.out = t.to(out, x[0].type);
}

LLMCOST_INLINE void layer_norm_of_images(trace& t, const arguments& a, const operands& x) {
    const tensor last = x[0].permute({0, 2, 3, 1});
    t.read_parameter_in_next_op(t.param("weight", {a[0]}));
    t.read_parameter_in_next_op(t.param("bias", {a[0]}));
    *x.out = t.layer_norm(last, 2).permute({0, 3, 1, 2});
}

LLMCOST_INLINE void leaky_relu(trace& t, const arguments& a, const operands& x) {
    *x.out = x[0];
    if (a[0] == 0) *x.out = t.unary(op::leaky_relu, x[0]);
    if (a[0] != 0) t.apply_inplace(op::leaky_relu, *x.out);
    if (x.out->requires_grad) t.save_for_backward(a[0] != 0 ? *x.out : x[0]);
}

LLMCOST_INLINE void softmax(trace& t, const arguments& a, const operands& x) {
    const int dim = x[0].normalize_dim(static_cast<int>(a[0]));
    *x.out = dim == x[0].rank - 1 ? t.softmax(x[0]) : t.softmax(x[0].transpose(dim, -1)).transpose(dim, -1);
}

LLMCOST_INLINE void flatten(trace& t, const arguments& a, const operands& x) {
    const int first = x[0].normalize_dim(static_cast<int>(a[0])), last = x[0].normalize_dim(static_cast<int>(a[1]));
    shape to;
    for (int i = 0; i < first; ++i) to.size[to.rank++] = x[0].size[i];
    std::int64_t all = 1;
    for (int i = first; i <= last; ++i)
        if (__builtin_mul_overflow(all, x[0].size[i], &all)) throw_overflow_error();
    to.size[to.rank++] = all;
    for (int i = last + 1; i < x[0].rank; ++i) to.size[to.rank++] = x[0].size[i];
    *x.out = t.reshape(x[0], to);
}

LLMCOST_INLINE void permute(trace&, const arguments& a, const operands& x) {
    const shape order = a.shape_argument(0);
    if (order.rank != x[0].rank) throw_description_error("expected each dimension once");
    tensor out = x[0];
    unsigned dim_mask = 0;
    for (int i = 0; i < order.rank; ++i) {
        const int source_dim = x[0].normalize_dim(static_cast<int>(order.size[i]));
        dim_mask |= 1U << static_cast<unsigned>(source_dim);
        out.size[i] = x[0].size[source_dim];
        out.stride[i] = x[0].stride[source_dim];
    }
    if (dim_mask != (1U << static_cast<unsigned>(order.rank)) - 1)
        throw_description_error("expected each dimension once");
    *x.out = out;
}

LLMCOST_INLINE void upsample(trace& t, const arguments& a, const operands& x) {
    constexpr op kinds[]{op::gather, op::bilinear, op::linear_1d, op::trilinear, op::bicubic};
    constexpr int dimensions[]{0, 4, 3, 5, 4};
    const auto mode = static_cast<std::size_t>(a[2]);
    if (x[0].rank < 3 || (dimensions[mode] != 0 && x[0].rank != dimensions[mode]))
        throw_description_error(
            "resampling reads batch, channels and places: one for linear, two for bilinear and bicubic, three for "
            "trilinear");
    const int places = x[0].rank - 2;
    shape to = a.has(0) ? a.expand_to_rank(0, places) : a.expand_to_rank(1, places);
    if (!a.has(0))
        for (int i = 0; i < places; ++i) to.size[i] *= x[0].size[i + 2];
    *x.out = t.resample(kinds[mode], x[0], to);
}

LLMCOST_INLINE void pixel_shuffle(trace& t, const arguments& a, const operands& x) {
    const std::int64_t r = a[0], channels = x[0].dim(1) / (r * r), rows = x[0].dim(2), columns = x[0].dim(3);
    if (x[0].dim(1) % (r * r) != 0) throw_description_error("upscale_factor² must divide the channels");
    const tensor reshaped = t.reshape(x[0], {x[0].dim(0), channels, r, r, rows, columns});
    *x.out = t.reshape(reshaped.permute({0, 1, 4, 2, 5, 3}), {x[0].dim(0), channels, rows * r, columns * r});
}

LLMCOST_INLINE void pixel_unshuffle(trace& t, const arguments& a, const operands& x) {
    const std::int64_t r = a[0], rows = x[0].dim(2) / r, columns = x[0].dim(3) / r;
    if (x[0].dim(2) % r != 0 || x[0].dim(3) % r != 0)
        throw_description_error("downscale_factor must divide height and width");
    const tensor reshaped = t.reshape(x[0], {x[0].dim(0), x[0].dim(1), rows, r, columns, r});
    *x.out = t.reshape(reshaped.permute({0, 1, 3, 5, 2, 4}), {x[0].dim(0), x[0].dim(1) * r * r, rows, columns});
}

LLMCOST_INLINE void channel_shuffle(trace& t, const arguments& a, const operands& x) {
    const std::int64_t groups = a[0], channels_per_group = x[0].dim(1) / groups;
    if (x[0].dim(1) % groups != 0) throw_description_error("groups must divide the channels");
    const tensor reshaped =
        x[0].view({x[0].dim(0), groups, channels_per_group, x[0].dim(2), x[0].dim(3)}).transpose(1, 2);
    *x.out = t.reshape(reshaped, {x[0].dim(0), x[0].dim(1), x[0].dim(2), x[0].dim(3)});
}

LLMCOST_INLINE void multihead_attention(trace& t, const arguments& a, const operands& x) {
    if (a[0] % a[1] != 0) throw_description_error("num_heads must divide embed_dim");
    const llmcost::multihead_attention attention{a[0], a[1], a[4] != 0};
    *x.out = x.count > 1 ? attention.forward(t, x[0], x[1]) : attention.forward(t, x[0]);
}

LLMCOST_INLINE void rotary_embedding(trace& t, const arguments& a, const operands& x) {
    const rotary_frequencies frequencies{model_config{}};
    const tensor_pair made = rotary_table{a[0], {}, frequencies}.forward(t, t.load().sequence);
    x.out[0] = made.first;
    x.out[1] = made.second;
}

}  // namespace llmcost::custom::layer
