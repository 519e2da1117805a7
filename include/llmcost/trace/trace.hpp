// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/trace/image_calls.hpp>
#include <llmcost/trace/repetition.hpp>

namespace llmcost {

class trace;

/// A layer: what its class is called, what it is for, whether it has no children, and how its forward pass goes.
template <class L>
concept Layer = requires(const L& layer) {
    layer.type(), L::what, L::leaf;
};

/// A forward pass being described: modules are called, operations executed, values passed on, as PyTorch would.
///
/// What is elementwise, by rows or a copy is in `tensor_calls.hpp`, what goes over places of images in `image_calls.hpp`;
/// products and modules are here.
class trace : public image_calls {
public:
    using image_calls::image_calls;

    // ---- modules

    /// Calls a child module: `q = t.call("q_proj", linear{…}, x)`, in a list `x = t.call({"layers", i}, block{…}, x)`.
    template <Layer L, class... In>
    constexpr auto call(module_place at, const L& layer, const In&... in) {
        const module_info m = entered(at, layer.type(), L::what, L::leaf);
        return leave(m, layer.describe(*this, in...));
    }
    using image_calls::leave;
    /// Ends what `enter` with the same began, a part of a module that has a path of its own: `return t.leave(m, x);`
    constexpr value leave(const module_info& m, const value& out) {
        if (m.leaf) returned(out);
        leave(m);
        return out;
    }
    constexpr two_values leave(const module_info& m, const two_values& out) {
        if (m.leaf) returned(out);
        leave(m);
        return out;
    }

    // ---- parameters

    /// Declares a parameter, and gives what the module reads of it; `used` of `of` equal parts meet one token (experts).
    constexpr value param(literal name, extents sizes, std::int64_t used = 1, std::int64_t of = 1) {
        value own = image_calls::param(name, sizes, used, of);
        if (policy() != nullptr) own = policy()->weighs(*this, name, own, false);
        return own;
    }
    /// The same of a parameter whose tensor another module has named before.
    constexpr value tied(literal name, extents sizes) {
        value own = image_calls::tied(name, sizes);
        if (policy() != nullptr) own = policy()->weighs(*this, name, own, true);
        return own;
    }

    /// What a model hands out: its head's scores, or the hidden states where the workload wants no logits.
    [[nodiscard]] constexpr const value& returns(const value& hidden, const value& scores) const noexcept {
        return load().head == logits::none ? hidden : scores;
    }

    // ---- products

    /// `F.linear`: the weight is (out, in); with a bias a fused addmm where the input is contiguous.
    constexpr value linear(const value& x, const value& weight, const value* bias = nullptr) {
        if (is_wide(x, weight)) {
            const value b = bias != nullptr ? narrowed(*bias) : value{};
            return linear(narrowed(x), narrowed(weight), bias != nullptr ? &b : nullptr);
        }
        const value* const in[2] = {&x, &weight};
        const call_guard call{*this, {torch_function::linear, in, 2, bias}};
        if (x.is_contiguous() && x.visible == 0) {
            if (bias != nullptr) beside(*bias);
            return rows_times(bias == nullptr ? op::matmul : op::matmul_bias, x, weight);
        }
        const value w = weight.transpose(0, 1);
        if (bias == nullptr) return matmul(x, w);
        if (x.rank == 2) return addmm(*bias, x, w);
        return add(matmul(x, w), *bias);
    }
    /// `torch.addmm`: bias + a · b for matrices.
    constexpr value addmm(const value& bias, const value& a, const value& b) {
        if (is_wide(a, b)) return addmm(narrowed(bias), narrowed(a), narrowed(b));
        const value* const in[2] = {&a, &b};
        const call_guard call{*this, {torch_function::addmm, in, 2, &bias}};
        beside(bias);
        return mm(op::matmul_bias, a, b);
    }
    /// `torch.matmul`: matrices, or batches of them; folded into one matrix where ATen folds (`should_fold`).
    ///
    /// `visible` counts the pairs of each product that are computed at all (causal scores); 0: all of them.
    constexpr value matmul(const value& a, const value& b, std::int64_t visible = 0,
                           torch_function spelled = torch_function::matmul) {
        if (is_wide(a, b)) return matmul(narrowed(a), narrowed(b), visible, spelled);
        const value* const in[2] = {&a, &b};
        const call_guard call{*this, {spelled, in, 2}};
        if (a.rank == 2 && b.rank == 2) return mm(op::matmul, a, b);
        if (b.rank == 2 && folds(a, b)) return unfold(mm(op::matmul, flat(a), b), a);
        if (a.rank == 2 && b.rank > 2 && folds(b.transpose(-2, -1), a)) {  // from the other side, turned back by a copy
            const value turned = b.transpose(-2, -1);
            return contiguous(unfold(mm(op::matmul, flat(turned), a.transpose(0, 1)), turned).transpose(-2, -1));
        }
        extents batch;
        batch.rank = (a.rank > b.rank ? a.rank : b.rank) - 2;
        for (int i = 0; i < batch.rank; ++i) {
            const int ia = i - batch.rank + a.rank - 2, ib = i - batch.rank + b.rank - 2;
            const std::int64_t na = ia >= 0 ? a.size[ia] : 1, nb = ib >= 0 ? b.size[ib] : 1;
            batch.size[i] = na == 1 ? nb : na;
        }
        const value x = as_batch(a, batch), y = as_batch(b, batch);
        const value out = bmm(op::batched_matmul, x, y, visible);
        extents to = batch;
        to.size[to.rank++] = a.dim(-2);
        to.size[to.rank++] = b.dim(-1);
        return out.view(to);
    }
    /// The same written `a @ b`.
    constexpr value matmul_operator(const value& a, const value& b, std::int64_t visible = 0) {
        return matmul(a, b, visible, torch_function::matmul_operator);
    }
    constexpr value bmm(const value& a, const value& b) { return bmm(op::batched_matmul, a, b); }
    /// The same, scaled or added to `added`, or to a tensor as large as the result.
    constexpr value bmm(op kind, const value& a, const value& b, std::int64_t visible = 0, const value* added = nullptr) {
        const bool alone = kind == op::batched_matmul_scaled;
        return bmm(kind == op::batched_matmul ? torch_function::bmm
                   : alone                    ? torch_function::baddbmm_alone
                                              : torch_function::baddbmm,
                   kind, a, b, visible, added);
    }
    constexpr value bmm(torch_function spelled, op kind, const value& a, const value& b, std::int64_t visible = 0,
                        const value* added = nullptr) {
        if (is_wide(a, b)) return bmm(spelled, kind, narrowed(a), narrowed(b), visible, added);
        if (a.dim(-1) != b.dim(-2) || a.dim(0) != b.dim(0)) report_description("bmm: sizes do not meet");
        value out = dense({a.dim(0), a.dim(-2), b.dim(-1)}, promoted(a, b));
        if (visible != 0) see(out, visible);
        const value* const in[2] = {&a, &b};
        const call_guard call{*this, {spelled, in, 2, added}};
        const count work = a.visible != 0 ? count(a.elements) * count(b.dim(-1)) : count(out.elements) * count(a.dim(-1));
        record(kind, work, count(out.elements), out, in, 2);
        return out;
    }

    /// `torch.linalg.solve_triangular` with ones on the diagonal: a (…, k, k), b (…, k, c) -> (…, k, c), columns first in
    /// memory.
    constexpr value solve_unit_triangular(const value& a, const value& b) {
        const value* const in[2] = {&a, &b};
        value out = dense_as(b.transpose(-2, -1)).transpose(-2, -1);
        const auto k = static_cast<std::uint64_t>(a.dim(-1));
        record(op::unit_triangular_solve, count(b.elements / k) * count(k * (k - 1) / 2), {}, out, in, 2);
        // the gradient of a is a product of k×c and c×k (torch FunctionsManual, `linalg_solve_triangular_backward`)
        if (a.requires_grad) backward_torch_flops(count(b.elements) * count(2 * k));
        solve_back(a, b, out);
        return out;
    }
    /// `F.conv1d`, `F.conv2d`, `F.conv3d`: x (batch, channels, length…), weight (out, channels / groups, kernel…). Per
    /// output MULT K, ADD K − 1 with K = channels / groups · kernel.
    constexpr value convolution(const value& x, const value& weight, bool bias, std::int64_t groups = 1,
                                std::int64_t stride = 1, std::int64_t padding = 0, std::int64_t dilation = 1) {
        return convolution(x, weight, bias, {groups, stride, dilation, padding});
    }
    /// The same with steps of its own for each dimension.
    constexpr value convolution(const value& x, const value& weight, bool bias, const convolution_steps& how) {
        value y = convolve(x, weight, bias, how);
        if (policy() != nullptr) y = policy()->convolved(*this, x, weight, how, y);
        return y;
    }
    /// `F.conv_transpose1d` and its relatives: weight (channels, out / groups, kernel…); `more` is added to the output's
    /// sides. MULT inputs · K, ADD that less the outputs, with K = out / groups · kernel.
    constexpr value convolution_transposed(const value& x, const value& weight, bool bias, const convolution_steps& how,
                                           const extents& more) {
        if (is_wide(x, weight)) return convolution_transposed(narrowed(x), narrowed(weight), bias, how, more);
        if (x.rank != weight.rank)
            report_description("transposed convolution: the input has other dimensions than the kernel");
        if (weight.dim(0) != x.dim(1)) report_description("transposed convolution: channels do not meet");
        extents to{x.dim(0), weight.dim(1) * how.groups};
        for (int i = 2; i < x.rank; ++i) {
            const std::int64_t reach = how.dilation.each(i - 2) * (weight.size[i] - 1) + 1;
            const std::int64_t side =
                (x.size[i] - 1) * how.stride.each(i - 2) - 2 * how.padding.each(i - 2) + reach + more.each(i - 2);
            if (side < 1) report_description("transposed convolution: nothing is left");
            to.size[to.rank++] = side;
        }
        value out = dense(to, x.type);
        const value* const in[2] = {&x, &weight};
        const call_guard call{*this, {torch_function::convolution_transposed, in, 2}};
        const count work = count(x.elements) * count(weight.elements / static_cast<std::uint64_t>(weight.dim(0)));
        record(bias ? op::convolution_bias : op::convolution, work, count(out.elements), out, in, 2);
        // torch/utils/flop_counter.py, conv_backward_flop: a grouped weight's gradient is counted as if it had no groups
        if (weight.requires_grad) backward_torch_flops(work * count(2 * (how.groups - 1)));
        return out;
    }

    /// A tensor of 32 bits in bfloat16, where autocast makes products so.
    constexpr value narrowed(const value& a) {
        return load().autocast && a.type == dtype::float32 ? to(a, dtype::bfloat16) : a;
    }

private:
    constexpr value convolve(const value& x, const value& weight, bool bias, const convolution_steps& how) {
        if (is_wide(x, weight)) return convolve(narrowed(x), narrowed(weight), bias, how);
        if (x.rank != weight.rank) report_description("convolution: the input has other dimensions than the kernel");
        if (x.dim(1) != weight.dim(1) * how.groups) report_description("convolution: channels do not meet");
        if (weight.dim(0) < 1) report_description("convolution: no results");
        extents to{x.dim(0), weight.dim(0)};
        for (int i = 2; i < x.rank; ++i) {
            const std::int64_t padded = x.size[i] + 2 * how.padding.each(i - 2),
                               reach = how.dilation.each(i - 2) * (weight.size[i] - 1) + 1;
            if (how.stride.each(i - 2) < 1) report_description("convolution: no stride");
            if (padded < reach) report_description("convolution: the kernel is larger than its input");
            to.size[to.rank++] = (padded - reach) / how.stride.each(i - 2) + 1;
        }
        value out = dense(to, x.type);
        const value* const in[2] = {&x, &weight};
        const count work = count(out.elements) * count(weight.elements / static_cast<std::uint64_t>(weight.dim(0)));
        record(bias ? op::convolution_bias : op::convolution, work, count(out.elements), out, in, 2);
        // torch/utils/flop_counter.py, conv_backward_flop: a grouped weight's gradient is counted as if it had no groups
        if (weight.requires_grad) backward_torch_flops(work * count(2 * (how.groups - 1)));
        return out;
    }
    [[nodiscard]] constexpr bool is_wide(const value& a, const value& b) const noexcept {
        return load().autocast && (a.type == dtype::float32 || b.type == dtype::float32);
    }
    constexpr module_info entered(module_place at, class_name type, role what, bool leaf) {
        const module_info m{at.name, at.index, type, what, leaf};
        enter(m);
        return m;
    }
    /// The gradient of b is the transposed system's solution; that of a its product with the solution, negated.
    constexpr void solve_back(const value& a, const value& b, const value& out) {
        if (!out.requires_grad) return;
        const auto k = static_cast<std::uint64_t>(a.dim(-1));
        const count pairs = count(b.elements / k) * count(k * (k - 1) / 2);
        backward({.add = pairs, .mult = pairs});
        if (a.requires_grad) {
            const count products = count(b.elements) * count(k);
            backward({.add = products - count(a.elements), .mult = products, .neg = count(a.elements)});
        }
    }
    /// Contiguous rows times a transposed weight: what folding into one matrix and back amounts to.
    constexpr value rows_times(op kind, const value& x, const value& weight) {
        if (x.dim(-1) != weight.dim(1)) report_description("linear: sizes do not meet");
        value out = x;
        out.size[x.rank - 1] = weight.size[0];
        out.elements = elements_of(out.size, out.rank);
        out.type = promoted(x, weight);
        out.make_contiguous_strides();
        const value* const in[2] = {&x, &weight};
        record(kind, count(out.elements) * count(weight.size[1]), count(out.elements), out, in, 2);
        return out;
    }
    constexpr value mm(op kind, const value& a, const value& b) {
        if (a.dim(1) != b.dim(0)) report_description("matmul: sizes do not meet");
        value out = dense({a.dim(0), b.dim(1)}, promoted(a, b));
        const value* const in[2] = {&a, &b};
        record(kind, count(out.elements) * count(a.dim(1)), count(out.elements), out, in, 2);
        return out;
    }
    constexpr value flat(const value& a) { return reshape(a, {-1, a.dim(-1)}); }
    static constexpr value unfold(const value& product, const value& a) {
        extents to;
        to.rank = a.rank;
        for (int i = 0; i < a.rank; ++i) to.size[i] = a.size[i];
        to.size[a.rank - 1] = product.dim(1);
        return product.view(to);
    }
    static constexpr bool folds(const value& a, const value& b) {
        if (a.rank < 3) return false;
        if (b.requires_grad || a.elements == 0) return true;
        for (int i = 0; i < a.rank - 2; ++i)
            if (a.stride[i] != a.stride[i + 1] * a.size[i + 1]) return false;
        return true;
    }
    constexpr value as_batch(const value& a, const extents& batch) {
        extents wide = batch;
        wide.size[wide.rank++] = a.dim(-2);
        wide.size[wide.rank++] = a.dim(-1);
        const value v = a.visible != 0 ? a : a.expand(wide);
        value out = reshape(v, {static_cast<std::int64_t>(elements_of(batch.size, batch.rank)), a.dim(-2), a.dim(-1)});
        if (a.visible != 0) see(out, a.visible);
        return out;
    }
};

}  // namespace llmcost
