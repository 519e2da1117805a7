// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/trace/call_guards.hpp>
#include <llmcost/trace/recorder.hpp>

namespace llmcost {

/// Operations of a trace that map tensors to tensors: elementwise, row-wise, copies.
///
/// Functions have the names of PyTorch functions and follow their rules on views, copies and memory layout. Operations
/// with a scalar take one tensor.
class tensor_ops : public recorder {
public:
    using recorder::recorder;

    // ---- elementwise

    constexpr tensor add(const tensor& a, const tensor& b) { return binary(op::add, a, b); }
    constexpr tensor sub(const tensor& a, const tensor& b) { return binary(op::sub, a, b); }
    constexpr tensor mul(const tensor& a, const tensor& b) { return binary(op::mul, a, b); }
    /// `torch.mul`, elementwise.
    constexpr tensor mul_function(const tensor& a, const tensor& b) {
        const tensor* const in[2] = {&a, &b};
        const function_call_guard call{*this, {torch_function::mul_function, in, 2}};
        return mul(a, b);
    }
    constexpr tensor div(const tensor& a, const tensor& b) { return binary(op::div, a, b); }
    constexpr tensor abs(const tensor& a) { return unary(op::absolute, a); }
    constexpr tensor maximum(const tensor& a, const tensor& b) { return binary(op::maximum, a, b); }
    constexpr tensor minimum(const tensor& a, const tensor& b) { return binary(op::minimum, a, b); }
    constexpr tensor add_scalar(const tensor& a) { return unary(op::add, a); }
    constexpr tensor mul_scalar(const tensor& a) { return unary(op::mul, a); }
    constexpr tensor div_scalar(const tensor& a) { return unary(op::div, a); }
    constexpr tensor neg(const tensor& a) { return unary(op::neg, a); }
    constexpr tensor softplus(const tensor& a) { return unary(op::softplus, a); }
    constexpr tensor exp(const tensor& a) { return unary(op::exp, a); }
    constexpr tensor sigmoid(const tensor& a) { return unary(op::sigmoid, a); }
    /// `F.logsigmoid`. Its backward reads a second result of the same size.
    constexpr tensor log_sigmoid(const tensor& a) {
        const tensor out = unary(op::log_sigmoid, a);
        tensor second = zeros_like(a);
        second.requires_grad = a.requires_grad;
        save_for_backward(second);
        return out;
    }
    constexpr tensor silu(const tensor& a) { return unary(op::silu, a); }
    constexpr tensor tanh(const tensor& a) { return unary(op::tanh, a); }
    constexpr tensor rsqrt(const tensor& a) { return unary(op::rsqrt, a); }
    /// `x ** exponent` with an integer from 0 to 16, by square-and-multiply.
    constexpr tensor pow(const tensor& a, unsigned exponent) {
        const auto multiplications = [](unsigned e) {
            int n = -2;
            for (; e != 0; e >>= 1) n += 1 + static_cast<int>(e & 1U);
            return count(n > 0 ? n : 0);
        };
        tensor out = empty_like(a);
        record_unary(op::integer_power, count(a.numel) * multiplications(exponent), {}, out, a);
        // gradient · exponent · x^(exponent − 1)
        if (out.requires_grad && exponent > 0)
            add_backward_cost({.mult = count(a.numel) * (multiplications(exponent - 1) + count(2))});
        return out;
    }
    constexpr tensor unary(op kind, const tensor& a) {
        tensor out = empty_like(a);
        record_unary(kind, count(a.numel), {}, out, a);
        return out;
    }
    constexpr tensor binary(op kind, const tensor& a, const tensor& b) {
        const tensor* const in[2] = {&a, &b};
        tensor out;
        set_elementwise_layout(in, 2, out);
        out.type = promoted_dtype(a, b);
        if (a.visible_pairs != 0) {
            out.visible_pairs = a.visible_pairs;
            out.numel = a.numel;
        }
        record_op(kind, count(out.numel), {}, out, in, 2);
        return out;
    }

    // ---- elementwise functions of one tensor, named as in PyTorch; a scalar operand has no tensor

    constexpr tensor log(const tensor& a) { return unary(op::log, a); }
    constexpr tensor log1p(const tensor& a) { return unary(op::log1p, a); }
    constexpr tensor sqrt(const tensor& a) { return unary(op::sqrt, a); }
    constexpr tensor reciprocal(const tensor& a) { return unary(op::reciprocal, a); }
    constexpr tensor relu(const tensor& a) { return unary(op::relu, a); }
    constexpr tensor gelu(const tensor& a) { return unary(op::gelu, a); }
    constexpr tensor gelu_tanh(const tensor& a) { return unary(op::gelu_tanh, a); }
    constexpr tensor sin(const tensor& a) { return unary(op::sin, a); }
    constexpr tensor cos(const tensor& a) { return unary(op::cos, a); }
    constexpr tensor acos(const tensor& a) { return unary(op::acos, a); }
    constexpr tensor erf(const tensor& a) { return unary(op::erf, a); }
    constexpr tensor expm1(const tensor& a) { return unary(op::expm1, a); }
    constexpr tensor clamp(const tensor& a) { return unary(op::clamp, a); }
    constexpr tensor hardswish(const tensor& a) { return unary(op::hardswish, a); }
    constexpr tensor hardsigmoid(const tensor& a) { return unary(op::hardsigmoid, a); }
    constexpr tensor complex_mul(const tensor& a) { return unary(op::complex_mul, a); }
    constexpr tensor scatter(const tensor& a) { return unary(op::scatter, a); }
    constexpr tensor floor(const tensor& a) { return unary(op::compare, a); }
    constexpr tensor ceil(const tensor& a) { return unary(op::compare, a); }
    constexpr tensor round(const tensor& a) { return unary(op::compare, a); }
    constexpr tensor sign(const tensor& a) { return unary(op::compare, a); }
    constexpr tensor clamp_min(const tensor& a) { return unary(op::compare, a); }
    constexpr tensor clamp_max(const tensor& a) { return unary(op::compare, a); }
    constexpr tensor minimum_scalar(const tensor& a) { return unary(op::minimum, a); }
    constexpr tensor sub_scalar(const tensor& a) { return unary(op::sub, a); }
    /// x ** 0.5 and x ** -0.5.
    constexpr tensor pow_half(const tensor& a) { return unary(op::root_power, a); }
    constexpr tensor pow_minus_half(const tensor& a) { return unary(op::inverse_root_power, a); }
    /// x ** scalar or scalar ** x, with an exponent other than a small integer.
    constexpr tensor pow_scalar(const tensor& a) { return unary(op::power, a); }
    constexpr tensor pow(const tensor& base, const tensor& exponent) { return binary(op::power, base, exponent); }
    constexpr tensor complex_mul(const tensor& a, const tensor& b) { return binary(op::complex_mul, a, b); }
    constexpr tensor polar(const tensor& a, const tensor& angle) { return binary(op::polar, a, angle); }

    // ---- in place: the result overwrites the first operand

    constexpr void add_(tensor& a) { apply_inplace(op::add, a); }
    constexpr void add_(tensor& a, const tensor& b) { apply_inplace(op::add, a, b); }
    constexpr void sub_(tensor& a) { apply_inplace(op::sub, a); }
    constexpr void mul_(tensor& a) { apply_inplace(op::mul, a); }
    constexpr void mul_(tensor& a, const tensor& b) { apply_inplace(op::mul, a, b); }
    constexpr void div_(tensor& a) { apply_inplace(op::div, a); }
    constexpr void div_(tensor& a, const tensor& b) { apply_inplace(op::div, a, b); }
    constexpr void clamp_(tensor& a) { apply_inplace(op::clamp, a); }
    constexpr void relu_(tensor& a) { apply_inplace(op::relu, a); }
    constexpr void masked_fill_(tensor& a) { apply_inplace(op::where, a); }
    constexpr void copy_(tensor& a, const tensor& b) { apply_inplace(op::copy, a, b); }
    constexpr void scatter_(tensor& a, const tensor& b) { apply_inplace(op::scatter, a, b); }

    // ---- reductions and rows

    constexpr tensor sum(const tensor& a, int dim, bool keepdim = false) { return reduce(op::sum, a, dim, keepdim); }
    constexpr tensor mean(const tensor& a, int dim, bool keepdim = false) { return reduce(op::mean, a, dim, keepdim); }
    constexpr tensor std(const tensor& a, int dim, bool keepdim = false) { return reduce(op::std, a, dim, keepdim); }
    /// `Tensor.var(unbiased=False)`.
    constexpr tensor var(const tensor& a, int dim, bool keepdim = false) {
        return reduce(op::variance, a, dim, keepdim);
    }
    constexpr tensor amax(const tensor& a, int dim, bool keepdim = false) { return reduce(op::max, a, dim, keepdim); }
    constexpr tensor logsumexp(const tensor& a, int dim, bool keepdim = false) {
        return reduce(op::logsumexp, a, dim, keepdim);
    }
    /// `Tensor.norm(p=2)`.
    constexpr tensor vector_norm(const tensor& a, int dim, bool keepdim = false) {
        return reduce(op::vector_norm, a, dim, keepdim);
    }
    constexpr tensor cumsum(const tensor& a, int dim) {
        tensor out = contiguous_like(a);
        record_unary(op::cumsum, count(a.numel), count(a.numel / length(a, dim)), out, a);
        return out;
    }
    /// Softmax over the last dimension. With causal scores, the row length is the number of visible keys.
    constexpr tensor softmax(const tensor& a) { return row_op(op::softmax, a); }
    /// Softmax over the last dimension, called as `Tensor.softmax` or `torch.softmax`.
    constexpr tensor softmax_method(const tensor& a) {
        const tensor* const in[1] = {&a};
        const function_call_guard call{*this, {torch_function::softmax_method, in, 1}};
        return softmax(a);
    }
    /// An elementwise operation, called by a PyTorch function of its own.
    constexpr tensor unary(torch_function spelled, op kind, const tensor& a) {
        const tensor* const in[1] = {&a};
        const function_call_guard call{*this, {spelled, in, 1}};
        return unary(kind, a);
    }
    constexpr tensor log_softmax(const tensor& a) { return row_op(op::log_softmax, a); }
    /// `F.nll_loss` of log-probabilities (rows, classes): the mean over the labels, a scalar.
    ///
    /// Backward reads a second scalar, the sum of the label weights.
    constexpr tensor nll_loss(const tensor& a) {
        tensor out = empty_tensor(shape{1}, a.type);
        tensor weights = full({1}, a.type);
        weights.requires_grad = a.requires_grad;
        save_for_backward(weights);
        record_unary(op::nll_loss, count(static_cast<std::uint64_t>(a.dim(0))), count(1), out, a);
        return out;
    }
    /// `F.layer_norm` over the last `dimensions` dimensions. `tensors`: 0 none, 1 a weight, 2 weight and bias.
    constexpr tensor layer_norm(const tensor& a, int tensors, int dimensions = 1) {
        const op kind = tensors == 0 ? op::layer_norm : tensors == 1 ? op::layer_norm_weight : op::layer_norm_affine;
        const count rows = dimensions == 1 ? rows_of(a) : count(num_elements(a.size, a.rank - dimensions));
        add_written_elements(2 * rows.to_64());  // mean and reciprocal standard deviation of each row
        tensor out = contiguous_like(a);
        record_unary(kind, count(a.numel), rows, out, a);
        return out;
    }

    // ---- copies

    constexpr tensor copy(const tensor& a) {
        tensor out = contiguous_like(a);
        record_unary(op::copy, {}, {}, out, a);
        return out;
    }
    constexpr tensor contiguous(const tensor& a) { return a.is_contiguous() ? a : copy(a); }
    /// `Tensor.clone`: a copy with the layout of the original.
    constexpr tensor clone(const tensor& a) {
        tensor out = empty_like(a);
        record_unary(op::copy, {}, {}, out, a);
        return out;
    }
    /// `Tensor.to(memory_format=contiguous_format)`: a copy only if the tensor is channels-last.
    ///
    /// Source: ATen, `to_will_alias`.
    constexpr tensor to_contiguous_format(const tensor& a) { return a.is_channels_last() ? copy(a) : a; }
    /// Converts memory format and element type in one copy.
    constexpr tensor to_contiguous_format(const tensor& a, dtype type) {
        if (a.type == type) return to_contiguous_format(a);
        tensor out = contiguous_like(a);
        out.type = type;
        record_unary(op::copy, {}, {}, out, a);
        return out;
    }
    /// `Tensor.repeat_interleave` with one number of repetitions.
    constexpr tensor repeat_interleave(const tensor& a, int dim, std::int64_t times) {
        const int d = a.normalize_dim(dim);
        shape expanded_shape, out;
        for (int i = 0; i < a.rank; ++i) {
            expanded_shape.size[expanded_shape.rank++] = a.size[i];
            out.size[out.rank++] = i == d ? a.size[i] * times : a.size[i];
            if (i == d) expanded_shape.size[expanded_shape.rank++] = times;
        }
        return copy(a.unsqueeze(d + 1).expand(expanded_shape)).view(out);
    }
    /// `torch.zeros_like`: a new tensor with the layout of another one.
    constexpr tensor zeros_like(const tensor& a) {
        tensor out = empty_like(a);
        record_op(op::constant, {}, {}, out, nullptr, 0);
        return out;
    }
    /// `Tensor.reshape`: a view if possible, otherwise a copy.
    constexpr tensor reshape(const tensor& a, shape to) {
        const shape sizes = a.infer_shape(to);
        tensor v;
        if (!a.try_view(sizes, v)) (void)copy(a).try_view(sizes, v);
        return v;
    }
    /// `Tensor.to(dtype)`. Returns the tensor itself if it has the type.
    constexpr tensor to(const tensor& a, dtype type) {
        if (a.type == type) return a;
        tensor out = empty_like(a);
        out.type = type;
        record_unary(op::copy, {}, {}, out, a);
        return out;
    }
    constexpr tensor cat(std::initializer_list<tensor> tensors, int dim) {
        return cat(tensors.begin(), static_cast<int>(tensors.size()), dim);
    }
    /// `torch.cat` of `n` tensors from a contiguous array.
    constexpr tensor cat(const tensor* tensors, int n, int dim) {
        if (n < 1 || n > max_cat_inputs) throw_description_error("cat: expected 1 to 64 tensors");
        shape to;
        to.rank = tensors->rank;
        for (int i = 0; i < tensors->rank; ++i) to.size[i] = tensors->size[i];
        const int d = tensors->normalize_dim(dim);
        to.size[d] = 0;
        for (int i = 0; i < n; ++i) to.size[d] += tensors[i].size[d];
        tensor out = empty_tensor(to, tensors->type);
        if (tensors->visible_pairs != 0) {
            std::int64_t pairs = 0;
            for (int i = 0; i < n; ++i)
                pairs +=
                    tensors[i].visible_pairs != 0 ? tensors[i].visible_pairs : tensors[i].dim(-2) * tensors[i].dim(-1);
            set_visible_pairs(out, pairs);
        }
        const tensor* in[max_cat_inputs]{};
        for (int i = 0; i < n; ++i) in[i] = &tensors[i];
        record_op(op::cat, {}, {}, out, in, n);
        return out;
    }
    /// Maximum number of inputs of `cat`.
    static constexpr int max_cat_inputs = 64;
    /// Rows selected by integers (embedding, index, gather): a new tensor of these sizes.
    constexpr tensor gather(const tensor& source, shape to) {
        tensor out = empty_tensor(to, source.type);
        record_unary(op::gather, count(out.numel), {}, out, source);
        return out;
    }
    /// `Tensor.gather`. Saves its source, because backward reads its sizes.
    constexpr tensor gather_with_saved_source(const tensor& source, shape to) {
        save_for_backward(source);
        return gather(source, to);
    }
    /// A new tensor without gradient: zeros, ones, float positions, a mask.
    constexpr tensor full(shape to, dtype type = dtype::float32) {
        tensor out = empty_tensor(to, type);
        record_op(op::constant, {}, {}, out, nullptr, 0);
        return out;
    }
    /// `F.pad` with a constant along one dimension: a new tensor, channels-last if the original is.
    constexpr tensor pad(const tensor& a, int dim, std::int64_t padding) {
        tensor out = a;
        out.size[a.normalize_dim(dim)] += padding;
        out = dense_like(out);
        if (a.is_channels_last()) out.make_channels_last_strides();
        record_unary(op::copy, {}, {}, out, a);
        return out;
    }
    /// `F.pad` with a constant to the given sizes.
    constexpr tensor pad_to_shape(const tensor& a, const shape& sizes) {
        tensor out = empty_tensor(sizes, a.type);
        if (a.is_channels_last()) out.make_channels_last_strides();
        record_unary(op::copy, {}, {}, out, a);
        return out;
    }
    /// `F.pad` with a constant along two neighboring dimensions in one call.
    constexpr tensor pad(const tensor& a, int first, std::int64_t padding, std::int64_t more_of_next) {
        const int d = a.normalize_dim(first);
        tensor out = a;
        out.size[d] += padding;
        out.size[a.normalize_dim(d + 1)] += more_of_next;
        out = dense_like(out);
        if (a.is_channels_last()) out.make_channels_last_strides();
        record_unary(op::copy, {}, {}, out, a);
        return out;
    }
    /// `index_add_` and similar: adds the elements of a source to an existing tensor.
    constexpr void index_add(tensor& destination, const tensor& source) {
        const tensor previous = destination;
        const tensor* const in[2] = {&previous, &source};
        record_op(op::index_add, count(source.numel), {}, destination, in, 2, true);
    }
    /// An elementwise operation that overwrites its first operand (`add_`, `div_`, `clamp_`).
    constexpr void apply_inplace(op kind, tensor& a, const tensor& b) {
        const tensor previous = a;
        const tensor* const in[2] = {&previous, &b};
        record_op(kind, count(a.numel), {}, a, in, 2, true);
    }
    constexpr void apply_inplace(op kind, tensor& a) {
        const tensor previous = a;
        const tensor* const in[1] = {&previous};
        record_op(kind, count(a.numel), {}, a, in, 1, true);
    }
    /// `masked_fill`, or `torch.where` with one tensor: selects elements.
    constexpr tensor masked_fill(const tensor& a) {
        tensor out = contiguous_like(a);
        record_unary(op::where, {}, {}, out, a);
        return out;
    }
    /// `Tensor.masked_scatter`, `Tensor.index_put`: a new tensor in which rows of a source replace the masked ones.
    constexpr tensor masked_scatter(const tensor& a, const tensor& source) {
        tensor out = contiguous_like(a);
        const tensor* const in[2] = {&a, &source};
        record_op(op::scatter, count(out.numel), {}, out, in, 2);
        add_to_encoder_cache(source);
        return out;
    }
    /// `torch.where` of two tensors. Each receives its part of the gradient.
    constexpr tensor where(const tensor& a, const tensor& b) { return binary(op::where, a, b); }
    constexpr tensor topk(const tensor& a, std::int64_t k) {
        tensor out = contiguous_like(a);
        out.size[a.normalize_dim(-1)] = k;
        out = dense_like(out);
        record_unary(op::top_k, {}, {}, out, a);
        return out;
    }

    // ---- views whose gradient is padded with zeros

    /// `x[..., i : i + length * step : step]`, with the gradient of `recorder::slice_with_gradient`.
    constexpr tensor slice(const tensor& a, int dim, std::int64_t length, std::int64_t step = 1) {
        return slice_with_gradient(a, a.slice(dim, length, step));
    }
    /// `x[..., i]`.
    constexpr tensor select(const tensor& a, int dim) { return slice_with_gradient(a, a.select(dim)); }
    /// `x[..., i]` for `n` different i, each read separately.
    constexpr tensor select_repeatedly(const tensor& a, int dim, std::int64_t n) {
        return slice_with_gradient(a, a.select(dim), n);
    }

    [[nodiscard]] static constexpr tensor contiguous_like(const tensor& a) {
        tensor out = a;
        out.make_contiguous_strides();
        return out;
    }
    /// Limits causal scores to their visible pairs.
    static constexpr void set_visible_pairs(tensor& scores, std::int64_t visible) {
        const count n = count(num_elements(scores.size, scores.rank - 2)) * count(visible);
        if (n.to_uint128() >> 63 != 0) throw_overflow_error();
        scores.visible_pairs = visible;
        scores.numel = n.to_64();
    }

protected:
    /// The output of a unary elementwise operation: the layout of the input if it is dense, otherwise contiguous.
    [[nodiscard]] static constexpr tensor empty_like(const tensor& a) {
        tensor out = a;
        if (!a.is_contiguous()) {
            const tensor* const in[1] = {&a};
            detail::set_elementwise_strides(in, 1, out);
        }
        return out;
    }
    constexpr void record_unary(op kind, count work, count rows, tensor& out, const tensor& a) {
        const tensor* const in[1] = {&a};
        record_op(kind, work, rows, out, in, 1);
    }
    [[nodiscard]] static constexpr tensor dense_like(const tensor& a) {
        shape e;
        e.rank = a.rank;
        for (int i = 0; i < a.rank; ++i) e.size[i] = a.size[i];
        return empty_tensor(e, a.type);
    }
    [[nodiscard]] static constexpr dtype promoted_dtype(const tensor& a, const tensor& b) noexcept {
        return a.type != b.type && bits_of(b.type) > bits_of(a.type) && b.rank > 0 ? b.type : a.type;
    }
    [[nodiscard]] static constexpr std::uint64_t length(const tensor& a, int dim) {
        const std::int64_t n = a.dim(dim);
        return n > 0 ? static_cast<std::uint64_t>(n) : 1;
    }
    [[nodiscard]] static constexpr count rows_of(const tensor& a) {
        if (a.visible_pairs != 0) return count(num_elements(a.size, a.rank - 1));
        return count(a.numel / length(a, -1));
    }
    constexpr tensor row_op(op kind, const tensor& a) {
        tensor out = contiguous_like(a);
        record_unary(kind, count(a.numel), rows_of(a), out, a);
        return out;
    }
    constexpr tensor reduce(op kind, const tensor& a, int dim, bool keepdim) {
        const int d = a.normalize_dim(dim);
        tensor out = a;
        out.size[d] = 1;
        out = dense_like(out);
        if (!keepdim) out = out.squeeze(d);
        record_unary(kind, count(a.numel), count(out.numel), out, a);
        return out;
    }
};

}  // namespace llmcost
