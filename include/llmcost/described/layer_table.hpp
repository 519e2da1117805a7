// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/described/arguments.hpp>
#include <llmcost/layers/activation.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/multihead_attention.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/layers/rotary.hpp>
#include <llmcost/model/architecture.hpp>

// Layers that descriptions call by the names of their classes, with the arguments of their constructors.
namespace llmcost::described {

namespace layer {

inline bool drops_any(const arguments& a, std::size_t i, trace& t, dropout_of place = dropout_of::always) {
    return a[i] != 0 && t.drops(place);
}

inline void linear(trace& t, const arguments& a, const operands& x) {
    *x.out = llmcost::linear{a[0], a[1], a[2] != 0, a[3] != 0}.describe(t, x[0]);
}
inline void embedding(trace& t, const arguments& a, const operands& x) {
    extents ids;
    for (int i = 0; i < x[0].rank; ++i) ids.size[ids.rank++] = x[0].size[i];
    *x.out = llmcost::embedding{a[0], a[1], false, {}, a[2] != 0, are_made(x[0])}.describe(t, ids);
}

/// The weight of a convolution and its bias, then the convolution.
template <int Places>
void convolution(trace& t, const arguments& a, const operands& x) {
    const std::int64_t in = a[0], out = a[1], groups = a[6];
    if (in % groups != 0 || out % groups != 0) report_description("groups must divide in_channels and out_channels");
    extents sizes{out, in / groups};
    const extents kernel = a.each(2, Places);
    for (int i = 0; i < Places; ++i) sizes.size[sizes.rank++] = kernel.size[i];
    convolution_steps how{groups, a.each(3, Places), a.each(5, Places), a.each(4, Places)};
    if (a[8] != 0) {  // "same": the output is as large as the input
        for (int i = 0; i < Places; ++i) {
            const std::int64_t reach = how.dilation.size[i] * (kernel.size[i] - 1);
            if (how.stride.size[i] != 1 || reach % 2 != 0)
                report_description("padding \"same\" needs odd kernels and strides of 1");
            how.padding.size[i] = reach / 2;
        }
    }
    const value weight = t.param("weight", sizes);
    if (a[7] != 0) t.beside(t.param("bias", {out}));
    *x.out = t.convolution(x[0], weight, a[7] != 0, how);
}
template <int Places>
void convolution_transposed(trace& t, const arguments& a, const operands& x) {
    const std::int64_t in = a[0], out = a[1], groups = a[6];
    if (in % groups != 0 || out % groups != 0) report_description("groups must divide in_channels and out_channels");
    extents sizes{in, out / groups};
    const extents kernel = a.each(2, Places);
    for (int i = 0; i < Places; ++i) sizes.size[sizes.rank++] = kernel.size[i];
    const value weight = t.param("weight", sizes);
    if (a[7] != 0) t.beside(t.param("bias", {out}));
    const convolution_steps how{groups, a.each(3, Places), a.each(5, Places), a.each(4, Places)};
    *x.out = t.convolution_transposed(x[0], weight, a[7] != 0, how, a.each(8, Places));
}

inline void batch_norm(trace& t, const arguments& a, const operands& x) {
    if (x[0].dim(1) != a[0]) report_description("num_features are not the input's channels");
    const bool affine = a[1] != 0;
    if (affine) t.beside(t.param("weight", {a[0]})), t.beside(t.param("bias", {a[0]}));
    const bool tracks = a[2] != 0;
    if (tracks) t.owns_buffer(count(static_cast<std::uint64_t>(2 * a[0] * 4 + 8)));
    *x.out = t.batch_norm(tracks   ? affine ? op::batch_norm_affine : op::batch_norm_given
                          : affine ? op::instance_norm_affine
                                   : op::batch_norm,
                          x[0]);
}
inline void instance_norm(trace& t, const arguments& a, const operands& x) {
    if (x[0].rank < 3 || x[0].dim(1) != a[0]) report_description("num_features are not the input's channels");
    const bool affine = a[1] != 0, tracks = a[2] != 0;
    const value weight = affine ? t.param("weight", {a[0]}) : value{}, bias = affine ? t.param("bias", {a[0]}) : value{};
    if (tracks) t.owns_buffer(count(static_cast<std::uint64_t>(2 * a[0] * 4 + 8)));
    const value statistic = trace::buffer({a[0]});
    *x.out = t.instance_norm(x[0], affine ? &weight : nullptr, affine ? &bias : nullptr, tracks ? &statistic : nullptr,
                             tracks ? &statistic : nullptr);
}
inline void group_norm(trace& t, const arguments& a, const operands& x) {
    if (x[0].dim(1) != a[1] || a[1] % a[0] != 0)
        report_description("num_groups must divide num_channels, which the input has");
    const bool affine = a[2] != 0;
    if (affine) t.beside(t.param("weight", {a[1]})), t.beside(t.param("bias", {a[1]}));
    *x.out = t.group_norm(x[0], a[0], affine);
}
inline void layer_norm(trace& t, const arguments& a, const operands& x) {
    const extents sizes = a.shape(0);
    bool meet = sizes.rank <= x[0].rank;
    for (int i = 0; meet && i < sizes.rank; ++i) meet = sizes.size[i] == x[0].dim(i - sizes.rank);
    if (!meet) report_description("normalized_shape is not what the input's last dimensions are");
    const bool weighted = a[1] != 0, biased = weighted && a[2] != 0;
    if (weighted) t.beside(t.param("weight", sizes));
    if (biased) t.beside(t.param("bias", sizes));
    *x.out = t.layer_norm(x[0], (weighted ? 1 : 0) + (biased ? 1 : 0), sizes.rank);
}
/// `nn.RMSNorm`: in float32, the product with the weight too.
///
/// Source: ATen's layer_norm.cpp, `rms_norm_composite`.
inline void torch_rms_norm(trace& t, const arguments& a, const operands& x) {
    if (a[0] != x[0].dim(-1)) report_description("normalized_shape is not the input's last dimension");
    const value h = t.to(x[0], dtype::float32);
    value mean_square = t.mean(t.pow(h, 2), -1, true);
    t.in_place(op::add, mean_square);
    value out = t.mul(h, t.rsqrt(mean_square));
    if (a[1] != 0) out = t.mul(out, t.param("weight", {a[0]}));
    *x.out = t.to(out, x[0].type);
}
/// A norm over channels, which are the second dimension: turned, normed, turned back (torchvision's `LayerNorm2d`).
inline void layer_norm_of_images(trace& t, const arguments& a, const operands& x) {
    const value last = x[0].permute({0, 2, 3, 1});
    t.beside(t.param("weight", {a[0]})), t.beside(t.param("bias", {a[0]}));
    *x.out = t.layer_norm(last, 2).permute({0, 3, 1, 2});
}
template <norm_kind Kind>
void rms_norm(trace& t, const arguments& a, const operands& x) {
    if (a[0] != x[0].dim(-1)) report_description("hidden_size is not the input's last dimension");
    *x.out = any_norm{Kind, a[0]}.describe(t, x[0]);
}

template <op Kind>
void pool(trace& t, const arguments& a, const operands& x) {
    const int places = x[0].rank - 2;
    if (places < 1) report_description("pooling needs a batch, channels and places");
    *x.out = t.pool(Kind, x[0], a.each(0, places), a.has(1) ? a.each(1, places) : a.each(0, places), a.each(2, places),
                    a[3] != 0, Kind == op::max_pool ? a.each(4, places) : extents{1});
}
template <op Kind>
void pool_to(trace& t, const arguments& a, const operands& x) {
    *x.out = t.pool_to(Kind, x[0], a.each(0, x[0].rank - 2));
}

/// An activation by its operation; the first argument says whether it writes into its input.
template <op Kind>
void activation(trace& t, const arguments& a, const operands& x) {
    *x.out = x[0];
    if (a[0] != 0)
        t.in_place(Kind, *x.out);
    else
        *x.out = t.unary(Kind, x[0]);
}
/// Its backward reads what went in; what it wrote, where that is in place (torch derivatives.yaml).
inline void leaky_relu(trace& t, const arguments& a, const operands& x) {
    *x.out = x[0];
    if (a[0] == 0) *x.out = t.unary(op::leaky_relu, x[0]);
    if (a[0] != 0) t.in_place(op::leaky_relu, *x.out);
    if (x.out->requires_grad) t.save_for_backward(a[0] != 0 ? *x.out : x[0]);
}
inline void gelu(trace& t, const arguments& a, const operands& x) {
    *x.out = t.unary(a[0] != 0 ? op::gelu_tanh : op::gelu, x[0]);
}
inline void softmax(trace& t, const arguments& a, const operands& x) {
    const int along = x[0].axis(static_cast<int>(a[0]));
    *x.out = along == x[0].rank - 1 ? t.softmax(x[0]) : t.softmax(x[0].transpose(along, -1)).transpose(along, -1);
}
inline void dropout(trace& t, const arguments& a, const operands& x) {
    *x.out = drops_any(a, 0, t) ? drop(t, x[0], dropout_of::always) : x[0];
}
inline void same(trace&, const arguments&, const operands& x) { *x.out = x[0]; }

inline void flatten(trace& t, const arguments& a, const operands& x) {
    const int first = x[0].axis(static_cast<int>(a[0])), last = x[0].axis(static_cast<int>(a[1]));
    extents to;
    for (int i = 0; i < first; ++i) to.size[to.rank++] = x[0].size[i];
    std::int64_t all = 1;
    for (int i = first; i <= last; ++i)
        if (__builtin_mul_overflow(all, x[0].size[i], &all)) report_overflow();
    to.size[to.rank++] = all;
    for (int i = last + 1; i < x[0].rank; ++i) to.size[to.rank++] = x[0].size[i];
    *x.out = t.reshape(x[0], to);
}
inline void permute(trace&, const arguments& a, const operands& x) {
    const extents order = a.shape(0);
    if (order.rank != x[0].rank) report_description("expected each dimension once");
    value out = x[0];
    unsigned seen = 0;
    for (int i = 0; i < order.rank; ++i) {
        const int from = x[0].axis(static_cast<int>(order.size[i]));
        seen |= 1U << static_cast<unsigned>(from);
        out.size[i] = x[0].size[from], out.stride[i] = x[0].stride[from];
    }
    if (seen != (1U << static_cast<unsigned>(order.rank)) - 1) report_description("expected each dimension once");
    *x.out = out;
}

inline void upsample(trace& t, const arguments& a, const operands& x) {
    constexpr op kinds[]{op::gather, op::bilinear, op::linear_1d, op::trilinear, op::bicubic};
    constexpr int dimensions[]{0, 4, 3, 5, 4};
    const auto mode = static_cast<std::size_t>(a[2]);
    if (x[0].rank < 3 || (dimensions[mode] != 0 && x[0].rank != dimensions[mode]))
        report_description(
            "resampling reads batch, channels and places: one for linear, two for bilinear and bicubic, three for "
            "trilinear");
    const int places = x[0].rank - 2;
    extents to = a.has(0) ? a.each(0, places) : a.each(1, places);
    if (!a.has(0))
        for (int i = 0; i < places; ++i) to.size[i] *= x[0].size[i + 2];
    *x.out = t.resample(kinds[mode], x[0], to);
}
inline void pixel_shuffle(trace& t, const arguments& a, const operands& x) {
    const std::int64_t r = a[0], channels = x[0].dim(1) / (r * r), rows = x[0].dim(2), columns = x[0].dim(3);
    if (x[0].dim(1) % (r * r) != 0) report_description("upscale_factor² must divide the channels");
    const value apart = t.reshape(x[0], {x[0].dim(0), channels, r, r, rows, columns});
    *x.out = t.reshape(apart.permute({0, 1, 4, 2, 5, 3}), {x[0].dim(0), channels, rows * r, columns * r});
}
inline void pixel_unshuffle(trace& t, const arguments& a, const operands& x) {
    const std::int64_t r = a[0], rows = x[0].dim(2) / r, columns = x[0].dim(3) / r;
    if (x[0].dim(2) % r != 0 || x[0].dim(3) % r != 0) report_description("downscale_factor must divide height and width");
    const value apart = t.reshape(x[0], {x[0].dim(0), x[0].dim(1), rows, r, columns, r});
    *x.out = t.reshape(apart.permute({0, 1, 3, 5, 2, 4}), {x[0].dim(0), x[0].dim(1) * r * r, rows, columns});
}
/// Zeros around the places: pairs from the last dimension on, or one number for all.
template <int Places>
void zero_pad(trace& t, const arguments& a, const operands& x) {
    const extents around = a.each(0, 2 * Places);
    extents to;
    for (int i = 0; i < x[0].rank; ++i) to.size[to.rank++] = x[0].size[i];
    if (to.rank < Places) report_description("padding needs as many dimensions");
    for (int i = 0; i < 2 * Places; ++i) to.size[to.rank - 1 - i / 2] += around.size[i];
    *x.out = t.pad_to(x[0], to);
}
inline void channel_shuffle(trace& t, const arguments& a, const operands& x) {
    const std::int64_t groups = a[0], each = x[0].dim(1) / groups;
    if (x[0].dim(1) % groups != 0) report_description("groups must divide the channels");
    const value apart = x[0].view({x[0].dim(0), groups, each, x[0].dim(2), x[0].dim(3)}).transpose(1, 2);
    *x.out = t.reshape(apart, {x[0].dim(0), x[0].dim(1), x[0].dim(2), x[0].dim(3)});
}

inline void multihead_attention(trace& t, const arguments& a, const operands& x) {
    if (a[0] % a[1] != 0) report_description("num_heads must divide embed_dim");
    const llmcost::multihead_attention attention{a[0], a[1], a[4] != 0};
    *x.out = x.count > 1 ? attention.describe(t, x[0], x[1]) : attention.describe(t, x[0]);
}

/// Cosines and sines of the positions of this pass, (1, sequence, head_dim) each.
inline void rotary_embedding(trace& t, const arguments& a, const operands& x) {
    const rotary_frequencies kept{sizes{}};
    const two_values made = rotary_table{a[0], {}, kept}.describe(t, t.load().sequence);
    x.out[0] = made.first;
    x.out[1] = made.second;
}

}  // namespace layer

// clang-format off
template <int Places>
inline constexpr layer_row convolution_row{
    .describe = layer::convolution<Places>,
    .arguments = {needed("in_channels"), needed("out_channels"), needed_each("kernel_size"), given_each("stride", argument_kind::size, 1),
                  given_each("padding", argument_kind::amount, 0), given_each("dilation", argument_kind::size, 1),
                  given("groups", argument_kind::size, 1), given("bias", argument_kind::truth, 1),
                  given("same", argument_kind::truth, 0), ignored("padding_mode")}};
template <int Places>
inline constexpr layer_row transposed_row{
    .describe = layer::convolution_transposed<Places>,
    .arguments = {needed("in_channels"), needed("out_channels"), needed_each("kernel_size"), given_each("stride", argument_kind::size, 1),
                  given_each("padding", argument_kind::amount, 0), given_each("dilation", argument_kind::size, 1),
                  given("groups", argument_kind::size, 1), given("bias", argument_kind::truth, 1),
                  given_each("output_padding", argument_kind::amount, 0)}};
inline constexpr layer_row batch_norm_row{
    .describe = layer::batch_norm,
    .arguments = {needed("num_features"), given("affine", argument_kind::truth, 1),
                  given("track_running_stats", argument_kind::truth, 1), ignored("eps"), ignored("momentum")},
    .what = role::norm};
inline constexpr layer_row instance_norm_row{
    .describe = layer::instance_norm,
    .arguments = {needed("num_features"), given("affine", argument_kind::truth, 0),
                  given("track_running_stats", argument_kind::truth, 0), ignored("eps"), ignored("momentum")},
    .what = role::norm};
template <int Places>
inline constexpr layer_row zero_pad_row{.describe = layer::zero_pad<Places>, .arguments = {needed_each("padding", argument_kind::amount)}};
inline constexpr layer_row max_pool_row{
    .describe = layer::pool<op::max_pool>,
    .arguments = {needed_each("kernel_size"), given_each("stride", argument_kind::size, 1), given_each("padding", argument_kind::amount, 0),
                  given("ceil_mode", argument_kind::truth, 0), given_each("dilation", argument_kind::size, 1)}};
inline constexpr layer_row average_pool_row{
    .describe = layer::pool<op::average_pool>,
    .arguments = {needed_each("kernel_size"), given_each("stride", argument_kind::size, 1), given_each("padding", argument_kind::amount, 0),
                  given("ceil_mode", argument_kind::truth, 0), ignored("count_include_pad")}};
template <op Kind>
inline constexpr layer_row adaptive_pool_row{.describe = layer::pool_to<Kind>, .arguments = {needed_each("output_size", argument_kind::amount)}};
template <op Kind>
inline constexpr layer_row activation_row_of{.describe = layer::activation<Kind>, .arguments = {given("inplace", argument_kind::truth, 0)}};
template <norm_kind Kind>
inline constexpr layer_row rms_row{.describe = layer::rms_norm<Kind>, .arguments = {needed("hidden_size"), ignored("eps")}, .what = role::norm};
inline constexpr layer_row dropout_row{.describe = layer::dropout, .arguments = {dropout_rate(), ignored("inplace")}};

constexpr layer_row called(literal name, layer_row row) {
    row.name = name;
    return row;
}

inline constexpr layer_row layer_table[]{
    {"Linear", layer::linear, {needed("in_features"), needed("out_features"), given("bias", argument_kind::truth, 1), given("tied", argument_kind::truth, 0)}},
    {"Embedding", layer::embedding, {needed("num_embeddings"), needed("embedding_dim"), given("tied", argument_kind::truth, 0), ignored("padding_idx")}, 1, 1, role::embedding},
    called("Conv1d", convolution_row<1>), called("Conv2d", convolution_row<2>), called("Conv3d", convolution_row<3>),
    called("ConvTranspose1d", transposed_row<1>), called("ConvTranspose2d", transposed_row<2>), called("ConvTranspose3d", transposed_row<3>),
    called("BatchNorm1d", batch_norm_row), called("BatchNorm2d", batch_norm_row), called("BatchNorm3d", batch_norm_row),
    called("InstanceNorm1d", instance_norm_row), called("InstanceNorm2d", instance_norm_row), called("InstanceNorm3d", instance_norm_row),
    {"GroupNorm", layer::group_norm, {needed("num_groups"), needed("num_channels"), given("affine", argument_kind::truth, 1), ignored("eps")}, 1, 1, role::norm},
    {"LayerNorm", layer::layer_norm, {needed_each("normalized_shape"), given("elementwise_affine", argument_kind::truth, 1), given("bias", argument_kind::truth, 1), ignored("eps")}, 1, 1, role::norm},
    {"LayerNorm2d", layer::layer_norm_of_images, {needed("normalized_shape"), ignored("eps")}, 1, 1, role::norm},
    {"RMSNorm", layer::torch_rms_norm, {needed("normalized_shape"), given("elementwise_affine", argument_kind::truth, 1), ignored("eps")}, 1, 1, role::norm},
    called("LlamaRMSNorm", rms_row<norm_kind::rms>), called("GemmaRMSNorm", rms_row<norm_kind::rms_plus_one>),
    called("T5LayerNorm", rms_row<norm_kind::rms_float_variance>),
    called("MaxPool1d", max_pool_row), called("MaxPool2d", max_pool_row), called("MaxPool3d", max_pool_row),
    called("AvgPool1d", average_pool_row), called("AvgPool2d", average_pool_row), called("AvgPool3d", average_pool_row),
    called("AdaptiveAvgPool1d", adaptive_pool_row<op::average_pool>), called("AdaptiveAvgPool2d", adaptive_pool_row<op::average_pool>),
    called("AdaptiveAvgPool3d", adaptive_pool_row<op::average_pool>), called("AdaptiveMaxPool1d", adaptive_pool_row<op::max_pool>),
    called("AdaptiveMaxPool2d", adaptive_pool_row<op::max_pool>), called("AdaptiveMaxPool3d", adaptive_pool_row<op::max_pool>),
    called("ReLU", activation_row_of<op::relu>), called("ReLU6", activation_row_of<op::clamp>), called("Hardtanh", activation_row_of<op::clamp>),
    called("SiLU", activation_row_of<op::silu>), called("SiLUActivation", activation_row_of<op::silu>), called("Sigmoid", activation_row_of<op::sigmoid>),
    called("Tanh", activation_row_of<op::tanh>), called("Hardswish", activation_row_of<op::hardswish>), called("Hardsigmoid", activation_row_of<op::hardsigmoid>),
    called("Softplus", activation_row_of<op::softplus>),
    {"LeakyReLU", layer::leaky_relu, {given("inplace", argument_kind::truth, 0), ignored("negative_slope")}},
    {"GELU", layer::gelu, {given_word("approximate", "none tanh")}},
    {"Softmax", layer::softmax, {given("dim", argument_kind::integer, -1)}},
    called("Dropout", dropout_row), called("Dropout2d", dropout_row), called("Dropout1d", dropout_row), called("AlphaDropout", dropout_row),
    {"Identity", layer::same, {}},
    {"StochasticDepth", layer::same, {ignored("p"), ignored("mode")}},
    {"Flatten", layer::flatten, {given("start_dim", argument_kind::integer, 1), given("end_dim", argument_kind::integer, -1)}},
    {"Permute", layer::permute, {needed_each("dims", argument_kind::axes)}},
    {"Upsample", layer::upsample, {given_each("size", argument_kind::size, 1), given_each("scale_factor", argument_kind::size, 1), given_word("mode", "nearest bilinear linear trilinear bicubic"), ignored("align_corners")}},
    {"PixelShuffle", layer::pixel_shuffle, {needed("upscale_factor")}},
    {"PixelUnshuffle", layer::pixel_unshuffle, {needed("downscale_factor")}},
    called("ZeroPad1d", zero_pad_row<1>), called("ZeroPad2d", zero_pad_row<2>), called("ZeroPad3d", zero_pad_row<3>),
    {"ChannelShuffle", layer::channel_shuffle, {needed("groups")}},
    {"MultiheadAttention", layer::multihead_attention, {needed("embed_dim"), needed("num_heads"), dropout_rate("dropout"), ignored("batch_first"), given("need_weights", argument_kind::truth, 1)}, 1, 2, role::attn, false},
    {"LlamaRotaryEmbedding", layer::rotary_embedding, {needed("head_dim")}, 0, 1, role::rotary, true, 2},
};
// clang-format on

}  // namespace llmcost::described
