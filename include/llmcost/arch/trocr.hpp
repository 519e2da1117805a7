// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/xglm.hpp>
#include <llmcost/walks/encoder_decoder.hpp>

namespace llmcost::arch {

namespace trocr_detail {

enum own : std::uint8_t { scales_words, learns_positions, norms_words, encoder_width, padding };
inline constexpr own_key keys[]{
    {"scale_embedding", 0, own_value::boolean},  // by one where it does not
    {"use_learned_position_embeddings", 1, own_value::boolean},
    {"layernorm_embedding", 1, own_value::boolean},
    {.value = own_value::computed},  // of the states that cross attention reads
    {.value = own_value::computed},  // the padding token's number
};

constexpr value attend(const site& here, trace& t, const value& x) {
    return xglm_detail::attend_in_one_batch(here, t, x, false);
}

/// Attention to an encoder, which a text alone does not call.
constexpr void declare_cross_attention(const site& here, trace& t, const value& x) {
    const recorder::idle_guard no_encoder{t};
    const std::int64_t width = here.dims.hidden_size, from = here.dims.own[encoder_width];
    const module_info cross{.name = "encoder_attn", .type = here.type("Attention"), .what = role::cross_attn};
    value states = x;
    states.size[2] = from, states.make_contiguous_strides();
    t.enter(cross);
    for (const literal name : {"k_proj", "v_proj"}) (void)t.call(name, linear{from, width, true}, states);
    const value q = t.call("q_proj", linear{width, width, true}, x);
    (void)t.leave(cross, t.call("out_proj", linear{width, width, true}, q));
    (void)normed(here, t, "encoder_attn_layer_norm", x);
}

/// Attention to an encoder's states, whose keys and values come from the cache after the first pass.
constexpr value attend_to_encoder(const site& here, trace& t, const value& x, const value& states) {
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), length = states.dim(1), width = here.dims.hidden_size;
    const std::int64_t heads = here.dims.num_attention_heads, d = here.dims.head_dim;
    const auto split = [&](const value& all) { return all.view({batch, all.dim(1), heads, d}).transpose(1, 2); };
    const value q = split(t.mul(t.call("q_proj", linear{width, width, true}, x)));
    const linear from_states{states.dim(2), width, true};
    const context across{.sequence = length, .causal = false};
    const bool from_cache = encoder_is_done(t.load());
    value k, v;
    {
        const recorder::idle_guard unused{t, from_cache};
        k = split(t.call("k_proj", from_states, states)), v = split(t.call("v_proj", from_states, states));
    }
    if (from_cache) {
        k = v = trace::buffer({batch, heads, length, d});
        t.cache(k), t.cache(v);
    } else {
        k = update_cache(t, k, across), v = update_cache(t, v, across);
    }
    value found;
    {
        const recorder::fused_guard fused{t, fused_attention(q, heads, across, length)};
        const auto in_one_batch = [&](const value& of, std::int64_t n) { return t.reshape(of, {batch * heads, n, d}); };
        const value scores = t.bmm(in_one_batch(q, sequence), in_one_batch(k, length).transpose(1, 2));
        const value seen = drop(t, t.softmax(scores), dropout_of::attention);
        found = t.bmm(seen, in_one_batch(v, length)).view({batch, heads, sequence, d});
    }
    return join(here, t, t.reshape(found.transpose(1, 2), {batch, sequence, width}));
}

/// What a text finds in an encoder's states, where there are any.
constexpr value cross(const site& here, trace& t, const value& x) {
    const value& states = here.shared->own[0];
    if (states.rank == 0) {
        declare_cross_attention(here, t, x);
        return x;
    }
    const module_info m{.name = "encoder_attn", .type = here.type("Attention"), .what = role::cross_attn};
    t.enter(m);
    const value h = t.leave(m, attend_to_encoder(here, t, x, states));
    return normed(here, t, "encoder_attn_layer_norm", add_dropped_residual(here, t, x, h));
}

/// Norms follow the residual sums.
constexpr value layer(const site& here, trace& t, const value& x) {
    const value a = normed(here, t, "self_attn_layer_norm", add_dropped_residual(here, t, x, mixed(here, t, x)));
    const value h = cross(here, t, a);
    const value f = xglm_detail::feed_in_layer(here, t, h);
    return normed(here, t, "final_layer_norm", add_dropped_residual(here, t, h, f));
}

constexpr value embed(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t held = here.dims.max_position_embeddings, width = here.dims.hidden_size;
    const value words = embed_words_scaling(here, t);
    t.positions(held, load.past + load.sequence);
    const embedding learned{.rows = held + 2, .width = width, .named = here.type("LearnedPositionalEmbedding")};
    const xglm_detail::sinusoids table{held + here.dims.own[padding] + 1, width, here.type("SinusoidalPositionalEmbedding")};
    const value places = here.dims.own[learns_positions]
                             ? t.call("embed_positions", learned, extents{load.batch, load.sequence})
                             : t.call("embed_positions", table, load.batch, load.sequence);
    const value x = t.add(words, places);
    return drop(t, here.dims.own[norms_words] ? normed(here, t, "layernorm_embedding", x) : x, dropout_of::hidden);
}

constexpr value decoder(const site& here, trace& t) {
    const value x = here.row.embed(here, t);
    decoder_context shared = here.row.prepare(here, t);
    if (here.shared != nullptr) shared.full.own[0] = shared.sliding.own[0] = here.shared->own[0];
    return describe_layers(here, t, shared, x);
}

constexpr value base(const site& here, trace& t) {
    return describe_within({.name = "decoder", .type = here.type("Decoder")}, decoder, here, t);
}

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    share_among_heads(config, s, {"decoder_attention_heads", "num_attention_heads"});
    s.own[encoder_width] = config.optional_positive("cross_attention_hidden_size").value_or(s.hidden_size);
    s.own[padding] = config.non_negative("pad_token_id", 1);
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "dropout", 0.1},
                                             {dropout_of::attention, "attention_dropout"},
                                             {dropout_of::inner, "activation_dropout"},
                                             {dropout_of::drawn, "decoder_layerdrop"}};

}  // namespace trocr_detail

// transformers/models/trocr: configuration_trocr.py, modeling_trocr.py; a decoder whose encoder is another model
inline constexpr architecture trocr = [](architecture a) {
    a.model_type = "trocr", a.prefix = "TrOCR", a.read = trocr_detail::read, a.own = trocr_detail::keys;
    a.base = trocr_detail::base, a.embed = trocr_detail::embed, a.layer = trocr_detail::layer;
    a.attend = trocr_detail::attend, a.heads = {head_kind::causal_lm};
    a.names.model_type = "DecoderWrapper", a.names.lm_head = "output_projection";
    a.keys[1] = {"num_attention_heads", "decoder_attention_heads", key_rule::standard_first};
    a.keys[2] = {"num_hidden_layers", "decoder_layers", key_rule::standard_first};
    a.keys[3] = {"intermediate_size", "decoder_ffn_dim", key_rule::written_only};
    a.defaults.vocab_size = 50265, a.defaults.num_hidden_layers = 12, a.defaults.max_position_embeddings = 512;
    a.drops = trocr_detail::dropout_rates;
    return a;
}(xglm);

}  // namespace llmcost::arch
