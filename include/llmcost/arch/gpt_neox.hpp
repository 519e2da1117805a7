// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace gpt_neox_detail {

/// Attention over queries, keys and values that one projection holds head by head; part of each head rotated.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, d = here.dims.head_dim;
    const value fused = project(here, t, "query_key_value", 3 * width, x);
    const value part = fused.view({x.dim(0), x.dim(1), -1, 3 * d}).transpose(1, 2).slice(-1, d);
    qkv of{part, part, part};
    turn(here, t, of);
    remember(here, t, of);
    return t.call("dense", linear{width, width, here.dims.attention_bias}, look_up(here, t, of));
}

/// A layer whose feed-forward block reads the layer's input, or what attention left, through a norm of its own.
constexpr value layer(const site& here, trace& t, const value& x) {
    const auto feed = [&](const value& h) {
        const value own_input = normed(here, t, "post_attention_layernorm", h);
        return dropout(t, "post_mlp_dropout", here.row.feed(here, t, own_input));
    };
    value a = mixed(here, t, normed(here, t, "input_layernorm", x));
    a = dropout(t, "post_attention_dropout", a);
    if (here.dims.parallel_residual) return t.add(t.add(feed(x), a), x);
    a = t.add(a, x);
    return t.add(feed(a), a);
}

constexpr value embed(const site& here, trace& t) { return dropout(t, "emb_dropout", embed_words(here, t)); }

/// The rotated part of a head: `partial_rotary_factor` of the rotary parameters, else `rotary_pct`, else a quarter.
constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    const std::int64_t width = s.head_dim;  // of the tables, where a file has `head_dim`; heads do not read it
    share_among_heads(config, s, {"num_attention_heads"});
    const auto rope = detail::rope_parameters(config);
    const bool stated = rope && rope->contains("partial_rotary_factor");
    const config_view place = stated ? *rope : config;
    const literal key = stated ? "partial_rotary_factor" : "rotary_pct";
    const double factor = detail::has_rope_type(config, "proportional") ? 1 : place.real(key, 0.25);
    if (!(factor > 0 && factor <= 1)) fail_value(place, key, "a part of a head above 0 and up to 1");
    s.rotary_dim = whole_pairs(width, factor);
    if (s.rotary_dim == 0) fail_value(place, key, "a part of a head that leaves elements to be rotated");
    s.attention_bias = config.boolean("attention_bias", true);
    s.mlp_bias = true;
    s.parallel_residual = config.boolean("use_parallel_residual", true);
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout"},
                                             {dropout_of::attention, "attention_dropout"},
                                             {dropout_of::classifier, "classifier_dropout", 0.1}};

}  // namespace gpt_neox_detail

// transformers/models/gpt_neox: configuration_gpt_neox.py, modeling_gpt_neox.py
inline constexpr architecture gpt_neox = [](architecture a) {
    a.model_type = "gpt_neox", a.prefix = "GPTNeoX", a.read = gpt_neox_detail::read;
    a.embed = gpt_neox_detail::embed, a.layer = gpt_neox_detail::layer, a.attend = gpt_neox_detail::attend;
    a.norm = norm_kind::layer, a.feed_forward = mlp_kind::plain, a.joins_rotated = true;
    a.heads = answering_decoder_heads;
    a.names.base = a.names.base_under_answers = "gpt_neox", a.names.token_classifier = "classifier";
    a.names.embed_tokens = "embed_in", a.names.norm = "final_layer_norm";
    a.names.attention = "attention", a.names.layer_type = "Layer";
    a.names.mlp = {.up = "dense_h_to_4h", .down = "dense_4h_to_h", .act = "act"};
    a.defaults.vocab_size = 50432, a.defaults.hidden_size = 6144, a.defaults.intermediate_size = 24576;
    a.defaults.num_hidden_layers = 44, a.defaults.num_attention_heads = 64, a.defaults.max_position_embeddings = 2048;
    a.defaults.hidden_act = activation::gelu;
    a.keys[0] = no_key_value_heads;
    a.drops = gpt_neox_detail::dropout_rates;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
