// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/encoder.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/encoder_model.hpp>
#include <llmcost/forward/prediction_head.hpp>

namespace llmcost::arch {

namespace modernbert_detail {

/// Layer flag: the first layer, whose input is already normalized.
inline constexpr std::uint8_t first = 1;

constexpr tensor call_norm(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    return llmcost::call_norm(t, name, norm_kind::layer, ctx.config.hidden_size, {}, x,
                              ctx.config.family[modernbert_heads::norm_bias] != 0);
}

constexpr tensor embed_normed_tokens(const layer_context& ctx, trace& t) {
    const tensor token_embeddings = embedding_lookup(ctx, t, "tok_embeddings", ctx.config.vocab_size);
    return dropout(t, "drop", call_norm(ctx, t, "norm", token_embeddings), dropout_position::embeddings);
}

constexpr tensor embed(const layer_context& ctx, trace& t) { return embed_in_module(ctx, t, embed_normed_tokens); }

constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    return bidirectional_or_local(ctx, t, ctx.config.sliding_window);
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads, d = ctx.config.head_dim;
    const bool bias = ctx.config.attention_bias;
    const tensor all = t.call("Wqkv", linear{width, 3 * heads * d, bias}, x).view({x.dim(0), x.dim(1), 3, heads, d});
    query_key_value qkv{all.select(2), all.select(2), all.select(2)};
    transpose_heads(qkv);
    const tensor cos = ctx.inputs->cos.unsqueeze(1), sin = ctx.inputs->sin.unsqueeze(1);
    qkv.query = rotate_in_float32(t, qkv.query, cos, sin);
    qkv.key = rotate_in_float32(t, qkv.key, cos, sin);
    const tensor out = t.call("Wo", linear{width, width, bias}, bidirectional_sdpa(ctx, t, qkv, true));
    if (ctx.config.family[modernbert_heads::drops_attention] == 0) return t.call("out_drop", identity{}, out);
    return dropout(t, "out_drop", out, dropout_position::attention);
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    const bool bias = ctx.config.mlp_bias;
    const tensor normed = ctx.layer.family_tag == first ? t.call("attn_norm", identity{"Identity"}, x)
                                                        : call_norm(ctx, t, "attn_norm", x);
    const tensor middle = t.add(x, attention_token_mixer(ctx, t, normed));
    const tensor ready = call_norm(ctx, t, "mlp_norm", middle);
    const module_info mlp{.name = "mlp", .class_of_module = ctx.class_of("MLP"), .module_role = role::mlp};
    t.enter(mlp);
    const tensor half = t.call("Wi", linear{width, 2 * inner, bias}, ready).slice(-1, inner);
    const tensor h = t.mul(t.call("act", activation_module{ctx.config.hidden_act}, half), half);
    const tensor dropped = dropout(t, "drop", h, dropout_position::mlp);
    return t.add(middle, t.leave(mlp, t.call("Wo", linear{inner, width, bias}, dropped)));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    return call_norm(ctx, t, "final_norm", forward_layers(ctx, t, shared, x));
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const model_config& config = ctx.config;
    const auto classify = [&](std::int64_t labels, const tensor& x) {
        const tensor h =
            dropout(t, "drop", modernbert_heads::transform(ctx, t, "head", x), dropout_position::classifier);
        return t.call("classifier", head_linear{{config.hidden_size, labels, true}}, h);
    };
    switch (config.head) {
        case head_kind::sequence_classification:
            return classify(config.num_labels,
                            modernbert_heads::pool(t, out.first, config.family[modernbert_heads::pools_mean] != 0));
        case head_kind::token_classification: return classify(config.num_labels, out.first);
        // the first states are copied, picked by an index
        case head_kind::multiple_choice:
            return classify(1, t.gather(out.first, {out.first.dim(0), config.hidden_size}));
        case head_kind::question_answering:
            return question_answering_logits(t,
                                             dropout(t, "drop", modernbert_heads::transform(ctx, t, "head", out.first),
                                                     dropout_position::classifier),
                                             "classifier");
        default: break;
    }
    const linear lm_head{config.hidden_size, config.vocab_size, config.family[modernbert_heads::decoder_bias] != 0,
                         config.tie_word_embeddings};
    return t.call("decoder", head_linear{lm_head},
                  modernbert_heads::transform(ctx, t, "head", logits_to_keep(t, out.first)));
}

constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, {.score = score}); }

/// Sets the layer kinds. Without a list, one in every `global_attn_every_n_layers` layers (default 3) has full
/// attention. `local_attention` is the full window width.
constexpr void plan(config_view json, model_config& config) {
    config.sliding_window = json.non_negative("sliding_window", json.non_negative("local_attention", 128) / 2);
    const std::int64_t every = json.positive("global_attn_every_n_layers", 3);
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        const bool full = listed ? listed_layers[i].token_mixer == token_mixer_kind::full_attention : i % every == 0;
        return layer_spec{.token_mixer = full ? token_mixer_kind::full_attention : token_mixer_kind::sliding_attention,
                          .family_tag = i == 0 ? first : std::uint8_t{0}};
    });
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_encoder(json, config);
    plan(json, config);
    config.rotary_dim = config.head_dim;
    if (const auto name = json.optional_string("classifier_activation"))
        config.family[modernbert_heads::classifier_act] =
            static_cast<std::int64_t>(activation_named(json, "classifier_activation", *name));
    const string_ref pooling = json.string("classifier_pooling", "cls");
    config.family[modernbert_heads::pools_mean] = pooling == "mean";
    if (pooling != "mean" && pooling != "cls") throw_invalid_value(json, "classifier_pooling", "\"cls\" or \"mean\"");
    if (config.head == head_kind::multiple_choice && pooling == "mean")
        throw_unsupported(json, "classifier_pooling",
                          "mean pooling without a mask is not supported by the reference for multiple choice");
    config.family[modernbert_heads::drops_attention] = json.real("attention_dropout", 0) > 0;
}

}  // namespace modernbert_detail

// transformers/models/modernbert: configuration_modernbert.py, modeling_modernbert.py
inline constexpr model_spec modernbert = [](model_spec spec) {
    spec.model_type = "modernbert";
    spec.class_prefix = "ModernBert";
    spec.forward = modernbert_detail::forward;
    spec.parse_config = modernbert_detail::parse_config;
    spec.family_keys = modernbert_heads::family_keys;
    spec.base_model = modernbert_detail::base;
    spec.embed_tokens = modernbert_detail::embed;
    spec.prepare_inputs = modernbert_detail::prepare_inputs;
    spec.decoder_layer = modernbert_detail::decoder_layer;
    spec.attention = modernbert_detail::attention;
    spec.token_mixer = attention_token_mixer;
    spec.rotary = rotary_style::rotate_half;
    spec.has_rotary_per_token_mixer = true;
    spec.supported_layers = attention_layers;
    spec.supported_layers.max_family_tag = modernbert_detail::first;
    spec.has_float32_masked_lm_loss = true;
    spec.supported_heads = {head_kind::none,
                            head_kind::masked_lm,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.layers = "layers";
    spec.names.layer_class = "EncoderLayer";
    spec.names.attention = "attn";
    spec.config_keys.add("hidden_act", "hidden_activation", key_rule::family_name_only);
    spec.defaults.vocab_size = 50368;
    spec.defaults.hidden_size = 768;
    spec.defaults.intermediate_size = 1152;
    spec.defaults.num_hidden_layers = 22;
    spec.defaults.num_attention_heads = 12;
    spec.defaults.max_position_embeddings = 8192;
    spec.defaults.hidden_act = activation::gelu;
    spec.defaults.head = head_kind::masked_lm;
    spec.defaults.tie_word_embeddings = true;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.dropout_keys = modernbert_heads::dropout_rates;
    return spec;
}(shared_encoder);

}  // namespace llmcost::arch
