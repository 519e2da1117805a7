// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/reading/sound_files.hpp>
#include <llmcost/walks/attention.hpp>
#include <llmcost/walks/conformer.hpp>
#include <llmcost/walks/tower.hpp>

// Fast Conformer: convolutions over time and frequency leave every eighth frame, a conformer reads them.
namespace llmcost::arch {

namespace parakeet_detail {

enum own : std::uint8_t { mels, channels, kernel, step_kernel, step, factor, biased };
inline constexpr own_key keys[]{
    {"num_mel_bins", 80},
    {"subsampling_conv_channels", 256},
    {"conv_kernel_size", 9},
    {"subsampling_conv_kernel_size", 3},
    {"subsampling_conv_stride", 2},
    {"subsampling_factor", 8},
    {"convolution_bias", 1, own_value::boolean},
};

/// Frames of a recording, one of which begins behind its end; and those that a mask leaves.
[[nodiscard]] constexpr std::int64_t frames_of(const sound_settings& sound, const workload& load) {
    return sound.centred_frames(samples_of(sound, load));
}
[[nodiscard]] constexpr std::int64_t steps_of(const sizes& dims) noexcept {
    std::int64_t n = 0;
    for (std::int64_t left = dims.own[factor]; left > 1; left /= 2) ++n;
    return n;
}
/// What the convolutions leave of so many frames.
[[nodiscard]] constexpr std::int64_t states_of(const sizes& dims, std::int64_t frames) {
    const std::int64_t k = dims.own[step_kernel];
    for (std::int64_t i = steps_of(dims); i > 0; --i) frames = (frames + (k - 1) / 2 * 2 - k) / dims.own[step] + 1;
    return frames;
}
[[nodiscard]] constexpr std::int64_t states_of(const sizes& dims, const sound_settings& sound, const workload& load) {
    return states_of(dims, frames_of(sound, load));
}
/// Whether the last states are hidden from who reads them.
[[nodiscard]] constexpr bool hides_last(const sizes& dims, const sound_settings& sound, const workload& load) {
    const std::int64_t frames = frames_of(sound, load);
    return states_of(dims, frames - 1) < states_of(dims, frames);
}

/// A convolution over (B, channels, frames, frequencies), whose results behind the recording's end are set to zero in place.
constexpr value masked(trace& t, std::int64_t index, const convolution_2d& by, const value& x) {
    value h = t.call({"layers", index}, by, x);
    t.in_place(op::mul, h);
    return h;
}

struct subsampling {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderSubsamplingConv2D"); }
    constexpr value describe(trace& t, const value& sound) const {
        const own_sizes& own = here.dims.own;
        const std::int64_t c = own[channels], k = own[step_kernel], s = own[step], around = (k - 1) / 2;
        const activation_module relu{activation::relu};
        value x = masked(t, 0, {1, c, k, s, around}, sound.unsqueeze(1));
        x = t.call({"layers", 1}, relu, x);
        for (std::int64_t i = 0; i + 1 < steps_of(here.dims); ++i) {
            x = masked(t, 2 + 3 * i, {c, c, k, s, around, c}, x);
            x = masked(t, 3 + 3 * i, {c, c}, x);
            x = t.call({"layers", 4 + 3 * i}, relu, x);
        }
        std::int64_t left = own[mels];
        for (std::int64_t i = steps_of(here.dims); i > 0; --i) left /= s;
        const value flat = t.reshape(x.transpose(1, 2), {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
        return t.call("linear", linear{c * left, here.dims.hidden_size, true}, flat);
    }
};

/// Sines and cosines of all distances of two places, for each recording: (B, 2 · places − 1, width).
struct distance_table {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderRelPositionalEncoding"); }
    constexpr value describe(trace& t, std::int64_t batch, std::int64_t places) const {
        const recorder::no_grad_guard constants{t};
        const std::int64_t n = 2 * places - 1, half = here.dims.hidden_size / 2;
        const value angles = t.mul(t.constant({n, 1}), trace::buffer({half})).expand({batch, n, half});
        const value sin = t.unary(op::sin, angles), cos = t.unary(op::cos, angles);
        return t.cat({sin.unsqueeze(-1), cos.unsqueeze(-1)}, -1).view({batch, n, 2 * half});
    }
};

struct feed_forward {
    const site& here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderFeedForward"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const bool bias = here.dims.attention_bias;
        const value h =
            t.call("activation", activation_module{here.dims.hidden_act}, t.call("linear1", linear{width, inner, bias}, x));
        return t.call("linear2", linear{inner, width, bias}, drop(t, h, dropout_of::inner));
    }
};

/// Attention with scores of distances as its mask, in which what lies behind a recording's end is hidden in place.
struct encoder_attention {
    const site& here;
    const value& table;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t heads = here.dims.num_attention_heads, d = here.dims.head_dim, batch = x.dim(0);
        const auto of_heads = [&](literal name) { return t.param(name, {heads, d}).view({1, heads, 1, d}); };
        const value u = of_heads("bias_u"), v = of_heads("bias_v");
        qkv of = project_qkv(here, t, x);
        split_heads(here, of), heads_first(of);
        const value by_u = t.add(of.q, u), by_v = t.add(of.q, v);
        const value rows = t.call("relative_k_proj", linear{here.dims.hidden_size, heads * d}, table);
        const value keys = rows.view({batch, rows.dim(1), heads, d}).permute({0, 2, 3, 1});
        const value distances = t.mul(skewed(t, t.matmul_operator(by_v, keys)));
        const context all{.sequence = x.dim(1), .causal = false};
        const value mixed = eager_attention(t, by_u, of.k, of.v, all, {.mask = &distances});
        return join(here, t, t.reshape(mixed, {batch, x.dim(1), -1}));
    }
};

struct convolution_module {
    const site& here;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderConvolutionModule"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, k = here.dims.own[kernel];
        const bool bias = here.dims.own[biased] != 0;
        value h = t.call("pointwise_conv1", convolution_1d{width, 2 * width, 1, 1, 0, 1, bias}, x.transpose(1, 2));
        h = t.where(t.glu(h, 1));  // places behind a recording's end are zeros
        h = t.call("depthwise_conv", convolution_1d{width, width, k, 1, (k - 1) / 2, width, bias}, h);
        h = t.call("norm", batch_norm_2d{width, "BatchNorm1d"}, h);
        h = t.call("activation", activation_module{here.dims.hidden_act}, h);
        return t.call("pointwise_conv2", convolution_1d{width, width, 1, 1, 0, 1, bias}, h).transpose(1, 2);
    }
};

struct encoder_block {
    site here;
    const value& table;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderBlock"); }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> normed{here.dims.hidden_size};
        const auto feed = [&](literal name, literal norm_name, const value& h) {
            return t.add(h, t.mul(t.call(name, feed_forward{here}, t.call(norm_name, normed, h))));
        };
        value h = feed("feed_forward1", "norm_feed_forward1", x);
        h = t.add(h, t.call("self_attn", encoder_attention{here, table}, t.call("norm_self_att", normed, h)));
        h = t.add(h, t.call("conv", convolution_module{here}, t.call("norm_conv", normed, h)));
        return t.call("norm_out", normed, feed("feed_forward2", "norm_feed_forward2", h));
    }
};

/// (B, frames, mels) -> (B, states, width); the states' number is worked out in floating point for the mask.
constexpr value encode(const site& here, trace& t) {
    const std::int64_t batch = t.load().batch;
    const value sound = t.input({batch, frames_of(here.whole.sound, t.load()), here.dims.own[mels]});
    value x = t.mul(t.call("subsampling", subsampling{here}, sound));
    const value table = t.call("encode_positions", distance_table{here}, batch, x.dim(1));
    value lengths = t.constant({batch});
    for (std::int64_t i = steps_of(here.dims); i > 0; --i)
        lengths = t.unary(op::absolute, t.add(t.div(t.add(lengths))));  // rounded down
    const shared_values nothing;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, encoder_block{here.at(each, nothing), table}, x);
    return x;
}

constexpr void read_encoder(config_view config, sizes& s) {
    const std::int64_t steps = s.own[factor];
    if (steps < 2 || (steps & (steps - 1)) != 0) fail_value(config, "subsampling_factor", "a power of two from 2");
    std::int64_t left = s.own[mels];
    for (std::int64_t i = steps_of(s); i > 0; --i) left /= s.own[step];
    if (left < 1) fail_value(config, "num_mel_bins", "as many as the convolutions leave some of");
    if (s.hidden_size % 2 != 0) fail_value(config, "hidden_size", "an even number");
}

constexpr media_shapes show(const model& m, const workload& load) {
    return {.audio = {.samples = samples_of(m.sound, load), .frames = frames_of(m.sound, load)}};
}

/// Sizes of the tower, which may be a part.
[[nodiscard]] constexpr const sizes& tower_of(const model& m) noexcept {
    return m.beside[0].kind != nullptr ? m.beside[0].dims : m.dims;
}
constexpr maybe<config_view> read_spectrum(config_view config, model& m, literal named, std::int64_t bands) {
    const auto told = extractor_told(config);
    if (!told) return {};
    expect_extractor(*told, named);
    expect_bands(*told, {"feature_size"}, bands);
    expect_rate(*told, m.sound.rate, sixteen_thousand);
    read_frames(*told, m.sound);
    return told;
}
/// Source: transformers/models/parakeet/feature_extraction_parakeet.py.
constexpr void read_sound(config_view config, model& m) {
    (void)read_spectrum(config, m, "ParakeetFeatureExtractor", tower_of(m).own[mels]);
}

/// Scores of letters by a convolution of one place.
struct letter_head {
    std::int64_t width;
    std::int64_t letters;
    class_name named;

    static constexpr role what = role::head;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {letters, width, 1});
        t.beside(t.param("bias", {letters}));
        return t.convolution(x.transpose(1, 2), weight, true).transpose(1, 2);
    }
};

constexpr value describe(const site& here, trace& t) {
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    t.enter(whole);
    const value x = describe_tower(here, t, 0, "encoder", role::encoder);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    const letter_head head{x.dim(-1), here.dims.vocab_size, here.type("EncoderCTCHead")};
    return t.leave(whole, t.returns(x, t.call("ctc_head", head, x)));
}

}  // namespace parakeet_detail

// transformers/models/parakeet, ParakeetEncoderConfig
inline constexpr architecture parakeet_encoder{
    .model_type = "parakeet_encoder",
    .prefix = "Parakeet",
    .describe = describe_bare,
    .base = parakeet_detail::encode,
    .read = parakeet_detail::read_encoder,
    .read_sound = parakeet_detail::read_sound,
    .own = parakeet_detail::keys,
    .media = parakeet_detail::show,
    .reads = {.text = false, .audio = true},
    .sound = {.transform = 512},
    .rotated = rotation::none,
    .heads = {head_kind::none},
    .names = {.model_type = "Encoder"},
    .keys = {no_mlp_bias},
    .defaults = {.hidden_size = 1024,
                 .intermediate_size = 4096,
                 .num_hidden_layers = 24,
                 .num_attention_heads = 8,
                 .hidden_act = activation::silu,
                 .head = head_kind::none,
                 .attention_bias = true},
};

// transformers/models/parakeet, ParakeetCTCConfig: letters at every state of an encoder
inline constexpr architecture parakeet_ctc = [](architecture a) {
    a.model_type = "parakeet_ctc", a.prefix = "Parakeet", a.describe = parakeet_detail::describe;
    a.media = parakeet_detail::show, a.reads = {.text = false, .audio = true}, a.rotated = rotation::none;
    a.read_sound = parakeet_detail::read_sound, a.sound = {.transform = 512};
    a.beside[0] = {.key = "encoder_config", .otherwise = &parakeet_encoder};
    a.heads = {head_kind::ctc}, a.defaults.head = head_kind::ctc;
    a.defaults.vocab_size = 1025, a.defaults.hidden_size = 1, a.defaults.num_hidden_layers = 1;
    return a;
}(architecture{});

}  // namespace llmcost::arch
