// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>
#include <llmcost/arch/wav2vec2.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/encoder_decoder_stacks.hpp>
#include <llmcost/forward/wav2vec2_encoder.hpp>

// A speech encoder and a text decoder with independent model types.
namespace llmcost::arch {

namespace speech_encoder_decoder_detail {

namespace audio_encoder = wav2vec2_encoder;

/// Returns the number of encoder output states, after its adapters.
constexpr std::int64_t states_of(const model_config& config, const audio_preprocessing_config& sound,
                                 const workload& load) {
    std::int64_t n = audio_encoder::places_of(config, sound, load);
    const std::int64_t k = config.family[audio_encoder::adapter_kernel],
                       stride = config.family[audio_encoder::adapter_stride];
    for (std::int64_t i = 0; i < config.family[audio_encoder::adapter_layers]; ++i) {
        if (n + 2 < k) throw_description_error("the recording is shorter than an adapter's kernel");
        n = (n + 2 - k) / stride + 1;
    }
    return n;
}

/// BART as a language model that reads states.
constexpr tensor write(const layer_context& ctx, trace& t, const tensor& states) {
    model_config config = ctx.model.config;
    config.head = head_kind::causal_lm;
    const layer_context decoder_ctx{ctx.model, *ctx.model.text_spec, config};
    const module_info decoder{
        .name = "decoder", .class_of_module = decoder_ctx.class_of("ForCausalLM"), .module_role = role::decoder};
    const module_info wrapper{.name = "model", .class_of_module = decoder_ctx.class_of("DecoderWrapper")};
    t.enter(decoder);
    t.enter(wrapper);
    const tensor x =
        t.leave(wrapper, forward_decoder_module(decoder_ctx, t, bart_stack_style, &states, config.vocab_size));
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(decoder,
                   t.select_model_output(x, stack_lm_head_logits(decoder_ctx, t, x, config.vocab_size, false)));
}

/// States of another width are projected in every pass.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const module_info model_info{.class_of_module = ctx.class_of("Model")};
    const model_config& audio = ctx.model.components[0].config;
    const std::int64_t in_features = audio.family[audio_encoder::adapter_width], to = ctx.config.hidden_size;
    t.enter(model_info);
    tensor states;
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(load)};
        states = forward_encoder_component(ctx, t, 0, "encoder", role::encoder);
    }
    if (is_encoder_cached(load)) {
        const std::int64_t n = states_of(audio, ctx.model.audio_preprocessing, load);
        // layout of the encoder output: adapters place positions after channels
        states = audio.family[audio_encoder::adapter_layers] > 0 ? t.input({load.batch, in_features, n}).transpose(1, 2)
                                                                 : t.input({load.batch, n, in_features});
    }
    if (in_features != to) states = t.call("enc_to_dec_proj", linear{audio.hidden_size, to, true}, states);
    return t.leave(model_info, write(ctx, t, states));
}

constexpr void parse_config(config_view json, model& m) {
    if (m.components[0].spec->compute_media_shapes != audio_encoder::compute_media_shapes)
        throw_unsupported(json, "encoder", "unsupported speech encoder");
    const auto decoder = json.optional_object("decoder");
    m.config.tie_word_embeddings = !decoder || decoder->boolean("tie_word_embeddings", true);
    const model_config& audio = m.components[0].config;
    if (audio.family[audio_encoder::adapter_width] != m.config.hidden_size &&
        audio.family[audio_encoder::adapter_width] != audio.hidden_size)
        throw_unsupported(json, "encoder", "an adapter that changes the hidden size is not supported by the reference");
    if (!decoder) return;
    if (const auto width = decoder->find("cross_attention_hidden_size"); width && !width->is_null())
        throw_unsupported(*decoder, "cross_attention_hidden_size", "unsupported width of the cross-attention keys");
}

/// BART as a part.
inline constexpr submodel_spec written = [](model_spec spec) {
    spec.base_model = forward;
    return spec;
}(bart);

}  // namespace speech_encoder_decoder_detail

// transformers/models/speech_encoder_decoder: wav2vec 2.0 and its relatives before BART
inline constexpr model_spec speech_encoder_decoder = [](model_spec spec) {
    spec.model_type = "speech-encoder-decoder";
    spec.class_prefix = "SpeechEncoderDecoder";
    spec.forward = speech_encoder_decoder_detail::forward;
    spec.parse_composite_config = speech_encoder_decoder_detail::parse_config;
    spec.supported_heads = {head_kind::none};
    spec.defaults.head = head_kind::none;
    spec.text_model = {.key = "decoder", .default_spec = &speech_encoder_decoder_detail::written};
    spec.components[0] = {.key = "encoder", .default_spec = &wav2vec2};
    spec.compute_media_shapes = wav2vec2_encoder::compute_media_shapes;
    spec.parse_feature_extractor = parse_samples<wav2vec2_extractor>;
    spec.modalities.has_audio = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
