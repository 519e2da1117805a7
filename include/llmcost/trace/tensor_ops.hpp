// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/trace/trace_class.hpp>

// Operations of `trace` that map tensors to tensors: elementwise, row-wise, copies.
namespace llmcost {

constexpr tensor trace::mul_function(const tensor& a, const tensor& b) {
    const tensor* const in[2] = {&a, &b};
    const function_call_guard call{recorder_, {torch_function::mul_function, in, 2}};
    return mul(a, b);
}

constexpr tensor trace::log_sigmoid(const tensor& a) {
    const tensor out = unary(op::log_sigmoid, a);
    tensor second = zeros_like(a);
    second.requires_grad = a.requires_grad;
    save_for_backward(second);
    return out;
}

constexpr tensor trace::pow(const tensor& a, unsigned exponent) {
    const auto multiplications = [](unsigned e) {
        int n = -2;
        for (; e != 0; e >>= 1) n += 1 + static_cast<int>(e & 1U);
        return count(n > 0 ? n : 0);
    };
    if (needs_float32(op::integer_power, a)) return pow(to(a, dtype::float32), exponent);
    tensor out = empty_like(a);
    record_unary(op::integer_power, count(a.numel) * multiplications(exponent), {}, out, a);
    // gradient · exponent · x^(exponent − 1)
    if (out.requires_grad && exponent > 0)
        add_backward_cost({.mult = count(a.numel) * (multiplications(exponent - 1) + count(2))});
    return out;
}

constexpr tensor trace::cumsum(const tensor& a, int dim) {
    if (needs_float32(op::cumsum, a)) return cumsum(to(a, dtype::float32), dim);
    tensor out = contiguous_like(a);
    record_unary(op::cumsum, count(a.numel), count(a.numel / length(a, dim)), out, a);
    return out;
}

constexpr tensor trace::softmax_method(const tensor& a) {
    const tensor* const in[1] = {&a};
    const function_call_guard call{recorder_, {torch_function::softmax_method, in, 1}};
    return softmax(a);
}

constexpr tensor trace::nll_loss(const tensor& a) {
    if (needs_float32(op::nll_loss, a)) return nll_loss(to(a, dtype::float32));
    tensor out = empty_tensor(shape{1}, a.type);
    tensor weights = full({1}, a.type);
    weights.requires_grad = a.requires_grad;
    save_for_backward(weights);
    record_unary(op::nll_loss, count(static_cast<std::uint64_t>(a.dim(0))), count(1), out, a);
    return out;
}

constexpr tensor trace::layer_norm(const tensor& a, int tensors, int dimensions) {
    const op kind = tensors == 0 ? op::layer_norm : tensors == 1 ? op::layer_norm_weight : op::layer_norm_affine;
    if (needs_float32(kind, a)) return layer_norm(to(a, dtype::float32), tensors, dimensions);
    const count rows = dimensions == 1 ? rows_of(a) : count(num_elements(a.size, a.rank - dimensions));
    add_written_elements(2 * rows.to_64());  // mean and reciprocal standard deviation of each row
    tensor out = contiguous_like(a);
    record_unary(kind, count(a.numel), rows, out, a);
    return out;
}

constexpr tensor trace::clone(const tensor& a) {
    tensor out = empty_like(a);
    record_unary(op::copy, {}, {}, out, a);
    return out;
}

constexpr tensor trace::to_contiguous_format(const tensor& a, dtype type) {
    if (a.type == type) return to_contiguous_format(a);
    tensor out = contiguous_like(a);
    out.type = type;
    record_unary(op::copy, {}, {}, out, a);
    return out;
}

constexpr tensor trace::repeat_interleave(const tensor& a, int dim, std::int64_t times) {
    const int d = a.normalize_dim(dim);
    shape expanded_shape, out;
    for (int i = 0; i < a.rank; ++i) {
        expanded_shape.size[expanded_shape.rank++] = a.size[i];
        out.size[out.rank++] = i == d ? a.size[i] * times : a.size[i];
        if (i == d) expanded_shape.size[expanded_shape.rank++] = times;
    }
    return copy(a.unsqueeze(d + 1).expand(expanded_shape)).view(out);
}

constexpr tensor trace::zeros_like(const tensor& a) {
    tensor out = empty_like(a);
    recorder_.record_op(op::constant, {}, {}, out, nullptr, 0);
    return out;
}

constexpr tensor trace::reshape(const tensor& a, shape to) {
    const shape sizes = a.infer_shape(to);
    tensor v;
    if (!a.try_view(sizes, v)) (void)copy(a).try_view(sizes, v);
    return v;
}

constexpr tensor trace::cat(std::initializer_list<tensor> tensors, int dim) {
    return cat(tensors.begin(), static_cast<int>(tensors.size()), dim);
}

constexpr tensor trace::cat(const tensor* tensors, int n, int dim) {
    if (n < 1 || n > max_cat_inputs) throw_description_error("cat: expected 1 to 64 tensors");
    shape to;
    to.rank = tensors->rank;
    for (int i = 0; i < tensors->rank; ++i) to.size[i] = tensors->size[i];
    const int d = tensors->normalize_dim(dim);
    to.size[d] = 0;
    dtype type = tensors->type;
    for (int i = 0; i < n; ++i) {
        to.size[d] += tensors[i].size[d];
        if (tensors[i].type != type) [[unlikely]]
            type = promoted_dtype(empty_tensor({}, type), tensors[i]);
    }
    tensor out = empty_tensor(to, type);
    if (tensors->visible_pairs != 0) {
        std::int64_t pairs = 0;
        for (int i = 0; i < n; ++i)
            pairs += tensors[i].visible_pairs != 0 ? tensors[i].visible_pairs : tensors[i].dim(-2) * tensors[i].dim(-1);
        set_visible_pairs(out, pairs);
    }
    const tensor* in[max_cat_inputs];  // the first n are used; initializing all costs 32 instructions
    for (int i = 0; i < n; ++i) in[i] = &tensors[i];
    recorder_.record_op(op::cat, {}, {}, out, in, n);
    return out;
}

constexpr tensor trace::gather(const tensor& source, shape to) {
    tensor out = empty_tensor(to, source.type);
    record_unary(op::gather, count(out.numel), {}, out, source);
    return out;
}

constexpr tensor trace::gather_with_saved_source(const tensor& source, shape to) {
    save_for_backward(source);
    return gather(source, to);
}

constexpr tensor trace::full(shape to, dtype type) {
    tensor out = empty_tensor(to, type);
    recorder_.record_op(op::constant, {}, {}, out, nullptr, 0);
    return out;
}

constexpr tensor trace::pad(const tensor& a, int dim, std::int64_t padding) {
    tensor out = a;
    out.size[a.normalize_dim(dim)] += padding;
    out = dense_like(out);
    if (a.is_channels_last()) out.make_channels_last_strides();
    record_unary(op::copy, {}, {}, out, a);
    return out;
}

constexpr tensor trace::pad_to_shape(const tensor& a, const shape& sizes) {
    tensor out = empty_tensor(sizes, a.type);
    if (a.is_channels_last()) out.make_channels_last_strides();
    record_unary(op::copy, {}, {}, out, a);
    return out;
}

constexpr tensor trace::pad(const tensor& a, int first, std::int64_t padding, std::int64_t more_of_next) {
    const int d = a.normalize_dim(first);
    tensor out = a;
    out.size[d] += padding;
    out.size[a.normalize_dim(d + 1)] += more_of_next;
    out = dense_like(out);
    if (a.is_channels_last()) out.make_channels_last_strides();
    record_unary(op::copy, {}, {}, out, a);
    return out;
}

constexpr void trace::index_add(tensor& destination, const tensor& source) {
    const tensor previous = destination;
    const tensor* const in[2] = {&previous, &source};
    recorder_.record_op(op::index_add, count(source.numel), {}, destination, in, 2, true);
}

constexpr tensor trace::masked_fill(const tensor& a) {
    tensor out = contiguous_like(a);
    record_unary(op::where, {}, {}, out, a);
    return out;
}

constexpr tensor trace::masked_scatter(const tensor& a, const tensor& source) {
    tensor out = contiguous_like(a);
    const tensor* const in[2] = {&a, &source};
    recorder_.record_op(op::scatter, count(out.numel), {}, out, in, 2);
    add_to_encoder_cache(source);
    return out;
}

constexpr tensor trace::topk(const tensor& a, std::int64_t k) {
    tensor out = contiguous_like(a);
    out.size[a.normalize_dim(-1)] = k;
    out = dense_like(out);
    record_unary(op::top_k, {}, {}, out, a);
    return out;
}

constexpr tensor trace::slice(const tensor& a, int dim, std::int64_t length, std::int64_t step) {
    return slice_with_gradient(a, a.slice(dim, length, step));
}

constexpr tensor trace::select_repeatedly(const tensor& a, int dim, std::int64_t n) {
    return slice_with_gradient(a, a.select(dim), n);
}

constexpr void trace::set_visible_pairs(tensor& scores, std::int64_t visible) {
    const count n = count(num_elements(scores.size, scores.rank - 2)) * count(visible);
    if (n.to_uint128() >> 63 != 0) throw_overflow_error();
    scores.visible_pairs = visible;
    scores.numel = n.to_64();
}

}  // namespace llmcost
