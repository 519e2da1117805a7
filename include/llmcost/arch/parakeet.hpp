// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/attention.hpp>
#include <llmcost/forward/conformer.hpp>
#include <llmcost/forward/fast_conformer.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// Fast Conformer: convolutions over time and frequency leave every eighth frame, a conformer reads them.
namespace llmcost::arch {

namespace parakeet_detail {

using fast_conformer::biased, fast_conformer::channels, fast_conformer::encoder_feed_forward, fast_conformer::factor,
    fast_conformer::frames_of, fast_conformer::kernel, fast_conformer::mels, fast_conformer::step,
    fast_conformer::step_kernel, fast_conformer::steps_of;

/// A convolution over (B, channels, frames, frequencies). Outputs after the end of the recording are set to zero in
/// place.
constexpr tensor masked(trace& t, std::int64_t index, const convolution_2d& conv, const tensor& x) {
    tensor h = t.call({"layers", index}, conv, x);
    t.mul_(h);
    return h;
}

struct subsampling {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderSubsamplingConv2D"); }
    constexpr tensor forward(trace& t, const tensor& sound) const {
        const family_config& family = ctx.config.family;
        const std::int64_t c = family[channels], k = family[step_kernel], s = family[step], padding = (k - 1) / 2;
        const activation_module relu{activation::relu};
        tensor x = masked(t, 0, {1, c, k, s, padding}, sound.unsqueeze(1));
        x = t.call({"layers", 1}, relu, x);
        for (std::int64_t i = 0; i + 1 < steps_of(ctx.config); ++i) {
            x = masked(t, 2 + 3 * i, {c, c, k, s, padding, c}, x);
            x = masked(t, 3 + 3 * i, {c, c}, x);
            x = t.call({"layers", 4 + 3 * i}, relu, x);
        }
        std::int64_t left = family[mels];
        for (std::int64_t i = steps_of(ctx.config); i > 0; --i) left /= s;
        const tensor flat = t.reshape(x.transpose(1, 2), {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
        return t.call("linear", linear{c * left, ctx.config.hidden_size, true}, flat);
    }
};

/// Sines and cosines of all distances of two places, for each recording: (B, 2 · places − 1, width).
struct distance_table {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderRelPositionalEncoding"); }
    constexpr tensor forward(trace& t, std::int64_t batch, std::int64_t places) const {
        const recorder::no_grad_guard constants{t};
        const std::int64_t n = 2 * places - 1, half = ctx.config.hidden_size / 2;
        t.register_buffer({half}, dtype::float32);  // `inv_freq`
        const tensor angles = t.mul(t.full({n, 1}), trace::buffer({half})).expand({batch, n, half});
        const tensor sin = t.sin(angles), cos = t.cos(angles);
        return t.cat({sin.unsqueeze(-1), cos.unsqueeze(-1)}, -1).view({batch, n, 2 * half});
    }
};

/// Attention with relative-position scores as its mask. Positions after the end of the recording are masked in place.
struct encoder_attention {
    const layer_context& ctx;
    const tensor& table;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t heads = ctx.config.num_attention_heads, d = ctx.config.head_dim, batch = x.dim(0);
        const auto of_heads = [&](literal name) { return t.param(name, {heads, d}).view({1, heads, 1, d}); };
        const tensor u = of_heads("bias_u"), v = of_heads("bias_v");
        query_key_value qkv = project_qkv(ctx, t, x);
        split_heads(ctx, qkv);
        transpose_heads(qkv);
        const tensor by_u = t.add(qkv.query, u), by_v = t.add(qkv.query, v);
        const tensor rows = t.call("relative_k_proj", linear{ctx.config.hidden_size, heads * d}, table);
        const tensor family_keys = rows.view({batch, rows.dim(1), heads, d}).permute({0, 2, 3, 1});
        const tensor distances = t.mul_scalar(skewed(t, t.matmul_operator(by_v, family_keys)));
        const attention_pattern all{.query_length = x.dim(1), .is_causal = false};
        const tensor mixed = attention_forward(t, by_u, qkv.key, qkv.value, all, {.mask = &distances});
        return output_projection(ctx, t, t.reshape(mixed, {batch, x.dim(1), -1}));
    }
};

struct convolution_module {
    const layer_context& ctx;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderConvolutionModule"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, k = ctx.config.family[kernel];
        const bool bias = ctx.config.family[biased] != 0;
        tensor h = t.call("pointwise_conv1", convolution_1d{width, 2 * width, 1, 1, 0, 1, bias}, x.transpose(1, 2));
        h = t.masked_fill(t.glu(h, 1));  // positions after the end of the recording are zero
        h = t.call("depthwise_conv", convolution_1d{width, width, k, 1, (k - 1) / 2, width, bias}, h);
        h = t.call("norm", batch_norm_2d{width, "BatchNorm1d"}, h);
        h = t.call("activation", activation_module{ctx.config.hidden_act}, h);
        return t.call("pointwise_conv2", convolution_1d{width, width, 1, 1, 0, 1, bias}, h).transpose(1, 2);
    }
};

struct encoder_block {
    layer_context ctx;
    const tensor& table;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderBlock"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module normed{norm_kind::layer, ctx.config.hidden_size};
        const auto mlp = [&](literal name, literal norm_name, const tensor& h) {
            return t.add(h, t.mul_scalar(t.call(name, encoder_feed_forward{ctx}, t.call(norm_name, normed, h))));
        };
        tensor h = mlp("feed_forward1", "norm_feed_forward1", x);
        h = t.add(h, t.call("self_attn", encoder_attention{ctx, table}, t.call("norm_self_att", normed, h)));
        h = t.add(h, t.call("conv", convolution_module{ctx}, t.call("norm_conv", normed, h)));
        return t.call("norm_out", normed, mlp("feed_forward2", "norm_feed_forward2", h));
    }
};

/// (B, frames, mels) -> (B, states, width); the states' number is worked out in floating point for the mask.
constexpr tensor encode(const layer_context& ctx, trace& t) {
    const std::int64_t batch = t.load().batch;
    const tensor sound = t.input({batch, frames_of(ctx.model.audio_preprocessing, t.load()), ctx.config.family[mels]});
    tensor x = t.mul_scalar(t.call("subsampling", subsampling{ctx}, sound));
    const tensor table = t.call("encode_positions", distance_table{ctx}, batch, x.dim(1));
    tensor lengths = t.full({batch});
    for (std::int64_t i = steps_of(ctx.config); i > 0; --i)
        lengths = t.abs(t.add_scalar(t.div_scalar(t.add_scalar(lengths))));  // rounded down
    const attention_inputs no_inputs;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, encoder_block{ctx.for_layer(layer_loop, no_inputs), table}, x);
    return x;
}

constexpr void parse_encoder_config(config_view json, model_config& config) {
    const std::int64_t steps = config.family[factor];
    if (steps < 2 || (steps & (steps - 1)) != 0)
        throw_invalid_value(json, "subsampling_factor", "a power of two from 2");
    std::int64_t left = config.family[mels];
    for (std::int64_t i = steps_of(config); i > 0; --i) left /= config.family[step];
    if (left < 1) throw_invalid_value(json, "num_mel_bins", "as many as the convolutions leave some of");
    if (config.hidden_size % 2 != 0) throw_invalid_value(json, "hidden_size", "an even number");
}

/// Scores of letters by a convolution of one place.
struct letter_head {
    std::int64_t width;
    std::int64_t letters;
    class_name named;

    static constexpr role module_role = role::head;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {letters, width, 1});
        t.read_parameter_in_next_op(t.param("bias", {letters}));
        return t.conv(x.transpose(1, 2), weight, true).transpose(1, 2);
    }
};

constexpr tensor forward(const layer_context& ctx, trace& t) {
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    t.enter(model_info);
    const tensor x = forward_encoder_component(ctx, t, 0, "encoder", role::encoder);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    const letter_head head{x.dim(-1), ctx.config.vocab_size, ctx.class_of("EncoderCTCHead")};
    return t.leave(model_info, t.select_model_output(x, t.call("ctc_head", head, x)));
}

}  // namespace parakeet_detail

// transformers/models/parakeet, ParakeetEncoderConfig
inline constexpr model_spec parakeet_encoder{
    .model_type = "parakeet_encoder",
    .class_prefix = "Parakeet",
    .forward = forward_without_head,
    .base_model = parakeet_detail::encode,
    .parse_config = parakeet_detail::parse_encoder_config,
    .parse_feature_extractor = fast_conformer::parse_audio_config,
    .family_keys = fast_conformer::family_keys,
    .compute_media_shapes = fast_conformer::compute_media_shapes,
    .modalities = {.has_text = false, .has_audio = true},
    .audio_preprocessing = {.n_fft = 512},
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::none},
    .names = {.model_class = "Encoder"},
    .config_keys = {absent_mlp_bias},
    .defaults = {.hidden_size = 1024,
                 .intermediate_size = 4096,
                 .num_hidden_layers = 24,
                 .num_attention_heads = 8,
                 .hidden_act = activation::silu,
                 .head = head_kind::none,
                 .attention_bias = true},
};

// transformers/models/parakeet, ParakeetCTCConfig: letters at every state of an encoder
inline constexpr model_spec parakeet_ctc = [](model_spec spec) {
    spec.model_type = "parakeet_ctc";
    spec.class_prefix = "Parakeet";
    spec.forward = parakeet_detail::forward;
    spec.compute_media_shapes = fast_conformer::compute_media_shapes;
    spec.modalities = {.has_text = false, .has_audio = true};
    spec.rotary = rotary_style::none;
    spec.parse_feature_extractor = fast_conformer::parse_audio_config;
    spec.audio_preprocessing = {.n_fft = 512};
    spec.components[0] = {.key = "encoder_config", .default_spec = &parakeet_encoder};
    spec.supported_heads = {head_kind::ctc};
    spec.defaults.head = head_kind::ctc;
    spec.defaults.vocab_size = 1025;
    spec.defaults.hidden_size = 1;
    spec.defaults.num_hidden_layers = 1;
    return spec;
}(model_spec{});

}  // namespace llmcost::arch
