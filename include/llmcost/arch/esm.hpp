// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/roberta.hpp>

namespace llmcost::arch {

namespace esm_detail {

enum class places : std::uint8_t { none, absolute, rotary };
enum own : std::uint8_t { positions, norms_embeddings, drops_tokens };
inline constexpr own_key keys[]{
    {.value = own_value::computed},  // `places`
    {"emb_layer_norm_before", 0, own_value::boolean},
    {"token_dropout", 0, own_value::boolean},
};
[[nodiscard]] constexpr places places_of(const site& here) { return static_cast<places>(here.dims.own[positions]); }

/// x · 0.5 · (1 + erf(x / √2)), spelled out.
constexpr value spelled_gelu(trace& t, const value& x) {
    const value half = t.mul(x);
    return t.mul(half, t.add(t.unary(op::erf, t.div(x))));
}

/// Masked tokens are set to zero, and what is left is scaled by how many there are.
constexpr value drop_tokens(trace& t, const value& x) {
    const value zeroed = t.where(x);
    const value part = t.div(t.constant({x.dim(0)}));
    const value kept = t.add(part).unsqueeze(-1).unsqueeze(-1);
    return t.to(t.div(t.mul(zeroed), kept), x.type);
}

constexpr value sum_embeddings(const site& here, trace& t) {
    value x = word_embeddings(here, t);
    if (here.dims.own[drops_tokens] != 0) x = drop_tokens(t, x);
    if (places_of(here) == places::absolute) x = t.add(x, position_embeddings(here, t, t.load().batch));
    return here.dims.own[norms_embeddings] != 0 ? t.call("layer_norm", norm<norm_kind::layer>{here.dims.hidden_size}, x) : x;
}
constexpr value embed(const site& here, trace& t) { return embed_within(here, t, sum_embeddings); }
constexpr decoder_context prepare(const site& here, trace& t) {
    return places_of(here) == places::rotary ? all_with_tables(here, t) : all_or_before(here, t);
}

/// Queries are scaled in front of their rotation, scores by one.
constexpr value attend(const site& here, trace& t, const value& x) {
    value q, k, v;
    project_in_heads(t, x, here.dims.hidden_size, here.dims.num_attention_heads, {}, q, k, v);
    q = t.mul(q);
    if (places_of(here) == places::rotary) q = turn(here, t, q), k = turn(here, t, k);
    const value mixed = eager_attention(t, q, k, v, here.shared->where, {.float_softmax = false});
    return t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const bert_layers::norm_places norms{.attention = "LayerNorm", .layer = "LayerNorm"};
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const value a = t.call("attention", bert_layers::attention_block{here, norms}, x);
    const value normed = bert_layers::normed_where_named(here, t, norms.layer, a);
    const module_info intermediate{.name = "intermediate", .type = here.type("Intermediate"), .what = role::mlp};
    t.enter(intermediate);
    const value h = t.leave(intermediate, spelled_gelu(t, t.call("dense", linear{width, inner, true}, normed)));
    return t.call("output", bert_layers::feed_forward_output{{inner, width, here.type("Output"), false}}, h, a);
}

/// The encoder; beside it a head for contacts that only its own function calls.
constexpr value encode(const site& here, trace& t) {
    const value x = encode_with(here, t, {.type = here.type("Encoder"), .last_norm = "emb_layer_norm_after"});
    const recorder::idle_guard uncalled{t};
    const module_info contacts{.name = "contact_head", .type = here.type("ContactPredictionHead")};
    const std::int64_t maps = here.dims.num_hidden_layers * here.dims.num_attention_heads;
    t.enter(contacts);
    (void)t.call("regression", linear{maps, 1, true}, t.constant({1, maps}));
    t.leave(contacts);
    return x;
}

/// Scores without a bias of the decoder's, which is added.
constexpr value score_words(const site& here, trace& t, const two_values& out) {
    const module_info lm_head{.name = "lm_head", .type = here.type("LMHead"), .what = role::head};
    const std::int64_t width = here.dims.hidden_size;
    t.enter(lm_head);
    const value bias = t.param("bias", {here.dims.vocab_size});
    value h = spelled_gelu(t, t.call("dense", linear{width, width, true}, out.first));
    h = t.call("layer_norm", norm<norm_kind::layer>{width}, h);
    const linear words{width, here.dims.vocab_size, false, here.dims.tie_word_embeddings};
    return t.leave(lm_head, t.add(t.call("decoder", words, h), bias));
}
constexpr value score(const site& here, trace& t, const two_values& out) {
    return roberta_detail::score_with(here, t, out, score_words);
}
constexpr value describe(const site& here, trace& t) {
    return describe_encoder(here, t, {.score = score, .pooled = {head_kind::none}});
}

constexpr void read(config_view config, sizes& s) {
    read_encoder_alone(config, s);
    if (config.boolean("add_cross_attention", false)) fail_value(config, "add_cross_attention", "false");
    if (config.boolean("is_folding_model", false))
        fail_unsupported(config, "is_folding_model", "no row describes a model that folds");
    s.vocab_size = config.positive("vocab_size");
    s.first_position = config.non_negative("pad_token_id") + 1;
    const string_ref kind = config.string("position_embedding_type", "absolute");
    const bool absolute = kind == "absolute", rotary = kind == "rotary";
    s.own[positions] = static_cast<std::int64_t>(absolute ? places::absolute : rotary ? places::rotary : places::none);
    if (absolute && s.first_position >= s.max_position_embeddings)
        fail_value(config, "pad_token_id", "one of the first positions");
    s.frequencies = frequency_rule::kept;  // its tables know one rule (`compute_default_rope_parameters`)
    s.rotary_dim = s.head_dim;
    if (config.positive("head_dim", s.head_dim) != s.head_dim)
        fail_value(config, "head_dim", "hidden_size / num_attention_heads");
    (void)checked_width(config, "num_hidden_layers", s.num_hidden_layers, s.num_attention_heads);
}

}  // namespace esm_detail

// transformers/models/esm: RoBERTa with norms in front of blocks, positions of several kinds
inline constexpr architecture esm = [](architecture a) {
    a.model_type = "esm", a.prefix = "Esm", a.describe = esm_detail::describe, a.read = esm_detail::read;
    a.own = esm_detail::keys, a.base = esm_detail::encode, a.embed = esm_detail::embed, a.prepare = esm_detail::prepare;
    a.layer = esm_detail::layer, a.attend = esm_detail::attend, a.rotated = rotation::half;
    a.heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification, head_kind::token_classification};
    a.names.base = "esm", a.names.rotary = "rotary_embeddings";
    a.defaults.vocab_size = 0, a.defaults.max_position_embeddings = 1026, a.defaults.type_vocab_size = 0;
    a.defaults.head = head_kind::masked_lm;
    a.drops = headless_encoder_dropout;
    return a;
}(roberta);

}  // namespace llmcost::arch
