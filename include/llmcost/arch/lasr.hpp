// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/parakeet.hpp>

// A conformer with rotary positions over every fourth frame.
namespace llmcost::arch {

namespace lasr_detail {

enum own : std::uint8_t { mels, channels, kernel, step_kernel, step, biased };
inline constexpr own_key keys[]{
    {"num_mel_bins", 128},          {"subsampling_conv_channels", 256},
    {"conv_kernel_size", 32},       {"subsampling_conv_kernel_size", 5},
    {"subsampling_conv_stride", 2}, {"convolution_bias", 0, own_value::boolean},
};

constexpr media_shapes show(const model& m, const workload& load) {
    const std::int64_t samples = samples_of(m.sound, load);
    return {.audio = {.samples = samples, .frames = filter_bank_frames(m.sound, samples)}};
}
/// Source: transformers/models/lasr/feature_extraction_lasr.py.
constexpr void read_sound(config_view config, model& m) {
    (void)parakeet_detail::read_spectrum(config, m, "LasrFeatureExtractor", parakeet_detail::tower_of(m).own[mels]);
}

constexpr norm<norm_kind::layer> unbiased_norm(const site& here) {
    return norm<norm_kind::layer>{here.dims.hidden_size, {}, true, false};
}

/// Two convolutions over time between two projections, one activation behind each but the last.
struct subsampling {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderSubsampling"); }
    constexpr value describe(trace& t, const value& sound) const {
        const own_sizes& own = here.dims.own;
        const std::int64_t width = here.dims.hidden_size, k = own[step_kernel], s = own[step];
        const activation_module relu{activation::relu};
        value x = t.call("act_fn", relu, t.call("dense_0", linear{own[mels], width, true}, sound)).transpose(1, 2);
        x = t.call("act_fn", relu, t.call("conv_0", convolution_1d{width, width, k, s}, x));
        x = t.call("act_fn", relu, t.call("conv_1", convolution_1d{width, own[channels], k, s}, x));
        return t.call("dense_1", linear{own[channels], width, true}, x.transpose(1, 2));
    }
};

/// `nn.Conv1d` with `padding="same"` of each channel by itself: an even kernel needs a place more at the end, by a copy.
struct same_convolution {
    std::int64_t width;
    std::int64_t kernel;
    bool bias;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "Conv1d"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {width, 1, kernel});
        if (bias) t.beside(t.param("bias", {width}));
        const value from = kernel % 2 == 0 ? t.pad(x, -1, 1) : x;
        return t.convolution(from, weight, bias, width, 1, (kernel - 1) / 2);
    }
};

struct convolution_module {
    const site& here;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderConvolutionModule"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const bool bias = here.dims.own[biased] != 0;
        value h = t.call("pointwise_conv1", convolution_1d{width, 2 * width, 1, 1, 0, 1, bias}, x.transpose(1, 2));
        h = t.call("depthwise_conv", same_convolution{width, here.dims.own[kernel], bias}, t.glu(h, 1));
        h = t.call("norm", batch_norm_2d{width, "BatchNorm1d"}, h);
        h = t.call("activation", activation_module{here.dims.hidden_act}, h);
        return t.call("pointwise_conv2", convolution_1d{width, width, 1, 1, 0, 1, bias}, h).transpose(1, 2);
    }
};

constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of), heads_first(of);
    turn(here, t, of);
    const value mixed = eager_attention(t, of.q, of.k, of.v, here.shared->where, {});
    return join(here, t, t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
}

struct encoder_block {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderBlock"); }
    constexpr value describe(trace& t, const value& x) const {
        const auto normed = unbiased_norm(here);
        // each side of these sums is weighed
        const auto weighed = [&](const value& around, const value& through) { return t.add(t.mul(around), t.mul(through)); };
        const auto feed = [&](literal name, literal norm_name, const value& h) {
            return weighed(h, t.call(name, parakeet_detail::feed_forward{here}, t.call(norm_name, normed, h)));
        };
        value h = feed("feed_forward1", "norm_feed_forward1", x);
        h = t.add(h, t.call("self_attn", attention_module{here}, t.call("norm_self_att", normed, h)));
        h = weighed(h, t.call("conv", convolution_module{here}, t.call("norm_conv", normed, h)));
        return t.call("norm_out", normed, feed("feed_forward2", "norm_feed_forward2", h));
    }
};

constexpr value encode(const site& here, trace& t) {
    const std::int64_t frames = show(here.whole, t.load()).audio.frames;
    value x = t.call("subsampler", subsampling{here}, t.input({t.load().batch, frames, here.dims.own[mels]}));
    workload load = t.load();
    load.sequence = x.dim(1), load.past = 0;
    const recorder::workload_guard states{t, load};
    shared_values made;
    made.where = {.sequence = x.dim(1), .causal = false};
    make_rotary_tables(here, t, made);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, encoder_block{here.at(each, made)}, x);
    return t.call("out_norm", unbiased_norm(here), x);
}

constexpr void read(config_view, sizes&) {}

}  // namespace lasr_detail

// transformers/models/lasr, LasrEncoderConfig
inline constexpr architecture lasr_encoder = [](architecture a) {
    a.model_type = "lasr_encoder", a.prefix = "Lasr", a.base = lasr_detail::encode, a.read = lasr_detail::read;
    a.attend = lasr_detail::attend, a.own = lasr_detail::keys, a.media = lasr_detail::show, a.rotated = rotation::half;
    a.read_sound = lasr_detail::read_sound;
    a.names.attention_type = "EncoderAttention", a.names.rotary_type = "EncoderRotaryEmbedding";
    a.defaults.hidden_size = 512, a.defaults.intermediate_size = 2048, a.defaults.num_hidden_layers = 17;
    a.defaults.max_position_embeddings = 10000, a.defaults.attention_bias = false;
    return a;
}(parakeet_encoder);

// transformers/models/lasr, LasrCTCConfig
inline constexpr architecture lasr_ctc = [](architecture a) {
    a.model_type = "lasr_ctc", a.prefix = "Lasr", a.media = lasr_detail::show, a.read_sound = lasr_detail::read_sound;
    a.beside[0].otherwise = &lasr_encoder;
    a.defaults.vocab_size = 512;
    return a;
}(parakeet_ctc);

}  // namespace llmcost::arch
