// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/tensor_ops.hpp>
#include <llmcost/trace/trace_class.hpp>

// Products of `trace`: linear, matmul, convolutions, triangular solve.
//
// Autocast converts the last operand first, as the packages of PyTorch do: g++ compiled them, and their wrapper
// converts all operands in the arguments of one call. Source: ATen/autocast_mode.h, `WrapFunction_::call`.
namespace llmcost {

constexpr tensor trace::linear(const tensor& x, const tensor& weight, const tensor* bias) {
    if (needs_autocast(x, weight)) {
        const tensor b = bias != nullptr ? to_autocast_dtype(*bias) : tensor{};
        const tensor w = to_autocast_dtype(weight);
        return linear(to_autocast_dtype(x), w, bias != nullptr ? &b : nullptr);
    }
    const tensor* const in[2] = {&x, &weight};
    const function_call_guard call{recorder_, {torch_function::linear, in, 2, bias}};
    if (x.is_contiguous() && x.visible_pairs == 0) {
        if (bias != nullptr) read_parameter_in_next_op(*bias);
        return linear_contiguous(bias == nullptr ? op::matmul : op::matmul_bias, x, weight);
    }
    const tensor w = weight.transpose(0, 1);
    if (bias == nullptr) return matmul(x, w);
    if (x.rank == 2) return addmm(*bias, x, w);
    return add(matmul(x, w), *bias);
}

constexpr tensor trace::addmm(const tensor& bias, const tensor& a, const tensor& b) {
    if (needs_autocast(a, b)) {
        const tensor right = to_autocast_dtype(b), left = to_autocast_dtype(a);
        return addmm(to_autocast_dtype(bias), left, right);
    }
    const tensor* const in[2] = {&a, &b};
    const function_call_guard call{recorder_, {torch_function::addmm, in, 2, &bias}};
    read_parameter_in_next_op(bias);
    return mm(op::matmul_bias, a, b);
}

constexpr tensor trace::matmul(const tensor& a, const tensor& b, std::int64_t visible, torch_function function) {
    if (needs_autocast(a, b)) {
        const tensor right = to_autocast_dtype(b);
        return matmul(to_autocast_dtype(a), right, visible, function);
    }
    const tensor* const in[2] = {&a, &b};
    const function_call_guard call{recorder_, {function, in, 2}};
    if (a.rank == 2 && b.rank == 2) return mm(op::matmul, a, b);
    if (b.rank == 2 && can_fold_batch(a, b)) return unflatten_batch(mm(op::matmul, flatten_batch(a), b), a);
    if (a.rank == 2 && b.rank > 2 &&
        can_fold_batch(b.transpose(-2, -1), a)) {  // folded from the other side, then transposed by a copy
        const tensor b_transposed = b.transpose(-2, -1);
        return contiguous(unflatten_batch(mm(op::matmul, flatten_batch(b_transposed), a.transpose(0, 1)), b_transposed)
                              .transpose(-2, -1));
    }
    shape batch;
    batch.rank = (a.rank > b.rank ? a.rank : b.rank) - 2;
    for (int i = 0; i < batch.rank; ++i) {
        const int ia = i - batch.rank + a.rank - 2, ib = i - batch.rank + b.rank - 2;
        const std::int64_t na = ia >= 0 ? a.size[ia] : 1, nb = ib >= 0 ? b.size[ib] : 1;
        batch.size[i] = na == 1 ? nb : na;
    }
    const tensor x = expand_to_batch(a, batch), y = expand_to_batch(b, batch);
    const tensor out = bmm(op::batched_matmul, x, y, visible);
    shape to = batch;
    to.size[to.rank++] = a.dim(-2);
    to.size[to.rank++] = b.dim(-1);
    return out.view(to);
}

constexpr tensor trace::matmul_operator(const tensor& a, const tensor& b, std::int64_t visible) {
    return matmul(a, b, visible, torch_function::matmul_operator);
}

constexpr tensor trace::bmm(const tensor& a, const tensor& b) { return bmm(op::batched_matmul, a, b); }

constexpr tensor trace::bmm(op kind, const tensor& a, const tensor& b, std::int64_t visible, const tensor* bias) {
    const bool is_beta_zero = kind == op::batched_matmul_scaled;
    return bmm(kind == op::batched_matmul ? torch_function::bmm
               : is_beta_zero             ? torch_function::baddbmm_beta_zero
                                          : torch_function::baddbmm,
               kind, a, b, visible, bias);
}

constexpr tensor trace::bmm(torch_function function, op kind, const tensor& a, const tensor& b, std::int64_t visible,
                            const tensor* bias) {
    if (needs_autocast(a, b)) {
        const tensor right = to_autocast_dtype(b);
        return bmm(function, kind, to_autocast_dtype(a), right, visible, bias);
    }
    if (a.dim(-1) != b.dim(-2) || a.dim(0) != b.dim(0)) throw_size_error("bmm: sizes do not match", a, b);
    tensor out = empty_tensor({a.dim(0), a.dim(-2), b.dim(-1)}, promoted_dtype(a, b));
    if (visible != 0) set_visible_pairs(out, visible);
    const tensor* const in[2] = {&a, &b};
    const function_call_guard call{recorder_, {function, in, 2, bias}};
    const count work = a.visible_pairs != 0 ? count(a.numel) * count(b.dim(-1)) : count(out.numel) * count(a.dim(-1));
    recorder_.record_op(kind, work, count(out.numel), out, in, 2);
    return out;
}

constexpr tensor trace::solve_triangular(const tensor& a, const tensor& b) {
    const tensor* const in[2] = {&a, &b};
    tensor out = dense_like(b.transpose(-2, -1)).transpose(-2, -1);
    const auto k = static_cast<std::uint64_t>(a.dim(-1));
    recorder_.record_op(op::unit_triangular_solve, count(b.numel / k) * count(k * (k - 1) / 2), {}, out, in, 2);
    // the gradient of a is a product of k×c and c×k (torch FunctionsManual, `linalg_solve_triangular_backward`)
    if (a.requires_grad) add_backward_torch_flops(count(b.numel) * count(2 * k));
    solve_triangular_backward(a, b, out);
    return out;
}

constexpr tensor trace::conv(const tensor& x, const tensor& weight, bool bias, std::int64_t groups, std::int64_t stride,
                             std::int64_t padding, std::int64_t dilation) {
    return conv(x, weight, bias, {groups, stride, dilation, padding});
}

constexpr tensor trace::conv(const tensor& x, const tensor& weight, bool bias, const convolution_options& options) {
    tensor y = conv_implementation(x, weight, bias, options);
    if (policy() != nullptr) y = policy()->transform_convolution_output(*this, x, weight, options, y);
    return y;
}

constexpr tensor trace::conv_transpose(const tensor& x, const tensor& weight, bool bias,
                                       const convolution_options& options, const shape& output_padding) {
    if (needs_autocast(x, weight)) {
        const tensor w = to_autocast_dtype(weight);
        return conv_transpose(to_autocast_dtype(x), w, bias, options, output_padding);
    }
    if (x.rank != weight.rank) throw_description_error("transposed convolution: input and kernel have different ranks");
    if (weight.dim(0) != x.dim(1))
        throw_size_error("transposed convolution: the numbers of channels do not match", x, weight);
    shape to{x.dim(0), weight.dim(1) * options.groups};
    for (int i = 2; i < x.rank; ++i) {
        const std::int64_t reach = options.dilation.at_or_uniform(i - 2) * (weight.size[i] - 1) + 1;
        const std::int64_t side = (x.size[i] - 1) * options.stride.at_or_uniform(i - 2) -
                                  2 * options.padding.at_or_uniform(i - 2) + reach +
                                  output_padding.at_or_uniform(i - 2);
        if (side < 1) throw_description_error("transposed convolution: the output is empty");
        to.size[to.rank++] = side;
    }
    tensor out = empty_tensor(to, x.type);
    const tensor* const in[2] = {&x, &weight};
    const function_call_guard call{recorder_, {torch_function::convolution_transposed, in, 2}};
    const count work = count(x.numel) * count(weight.numel / static_cast<std::uint64_t>(weight.dim(0)));
    recorder_.record_op(bias ? op::convolution_bias : op::convolution, work, count(out.numel), out, in, 2);
    // torch/utils/flop_counter.py, conv_backward_flop: the gradient of a grouped weight counts as if it had one
    // group
    if (weight.requires_grad) add_backward_torch_flops(work * count(2 * (options.groups - 1)));
    return out;
}

constexpr count trace::channels_last_bytes(const tensor& a) {
    constexpr std::int64_t alignment_bytes = 16;
    const std::int64_t element_bytes = bits_of(a.type) / 8, unit = alignment_bytes / element_bytes;
    const std::int64_t channels = (a.dim(1) + unit - 1) / unit * unit;
    return count(a.numel / static_cast<std::uint64_t>(a.dim(1))) * count(channels * element_bytes);
}

constexpr tensor trace::to_autocast_dtype(const tensor& a) {
    return load().autocast && a.type == dtype::float32 ? to(a, dtype::bfloat16) : a;
}
constexpr tensor trace::conv_implementation(const tensor& x, const tensor& weight, bool bias,
                                            const convolution_options& options) {
    if (needs_autocast(x, weight)) {
        const tensor w = to_autocast_dtype(weight);
        return conv_implementation(to_autocast_dtype(x), w, bias, options);
    }
    if (x.rank != weight.rank) throw_description_error("convolution: input and kernel have different ranks");
    if (x.dim(1) != weight.dim(1) * options.groups)
        throw_size_error("convolution: the numbers of channels do not match", x, weight);
    if (weight.dim(0) < 1) throw_description_error("convolution: no output channels");
    shape to{x.dim(0), weight.dim(0)};
    for (int i = 2; i < x.rank; ++i) {
        const std::int64_t padded = x.size[i] + 2 * options.padding.at_or_uniform(i - 2),
                           reach = options.dilation.at_or_uniform(i - 2) * (weight.size[i] - 1) + 1;
        if (options.stride.at_or_uniform(i - 2) < 1)
            throw_description_error("convolution: the stride must be at least 1");
        if (padded < reach) throw_description_error("convolution: the kernel is larger than the input");
        to.size[to.rank++] = (padded - reach) / options.stride.at_or_uniform(i - 2) + 1;
    }
    tensor out = empty_tensor(to, x.type);
    const tensor* const in[2] = {&x, &weight};
    const count work = count(out.numel) * count(weight.numel / static_cast<std::uint64_t>(weight.dim(0)));
    // The kernels of cuDNN for tensor cores read and write channels last. In backward, the input, the kernel and the
    // gradient of the output are converted in a workspace.
    if (load().cuda_capability > 0 && options.groups == 1 && !x.is_channels_last())
        add_temporary_bytes({}, channels_last_bytes(x) + channels_last_bytes(weight) + channels_last_bytes(out));
    recorder_.record_op(bias ? op::convolution_bias : op::convolution, work, count(out.numel), out, in, 2);
    // torch/utils/flop_counter.py, conv_backward_flop: the gradient of a grouped weight counts as if it had one
    // group
    if (weight.requires_grad) add_backward_torch_flops(work * count(2 * (options.groups - 1)));
    return out;
}

constexpr void trace::solve_triangular_backward(const tensor& a, const tensor& b, const tensor& out) {
    if (!out.requires_grad) return;
    const auto k = static_cast<std::uint64_t>(a.dim(-1));
    const count pairs = count(b.numel / k) * count(k * (k - 1) / 2);
    add_backward_cost({.add = pairs, .mult = pairs});
    if (a.requires_grad) {
        const count products = count(b.numel) * count(k);
        add_backward_cost({.add = products - count(a.numel), .mult = products, .neg = count(a.numel)});
    }
}

constexpr tensor trace::linear_contiguous(op kind, const tensor& x, const tensor& weight) {
    if (x.dim(-1) != weight.dim(1)) throw_size_error("linear: sizes do not match", x, weight);
    tensor out = x;
    out.size[x.rank - 1] = weight.size[0];
    out.numel = num_elements(out.size, out.rank);
    out.type = promoted_dtype(x, weight);
    out.make_contiguous_strides();
    const tensor* const in[2] = {&x, &weight};
    recorder_.record_op(kind, count(out.numel) * count(weight.size[1]), count(out.numel), out, in, 2);
    return out;
}

constexpr tensor trace::mm(op kind, const tensor& a, const tensor& b) {
    if (a.dim(1) != b.dim(0)) throw_size_error("matmul: sizes do not match", a, b);
    tensor out = empty_tensor({a.dim(0), b.dim(1)}, promoted_dtype(a, b));
    const tensor* const in[2] = {&a, &b};
    recorder_.record_op(kind, count(out.numel) * count(a.dim(1)), count(out.numel), out, in, 2);
    return out;
}

constexpr tensor trace::flatten_batch(const tensor& a) { return reshape(a, {-1, a.dim(-1)}); }

constexpr tensor trace::unflatten_batch(const tensor& product, const tensor& a) {
    shape to;
    to.rank = a.rank;
    for (int i = 0; i < a.rank; ++i) to.size[i] = a.size[i];
    to.size[a.rank - 1] = product.dim(1);
    return product.view(to);
}

constexpr bool trace::can_fold_batch(const tensor& a, const tensor& b) {
    if (a.rank < 3) return false;
    if (b.requires_grad || a.numel == 0) return true;
    for (int i = 0; i < a.rank - 2; ++i)
        if (a.stride[i] != a.stride[i + 1] * a.size[i + 1]) return false;
    return true;
}

constexpr tensor trace::expand_to_batch(const tensor& a, const shape& batch) {
    shape expanded_shape = batch;
    expanded_shape.size[expanded_shape.rank++] = a.dim(-2);
    expanded_shape.size[expanded_shape.rank++] = a.dim(-1);
    const tensor v = a.visible_pairs != 0 ? a : a.expand(expanded_shape);
    tensor out = reshape(v, {static_cast<std::int64_t>(num_elements(batch.size, batch.rank)), a.dim(-2), a.dim(-1)});
    if (a.visible_pairs != 0) set_visible_pairs(out, a.visible_pairs);
    return out;
}

}  // namespace llmcost
