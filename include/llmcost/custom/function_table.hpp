// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/custom/arguments.hpp>
#include <llmcost/custom/layer_table.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/rotary.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

// Functions of custom models: those of `torch`, `torch.nn.functional` and `torch.Tensor`, and the attention functions
// of Transformers.
namespace llmcost::custom {

namespace function {

template <op Kind>
void unary(trace& t, const arguments&, const operands& x) {
    *x.out = t.unary(Kind, t.autocast_input(Kind, x[0]));
}
/// A binary operation of two tensors, or of a tensor and a number.
template <op Kind>
void binary(trace& t, const arguments& a, const operands& x) {
    if (x.count == 1) {
        *x.out = t.unary(Kind, t.autocast_input(Kind, x[0]));
    } else if (a[1] != 0) {
        *x.out = x[0];
        t.apply_inplace(Kind, *x.out, x[1]);
    } else {
        *x.out = t.binary(Kind, t.autocast_input(Kind, x[0]), x[1]);
    }
}
/// Conversion to float32. For integers, the result is always a new tensor.
void as_float(trace& t, const arguments& a, const operands& x);
inline void type_as(trace& t, const arguments&, const operands& x) { *x.out = t.to(x[0], x[1].type); }
/// Power with an integer exponent. Without an exponent: a number to the power of each element.
void pow(trace& t, const arguments& a, const operands& x);
inline void matmul(trace& t, const arguments&, const operands& x) { *x.out = t.matmul(x[0], x[1]); }
inline void bmm(trace& t, const arguments&, const operands& x) { *x.out = t.bmm(x[0], x[1]); }
inline void linear(trace& t, const arguments&, const operands& x) {
    *x.out = t.linear(x[0], x[1], x.count > 2 ? &x[2] : nullptr);
}

template <op Kind>
void reduce(trace& t, const arguments& a, const operands& x) {
    const bool keepdim = a[1] != 0;
    const shape reduced_dims = a.shape_argument(0);
    if (reduced_dims.rank == 2 && Kind == op::mean && x[0].rank == 4) {  // global average pooling of images
        const int one = x[0].normalize_dim(static_cast<int>(reduced_dims.size[0])),
                  second_dim = x[0].normalize_dim(static_cast<int>(reduced_dims.size[1]));
        if (one + second_dim != 5 || one * second_dim != 6)
            throw_description_error("a mean over two dimensions must be over height and width");
        const tensor mean = t.mean_of_images(x[0]);
        *x.out = keepdim ? mean.unsqueeze(2).unsqueeze(3) : mean;
        return;
    }
    if (reduced_dims.rank != 1) throw_description_error("expected one dimension to sum over");
    const int d = static_cast<int>(reduced_dims.size[0]);
    *x.out = Kind == op::mean  ? t.mean(x[0], d, keepdim)
             : Kind == op::max ? t.amax(x[0], d, keepdim)
                               : t.sum(x[0], d, keepdim);
}

inline void cat(trace& t, const arguments& a, const operands& x) {
    *x.out = t.cat(x.in, x.count, static_cast<int>(a[0]));
}
void stack(trace& t, const arguments& a, const operands& x);
/// Splits a tensor into equal parts, one per named result. Their gradients are concatenated, as those of `split`.
void chunk(trace&, const arguments& a, const operands& x);
void split(trace&, const arguments& a, const operands& x);

inline void view(trace&, const arguments& a, const operands& x) { *x.out = x[0].view(a.shape_argument(0)); }
inline void reshape(trace& t, const arguments& a, const operands& x) { *x.out = t.reshape(x[0], a.shape_argument(0)); }
void expand(trace&, const arguments& a, const operands& x);
inline void transpose(trace&, const arguments& a, const operands& x) {
    *x.out = x[0].transpose(static_cast<int>(a[0]), static_cast<int>(a[1]));
}
inline void unsqueeze(trace&, const arguments& a, const operands& x) {
    *x.out = x[0].unsqueeze(static_cast<int>(a[0]));
}
inline void squeeze(trace&, const arguments& a, const operands& x) { *x.out = x[0].squeeze(static_cast<int>(a[0])); }
inline void contiguous(trace& t, const arguments&, const operands& x) { *x.out = t.contiguous(x[0]); }
inline void clone(trace& t, const arguments&, const operands& x) { *x.out = t.clone(x[0]); }
void slice(trace& t, const arguments& a, const operands& x);
inline void select(trace& t, const arguments& a, const operands& x) { *x.out = t.select(x[0], static_cast<int>(a[0])); }
inline void roll(trace& t, const arguments&, const operands& x) { *x.out = t.copy(x[0]); }
/// `F.pad`: pairs of sizes, starting with the last dimension.
void pad(trace& t, const arguments& a, const operands& x);
/// `x[indices]`: a gather of entries of the first dimension.
void index(trace& t, const arguments&, const operands& x);
inline void masked_fill(trace& t, const arguments&, const operands& x) { *x.out = t.masked_fill(x[0]); }
/// `F.normalize`: x / max(‖x‖₂, ε).
void normalize(trace& t, const arguments& a, const operands& x);
inline void constant(trace& t, const arguments& a, const operands& x) { *x.out = t.full(a.shape_argument(0)); }
/// Positions, as integers or in float32.
inline void arange(trace& t, const arguments& a, const operands& x) {
    *x.out = a[1] != 0 ? t.full(a.shape_argument(0)) : made_integers(a.shape_argument(0));
}

/// The pattern of attention to all tokens or to a window.
attention_pattern make_attention_pattern(trace& t, std::int64_t window, bool causal);
inline void create_causal_mask(trace& t, const arguments& a, const operands& x) {
    *x.out = eager_mask(t, make_attention_pattern(t, a[0], true), t.load().batch);
}
inline void update_cache(trace& t, const arguments& a, const operands& x) {
    *x.out = llmcost::update_kv_cache(t, x[0], make_attention_pattern(t, a[0], true));
}
/// Attention as in Transformers: `eager_attention_forward` or SDPA, depending on the workload.
///
/// Shapes: q (batch, heads, sequence, width), k and v (batch, kv heads, length, width), optional mask -> (batch,
/// sequence, heads, width).
void attention(trace& t, const arguments& a, const operands& x);
/// `F.scaled_dot_product_attention`, with heads before positions in its result.
void scaled_dot_product_attention(trace& t, const arguments& a, const operands& x);
inline void apply_rotary(trace& t, const arguments&, const operands& x) {
    *x.out = rotate<rotary_style::rotate_half>(t, x[0], x[1], x[2]);
}
inline void logits_to_keep(trace& t, const arguments&, const operands& x) { *x.out = logits_to_keep(t, x[0]); }

}  // namespace function

// clang-format off
template <op Kind>
inline constexpr layer_row unary_row{.forward = function::unary<Kind>};
template <op Kind>
inline constexpr layer_row binary_row{.forward = function::binary<Kind>, .arguments = {accept_and_ignore("other"), optional_argument("inplace", argument_kind::truth, 0)}, .max_inputs = 2};
template <op Kind>
inline constexpr layer_row reduce_row{.forward = function::reduce<Kind>, .arguments = {required_argument_list("dim", argument_kind::axes), optional_argument("keepdim", argument_kind::truth, 0)}};

inline constexpr layer_row function_table[]{
    called("add", binary_row<op::add>), called("sub", binary_row<op::sub>), called("mul", binary_row<op::mul>), called("div", binary_row<op::div>),
    called("maximum", binary_row<op::maximum>), called("minimum", binary_row<op::minimum>),
    called("neg", unary_row<op::neg>), called("exp", unary_row<op::exp>), called("log", unary_row<op::log>), called("sqrt", unary_row<op::sqrt>),
    called("rsqrt", unary_row<op::rsqrt>), called("reciprocal", unary_row<op::reciprocal>), called("abs", unary_row<op::absolute>),
    called("sin", unary_row<op::sin>), called("cos", unary_row<op::cos>), called("erf", unary_row<op::erf>),
    {"pow", function::pow, {optional_argument("exponent", argument_kind::integer, 0), accept_and_ignore("self")}},
    {"float", function::as_float, {optional_argument("integers", argument_kind::truth, 0)}}, {"type_as", function::type_as, {}, 2, 2},
    called("relu", activation_row_of<op::relu>), called("relu6", activation_row_of<op::clamp>), called("clamp", activation_row_of<op::clamp>), {"clamp_min", function::unary<op::compare>, {accept_and_ignore("min")}}, {"clamp_max", function::unary<op::compare>, {accept_and_ignore("max")}},
    called("silu", activation_row_of<op::silu>), called("sigmoid", activation_row_of<op::sigmoid>), called("tanh", activation_row_of<op::tanh>),
    called("hardswish", activation_row_of<op::hardswish>), called("hardsigmoid", activation_row_of<op::hardsigmoid>), called("softplus", activation_row_of<op::softplus>),
    {"gelu", layer::gelu, {optional_argument_name("approximate", "none tanh")}},
    {"softmax", layer::softmax, {optional_argument("dim", argument_kind::integer, -1)}},
    called("dropout", dropout_row),
    {"matmul", function::matmul, {}, 2, 2}, {"bmm", function::bmm, {}, 2, 2}, {"linear", function::linear, {}, 2, 3},
    called("sum", reduce_row<op::sum>), called("mean", reduce_row<op::mean>), called("amax", reduce_row<op::max>),
    {"cat", function::cat, {optional_argument("dim", argument_kind::integer, 0)}, 1, trace::max_cat_inputs}, {"stack", function::stack, {optional_argument("dim", argument_kind::integer, 0)}, 1, trace::max_cat_inputs},
    {"chunk", function::chunk, {optional_argument("dim", argument_kind::integer, 0)}, 1, 1, role::none, true, 0},
    {"split", function::split, {required_argument_list("split_size"), optional_argument("dim", argument_kind::integer, 0)}, 1, 1, role::none, true, 0},
    {"view", function::view, {required_argument_list("shape", argument_kind::shape)}}, {"reshape", function::reshape, {required_argument_list("shape", argument_kind::shape)}},
    {"expand", function::expand, {required_argument_list("shape", argument_kind::shape)}},
    {"flatten", layer::flatten, {optional_argument("start_dim", argument_kind::integer, 0), optional_argument("end_dim", argument_kind::integer, -1)}},
    {"permute", layer::permute, {required_argument_list("dims", argument_kind::axes)}},
    {"transpose", function::transpose, {required_argument("dim0", argument_kind::integer), required_argument("dim1", argument_kind::integer)}},
    {"unsqueeze", function::unsqueeze, {required_argument("dim", argument_kind::integer)}}, {"squeeze", function::squeeze, {required_argument("dim", argument_kind::integer)}},
    {"contiguous", function::contiguous, {}}, {"clone", function::clone, {}},
    {"slice", function::slice, {required_argument("dim", argument_kind::integer), optional_argument("start", argument_kind::integer, 0), optional_argument("end", argument_kind::integer, 0), optional_argument("step", argument_kind::size, 1)}},
    {"select", function::select, {required_argument("dim", argument_kind::integer)}},
    {"roll", function::roll, {accept_and_ignore("shifts"), accept_and_ignore("dims")}},
    {"index", function::index, {}, 2, 2}, {"masked_fill", function::masked_fill, {accept_and_ignore("value")}},
    {"normalize", function::normalize, {optional_argument("dim", argument_kind::integer, 1), accept_and_ignore("p"), accept_and_ignore("eps")}},
    {"pad", function::pad, {required_argument_list("pad", argument_kind::axes), accept_and_ignore("mode"), accept_and_ignore("value")}},
    {"zeros", function::constant, {required_argument_list("size", argument_kind::shape)}, 0, 0}, {"ones", function::constant, {required_argument_list("size", argument_kind::shape)}, 0, 0},
    {"arange", function::arange, {required_argument_list("size", argument_kind::shape), optional_argument_name("dtype", "int64 float32")}, 0, 0},
    called("max_pool1d", max_pool_row), called("max_pool2d", max_pool_row), called("avg_pool2d", average_pool_row), called("adaptive_avg_pool2d", adaptive_pool_row<op::average_pool>),
    {"interpolate", layer::upsample, {optional_argument_list("size", argument_kind::size, 1), optional_argument_list("scale_factor", argument_kind::size, 1), optional_argument_name("mode", "nearest bilinear linear trilinear bicubic"), accept_and_ignore("align_corners")}},
    {"pixel_shuffle", layer::pixel_shuffle, {required_argument("upscale_factor")}}, {"channel_shuffle", layer::channel_shuffle, {required_argument("groups")}},
    {"scaled_dot_product_attention", function::scaled_dot_product_attention, {optional_argument("is_causal", argument_kind::truth, 0)}, 3, 3},
    {"create_causal_mask", function::create_causal_mask, {optional_argument("window", argument_kind::amount, 0)}, 0, 1},
    {"update_cache", function::update_cache, {optional_argument("window", argument_kind::amount, 0)}},
    {"eager_attention_forward", function::attention, {optional_argument("window", argument_kind::amount, 0), optional_argument("is_causal", argument_kind::truth, 1)}, 3, 4},
    {"apply_rotary_pos_emb", function::apply_rotary, {}, 3, 3},
    {"logits_to_keep", function::logits_to_keep, {}},
};
// clang-format on

}  // namespace llmcost::custom

#ifndef LLMCOST_COMPILED
#include <llmcost/custom/impl/function_table.ipp>  // IWYU pragma: export
#endif
