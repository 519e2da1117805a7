// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/walks/idle.hpp>
#include <llmcost/arch/qwen2_audio.hpp>
#include <llmcost/arch/qwen3.hpp>

namespace llmcost::arch {

namespace moss_transcribe_diarize_detail {

enum whole : std::uint8_t { act, biased, merge };
inline constexpr own_key keys[]{
    {.otherwise = static_cast<std::int64_t>(activation::silu), .value = own_value::computed},
    {"projector_bias", 1, own_value::boolean},
    {"audio_merge_size", 4},  // states that are joined to one
};
// as in Qwen2-Audio's encoder
inline constexpr own_key audio_keys[]{{"num_mel_bins", 80}, {"max_source_positions", 1500}};
static_assert(act == std::uint8_t{qwen2_audio_detail::act});

/// Whisper's encoder without a pool.
constexpr value hear(const site& here, trace& t) {
    using namespace qwen2_audio_detail;
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size;
    idle_modules held{t};
    held.weighted("conv1", {"", "Conv1d"}, {in, own[mels], 3});
    held.weighted("conv2", {"", "Conv1d"}, {in, in, 3});
    held.embedding("embed_positions", own[places], in);
    held.list("layers", here.dims.num_hidden_layers, here.type("AudioLayer"),
              [&] { describe_layer(here, held, "AudioAttention", false); });
    held.layer_norm("layer_norm", in);
    return {};
}

constexpr value base(const site& here, trace& t) {
    const value x = qwen2_audio_detail::hear_and_read(here, t);
    const own_sizes& own = here.whole.own;
    const std::int64_t joined = here.component(0).dims.hidden_size * own[merge], out = here.dims.hidden_size;
    idle_modules held{t};
    held.within(
        "multi_modal_projector", here.type("MultiModalProjector"),
        [&] {
            held.linear("linear_1", joined, out, own[biased] != 0);
            held.act("act", static_cast<activation>(own[act]));
            held.linear("linear_2", out, out, own[biased] != 0);
            held.layer_norm("norm", out);
        },
        role::projector);
    return x;
}

}  // namespace moss_transcribe_diarize_detail

// transformers/models/moss_transcribe_diarize, MossTranscribeDiarizeAudioConfig
inline constexpr architecture moss_transcribe_diarize_audio = [](architecture a) {
    a.model_type = "moss_transcribe_diarize_audio", a.prefix = "MossTranscribeDiarize";
    a.base = moss_transcribe_diarize_detail::hear, a.names.model_type = "AudioModel";
    a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096, a.defaults.num_hidden_layers = 24;
    a.own = moss_transcribe_diarize_detail::audio_keys;
    return a;
}(voxtral_encoder);

// transformers/models/moss_transcribe_diarize: the text model of a configuration that has none
inline constexpr architecture moss_transcribe_diarize_text = [](architecture a) {
    a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 3072, a.defaults.num_hidden_layers = 28;
    a.defaults.num_attention_heads = 16, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 131072;
    return a;
}(qwen3);

// transformers/models/moss_transcribe_diarize
inline constexpr architecture moss_transcribe_diarize = [](architecture a) {
    a.model_type = "moss_transcribe_diarize", a.prefix = "MossTranscribeDiarize";
    a.base = moss_transcribe_diarize_detail::base, a.own = moss_transcribe_diarize_detail::keys;
    a.text = {.key = "text_config", .otherwise = &qwen3, .missing = &moss_transcribe_diarize_text};
    a.beside[0] = {.key = "audio_config", .otherwise = &moss_transcribe_diarize_audio, .always = true};
    a.read_whole = qwen2_audio_detail::read_projector_act, a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
