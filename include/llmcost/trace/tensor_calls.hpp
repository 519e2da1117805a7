// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/told_guards.hpp>

namespace llmcost {

/// The part of a trace that makes tensors from tensors one to one: elementwise, by rows, copies.
///
/// Functions are named after PyTorch's and follow its rules on views, copies and memory layout; operations on a scalar
/// take one tensor.
class tensor_calls : public recorder {
public:
    using recorder::recorder;

    // ---- elementwise

    constexpr value add(const value& a, const value& b) { return binary(op::add, a, b); }
    constexpr value sub(const value& a, const value& b) { return binary(op::sub, a, b); }
    constexpr value mul(const value& a, const value& b) { return binary(op::mul, a, b); }
    /// The same called as `torch.mul`.
    constexpr value mul_function(const value& a, const value& b) {
        const value* const in[2] = {&a, &b};
        const call_guard call{*this, {torch_function::mul_function, in, 2}};
        return mul(a, b);
    }
    constexpr value div(const value& a, const value& b) { return binary(op::div, a, b); }
    constexpr value abs(const value& a) { return unary(op::absolute, a); }
    constexpr value maximum(const value& a, const value& b) { return binary(op::maximum, a, b); }
    constexpr value minimum(const value& a, const value& b) { return binary(op::minimum, a, b); }
    constexpr value add(const value& a) { return unary(op::add, a); }
    constexpr value mul(const value& a) { return unary(op::mul, a); }
    constexpr value div(const value& a) { return unary(op::div, a); }
    constexpr value neg(const value& a) { return unary(op::neg, a); }
    constexpr value softplus(const value& a) { return unary(op::softplus, a); }
    constexpr value exp(const value& a) { return unary(op::exp, a); }
    constexpr value sigmoid(const value& a) { return unary(op::sigmoid, a); }
    /// `F.logsigmoid`: its backward reads a second result, as large as the first.
    constexpr value log_sigmoid(const value& a) {
        const value out = unary(op::log_sigmoid, a);
        value second = zeros_like(a);
        second.requires_grad = a.requires_grad;
        save_for_backward(second);
        return out;
    }
    constexpr value silu(const value& a) { return unary(op::silu, a); }
    constexpr value tanh(const value& a) { return unary(op::tanh, a); }
    constexpr value rsqrt(const value& a) { return unary(op::rsqrt, a); }
    /// `x ** exponent`, an integer from 0 to 16: the multiplications of square-and-multiply.
    constexpr value pow(const value& a, unsigned exponent) {
        const auto multiplications = [](unsigned e) {
            int n = -2;
            for (; e != 0; e >>= 1) n += 1 + static_cast<int>(e & 1U);
            return count(n > 0 ? n : 0);
        };
        value out = like(a);
        note(op::integer_power, count(a.elements) * multiplications(exponent), {}, out, a);
        // the gradient times the exponent times the power that is one lower
        if (out.requires_grad && exponent > 0)
            backward({.mult = count(a.elements) * (multiplications(exponent - 1) + count(2))});
        return out;
    }
    constexpr value unary(op kind, const value& a) {
        value out = like(a);
        note(kind, count(a.elements), {}, out, a);
        return out;
    }
    constexpr value binary(op kind, const value& a, const value& b) {
        const value* const in[2] = {&a, &b};
        value out;
        elementwise_layout(in, 2, out);
        out.type = promoted(a, b);
        if (a.visible != 0) out.visible = a.visible, out.elements = a.elements;
        record(kind, count(out.elements), {}, out, in, 2);
        return out;
    }

    // ---- reductions and rows

    constexpr value sum(const value& a, int along, bool keepdim = false) { return reduce(op::sum, a, along, keepdim); }
    constexpr value mean(const value& a, int along, bool keepdim = false) { return reduce(op::mean, a, along, keepdim); }
    constexpr value std(const value& a, int along, bool keepdim = false) { return reduce(op::std, a, along, keepdim); }
    /// `Tensor.var(unbiased=False)`.
    constexpr value variance(const value& a, int along, bool keepdim = false) {
        return reduce(op::variance, a, along, keepdim);
    }
    constexpr value max_over(const value& a, int along, bool keepdim = false) { return reduce(op::max, a, along, keepdim); }
    constexpr value logsumexp(const value& a, int along, bool keepdim = false) {
        return reduce(op::logsumexp, a, along, keepdim);
    }
    /// `Tensor.norm(p=2)`.
    constexpr value vector_norm(const value& a, int along, bool keepdim = false) {
        return reduce(op::vector_norm, a, along, keepdim);
    }
    constexpr value cumsum(const value& a, int along) {
        value out = contiguous_like(a);
        note(op::cumsum, count(a.elements), count(a.elements / length(a, along)), out, a);
        return out;
    }
    /// Softmax over the last dimension; the rows of causal scores are as long as what each query sees.
    constexpr value softmax(const value& a) { return over_rows(op::softmax, a); }
    /// The same called as `Tensor.softmax` or `torch.softmax`.
    constexpr value softmax_method(const value& a) {
        const value* const in[1] = {&a};
        const call_guard call{*this, {torch_function::softmax_method, in, 1}};
        return softmax(a);
    }
    /// An activation that is called by a name of its own.
    constexpr value unary(torch_function spelled, op kind, const value& a) {
        const value* const in[1] = {&a};
        const call_guard call{*this, {spelled, in, 1}};
        return unary(kind, a);
    }
    constexpr value log_softmax(const value& a) { return over_rows(op::log_softmax, a); }
    /// `F.nll_loss` of log-probabilities (rows, classes): the mean of those that labels pick, one number; the sum of the
    /// labels' weights is another, which backward reads.
    constexpr value nll_loss(const value& a) {
        value out = dense(extents{1}, a.type);
        value weights = constant({1}, a.type);
        weights.requires_grad = a.requires_grad;
        save_for_backward(weights);
        note(op::nll_loss, count(static_cast<std::uint64_t>(a.dim(0))), count(1), out, a);
        return out;
    }
    /// `F.layer_norm` over the last dimension, or the last few; `parts` parameters: none, a weight, or weight and bias.
    constexpr value layer_norm(const value& a, int parts, int dimensions = 1) {
        const op kind = parts == 0 ? op::layer_norm : parts == 1 ? op::layer_norm_weight : op::layer_norm_affine;
        const count rows = dimensions == 1 ? rows_of(a) : count(elements_of(a.size, a.rank - dimensions));
        written(2 * rows.to_64());  // mean and reciprocal deviation of every row
        value out = contiguous_like(a);
        note(kind, count(a.elements), rows, out, a);
        return out;
    }

    // ---- copies

    constexpr value copy(const value& a) {
        value out = contiguous_like(a);
        note(op::copy, {}, {}, out, a);
        return out;
    }
    constexpr value contiguous(const value& a) { return a.is_contiguous() ? a : copy(a); }
    /// `Tensor.clone`: a copy laid out as the original.
    constexpr value clone(const value& a) {
        value out = like(a);
        note(op::copy, {}, {}, out, a);
        return out;
    }
    /// `Tensor.to(memory_format=contiguous_format)`: a copy only of what suggests another format (ATen's `to_will_alias`).
    constexpr value to_contiguous_format(const value& a) { return a.is_channels_last() ? copy(a) : a; }
    /// The same with another element type: one copy does both.
    constexpr value to_contiguous_format(const value& a, dtype type) {
        if (a.type == type) return to_contiguous_format(a);
        value out = contiguous_like(a);
        out.type = type;
        note(op::copy, {}, {}, out, a);
        return out;
    }
    /// `Tensor.repeat_interleave` with one number for all.
    constexpr value repeat_interleave(const value& a, int along, std::int64_t times) {
        const int d = a.axis(along);
        extents wide, out;
        for (int i = 0; i < a.rank; ++i) {
            wide.size[wide.rank++] = a.size[i];
            out.size[out.rank++] = i == d ? a.size[i] * times : a.size[i];
            if (i == d) wide.size[wide.rank++] = times;
        }
        return copy(a.unsqueeze(d + 1).expand(wide)).view(out);
    }
    /// `torch.zeros_like`: a new tensor laid out as another.
    constexpr value zeros_like(const value& a) {
        value out = like(a);
        record(op::constant, {}, {}, out, nullptr, 0);
        return out;
    }
    /// `Tensor.reshape`: a view where one is possible, else a copy.
    constexpr value reshape(const value& a, extents to) {
        const extents sizes = a.resolve(to);
        value v;
        if (!a.try_view(sizes, v)) (void)copy(a).try_view(sizes, v);
        return v;
    }
    /// `Tensor.to(dtype)`: itself where it has the type already.
    constexpr value to(const value& a, dtype type) {
        if (a.type == type) return a;
        value out = like(a);
        out.type = type;
        note(op::copy, {}, {}, out, a);
        return out;
    }
    constexpr value cat(std::initializer_list<value> parts, int along) {
        return cat(parts.begin(), static_cast<int>(parts.size()), along);
    }
    /// The same of `n` parts that lie one behind the other.
    constexpr value cat(const value* parts, int n, int along) {
        if (n < 1 || n > most_joined) report_description("cat: too many parts");
        extents to;
        to.rank = parts->rank;
        for (int i = 0; i < parts->rank; ++i) to.size[i] = parts->size[i];
        const int d = parts->axis(along);
        to.size[d] = 0;
        for (int i = 0; i < n; ++i) to.size[d] += parts[i].size[d];
        value out = dense(to, parts->type);
        if (parts->visible != 0) {
            std::int64_t pairs = 0;
            for (int i = 0; i < n; ++i)
                pairs += parts[i].visible != 0 ? parts[i].visible : parts[i].dim(-2) * parts[i].dim(-1);
            see(out, pairs);
        }
        const value* in[most_joined]{};
        for (int i = 0; i < n; ++i) in[i] = &parts[i];
        record(op::cat, {}, {}, out, in, n);
        return out;
    }
    /// How many tensors are joined at most.
    static constexpr int most_joined = 64;
    /// Rows picked by integers (embedding, index, gather): a new tensor of these sizes.
    constexpr value gather(const value& from, extents to) {
        value out = dense(to, from.type);
        note(op::gather, count(out.elements), {}, out, from);
        return out;
    }
    /// `Tensor.gather`: the same, but what it picks from is kept, whose sizes its backward reads.
    constexpr value gather_along(const value& from, extents to) {
        save_for_backward(from);
        return gather(from, to);
    }
    /// A new tensor that needs no gradient: zeros, ones, float positions, a mask.
    constexpr value constant(extents to, dtype type = dtype::float32) {
        value out = dense(to, type);
        record(op::constant, {}, {}, out, nullptr, 0);
        return out;
    }
    /// `F.pad` with a constant: a new tensor, longer along one dimension, channels last where the original suggests it.
    constexpr value pad(const value& a, int along, std::int64_t more) {
        value out = a;
        out.size[a.axis(along)] += more;
        out = dense_as(out);
        if (a.is_channels_last()) out.make_channels_last_strides();
        note(op::copy, {}, {}, out, a);
        return out;
    }
    /// The same to any sizes.
    constexpr value pad_to(const value& a, const extents& sizes) {
        value out = dense(sizes, a.type);
        if (a.is_channels_last()) out.make_channels_last_strides();
        note(op::copy, {}, {}, out, a);
        return out;
    }
    /// The same along two neighbouring dimensions in one call.
    constexpr value pad(const value& a, int first, std::int64_t more, std::int64_t more_of_next) {
        const int d = a.axis(first);
        value out = a;
        out.size[d] += more, out.size[a.axis(d + 1)] += more_of_next;
        out = dense_as(out);
        if (a.is_channels_last()) out.make_channels_last_strides();
        note(op::copy, {}, {}, out, a);
        return out;
    }
    /// `index_add_` and the like: adds a source's elements into a tensor that exists.
    constexpr void index_add(value& into, const value& source) {
        const value before = into;
        const value* const in[2] = {&before, &source};
        record(op::index_add, count(source.elements), {}, into, in, 2, true);
    }
    /// An elementwise operation that writes into its first operand (`add_`, `div_`, `clamp_`).
    constexpr void in_place(op kind, value& a, const value& b) {
        const value before = a;
        const value* const in[2] = {&before, &b};
        record(kind, count(a.elements), {}, a, in, 2, true);
    }
    constexpr void in_place(op kind, value& a) {
        const value before = a;
        const value* const in[1] = {&before};
        record(kind, count(a.elements), {}, a, in, 1, true);
    }
    /// `torch.where`, `masked_fill`: a choice between elements.
    constexpr value where(const value& a) {
        value out = contiguous_like(a);
        note(op::where, {}, {}, out, a);
        return out;
    }
    /// `Tensor.masked_scatter`, `Tensor.index_put`: rows of a source in the place of those that a mask names, in a new tensor.
    constexpr value masked_scatter(const value& a, const value& source) {
        value out = contiguous_like(a);
        const value* const in[2] = {&a, &source};
        record(op::scatter, count(out.elements), {}, out, in, 2);
        keep_encoded(source);
        return out;
    }
    /// The same of two tensors, each of which gets its part of the gradient.
    constexpr value where(const value& a, const value& b) { return binary(op::where, a, b); }
    constexpr value top_k(const value& a, std::int64_t k) {
        value out = contiguous_like(a);
        out.size[a.axis(-1)] = k;
        out = dense_as(out);
        note(op::top_k, {}, {}, out, a);
        return out;
    }

    // ---- views that backward fills up with zeros

    /// `x[..., i : i + length * step : step]`: see `recorder::cut`.
    constexpr value slice(const value& a, int along, std::int64_t length, std::int64_t step = 1) {
        return cut(a, a.slice(along, length, step));
    }
    /// `x[..., i]`.
    constexpr value select(const value& a, int along) { return cut(a, a.select(along)); }
    /// So many of them, each read by itself.
    constexpr value select_each(const value& a, int along, std::int64_t n) { return cut(a, a.select(along), n); }

    [[nodiscard]] static constexpr value contiguous_like(const value& a) {
        value out = a;
        out.make_contiguous_strides();
        return out;
    }
    /// The visible pairs of causal scores take the place of all pairs.
    static constexpr void see(value& scores, std::int64_t visible) {
        const count n = count(elements_of(scores.size, scores.rank - 2)) * count(visible);
        if (n.to_wide() >> 63 != 0) report_overflow();
        scores.visible = visible;
        scores.elements = n.to_64();
    }

protected:
    /// An elementwise result of one tensor: its layout where it is dense, else a contiguous one.
    [[nodiscard]] static constexpr value like(const value& a) {
        value out = a;
        if (!a.is_contiguous()) {
            const value* const in[1] = {&a};
            detail::follow_strides(in, 1, out);
        }
        return out;
    }
    constexpr void note(op kind, count work, count rows, value& out, const value& a) {
        const value* const in[1] = {&a};
        record(kind, work, rows, out, in, 1);
    }
    [[nodiscard]] static constexpr value dense_as(const value& a) {
        extents e;
        e.rank = a.rank;
        for (int i = 0; i < a.rank; ++i) e.size[i] = a.size[i];
        return dense(e, a.type);
    }
    [[nodiscard]] static constexpr dtype promoted(const value& a, const value& b) noexcept {
        return a.type != b.type && bits_of(b.type) > bits_of(a.type) && b.rank > 0 ? b.type : a.type;
    }
    [[nodiscard]] static constexpr std::uint64_t length(const value& a, int along) {
        const std::int64_t n = a.dim(along);
        return n > 0 ? static_cast<std::uint64_t>(n) : 1;
    }
    [[nodiscard]] static constexpr count rows_of(const value& a) {
        if (a.visible != 0) return count(elements_of(a.size, a.rank - 1));
        return count(a.elements / length(a, -1));
    }
    constexpr value over_rows(op kind, const value& a) {
        value out = contiguous_like(a);
        note(kind, count(a.elements), rows_of(a), out, a);
        return out;
    }
    constexpr value reduce(op kind, const value& a, int along, bool keepdim) {
        const int d = a.axis(along);
        value out = a;
        out.size[d] = 1;
        out = dense_as(out);
        if (!keepdim) out = out.squeeze(d);
        note(kind, count(a.elements), count(out.elements), out, a);
        return out;
    }
};

}  // namespace llmcost
