// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>
#include <llmcost/arch/wav2vec2.hpp>
#include <llmcost/walks/composite.hpp>

// Two models of types of their own: one hears, the other writes.
namespace llmcost::arch {

namespace speech_encoder_decoder_detail {

namespace heard = wav2vec2_detail;

/// Places that the encoder hands out, behind its adapters.
constexpr std::int64_t states_of(const sizes& dims, const sound_settings& sound, const workload& load) {
    std::int64_t n = heard::places_of(dims, sound, load);
    const std::int64_t k = dims.own[heard::adapter_kernel], stride = dims.own[heard::adapter_stride];
    for (std::int64_t i = 0; i < dims.own[heard::adapter_layers]; ++i) {
        if (n + 2 < k) report_description("the recording is shorter than an adapter's kernel");
        n = (n + 2 - k) / stride + 1;
    }
    return n;
}

/// BART as a language model that reads states.
constexpr value write(const site& here, trace& t, const value& states) {
    sizes dims = here.whole.dims;
    dims.head = head_kind::causal_lm;
    const site there{here.whole, *here.whole.text, dims};
    const module_info decoder{.name = "decoder", .type = there.type("ForCausalLM"), .what = role::decoder};
    const module_info wrapper{.name = "model", .type = there.type("DecoderWrapper")};
    t.enter(decoder), t.enter(wrapper);
    const value x = t.leave(wrapper, describe_decoder_module(there, t, bart_detail::style, &states, dims.vocab_size));
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(decoder, t.returns(x, describe_word_scores(there, t, x, dims.vocab_size, false)));
}

/// States of another width are projected in every pass.
constexpr value describe(const site& here, trace& t) {
    const workload& load = t.load();
    const module_info whole{.type = here.type("Model")};
    const sizes& audio = here.whole.beside[0].dims;
    const std::int64_t from = audio.own[heard::adapter_width], to = here.dims.hidden_size;
    t.enter(whole);
    value states;
    {
        const recorder::idle_guard done{t, encoder_is_done(load)};
        states = describe_tower(here, t, 0, "encoder", role::encoder);
    }
    if (encoder_is_done(load)) {
        const std::int64_t n = states_of(audio, here.whole.sound, load);
        // laid out as the encoder has left them: adapters hand out places behind channels
        states = audio.own[heard::adapter_layers] > 0 ? t.input({load.batch, from, n}).transpose(1, 2)
                                                      : t.input({load.batch, n, from});
    }
    if (from != to) states = t.call("enc_to_dec_proj", linear{audio.hidden_size, to, true}, states);
    return t.leave(whole, write(here, t, states));
}

constexpr void read(config_view config, model& m) {
    if (m.beside[0].kind->media != heard::show)
        fail_unsupported(config, "encoder", "no row describes this type as one that hears");
    const auto decoder = config.optional_object("decoder");
    m.dims.tie_word_embeddings = !decoder || decoder->boolean("tie_word_embeddings", true);
    const sizes& audio = m.beside[0].dims;
    if (audio.own[heard::adapter_width] != m.dims.hidden_size && audio.own[heard::adapter_width] != audio.hidden_size)
        fail_unsupported(config, "encoder", "what adapters make narrower is projected as if they had not");
    if (!decoder) return;
    if (const auto width = decoder->find("cross_attention_hidden_size"); width && !width->is_null())
        fail_unsupported(*decoder, "cross_attention_hidden_size", "no row describes keys of another width");
}

/// BART as a part.
inline constexpr architecture written = [](architecture a) {
    a.base = describe;
    return a;
}(bart);

}  // namespace speech_encoder_decoder_detail

// transformers/models/speech_encoder_decoder: wav2vec 2.0 and its relatives in front of BART
inline constexpr architecture speech_encoder_decoder = [](architecture a) {
    a.model_type = "speech-encoder-decoder", a.prefix = "SpeechEncoderDecoder";
    a.describe = speech_encoder_decoder_detail::describe, a.read_whole = speech_encoder_decoder_detail::read;
    a.heads = {head_kind::none}, a.defaults.head = head_kind::none;
    a.text = {.key = "decoder", .otherwise = &speech_encoder_decoder_detail::written};
    a.beside[0] = {.key = "encoder", .otherwise = &wav2vec2};
    a.media = wav2vec2_detail::show, a.read_sound = read_samples<of_wav2vec2>, a.reads.audio = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
