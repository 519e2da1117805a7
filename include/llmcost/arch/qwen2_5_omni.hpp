// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_audio.hpp>
#include <llmcost/arch/qwen2_vl.hpp>

namespace llmcost::arch {

namespace qwen2_5_omni_detail {

// ---- what sees: the tower of Qwen2.5-VL, whose queries, keys and values have projections of their own

/// Attention of a packed row within pictures or windows: (S, width) -> the same.
struct vision_attention {
    site here;
    const packed_context& made;
    packed_runs runs;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t rows = x.dim(0), width = x.dim(1);
        const linear same{width, width, true};
        const auto heads = [&](literal name) {
            return t.call(name, same, x).view({rows, here.dims.num_attention_heads, -1});
        };
        const auto turned = [&](const value& part) {
            return t.to(rotate(t, rotation::half, t.to(part, dtype::float32), made.cos, made.sin), part.type);
        };
        const value q = heads("q"), k = heads("k"), v = heads("v");
        const value turned_q = turned(q), turned_k = turned(k);
        return t.call("proj", same, attend_packed(t, turned_q, turned_k, v, runs));
    }
};

constexpr value see(const site& here, trace& t) {
    constexpr qwen2_vl_detail::window_names names{{"Qwen2_5_", "VisionPatchEmbed"}, "Qwen2_5Omni", "Qwen2_5OmniRMSNorm"};
    return qwen2_vl_detail::see_in_windows(here, t, names, here.dims.hidden_size / here.dims.num_attention_heads,
                                           [](const site& at, const packed_context& made, const packed_runs& runs) {
                                               return vision_attention{at, made, runs};
                                           });
}

// ---- what hears: chunks of two seconds, each attended to by itself

enum heard : std::uint8_t { mels, places, half_chunk, heard_width };
inline constexpr own_key heard_keys[]{
    {"num_mel_bins", 128}, {"max_source_positions", 1500}, {"n_window", 100}, {"output_dim", 3584}};

/// Frames that sound fills, of a recording that is cut off behind so many seconds (`WhisperFeatureExtractor`);
/// those of one chunk where none is heard and a tower is declared only.
[[nodiscard]] constexpr std::int64_t frames_of(const sound_settings& s, const workload& load) noexcept {
    if (load.audio_milliseconds == 0) return 4;
    const std::int64_t begun = s.begun_frames(s.samples_of(load.audio_milliseconds)), most = s.filled() / s.hop;
    return begun < most ? begun : most;
}
/// States that a convolution makes of two frames each.
[[nodiscard]] constexpr std::int64_t states_of(std::int64_t frames) noexcept { return (frames + 1) / 2; }

/// A block over all states in one row, without positions: norm, attention within chunks, residual; norm, two layers,
/// residual.
struct audio_layer {
    site here;
    packed_runs runs;
    bool key_bias = false;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioEncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t rows = x.dim(0), width = x.dim(1), inner = here.dims.intermediate_size;
        const norm<norm_kind::layer> layer_norm{width};
        const linear same{width, width, true};
        const value normed = t.call("self_attn_layer_norm", layer_norm, x);
        const module_info attention{.name = "self_attn", .type = here.type("AudioAttention"), .what = role::attn};
        t.enter(attention);
        const auto heads = [&](literal name, bool bias) {
            return t.call(name, linear{width, width, bias}, normed).view({rows, here.dims.num_attention_heads, -1});
        };
        const value q = heads("q_proj", true), k = heads("k_proj", key_bias), v = heads("v_proj", true);
        const value mixed = t.call("out_proj", same, attend_packed(t, q, k, v, runs));
        const value middle = t.add(x, t.leave(attention, mixed));
        const value wide = t.call("fc1", linear{width, inner, true}, t.call("final_layer_norm", layer_norm, middle));
        const value h = t.call("activation_fn", activation_module{here.dims.hidden_act}, wide);
        return t.add(middle, t.call("fc2", linear{inner, width, true}, h));
    }
};

/// Modules that hold something and are not called: two words, a table of positions, a pool.
constexpr void hold_uncalled(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const module_info table{.name = "positional_embedding", .type = {"", "SinusoidsPositionEmbedding"}, .leaf = true};
    const module_info words{.name = "audio_bos_eos_token", .type = {"", "Embedding"}, .leaf = true};
    const module_info pool{.name = "avg_pooler", .type = {"", "AvgPool1d"}, .leaf = true};
    t.enter(table);
    t.owns_buffer(count(own[places]) * count(here.dims.hidden_size * 4));
    t.leave(table);
    t.enter(words);
    (void)t.param("weight", {2, own[heard_width]});
    t.leave(words);
    t.enter(pool);
    t.leave(pool);
}

/// Frames of all recordings in one row, (frames, mels), as chunks; layers; pairs of states averaged: (tokens, width).
constexpr value hear(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t batch = t.load().batch, frames = frames_of(here.whole.sound, t.load()), chunk = 2 * own[half_chunk];
    const std::int64_t chunks = (frames + chunk - 1) / chunk, longest = frames < chunk ? frames : chunk;
    const std::int64_t width = here.dims.hidden_size,
                       states = batch * states_of(chunk) * (frames / chunk) + batch * states_of(frames % chunk);
    const value lengths = trace::buffer({batch});
    (void)t.unary(op::compare, t.div(lengths));  // chunks of each recording, rounded up
    const value sound = t.gather(trace::buffer({batch * frames, own[mels]}), {batch * chunks, longest, own[mels]});
    value x = t.call("conv1", convolution_1d{own[mels], width, 3, 1, 1}, sound.transpose(1, 2));
    x = t.mul(t.unary(op::gelu, x), trace::buffer({batch * chunks, 1, longest}));
    x = t.unary(op::gelu, t.call("conv2", convolution_1d{width, width, 3, 2, 1}, x)).transpose(1, 2);
    x = t.add(x, t.buffer({1, x.dim(1), width}));
    hold_uncalled(here, t);
    x = t.gather(t.reshape(x, {-1, width}), {states, width});
    packed_runs runs;
    runs.add(states_of(chunk), batch * (frames / chunk));
    runs.add(states_of(frames % chunk), batch);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, audio_layer{here, runs}, x);
    const std::int64_t tokens = batch * (states_of(frames) / 2);
    const value first = t.gather(x, {tokens, width}), second = t.gather(x, {tokens, width});
    x = t.call("ln_post", norm<norm_kind::layer>{width}, t.div(t.add(first, second)));
    return t.call("proj", linear{width, own[heard_width], true}, x);
}

// ---- the whole

inline constexpr own_key bound_keys[]{
    {.otherwise = 56 * 56, .value = own_value::computed},
    {.otherwise = 28 * 28 * 1280, .value = own_value::computed},
    {.otherwise = 28 * 28 * 128, .value = own_value::computed},
    {.otherwise = 28 * 28 * 768, .value = own_value::computed},
};

constexpr media_shapes show(const model& m, const workload& load) {
    media_shapes shown = qwen2_vl_detail::show(m, load);
    if (load.audio_milliseconds == 0) return shown;
    const std::int64_t frames = frames_of(m.sound, load), tokens = states_of(frames) / 2;
    if (tokens < 1) report_description("the recording is too short: no token stands for it");
    if (m.beside[1].dims.own[heard_width] != m.dims.hidden_size)
        report_description("what hears gives features of another width than the text's words");
    shown.audio = {.tokens = tokens, .samples = m.sound.samples_of(load.audio_milliseconds), .frames = frames};
    return shown;
}
constexpr void read_sound(config_view config, model& m) {
    const auto told = extractor_told(config);
    if (!told) return;
    expect_extractor(*told, "WhisperFeatureExtractor");
    expect_bands(*told, {"feature_size"}, m.beside[1].dims.own[mels]);
    expect_rate(*told, m.sound.rate, sixteen_thousand);
    read_filled(*told, m.sound);
}

/// Frames with sound, picked from all of them; features of recordings, then of pictures, in the places of their words.
constexpr value hear_see_and_read(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](value words) {
        {
            const recorder::idle_guard silent{t, !hears(t)};
            const std::int64_t mel = here.component(1).dims.own[mels], batch = t.load().batch;
            const sound_settings& s = here.whole.sound;
            const value spectrum = t.input({batch, mel, filled_frames(s, s.filled())});
            (void)t.gather(spectrum, {batch * frames_of(s, t.load()), mel});
            const value features = describe_tower(here, t, 1, "audio_tower", role::audio);
            if (hears(t)) words = t.masked_scatter(words, features);
        }
        return place_pictures(here, t, words, [&] { return describe_tower(here, t, 0, "visual", role::vision); });
    });
}

/// Heads share the width; a window only for layers from `max_window_layers` on.
constexpr void read_text(config_view config, sizes& s) {
    plan_qwen_window(config, s, 28);
    share_among_heads(config, s, {"num_attention_heads"});
    if (2 * read_sections(config, {3, 64}).frequencies != s.rotary_dim)
        fail_sections(config, "frequencies per axis that add up to half of a head");
    s.attention_bias = true, s.output_bias = false;
}

constexpr void read_audio(config_view config, sizes& s) {
    share_among_heads(config, s, {"encoder_attention_heads"});
    if (s.own[places] < s.own[half_chunk]) fail_value(config, "max_source_positions", "at least n_window");
}

}  // namespace qwen2_5_omni_detail

// transformers/models/qwen2_5_omni, Qwen2_5OmniTextConfig
inline constexpr architecture qwen2_5_omni_text = [](architecture a) {
    a.drops = {}, a.model_type = "qwen2_5_omni_text", a.prefix = "Qwen2_5Omni", a.read = qwen2_5_omni_detail::read_text;
    a.names.model_type = "ThinkerTextModel";
    a.defaults.hidden_size = 3584, a.defaults.intermediate_size = 18944, a.defaults.num_hidden_layers = 28;
    a.defaults.num_attention_heads = 28, a.defaults.num_key_value_heads = 4, a.defaults.sliding_window = 32768;
    return a;
}(qwen2_vl_text);

// transformers/models/qwen2_5_omni, Qwen2_5OmniVisionEncoderConfig
inline constexpr architecture qwen2_5_omni_vision = [](architecture a) {
    a.model_type = "qwen2_5_omni_vision_encoder", a.prefix = "Qwen2_5Omni", a.base = qwen2_5_omni_detail::see;
    a.names.model_type = "VisionEncoder";
    return a;
}(qwen2_5_vl_vision);

// transformers/models/qwen2_5_omni, Qwen2_5OmniAudioEncoderConfig
inline constexpr architecture qwen2_5_omni_audio = [](architecture a) {
    a.model_type = "qwen2_5_omni_audio_encoder", a.prefix = "Qwen2_5Omni", a.base = qwen2_5_omni_detail::hear;
    a.read = qwen2_5_omni_detail::read_audio, a.own = qwen2_5_omni_detail::heard_keys, a.names.model_type = "AudioEncoder";
    return a;
}(qwen2_audio_encoder);

// transformers/models/qwen2_5_omni, Qwen2_5OmniThinkerConfig: the part that hears, sees and writes
inline constexpr architecture qwen2_5_omni_thinker = [](architecture a) {
    a.model_type = "qwen2_5_omni_thinker", a.prefix = "Qwen2_5OmniThinker", a.base = qwen2_5_omni_detail::hear_see_and_read;
    a.own = qwen2_5_omni_detail::bound_keys, a.media = qwen2_5_omni_detail::show;
    a.read_processor = qwen2_vl_detail::read_processor, a.read_sound = qwen2_5_omni_detail::read_sound;
    a.reads.images = a.reads.videos = a.reads.audio = true;
    a.text = {.key = "text_config", .otherwise = &qwen2_5_omni_text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &qwen2_5_omni_vision, .always = true};
    a.beside[1] = {.key = "audio_config", .otherwise = &qwen2_5_omni_audio, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
