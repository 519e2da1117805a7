// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>
#include <llmcost/reading/sound_files.hpp>
#include <llmcost/walks/sound.hpp>

namespace llmcost::arch {

namespace whisper_detail {

enum own : std::uint8_t { mels = stack_own::count, source_positions, summary_width, weighs_layers };
inline constexpr own_key keys[]{{"decoder_layers", 4},         {"decoder_attention_heads", 6},
                                {"decoder_ffn_dim", 1536},     {"encoder_ffn_dim", 1536},
                                {"num_mel_bins", 80},          {"max_source_positions", 1500},
                                {"classifier_proj_size", 256}, {"use_weighted_layer_sum", 0, own_value::boolean}};

/// Queries scaled and copied, keys without a bias.
constexpr value attend(const site&, trace& t, const stack_sizes& s, const value& x, const value* source,
                       const context& where, const value* mask) {
    const std::int64_t d = s.width / s.heads, batch = x.dim(0), sequence = x.dim(1);
    const auto split = [&](const value& v) { return t.contiguous(v.view({batch, -1, s.heads, d}).transpose(1, 2)); };
    const value q = split(t.mul(t.call("q_proj", linear{s.width, s.width, true}, x)));
    const value& from = source != nullptr ? *source : x;
    const bool from_cache = source != nullptr && encoder_is_done(t.load());
    value k, v;
    {
        const recorder::idle_guard unused{t, from_cache};
        k = split(t.call("k_proj", linear{s.width, s.width}, from));
        v = split(t.call("v_proj", linear{s.width, s.width, true}, from));
    }
    if (from_cache) {
        k = v = trace::buffer({batch, s.heads, from.dim(1), d});
        t.cache(k), t.cache(v);
    } else if (s.decodes) {
        k = update_cache(t, k, where);
        v = update_cache(t, v, where);
    }
    const value mixed = eager_attention(t, q, k, v, where, {.mask = mask, .float_softmax = false});
    const value flat = t.contiguous(t.reshape(mixed, {batch, sequence, -1}));
    return t.call("out_proj", linear{s.width, s.width, true}, flat);
}

/// Rows of a learned table, indexed by each sequence's positions; an index beyond it shows only when there are values.
struct position_rows : embedding {
    constexpr explicit position_rows(const site& here)
        : embedding{here.dims.max_position_embeddings, here.dims.hidden_size, false, here.type("PositionalEmbedding")} {}
};

constexpr value positions(const site& here, trace& t, std::int64_t length, bool) {
    return t.call("embed_positions", position_rows{here}, extents{t.load().batch, length});
}

inline constexpr stack_style style{.norm_first = true,
                                   .norm_embedding = "",
                                   .norm_last = "layer_norm",
                                   .own_mask = false,
                                   .shares_words = false,
                                   .scale = word_scale::nobody,
                                   .positions = positions,
                                   .attend_in_encoder = attend,
                                   .attend_in_decoder = attend};

/// The encoder's positions, which nobody trains.
constexpr value frozen_table(trace& t, std::int64_t length, std::int64_t width) {
    const recorder::no_grad_guard frozen{t};
    return t.call("embed_positions", embedding{length, width}, extents{length});
}

/// What a feature extractor makes of any recording: it is cut, or filled up with silence, to 30 seconds.
///
/// Source: transformers/models/whisper/feature_extraction_whisper.py.
constexpr media_shapes show(const model& m, const workload&) {
    const std::int64_t frames = 2 * m.dims.own[source_positions];
    return {.audio = {.samples = frames * m.sound.hop, .frames = frames}};
}
constexpr void read_sound(config_view config, model& m) {
    const auto told = extractor_told(config);
    if (!told) return;
    expect_extractor(*told, "WhisperFeatureExtractor");
    expect_bands(*told, {"feature_size"}, m.dims.own[mels]);
    read_filled(*told, m.sound);
    expect_window(*told, m.sound, m.dims.own[source_positions]);
}

/// Two convolutions over 30 seconds of a spectrogram, whatever the decoder's length, and layers.
constexpr value encoder(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t width = here.dims.hidden_size, length = here.dims.own[source_positions];
    {
        const recorder::idle_guard done{t, encoder_is_done(load)};
        const module_info module{.name = "encoder", .type = here.type("Encoder"), .what = role::encoder};
        t.enter(module);
        const value sound = t.input({load.batch, here.dims.own[mels], 2 * length});
        value x = t.unary(op::gelu, t.call("conv1", convolution_1d{here.dims.own[mels], width, 3, 1, 1}, sound));
        x = t.unary(op::gelu, t.call("conv2", convolution_1d{width, width, 3, 2, 1}, x)).permute({0, 2, 1});
        x = drop(t, t.add(x, frozen_table(t, length, width)), dropout_of::hidden);
        const stack_sizes dims = encoder_stack_of(here);
        const shared_values nothing;
        for (repetition layer = t.repeat(here.dims.encoder.num_hidden_layers, x); layer.next();)
            x = t.call({"layers", layer.index()}, stack_layer{here.at(layer, nothing), style, dims, nullptr}, x);
        x = t.leave(module, stack_norm(t, "layer_norm", x));
        if (!encoder_is_done(load)) return x;
    }
    return t.input({load.batch, length, width});
}

/// One state for each recording, the mean of the encoder's, and labels of it.
constexpr value classify(const site& here, trace& t) {
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    t.enter(whole);
    const value weights =
        here.dims.own[weighs_layers] != 0 ? layer_weights(t, here.dims.encoder.num_hidden_layers) : value{};
    const value x = encoder(here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole,
                   t.returns(x, classify_states(here, t, weighed_layers(t, x, weights), here.dims.own[summary_width])));
}

constexpr value both(const site& here, trace& t) {
    const value encoded = encoder(here, t);
    return describe_decoder_module(here, t, style, &encoded, here.dims.vocab_size);
}

constexpr value alone(const site& here, trace& t) {
    return describe_decoder_module(here, t, style, nullptr, here.dims.vocab_size);
}

}  // namespace whisper_detail

/// Speech to text: an encoder of spectrograms, a decoder of words.
///
/// Source: transformers/models/whisper/modeling_whisper.py.
constexpr value describe_whisper(const site& here, trace& t) {
    const class_name type = here.type("Model");
    if (here.dims.head == head_kind::audio_classification) return whisper_detail::classify(here, t);
    if (here.dims.head == head_kind::none) return describe_within({.type = type}, whisper_detail::both, here, t);
    const bool alone = here.dims.head == head_kind::causal_lm;
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    const module_info base{.name = "model", .type = alone ? here.type("DecoderWrapper") : type};
    t.enter(whole);
    const value x = describe_within(base, alone ? whisper_detail::alone : whisper_detail::both, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole, t.returns(x, describe_word_scores(here, t, x, here.dims.vocab_size, false, "proj_out")));
}

/// The decoder's cache counts its own layers, whatever `num_hidden_layers` stands for (`WhisperDecoder.forward`).
constexpr void read_whisper(config_view config, sizes& s) {
    const head_kind head = s.head;
    if (head == head_kind::causal_lm) s.head = head_kind::none;
    read_stacks(config, s);
    s.head = head;
    s.max_position_embeddings = config.positive("max_target_positions", 448);
}

// transformers/models/whisper: configuration_whisper.py, modeling_whisper.py
inline constexpr architecture whisper = [](architecture a) {
    a.model_type = "whisper", a.prefix = "Whisper", a.describe = describe_whisper, a.read = read_whisper;
    a.own = whisper_detail::keys;
    a.heads = {head_kind::none, head_kind::causal_lm, head_kind::conditional_generation, head_kind::audio_classification};
    a.media = whisper_detail::show, a.read_sound = whisper_detail::read_sound, a.reads.audio = true;
    a.defaults.vocab_size = 51865, a.defaults.hidden_size = 384, a.defaults.num_hidden_layers = 4;
    a.defaults.num_attention_heads = 6, a.defaults.num_labels = 2;
    return a;
}(bart);

}  // namespace llmcost::arch
