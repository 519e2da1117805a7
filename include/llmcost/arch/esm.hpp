// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/roberta.hpp>
#include <llmcost/forward/roberta_heads.hpp>

// ESM. Derived from RoBERTa, with pre-norm layers and several kinds of positions.
//
// Source: transformers/models/esm

namespace llmcost::arch {

namespace esm_detail {

enum class places : std::uint8_t { none, absolute, rotary };
enum family_config_index : std::uint8_t { positions, norms_embeddings, drops_tokens };
inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},  // `places`
    {"emb_layer_norm_before", 0, family_key_type::boolean},
    {"token_dropout", 0, family_key_type::boolean},
};
[[nodiscard]] constexpr places places_of(const layer_context& ctx) {
    return static_cast<places>(ctx.config.family[positions]);
}

/// GELU from separate operations: x · 0.5 · (1 + erf(x / √2)).
constexpr tensor spelled_gelu(trace& t, const tensor& x) {
    const tensor half = t.mul_scalar(x);
    return t.mul(half, t.add_scalar(t.erf(t.div_scalar(x))));
}

/// Token dropout: sets masked tokens to zero and rescales the others by the share of unmasked tokens.
constexpr tensor drop_tokens(trace& t, const tensor& x) {
    const tensor zeroed = t.masked_fill(x);
    const tensor part = t.div_scalar(t.full({x.dim(0)}));
    const tensor unmasked_ratio = t.add_scalar(part).unsqueeze(-1).unsqueeze(-1);
    return t.to(t.div(t.mul_scalar(zeroed), unmasked_ratio), x.type);
}

constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    register_position_ids(ctx, t);
    tensor x = word_embeddings(ctx, t);
    if (ctx.config.family[drops_tokens] != 0) x = drop_tokens(t, x);
    if (places_of(ctx) == places::absolute) x = t.add(x, position_embeddings(ctx, t, t.load().batch));
    return ctx.config.family[norms_embeddings] != 0
               ? t.call("layer_norm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x)
               : x;
}
constexpr tensor embed(const layer_context& ctx, trace& t) { return embed_in_module(ctx, t, sum_embeddings); }
constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    if (places_of(ctx) != places::rotary) return causal_or_bidirectional(ctx, t);
    decoder_inputs c;
    c.full.pattern = full_pattern(t.load().sequence).pattern;
    const rotary_table table{.dim = ctx.config.rotary_dim,
                             .named = ctx.class_of(ctx.spec.names.rotary_class),
                             .frequencies = rotary_frequencies{ctx.config},
                             .copies_frequencies = false};
    const tensor_pair made = t.call(ctx.spec.names.rotary, table, t.load().sequence);
    c.full.cos = made.first;
    c.full.sin = made.second;
    return c;
}

/// Self-attention. Queries are scaled before RoPE; the scores are not scaled.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    tensor q, k, v;
    project_to_heads(t, x, ctx.config.hidden_size, ctx.config.num_attention_heads, {}, q, k, v);
    q = t.mul_scalar(q);
    if (places_of(ctx) == places::rotary) {
        const tensor cos = ctx.inputs->cos.unsqueeze(1), sin = ctx.inputs->sin.unsqueeze(1);
        q = rotate_in_float32(t, q, cos, sin);
        k = rotate_in_float32(t, k, cos, sin);
    }
    const tensor mixed = attention_forward(t, q, k, v, ctx.inputs->pattern, {.has_float32_softmax = false});
    return t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const bert_layers::norm_places norms{.attention = "LayerNorm", .layer = "LayerNorm"};
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    const tensor a = t.call("attention", bert_layers::attention_block{ctx, norms}, x);
    const tensor normed = bert_layers::apply_norm_if_named(ctx, t, norms.layer, a);
    const module_info intermediate{.name = "intermediate",
                                   .class_of_module = ctx.class_of("Intermediate"),
                                   .module_role = role::mlp,
                                   .continues_block = true};
    t.enter(intermediate);
    const tensor h = t.leave(intermediate, spelled_gelu(t, t.call("dense", linear{width, inner, true}, normed)));
    return t.call("output", bert_layers::mlp_output{{inner, width, ctx.class_of("Output"), false}}, h, a);
}

/// Encodes tokens. The contact prediction head is declared but not executed.
constexpr tensor encode(const layer_context& ctx, trace& t) {
    const tensor x =
        forward_encoder_with(ctx, t, {.type = ctx.class_of("Encoder"), .last_norm = "emb_layer_norm_after"});
    const recorder::not_executed_guard uncalled{t};
    const module_info contacts{.name = "contact_head", .class_of_module = ctx.class_of("ContactPredictionHead")};
    const std::int64_t maps = ctx.config.num_hidden_layers * ctx.config.num_attention_heads;
    t.enter(contacts);
    (void)t.call("regression", linear{maps, 1, true}, t.full({1, maps}));
    t.leave(contacts);
    return x;
}

/// Masked-language-modeling logits. The bias is a separate parameter, added after the decoder.
constexpr tensor lm_head_logits(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const module_info lm_head{.name = "lm_head", .class_of_module = ctx.class_of("LMHead"), .module_role = role::head};
    const std::int64_t width = ctx.config.hidden_size;
    t.enter(lm_head);
    const tensor bias = t.param("bias", {ctx.config.vocab_size});
    tensor h = spelled_gelu(t, t.call("dense", linear{width, width, true}, out.first));
    h = t.call("layer_norm", norm_module{norm_kind::layer, width}, h);
    const linear token_head{width, ctx.config.vocab_size, false, ctx.config.tie_word_embeddings};
    return t.leave(lm_head, t.add(t.call("decoder", token_head, h), bias));
}
constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return roberta_heads::score_with(ctx, t, out, lm_head_logits);
}
constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_encoder_model(ctx, t, {.score = score, .pooled = {head_kind::none}});
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_encoder_only(json, config);
    if (json.boolean("add_cross_attention", false)) throw_invalid_value(json, "add_cross_attention", "false");
    if (json.boolean("is_folding_model", false))
        throw_unsupported(json, "is_folding_model", "ESMFold is not supported");
    config.vocab_size = json.positive("vocab_size");
    config.position_offset = json.non_negative("pad_token_id") + 1;
    const string_ref kind = json.string("position_embedding_type", "absolute");
    const bool absolute = kind == "absolute", rotary = kind == "rotary";
    config.family[positions] = static_cast<std::int64_t>(absolute ? places::absolute
                                                         : rotary ? places::rotary
                                                                  : places::none);
    if (absolute && config.position_offset >= config.max_position_embeddings)
        throw_invalid_value(json, "pad_token_id", "below max_position_embeddings - 1");
    config.rope_scaling = rope_scaling_kind::none;  // `compute_default_rope_parameters` is the only rule
    config.rotary_dim = config.head_dim;
    if (json.positive("head_dim", config.head_dim) != config.head_dim)
        throw_invalid_value(json, "head_dim", "hidden_size / num_attention_heads");
    (void)checked_size(json, "num_hidden_layers", config.num_hidden_layers, config.num_attention_heads);
}

}  // namespace esm_detail

inline constexpr model_spec esm = [](model_spec spec) {
    spec.model_type = "esm";
    spec.class_prefix = "Esm";
    spec.forward = esm_detail::forward;
    spec.parse_config = esm_detail::parse_config;
    spec.family_keys = esm_detail::family_keys;
    spec.base_model = esm_detail::encode;
    spec.embed_tokens = esm_detail::embed;
    spec.prepare_inputs = esm_detail::prepare_inputs;
    spec.decoder_layer = esm_detail::decoder_layer;
    spec.attention = esm_detail::attention;
    spec.rotary = rotary_style::rotate_half;
    spec.supported_heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification,
                            head_kind::token_classification};
    spec.names.base_model = "esm";
    spec.names.rotary = "rotary_embeddings";
    spec.defaults.vocab_size = 0;
    spec.defaults.max_position_embeddings = 1026;
    spec.defaults.type_vocab_size = 0;
    spec.defaults.head = head_kind::masked_lm;
    spec.dropout_keys = headless_encoder_dropout;
    return spec;
}(roberta);

}  // namespace llmcost::arch
