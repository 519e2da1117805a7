// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/musicgen.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/codebook_decoder.hpp>
#include <llmcost/forward/encoder_decoder.hpp>

namespace llmcost::arch {

namespace musicgen_melody_detail {

using codebook_decoder::encode_text, codebook_decoder::family_keys, codebook_decoder::forward_conditioned_decoder,
    codebook_decoder::widened;

inline constexpr family_key melody_keys[]{family_keys[0], {.type = family_key_type::computed}};

enum melody_config_index : std::uint8_t { chroma, chroma_length };

inline constexpr family_key keys_of_melody[]{{"num_chroma", 12}, {"chroma_length", 235}};

/// A melody, one frame repeated where none is given, and a text's states, before the codes of the first pass.
constexpr tensor forward_melody_model(const layer_context& ctx, trace& t) {
    const std::int64_t batch = t.load().batch, width = ctx.config.hidden_size, pitches = ctx.model.family[chroma];
    const std::int64_t frames = ctx.model.family[chroma_length];
    const module_info model_info{.class_of_module = ctx.class_of("ForConditionalGeneration")};
    t.enter(model_info);
    tensor states;
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(t.load())};
        states = widened(ctx, t, encode_text(ctx, t));
        tensor melody = t.full({batch, 1, pitches}, t.activation_type());
        if (pitches != width) melody = t.call("audio_enc_to_dec_proj", linear{pitches, width, true}, melody);
        if (frames > 1) melody = t.copy(melody.expand({batch, frames, width}));
        states = t.cat({melody, states}, 1);
    }
    return t.leave(model_info, forward_conditioned_decoder(ctx, t, states));
}

}  // namespace musicgen_melody_detail

// transformers/models/musicgen_melody: Musicgen with conditioning states before the tokens instead of cross-attention
inline constexpr model_spec musicgen_melody_decoder = [](model_spec spec) {
    spec.model_type = "musicgen_melody_decoder";
    spec.class_prefix = "MusicgenMelody";
    spec.family_keys = musicgen_melody_detail::melody_keys;
    return spec;
}(musicgen_decoder);

// transformers/models/musicgen_melody: a melody and a text before the codes
inline constexpr model_spec musicgen_melody = [](model_spec spec) {
    spec.model_type = "musicgen_melody";
    spec.class_prefix = "MusicgenMelody";
    spec.forward = musicgen_melody_detail::forward_melody_model;
    spec.family_keys = musicgen_melody_detail::keys_of_melody;
    spec.text_model.default_spec = &musicgen_melody_decoder;
    return spec;
}(musicgen);

}  // namespace llmcost::arch
