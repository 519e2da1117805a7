// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_audio.hpp>
#include <llmcost/arch/qwen3.hpp>
#include <llmcost/walks/encoder.hpp>

// An encoder whose attention remembers values by a convolution, an adaptor of two layers, Qwen3.
namespace llmcost::arch {

namespace fun_asr_detail {

enum own : std::uint8_t { mels, stacked, timestamp_layers, kernel };
inline constexpr own_key keys[]{
    {"num_mel_bins", 80},
    {"num_stacked_frames", 7},
    {"num_timestamp_prediction_layers", 20, own_value::non_negative},
    {"fsmn_kernel_size", 11},
};
enum adaptor_own : std::uint8_t { middle, middle_act };
inline constexpr own_key adaptor_keys[]{
    {"projector_hidden_size", 2048},
    {.otherwise = static_cast<std::int64_t>(activation::relu), .value = own_value::computed},
};

/// Every sixth frame of a spectrum with its neighbours, a token each; without a recording one, which declares a tower.
///
/// Source: transformers/models/fun_asr_nano/feature_extraction_fun_asr_nano.py, `_apply_lfr`.
[[nodiscard]] constexpr std::int64_t frames_of(const sound_settings& s, const workload& load) {
    if (load.audio_milliseconds == 0) return 1;
    return (filter_bank_frames(s, s.samples_of(load.audio_milliseconds)) + s.step - 1) / s.step;
}
constexpr media_shapes show(const model& m, const workload& load) {
    const std::int64_t frames = frames_of(m.sound, load);
    return {.audio = {.tokens = frames, .samples = m.sound.samples_of(load.audio_milliseconds), .frames = frames}};
}
/// Milliseconds as samples, cut off in floating point as torchaudio does (`compliance.kaldi.fbank`).
constexpr std::int64_t samples_of_frame(config_view told, literal key, std::int64_t otherwise, std::int64_t rate) {
    const double exact = static_cast<double>(rate * told.positive(key, otherwise)) * 0.001;
    return static_cast<std::int64_t>(exact);
}
constexpr void read_sound(config_view config, model& m) {
    const own_sizes& audio = m.beside[0].dims.own;
    const auto told = extractor_told(config);
    if (!told) return;
    expect_extractor(*told, "FunAsrNanoFeatureExtractor");
    expect_bands(*told, {"feature_size"}, audio[mels]);
    expect_rate(*told, m.sound.rate, sixteen_thousand);
    expect_number(*told, "num_frames_lfr", audio[stacked], "the num_stacked_frames of the configuration");
    m.sound.window = samples_of_frame(*told, "frame_length", 25, m.sound.rate);
    m.sound.hop = samples_of_frame(*told, "frame_shift", 10, m.sound.rate);
    m.sound.step = told->positive("stride_lfr", m.sound.step);
}

/// A convolution of each channel over places with sound, beside attention.
struct memory_of_values {
    const site& here;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("FSMN"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, k = here.dims.own[kernel];
        const value with_sound = t.mul(x, t.constant({x.dim(0), x.dim(1), 1}, t.activation_type()));
        const module_info pad{.name = "pad", .type = {"", "ConstantPad1d"}, .leaf = true};
        t.enter(pad);
        const value padded = t.leave(pad, t.pad(with_sound.transpose(1, 2), 2, k - 1));
        const convolution_1d each{width, width, k, 1, 0, width, false};
        return t.add(t.call("conv", each, padded).transpose(1, 2), with_sound);
    }
};

struct memory_attention {
    const site& here;
    bool remembers;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"FunAsrNano", "Attention"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
        const linear from{x.dim(-1), width, true};
        const auto split = [&](const value& v) {
            return v.view({x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
        };
        const value q = split(t.call("q_proj", from, x)), k = split(t.call("k_proj", from, x));
        const value values = t.call("v_proj", from, x);
        const context all{.sequence = x.dim(1), .causal = false};
        const value mixed = eager_attention(t, q, k, split(values), all, {.float_softmax = false});
        const value out = t.call("o_proj", linear{width, width, true}, t.reshape(mixed, {x.dim(0), x.dim(1), width}));
        return remembers ? t.add(out, t.call("fsmn", memory_of_values{here}, values)) : out;
    }
};

/// Attention and a feed-forward block; what comes in as wide as states goes around attention.
struct encoder_layer {
    site here;
    bool remembers;
    bool normed_last = false;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"FunAsrNano", "EncoderLayer"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, in = x.dim(-1);
        const norm<norm_kind::layer> normed{width};
        value h = t.call("input_layernorm", norm<norm_kind::layer>{in}, x);
        h = t.call("self_attn", memory_attention{here, remembers}, h);
        if (in == width) h = t.add(x, h);
        const mlp<mlp_kind::plain> block{width,
                                         here.dims.intermediate_size,
                                         here.dims.hidden_act,
                                         {"FunAsrNano", "MLP"},
                                         true,
                                         {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        h = t.add(h, t.call("mlp", block, t.call("post_attention_layernorm", normed, h)));
        return normed_last ? t.call("final_layernorm", normed, h) : t.call("final_layernorm", identity{}, h);
    }
};

/// Rows of a table of sines, one for each place.
struct sines_of_places {
    class_name named;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace&, std::int64_t places, std::int64_t width) const {
        return trace::buffer({places, width});
    }
};

/// (batch, frames, stacked mels) -> (batch, frames, width); two of the layers end with a norm.
constexpr value hear(const site& here, trace& t) {
    const std::int64_t in = here.dims.own[mels] * here.dims.own[stacked], layers = here.dims.num_hidden_layers;
    const std::int64_t frames = frames_of(here.whole.sound, t.load()), heard = layers - here.dims.own[timestamp_layers];
    if (frames > here.dims.max_position_embeddings - 1) report_positions(here.dims.max_position_embeddings - 1, frames);
    const value sound = t.input({t.load().batch, frames, in});
    const value places = t.call("position_embeddings", sines_of_places{here.type("PositionEmbedding")}, frames, in);
    value x = t.add(t.mul(sound), places);
    const shared_values nothing;
    const auto is_last = [&](std::int64_t i) { return i == heard - 1 || i == layers - 1; };
    const auto run = [&](std::int64_t first, std::int64_t end) {
        for (repetition each = t.repeat(end - first, x, first); each.next();)
            x = t.call({"layers", each.index()}, encoder_layer{here.at(each, nothing), true, is_last(first)}, x);
    };
    run(0, 1);
    if (heard > 2) run(1, heard - 1);
    if (heard > 1) run(heard - 1, heard);
    const std::int64_t from = heard > 1 ? heard : 1;
    if (layers - 1 > from) run(from, layers - 1);
    if (layers > from) run(layers - 1, layers);
    return x;
}

constexpr value project(const site& here, trace& t, const value& x) {
    const site adaptor = here.component(1);
    const own_sizes& own = adaptor.dims.own;
    const std::int64_t width = adaptor.dims.hidden_size;
    const module_info projection{
        .name = "multi_modal_projector", .type = here.type("MultiModalProjector"), .what = role::projector};
    t.enter(projection);
    value h = t.call("linear_1", linear{x.dim(-1), own[middle], true}, x);
    h = t.call("act", activation_module{static_cast<activation>(own[middle_act])}, h);
    h = t.call("linear_2", linear{own[middle], width, true}, h);
    const shared_values nothing;
    for (repetition each = t.repeat(adaptor.dims.num_hidden_layers, h); each.next();)
        h = t.call({"layers", each.index()}, encoder_layer{adaptor.at(each, nothing), false}, h);
    return t.leave(projection, h);
}

constexpr value base(const site& here, trace& t) {
    return qwen2_audio_detail::read_heard(
        here, t, true, true, [&] { return project(here, t, describe_tower(here, t, 0, "audio_tower", role::audio)); });
}

constexpr void read_encoder(config_view config, sizes& s) {
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    if (s.own[timestamp_layers] > s.num_hidden_layers)
        fail_value(config, "num_timestamp_prediction_layers", "at most num_hidden_layers");
}
constexpr void read_adaptor(config_view config, sizes& s) {
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    if (const auto name = config.optional_string("projector_hidden_act"))
        s.own[middle_act] = static_cast<std::int64_t>(activation_named(config, "projector_hidden_act", *name));
}
/// The adaptor is no module: it is there for its sizes.
constexpr value no_module(const site&, trace&) { return {}; }

}  // namespace fun_asr_detail

// transformers/models/fun_asr_nano, FunAsrNanoEncoderConfig
inline constexpr architecture fun_asr_nano_encoder{
    .model_type = "fun_asr_nano_encoder",
    .prefix = "FunAsrNano",
    .base = fun_asr_detail::hear,
    .read = fun_asr_detail::read_encoder,
    .own = fun_asr_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = "Encoder"},
    .keys = {no_key_value_heads},
    .defaults = {.hidden_size = 512,
                 .intermediate_size = 2048,
                 .num_hidden_layers = 70,
                 .num_attention_heads = 4,
                 .max_position_embeddings = 2049,
                 .hidden_act = activation::relu},
};
inline constexpr architecture fun_asr_nano_adaptor = [](architecture a) {
    a.model_type = "fun_asr_nano_adaptor", a.base = fun_asr_detail::no_module, a.read = fun_asr_detail::read_adaptor;
    a.own = fun_asr_detail::adaptor_keys;
    a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 256, a.defaults.num_hidden_layers = 2;
    a.defaults.num_attention_heads = 8;
    return a;
}(fun_asr_nano_encoder);

// transformers/models/fun_asr_nano, FunAsrNanoConfig: what a Qwen3 that it holds is without keys of its own
inline constexpr architecture fun_asr_nano_text = [](architecture a) {
    a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 3072, a.defaults.num_hidden_layers = 28;
    a.defaults.num_attention_heads = 16, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 40960, a.defaults.tie_word_embeddings = true;
    return a;
}(qwen3);

// transformers/models/fun_asr_nano
inline constexpr architecture fun_asr_nano = [](architecture a) {
    a.model_type = "fun_asr_nano", a.prefix = "FunAsrNano", a.base = fun_asr_detail::base;
    a.text = {.key = "text_config", .otherwise = &fun_asr_nano_text};
    a.beside[0] = {.key = "audio_config", .otherwise = &fun_asr_nano_encoder};
    a.beside[1] = {.key = "adaptor_config", .otherwise = &fun_asr_nano_adaptor, .always = true};
    a.media = fun_asr_detail::show, a.read_sound = fun_asr_detail::read_sound, a.reads.audio = true;
    a.sound.step = 6;
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
