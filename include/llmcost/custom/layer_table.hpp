// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/count.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/custom/arguments.hpp>
#include <llmcost/custom/sequence_layers.hpp>
#include <llmcost/layers/activation.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/multihead_attention.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/layers/rotary.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/dropout.hpp>
#include <llmcost/trace/leaf_module_policy.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

// Layers of custom models, with their class names and the arguments of their constructors.
namespace llmcost::custom {

namespace layer {

inline bool drops_any(const arguments& a, std::size_t i, trace& t,
                      dropout_position place = dropout_position::unconditional) {
    return a[i] != 0 && t.applies_dropout(place);
}

inline void linear(trace& t, const arguments& a, const operands& x) {
    *x.out = llmcost::linear{a[0], a[1], a[2] != 0, a[3] != 0}.forward(t, x[0]);
}
void embedding(trace& t, const arguments& a, const operands& x);

/// A convolution with weight and optional bias.
template <int Places>
void convolution(trace& t, const arguments& a, const operands& x) {
    const std::int64_t in = a[0], out = a[1], groups = a[6];
    if (in % groups != 0 || out % groups != 0)
        throw_description_error("groups must divide in_channels and out_channels");
    shape sizes{out, in / groups};
    const shape kernel = a.expand_to_rank(2, Places);
    for (int i = 0; i < Places; ++i) sizes.size[sizes.rank++] = kernel.size[i];
    convolution_options options{groups, a.expand_to_rank(3, Places), a.expand_to_rank(5, Places),
                                a.expand_to_rank(4, Places)};
    if (a[8] != 0) {  // "same": the output has the size of the input
        for (int i = 0; i < Places; ++i) {
            const std::int64_t reach = options.dilation.size[i] * (kernel.size[i] - 1);
            if (options.stride.size[i] != 1 || reach % 2 != 0)
                throw_description_error("padding \"same\" needs odd kernels and strides of 1");
            options.padding.size[i] = reach / 2;
        }
    }
    const tensor weight = t.param("weight", sizes);
    if (a[7] != 0) t.read_parameter_in_next_op(t.param("bias", {out}));
    *x.out = t.conv(x[0], weight, a[7] != 0, options);
}
template <int Places>
void convolution_transposed(trace& t, const arguments& a, const operands& x) {
    const std::int64_t in = a[0], out = a[1], groups = a[6];
    if (in % groups != 0 || out % groups != 0)
        throw_description_error("groups must divide in_channels and out_channels");
    shape sizes{in, out / groups};
    const shape kernel = a.expand_to_rank(2, Places);
    for (int i = 0; i < Places; ++i) sizes.size[sizes.rank++] = kernel.size[i];
    const tensor weight = t.param("weight", sizes);
    if (a[7] != 0) t.read_parameter_in_next_op(t.param("bias", {out}));
    const convolution_options options{groups, a.expand_to_rank(3, Places), a.expand_to_rank(5, Places),
                                      a.expand_to_rank(4, Places)};
    *x.out = t.conv_transpose(x[0], weight, a[7] != 0, options, a.expand_to_rank(8, Places));
}

void batch_norm(trace& t, const arguments& a, const operands& x);
void instance_norm(trace& t, const arguments& a, const operands& x);
void group_norm(trace& t, const arguments& a, const operands& x);
void layer_norm(trace& t, const arguments& a, const operands& x);
/// `nn.RMSNorm` in float32, including the product with the weight.
///
/// Source: ATen's layer_norm.cpp, `rms_norm_composite`.
void torch_rms_norm(trace& t, const arguments& a, const operands& x);
/// A layer norm over channels, the second dimension (torchvision's `LayerNorm2d`): permute, norm, permute.
void layer_norm_of_images(trace& t, const arguments& a, const operands& x);
template <norm_kind Kind>
void rms_norm(trace& t, const arguments& a, const operands& x) {
    if (a[0] != x[0].dim(-1)) throw_description_error("hidden_size does not match the last dimension of the input");
    *x.out = norm_module{Kind, a[0]}.forward(t, x[0]);
}

template <op Kind>
void pool(trace& t, const arguments& a, const operands& x) {
    const int places = x[0].rank - 2;
    if (places < 1) throw_description_error("pooling requires a batch, channels and spatial dimensions");
    *x.out = t.pool(Kind, x[0], a.expand_to_rank(0, places),
                    a.has(1) ? a.expand_to_rank(1, places) : a.expand_to_rank(0, places), a.expand_to_rank(2, places),
                    a[3] != 0, Kind == op::max_pool ? a.expand_to_rank(4, places) : shape{1});
}
template <op Kind>
void pool_to(trace& t, const arguments& a, const operands& x) {
    *x.out = t.pool_to(Kind, x[0], a.expand_to_rank(0, x[0].rank - 2));
}

/// An activation function as one operation. The first argument is `inplace`.
template <op Kind>
void activation(trace& t, const arguments& a, const operands& x) {
    *x.out = x[0];
    if (a[0] != 0)
        t.apply_inplace(Kind, *x.out);
    else
        *x.out = t.unary(Kind, t.autocast_input(Kind, x[0]));
}
/// LeakyReLU. Its backward pass reads the input, or the output if it is in place (torch derivatives.yaml).
void leaky_relu(trace& t, const arguments& a, const operands& x);
inline void gelu(trace& t, const arguments& a, const operands& x) {
    *x.out = t.unary(a[0] != 0 ? op::gelu_tanh : op::gelu, x[0]);
}
void softmax(trace& t, const arguments& a, const operands& x);
inline void dropout(trace& t, const arguments& a, const operands& x) {
    *x.out = drops_any(a, 0, t) ? functional_dropout(t, x[0], dropout_position::unconditional) : x[0];
}
inline void identity(trace&, const arguments&, const operands& x) { *x.out = x[0]; }

void flatten(trace& t, const arguments& a, const operands& x);
void permute(trace&, const arguments& a, const operands& x);

void upsample(trace& t, const arguments& a, const operands& x);
void pixel_shuffle(trace& t, const arguments& a, const operands& x);
void pixel_unshuffle(trace& t, const arguments& a, const operands& x);
/// Zero padding: pairs of sizes, starting with the last dimension, or one size for all.
template <int Places>
void zero_pad(trace& t, const arguments& a, const operands& x) {
    const shape padding = a.expand_to_rank(0, 2 * Places);
    shape to;
    for (int i = 0; i < x[0].rank; ++i) to.size[to.rank++] = x[0].size[i];
    if (to.rank < Places) throw_description_error("padding requires an input with at least this number of dimensions");
    for (int i = 0; i < 2 * Places; ++i) to.size[to.rank - 1 - i / 2] += padding.size[i];
    *x.out = t.pad_to_shape(x[0], to);
}
void channel_shuffle(trace& t, const arguments& a, const operands& x);

void multihead_attention(trace& t, const arguments& a, const operands& x);

/// Cosines and sines of the new positions: (1, sequence, head_dim) each.
void rotary_embedding(trace& t, const arguments& a, const operands& x);

}  // namespace layer

// clang-format off
template <int Places>
inline constexpr layer_row convolution_row{
    .forward = layer::convolution<Places>,
    .arguments = {required_argument("in_channels"), required_argument("out_channels"), required_argument_list("kernel_size"), optional_argument_list("stride", argument_kind::size, 1),
                  optional_argument_list("padding", argument_kind::amount, 0), optional_argument_list("dilation", argument_kind::size, 1),
                  optional_argument("groups", argument_kind::size, 1), optional_argument("bias", argument_kind::truth, 1),
                  optional_argument("same", argument_kind::truth, 0), accept_and_ignore("padding_mode")}};
template <int Places>
inline constexpr layer_row transposed_row{
    .forward = layer::convolution_transposed<Places>,
    .arguments = {required_argument("in_channels"), required_argument("out_channels"), required_argument_list("kernel_size"), optional_argument_list("stride", argument_kind::size, 1),
                  optional_argument_list("padding", argument_kind::amount, 0), optional_argument_list("dilation", argument_kind::size, 1),
                  optional_argument("groups", argument_kind::size, 1), optional_argument("bias", argument_kind::truth, 1),
                  optional_argument_list("output_padding", argument_kind::amount, 0)}};
inline constexpr layer_row batch_norm_row{
    .forward = layer::batch_norm,
    .arguments = {required_argument("num_features"), optional_argument("affine", argument_kind::truth, 1),
                  optional_argument("track_running_stats", argument_kind::truth, 1), accept_and_ignore("eps"), accept_and_ignore("momentum")},
    .module_role = role::norm};
inline constexpr layer_row instance_norm_row{
    .forward = layer::instance_norm,
    .arguments = {required_argument("num_features"), optional_argument("affine", argument_kind::truth, 0),
                  optional_argument("track_running_stats", argument_kind::truth, 0), accept_and_ignore("eps"), accept_and_ignore("momentum")},
    .module_role = role::norm};
template <int Places>
inline constexpr layer_row zero_pad_row{.forward = layer::zero_pad<Places>, .arguments = {required_argument_list("padding", argument_kind::amount)}};
inline constexpr layer_row max_pool_row{
    .forward = layer::pool<op::max_pool>,
    .arguments = {required_argument_list("kernel_size"), optional_argument_list("stride", argument_kind::size, 1), optional_argument_list("padding", argument_kind::amount, 0),
                  optional_argument("ceil_mode", argument_kind::truth, 0), optional_argument_list("dilation", argument_kind::size, 1)}};
inline constexpr layer_row average_pool_row{
    .forward = layer::pool<op::average_pool>,
    .arguments = {required_argument_list("kernel_size"), optional_argument_list("stride", argument_kind::size, 1), optional_argument_list("padding", argument_kind::amount, 0),
                  optional_argument("ceil_mode", argument_kind::truth, 0), accept_and_ignore("count_include_pad")}};
template <op Kind>
inline constexpr layer_row adaptive_pool_row{.forward = layer::pool_to<Kind>, .arguments = {required_argument_list("output_size", argument_kind::amount)}};
template <op Kind>
inline constexpr layer_row activation_row_of{.forward = layer::activation<Kind>, .arguments = {optional_argument("inplace", argument_kind::truth, 0)}};
template <norm_kind Kind>
inline constexpr layer_row rms_row{.forward = layer::rms_norm<Kind>, .arguments = {required_argument("hidden_size"), accept_and_ignore("eps")}, .module_role = role::norm};
inline constexpr layer_row dropout_row{.forward = layer::dropout, .arguments = {dropout_rate(), accept_and_ignore("inplace")}};

inline constexpr argument_row no_dropout{.name = "dropout", .kind = argument_kind::rate, .required = false};
/// A recurrent layer: output, h_n, and c_n of LSTM, as many as the description names.
constexpr layer_row recurrent_row(literal name, layer_function forward, int results, argument_row last = {}) {
    return {.name = name, .forward = forward, .arguments =
            {required_argument("input_size"), required_argument("hidden_size"), optional_argument("num_layers", argument_kind::size, 1),
             optional_argument("bias", argument_kind::truth, 1), optional_argument("batch_first", argument_kind::truth, 0), no_dropout,
             optional_argument("bidirectional", argument_kind::truth, 0), last},
            .module_role = role::mixer, .max_results = results};
}
inline constexpr argument_row d_model = required_argument("d_model"), nhead = required_argument("nhead"),
    dim_feedforward = optional_argument("dim_feedforward", argument_kind::size, 2048), transformer_dropout = dropout_rate("dropout"),
    transformer_activation = optional_argument_name("activation", "relu gelu"), norm_first = optional_argument("norm_first", argument_kind::truth, 0),
    batch_first = accept_and_ignore("batch_first"), layer_norm_eps = accept_and_ignore("layer_norm_eps"),
    num_layers = required_argument("num_layers"), final_norm = optional_argument("norm", argument_kind::truth, 0);
constexpr layer_row transformer_layer_row(literal name, layer_function forward, int inputs) {
    return {name, forward, {d_model, nhead, dim_feedforward, transformer_dropout, transformer_activation, norm_first, batch_first, layer_norm_eps},
            inputs, inputs, role::none, false};
}
constexpr layer_row transformer_stack_row(literal name, layer_function forward, int inputs, role module_role) {
    return {name, forward,
            {d_model, nhead, num_layers, final_norm, dim_feedforward, transformer_dropout, transformer_activation, norm_first, batch_first, layer_norm_eps},
            inputs, inputs, module_role, false};
}

constexpr layer_row called(literal name, layer_row row) {
    row.name = name;
    return row;
}

inline constexpr layer_row layer_table[]{
    {"Linear", layer::linear, {required_argument("in_features"), required_argument("out_features"), optional_argument("bias", argument_kind::truth, 1), optional_argument("tied", argument_kind::truth, 0)}},
    {"Embedding", layer::embedding, {required_argument("num_embeddings"), required_argument("embedding_dim"), optional_argument("tied", argument_kind::truth, 0), accept_and_ignore("padding_idx")}, 1, 1, role::embedding},
    called("Conv1d", convolution_row<1>), called("Conv2d", convolution_row<2>), called("Conv3d", convolution_row<3>),
    called("ConvTranspose1d", transposed_row<1>), called("ConvTranspose2d", transposed_row<2>), called("ConvTranspose3d", transposed_row<3>),
    called("BatchNorm1d", batch_norm_row), called("BatchNorm2d", batch_norm_row), called("BatchNorm3d", batch_norm_row),
    called("InstanceNorm1d", instance_norm_row), called("InstanceNorm2d", instance_norm_row), called("InstanceNorm3d", instance_norm_row),
    {"GroupNorm", layer::group_norm, {required_argument("num_groups"), required_argument("num_channels"), optional_argument("affine", argument_kind::truth, 1), accept_and_ignore("eps")}, 1, 1, role::norm},
    {"LayerNorm", layer::layer_norm, {required_argument_list("normalized_shape"), optional_argument("elementwise_affine", argument_kind::truth, 1), optional_argument("bias", argument_kind::truth, 1), accept_and_ignore("eps")}, 1, 1, role::norm},
    {"LayerNorm2d", layer::layer_norm_of_images, {required_argument("normalized_shape"), accept_and_ignore("eps")}, 1, 1, role::norm},
    {"RMSNorm", layer::torch_rms_norm, {required_argument("normalized_shape"), optional_argument("elementwise_affine", argument_kind::truth, 1), accept_and_ignore("eps")}, 1, 1, role::norm},
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
    {"LeakyReLU", layer::leaky_relu, {optional_argument("inplace", argument_kind::truth, 0), accept_and_ignore("negative_slope")}},
    {"GELU", layer::gelu, {optional_argument_name("approximate", "none tanh")}},
    {"Softmax", layer::softmax, {optional_argument("dim", argument_kind::integer, -1)}},
    called("Dropout", dropout_row), called("Dropout2d", dropout_row), called("Dropout1d", dropout_row), called("AlphaDropout", dropout_row),
    {"Identity", layer::identity, {}},
    {"StochasticDepth", layer::identity, {accept_and_ignore("p"), accept_and_ignore("mode")}},
    {"Flatten", layer::flatten, {optional_argument("start_dim", argument_kind::integer, 1), optional_argument("end_dim", argument_kind::integer, -1)}},
    {"Permute", layer::permute, {required_argument_list("dims", argument_kind::axes)}},
    {"Upsample", layer::upsample, {optional_argument_list("size", argument_kind::size, 1), optional_argument_list("scale_factor", argument_kind::size, 1), optional_argument_name("mode", "nearest bilinear linear trilinear bicubic"), accept_and_ignore("align_corners")}},
    {"PixelShuffle", layer::pixel_shuffle, {required_argument("upscale_factor")}},
    {"PixelUnshuffle", layer::pixel_unshuffle, {required_argument("downscale_factor")}},
    called("ZeroPad1d", zero_pad_row<1>), called("ZeroPad2d", zero_pad_row<2>), called("ZeroPad3d", zero_pad_row<3>),
    {"ChannelShuffle", layer::channel_shuffle, {required_argument("groups")}},
    {"MultiheadAttention", layer::multihead_attention, {required_argument("embed_dim"), required_argument("num_heads"), dropout_rate("dropout"), accept_and_ignore("batch_first"), optional_argument("need_weights", argument_kind::truth, 1)}, 1, 2, role::attn, false},
    recurrent_row("LSTM", layer::lstm, 3), recurrent_row("GRU", layer::gru, 2), recurrent_row("RNN", layer::rnn, 2, optional_argument_name("nonlinearity", "tanh relu")),
    transformer_layer_row("TransformerEncoderLayer", layer::transformer_encoder_layer, 1),
    transformer_layer_row("TransformerDecoderLayer", layer::transformer_decoder_layer, 2),
    transformer_stack_row("TransformerEncoder", layer::transformer_encoder, 1, role::encoder),
    transformer_stack_row("TransformerDecoder", layer::transformer_decoder, 2, role::decoder),
    {"Transformer", layer::transformer, {optional_argument("d_model", argument_kind::size, 512), optional_argument("nhead", argument_kind::size, 8), optional_argument("num_encoder_layers", argument_kind::size, 6), optional_argument("num_decoder_layers", argument_kind::size, 6), dim_feedforward, transformer_dropout, transformer_activation, norm_first, batch_first, layer_norm_eps}, 2, 2, role::none, false},
    {"LlamaRotaryEmbedding", layer::rotary_embedding, {required_argument("head_dim")}, 0, 1, role::rotary, true, 2},
};
// clang-format on

}  // namespace llmcost::custom

#ifndef LLMCOST_COMPILED
#include <llmcost/custom/impl/layer_table.ipp>  // IWYU pragma: export
#endif
