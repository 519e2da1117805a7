// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_audio.hpp>
#include <llmcost/walks/idle.hpp>

namespace llmcost::arch {

namespace vibevoice_detail {

/// Stages that an encoder may have behind its stem: as many as the table of sizes has room for.
constexpr std::size_t most_stages = 9;

// the rate of each stage, and the depths of the stem and each stage, stand behind the last of these
enum own : std::uint8_t { channels, kernel, filters, expansion, stages, rates, depths = rates + most_stages };
inline constexpr own_key keys[]{
    {"channels", 1},
    {"kernel_size", 7},
    {"num_filters", 32},
    {"ffn_expansion", 4},
    {.otherwise = 6, .value = own_value::computed},
};

// of the whole model
enum whole : std::uint8_t { chunk };
inline constexpr own_key whole_keys[]{{"acoustic_tokenizer_chunk_size", 1440000}};

/// Numbers of a list, or of the default, into neighbouring places; how many there are.
constexpr std::int64_t read_list(config_view config, literal key, sizes& s, std::size_t first, std::size_t most,
                                 std::initializer_list<std::int64_t> otherwise) {
    std::size_t n = 0;
    const auto put = [&](std::int64_t each) {
        if (n == most) fail_unsupported(config, key, "no row describes so many stages");
        s.own[first + n++] = each;
    };
    if (const auto list = config.optional_array(key))
        for (const config_view entry : *list) put(entry.as_positive());
    else
        for (const std::int64_t each : otherwise) put(each);
    return static_cast<std::int64_t>(n);
}

constexpr void read_encoder(config_view config, sizes& s) {
    s.own[stages] = read_list(config, "downsampling_ratios", s, rates, most_stages, {2, 2, 4, 5, 5, 8});
    if (read_list(config, "depths", s, depths, most_stages + 1, {3, 3, 3, 3, 3, 3, 8}) <= s.own[stages])
        fail_value(config, "depths", "a list with one number more than downsampling_ratios");
    (void)checked_width(config, "num_filters", s.own[filters] << s.own[stages], s.own[expansion]);
    plan_one_mask(config, s);
}

/// Samples that stand behind one state.
[[nodiscard]] constexpr std::int64_t samples_of_state(const sizes& encoder) {
    std::int64_t all = 1;
    for (std::int64_t i = 0; i < encoder.own[stages]; ++i) all *= encoder.own[rates + static_cast<std::size_t>(i)];
    return all;
}

/// A convolution over the past: behind what the same one remembers of the part before (`padding_cache`).
struct causal_convolution {
    class_name named;
    convolution_1d inner;
    bool first;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t before = inner.kernel - inner.stride;
        if (before == 0) return t.call("conv", inner, x);
        const extents remembered{x.dim(0), x.dim(1), before};
        if (x.dim(2) < before) (void)t.cat({trace::buffer(remembered)}, 2);
        const value past = first ? t.constant(remembered, x.type) : trace::buffer(remembered);
        return t.call("conv", inner, t.cat({t.clone(past), x}, 2));
    }
};

/// Layers of a stage and what a part of a recording needs to know.
struct part {
    const site& here;
    bool first;

    [[nodiscard]] constexpr causal_convolution over(const convolution_1d& inner) const {
        return {here.type("CausalConv1d"), inner, first};
    }
};

struct feed_forward {
    const site& here;
    std::int64_t width;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("FeedForward"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t inner = here.dims.own[expansion] * width;
        const value h = t.call("linear1", linear{width, inner, true}, x);
        return t.call("linear2", linear{inner, width, true},
                      t.call("activation", activation_module{here.dims.hidden_act}, h));
    }
};

/// A convolution of each channel and a feed-forward block, each times a number per channel.
struct convolution_layer {
    part p;
    std::int64_t width;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return p.here.type("ConvNext1dLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const value gamma = t.param("gamma", {width}), ffn_gamma = t.param("ffn_gamma", {width});
        const norm<norm_kind::rms> normed{width, p.here.type("RMSNorm")};
        const convolution_1d each{width, width, p.here.dims.own[kernel], 1, 0, width};
        value h = t.call("norm", normed, x.transpose(1, 2)).transpose(1, 2);
        h = t.add(x, t.mul(t.call("mixer", p.over(each), h), gamma.unsqueeze(-1)));
        const value f = t.call("ffn", feed_forward{p.here, width}, t.call("ffn_norm", normed, h.transpose(1, 2)));
        return t.add(h, t.mul(f.transpose(1, 2), ffn_gamma.unsqueeze(-1)));
    }
};

constexpr value run_stage(const part& p, trace& t, std::int64_t depth, const convolution_1d& conv, value x) {
    x = t.call("conv", p.over(conv), x);
    for (repetition each = t.repeat(depth, x); each.next();)
        x = t.call({"stage", each.index()}, convolution_layer{p, conv.out}, x);
    return x;
}

/// A stem and stages that shorten and widen: (batch, channels, samples) -> (batch, states, width).
constexpr value hear_part(const part& p, trace& t, const value& sound) {
    const site& here = p.here;
    const own_sizes& own = here.dims.own;
    std::int64_t width = own[filters];
    const module_info stem{.name = "stem", .type = here.type("EncoderStem")};
    t.enter(stem);
    value x = t.leave(stem, run_stage(p, t, own[depths], {own[channels], width, own[kernel]}, sound));
    for (std::int64_t i = 0; i < own[stages]; ++i) {
        const auto place = static_cast<std::size_t>(i);
        const std::int64_t rate = own[rates + place];
        const module_info layer{"conv_layers", i, here.type("EncoderLayer"), role::none, false};
        t.enter(layer);
        x = t.leave(layer, run_stage(p, t, own[depths + place + 1], {width, 2 * width, 2 * rate, rate}, x));
        width *= 2;
    }
    x = t.call("head", p.over({width, here.dims.hidden_size, own[kernel]}), x);
    return x.permute({0, 2, 1});
}

/// One part of samples by one encoder, under its name.
constexpr value hear_in(const site& here, trace& t, std::size_t which, literal name, std::int64_t samples, bool first) {
    const site tower = here.component(which);
    const module_info m{.name = name, .type = tower.type(tower.row.names.model_type), .what = role::audio};
    const recorder::called_again_guard again{t, !first};
    t.enter(m);
    return t.leave(m, hear_part({tower, first}, t, t.input({t.load().batch, tower.dims.own[channels], samples})));
}

/// Samples filled up to whole states; without a recording those of one state, which declare the towers.
[[nodiscard]] constexpr std::int64_t states_of(const sizes& encoder, const sound_settings& sound, const workload& load) {
    const std::int64_t each = samples_of_state(encoder);
    return load.audio_milliseconds == 0 ? 1 : (sound.samples_of(load.audio_milliseconds) + each - 1) / each;
}
constexpr media_shapes show(const model& m, const workload& load) {
    const sizes& encoder = m.beside[0].dims;
    const std::int64_t states = states_of(encoder, m.sound, load);
    return {.audio = {.tokens = states, .samples = states * samples_of_state(encoder)}};
}
/// How many samples are a token says the Processor class, whatever its extractor is told (`pad_to_multiple_of`).
///
/// Source: transformers/models/vibevoice_asr/processing_vibevoice_asr.py, `audio_kwargs`.
constexpr void read_sound(config_view config, model& m) {
    const auto told = extractor_told(config);
    if (!told) return;
    expect_extractor(*told, "VibeVoiceAcousticTokenizerFeatureExtractor");
    expect_rate(*told, m.sound.rate, "24000, which this type's Processor class asks for");
}

/// What both encoders hear, part by part, with noise on the first one's; two projections of each, added.
///
/// Source: transformers/models/vibevoice_asr/modeling_vibevoice_asr.py, `get_audio_features`.
constexpr value hear(const site& here, trace& t) {
    const sizes &sounds = here.component(0).dims, &meanings = here.component(1).dims;
    const std::int64_t batch = t.load().batch, out = here.dims.hidden_size;
    const std::int64_t each = samples_of_state(sounds), states = states_of(sounds, here.whole.sound, t.load());
    value acoustic, semantic;
    {
        const recorder::no_grad_guard constants{t};
        const std::int64_t most = here.whole.own[chunk];
        for (std::int64_t done = 0; done < states * each; done += most) {
            const std::int64_t samples = states * each - done < most ? states * each - done : most;
            acoustic = hear_in(here, t, 0, "acoustic_tokenizer_encoder", samples, done == 0);
            semantic = hear_in(here, t, 1, "semantic_tokenizer_encoder", samples, done == 0);
        }
        // as large as the latents of all parts together
        acoustic = t.cat({trace::buffer({batch, states, sounds.hidden_size})}, 1);
        semantic = t.cat({trace::buffer({batch, states, meanings.hidden_size})}, 1);
        const value scale = t.mul(t.constant({batch}, t.activation_type()));
        const value noise = t.constant({batch, states, sounds.hidden_size}, t.activation_type());
        acoustic = t.add(acoustic, t.mul(scale.view({batch, 1, 1}), noise));
    }
    const module_info both{
        .name = "multi_modal_projector", .type = here.type("MultiModalProjector"), .what = role::projector};
    const norm<norm_kind::rms> normed{out, here.type("RMSNorm")};
    t.enter(both);
    value a = t.call("acoustic_norm", normed, t.call("acoustic_linear_1", linear{sounds.hidden_size, out, true}, acoustic));
    a = t.call("acoustic_linear_2", linear{out, out, true}, a);
    value b =
        t.call("semantic_norm", normed, t.call("semantic_linear_1", linear{meanings.hidden_size, out, true}, semantic));
    b = t.call("semantic_linear_2", linear{out, out, true}, b);
    return t.leave(both, t.add(a, b));
}

constexpr value base(const site& here, trace& t) {
    return qwen2_audio_detail::read_heard(here, t, true, false, [&] { return hear(here, t); });
}
constexpr value hear_alone(const site& here, trace& t) { return hear_part({here, true}, t, t.input({1, 1, 1})); }

constexpr void read_whole(config_view config, model& m) {
    qwen2_audio_detail::tie_nothing(config, m);
    if (samples_of_state(m.beside[0].dims) != samples_of_state(m.beside[1].dims))
        fail_unsupported(config, "downsampling_ratios", "the two encoders shorten differently");
    if (m.own[chunk] % samples_of_state(m.beside[0].dims) != 0)
        fail_value(config, "acoustic_tokenizer_chunk_size", "a multiple of the samples of a state");
}

}  // namespace vibevoice_detail

// transformers/models/vibevoice_acoustic_tokenizer, VibeVoiceAcousticTokenizerEncoderConfig
inline constexpr architecture vibevoice_acoustic_tokenizer_encoder{
    .model_type = "vibevoice_acoustic_tokenizer_encoder",
    .prefix = "VibeVoiceAcousticTokenizer",
    .base = vibevoice_detail::hear_alone,
    .read = vibevoice_detail::read_encoder,
    .own = vibevoice_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = "EncoderModel"},
    .defaults = {.hidden_size = 64, .num_hidden_layers = 1, .hidden_act = activation::gelu},
};
inline constexpr architecture vibevoice_semantic_tokenizer_encoder = [](architecture a) {
    a.defaults.hidden_size = 128;
    return a;
}(vibevoice_acoustic_tokenizer_encoder);

// transformers/models/vibevoice_asr
inline constexpr architecture vibevoice_asr = [](architecture a) {
    a.model_type = "vibevoice_asr", a.prefix = "VibeVoiceAsr", a.base = vibevoice_detail::base;
    a.text = {.key = "text_config", .otherwise = &qwen2};
    a.beside[0] = {.key = "acoustic_tokenizer_encoder_config", .otherwise = &vibevoice_acoustic_tokenizer_encoder};
    a.beside[1] = {.key = "semantic_tokenizer_encoder_config",
                   .otherwise = &vibevoice_acoustic_tokenizer_encoder,
                   .missing = &vibevoice_semantic_tokenizer_encoder};
    a.read_whole = vibevoice_detail::read_whole, a.own = vibevoice_detail::whole_keys;
    a.media = vibevoice_detail::show, a.read_sound = vibevoice_detail::read_sound, a.reads.audio = true;
    a.sound.rate = 24000;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
