// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/audio.hpp>
#include <llmcost/layers/einsum.hpp>

// Conformers: attention between two half-step feed-forward blocks, and a convolution (arXiv 2005.08100).
//
// Shapes: B = batch, H = heads, S = frames, width = hidden size.
namespace llmcost {

/// Position bias of conformer attention scores.
enum class distance_rule : std::uint8_t {
    none,
    relative,      ///< sinusoidal table, projected in every layer, times queries with a bias (Transformer-XL)
    relative_key,  ///< learned embedding per distance, times queries
};

struct conformer_sizes {
    std::int64_t width;
    std::int64_t heads;
    std::int64_t inner;
    activation act;
    std::int64_t kernel;  ///< of the depthwise convolution, in frames
    distance_rule distances = distance_rule::none;
    std::int64_t rows = 0;   ///< number of learned distance embeddings
    bool is_causal = false;  ///< causal convolution, followed by a layer norm
    literal prefix;
    bool divides = false;  ///< the bias of learned distances is divided by √d
    bool masked = false;   ///< a boolean mask is added to all scores
};

/// Feed-forward block: linear, activation, dropout, linear, dropout. (B, S, width) -> (B, S, width).
struct conformer_feed_forward {
    conformer_sizes s;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {s.prefix, "FeedForward"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        tensor h = t.call("intermediate_dense", linear{s.width, s.inner, true}, x);
        h = t.call("intermediate_act_fn", activation_module{s.act}, h);
        h = dropout(t, "intermediate_dropout", h, dropout_position::mlp);
        return dropout(t, "output_dropout", t.call("output_dense", linear{s.inner, s.width, true}, h));
    }
};

/// Relative shift of Transformer-XL: (B, H, S, 2 · S − 1) -> (B, H, S, S).
///
/// A column of zeros and a view shift each query by one more position.
constexpr tensor skewed(trace& t, const tensor& x) {
    const tensor padded = t.pad(x, -1, 1).view({x.dim(0), x.dim(1), x.dim(3) + 1, x.dim(2)});
    const tensor moved = t.slice(padded, 2, x.dim(3)).view({x.dim(0), x.dim(1), x.dim(2), x.dim(3)});
    return t.slice(moved, -1, x.dim(2));
}

/// Bidirectional attention with a position bias: (B, S, width) -> (B, S, width). `table` is the sinusoidal table.
///
/// Source: transformers/models/wav2vec2_bert/modeling_wav2vec2_bert.py, `Wav2Vec2BertSelfAttention`.
struct conformer_attention {
    conformer_sizes s;
    tensor table{};

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {s.prefix, "SelfAttention"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t d = s.width / s.heads, batch = x.dim(0), places = x.dim(1);
        tensor u, v_bias;
        if (s.distances == distance_rule::relative) {
            u = t.param("pos_bias_u", {s.heads, d});
            v_bias = t.param("pos_bias_v", {s.heads, d});
        }
        const linear square{s.width, s.width, true};
        const auto split = [&](literal name) {
            return t.call(name, square, x).view({batch, places, s.heads, d}).transpose(1, 2);
        };
        tensor q = split("linear_q");
        const tensor k = split("linear_k"), v = split("linear_v");
        tensor bias;
        if (s.distances == distance_rule::relative) {
            const auto of_heads = [&](const tensor& operand) { return operand.unsqueeze(0).unsqueeze(2); };
            const tensor rows = t.call("linear_pos", linear{s.width, s.width}, table);
            const tensor transposed_positions = rows.view({1, rows.dim(1), s.heads, d}).permute({0, 2, 3, 1});
            bias = t.mul_scalar(skewed(t, t.matmul(t.add(q, of_heads(v_bias)), transposed_positions)));
            q = t.add(q, of_heads(u));
        } else if (s.distances == distance_rule::relative_key) {
            const embedding learned{.num_embeddings = s.rows, .embedding_dim = d, .creates_indices = true};
            const tensor rows = t.call("distance_embedding", learned, shape{places, places});
            const tensor operand = einsum(t, "bhld,lrd->bhlr", q, rows);
            bias = s.divides ? t.div_scalar(operand) : t.mul_scalar(operand);
        }
        const attention_pattern all{.query_length = places, .is_causal = false};
        const tensor truths = trace::buffer({1, 1, places, places});
        const attention_options options{.bias = bias.rank > 0 ? &bias : nullptr,
                                        .mask = s.masked ? &truths : nullptr,
                                        .has_float32_softmax = false};
        return t.call("linear_out", square,
                      t.reshape(attention_forward(t, q, k, v, all, options), {batch, places, -1}));
    }
};

/// Convolution module: (B, S, width) -> (B, S, width).
///
///     pointwise_conv2(act(norm(depthwise_conv(glu(pointwise_conv1(layer_norm(x)))))))
struct conformer_convolution {
    conformer_sizes s;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {s.prefix, "ConvolutionModule"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = s.width, padding = s.is_causal ? 0 : (s.kernel - 1) / 2;
        tensor h = t.call("layer_norm", norm_module{norm_kind::layer, width}, x).transpose(1, 2);
        h = t.call("glu", gated_channels{},
                   t.call("pointwise_conv1", convolution_1d{width, 2 * width, 1, 1, 0, 1, false}, h));
        if (s.is_causal) h = t.pad(h, -1, s.kernel - 1);
        h = t.call("depthwise_conv", convolution_1d{width, width, s.kernel, 1, padding, width, false}, h);
        if (s.is_causal)
            h = t.call("depthwise_layer_norm", norm_module{norm_kind::layer, width}, h.transpose(1, 2)).transpose(1, 2);
        else
            h = t.call("batch_norm", batch_norm_2d{width, "BatchNorm1d"}, h);
        h = t.call("activation", activation_module{s.act}, h);
        h = t.call("pointwise_conv2", convolution_1d{width, width, 1, 1, 0, 1, false}, h);
        return dropout(t, "dropout", h).transpose(1, 2);
    }
};

struct conformer_layer {
    conformer_sizes s;
    tensor table{};

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {s.prefix, "EncoderLayer"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module normed{norm_kind::layer, s.width};
        tensor h =
            t.add(t.mul_scalar(t.call("ffn1", conformer_feed_forward{s}, t.call("ffn1_layer_norm", normed, x))), x);
        const tensor mixed =
            t.call("self_attn", conformer_attention{s, table}, t.call("self_attn_layer_norm", normed, h));
        h = t.add(dropout(t, "self_attn_dropout", mixed), h);
        h = t.add(h, t.call("conv_module", conformer_convolution{s}, h));
        h = t.add(t.mul_scalar(t.call("ffn2", conformer_feed_forward{s}, t.call("ffn2_layer_norm", normed, h))), h);
        return t.call("final_layer_norm", normed, h);
    }
};

/// Adapter layer: attention and feed-forward block on fewer frames. Gated strided convolutions reduce the frames.
struct conformer_adapter {
    conformer_sizes s;
    std::int64_t kernel;
    std::int64_t stride;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {s.prefix, "AdapterLayer"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module normed{norm_kind::layer, s.width};
        const convolution_1d strided_conv{s.width, 2 * s.width, kernel, stride, stride / 2};
        const auto route = [&](literal norm_name, literal name) {
            const tensor h = t.call(name, strided_conv, t.call(norm_name, normed, x).transpose(1, 2));
            return t.call("activation", gated_channels{}, h).transpose(1, 2);
        };
        const tensor residual = route("residual_layer_norm", "residual_conv");
        tensor h = t.call("self_attn", conformer_attention{s}, route("self_attn_layer_norm", "self_attn_conv"));
        h = t.add(dropout(t, "self_attn_dropout", h), residual);
        return t.add(t.call("ffn", conformer_feed_forward{s}, t.call("ffn_layer_norm", normed, h)), h);
    }
};

/// Sinusoidal table with one entry per distance: (1, 2 · places − 1, width).
///
/// A longer audio extends the table once. This is not part of a forward pass.
struct sines_of_distances {
    std::int64_t width;
    class_name named;
    std::int64_t max_positions = 0;  ///< places of the table that is a buffer; 0: the table is an attribute

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, std::int64_t places) const {
        if (max_positions > 0) t.register_buffer({2 * max_positions - 1, width}, t.activation_type());
        return trace::buffer({1, 2 * places - 1, width});
    }
};

}  // namespace llmcost
