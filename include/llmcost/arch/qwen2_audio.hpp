// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/arch/qwen2_audio_windows.hpp>
#include <llmcost/arch/whisper.hpp>
#include <llmcost/walks/idle.hpp>
#include <llmcost/walks/sound.hpp>

// Text models that hear through Whisper's encoder.
namespace llmcost::arch {

namespace qwen2_audio_detail {

/// `nn.AvgPool1d(2, stride=2)`.
struct state_pool {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "AvgPool1d"}; }
    constexpr value describe(trace& t, const value& x) const { return t.pool(op::average_pool, x, 2, 2); }
};

/// Attention without a bias of keys, and a feed-forward block, as Whisper has them.
constexpr void describe_layer(const site& here, idle_modules& held, literal attention, bool key_bias) {
    const std::int64_t in = here.dims.hidden_size, inner = here.dims.intermediate_size;
    held.within("self_attn", {here.row.prefix, attention}, [&] {
        held.linear("k_proj", in, in, key_bias);
        for (const literal name : {"v_proj", "q_proj", "out_proj"}) held.linear(name, in, in);
    });
    held.layer_norm("self_attn_layer_norm", in);
    held.act("activation_fn", here.dims.hidden_act);
    held.linear("fc1", in, inner);
    held.linear("fc2", inner, in);
    held.layer_norm("final_layer_norm", in);
}

// ---- a tower

/// Whisper's encoder over windows, whose states of silence a mask may hide; perhaps pools pairs of states.
///
/// (windows, mels, 3000) -> (windows, 1500 or 750, width); `masked` says where silence is hidden.
constexpr value hear_windows(const site& here, trace& t, const value* mask, bool pools) {
    const std::int64_t width = here.dims.hidden_size, states = here.dims.own[places];
    const value sound = t.input({t.load().batch, here.dims.own[mels], 2 * states});
    value x = t.unary(op::gelu, t.call("conv1", convolution_1d{here.dims.own[mels], width, 3, 1, 1}, sound));
    x = t.unary(op::gelu, t.call("conv2", convolution_1d{width, width, 3, 2, 1}, x)).permute({0, 2, 1});
    const module_info table{.name = "embed_positions", .type = {"", "Embedding"}, .leaf = true};
    t.enter(table);  // its rows are read beside it
    const value positions = t.frozen("weight", {states, width});
    t.leave(table);
    x = t.add(x, positions);
    const stack_sizes s{
        width, here.dims.num_attention_heads, here.dims.intermediate_size, here.dims.hidden_act, here.row.prefix, false};
    const context all{.sequence = states, .causal = false};
    const shared_values nothing;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();) {
        const module_info layer{"layers", each.index(), here.type("EncoderLayer"), role::none, false};
        const site at = here.at(each, nothing);
        t.enter(layer);
        const value h = stack_attention_block(at, t, whisper_detail::style, s, x, nullptr, all, mask);
        x = t.leave(layer, stack_feed_forward(t, true, s, h));
    }
    if (pools) x = t.call("avg_pooler", state_pool{}, x.permute({0, 2, 1})).permute({0, 2, 1});
    return stack_norm(t, "layer_norm", x);
}

/// The tower under its path, over the windows of the whole batch.
template <class Inside>
constexpr value hear_in_tower(const site& here, trace& t, const recording& r, const Inside& inside) {
    const site tower = here.component(0);
    const module_info m{.name = "audio_tower", .type = tower.type(tower.row.names.model_type), .what = role::audio};
    workload load = t.load();
    load.batch *= r.windows;
    const recorder::workload_guard shown{t, load};
    t.enter(m);
    return t.leave(m, inside(tower));
}

/// A mask of states without sound; of windows that sound fills there is none (transformers/masking_utils.py,
/// `allow_is_bidirectional_skip`).
constexpr value silence_mask(trace& t, const recording& r, std::int64_t states) {
    if (r.states() >= r.windows * states) return {};
    return eager_mask(t, {.sequence = states, .causal = false}, t.load().batch);
}

/// Features of states with sound in the places of words that stand for them.
///
/// How many places there are is asked by picking them (`get_placeholder_mask`): another copy as large.
constexpr value put_into(trace& t, const value& words, const value& features, std::int64_t each, bool picks, bool asks) {
    const std::int64_t all = t.load().batch * each, width = words.dim(-1);
    if (features.dim(-1) != width) report_description("what hears gives features of another width than the text's words");
    const value kept = picks ? t.gather(features, {all, width}) : features;
    if (asks) (void)t.gather(words, {all, width});
    return t.masked_scatter(words, kept);
}

/// A text model behind what is heard, `hear()` of which gives features.
template <class Hear>
constexpr value read_heard(const site& here, trace& t, bool picks, bool asks, const Hear& hear) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const recorder::idle_guard silent{t, !hears(t)};
        const value features = hear();
        if (!hears(t)) return words;
        return put_into(t, words, features, here.row.media(here.whole, t.load()).audio.tokens, picks, asks);
    });
}

/// What hears, which a text does not call, and what reads.
constexpr value hear_and_read(const site& here, trace& t) {
    (void)describe_tower(here, t, 0, "audio_tower", role::audio);
    return describe_text(here, t, "language_model");
}

/// The tower by itself, declared.
constexpr value hear(const site& here, trace& t) { return hear_windows(here, t, nullptr, true); }

/// The same with one projection between them.
///
/// The mask is made in front of the tower, of a column of zeros as long as its states.
constexpr value base(const site& here, trace& t) {
    return read_heard(here, t, true, false, [&] {
        const recording r = recording_of(here.whole.sound, t.load());
        const std::int64_t states = here.component(0).dims.own[places];
        (void)t.constant({t.load().batch, states, 1}, t.activation_type());
        const value mask = silence_mask(t, r, states);
        const value x = hear_in_tower(
            here, t, r, [&](const site& tower) { return hear_windows(tower, t, mask.rank > 0 ? &mask : nullptr, true); });
        const module_info projection{
            .name = "multi_modal_projector", .type = here.type("MultiModalProjector"), .what = role::projector};
        t.enter(projection);
        return t.leave(projection, t.call("linear", linear{x.dim(-1), here.dims.hidden_size, true}, x));
    });
}

/// Nothing of these types is tied to the head, whatever a configuration says: no `_tied_weights_keys`.
constexpr void tie_nothing(config_view, model& m) { m.dims.tie_word_embeddings = false; }

// of models with two projections and an activation between them
enum whole : std::uint8_t { act, biased, turned_by_time };
inline constexpr own_key projector_keys[]{
    {.otherwise = static_cast<std::int64_t>(activation::gelu), .value = own_value::computed},
    {"projector_bias", 1, own_value::boolean},
    {.value = own_value::computed},  // elements of a state that its time rotates
};

constexpr void read_projector_act(config_view config, model& m) {
    if (const auto name = config.optional_string("projector_hidden_act"))
        m.own[act] = static_cast<std::int64_t>(activation_named(config, "projector_hidden_act", *name));
}
constexpr void read_projector(config_view config, model& m) {
    tie_nothing(config, m);
    read_projector_act(config, m);
}

constexpr void describe_projector(const site& here, trace& t, std::int64_t in, std::int64_t inner, bool bias) {
    idle_modules held{t};
    held.within(
        "multi_modal_projector", here.type("MultiModalProjector"),
        [&] {
            held.linear("linear_1", in, inner, bias);
            held.act("act", static_cast<activation>(here.whole.own[act]));
            held.linear("linear_2", inner, here.dims.hidden_size, bias);
        },
        role::projector);
}

/// Two projections and an activation between them: x (..., in) -> (..., width of the text).
constexpr value project_twice(const site& here, trace& t, const value& x, std::int64_t inner, bool bias) {
    const projector both{here.type("MultiModalProjector"),
                         x.dim(-1),
                         inner,
                         here.dims.hidden_size,
                         bias,
                         static_cast<activation>(here.whole.own[act])};
    return t.call("multi_modal_projector", both, x);
}

/// Voxtral: several frames as one, as many as make the width of a feed-forward block.
constexpr value voxtral_hear(const site& here, trace& t) { return hear_windows(here, t, nullptr, false); }
constexpr value voxtral_base(const site& here, trace& t) {
    return read_heard(here, t, false, true, [&] {
        const recording r = filled_recording_of(here.whole.sound, t.load());
        const value x = hear_in_tower(here, t, r, [&](const site& tower) { return voxtral_hear(tower, t); });
        const value joined = t.reshape(x, {-1, here.component(0).dims.intermediate_size});
        return project_twice(here, t, joined, here.dims.hidden_size, false);
    });
}
constexpr value flamingo_tower(const site& here, trace& t) {
    const recording r = recording_of(here.whole.sound, t.load());
    return hear_in_tower(here, t, r, [&](const site& tower) {
        const value mask = silence_mask(t, r, tower.dims.own[places]);
        return hear_windows(tower, t, mask.rank > 0 ? &mask : nullptr, true);
    });
}
constexpr value flamingo_base(const site& here, trace& t) {
    return read_heard(here, t, true, true, [&] {
        return project_twice(here, t, flamingo_tower(here, t), here.dims.hidden_size, here.whole.own[biased] != 0);
    });
}

/// Angles of a window's number and of places in it, times the seconds at which each place is heard: (windows, places,
/// turned) twice.
struct time_table {
    class_name named;
    std::int64_t turned;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr two_values describe(trace& t, const value& seconds) const {
        const recorder::no_grad_guard constants{t};
        const std::int64_t windows = seconds.dim(0), states = seconds.dim(1), half = turned / 2;
        const value numbers = t.div(t.unary(op::absolute, t.div(trace::buffer({windows}))));  // rounded between
        const value by_window = t.repeat_interleave(t.mul(numbers.unsqueeze(-1), trace::buffer({half / 2})), -1, 2);
        const extents all{windows, states, half};
        const value angles = t.cat({by_window.unsqueeze(1).expand(all), trace::buffer(all)}, -1);
        const value turns = t.mul(t.mul(t.neg(seconds)));
        const value both = t.mul(angles, turns.unsqueeze(-1));
        const value cos = t.unary(op::cos, both);
        return {cos, t.unary(op::sin, both)};
    }
};

/// Music Flamingo: states are rotated by the time at which they are heard, in double precision.
///
/// Source: transformers/models/musicflamingo/modeling_musicflamingo.py, `_build_audio_timestamps`,
/// `apply_rotary_time_emb`.
constexpr value rotate_by_time(const site& here, trace& t, const value& x) {
    const std::int64_t windows = x.dim(0), states = x.dim(1), turned = here.whole.own[turned_by_time];
    const value offsets = t.mul(t.constant({states}));
    (void)t.cat({t.constant({1}), trace::buffer({windows - 1})}, 0);
    const value seconds = t.add(t.mul(trace::buffer({windows, 1})), offsets);
    const time_table table{here.type("RotaryEmbedding"), turned};
    const two_values angles = t.call("pos_emb", table, seconds);
    const value wide = t.to(x, dtype::float64);
    const value cos = t.to(angles.first, dtype::float64), sin = t.to(angles.second, dtype::float64);
    const value part = t.slice(wide, -1, turned);
    const value pairs = part.view({windows, states, turned / 2, 2});
    const value first = pairs.select(-1), second = pairs.select(-1);
    const value other = t.cat({t.neg(second).unsqueeze(-1), first.unsqueeze(-1)}, -1).view({windows, states, turned});
    const value rotated = t.add(t.mul(part, cos), t.mul(other, sin));
    return t.to(t.cat({rotated, t.slice(wide, -1, x.dim(-1) - turned)}, -1), x.type);
}
constexpr value music_base(const site& here, trace& t) {
    return read_heard(here, t, true, true, [&] {
        const value x = rotate_by_time(here, t, flamingo_tower(here, t));
        return project_twice(here, t, x, here.dims.hidden_size, here.whole.own[biased] != 0);
    });
}
constexpr void read_music(config_view config, model& m) {
    read_projector(config, m);
    const std::int64_t width = m.beside[0].dims.hidden_size;
    const double part = detail::read_partial_rotary_factor(config, 0.2);
    m.own[turned_by_time] = 2 * whole_pairs(width, part);
    if (m.own[turned_by_time] < 4 || m.own[turned_by_time] > width)
        fail_value(config, "partial_rotary_factor", "a part of which twice fits into the width of what hears");
}

/// Windows have a fixed number of places, and heads share the width.
constexpr void read_encoder(config_view config, sizes& s) {
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "encoder_attention_heads", "a divisor of d_model");
}

}  // namespace qwen2_audio_detail

// transformers/models/qwen2_audio, Qwen2AudioEncoderConfig
inline constexpr architecture qwen2_audio_encoder{
    .model_type = "qwen2_audio_encoder",
    .prefix = "Qwen2Audio",
    .base = qwen2_audio_detail::hear,
    .read = qwen2_audio_detail::read_encoder,
    .own = qwen2_audio_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = "Encoder"},
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

// transformers/models/qwen2_audio
inline constexpr architecture qwen2_audio = [](architecture a) {
    a.model_type = "qwen2_audio", a.prefix = "Qwen2Audio", a.base = qwen2_audio_detail::base;
    a.text = {.key = "text_config", .otherwise = &qwen2};
    a.beside[0] = {.key = "audio_config", .otherwise = &qwen2_audio_encoder};
    a.read_whole = qwen2_audio_detail::tie_nothing;
    a.media = qwen2_audio_detail::show_pooled, a.read_sound = qwen2_audio_detail::read_sound, a.reads.audio = true;
    a.sound.most = 30 * 16000;
    return a;
}(shared_composite);

// transformers/models/voxtral, VoxtralEncoderConfig
inline constexpr architecture voxtral_encoder = [](architecture a) {
    a.model_type = "voxtral_encoder", a.prefix = "Voxtral", a.base = qwen2_audio_detail::voxtral_hear;
    for (key_name& k : a.keys)
        if (k.rule == key_rule::standard_first) k.rule = key_rule::written_first;
    return a;
}(qwen2_audio_encoder);

// transformers/models/voxtral, VoxtralConfig: what a Llama that it holds is without keys of its own
inline constexpr architecture voxtral_text = [](architecture a) {
    a.defaults.vocab_size = 131072, a.defaults.hidden_size = 3072, a.defaults.intermediate_size = 8192;
    a.defaults.num_hidden_layers = 30, a.defaults.num_key_value_heads = 8, a.defaults.head_dim = 128;
    a.defaults.max_position_embeddings = 131072;
    return a;
}(llama);

// transformers/models/voxtral
inline constexpr architecture voxtral = [](architecture a) {
    a.model_type = "voxtral", a.prefix = "Voxtral", a.base = qwen2_audio_detail::voxtral_base;
    a.own = qwen2_audio_detail::projector_keys, a.read_whole = qwen2_audio_detail::read_projector;
    a.text.otherwise = &voxtral_text, a.beside[0].otherwise = &voxtral_encoder;
    a.media = qwen2_audio_detail::show_windows, a.read_sound = qwen2_audio_detail::read_filled_windows;
    return a;
}(qwen2_audio);

// transformers/models/audioflamingo3
inline constexpr architecture audioflamingo3_encoder = [](architecture a) {
    a.model_type = "audioflamingo3_encoder", a.prefix = "AudioFlamingo3", a.base = qwen2_audio_detail::hear;
    return a;
}(voxtral_encoder);
inline constexpr architecture audioflamingo3 = [](architecture a) {
    a.model_type = "audioflamingo3", a.prefix = "AudioFlamingo3", a.base = qwen2_audio_detail::flamingo_base;
    a.text.otherwise = &qwen2, a.beside[0].otherwise = &audioflamingo3_encoder;
    a.media = qwen2_audio_detail::show_pooled, a.read_sound = qwen2_audio_detail::read_windows;
    a.sound.most = 600 * 16000;
    return a;
}(voxtral);

// transformers/models/musicflamingo: the encoder of Audio Flamingo 3
inline constexpr architecture musicflamingo = [](architecture a) {
    a.model_type = "musicflamingo", a.prefix = "MusicFlamingo", a.base = qwen2_audio_detail::music_base;
    a.read_whole = qwen2_audio_detail::read_music;
    a.sound.most = 1200 * 16000;
    return a;
}(audioflamingo3);

}  // namespace llmcost::arch
