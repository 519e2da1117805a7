// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/idle.hpp>

// Text models that hear through Whisper's encoder.
namespace llmcost::arch {

namespace qwen2_audio_detail {

enum own : std::uint8_t { mels, places };
inline constexpr own_key keys[]{{"num_mel_bins", 128}, {"max_source_positions", 1500}};

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

/// Two convolutions, learned positions, layers, a norm and a pool.
constexpr value hear(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size;
    idle_modules held{t};
    held.weighted("conv1", {"", "Conv1d"}, {in, own[mels], 3});
    held.weighted("conv2", {"", "Conv1d"}, {in, in, 3});
    held.embedding("embed_positions", own[places], in);
    held.list("layers", here.dims.num_hidden_layers, here.type("EncoderLayer"),
              [&] { describe_layer(here, held, "Attention", false); });
    held.layer_norm("layer_norm", in);
    held.plain("avg_pooler", {"", "AvgPool1d"});
    return {};
}

/// What hears, which a text does not call, and what reads.
constexpr value hear_and_read(const site& here, trace& t) {
    (void)describe_tower(here, t, 0, "audio_tower", role::audio);
    return describe_text(here, t, "language_model");
}

/// The same with one projection between them.
constexpr value base(const site& here, trace& t) {
    const value x = hear_and_read(here, t);
    idle_modules held{t};
    held.within("multi_modal_projector", here.type("MultiModalProjector"),
                [&] { held.linear("linear", here.component(0).dims.hidden_size, here.dims.hidden_size); });
    return x;
}

/// Nothing of these types is tied to the head, whatever a configuration says: no `_tied_weights_keys`.
constexpr void tie_nothing(config_view, model& m) { m.dims.tie_word_embeddings = false; }

// of models with two projections and an activation between them
enum whole : std::uint8_t { act, biased };
inline constexpr own_key projector_keys[]{
    {.otherwise = static_cast<std::int64_t>(activation::gelu), .value = own_value::computed},
    {"projector_bias", 1, own_value::boolean},
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
    held.within("multi_modal_projector", here.type("MultiModalProjector"), [&] {
        held.linear("linear_1", in, inner, bias);
        held.act("act", static_cast<activation>(here.whole.own[act]));
        held.linear("linear_2", inner, here.dims.hidden_size, bias);
    });
}

/// Voxtral: several frames as one, as many as make the width of a feed-forward block.
constexpr value voxtral_base(const site& here, trace& t) {
    const value x = hear_and_read(here, t);
    describe_projector(here, t, here.component(0).dims.intermediate_size, here.dims.hidden_size, false);
    return x;
}
constexpr value flamingo_base(const site& here, trace& t) {
    const value x = hear_and_read(here, t);
    describe_projector(here, t, here.component(0).dims.hidden_size, here.dims.hidden_size, here.whole.own[biased] != 0);
    return x;
}
/// Music Flamingo: frames are rotated by their time.
constexpr value music_base(const site& here, trace& t) {
    const value x = flamingo_base(here, t);
    idle_modules held{t};
    held.plain("pos_emb", here.type("RotaryEmbedding"));
    return x;
}

}  // namespace qwen2_audio_detail

// transformers/models/qwen2_audio, Qwen2AudioEncoderConfig
inline constexpr architecture qwen2_audio_encoder{
    .model_type = "qwen2_audio_encoder",
    .prefix = "Qwen2Audio",
    .base = qwen2_audio_detail::hear,
    .own = qwen2_audio_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = "Encoder"},
    .keys = {{"num_hidden_layers", "encoder_layers", key_rule::standard_first},
             {"hidden_size", "d_model", key_rule::standard_first},
             {"intermediate_size", "encoder_ffn_dim", key_rule::standard_first},
             {"hidden_act", "activation_function", key_rule::written_only}},
    .defaults = {.hidden_size = 1280, .intermediate_size = 5120, .num_hidden_layers = 32, .hidden_act = activation::gelu},
};

// transformers/models/qwen2_audio
inline constexpr architecture qwen2_audio = [](architecture a) {
    a.model_type = "qwen2_audio", a.prefix = "Qwen2Audio", a.base = qwen2_audio_detail::base;
    a.text = {.key = "text_config", .otherwise = &qwen2};
    a.beside[0] = {.key = "audio_config", .otherwise = &qwen2_audio_encoder};
    a.read_whole = qwen2_audio_detail::tie_nothing;
    return a;
}(shared_composite);

// transformers/models/voxtral, VoxtralEncoderConfig
inline constexpr architecture voxtral_encoder = [](architecture a) {
    a.model_type = "voxtral_encoder", a.prefix = "Voxtral";
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
    return a;
}(qwen2_audio);

// transformers/models/audioflamingo3
inline constexpr architecture audioflamingo3_encoder = [](architecture a) {
    a.model_type = "audioflamingo3_encoder", a.prefix = "AudioFlamingo3";
    return a;
}(voxtral_encoder);
inline constexpr architecture audioflamingo3 = [](architecture a) {
    a.model_type = "audioflamingo3", a.prefix = "AudioFlamingo3", a.base = qwen2_audio_detail::flamingo_base;
    a.text.otherwise = &qwen2, a.beside[0].otherwise = &audioflamingo3_encoder;
    return a;
}(voxtral);

// transformers/models/musicflamingo: the encoder of Audio Flamingo 3
inline constexpr architecture musicflamingo = [](architecture a) {
    a.model_type = "musicflamingo", a.prefix = "MusicFlamingo", a.base = qwen2_audio_detail::music_base;
    return a;
}(audioflamingo3);

}  // namespace llmcost::arch
