// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>
#include <llmcost/arch/bert_generation.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/encoder_decoder.hpp>

namespace llmcost::arch {

namespace encoder_decoder_detail {

/// Attention to the encoder's states, whose keys and values come from the cache after the first pass (`BertCrossAttention`).
struct cross_self {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("CrossAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const value& source = here.shared->own[0];
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = width / heads;
        const auto split = [&](literal name, const value& from) {
            const value all = t.call(name, linear{width, width, true}, from);
            return all.view({from.dim(0), from.dim(1), heads, d}).transpose(1, 2);
        };
        const value q = split("query", x);
        const bool from_cache = encoder_is_done(t.load());
        value k, v;
        {
            const recorder::idle_guard unused{t, from_cache};
            k = split("key", source), v = split("value", source);
        }
        const context across{.sequence = source.dim(1), .causal = false};
        if (from_cache) {
            k = v = trace::buffer({x.dim(0), heads, source.dim(1), d});
            t.cache(k), t.cache(v);
        } else {
            k = update_cache(t, k, across), v = update_cache(t, v, across);
        }
        const value mixed = eager_attention(t, q, k, v, across, {.float_softmax = false});
        return t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
    }
};
struct cross_block {
    const site& here;

    static constexpr role what = role::cross_attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const value h = t.call("self", cross_self{here}, x);
        return t.call("output", bert_layers::output_block{width, width, here.type("SelfOutput")}, h, x);
    }
};

/// A BERT layer that reads an encoder's states.
constexpr value layer(const site& here, trace& t, const value& x) {
    const value a = t.call("attention", bert_layers::attention_block{here}, x);
    return feed_as_bert(here, t, t.call("crossattention", cross_block{here}, a));
}
constexpr decoder_context prepare(const site& here, trace& t) {
    decoder_context c = all_or_before(here, t);
    c.full.own[0] = here.shared->own[0];
    return c;
}

constexpr architecture reading(architecture a) {
    a.layer = layer, a.prepare = prepare;
    return a;
}
inline constexpr architecture bert_reading = reading(bert), bert_generation_reading = reading(bert_generation);

/// The types that may be the halves: the row as it stands, the same with an encoder, its scores of words, its pooler.
struct half {
    const architecture* alone;
    const architecture* with_encoder;
    score_part score;
    layer_part pool;
};
inline constexpr half halves[]{
    {&bert, &bert_reading, score_in_cls, pool_first},
    {&bert_generation, &bert_generation_reading, bert_generation_detail::score, nullptr},
};
constexpr const half* half_of(const architecture& row) {
    for (const half& h : halves)
        if (h.alone->describe == row.describe) return &h;
    return nullptr;
}

constexpr value describe_read_half(const site& here, trace& t) {
    const recorder::idle_guard done{t, encoder_is_done(t.load())};
    const recorder::workload_guard own{t, encoder_load(t.load())};
    const site there = here.component(0);
    const module_info encoder{.name = "encoder", .type = there.type(there.row.names.model_type), .what = role::encoder};
    t.enter(encoder);
    const value x = there.row.base(there, t);
    if (const layer_part pool = half_of(there.row)->pool; pool != nullptr) {
        const recorder::off_loss_guard unread{t};
        (void)pool(there, t, x);
    }
    return t.leave(encoder, x);
}

/// A language model that reads the states, under its head.
constexpr value describe_written_half(const site& here, trace& t, const value& states) {
    const half& kind = *half_of(*here.whole.text);
    sizes dims = here.whole.dims;
    dims.head = head_kind::causal_lm;
    shared_values read;
    read.own[0] = states;
    const site there{here.whole, *kind.with_encoder, dims, &read};
    const decoder_names& n = there.row.names;
    const module_info decoder{.name = "decoder", .type = there.type(n.causal_lm_type), .what = role::decoder};
    t.enter(decoder);
    const value x = describe_within({.name = n.base, .type = there.type(n.model_type)}, there.row.base, there, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(decoder, t.returns(x, kind.score(there, t, {kept_positions(t, x), {}})));
}

/// States of another width are projected in every pass.
constexpr value describe(const site& here, trace& t) {
    const workload& load = t.load();
    const module_info whole{.type = here.type("Model")};
    const std::int64_t from = here.component(0).dims.hidden_size, to = here.dims.hidden_size;
    t.enter(whole);
    value states = describe_read_half(here, t);
    if (encoder_is_done(load)) states = t.input({load.batch, encoder_length(load), from});
    if (from != to) states = t.call("enc_to_dec_proj", linear{from, to, true}, states);
    return t.leave(whole, describe_written_half(here, t, states));
}

constexpr void read(config_view config, model& m) {
    if (half_of(*m.text) == nullptr)
        fail_unsupported(config, "decoder", "no row describes this type with an encoder's states");
    if (half_of(*m.beside[0].kind) == nullptr)
        fail_unsupported(config, "encoder", "no row describes this type as an encoder");
    if (m.beside[0].dims.is_decoder) fail_unsupported(config, "encoder", "no row describes a decoder as an encoder");
    if (!m.dims.is_decoder || !m.dims.add_cross_attention)
        fail_unsupported(config, "decoder", "no row describes one without is_decoder and add_cross_attention");
    const auto decoder = config.optional_object("decoder");
    m.dims.tie_word_embeddings = !decoder || decoder->boolean("tie_word_embeddings", true);
    const std::int64_t from = m.beside[0].dims.hidden_size;
    if (!decoder) return;
    if (const auto width = decoder->find("cross_attention_hidden_size"); width && !width->is_null())
        if (width->as_positive() != from || from != m.dims.hidden_size)
            fail_value(*decoder, "cross_attention_hidden_size", "the width of both halves");
}

/// BERT as a decoder, where the whole configuration of one is left out.
inline constexpr architecture bert_decoding = [](architecture a) {
    a.read = [](config_view config, sizes& s) {
        read_encoder_decoding(config, s);
        s.is_decoder = s.add_cross_attention = true;
    };
    return a;
}(bert);

}  // namespace encoder_decoder_detail

// transformers/models/encoder_decoder: two models of types of their own, the second reads the first one's states
inline constexpr architecture encoder_decoder = [](architecture a) {
    a.model_type = "encoder-decoder", a.prefix = "EncoderDecoder", a.describe = encoder_decoder_detail::describe;
    a.read_whole = encoder_decoder_detail::read, a.heads = {head_kind::none}, a.defaults.head = head_kind::none;
    a.text = {.key = "decoder", .otherwise = &bert, .missing = &encoder_decoder_detail::bert_decoding};
    a.beside[0] = {.key = "encoder", .otherwise = &bert};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
