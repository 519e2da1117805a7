// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

struct vision_block {
    site here;
    const packed_context& made;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionBlock"); }
    constexpr value describe(trace& t, const value& x) const {
        namespace vl = qwen2_vl_detail;
        const own_sizes& own = here.dims.own;
        const std::int64_t in = here.dims.hidden_size;
        const norm<norm_kind::rms> rms_norm{in, here.type("RMSNorm")};
        const bool all = here.kind.own != vl::within_windows;
        const std::int64_t side = own[vl::window] / own[vl::merge] / own[vl::patch];
        const packed_runs runs = all ? made.pictures.whole() : made.pictures.windows(own[vl::merge], side);
        const value middle = t.add(x, t.call("attn", vision_attention{here, made, runs}, t.call("norm1", rms_norm, x)));
        const mlp<mlp_kind::gated> feed{
            in, here.dims.intermediate_size, here.dims.hidden_act, here.type("MLP"), true, {.act = "act_fn"}};
        return t.add(middle, t.call("mlp", feed, t.call("norm2", rms_norm, middle)));
    }
};

/// Patches of several frames in the order of their windows, layers, a merger, and back to their own order.
constexpr value see(const site& here, trace& t) {
    namespace vl = qwen2_vl_detail;
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size, unit = own[vl::merge] * own[vl::merge];
    packed_context made{.pictures = vl::grid_of(here, t)};
    const std::int64_t rows = made.pictures.patches();
    const auto ordered = [&](const value& x) {
        return t.gather(x.view({rows / unit, unit, -1}), {rows / unit, unit, x.dim(-1)}).view({rows, -1});
    };
    const vl::patch_embed embed{here, {"Qwen2_5_", "VisionPatchEmbed"}, in};
    value x = ordered(t.call("patch_embed", embed, vl::patches_in(here, t, made.pictures)));
    const packed_table table{in / here.dims.num_attention_heads, here.type("VisionRotaryEmbedding")};
    const two_values turns = t.call("rotary_pos_emb", table, rows);
    made.cos = ordered(turns.first), made.sin = ordered(turns.second);
    const shared_values none{};
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();)
        x = t.call({"blocks", each.index()}, vision_block{here.at(each, none), made}, x);
    const vl::patch_merger merger{here.type("PatchMerger"), in, unit, own[vl::out_width], "Qwen2_5OmniRMSNorm"};
    const value merged = t.call("merger", merger, x);
    return t.gather(merged, {merged.dim(0), merged.dim(1)});
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
inline constexpr architecture qwen2_5_omni_audio{
    .model_type = "qwen2_5_omni_audio_encoder",
    .prefix = "Qwen2_5Omni",
    .base = qwen2_5_omni_detail::hear,
    .read = qwen2_5_omni_detail::read_audio,
    .own = qwen2_5_omni_detail::heard_keys,
    .rotated = rotation::none,
    .names = {.model_type = "AudioEncoder"},
    .keys = {{"num_hidden_layers", "encoder_layers", key_rule::standard_first},
             {"hidden_size", "d_model", key_rule::standard_first},
             {"intermediate_size", "encoder_ffn_dim", key_rule::standard_first},
             {"hidden_act", "activation_function", key_rule::written_only},
             {"num_attention_heads", "encoder_attention_heads", key_rule::standard_first},
             {"num_key_value_heads", "", key_rule::absent},
             {"head_dim", "", key_rule::absent}},
    .defaults = {.hidden_size = 1280,
                 .intermediate_size = 5120,
                 .num_hidden_layers = 32,
                 .num_attention_heads = 20,
                 .hidden_act = activation::gelu},
};

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
