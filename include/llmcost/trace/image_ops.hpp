// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/tensor_ops.hpp>
#include <llmcost/trace/trace_class.hpp>

// Operations of `trace` on (batch, channels, spatial dimensions…): norms over channels, pooling, resampling.
namespace llmcost {

constexpr tensor trace::batch_norm(const tensor& a, bool affine) {
    return batch_norm(affine ? op::batch_norm_affine : op::batch_norm, a);
}

constexpr tensor trace::batch_norm(op kind, const tensor& a) {
    add_written_elements(2 *
                         // mean and reciprocal standard deviation of each channel
                         static_cast<std::uint64_t>(a.dim(1)));
    tensor out = contiguous_like(a);
    record_unary(kind, count(a.numel), count(static_cast<std::uint64_t>(a.dim(1))), out, a);
    return out;
}

constexpr tensor trace::instance_norm(const tensor& a, const tensor* weight, const tensor* bias, const tensor* mean,
                                      const tensor* variance) {
    const tensor* const of_one[]{weight, bias, mean, variance};
    tensor of_all[4];
    for (int i = 0; i < 4; ++i)
        if (of_one[i] != nullptr) of_all[i] = copy(of_one[i]->expand({a.dim(0), a.dim(1)}));
    for (int i = 0; i < 4; ++i) {
        if (of_one[i] == nullptr) continue;
        read_parameter_in_next_op(of_all[i]);
        if (!a.requires_grad || of_one[i] == bias) continue;
        of_all[i].requires_grad = true;
        save_for_backward(of_all[i]);  // all except the bias
    }
    shape to{1, a.dim(0) * a.dim(1)};
    for (int i = 2; i < a.rank; ++i) to.size[to.rank++] = a.size[i];
    const tensor x = contiguous(a).view(to);
    shape original_shape{a.dim(0), a.dim(1)};
    for (int i = 2; i < a.rank; ++i) original_shape.size[original_shape.rank++] = a.size[i];
    const op norm_op = weight != nullptr ? op::instance_norm_affine : op::batch_norm;
    return batch_norm(mean == nullptr     ? norm_op
                      : weight != nullptr ? op::batch_norm_affine
                                          : op::batch_norm_with_stats,
                      x)
        .view(original_shape);
}

constexpr tensor trace::pool(op kind, const tensor& a, const shape& kernel, const shape& stride, const shape& padding,
                             bool ceil, const shape& dilation) {
    shape to{a.dim(0), a.dim(1)};
    count window(1);
    for (int i = 2; i < a.rank; ++i) {
        const std::int64_t k = kernel.at_or_uniform(i - 2), step = stride.at_or_uniform(i - 2),
                           pad_size = padding.at_or_uniform(i - 2);
        const std::int64_t steps =
            a.size[i] + 2 * pad_size - dilation.at_or_uniform(i - 2) * (k - 1) - 1 + (ceil ? step - 1 : 0);
        if (steps < 0 || step < 1)
            throw_description_error("pool: the window is larger than the input, or the stride is 0");
        std::int64_t n = steps / step + 1;
        if (ceil && (n - 1) * step >= a.size[i] + pad_size) --n;
        to.size[to.rank++] = n;
        window *= count(k);
    }
    const bool of_places = a.rank == 3;  // pooled as an image of height 1 (ATen's Pool.cpp, `avg_pool1d`)
    const tensor reference = of_places ? a.unsqueeze(2) : a;
    if (of_places) to = {to.size[0], to.size[1], 1, to.size[2]};
    tensor out = empty_tensor(to, a.type);
    if (reference.is_channels_last()) out.make_channels_last_strides();
    // derivatives.yaml, `max_pool2d_with_indices`: 64-bit indices, which CPU recordings of floating tensors leave out
    if (kind == op::max_pool && load().cuda_capability > 0 && a.requires_grad)
        save_integers_for_backward(count(out.numel));
    record_unary(kind, count(out.numel) * window, count(out.numel), out, a);
    return of_places ? out.squeeze(2) : out;
}

constexpr tensor trace::pool_to(op kind, const tensor& a, const shape& sides) {
    shape to{a.dim(0), a.dim(1)};
    bool is_global_mean = kind == op::average_pool;
    for (int i = 2; i < a.rank; ++i) {
        to.size[to.rank++] = sides.at_or_uniform(i - 2) > 0 ? sides.at_or_uniform(i - 2) : a.size[i];
        is_global_mean = is_global_mean && to.size[i] == 1;
    }
    tensor out = empty_tensor(to, a.type);
    const count window(out.numel == 0 ? 0 : a.numel / out.numel);
    record_unary(is_global_mean ? op::mean : kind, is_global_mean ? count(a.numel) : count(out.numel) * window,
                 count(out.numel), out, a);
    return out;
}

constexpr tensor trace::mean_of_images(const tensor& a) {
    tensor out = empty_tensor({a.dim(0), a.dim(1)}, a.type);
    record_unary(op::mean, count(a.numel), count(out.numel), out, a);
    return out;
}

constexpr tensor trace::bilinear(const tensor& a, std::int64_t rows, std::int64_t columns) {
    return resample(op::bilinear, a, {rows, columns});
}

constexpr tensor trace::resample(op kind, const tensor& a, const shape& places) {
    shape to{a.dim(0), a.dim(1)};
    for (int i = 2; i < a.rank; ++i) to.size[to.rank++] = places.size[i - 2];
    tensor out = empty_tensor(to, a.type);
    if (a.is_channels_last()) out.make_channels_last_strides();
    record_unary(kind, count(out.numel), {}, out, a);
    return out;
}

constexpr tensor trace::norm_over_places(const tensor& a) {
    const bool converts = load().has_cuda_autocast() && bits_of(a.type) < 32;
    tensor out = empty_tensor({a.dim(0), 1, 1, a.dim(3)}, converts ? dtype::float32 : a.type);
    record_unary(op::vector_norm, count(a.numel), count(out.numel), out, a);
    return out;
}

constexpr tensor trace::group_norm(const tensor& a, std::int64_t groups, bool affine) {
    if (needs_float32(op::group_norm, a)) return group_norm(to(a, dtype::float32), groups, affine);
    const std::uint64_t rows = static_cast<std::uint64_t>(a.dim(0) * groups);
    add_written_elements(2 * rows);
    tensor out = contiguous_like(a);
    record_unary(affine ? op::group_norm_affine : op::group_norm, count(a.numel), count(rows), out, a);
    // the backward sums over each channel of an image first, then over groups
    const count sums = count(static_cast<std::uint64_t>(a.dim(0) * a.dim(1)));
    if (out.requires_grad)
        add_backward_cost({.add = sums * count(affine ? 3 : 0), .mult = sums * count(affine ? 5 : 1)});
    return out;
}

constexpr tensor trace::pad_images(const tensor& a, std::int64_t rows, std::int64_t columns) {
    tensor out = empty_tensor({a.dim(0), a.dim(1), a.dim(2) + rows, a.dim(3) + columns}, a.type);
    record_unary(op::copy, {}, {}, out, a);
    return out;
}

constexpr tensor trace::pool_rows(op kind, const tensor& x, std::int64_t kernel) {
    tensor out = empty_tensor({x.dim(0), x.dim(1), (x.dim(2) + kernel - 1) / kernel, x.dim(3)}, x.type);
    record_unary(kind, count(out.numel) * count(kernel), count(out.numel), out, x);
    return out;
}

constexpr tensor trace::glu(const tensor& a, int dim) {
    const int d = a.normalize_dim(dim);
    if (a.size[d] % 2 != 0) throw_description_error("glu: the size of the dimension is odd");
    tensor out = a;
    out.size[d] /= 2;
    out = dense_like(out);
    record_unary(op::glu, count(out.numel), {}, out, a);
    return out;
}

constexpr tensor trace::weight_norm(const tensor& v, const tensor& g) {
    const tensor* const in[2] = {&v, &g};
    tensor out = contiguous_like(v);
    const auto rows = static_cast<std::uint64_t>(v.dim(-1));
    recorder_.record_op(op::weight_norm, count(v.numel), count(rows), out, in, 2);
    tensor norms = full({v.dim(-1)}, v.type);
    norms.requires_grad = out.requires_grad;
    save_for_backward(norms);
    return out;
}

}  // namespace llmcost
