// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>

// GPT-NeoX Japanese. Derived from the default decoder.
//
// Source: transformers/models/gpt_neox_japanese: configuration_gpt_neox_japanese.py, modeling_gpt_neox_japanese.py

namespace llmcost::arch {

namespace gpt_neox_japanese_detail {

/// `family_tag` of the last layer, whose attention has an output bias.
inline constexpr std::uint8_t last = 1;

/// Attention with scores scaled inside a matmul that adds zeros (`baddbmm`).
constexpr tensor baddbmm_attention(const layer_context& ctx, trace& t, const query_key_value& qkv) {
    const attention_pattern& pattern = ctx.inputs->pattern;
    const std::int64_t batch = qkv.query.dim(0), heads = qkv.query.dim(1), sequence = qkv.query.dim(2),
                       length = qkv.key.dim(2);
    const recorder::fused_kernel_guard fused{t, fused_attention_kernel(qkv.query, heads, pattern, length)};
    const bool sparse = t.load().attention == attention_scores::causal;
    const std::int64_t d = ctx.config.head_dim;
    const tensor rows = qkv.query.view({batch * heads, sequence, d}),
                 columns = qkv.key.view({batch * heads, length, d});
    const op product = d == 1 ? op::batched_matmul_bias : op::batched_matmul_bias_scaled;
    tensor scores = t.bmm(product, rows, columns.transpose(1, 2), sparse ? pattern.visible_pairs() : 0);
    t.add_written_elements(scores.numel);  // the zeros
    scores = scores.view({batch, heads, sequence, length});
    if (!sparse) scores = t.add(scores, ctx.inputs->mask);
    const tensor probabilities =
        t.to(dropout(t, "attention_dropout", t.softmax(scores), dropout_position::attention), qkv.value.type);
    return t.contiguous(t.matmul(probabilities, qkv.value).transpose(1, 2));
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const std::int64_t width = config.hidden_size, d = config.head_dim;
    if (ctx.layer.family_tag == last) (void)t.param("dense_bias", {width});
    const tensor all = t.call("query_key_value", linear{width, 3 * width}, x)
                           .view({x.dim(0), x.dim(1), config.num_attention_heads, 3 * d});
    query_key_value qkv;
    for (tensor* const operand : {&qkv.query, &qkv.key, &qkv.value}) *operand = t.slice(all, -1, d).transpose(1, 2);
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    const tensor flat = baddbmm_attention(ctx, t, qkv).view({x.dim(0), x.dim(1), width});
    return t.call("dense", linear{width, width}, flat);
}

/// Decoder layer. The last layer adds the attention's bias before the residual.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    tensor a = mix_tokens(ctx, t, apply_norm(ctx, t, "input_layernorm", x));
    if (ctx.layer.family_tag == last) {
        tensor bias = empty_tensor({ctx.config.hidden_size}, t.activation_type());
        bias.requires_grad = t.is_training();
        a = t.add(a, bias.expand({x.dim(0), x.dim(1), ctx.config.hidden_size}));
    }
    const tensor middle = add_residual_with_dropout(ctx, t, x, a);
    const tensor f = ctx.spec.mlp(ctx, t, apply_norm(ctx, t, "post_attention_layernorm", middle));
    return add_residual_with_dropout(ctx, t, middle, f);
}

/// Parses `config.json`. The rotary part of a head is `partial_rotary_factor`, else `rotary_pct`, else the complete
/// head.
constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    const auto width = static_cast<double>(config.head_dim);  // only the rotary tables use `head_dim`
    divide_by_heads(json, config, {"num_attention_heads"});
    if (width != static_cast<double>(config.head_dim))
        throw_invalid_value(json, "head_dim", "hidden_size / num_attention_heads");
    const auto rope = detail::rope_parameters(json);
    const bool stated = rope && rope->contains("partial_rotary_factor");
    const config_view place = stated ? *rope : json;
    const literal key = stated ? "partial_rotary_factor" : "rotary_pct";
    const double factor = detail::has_rope_type(json, "proportional") ? 1 : place.real(key, 1.0);
    if (!(factor > 0 && factor <= 1)) throw_invalid_value(place, key, "a fraction of a head above 0 and at most 1");
    config.rotary_dim = static_cast<std::int64_t>(width * factor);
    if (config.rotary_dim == 0 || config.rotary_dim % 2 != 0)
        throw_unsupported(place, key, "an odd number of rotary elements is not supported");
    config.intermediate_size = checked_size(json, "intermediate_multiple_size",
                                            json.positive("intermediate_multiple_size", 4), config.hidden_size);
    const token_mixer_kind mixer = config.layers[0].token_mixer;
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{.token_mixer = mixer,
                          .family_tag = i + 1 == config.num_hidden_layers ? last : std::uint8_t{}};
    });
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "hidden_dropout"},
                                             {dropout_position::attention, "attention_dropout", 0.1}};

}  // namespace gpt_neox_japanese_detail

inline constexpr model_spec gpt_neox_japanese = [](model_spec spec) {
    spec.model_type = "gpt_neox_japanese";
    spec.class_prefix = "GPTNeoXJapanese";
    spec.parse_config = gpt_neox_japanese_detail::parse_config;
    spec.decoder_layer = gpt_neox_japanese_detail::decoder_layer;
    spec.attention = gpt_neox_japanese_detail::attention;
    spec.supported_layers.max_family_tag = gpt_neox_japanese_detail::last;
    spec.supported_heads = language_heads;
    spec.norm = norm_kind::layer;
    spec.dense_mlp = mlp_kind::plain;
    spec.has_partial_rotary = true;
    spec.names.base_model = "gpt_neox_japanese";
    spec.names.lm_head = "embed_out";
    spec.names.embed_tokens = "embed_in";
    spec.names.norm = "final_layer_norm";
    spec.names.attention = "attention";
    spec.names.layer_class = "Layer";
    spec.names.mlp_modules = {.up = "dense_h_to_4h", .down = "dense_4h_to_h", .act = "act"};
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 32000;
    spec.defaults.hidden_size = 2560;
    spec.defaults.num_hidden_layers = 32;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.max_position_embeddings = 2048;
    spec.defaults.hidden_act = activation::gelu;
    spec.defaults.tie_word_embeddings = true;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.dropout_keys = gpt_neox_japanese_detail::dropout_rates;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
