// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/encodec.hpp>
#include <llmcost/arch/t5.hpp>
#include <llmcost/walks/composite.hpp>

namespace llmcost::arch {

namespace musicgen_detail {

enum own : std::uint8_t { codebooks, crosses };
inline constexpr own_key keys[]{
    {"num_codebooks", 4}, {.otherwise = 1, .value = own_value::computed},  // layers hold attention to an encoder
};
inline constexpr own_key melody_keys[]{keys[0], {.value = own_value::computed}};

/// Rows of a table of sines that nobody trains, one for each new position.
struct positions {
    std::int64_t width;
    class_name named;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, std::int64_t length) const {
        value table = trace::buffer({length, width});
        table.type = t.activation_type();
        return t.gather(table, {length, width});
    }
};

/// The sum of one word of each codebook: (B, S, width).
constexpr value embed(const site& here, trace& t) {
    const workload& load = t.load();
    const embedding words{here.dims.vocab_size + 1, here.dims.hidden_size};
    value x;
    for (std::int64_t i = 0; i < here.dims.own[codebooks]; ++i) {
        const value found = t.call({"embed_tokens", i}, words, extents{load.batch, load.sequence});
        x = i == 0 ? t.add(found) : t.add(x, found);  // `sum` begins with 0
    }
    return x;
}

constexpr sequence_attention_sizes attention_of(const site& here) {
    const sizes& dims = here.dims;
    return {dims.hidden_size,
            dims.num_attention_heads,
            dims.head_dim,
            false,
            true,
            here.type("Attention"),
            "q_proj",
            "k_proj",
            "v_proj",
            "out_proj"};
}

/// Attention to an encoder's states, in `shared.own[0]`; without any it is not called.
constexpr value crossed(const site& here, trace& t, const value& x) {
    const value& states = here.shared->own[0];
    const recorder::idle_guard no_encoder{t, states.rank == 0};
    const value& source = states.rank == 0 ? x : states;
    const context across{.sequence = source.dim(1), .causal = false};
    const value h = normed(here, t, "encoder_attn_layer_norm", x);
    const value* const no_mask = nullptr;
    value* const no_bias = nullptr;
    const value found = t.call("encoder_attn", cross_attention{attention_of(here)}, h, source, across, no_mask, no_bias);
    return states.rank == 0 ? x : add_dropped_residual(here, t, x, found);
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const value h = normed(here, t, "self_attn_layer_norm", x);
    value* const no_bias = nullptr;
    const value* const mask = &here.shared->mask;
    const sequence_attention own{attention_of(here)};
    const value found = t.call("self_attn", own, h, h, here.shared->where, mask, no_bias);
    value out = add_dropped_residual(here, t, x, found);
    if (here.dims.own[crosses]) out = crossed(here, t, out);
    value f = t.call("fc1", linear{width, inner}, normed(here, t, "final_layer_norm", out));
    f = t.call("activation_fn", activation_module{here.dims.hidden_act}, f);
    f = t.call("fc2", linear{inner, width}, drop(t, f, dropout_of::inner));
    return add_dropped_residual(here, t, out, f);
}

/// Words and positions through all layers. What conditions them is read by cross attention, or stands in front of them, in
/// the cache after the first pass.
constexpr value decoder(const site& here, trace& t) {
    const value states = here.shared != nullptr ? here.shared->own[0] : value{};
    const std::int64_t ahead = states.rank == 0 || here.dims.own[crosses] ? 0 : states.dim(1);
    workload grown = t.load();
    t.positions(here.dims.max_position_embeddings - ahead, grown.past + grown.sequence);
    value x = here.row.embed(here, t);
    if (ahead > 0 && encoder_is_done(grown))
        grown.past += ahead;
    else if (ahead > 0)
        x = t.cat({states, x}, 1), grown.sequence += ahead;
    const recorder::workload_guard longer{t, grown};
    const positions table{here.dims.hidden_size, here.type("SinusoidalPositionalEmbedding")};
    x = drop(t, t.add(x, t.call("embed_positions", table, x.dim(1))), dropout_of::hidden);
    decoder_context shared = here.row.prepare(here, t);
    shared.full.own[0] = states;
    return normed(here, t, here.row.names.norm, describe_layers(here, t, shared, x));
}
constexpr value base(const site& here, trace& t) {
    return describe_within({.name = "decoder", .type = here.type("Decoder")}, decoder, here, t);
}

/// Scores of each codebook's words, one row of them for each: (B · codebooks, S, words).
constexpr value describe_scores(const site& here, trace& t, const value& x) {
    const std::int64_t n = here.dims.own[codebooks], words = here.dims.vocab_size;
    const value kept = kept_positions(t, x);
    value scores;
    const head_linear head{{here.dims.hidden_size, words}};
    for (std::int64_t i = 0; i < n; ++i) scores = t.call({"lm_heads", i}, head, kept);
    // as large as all of them stacked
    const value all = scores.unsqueeze(1).expand({x.dim(0), n, kept.dim(1), words});
    return t.copy(all).view({-1, kept.dim(1), words});
}

/// A language model of codes, under this name.
constexpr value describe_as(const site& here, trace& t, literal name, role what) {
    const module_info bare{.name = "model", .type = here.type("Model")};
    const module_info whole{.name = name, .type = here.type("ForCausalLM"), .what = what};
    t.enter(whole);
    const value x = describe_within(bare, here.row.base, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole, t.returns(x, describe_scores(here, t, x)));
}

constexpr value describe(const site& here, trace& t) {
    if (here.dims.head == head_kind::none) return describe_within({.type = here.type("Model")}, here.row.base, here, t);
    return describe_as(here, t, "", role::none);
}

/// A text's states.
constexpr value describe_text_states(const site& here, trace& t) {
    const recorder::workload_guard own{t, encoder_load(t.load())};
    const site there = here.component(0);
    const module_info encoder{.name = "text_encoder", .type = there.type("EncoderModel"), .what = role::encoder};
    return describe_within(encoder, there.row.base, there, t);
}
/// The same at the decoder's width.
constexpr value widened(const site& here, trace& t, const value& states) {
    const std::int64_t to = here.dims.hidden_size;
    return states.dim(2) == to ? states : t.call("enc_to_dec_proj", linear{states.dim(2), to, true}, states);
}

/// A decoder under what conditions it; the codec is not called where codes are given.
constexpr value describe_conditioned(const site& here, trace& t, const value& states) {
    (void)describe_tower(here, t, 1, "audio_encoder", role::audio);
    shared_values read;
    read.own[0] = states;
    return describe_as({here.whole, *here.whole.text, here.dims, &read}, t, "decoder", role::decoder);
}

/// Codes that a text's states condition, which are projected in every pass.
constexpr value describe_whole(const site& here, trace& t) {
    const workload& load = t.load();
    const module_info whole{.type = here.type("ForConditionalGeneration")};
    t.enter(whole);
    value states;
    {
        const recorder::idle_guard done{t, encoder_is_done(load)};
        states = describe_text_states(here, t);
    }
    if (encoder_is_done(load)) states = t.input({load.batch, encoder_length(load), states.dim(2)});
    return t.leave(whole, describe_conditioned(here, t, widened(here, t, states)));
}

enum own_of_melody : std::uint8_t { chroma, chroma_length };
inline constexpr own_key keys_of_melody[]{{"num_chroma", 12}, {"chroma_length", 235}};

/// A melody, one frame repeated where none is given, and a text's states, in front of the codes of the first pass.
constexpr value describe_melody(const site& here, trace& t) {
    const std::int64_t batch = t.load().batch, width = here.dims.hidden_size, pitches = here.whole.own[chroma];
    const std::int64_t frames = here.whole.own[chroma_length];
    const module_info whole{.type = here.type("ForConditionalGeneration")};
    t.enter(whole);
    value states;
    {
        const recorder::idle_guard done{t, encoder_is_done(t.load())};
        states = widened(here, t, describe_text_states(here, t));
        value melody = t.constant({batch, 1, pitches}, t.activation_type());
        if (pitches != width) melody = t.call("audio_enc_to_dec_proj", linear{pitches, width, true}, melody);
        if (frames > 1) melody = t.copy(melody.expand({batch, frames, width}));
        states = t.cat({melody, states}, 1);
    }
    return t.leave(whole, describe_conditioned(here, t, states));
}

/// T5 as what reads the text: its encoder.
inline constexpr architecture t5_reading = [](architecture a) {
    a.base = t5_detail::describe_encoder_alone;
    return a;
}(t5);

constexpr void read_whole(config_view config, model& m) {
    if (m.beside[0].kind->describe != describe_t5)
        fail_unsupported(config, "text_encoder", "no row describes this type as what conditions music");
    const auto decoder = config.optional_object("decoder");
    if (!decoder) return;
    if (const auto width = decoder->find("cross_attention_hidden_size"); width && !width->is_null())
        if (width->as_positive() != m.beside[0].dims.hidden_size || width->as_positive() != m.dims.hidden_size)
            fail_value(*decoder, "cross_attention_hidden_size", "the width of text encoder and decoder");
}

constexpr void read(config_view config, sizes& s) {
    s.tie_word_embeddings = false;  // the reference ties none
    if (s.own[codebooks] > 1024) fail_value(config, "num_codebooks", "at most 1024 codebooks");
    if (s.head_dim * s.num_attention_heads != s.hidden_size)
        fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    plan_one_mask(config, s);
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "dropout", 0.1},
                                             {dropout_of::attention, "attention_dropout"},
                                             {dropout_of::inner, "activation_dropout"},
                                             {dropout_of::drawn, "layerdrop"}};

}  // namespace musicgen_detail

// transformers/models/musicgen: the decoder, which sums a word of each codebook and scores the words of each
inline constexpr architecture musicgen_decoder = [](architecture a) {
    a.model_type = "musicgen_decoder", a.prefix = "Musicgen", a.read = musicgen_detail::read, a.own = musicgen_detail::keys;
    a.describe = musicgen_detail::describe, a.base = musicgen_detail::base, a.embed = musicgen_detail::embed;
    a.layer = musicgen_detail::layer, a.heads = language_heads, a.norm = norm_kind::layer, a.rotated = rotation::none;
    a.names.norm = "layer_norm";
    a.keys[0] = {"intermediate_size", "ffn_dim", key_rule::written_only};
    a.keys[1] = {"hidden_act", "activation_function", key_rule::written_only};
    a.keys[2] = no_attention_bias, a.keys[3] = no_mlp_bias, a.keys[4] = no_key_value_heads;
    a.keys[5] = {"head_dim", "", key_rule::absent};
    a.defaults.vocab_size = 2048, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 16, a.defaults.max_position_embeddings = 2048;
    a.defaults.hidden_act = activation::gelu;
    a.drops = musicgen_detail::dropout_rates;
    return a;
}(shared_decoder);

// transformers/models/musicgen_melody: the same, where what conditions the music stands in front of it
inline constexpr architecture musicgen_melody_decoder = [](architecture a) {
    a.model_type = "musicgen_melody_decoder", a.prefix = "MusicgenMelody", a.own = musicgen_detail::melody_keys;
    return a;
}(musicgen_decoder);

// transformers/models/musicgen: the decoder reads a text's states
inline constexpr architecture musicgen = [](architecture a) {
    a.model_type = "musicgen", a.prefix = "Musicgen", a.describe = musicgen_detail::describe_whole;
    a.read_whole = musicgen_detail::read_whole, a.heads = {head_kind::conditional_generation};
    a.text = {.key = "decoder", .otherwise = &musicgen_decoder, .always = true};
    a.beside[0] = {.key = "text_encoder", .otherwise = &musicgen_detail::t5_reading};
    a.beside[1] = {.key = "audio_encoder", .otherwise = &encodec};
    return a;
}(shared_composite);

// transformers/models/musicgen_melody: a melody and a text in front of the codes
inline constexpr architecture musicgen_melody = [](architecture a) {
    a.model_type = "musicgen_melody", a.prefix = "MusicgenMelody", a.describe = musicgen_detail::describe_melody;
    a.own = musicgen_detail::keys_of_melody, a.text.otherwise = &musicgen_melody_decoder;
    return a;
}(musicgen);

}  // namespace llmcost::arch
