// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/trace/image_ops.hpp>
#include <llmcost/trace/loop.hpp>

namespace llmcost {

class trace;

/// A module: its class name, role, whether it is a leaf, and its forward function.
template <class L>
concept Layer = requires(const L& layer) {
    layer.type_name(), L::module_role, L::is_leaf;
};

/// A symbolic forward pass: calls modules, executes operations and passes tensors on, as PyTorch does.
///
/// Products and modules are here. Elementwise operations, row operations and copies are in `tensor_ops.hpp`, spatial
/// operations in `image_ops.hpp`.
class trace : public image_calls {
public:
    using image_calls::image_calls;

    // ---- modules

    /// Calls a child module: `q = t.call("q_proj", linear{…}, x)`, in a list `x = t.call({"layers", i}, block{…}, x)`.
    template <Layer L, class... In>
    constexpr auto call(child_name name, const L& layer, const In&... in) {
        const module_info m = enter_module(name, layer.type_name(), L::module_role, L::is_leaf);
        return leave(m, layer.forward(*this, in...));
    }
    using image_calls::leave;
    /// Ends a module that began with `enter(m)`, and returns its output: `return t.leave(m, x);`
    constexpr tensor leave(const module_info& m, const tensor& out) {
        if (m.is_leaf) record_module_output(out);
        leave(m);
        return out;
    }
    constexpr tensor_pair leave(const module_info& m, const tensor_pair& out) {
        if (m.is_leaf) record_module_output(out);
        leave(m);
        return out;
    }

    // ---- parameters

    /// Declares a parameter and returns the tensor that the module reads for it.
    ///
    /// One token uses `used` of `total_parts` equal parts (experts).
    constexpr tensor param(literal name, shape sizes, std::int64_t used = 1, std::int64_t total_parts = 1) {
        tensor weight = image_calls::parameter(name, sizes, used, total_parts);
        if (policy() != nullptr) weight = policy()->transform_parameter(*this, name, weight, false);
        return weight;
    }
    /// Declares a parameter whose tensor another module has declared, and returns the tensor that the module reads for
    /// it.
    constexpr tensor tied(literal name, shape sizes) {
        tensor weight = image_calls::tied_parameter(name, sizes);
        if (policy() != nullptr) weight = policy()->transform_parameter(*this, name, weight, true);
        return weight;
    }

    /// The output of a model: `scores` of its head, or `hidden` if the workload computes no logits.
    [[nodiscard]] constexpr const tensor& select_model_output(const tensor& hidden,
                                                              const tensor& scores) const noexcept {
        return load().head == logits::none ? hidden : scores;
    }

    // ---- products

    /// `F.linear` with a weight (out, in). With a bias and a contiguous input, it runs as a fused addmm.
    constexpr tensor linear(const tensor& x, const tensor& weight, const tensor* bias = nullptr) {
        if (needs_autocast(x, weight)) {
            const tensor b = bias != nullptr ? to_autocast_dtype(*bias) : tensor{};
            return linear(to_autocast_dtype(x), to_autocast_dtype(weight), bias != nullptr ? &b : nullptr);
        }
        const tensor* const in[2] = {&x, &weight};
        const function_call_guard call{*this, {torch_function::linear, in, 2, bias}};
        if (x.is_contiguous() && x.visible_pairs == 0) {
            if (bias != nullptr) read_parameter_in_next_op(*bias);
            return linear_contiguous(bias == nullptr ? op::matmul : op::matmul_bias, x, weight);
        }
        const tensor w = weight.transpose(0, 1);
        if (bias == nullptr) return matmul(x, w);
        if (x.rank == 2) return addmm(*bias, x, w);
        return add(matmul(x, w), *bias);
    }
    /// `torch.addmm`: bias + a · b for matrices.
    constexpr tensor addmm(const tensor& bias, const tensor& a, const tensor& b) {
        if (needs_autocast(a, b)) return addmm(to_autocast_dtype(bias), to_autocast_dtype(a), to_autocast_dtype(b));
        const tensor* const in[2] = {&a, &b};
        const function_call_guard call{*this, {torch_function::addmm, in, 2, &bias}};
        read_parameter_in_next_op(bias);
        return mm(op::matmul_bias, a, b);
    }
    /// `torch.matmul` of matrices or batches, folded into one matrix if ATen does so (`should_fold`).
    ///
    /// `visible`: number of pairs of each product that are computed (causal scores); 0: all.
    constexpr tensor matmul(const tensor& a, const tensor& b, std::int64_t visible = 0,
                            torch_function function = torch_function::matmul) {
        if (needs_autocast(a, b)) return matmul(to_autocast_dtype(a), to_autocast_dtype(b), visible, function);
        const tensor* const in[2] = {&a, &b};
        const function_call_guard call{*this, {function, in, 2}};
        if (a.rank == 2 && b.rank == 2) return mm(op::matmul, a, b);
        if (b.rank == 2 && can_fold_batch(a, b)) return unflatten_batch(mm(op::matmul, flatten_batch(a), b), a);
        if (a.rank == 2 && b.rank > 2 &&
            can_fold_batch(b.transpose(-2, -1), a)) {  // folded from the other side, then transposed by a copy
            const tensor b_transposed = b.transpose(-2, -1);
            return contiguous(
                unflatten_batch(mm(op::matmul, flatten_batch(b_transposed), a.transpose(0, 1)), b_transposed)
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
    /// `a @ b`, with the rules of `matmul`.
    constexpr tensor matmul_operator(const tensor& a, const tensor& b, std::int64_t visible = 0) {
        return matmul(a, b, visible, torch_function::matmul_operator);
    }
    constexpr tensor bmm(const tensor& a, const tensor& b) { return bmm(op::batched_matmul, a, b); }
    /// `torch.bmm`, or `torch.baddbmm` with scaling or an added tensor, by `kind`.
    constexpr tensor bmm(op kind, const tensor& a, const tensor& b, std::int64_t visible = 0,
                         const tensor* bias = nullptr) {
        const bool is_beta_zero = kind == op::batched_matmul_scaled;
        return bmm(kind == op::batched_matmul ? torch_function::bmm
                   : is_beta_zero             ? torch_function::baddbmm_beta_zero
                                              : torch_function::baddbmm,
                   kind, a, b, visible, bias);
    }
    constexpr tensor bmm(torch_function function, op kind, const tensor& a, const tensor& b, std::int64_t visible = 0,
                         const tensor* bias = nullptr) {
        if (needs_autocast(a, b)) return bmm(function, kind, to_autocast_dtype(a), to_autocast_dtype(b), visible, bias);
        if (a.dim(-1) != b.dim(-2) || a.dim(0) != b.dim(0)) throw_description_error("bmm: sizes do not match");
        tensor out = empty_tensor({a.dim(0), a.dim(-2), b.dim(-1)}, promoted_dtype(a, b));
        if (visible != 0) set_visible_pairs(out, visible);
        const tensor* const in[2] = {&a, &b};
        const function_call_guard call{*this, {function, in, 2, bias}};
        const count work =
            a.visible_pairs != 0 ? count(a.numel) * count(b.dim(-1)) : count(out.numel) * count(a.dim(-1));
        record_op(kind, work, count(out.numel), out, in, 2);
        return out;
    }

    /// `torch.linalg.solve_triangular` with a unit diagonal: a (…, k, k), b (…, k, c) -> (…, k, c), column-major.
    constexpr tensor solve_triangular(const tensor& a, const tensor& b) {
        const tensor* const in[2] = {&a, &b};
        tensor out = dense_like(b.transpose(-2, -1)).transpose(-2, -1);
        const auto k = static_cast<std::uint64_t>(a.dim(-1));
        record_op(op::unit_triangular_solve, count(b.numel / k) * count(k * (k - 1) / 2), {}, out, in, 2);
        // the gradient of a is a product of k×c and c×k (torch FunctionsManual, `linalg_solve_triangular_backward`)
        if (a.requires_grad) add_backward_torch_flops(count(b.numel) * count(2 * k));
        solve_triangular_backward(a, b, out);
        return out;
    }
    /// `F.conv1d`, `F.conv2d`, `F.conv3d`.
    ///
    /// Shapes: x (batch, channels, length…), weight (out, channels / groups, kernel…). Cost per output element: MULT K,
    /// ADD K − 1 with K = channels / groups · kernel.
    constexpr tensor conv(const tensor& x, const tensor& weight, bool bias, std::int64_t groups = 1,
                          std::int64_t stride = 1, std::int64_t padding = 0, std::int64_t dilation = 1) {
        return conv(x, weight, bias, {groups, stride, dilation, padding});
    }
    /// Convolution with separate options for each dimension.
    constexpr tensor conv(const tensor& x, const tensor& weight, bool bias, const convolution_options& options) {
        tensor y = conv_implementation(x, weight, bias, options);
        if (policy() != nullptr) y = policy()->transform_convolution_output(*this, x, weight, options, y);
        return y;
    }
    /// `F.conv_transpose1d` and similar.
    ///
    /// Shapes: x (batch, channels, length…), weight (channels, out / groups, kernel…). `output_padding` is added to the
    /// sizes of the output. Cost: MULT inputs · K, ADD inputs · K − outputs, with K = out / groups · kernel.
    constexpr tensor conv_transpose(const tensor& x, const tensor& weight, bool bias,
                                    const convolution_options& options, const shape& output_padding) {
        if (needs_autocast(x, weight))
            return conv_transpose(to_autocast_dtype(x), to_autocast_dtype(weight), bias, options, output_padding);
        if (x.rank != weight.rank)
            throw_description_error("transposed convolution: input and kernel have different ranks");
        if (weight.dim(0) != x.dim(1))
            throw_description_error("transposed convolution: the numbers of channels do not match");
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
        const function_call_guard call{*this, {torch_function::convolution_transposed, in, 2}};
        const count work = count(x.numel) * count(weight.numel / static_cast<std::uint64_t>(weight.dim(0)));
        record_op(bias ? op::convolution_bias : op::convolution, work, count(out.numel), out, in, 2);
        // torch/utils/flop_counter.py, conv_backward_flop: the gradient of a grouped weight counts as if it had one
        // group
        if (weight.requires_grad) add_backward_torch_flops(work * count(2 * (options.groups - 1)));
        return out;
    }

    /// Converts a float32 tensor to bfloat16 if autocast is enabled.
    constexpr tensor to_autocast_dtype(const tensor& a) {
        return load().autocast && a.type == dtype::float32 ? to(a, dtype::bfloat16) : a;
    }

private:
    constexpr tensor conv_implementation(const tensor& x, const tensor& weight, bool bias,
                                         const convolution_options& options) {
        if (needs_autocast(x, weight))
            return conv_implementation(to_autocast_dtype(x), to_autocast_dtype(weight), bias, options);
        if (x.rank != weight.rank) throw_description_error("convolution: input and kernel have different ranks");
        if (x.dim(1) != weight.dim(1) * options.groups)
            throw_description_error("convolution: the numbers of channels do not match");
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
        record_op(bias ? op::convolution_bias : op::convolution, work, count(out.numel), out, in, 2);
        // torch/utils/flop_counter.py, conv_backward_flop: the gradient of a grouped weight counts as if it had one
        // group
        if (weight.requires_grad) add_backward_torch_flops(work * count(2 * (options.groups - 1)));
        return out;
    }
    [[nodiscard]] constexpr bool needs_autocast(const tensor& a, const tensor& b) const noexcept {
        return load().autocast && (a.type == dtype::float32 || b.type == dtype::float32);
    }
    constexpr module_info enter_module(child_name name, class_name type, role module_role, bool leaf) {
        const module_info m{name.name, name.index, type, module_role, leaf};
        enter(m);
        return m;
    }
    /// Backward: grad b is the solution of the transposed system; grad a is −(grad b · outᵀ).
    constexpr void solve_triangular_backward(const tensor& a, const tensor& b, const tensor& out) {
        if (!out.requires_grad) return;
        const auto k = static_cast<std::uint64_t>(a.dim(-1));
        const count pairs = count(b.numel / k) * count(k * (k - 1) / 2);
        add_backward_cost({.add = pairs, .mult = pairs});
        if (a.requires_grad) {
            const count products = count(b.numel) * count(k);
            add_backward_cost({.add = products - count(a.numel), .mult = products, .neg = count(a.numel)});
        }
    }
    /// Product of contiguous rows and a transposed weight; equals folding into one matrix and back.
    constexpr tensor linear_contiguous(op kind, const tensor& x, const tensor& weight) {
        if (x.dim(-1) != weight.dim(1)) throw_description_error("linear: sizes do not match");
        tensor out = x;
        out.size[x.rank - 1] = weight.size[0];
        out.numel = num_elements(out.size, out.rank);
        out.type = promoted_dtype(x, weight);
        out.make_contiguous_strides();
        const tensor* const in[2] = {&x, &weight};
        record_op(kind, count(out.numel) * count(weight.size[1]), count(out.numel), out, in, 2);
        return out;
    }
    constexpr tensor mm(op kind, const tensor& a, const tensor& b) {
        if (a.dim(1) != b.dim(0)) throw_description_error("matmul: sizes do not match");
        tensor out = empty_tensor({a.dim(0), b.dim(1)}, promoted_dtype(a, b));
        const tensor* const in[2] = {&a, &b};
        record_op(kind, count(out.numel) * count(a.dim(1)), count(out.numel), out, in, 2);
        return out;
    }
    constexpr tensor flatten_batch(const tensor& a) { return reshape(a, {-1, a.dim(-1)}); }
    static constexpr tensor unflatten_batch(const tensor& product, const tensor& a) {
        shape to;
        to.rank = a.rank;
        for (int i = 0; i < a.rank; ++i) to.size[i] = a.size[i];
        to.size[a.rank - 1] = product.dim(1);
        return product.view(to);
    }
    static constexpr bool can_fold_batch(const tensor& a, const tensor& b) {
        if (a.rank < 3) return false;
        if (b.requires_grad || a.numel == 0) return true;
        for (int i = 0; i < a.rank - 2; ++i)
            if (a.stride[i] != a.stride[i + 1] * a.size[i + 1]) return false;
        return true;
    }
    constexpr tensor expand_to_batch(const tensor& a, const shape& batch) {
        shape expanded_shape = batch;
        expanded_shape.size[expanded_shape.rank++] = a.dim(-2);
        expanded_shape.size[expanded_shape.rank++] = a.dim(-1);
        const tensor v = a.visible_pairs != 0 ? a : a.expand(expanded_shape);
        tensor out =
            reshape(v, {static_cast<std::int64_t>(num_elements(batch.size, batch.rank)), a.dim(-2), a.dim(-1)});
        if (a.visible_pairs != 0) set_visible_pairs(out, a.visible_pairs);
        return out;
    }
};

}  // namespace llmcost
