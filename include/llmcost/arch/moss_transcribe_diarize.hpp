// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3.hpp>
#include <llmcost/arch/voxtral.hpp>
#include <llmcost/forward/audio_language.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/not_executed.hpp>

namespace llmcost::arch {

namespace moss_transcribe_diarize_detail {

/// Attention without a bias of keys, and a feed-forward block, as Whisper has them.
constexpr void declare_layer(const layer_context& ctx, not_executed_modules& not_executed, literal attention,
                             bool key_bias) {
    const std::int64_t in = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    not_executed.module("self_attn", {ctx.spec.class_prefix, attention}, [&] {
        not_executed.linear("k_proj", in, in, key_bias);
        for (const literal name : {"v_proj", "q_proj", "out_proj"}) not_executed.linear(name, in, in);
    });
    not_executed.layer_norm("self_attn_layer_norm", in);
    not_executed.act("activation_fn", ctx.config.hidden_act);
    not_executed.linear("fc1", in, inner);
    not_executed.linear("fc2", inner, in);
    not_executed.layer_norm("final_layer_norm", in);
}

/// Runs the audio encoder, which text inputs do not execute, then the text model.
constexpr tensor forward_audio_language(const layer_context& ctx, trace& t) {
    (void)forward_encoder_component(ctx, t, 0, "audio_tower", role::audio);
    return forward_text_model(ctx, t, "language_model");
}

enum model_config_index : std::uint8_t { act, biased, merge };

inline constexpr family_key family_keys[]{
    {.default_value = static_cast<std::int64_t>(activation::silu), .type = family_key_type::computed},
    {"projector_bias", 1, family_key_type::boolean},
    {"audio_merge_size", 4},  // states that are joined to one
};

// as in Qwen2-Audio's encoder
inline constexpr family_key audio_keys[]{{"num_mel_bins", 80}, {"max_source_positions", 1500}};

static_assert(act == std::uint8_t{audio_language::act});

/// Whisper's encoder without a pool.
constexpr tensor encode_audio(const layer_context& ctx, trace& t) {
    using namespace audio_language;
    const family_config& family = ctx.config.family;
    const std::int64_t in = ctx.config.hidden_size;
    not_executed_modules not_executed{t};
    not_executed.module_with_weight("conv1", {"", "Conv1d"}, {in, family[mels], 3});
    not_executed.module_with_weight("conv2", {"", "Conv1d"}, {in, in, 3});
    not_executed.frozen_embedding("embed_positions", family[places], in);
    not_executed.list("layers", ctx.config.num_hidden_layers, ctx.class_of("AudioLayer"),
                      [&] { declare_layer(ctx, not_executed, "AudioAttention", false); });
    not_executed.layer_norm("layer_norm", in);
    return {};
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = forward_audio_language(ctx, t);
    const family_config& family = ctx.model.family;
    const std::int64_t merged_size = ctx.component(0).config.hidden_size * family[merge], out = ctx.config.hidden_size;
    not_executed_modules not_executed{t};
    not_executed.module(
        "multi_modal_projector", ctx.class_of("MultiModalProjector"),
        [&] {
            not_executed.linear("linear_1", merged_size, out, family[biased] != 0);
            not_executed.act("act", static_cast<activation>(family[act]));
            not_executed.linear("linear_2", out, out, family[biased] != 0);
            not_executed.layer_norm("norm", out);
        },
        role::projector);
    return x;
}

}  // namespace moss_transcribe_diarize_detail

// transformers/models/moss_transcribe_diarize, MossTranscribeDiarizeAudioConfig
inline constexpr submodel_spec moss_transcribe_diarize_audio = [](model_spec spec) {
    spec.model_type = "moss_transcribe_diarize_audio";
    spec.class_prefix = "MossTranscribeDiarize";
    spec.base_model = moss_transcribe_diarize_detail::encode_audio;
    spec.names.model_class = "AudioModel";
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.family_keys = moss_transcribe_diarize_detail::audio_keys;
    return spec;
}(voxtral_encoder);

// transformers/models/moss_transcribe_diarize: the text model of a configuration that has none
inline constexpr submodel_spec moss_transcribe_diarize_text = [](model_spec spec) {
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 3072;
    spec.defaults.num_hidden_layers = 28;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 131072;
    return spec;
}(qwen3);

// transformers/models/moss_transcribe_diarize
inline constexpr model_spec moss_transcribe_diarize = [](model_spec spec) {
    spec.model_type = "moss_transcribe_diarize";
    spec.class_prefix = "MossTranscribeDiarize";
    spec.base_model = moss_transcribe_diarize_detail::base;
    spec.family_keys = moss_transcribe_diarize_detail::family_keys;
    spec.text_model = {.key = "text_config", .default_spec = &qwen3, .spec_if_absent = &moss_transcribe_diarize_text};
    spec.components[0] = {
        .key = "audio_config", .default_spec = &moss_transcribe_diarize_audio, .ignores_model_type = true};
    spec.parse_composite_config = audio_language::parse_projector_act;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
