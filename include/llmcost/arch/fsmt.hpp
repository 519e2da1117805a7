// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>

namespace llmcost::arch {

namespace fsmt_detail {

enum own : std::uint8_t { source_words = stack_own::count, pad_token };
inline constexpr own_key keys[]{{"decoder_layers", 12},    {"decoder_attention_heads", 16},
                                {"decoder_ffn_dim", 4096}, {"encoder_ffn_dim", 4096},
                                {"src_vocab_size", 42024}, {"pad_token_id", 1, own_value::non_negative}};

/// Attention of (S, B, width): positions come first; products of flattened batches.
constexpr value attend(const site&, trace& t, const stack_sizes& s, const value& x, const value* source, const context& seen,
                       const value* mask) {
    const std::int64_t d = s.width / s.heads, sequence = x.dim(0), batch = x.dim(1), flat = batch * s.heads;
    const linear projection{s.width, s.width, true};
    const value& from = source != nullptr ? *source : x;
    const context where = s.decodes && source == nullptr ? seen : context{.sequence = from.dim(0), .causal = false};
    const bool from_cache = source != nullptr && encoder_is_done(t.load());
    value k, v;
    {
        const recorder::idle_guard unused{t, from_cache};
        const value keys = t.call("k_proj", projection, from), values = t.call("v_proj", projection, from);
        k = keys.view({-1, batch, s.heads, d}).permute({1, 2, 0, 3});
        v = values.view({-1, batch, s.heads, d}).permute({1, 2, 0, 3});
    }
    if (from_cache) {
        k = v = trace::buffer({batch, s.heads, from.dim(0), d});
        t.cache(k), t.cache(v);
    } else if (s.decodes) {
        k = update_cache(t, k, where);
        v = update_cache(t, v, where);
    }
    const value q = t.mul(t.call("q_proj", projection, x)).view({-1, flat, d}).transpose(0, 1);
    const value heads = q.view({batch, s.heads, sequence, d});
    value out;
    {
        const recorder::fused_guard fused{t, fused_attention(heads, s.heads, where, k.dim(2))};
        const value keys = t.reshape(k, {flat, -1, d}), values = t.reshape(v, {flat, -1, d});
        const std::int64_t length = keys.dim(1);
        const bool sparse = where.causal && t.load().attention == attention_scores::causal;
        value scores = t.bmm(op::batched_matmul, q, keys.transpose(1, 2), sparse ? where.visible_pairs() : 0);
        if (mask != nullptr && !sparse)
            scores = t.add(scores.view({batch, s.heads, sequence, length}), *mask).view({flat, sequence, length});
        out = t.bmm(drop(t, t.softmax(scores), dropout_of::attention), values).transpose(0, 1);
    }
    return t.call("out_proj", projection, t.contiguous(out).view({sequence, batch, s.width}));
}

inline constexpr stack_style style{.attend_in_encoder = attend, .attend_in_decoder = attend};

/// The same sizes, for classes whose names have no prefix.
constexpr stack_sizes plain(stack_sizes s) {
    s.prefix = "";
    return s;
}

/// Sines, picked for every token by positions that padding moves; more than the table has would make another one.
constexpr value positions(const site& here, trace& t, std::int64_t length, bool decodes) {
    check_positions(here, t, length, decodes);
    const std::int64_t rows = here.dims.max_position_embeddings + here.dims.own[pad_token] + 1;
    const embedding table{rows, here.dims.hidden_size, false, {"", "SinusoidalPositionalEmbedding"}};
    return t.call("embed_positions", table, extents{t.load().batch, length});
}

constexpr value encoder(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t length = encoder_length(load), width = here.dims.hidden_size;
    {
        const recorder::idle_guard done{t, encoder_is_done(load)};
        const module_info module{.name = "encoder", .type = here.type("Encoder"), .what = role::encoder};
        t.enter(module);
        const value words =
            t.call("embed_tokens", embedding{here.dims.own[source_words], width}, extents{load.batch, length});
        const value scaled = t.mul(words);
        const value placed = t.add(scaled, positions(here, t, length, false));
        value x = drop(t, placed, dropout_of::hidden).transpose(0, 1);
        const stack_sizes dims = plain(encoder_stack_of(here));
        // the first layer reads a transposed tensor, the others what a norm has laid out
        x = t.call({"layers", 0}, stack_layer{here, style, dims, nullptr}, x);
        for (repetition layer = t.repeat(here.dims.encoder.num_hidden_layers - 1, x, 1); layer.next();)
            x = t.call({"layers", layer.index()}, stack_layer{here, style, dims, nullptr}, x);
        t.leave(module);
        if (!encoder_is_done(load)) return x.transpose(0, 1);
    }
    return t.input({load.batch, length, width});
}

/// The decoder with its scores of words; nothing hides later words but in training (`_prepare_fsmt_decoder_inputs`).
constexpr value decoder(const site& here, trace& t, const value& states) {
    const workload& load = t.load();
    const std::int64_t width = here.dims.hidden_size, words = here.dims.vocab_size;
    const bool tied = here.dims.tie_word_embeddings;
    const module_info module{.name = "decoder", .type = here.type("Decoder"), .what = role::decoder};
    const value encoded = states.transpose(0, 1);
    decoder_reach reach{.encoded = &encoded, .where = context_of(t, 0)};
    if (t.training()) reach.mask = t.copy(t.constant({load.sequence, load.sequence}));
    t.enter(module);
    const value places = positions(here, t, load.sequence, true);
    const embedding table{words, width, false, {"", "Embedding"}, tied};
    value x = t.mul(t.call("embed_tokens", table, extents{load.batch, load.sequence}));
    t.in_place(op::add, x, places);
    x = drop(t, x, dropout_of::hidden).transpose(0, 1);
    const stack_sizes dims = plain(decoder_stack_of(here));
    const stack_layer each{here, style, dims, &reach, t.training()};
    x = t.call({"layers", 0}, each, x);
    for (repetition layer = t.repeat(here.dims.num_hidden_layers - 1, x, 1); layer.next();)
        x = t.call({"layers", layer.index()}, each, x);
    x = x.transpose(0, 1);
    const recorder::idle_guard unused{t, load.head == logits::none};
    const value kept = load.head == logits::last ? t.slice(x, 1, 1) : x;
    const value scores = t.call("output_projection", head_linear{{width, words, false, tied}}, kept);
    return t.leave(module, t.returns(x, scores));
}

constexpr value both(const site& here, trace& t) { return decoder(here, t, encoder(here, t)); }

}  // namespace fsmt_detail

/// A translator whose layers read positions first; the decoder scores words itself, whatever class holds it.
///
/// Source: transformers/models/fsmt/modeling_fsmt.py.
constexpr value describe_fsmt(const site& here, trace& t) {
    const class_name type = here.type("Model");
    if (here.dims.head == head_kind::none) return describe_within({.type = type}, fsmt_detail::both, here, t);
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    t.enter(whole);
    return t.leave(whole, describe_within({.name = "model", .type = type}, fsmt_detail::both, here, t));
}

constexpr void read_fsmt(config_view config, sizes& s) {
    read_stacks(config, s);
    if (s.tie_word_embeddings) s.own[fsmt_detail::source_words] = s.vocab_size;  // the decoder's table is the encoder's
}

// transformers/models/fsmt: configuration_fsmt.py, modeling_fsmt.py
inline constexpr architecture fsmt = [](architecture a) {
    a.model_type = "fsmt", a.prefix = "FSMT", a.describe = describe_fsmt, a.read = read_fsmt, a.own = fsmt_detail::keys;
    a.heads = {head_kind::none, head_kind::conditional_generation};
    a.keys[5] = {"vocab_size", "tgt_vocab_size", key_rule::standard_first};
    a.defaults.vocab_size = 42024, a.defaults.hidden_act = activation::relu, a.defaults.num_labels = 2;
    a.defaults.tie_word_embeddings = false, a.defaults.head = head_kind::conditional_generation;
    return a;
}(bart);

}  // namespace llmcost::arch
