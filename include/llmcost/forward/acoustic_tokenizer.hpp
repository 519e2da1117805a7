// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/audio_language.hpp>

// VibeVoice: convolution stages that encode samples (arXiv 2508.19205).
namespace llmcost::acoustic_tokenizer {

/// Maximum number of encoder stages after the stem, limited by the size of the family configuration.
constexpr std::size_t max_stages = 9;

// the last of these is followed by the rate of each stage, and by the depths of the stem and each stage
enum family_config_index : std::uint8_t {
    channels,
    kernel,
    filters,
    expansion,
    stages,
    rates,
    depths = rates + max_stages
};

/// A causal convolution; its input follows the cached end of the previous chunk (`padding_cache`).
struct causal_convolution {
    class_name named;
    convolution_1d inner;
    bool first;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t causal_padding = inner.kernel - inner.stride;
        if (causal_padding == 0) return t.call("conv", inner, x);
        const shape padding_shape{x.dim(0), x.dim(1), causal_padding};
        if (x.dim(2) < causal_padding) (void)t.cat({trace::buffer(padding_shape)}, 2);
        const tensor past = first ? t.full(padding_shape, x.type) : trace::buffer(padding_shape);
        return t.call("conv", inner, t.cat({t.clone(past), x}, 2));
    }
};

/// The context of a stage, and whether the chunk is the first one of its recording.
struct part {
    const layer_context& ctx;
    bool first;

    [[nodiscard]] constexpr causal_convolution make_causal(const convolution_1d& inner) const {
        return {ctx.class_of("CausalConv1d"), inner, first};
    }
};

struct feed_forward {
    const layer_context& ctx;
    std::int64_t width;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("FeedForward"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t inner = ctx.config.family[expansion] * width;
        const tensor h = t.call("linear1", linear{width, inner, true}, x);
        return t.call("linear2", linear{inner, width, true},
                      t.call("activation", activation_module{ctx.config.hidden_act}, h));
    }
};

/// A convolution of each channel and a feed-forward block, each times a number per channel.
struct convolution_layer {
    part p;
    std::int64_t width;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return p.ctx.class_of("ConvNext1dLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor gamma = t.param("gamma", {width}), ffn_gamma = t.param("ffn_gamma", {width});
        const norm_module normed{norm_kind::rms, width, p.ctx.class_of("RMSNorm")};
        const convolution_1d depthwise_conv{width, width, p.ctx.config.family[kernel], 1, 0, width};
        tensor h = t.call("norm", normed, x.transpose(1, 2)).transpose(1, 2);
        h = t.add(x, t.mul(t.call("mixer", p.make_causal(depthwise_conv), h), gamma.unsqueeze(-1)));
        const tensor f = t.call("ffn", feed_forward{p.ctx, width}, t.call("ffn_norm", normed, h.transpose(1, 2)));
        return t.add(h, t.mul(f.transpose(1, 2), ffn_gamma.unsqueeze(-1)));
    }
};

constexpr tensor run_stage(const part& p, trace& t, std::int64_t depth, const convolution_1d& conv, tensor x) {
    x = t.call("conv", p.make_causal(conv), x);
    for (loop layer_loop = t.loop_modules(depth, x); layer_loop.next();)
        x = t.call({"stage", layer_loop.index()}, convolution_layer{p, conv.out}, x);
    return x;
}

/// A stem and stages that shorten and widen: (batch, channels, samples) -> (batch, states, width).
constexpr tensor encode_samples(const part& p, trace& t, const tensor& sound) {
    const layer_context& ctx = p.ctx;
    const family_config& family = ctx.config.family;
    std::int64_t width = family[filters];
    const module_info stem{.name = "stem", .class_of_module = ctx.class_of("EncoderStem")};
    t.enter(stem);
    tensor x = t.leave(stem, run_stage(p, t, family[depths], {family[channels], width, family[kernel]}, sound));
    for (std::int64_t i = 0; i < family[stages]; ++i) {
        const auto place = static_cast<std::size_t>(i);
        const std::int64_t rate = family[rates + place];
        const module_info layer{"conv_layers", i, ctx.class_of("EncoderLayer"), role::none, false};
        t.enter(layer);
        x = t.leave(layer, run_stage(p, t, family[depths + place + 1], {width, 2 * width, 2 * rate, rate}, x));
        width *= 2;
    }
    x = t.call("head", p.make_causal({width, ctx.config.hidden_size, family[kernel]}), x);
    return x.permute({0, 2, 1});
}

}  // namespace llmcost::acoustic_tokenizer
