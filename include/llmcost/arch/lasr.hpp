// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/parakeet.hpp>
#include <llmcost/forward/fast_conformer.hpp>

// A conformer with rotary positions over every fourth frame.
namespace llmcost::arch {

namespace lasr_detail {

enum family_config_index : std::uint8_t { mels, channels, kernel, step_kernel, step, biased };

inline constexpr family_key family_keys[]{
    {"num_mel_bins", 128},          {"subsampling_conv_channels", 256},
    {"conv_kernel_size", 32},       {"subsampling_conv_kernel_size", 5},
    {"subsampling_conv_stride", 2}, {"convolution_bias", 0, family_key_type::boolean},
};

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const std::int64_t samples = num_audio_samples(m.audio_preprocessing, load);
    return {.audio = {.num_samples = samples, .num_frames = num_filter_bank_frames(m.audio_preprocessing, samples)}};
}

/// Source: transformers/models/lasr/feature_extraction_lasr.py.
constexpr void parse_audio_config(config_view json, model& m) {
    (void)fast_conformer::parse_spectrum(json, m, "LasrFeatureExtractor", fast_conformer::tower_of(m).family[mels]);
}

constexpr norm_module unbiased_norm(const layer_context& ctx) {
    return norm_module{norm_kind::layer, ctx.config.hidden_size, {}, true, false};
}

/// Two convolutions over time between two projections, each except the last followed by an activation.
struct subsampling {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderSubsampling"); }
    constexpr tensor forward(trace& t, const tensor& sound) const {
        const family_config& family = ctx.config.family;
        const std::int64_t width = ctx.config.hidden_size, k = family[step_kernel], s = family[step];
        const activation_module relu{activation::relu};
        tensor x = t.call("act_fn", relu, t.call("dense_0", linear{family[mels], width, true}, sound)).transpose(1, 2);
        x = t.call("act_fn", relu, t.call("conv_0", convolution_1d{width, width, k, s}, x));
        x = t.call("act_fn", relu, t.call("conv_1", convolution_1d{width, family[channels], k, s}, x));
        return t.call("dense_1", linear{family[channels], width, true}, x.transpose(1, 2));
    }
};

/// `nn.Conv1d` with `padding="same"` of each channel by itself: an even kernel needs a place more at the end, by a
/// copy.
struct same_convolution {
    std::int64_t width;
    std::int64_t kernel;
    bool bias;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Conv1d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {width, 1, kernel});
        if (bias) t.read_parameter_in_next_op(t.param("bias", {width}));
        const tensor padded = kernel % 2 == 0 ? t.pad(x, -1, 1) : x;
        return t.conv(padded, weight, bias, width, 1, (kernel - 1) / 2);
    }
};

struct convolution_module {
    const layer_context& ctx;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderConvolutionModule"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const bool bias = ctx.config.family[biased] != 0;
        tensor h = t.call("pointwise_conv1", convolution_1d{width, 2 * width, 1, 1, 0, 1, bias}, x.transpose(1, 2));
        h = t.call("depthwise_conv", same_convolution{width, ctx.config.family[kernel], bias}, t.glu(h, 1));
        h = t.call("norm", batch_norm_2d{width, "BatchNorm1d"}, h);
        h = t.call("activation", activation_module{ctx.config.hidden_act}, h);
        return t.call("pointwise_conv2", convolution_1d{width, width, 1, 1, 0, 1, bias}, h).transpose(1, 2);
    }
};

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    const tensor mixed = attention_forward(t, qkv.query, qkv.key, qkv.value, ctx.inputs->pattern, {});
    return output_projection(ctx, t, t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
}

struct encoder_block {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderBlock"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const auto normed = unbiased_norm(ctx);
        // each side of these sums is weighed
        const auto weighed = [&](const tensor& residual, const tensor& block_output) {
            const tensor weighed_residual = t.mul_scalar(residual);
            return t.add(weighed_residual, t.mul_scalar(block_output));
        };
        const auto mlp = [&](literal name, literal norm_name, const tensor& h) {
            return weighed(h, t.call(name, fast_conformer::encoder_feed_forward{ctx}, t.call(norm_name, normed, h)));
        };
        tensor h = mlp("feed_forward1", "norm_feed_forward1", x);
        h = t.add(h, t.call("self_attn", attention_module{ctx}, t.call("norm_self_att", normed, h)));
        h = weighed(h, t.call("conv", convolution_module{ctx}, t.call("norm_conv", normed, h)));
        return t.call("norm_out", normed, mlp("feed_forward2", "norm_feed_forward2", h));
    }
};

constexpr tensor encode(const layer_context& ctx, trace& t) {
    const std::int64_t frames = compute_media_shapes(ctx.model, t.load()).audio.num_frames;
    tensor x = t.call("subsampler", subsampling{ctx}, t.input({t.load().batch, frames, ctx.config.family[mels]}));
    workload load = t.load();
    load.sequence = x.dim(1);
    load.past = 0;
    const recorder::workload_guard states{t, load};
    attention_inputs inputs;
    inputs.pattern = {.query_length = x.dim(1), .is_causal = false};
    compute_rotary_embeddings(ctx, t, inputs);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, encoder_block{ctx.for_layer(layer_loop, inputs)}, x);
    return t.call("out_norm", unbiased_norm(ctx), x);
}

constexpr void parse_config(config_view, model_config&) {}

}  // namespace lasr_detail

// transformers/models/lasr, LasrEncoderConfig
inline constexpr model_spec lasr_encoder = [](model_spec spec) {
    spec.model_type = "lasr_encoder";
    spec.class_prefix = "Lasr";
    spec.base_model = lasr_detail::encode;
    spec.parse_config = lasr_detail::parse_config;
    spec.attention = lasr_detail::attention;
    spec.family_keys = lasr_detail::family_keys;
    spec.compute_media_shapes = lasr_detail::compute_media_shapes;
    spec.rotary = rotary_style::rotate_half;
    spec.parse_feature_extractor = lasr_detail::parse_audio_config;
    spec.names.attention_class = "EncoderAttention";
    spec.names.rotary_class = "EncoderRotaryEmbedding";
    spec.defaults.hidden_size = 512;
    spec.defaults.intermediate_size = 2048;
    spec.defaults.num_hidden_layers = 17;
    spec.defaults.max_position_embeddings = 10000;
    spec.defaults.attention_bias = false;
    return spec;
}(parakeet_encoder);

// transformers/models/lasr, LasrCTCConfig
inline constexpr model_spec lasr_ctc = [](model_spec spec) {
    spec.model_type = "lasr_ctc";
    spec.class_prefix = "Lasr";
    spec.compute_media_shapes = lasr_detail::compute_media_shapes;
    spec.parse_feature_extractor = lasr_detail::parse_audio_config;
    spec.components[0].default_spec = &lasr_encoder;
    spec.defaults.vocab_size = 512;
    return spec;
}(parakeet_ctc);

}  // namespace llmcost::arch
