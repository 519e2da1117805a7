// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/m2m_100.hpp>
#include <llmcost/arch/seamless_m4t_speech.hpp>
#include <llmcost/reading/sound_files.hpp>

namespace llmcost::arch {

namespace seamless_m4t_detail {

enum own : std::uint8_t {
    encoder_layers,
    encoder_heads,
    encoder_inner,
    pad_token,
    unit_rows,
    unit_encoder_layers,
    unit_encoder_heads,
    unit_encoder_inner,
    unit_decoder_layers,
    unit_decoder_heads,
    unit_decoder_inner,
};
inline constexpr own_key keys[]{
    {"encoder_layers", 24},
    {"encoder_attention_heads", 16},
    {"encoder_ffn_dim", 8192},
    {"pad_token_id", 0, own_value::non_negative},
    {"t2u_vocab_size", 10082},
    {"t2u_encoder_layers", 6},
    {"t2u_encoder_attention_heads", 16},
    {"t2u_encoder_ffn_dim", 8192},
    {"t2u_decoder_layers", 6},
    {"t2u_decoder_attention_heads", 16},
    {"t2u_decoder_ffn_dim", 8192},
};

/// Sizes of one stack.
struct stack {
    std::int64_t layers;
    std::int64_t heads;
    std::int64_t inner;
};
constexpr stack encoder_of(const site& here) {
    const own_sizes& of = here.dims.own;
    return {of[encoder_layers], of[encoder_heads], of[encoder_inner]};
}
constexpr stack decoder_of(const site& here) {
    return {here.dims.num_hidden_layers, here.dims.num_attention_heads, here.dims.intermediate_size};
}

constexpr sequence_attention_sizes attention_of(const site& here, const stack& s, bool decodes) {
    const std::int64_t width = here.dims.hidden_size;
    const class_name named = here.type("Attention");
    return {width, s.heads, width / s.heads, true, decodes, named, "q_proj", "k_proj", "v_proj", "out_proj"};
}

struct feed_forward {
    site here;
    std::int64_t inner;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("FeedForwardNetwork"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const value h = t.call("act", activation_module{here.dims.hidden_act}, t.call("fc1", linear{width, inner, true}, x));
        return t.call("fc2", linear{inner, width, true}, dropout(t, "dropout", h));
    }
};

constexpr value normed(trace& t, literal name, const value& x) { return t.call(name, norm<norm_kind::layer>{x.dim(-1)}, x); }

constexpr value fed_forward(const site& here, trace& t, const stack& s, const value& x) {
    const value h = t.call("ffn", feed_forward{here, s.inner}, normed(t, "ffn_layer_norm", x));
    return t.add(x, dropout(t, "ffn_dropout", h));
}

struct encoder_layer {
    site here;
    stack of;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const context all{.sequence = x.dim(1), .causal = false};
        const value *const no_mask = nullptr, h = normed(t, "self_attn_layer_norm", x);
        value* const no_bias = nullptr;
        const sequence_attention self{attention_of(here, of, false)};
        const value found = t.call("self_attn", self, h, h, all, no_mask, no_bias);
        return fed_forward(here, t, of, t.add(x, dropout(t, "attn_dropout", found)));
    }
};

/// One dropout module is called behind both attentions, an activation by nobody.
struct decoder_layer {
    site here;
    stack of;
    const value& source;
    const context& where;
    const value& mask;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("DecoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const context across{.sequence = source.dim(1), .causal = false};
        const value *const no_mask = nullptr, *const masked = &mask;
        value* const no_bias = nullptr;
        value h = normed(t, "self_attn_layer_norm", x);
        h = t.call("self_attn", sequence_attention{attention_of(here, of, true)}, h, h, where, masked, no_bias);
        {
            const recorder::idle_guard uncalled{t};
            (void)t.call("activation_fn", activation_module{here.dims.hidden_act}, h);
        }
        const value middle = t.add(x, dropout(t, "attn_dropout", h));
        h = normed(t, "cross_attention_layer_norm", middle);
        h = t.call("cross_attention", cross_attention{attention_of(here, of, true)}, h, source, across, no_mask, no_bias);
        return fed_forward(here, t, of, t.add(middle, dropout(t, "attn_dropout", h)));
    }
};

/// Words times a constant, and sines.
constexpr value embedded(const site& here, trace& t, std::int64_t rows, std::int64_t length, bool tied) {
    const embedding words{rows, here.dims.hidden_size, true, here.type("ScaledWordEmbedding"), tied};
    return t.call("embed_tokens", words, extents{t.load().batch, length});
}
constexpr value placed(const site& here, trace& t, const value& x) {
    return t.add(x, t.call("embed_positions", m2m_100_detail::sinusoidal_positions{here}, x.dim(1)));
}
constexpr void check_positions(const site& here, trace& t, std::int64_t asked) {
    t.positions(here.dims.max_position_embeddings + 1 - here.dims.own[pad_token], asked);
}

constexpr value encoded(const site& here, trace& t, const stack& of, value x) {
    for (repetition each = t.repeat(of.layers, x); each.next();)
        x = t.call({"layers", each.index()}, encoder_layer{here, of}, x);
    return normed(t, "layer_norm", x);
}
constexpr value decoded(const site& here, trace& t, const stack& of, const value& source, const value& words) {
    const context where = context_of(t, 0);
    const value mask = eager_mask(t, where, t.load().batch);
    value x = placed(here, t, words);
    for (repetition each = t.repeat(of.layers, x); each.next();)
        x = t.call({"layers", each.index()}, decoder_layer{here, of, source, where, mask}, x);
    return normed(t, "layer_norm", x);
}

constexpr value describe_text_encoder(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t length = encoder_length(load);
    const recorder::idle_guard done{t, encoder_is_done(load)};
    const module_info encoder{.name = "text_encoder", .type = here.type("Encoder"), .what = role::encoder};
    check_positions(here, t, length);
    t.enter(encoder);
    const value words = embedded(here, t, here.dims.vocab_size, length, here.dims.tie_word_embeddings);
    const value x = t.leave(encoder, encoded(here, t, encoder_of(here), placed(here, t, words)));
    return encoder_is_done(load) ? t.input({load.batch, length, here.dims.hidden_size}) : x;
}

constexpr value describe_text_decoder(const site& here, trace& t, const value& source) {
    const module_info decoder{.name = "text_decoder", .type = here.type("Decoder"), .what = role::decoder};
    check_positions(here, t, t.load().past + t.load().sequence);
    t.enter(decoder);
    const value words = embedded(here, t, here.dims.vocab_size, t.load().sequence, here.dims.tie_word_embeddings);
    return t.leave(decoder, decoded(here, t, decoder_of(here), source, words));
}

/// From text to units of speech, which a pass over text does not call: an encoder without words, a decoder with its own.
constexpr void declare_units(const site& here, trace& t, const value& x) {
    const recorder::idle_guard uncalled{t};
    const own_sizes& of = here.dims.own;
    const stack reads{of[unit_encoder_layers], of[unit_encoder_heads], of[unit_encoder_inner]};
    const stack writes{of[unit_decoder_layers], of[unit_decoder_heads], of[unit_decoder_inner]};
    const module_info whole{
        .name = "t2u_model", .type = here.type("TextToUnitForConditionalGeneration"), .what = role::audio};
    const module_info base{.name = "model", .type = here.type("TextToUnitModel")};
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    const module_info decoder{.name = "decoder", .type = here.type("Decoder")};
    t.enter(whole);
    t.enter(base);
    t.enter(encoder);
    const value source = t.leave(encoder, encoded(here, t, reads, x));
    t.enter(decoder);
    const value words = embedded(here, t, of[unit_rows], t.load().sequence, false);
    const value out = t.leave(base, t.leave(decoder, decoded(here, t, writes, source, words)));
    const linear units{here.dims.hidden_size, of[unit_rows], false, here.dims.tie_word_embeddings};
    t.leave(whole, t.call("lm_head", units, out));
}

/// What a decoder reads: states of a text, or of a recording where one is shown.
constexpr value describe_source(const site& here, trace& t) {
    const workload& load = t.load();
    const bool heard = load.audio_milliseconds > 0, done = encoder_is_done(load);
    value source;
    if (here.dims.head != head_kind::conditional_generation) {
        const recorder::idle_guard unread{t, heard};
        source = describe_text_encoder(here, t);
    }
    if (here.dims.head == head_kind::causal_lm) return source;
    {
        const recorder::idle_guard unheard{t, !heard || done};
        const value x = describe_tower(here, t, 0, "speech_encoder", role::audio);
        if (heard) source = x;
    }
    const sizes& speech = here.whole.beside[0].dims;
    return heard && done ? t.input({load.batch, states_of(speech, here.whole.sound, load), here.dims.hidden_size}) : source;
}

/// The model that translates whatever it is given, or the classes for texts or recordings alone.
constexpr value describe(const site& here, trace& t) {
    const bool all = here.dims.head == head_kind::none, listens = here.dims.head == head_kind::conditional_generation;
    const literal name = all ? here.row.names.model_type : here.row.names.causal_lm_type;
    const module_info whole{.type = here.type(listens ? literal{"ForSpeechToText"} : name)};
    if (listens) (void)samples_of(here.whole.sound, t.load());
    t.enter(whole);
    {
        const recorder::idle_guard unread{t, !here.dims.tie_word_embeddings};
        embedding{here.dims.vocab_size, here.dims.hidden_size}.declare(t, "shared");
    }
    const value source = describe_source(here, t);
    const value x = describe_text_decoder(here, t, source);
    value scores;
    {
        const recorder::idle_guard unused{t, t.load().head == logits::none};
        scores = describe_word_scores(here, t, x, here.dims.vocab_size, false);
    }
    if (all) {
        declare_units(here, t, source);
        (void)describe_tower(here, t, 1, "vocoder", role::audio);
    }
    return t.leave(whole, t.returns(x, scores));
}

constexpr media_shapes show(const model& m, const workload& load) {
    if (load.audio_milliseconds == 0) return {};
    if (m.dims.head == head_kind::causal_lm) report_description("this class reads texts alone");
    return {.audio = {.samples = samples_of(m.sound, load), .frames = places_of(m.sound, load)}};
}
constexpr void read_sound(config_view config, model& m) {
    read_stacked_filter_banks(config, m, m.beside[0].dims.own[features]);
}

constexpr void read(config_view config, sizes& s) {
    s.num_key_value_heads = s.num_attention_heads;
    for (const std::int64_t heads :
         {s.num_attention_heads, s.own[encoder_heads], s.own[unit_encoder_heads], s.own[unit_decoder_heads]})
        if (s.hidden_size % heads != 0) fail_value(config, "hidden_size", "a multiple of each stack's attention heads");
    s.head_dim = s.hidden_size / s.num_attention_heads;
    if (s.own[pad_token] > s.max_position_embeddings) fail_value(config, "pad_token_id", "one of the positions");
}
/// What hears and what speaks have sizes of their own in the same configuration.
constexpr void read_whole(config_view config, model& m) {
    m.beside[0] = {&speech_encoder, read_sizes(speech_encoder, config, true)};
    if (m.beside[0].dims.hidden_size % m.beside[0].dims.num_attention_heads != 0)
        fail_value(config, "speech_encoder_attention_heads", "a divisor of hidden_size");
    m.beside[1] = {&vocoder, read_sizes(vocoder, config, true)};
}

constexpr void read_second_whole(config_view config, model& m) {
    m.beside[0] = {&second_speech_encoder, read_sizes(second_speech_encoder, config, true)};
}

}  // namespace seamless_m4t_detail

// transformers/models/seamless_m4t: a translator of text, beside it what hears, and what makes units and waves of text
inline constexpr architecture seamless_m4t = [](architecture a) {
    a.model_type = "seamless_m4t", a.prefix = "SeamlessM4T", a.describe = seamless_m4t_detail::describe;
    a.read = seamless_m4t_detail::read, a.read_whole = seamless_m4t_detail::read_whole, a.own = seamless_m4t_detail::keys;
    a.rotated = rotation::none, a.heads = language_heads, a.names.causal_lm_type = "ForTextToText";
    a.media = seamless_m4t_detail::show, a.read_sound = seamless_m4t_detail::read_sound, a.reads.audio = true;
    a.sound.joined = 2;
    a.keys[0] = {"num_hidden_layers", "decoder_layers", key_rule::standard_first};
    a.keys[1] = {"num_attention_heads", "decoder_attention_heads", key_rule::standard_first};
    a.keys[2] = {"intermediate_size", "decoder_ffn_dim", key_rule::written_only};
    a.keys[3] = {"hidden_act", "activation_function", key_rule::written_only};
    a.keys[4] = {"num_key_value_heads", "", key_rule::absent}, a.keys[5] = {"head_dim", "", key_rule::absent};
    a.keys[6] = {"attention_bias", "", key_rule::absent};
    a.defaults.vocab_size = 256102, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 8192;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 16, a.defaults.max_position_embeddings = 1024;
    a.defaults.hidden_act = activation::relu, a.defaults.tie_word_embeddings = true;
    return a;
}(architecture{});

// transformers/models/seamless_m4t_v2: the classes that write text; learned distances and chunks of what is heard
inline constexpr architecture seamless_m4t_v2 = [](architecture a) {
    a.model_type = "seamless_m4t_v2", a.prefix = "SeamlessM4Tv2", a.read_whole = seamless_m4t_detail::read_second_whole;
    a.heads = {head_kind::causal_lm, head_kind::conditional_generation};
    a.defaults.max_position_embeddings = 4096;
    return a;
}(seamless_m4t);

}  // namespace llmcost::arch
