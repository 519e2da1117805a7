// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/not_executed.hpp>

namespace llmcost::arch {

namespace nemotron3_5_transcribe_detail {

/// Sizes of one encoder, in the order of the family configuration of the audio model.
enum family_config_index : std::uint8_t {
    width,
    inner,
    layers,
    heads,
    groups,
    act,
    mels,
    stacked,
    rotary_dim,
    encoder_sizes
};
// where the sizes of the encoders of speech and of speakers begin, and the others
constexpr std::size_t speech = 0, speakers_of = encoder_sizes, head_width = 2 * encoder_sizes,
                      speakers = head_width + 1;
inline constexpr family_key computed{.type = family_key_type::computed};
inline constexpr family_key family_keys[]{
    computed, computed, computed, computed, computed, computed, computed, computed, computed,  // of speech
    computed, computed, computed, computed, computed, computed, computed, computed, computed,  // of speakers
    computed, computed,
};

constexpr config_view part_of(config_view json, literal key) {
    const auto json_value = json.optional_object(key);
    return json_value ? *json_value : config_view{&detail::no_keys, 0};
}

/// Number of rotated elements of a head. `default_factor`: the share of a head without `rope_parameters`.
constexpr std::int64_t parse_rotary_dim(config_view json, std::int64_t head_dim, double default_factor) {
    const double factor = json.optional_object("rope_parameters") ? 1.0 : default_factor;
    return round_rotary_dim(head_dim, detail::parse_partial_rotary_factor(json, factor));
}

/// One encoder's sizes; null or no number of groups of keys: as many as heads.
constexpr void parse_encoder_config(config_view json, family_config& family, std::size_t first,
                                    const std::int64_t (&usual)[5], double rotary_factor) {
    const auto value_of = [&](family_config_index index) -> std::int64_t& { return family[first + index]; };
    value_of(width) = json.positive("hidden_size", usual[0]);
    value_of(inner) = json.positive("intermediate_size", usual[1]);
    value_of(layers) = json.positive("num_hidden_layers", usual[2]);
    value_of(heads) = json.positive("num_attention_heads", usual[3]);
    const auto json_value = json.find("num_key_value_heads");
    value_of(groups) = json_value && !json_value->is_null() ? json_value->as_positive() : value_of(heads);
    value_of(act) = static_cast<std::int64_t>(activation_named(json, "hidden_act", json.string("hidden_act", "gelu")));
    value_of(mels) = json.positive("num_mel_bins", 128);
    value_of(stacked) = json.positive("subsampling_factor", usual[4]);
    value_of(rotary_dim) = parse_rotary_dim(json, value_of(width) / value_of(heads), rotary_factor);
    if (value_of(width) % value_of(heads) != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    if (json.contains("head_dim") && json.positive("head_dim") != value_of(width) / value_of(heads))
        throw_unsupported(json, "head_dim", "unsupported head size; expected hidden_size / num_attention_heads");
}

constexpr void parse_audio_config(config_view json, model_config& config) {
    parse_encoder_config(part_of(json, "asr_config"), config.family, speech, {1280, 5120, 32, 10, 8}, 0.5);
    const config_view diarization = part_of(json, "diarization_config");
    parse_encoder_config(part_of(diarization, "audio_config"), config.family, speakers_of, {512, 2048, 31, 8, 8}, 1.0);
    const config_view head = part_of(diarization, "head_config");
    config.family[head_width] = head.positive("hidden_size", 192);
    config.family[speakers] = head.positive("num_speakers", 8);
    if (head.positive("audio_hidden_size", 512) != config.family[speakers_of + width])
        throw_invalid_value(head, "audio_hidden_size", "the hidden_size of audio_config");
    if (head.positive("subsampling_factor", 8) != config.family[speakers_of + stacked] ||
        config.family[speech + stacked] != config.family[speakers_of + stacked])
        throw_invalid_value(head, "subsampling_factor", "the same in all parts");
    config.hidden_size = config.family[speech + width];
    set_single_mask(json, config);
}

/// Layers of an encoder; `normed`: norms of queries and keys. Values are as many as queries.
constexpr void declare_layers(not_executed_modules& not_executed, const std::int64_t* e, literal prefix, literal layer,
                              bool normed) {
    const std::int64_t in = e[width], d = in / e[heads];
    not_executed.list("layers", e[layers], {prefix, layer}, [&] {
        not_executed.module("self_attn", {prefix, "Attention"}, [&] {
            not_executed.linear("q_proj", in, e[heads] * d, false);
            not_executed.linear("k_proj", in, e[groups] * d, false);
            not_executed.linear("v_proj", in, e[heads] * d, false);
            not_executed.linear("o_proj", e[heads] * d, in);
            if (normed) {
                not_executed.layer_norm("q_norm", d);
                not_executed.layer_norm("k_norm", d);
            }
        });
        not_executed.layer_norm("layer_norm1", in);
        not_executed.module("mlp", {prefix, "MLP"}, [&] {
            not_executed.act("activation_fn", static_cast<activation>(e[act]));
            not_executed.linear("fc1", in, e[inner]);
            not_executed.linear("fc2", e[inner], in);
        });
        not_executed.layer_norm("layer_norm2", in);
    });
    not_executed.layer_norm("layer_norm", in);
    not_executed.leaf_module("rotary_emb", {prefix, "RotaryEmbedding"}, [&] {
        not_executed.buffer({2, e[rotary_dim] / 2}, dtype::float32);  // `inv_freq` and `original_inv_freq`
    });
}

/// Several frames as one, layers, norms around them.
constexpr void declare_encoder(not_executed_modules& not_executed, const std::int64_t* e, literal prefix, literal layer,
                               bool normed) {
    not_executed.module("embedder", {prefix, "FeatureStacking"},
                        [&] { not_executed.linear("projection", e[stacked] * e[mels], e[width], false); });
    not_executed.layer_norm("input_layer_norm", e[width]);
    declare_layers(not_executed, e, prefix, layer, normed);
}

constexpr literal diarization = "Nemotron3Diarization";

/// Who speaks when: an encoder of its own, frames made finer again, scores.
constexpr void declare_diarization(const family_config& family, not_executed_modules& not_executed) {
    const std::int64_t* const e = family.values + speakers_of;
    const std::int64_t in = family[head_width];
    not_executed.parameter("silence_embeds", {e[width]});
    not_executed.module("model", {diarization, "Model"}, [&] {
        not_executed.module("audio_tower", {diarization, "AudioModel"},
                            [&] { declare_encoder(not_executed, e, diarization, "AudioLayer", false); });
        not_executed.linear("proj", e[width], in);
        not_executed.module("upsampler", {diarization, "SubpixelUpsampler"}, [&] {
            not_executed.module_with_weight("conv", {"", "Conv1d"}, {in * e[stacked], in, 3});
        });
    });
    not_executed.module("classifier", {diarization, "ClassificationHead"}, [&] {
        not_executed.linear("dense", in, in);
        not_executed.linear("out_proj", in, family[speakers]);
        not_executed.module_without_parameters("act_fn", {"", "ReLU"});
    });
}

constexpr tensor encode_audio(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    not_executed_modules not_executed{t};
    not_executed.module("asr_encoder", ctx.class_of("AsrAudioModel"), [&] {
        declare_encoder(not_executed, family.values + speech, ctx.spec.class_prefix, "AsrAudioLayer", true);
    });
    not_executed.module("diarization_model", {diarization, "ForAudioFrameClassification"},
                        [&] { declare_diarization(family, not_executed); });
    not_executed.layer_norm("asr_norm", family[speech + width]);
    not_executed.layer_norm("speaker_norm", family[speakers]);
    not_executed.leaf_module("speaker_embedding", ctx.class_of("SpeakerEmbedding"), [&] {
        not_executed.buffer({family[speakers], family[speech + width]}, dtype::float32);
    });
    return {};
}

enum timestamps : std::uint8_t { finer };
inline constexpr family_key timestamp_keys[]{{"upsampling_factor", 2}};

/// The timestamp head: upsampled frames, layers, norms.
constexpr tensor forward_word_timestamps(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    std::int64_t e[encoder_sizes]{};
    e[width] = config.hidden_size;
    e[inner] = config.intermediate_size;
    e[layers] = config.num_hidden_layers;
    e[heads] = config.num_attention_heads;
    e[groups] = config.num_key_value_heads;
    e[act] = static_cast<std::int64_t>(config.hidden_act);
    e[rotary_dim] = config.rotary_dim;
    not_executed_modules not_executed{t};
    not_executed.module_with_weight("upsampler", {"", "ConvTranspose1d"},
                                    {config.hidden_size, config.hidden_size, config.family[finer]});
    not_executed.layer_norm("input_layer_norm", config.hidden_size);
    declare_layers(not_executed, e, ctx.spec.class_prefix, "AsrAudioLayer", true);
    return {};
}

constexpr void parse_timestamps(config_view json, model_config& config) {
    config.rotary_dim = parse_rotary_dim(json, config.hidden_size / config.num_attention_heads, 0.5);
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    if (config.head_dim != config.hidden_size / config.num_attention_heads)
        throw_unsupported(json, "head_dim", "unsupported head size; expected hidden_size / num_attention_heads");
    set_single_mask(json, config);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    {
        const trace::float32_parameters_guard typed{t};
        (void)forward_encoder_component(ctx, t, 0, "audio_tower", role::audio);
    }
    const tensor x = forward_text_model(ctx, t, "language_model");
    {
        const recorder::not_executed_guard no_sound{t};
        const trace::float32_parameters_guard typed{t};
        const projector_linear to_text{ctx.component(0).config.hidden_size, ctx.config.hidden_size, true};
        (void)t.call("multi_modal_projector", to_text, trace::buffer({1, to_text.in_features}));
    }
    (void)forward_encoder_component(ctx, t, 1, "word_timestamp_encoder", role::audio);
    return x;
}

/// Declares the timestamp head, which is separate from the language head.
constexpr tensor process_logits(const layer_context& ctx, trace& t, const tensor& logits) {
    const model_config& timestamp_config = ctx.component(1).config;
    not_executed_modules not_executed{t};
    not_executed.module_with_weight("word_timestamp_head", {"", "Conv1d"},
                                    {timestamp_config.vocab_size, timestamp_config.hidden_size, 1});
    return logits;
}

constexpr void untie_word_embeddings(config_view, model& m) { m.config.tie_word_embeddings = false; }

}  // namespace nemotron3_5_transcribe_detail

// transformers/models/nemotron3_5_transcribe, Nemotron3_5TranscribeAudioConfig: two encoders, of speech and of speakers
inline constexpr submodel_spec nemotron3_5_transcribe_audio{
    .model_type = "nemotron3_5_transcribe_audio",
    .class_prefix = "Nemotron3_5Transcribe",
    .base_model = nemotron3_5_transcribe_detail::encode_audio,
    .parse_config = nemotron3_5_transcribe_detail::parse_audio_config,
    .family_keys = nemotron3_5_transcribe_detail::family_keys,
    .rotary = rotary_style::none,
    .names = {.model_class = "AudioModel"},
    .defaults = {.hidden_size = 1280, .num_hidden_layers = 1},
};

// transformers/models/nemotron3_5_transcribe, Nemotron3_5TranscribeWordTimestampConfig
inline constexpr submodel_spec nemotron3_5_transcribe_word_timestamp{
    .model_type = "nemotron3_5_transcribe_word_timestamp",
    .class_prefix = "Nemotron3_5Transcribe",
    .base_model = nemotron3_5_transcribe_detail::forward_word_timestamps,
    .parse_config = nemotron3_5_transcribe_detail::parse_timestamps,
    .family_keys = nemotron3_5_transcribe_detail::timestamp_keys,
    .rotary = rotary_style::none,
    .names = {.model_class = "WordTimestampModel"},
    .defaults = {.vocab_size = 23863,
                 .hidden_size = 1280,
                 .intermediate_size = 640,
                 .num_hidden_layers = 2,
                 .num_attention_heads = 16,
                 .hidden_act = activation::gelu},
};

// transformers/models/nemotron3_5_transcribe: speech and speaker encoders; `text_config` selects the text model
inline constexpr model_spec nemo_speechlm = [](model_spec spec) {
    spec.model_type = "nemo_speechlm";
    spec.class_prefix = "Nemotron3_5Transcribe";
    spec.base_model = nemotron3_5_transcribe_detail::base;
    spec.process_logits = nemotron3_5_transcribe_detail::process_logits;
    spec.parse_composite_config = nemotron3_5_transcribe_detail::untie_word_embeddings;
    spec.text_model = {.key = "text_config"};
    spec.components[0] = {
        .key = "audio_config", .default_spec = &nemotron3_5_transcribe_audio, .ignores_model_type = true};
    spec.components[1] = {.key = "word_timestamp_config",
                          .default_spec = &nemotron3_5_transcribe_word_timestamp,
                          .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
