// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/wav2vec2.hpp>
#include <llmcost/arch/xglm.hpp>
#include <llmcost/walks/conformer.hpp>
#include <llmcost/walks/sequence_stacks.hpp>

// Features of wav2vec 2.0 in front of an encoder with relative positions, and a decoder of words.
namespace llmcost::arch {

namespace speecht5_detail {

using namespace wav2vec2_detail;

enum own : std::uint8_t {
    reach = summary_width,
    decoder_layers = adapter_layers,
    decoder_heads = adapter_kernel,
    decoder_inner = adapter_stride,
    encoder_inner = adapter_width
};
struct own_table {
    own_key keys[adapter_width + 1];

    constexpr own_table() {
        for (std::size_t i = 0; i <= adapter_width; ++i) keys[i] = wav2vec2_detail::keys[i];
        keys[reach] = {"encoder_max_relative_position", 160};
        keys[decoder_layers] = {"decoder_layers", 6};
        keys[decoder_heads] = {"decoder_attention_heads", 12};
        keys[decoder_inner] = {"decoder_ffn_dim", 3072};
        keys[encoder_inner] = {"encoder_ffn_dim", 3072};
        keys[further] = {"pad_token_id", 1, own_value::non_negative};
    }
};
inline constexpr own_table table{};
inline constexpr literal extractor = "SpeechT5FeatureExtractor";

/// Scaled queries over keys of all heads in one batch, with a bias that queries and distances make, added in place.
struct speech_attention {
    const site& here;
    std::int64_t heads;
    bool caches = false;
    bool crosses = false;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x, const value& source, const context& where, const value* mask,
                             const value* distances) const {
        const std::int64_t width = here.dims.hidden_size, d = width / heads, batch = x.dim(0), places = x.dim(1);
        const linear square{width, width, true};
        const auto split = [&](const value& v) { return v.view({batch, -1, heads, d}).transpose(1, 2); };
        const auto joined = [&](const value& v) { return t.reshape(v, {batch * heads, -1, d}); };
        const value scaled = t.mul(t.call("q_proj", square, x));
        const bool from_cache = crosses && encoder_is_done(t.load());
        value k, v;
        {
            const recorder::idle_guard unused{t, from_cache};
            k = split(t.call("k_proj", square, source)), v = split(t.call("v_proj", square, source));
        }
        if (from_cache) {
            k = v = trace::buffer({batch, heads, source.dim(1), d});
            t.cache(k), t.cache(v);
        } else if (caches) {
            k = update_cache(t, k, where), v = update_cache(t, v, where);
        }
        const value q = joined(split(scaled)), keys = joined(k), values = joined(v);
        const std::int64_t length = keys.dim(1);
        const bool sparse = where.causal && t.load().attention == attention_scores::causal;
        value scores = t.bmm(op::batched_matmul, q, keys.transpose(1, 2), sparse ? where.visible_pairs() : 0);
        if (distances != nullptr) {
            const value by_place = t.contiguous(q).transpose(0, 1);
            const value bias = t.matmul(by_place, distances->transpose(1, 2)).transpose(0, 1);
            t.in_place(op::add, scores, bias);
        }
        if (mask != nullptr && !sparse)
            scores = t.add(scores.view({batch, heads, places, length}), *mask).view({batch * heads, places, length});
        const value mixed = t.bmm(t.softmax(scores), values).view({batch, heads, places, d}).transpose(1, 2);
        return t.call("out_proj", square, t.reshape(mixed, {batch, places, width}));
    }
};
struct speech_cross_attention : speech_attention {
    static constexpr role what = role::cross_attn;
};

constexpr conformer_feed_forward feed(const site& here, std::int64_t inner) {
    return {{.width = here.dims.hidden_size,
             .heads = 1,
             .inner = inner,
             .act = here.dims.hidden_act,
             .kernel = 1,
             .prefix = here.row.prefix}};
}

struct speech_encoder_layer {
    site here;
    const value& distances;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const encoder_sizes& e = here.dims.encoder;
        const context all{.sequence = x.dim(1), .causal = false};
        const value *const no_mask = nullptr, *const places = &distances;
        const speech_attention attention{here, e.num_attention_heads};
        const value found = dropout(t, "dropout", t.call("attention", attention, x, x, all, no_mask, places));
        const value h = layer_norm(here, t, "layer_norm", t.add(x, found));
        return layer_norm(here, t, "final_layer_norm", t.add(h, t.call("feed_forward", feed(here, e.intermediate_size), h)));
    }
};

struct speech_decoder_layer {
    site here;
    const value& source;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("DecoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t heads = here.dims.num_attention_heads;
        const context across{.sequence = source.dim(1), .causal = false};
        const value *const nothing = nullptr, *const mask = &here.shared->mask;
        const speech_attention self{here, heads, true};
        const speech_cross_attention cross{{here, heads, true, true}};
        value h = dropout(t, "dropout", t.call("self_attn", self, x, x, here.shared->where, mask, nothing));
        h = layer_norm(here, t, "self_attn_layer_norm", t.add(x, h));
        const value found = dropout(t, "dropout", t.call("encoder_attn", cross, h, source, across, nothing, nothing));
        h = layer_norm(here, t, "encoder_attn_layer_norm", t.add(h, found));
        const value fed = t.call("feed_forward", feed(here, here.dims.intermediate_size), h);
        return layer_norm(here, t, "final_layer_norm", t.add(h, fed));
    }
};

constexpr value sines(const site& here, trace& t, literal name, std::int64_t length) {
    const xglm_detail::sinusoids rows{here.dims.max_position_embeddings + here.dims.own[further] + 3, here.dims.hidden_size,
                                      here.type("SinusoidalPositionalEmbedding")};
    return t.call(name, rows, t.load().batch, length);
}

/// Features, positions that a convolution hears, sines.
constexpr value hear(const site& here, trace& t) {
    const module_info prenet{.name = "prenet", .type = here.type("SpeechEncoderPrenet")};
    t.enter(prenet);
    declare_mask(here, t);
    value x = project(here, t, extract(here, t, "feature_encoder"));
    x = t.add(x, positions(here, t, x));
    return t.leave(prenet, t.add(x, sines(here, t, "pos_sinusoidal_embed", x.dim(1))));
}

constexpr value encode(const site& here, trace& t) {
    const module_info whole{.name = "encoder", .type = here.type("EncoderWithSpeechPrenet"), .what = role::encoder};
    const module_info wrapped{.name = "wrapped_encoder", .type = here.type("Encoder")};
    const module_info places{.name = "embed_positions", .type = here.type("RelativePositionalEncoding")};
    const std::int64_t d = here.dims.hidden_size / here.dims.encoder.num_attention_heads;
    t.enter(whole);
    value x = hear(here, t);
    t.enter(wrapped);
    x = dropout(t, "dropout", layer_norm(here, t, "layer_norm", x));
    t.enter(places);
    const embedding rows{.rows = 2 * here.dims.own[reach], .width = d, .makes_indices = true};
    const value distances = t.leave(places, t.call("pe_k", rows, extents{x.dim(1), x.dim(1)}));
    const shared_values nothing;
    for (repetition each = t.repeat(here.dims.encoder.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, speech_encoder_layer{here.at(each, nothing), distances}, x);
    return t.leave(whole, t.leave(wrapped, x));
}

constexpr value decode(const site& here, trace& t, const value& source) {
    const workload& load = t.load();
    const module_info whole{.name = "decoder", .type = here.type("DecoderWithTextPrenet"), .what = role::decoder};
    const module_info prenet{.name = "prenet", .type = here.type("TextDecoderPrenet")};
    const module_info wrapped{.name = "wrapped_decoder", .type = here.type("Decoder")};
    t.enter(whole), t.enter(prenet);
    const value places = sines(here, t, "embed_positions", load.sequence);
    const embedding words{here.dims.vocab_size, here.dims.hidden_size};
    value x = t.mul(t.call("embed_tokens", words, extents{load.batch, load.sequence}));
    t.in_place(op::add, x, places);
    x = t.leave(prenet, dropout(t, "dropout", x));
    t.enter(wrapped);
    shared_values made;
    made.where = context_of(t, 0);
    made.mask = eager_mask(t, made.where, load.batch);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, speech_decoder_layer{here.at(each, made), source}, x);
    return t.leave(whole, t.leave(wrapped, x));
}

constexpr value describe(const site& here, trace& t) {
    const workload& load = t.load();
    const module_info whole{.type = here.type("ForSpeechToText")}, base{.name = "speecht5", .type = here.type("Model")};
    const module_info postnet{.name = "text_decoder_postnet", .type = here.type("TextDecoderPostnet")};
    const std::int64_t places = places_of(here.dims, here.whole.sound, load);
    t.enter(whole), t.enter(base);
    value source;
    {
        const recorder::idle_guard done{t, encoder_is_done(load)};
        source = speecht5_detail::encode(here, t);
    }
    if (encoder_is_done(load)) source = t.input({load.batch, places, here.dims.hidden_size});
    const value x = t.leave(base, decode(here, t, source));
    const recorder::idle_guard unused{t, load.head == logits::none};
    t.enter(postnet);
    const value scores = t.leave(postnet, describe_word_scores(here, t, x, here.dims.vocab_size, false));
    return t.leave(whole, t.returns(x, scores));
}

constexpr void read(config_view config, sizes& s) {
    read_shared(config, s);
    s.own[encoder_inner] = config.positive("encoder_ffn_dim", 3072);
    s.encoder = {s.num_hidden_layers, s.num_attention_heads, s.own[encoder_inner]};
    s.num_hidden_layers = s.own[decoder_layers], s.intermediate_size = s.own[decoder_inner];
    s.num_attention_heads = s.num_key_value_heads = s.own[decoder_heads];
    s.own[switches] &= ~stable;
    s.max_position_embeddings = config.positive("max_text_positions", 450);
    if (s.hidden_size % s.num_attention_heads != 0)
        fail_value(config, "decoder_attention_heads", "a divisor of hidden_size");
}

}  // namespace speecht5_detail

// transformers/models/speecht5: the class that writes what it hears
inline constexpr architecture speecht5 = [](architecture a) {
    a.model_type = "speecht5", a.prefix = "SpeechT5", a.describe = speecht5_detail::describe;
    a.read = speecht5_detail::read, a.own = speecht5_detail::table.keys, a.reads = {.text = true, .audio = true};
    a.read_sound = read_samples<speecht5_detail::extractor>;
    a.base = nullptr, a.layer = nullptr, a.attend = nullptr, a.heads = {head_kind::conditional_generation};
    a.keys[6] = {"num_hidden_layers", "encoder_layers", key_rule::standard_first};
    a.keys[7] = {"num_attention_heads", "encoder_attention_heads", key_rule::standard_first};
    a.keys[5] = {};
    a.defaults.vocab_size = 81, a.defaults.head = head_kind::conditional_generation;
    a.defaults.tie_word_embeddings = true;
    return a;
}(wav2vec2);

}  // namespace llmcost::arch
