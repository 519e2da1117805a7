// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/tensor_calls.hpp>

namespace llmcost {

/// The part of a trace that goes over places of (batch, channels, places…): norms by channels, pooling, resampling.
class image_calls : public tensor_calls {
public:
    using tensor_calls::tensor_calls;

    /// `F.batch_norm` over (batch, channels, …), whose rows are the channels: in evaluation with weight and bias, or without
    /// either by statistics of its own (`training=True`).
    constexpr value batch_norm(const value& a, bool affine = true) {
        return batch_norm(affine ? op::batch_norm_affine : op::batch_norm, a);
    }
    /// The same of any of its kinds.
    constexpr value batch_norm(op kind, const value& a) {
        written(2 * static_cast<std::uint64_t>(a.dim(1)));  // mean and reciprocal deviation of every channel
        value out = contiguous_like(a);
        note(kind, count(a.elements), count(static_cast<std::uint64_t>(a.dim(1))), out, a);
        return out;
    }
    /// `F.instance_norm` over (batch, channels, …): a batch norm whose channels are those of each image, weight and bias
    /// (none: without) repeated for every image; `mean` and `variance`, where they are given, as well.
    ///
    /// Source: ATen's Normalization.cpp, `instance_norm`.
    constexpr value instance_norm(const value& a, const value* weight, const value* bias, const value* mean = nullptr,
                                  const value* variance = nullptr) {
        const value* const of_one[]{weight, bias, mean, variance};
        value of_all[4];
        for (int i = 0; i < 4; ++i)
            if (of_one[i] != nullptr) of_all[i] = copy(of_one[i]->expand({a.dim(0), a.dim(1)}));
        for (int i = 0; i < 4; ++i) {
            if (of_one[i] == nullptr) continue;
            beside(of_all[i]);
            if (!a.requires_grad || of_one[i] == bias) continue;
            of_all[i].requires_grad = true;
            save_for_backward(of_all[i]);  // all but the bias
        }
        extents to{1, a.dim(0) * a.dim(1)};
        for (int i = 2; i < a.rank; ++i) to.size[to.rank++] = a.size[i];
        const value x = contiguous(a).view(to);
        extents back{a.dim(0), a.dim(1)};
        for (int i = 2; i < a.rank; ++i) back.size[back.rank++] = a.size[i];
        const op own = weight != nullptr ? op::instance_norm_affine : op::batch_norm;
        return batch_norm(mean == nullptr     ? own
                          : weight != nullptr ? op::batch_norm_affine
                                              : op::batch_norm_given,
                          x)
            .view(back);
    }
    /// `F.max_pool2d`, `F.avg_pool2d` and their relatives over (batch, channels, places…); `ceil` lets the last window reach
    /// beyond, if it begins inside.
    constexpr value pool(op kind, const value& a, const extents& kernel, const extents& stride, const extents& padding = 0,
                         bool ceil = false, const extents& dilation = 1) {
        extents to{a.dim(0), a.dim(1)};
        count window(1);
        for (int i = 2; i < a.rank; ++i) {
            const std::int64_t k = kernel.each(i - 2), step = stride.each(i - 2), around = padding.each(i - 2);
            const std::int64_t steps = a.size[i] + 2 * around - dilation.each(i - 2) * (k - 1) - 1 + (ceil ? step - 1 : 0);
            if (steps < 0 || step < 1) report_description("pool: the window is larger than its input, or has no stride");
            std::int64_t n = steps / step + 1;
            if (ceil && (n - 1) * step >= a.size[i] + around) --n;
            to.size[to.rank++] = n;
            window *= count(k);
        }
        const bool of_places = a.rank == 3;  // pooled as a row of pixels (ATen's Pool.cpp, `avg_pool1d`)
        const value like = of_places ? a.unsqueeze(2) : a;
        if (of_places) to = {to.size[0], to.size[1], 1, to.size[2]};
        value out = dense(to, a.type);
        if (like.is_channels_last()) out.make_channels_last_strides();
        note(kind, count(out.elements) * window, count(out.elements), out, a);
        return of_places ? out.squeeze(2) : out;
    }
    /// `F.adaptive_avg_pool2d` and its relatives to these sides (0: as they are), each of a window of the input's share; to
    /// one element it is a mean.
    constexpr value pool_to(op kind, const value& a, const extents& sides) {
        extents to{a.dim(0), a.dim(1)};
        bool whole = kind == op::average_pool;
        for (int i = 2; i < a.rank; ++i) {
            to.size[to.rank++] = sides.each(i - 2) > 0 ? sides.each(i - 2) : a.size[i];
            whole = whole && to.size[i] == 1;
        }
        value out = dense(to, a.type);
        const count window(out.elements == 0 ? 0 : a.elements / out.elements);
        note(whole ? op::mean : kind, whole ? count(a.elements) : count(out.elements) * window, count(out.elements), out, a);
        return out;
    }
    /// Means of images, (batch, channels, height, width) -> (batch, channels): `mean([-2, -1])`, pooling to one element.
    constexpr value mean_of_images(const value& a) {
        value out = dense({a.dim(0), a.dim(1)}, a.type);
        note(op::mean, count(a.elements), count(out.elements), out, a);
        return out;
    }
    /// `F.interpolate(mode="bilinear")` of (batch, channels, height, width): four products for each element it makes.
    constexpr value bilinear(const value& a, std::int64_t rows, std::int64_t columns) {
        return resample(op::bilinear, a, {rows, columns});
    }
    /// The same of any kind, over (batch, channels, places…); `op::gather` is that of the nearest.
    constexpr value resample(op kind, const value& a, const extents& places) {
        extents to{a.dim(0), a.dim(1)};
        for (int i = 2; i < a.rank; ++i) to.size[to.rank++] = places.size[i - 2];
        value out = dense(to, a.type);
        if (a.is_channels_last()) out.make_channels_last_strides();
        note(kind, count(out.elements), {}, out, a);
        return out;
    }
    /// `torch.linalg.vector_norm` over the places of (batch, height, width, channels), which are kept as one.
    constexpr value norm_over_places(const value& a) {
        value out = dense({a.dim(0), 1, 1, a.dim(3)}, a.type);
        note(op::vector_norm, count(a.elements), count(out.elements), out, a);
        return out;
    }
    /// `F.group_norm` over (batch, channels, …), with weight and bias or without: each group of channels is a row.
    constexpr value group_norm(const value& a, std::int64_t groups, bool affine = true) {
        const std::uint64_t rows = static_cast<std::uint64_t>(a.dim(0) * groups);
        written(2 * rows);
        value out = contiguous_like(a);
        note(affine ? op::group_norm_affine : op::group_norm, count(a.elements), count(rows), out, a);
        // its backward sums each channel of an image first, and these by groups
        const count sums = count(static_cast<std::uint64_t>(a.dim(0) * a.dim(1)));
        if (out.requires_grad) backward({.add = sums * count(affine ? 3 : 0), .mult = sums * count(affine ? 5 : 1)});
        return out;
    }
    /// `F.pad` of images with zeros on all sides: so many rows and columns more; none is a copy all the same.
    constexpr value pad_images(const value& a, std::int64_t rows, std::int64_t columns) {
        value out = dense({a.dim(0), a.dim(1), a.dim(2) + rows, a.dim(3) + columns}, a.type);
        note(op::copy, {}, {}, out, a);
        return out;
    }
    /// `F.avg_pool2d`, `F.max_pool2d` with a window over that many rows of one column, one behind the other; the last may
    /// reach beyond.
    constexpr value pool_rows(op kind, const value& x, std::int64_t kernel) {
        value out = dense({x.dim(0), x.dim(1), (x.dim(2) + kernel - 1) / kernel, x.dim(3)}, x.type);
        note(kind, count(out.elements) * count(kernel), count(out.elements), out, x);
        return out;
    }
    /// `F.glu`: one half of the channels times the sigmoid of the other.
    constexpr value glu(const value& a, int along) {
        const int d = a.axis(along);
        if (a.size[d] % 2 != 0) report_description("glu: no two halves");
        value out = a;
        out.size[d] /= 2;
        out = dense_as(out);
        note(op::glu, count(out.elements), {}, out, a);
        return out;
    }
    /// `torch._weight_norm` over the last dimension: `v * (g / |v|)` with a norm for each of its places, which are written,
    /// and kept, too.
    constexpr value weight_norm(const value& v, const value& g) {
        const value* const in[2] = {&v, &g};
        value out = contiguous_like(v);
        const auto rows = static_cast<std::uint64_t>(v.dim(-1));
        record(op::weight_norm, count(v.elements), count(rows), out, in, 2);
        value norms = constant({v.dim(-1)}, v.type);
        norms.requires_grad = out.requires_grad;
        save_for_backward(norms);
        return out;
    }
};

}  // namespace llmcost
