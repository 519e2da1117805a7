// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/tensor_ops.hpp>

namespace llmcost {

/// The part of a trace that goes over places of (batch, channels, places…): norms by channels, pooling, resampling.
class image_calls : public tensor_ops {
public:
    using tensor_ops::tensor_ops;

    /// `F.batch_norm` over (batch, channels, …), whose rows are the channels: in evaluation with weight and bias, or
    /// without either by statistics of its own (`training=True`).
    constexpr tensor batch_norm(const tensor& a, bool affine = true) {
        return batch_norm(affine ? op::batch_norm_affine : op::batch_norm, a);
    }
    /// The same of any of its kinds.
    constexpr tensor batch_norm(op kind, const tensor& a) {
        add_written_elements(2 *
                             static_cast<std::uint64_t>(a.dim(1)));  // mean and reciprocal deviation of every channel
        tensor out = contiguous_like(a);
        record_unary(kind, count(a.numel), count(static_cast<std::uint64_t>(a.dim(1))), out, a);
        return out;
    }
    /// `F.instance_norm` over (batch, channels, …): a batch norm whose channels are those of each image, weight and
    /// bias (none: without) repeated for every image; `mean` and `variance`, where they are given, as well.
    ///
    /// Source: ATen's Normalization.cpp, `instance_norm`.
    constexpr tensor instance_norm(const tensor& a, const tensor* weight, const tensor* bias,
                                   const tensor* mean = nullptr, const tensor* variance = nullptr) {
        const tensor* const of_one[]{weight, bias, mean, variance};
        tensor of_all[4];
        for (int i = 0; i < 4; ++i)
            if (of_one[i] != nullptr) of_all[i] = copy(of_one[i]->expand({a.dim(0), a.dim(1)}));
        for (int i = 0; i < 4; ++i) {
            if (of_one[i] == nullptr) continue;
            read_parameter_in_next_op(of_all[i]);
            if (!a.requires_grad || of_one[i] == bias) continue;
            of_all[i].requires_grad = true;
            save_for_backward(of_all[i]);  // all but the bias
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
    /// `F.max_pool2d`, `F.avg_pool2d` and their relatives over (batch, channels, places…); `ceil` lets the last window
    /// reach beyond, if it begins inside.
    constexpr tensor pool(op kind, const tensor& a, const shape& kernel, const shape& stride, const shape& padding = 0,
                          bool ceil = false, const shape& dilation = 1) {
        shape to{a.dim(0), a.dim(1)};
        count window(1);
        for (int i = 2; i < a.rank; ++i) {
            const std::int64_t k = kernel.at_or_uniform(i - 2), step = stride.at_or_uniform(i - 2),
                               pad_size = padding.at_or_uniform(i - 2);
            const std::int64_t steps =
                a.size[i] + 2 * pad_size - dilation.at_or_uniform(i - 2) * (k - 1) - 1 + (ceil ? step - 1 : 0);
            if (steps < 0 || step < 1)
                throw_description_error("pool: the window is larger than its input, or has no stride");
            std::int64_t n = steps / step + 1;
            if (ceil && (n - 1) * step >= a.size[i] + pad_size) --n;
            to.size[to.rank++] = n;
            window *= count(k);
        }
        const bool of_places = a.rank == 3;  // pooled as a row of pixels (ATen's Pool.cpp, `avg_pool1d`)
        const tensor reference = of_places ? a.unsqueeze(2) : a;
        if (of_places) to = {to.size[0], to.size[1], 1, to.size[2]};
        tensor out = empty_tensor(to, a.type);
        if (reference.is_channels_last()) out.make_channels_last_strides();
        record_unary(kind, count(out.numel) * window, count(out.numel), out, a);
        return of_places ? out.squeeze(2) : out;
    }
    /// `F.adaptive_avg_pool2d` and its relatives to these sides (0: as they are), each of a window of the input's
    /// share; to one element it is a mean.
    constexpr tensor pool_to(op kind, const tensor& a, const shape& sides) {
        shape to{a.dim(0), a.dim(1)};
        bool whole = kind == op::average_pool;
        for (int i = 2; i < a.rank; ++i) {
            to.size[to.rank++] = sides.at_or_uniform(i - 2) > 0 ? sides.at_or_uniform(i - 2) : a.size[i];
            whole = whole && to.size[i] == 1;
        }
        tensor out = empty_tensor(to, a.type);
        const count window(out.numel == 0 ? 0 : a.numel / out.numel);
        record_unary(whole ? op::mean : kind, whole ? count(a.numel) : count(out.numel) * window, count(out.numel), out,
                     a);
        return out;
    }
    /// Means of images, (batch, channels, height, width) -> (batch, channels): `mean([-2, -1])`, pooling to one
    /// element.
    constexpr tensor mean_of_images(const tensor& a) {
        tensor out = empty_tensor({a.dim(0), a.dim(1)}, a.type);
        record_unary(op::mean, count(a.numel), count(out.numel), out, a);
        return out;
    }
    /// `F.interpolate(mode="bilinear")` of (batch, channels, height, width): four products for each element it makes.
    constexpr tensor bilinear(const tensor& a, std::int64_t rows, std::int64_t columns) {
        return resample(op::bilinear, a, {rows, columns});
    }
    /// The same of any kind, over (batch, channels, places…); `op::gather` is that of the nearest.
    constexpr tensor resample(op kind, const tensor& a, const shape& places) {
        shape to{a.dim(0), a.dim(1)};
        for (int i = 2; i < a.rank; ++i) to.size[to.rank++] = places.size[i - 2];
        tensor out = empty_tensor(to, a.type);
        if (a.is_channels_last()) out.make_channels_last_strides();
        record_unary(kind, count(out.numel), {}, out, a);
        return out;
    }
    /// `torch.linalg.vector_norm` over the places of (batch, height, width, channels), which are kept as one.
    constexpr tensor norm_over_places(const tensor& a) {
        tensor out = empty_tensor({a.dim(0), 1, 1, a.dim(3)}, a.type);
        record_unary(op::vector_norm, count(a.numel), count(out.numel), out, a);
        return out;
    }
    /// `F.group_norm` over (batch, channels, …), with weight and bias or without: each group of channels is a row.
    constexpr tensor group_norm(const tensor& a, std::int64_t groups, bool affine = true) {
        const std::uint64_t rows = static_cast<std::uint64_t>(a.dim(0) * groups);
        add_written_elements(2 * rows);
        tensor out = contiguous_like(a);
        record_unary(affine ? op::group_norm_affine : op::group_norm, count(a.numel), count(rows), out, a);
        // its backward sums each channel of an image first, and these by groups
        const count sums = count(static_cast<std::uint64_t>(a.dim(0) * a.dim(1)));
        if (out.requires_grad)
            add_backward_cost({.add = sums * count(affine ? 3 : 0), .mult = sums * count(affine ? 5 : 1)});
        return out;
    }
    /// `F.pad` of images with zeros on all sides: so many rows and columns more; none is a copy all the same.
    constexpr tensor pad_images(const tensor& a, std::int64_t rows, std::int64_t columns) {
        tensor out = empty_tensor({a.dim(0), a.dim(1), a.dim(2) + rows, a.dim(3) + columns}, a.type);
        record_unary(op::copy, {}, {}, out, a);
        return out;
    }
    /// `F.avg_pool2d`, `F.max_pool2d` with a window over that many rows of one column, one behind the other; the last
    /// may reach beyond.
    constexpr tensor pool_rows(op kind, const tensor& x, std::int64_t kernel) {
        tensor out = empty_tensor({x.dim(0), x.dim(1), (x.dim(2) + kernel - 1) / kernel, x.dim(3)}, x.type);
        record_unary(kind, count(out.numel) * count(kernel), count(out.numel), out, x);
        return out;
    }
    /// `F.glu`: one half of the channels times the sigmoid of the other.
    constexpr tensor glu(const tensor& a, int dim) {
        const int d = a.normalize_dim(dim);
        if (a.size[d] % 2 != 0) throw_description_error("glu: no two halves");
        tensor out = a;
        out.size[d] /= 2;
        out = dense_like(out);
        record_unary(op::glu, count(out.numel), {}, out, a);
        return out;
    }
    /// `torch._weight_norm` over the last dimension: `v * (g / |v|)` with a norm for each of its places, which are
    /// written, and kept, too.
    constexpr tensor weight_norm(const tensor& v, const tensor& g) {
        const tensor* const in[2] = {&v, &g};
        tensor out = contiguous_like(v);
        const auto rows = static_cast<std::uint64_t>(v.dim(-1));
        record_op(op::weight_norm, count(v.numel), count(rows), out, in, 2);
        tensor norms = full({v.dim(-1)}, v.type);
        norms.requires_grad = out.requires_grad;
        save_for_backward(norms);
        return out;
    }
};

}  // namespace llmcost
