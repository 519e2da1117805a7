// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/idle.hpp>

namespace llmcost::arch {

namespace nemo_speechlm_detail {

/// Sizes of one encoder, in the order in which they stand in the table of the audio model's own.
enum own : std::uint8_t { width, inner, layers, heads, groups, act, mels, stacked, encoder_sizes };
// where the sizes of the encoders of speech and of speakers begin, and the others
constexpr std::size_t speech = 0, speakers_of = encoder_sizes, head_width = 2 * encoder_sizes, speakers = head_width + 1;
inline constexpr own_key computed{.value = own_value::computed};
inline constexpr own_key keys[]{
    computed, computed, computed, computed, computed, computed, computed, computed,  // `own`, of speech
    computed, computed, computed, computed, computed, computed, computed, computed,  // `own`, of speakers
    computed, computed,
};

constexpr config_view part_of(config_view config, literal key) {
    const auto given = config.optional_object(key);
    return given ? *given : config_view{&detail::no_keys, 0};
}

/// One encoder's sizes; null or no number of groups of keys: as many as heads.
constexpr void read_encoder(config_view config, own_sizes& into, std::size_t first, const std::int64_t (&usual)[5]) {
    const auto at = [&](own which) -> std::int64_t& { return into[first + which]; };
    at(width) = config.positive("hidden_size", usual[0]), at(inner) = config.positive("intermediate_size", usual[1]);
    at(layers) = config.positive("num_hidden_layers", usual[2]);
    at(heads) = config.positive("num_attention_heads", usual[3]);
    const auto given = config.find("num_key_value_heads");
    at(groups) = given && !given->is_null() ? given->as_positive() : at(heads);
    at(act) = static_cast<std::int64_t>(activation_named(config, "hidden_act", config.string("hidden_act", "gelu")));
    at(mels) = config.positive("num_mel_bins", 128), at(stacked) = config.positive("subsampling_factor", usual[4]);
    if (at(width) % at(heads) != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    if (config.contains("head_dim") && config.positive("head_dim") != at(width) / at(heads))
        fail_unsupported(config, "head_dim", "no row describes heads that do not share hidden_size");
}

constexpr void read_audio(config_view config, sizes& s) {
    read_encoder(part_of(config, "asr_config"), s.own, speech, {1280, 5120, 32, 10, 8});
    const config_view diarization = part_of(config, "diarization_config");
    read_encoder(part_of(diarization, "audio_config"), s.own, speakers_of, {512, 2048, 31, 8, 8});
    const config_view head = part_of(diarization, "head_config");
    s.own[head_width] = head.positive("hidden_size", 192), s.own[speakers] = head.positive("num_speakers", 8);
    if (head.positive("audio_hidden_size", 512) != s.own[speakers_of + width])
        fail_value(head, "audio_hidden_size", "the hidden_size of audio_config");
    if (head.positive("subsampling_factor", 8) != s.own[speakers_of + stacked] ||
        s.own[speech + stacked] != s.own[speakers_of + stacked])
        fail_value(head, "subsampling_factor", "the same in all parts");
    s.hidden_size = s.own[speech + width];
    plan_one_mask(config, s);
}

/// Layers of an encoder; `normed`: norms of queries and keys. Values are as many as queries.
constexpr void describe_layers(idle_modules& held, const std::int64_t* e, literal prefix, literal layer, bool normed) {
    const std::int64_t in = e[width], d = in / e[heads];
    held.list("layers", e[layers], {prefix, layer}, [&] {
        held.within("self_attn", {prefix, "Attention"}, [&] {
            held.linear("q_proj", in, e[heads] * d, false);
            held.linear("k_proj", in, e[groups] * d, false);
            held.linear("v_proj", in, e[heads] * d, false);
            held.linear("o_proj", e[heads] * d, in);
            if (normed) held.layer_norm("q_norm", d), held.layer_norm("k_norm", d);
        });
        held.layer_norm("layer_norm1", in);
        held.within("mlp", {prefix, "MLP"}, [&] {
            held.act("activation_fn", static_cast<activation>(e[act]));
            held.linear("fc1", in, e[inner]);
            held.linear("fc2", e[inner], in);
        });
        held.layer_norm("layer_norm2", in);
    });
    held.layer_norm("layer_norm", in);
    held.plain("rotary_emb", {prefix, "RotaryEmbedding"});
}

/// Several frames as one, layers, norms around them.
constexpr void describe_encoder(idle_modules& held, const std::int64_t* e, literal prefix, literal layer, bool normed) {
    held.within("embedder", {prefix, "FeatureStacking"},
                [&] { held.linear("projection", e[stacked] * e[mels], e[width], false); });
    held.layer_norm("input_layer_norm", e[width]);
    describe_layers(held, e, prefix, layer, normed);
}

constexpr literal diarization = "Nemotron3Diarization";

/// Who speaks when: an encoder of its own, frames made finer again, scores.
constexpr void describe_diarization(const own_sizes& own, idle_modules& held) {
    const std::int64_t* const e = own.values + speakers_of;
    const std::int64_t in = own[head_width];
    held.tensor("silence_embeds", {e[width]});
    held.within("model", {diarization, "Model"}, [&] {
        held.within("audio_tower", {diarization, "AudioModel"},
                    [&] { describe_encoder(held, e, diarization, "AudioLayer", false); });
        held.linear("proj", e[width], in);
        held.within("upsampler", {diarization, "SubpixelUpsampler"}, [&] {
            held.weighted("conv", {"", "Conv1d"}, {in * e[stacked], in, 3});
        });
    });
    held.within("classifier", {diarization, "ClassificationHead"}, [&] {
        held.linear("dense", in, in);
        held.linear("out_proj", in, own[speakers]);
        held.plain("act_fn", {"", "ReLU"});
    });
}

constexpr value hear(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    idle_modules held{t};
    held.within("asr_encoder", here.type("AsrAudioModel"),
                [&] { describe_encoder(held, own.values + speech, here.row.prefix, "AsrAudioLayer", true); });
    held.within("diarization_model", {diarization, "ForAudioFrameClassification"}, [&] { describe_diarization(own, held); });
    held.layer_norm("asr_norm", own[speech + width]);
    held.layer_norm("speaker_norm", own[speakers]);
    held.plain("speaker_embedding", here.type("SpeakerEmbedding"));
    return {};
}

enum timestamps : std::uint8_t { finer };
inline constexpr own_key timestamp_keys[]{{"upsampling_factor", 2}};

/// When each word was said: frames made finer, layers, norms.
constexpr value time_words(const site& here, trace& t) {
    const sizes& s = here.dims;
    std::int64_t e[encoder_sizes]{};
    e[width] = s.hidden_size, e[inner] = s.intermediate_size, e[layers] = s.num_hidden_layers;
    e[heads] = s.num_attention_heads, e[groups] = s.num_key_value_heads;
    e[act] = static_cast<std::int64_t>(s.hidden_act);
    idle_modules held{t};
    held.weighted("upsampler", {"", "ConvTranspose1d"}, {s.hidden_size, s.hidden_size, s.own[finer]});
    held.layer_norm("input_layer_norm", s.hidden_size);
    describe_layers(held, e, here.row.prefix, "AsrAudioLayer", true);
    return {};
}

constexpr void read_timestamps(config_view config, sizes& s) {
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    if (s.head_dim != s.hidden_size / s.num_attention_heads)
        fail_unsupported(config, "head_dim", "no row describes heads that do not share hidden_size");
    plan_one_mask(config, s);
}

constexpr value base(const site& here, trace& t) {
    (void)describe_tower(here, t, 0, "audio_tower", role::audio);
    const value x = describe_text(here, t, "language_model");
    {
        const recorder::idle_guard no_sound{t};
        const projector_linear to_text{here.component(0).dims.hidden_size, here.dims.hidden_size, true};
        (void)t.call("multi_modal_projector", to_text, trace::buffer({1, to_text.in}));
    }
    (void)describe_tower(here, t, 1, "word_timestamp_encoder", role::audio);
    return x;
}

/// Beside the words' scores stands a head for their times.
constexpr value finish(const site& here, trace& t, const value& logits) {
    const sizes& words = here.component(1).dims;
    idle_modules held{t};
    held.weighted("word_timestamp_head", {"", "Conv1d"}, {words.vocab_size, words.hidden_size, 1});
    return logits;
}

constexpr void tie_nothing(config_view, model& m) { m.dims.tie_word_embeddings = false; }

}  // namespace nemo_speechlm_detail

// transformers/models/nemotron3_5_transcribe, Nemotron3_5TranscribeAudioConfig: two encoders, of speech and of speakers
inline constexpr architecture nemotron3_5_transcribe_audio{
    .model_type = "nemotron3_5_transcribe_audio",
    .prefix = "Nemotron3_5Transcribe",
    .base = nemo_speechlm_detail::hear,
    .read = nemo_speechlm_detail::read_audio,
    .own = nemo_speechlm_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = "AudioModel"},
    .defaults = {.hidden_size = 1280, .num_hidden_layers = 1},
};

// transformers/models/nemotron3_5_transcribe, Nemotron3_5TranscribeWordTimestampConfig
inline constexpr architecture nemotron3_5_transcribe_word_timestamp{
    .model_type = "nemotron3_5_transcribe_word_timestamp",
    .prefix = "Nemotron3_5Transcribe",
    .base = nemo_speechlm_detail::time_words,
    .read = nemo_speechlm_detail::read_timestamps,
    .own = nemo_speechlm_detail::timestamp_keys,
    .rotated = rotation::none,
    .names = {.model_type = "WordTimestampModel"},
    .defaults = {.vocab_size = 23863,
                 .hidden_size = 1280,
                 .intermediate_size = 640,
                 .num_hidden_layers = 2,
                 .num_attention_heads = 16,
                 .hidden_act = activation::gelu},
};

// transformers/models/nemotron3_5_transcribe: hears speech and speakers, reads with the model that `text_config` names
inline constexpr architecture nemo_speechlm = [](architecture a) {
    a.model_type = "nemo_speechlm", a.prefix = "Nemotron3_5Transcribe", a.base = nemo_speechlm_detail::base;
    a.finish = nemo_speechlm_detail::finish, a.read_whole = nemo_speechlm_detail::tie_nothing;
    a.text = {.key = "text_config"};
    a.beside[0] = {.key = "audio_config", .otherwise = &nemotron3_5_transcribe_audio, .always = true};
    a.beside[1] = {.key = "word_timestamp_config", .otherwise = &nemotron3_5_transcribe_word_timestamp, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
