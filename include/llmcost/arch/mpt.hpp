// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>

namespace llmcost::arch {

namespace mpt_detail {

/// Biases by distance of all positions that there may be, (heads, 1, positions) (modeling_mpt.py,
/// `build_mpt_alibi_tensor`).
constexpr tensor biases(trace& t, std::int64_t heads, std::int64_t positions) {
    std::int64_t closest = 1;
    while (closest < heads) closest *= 2;
    const tensor base = t.mul_scalar(t.full({closest}));
    tensor slopes = t.mul_scalar(t.reciprocal(t.pow_scalar(base)));
    if (closest != heads) slopes = t.cat({slopes}, 0).slice(0, heads);
    return t.mul(slopes.view({heads, 1, 1}), trace::buffer({positions}));
}

/// Scores, biases by distance, and the lowest number where a mask hides them.
constexpr tensor alibi_attention(const layer_context& ctx, trace& t, const query_key_value& qkv) {
    const attention_inputs& s = *ctx.inputs;
    const recorder::fused_kernel_guard fused{
        t, fused_attention_kernel(qkv.query, qkv.key.dim(1), s.pattern, qkv.key.dim(2))};
    const bool sparse = t.load().attention == attention_scores::causal;
    tensor scores = t.mul_scalar(t.matmul(qkv.query, qkv.key.transpose(2, 3), sparse ? s.pattern.visible_pairs() : 0));
    scores = t.add(scores, s.family_tensors[0].slice(-1, qkv.key.dim(2)));
    if (!sparse) scores = t.masked_fill(scores);
    const tensor probabilities = t.to(t.softmax(t.to(scores, dtype::float32)), qkv.value.type);
    return t.contiguous(
        t.matmul(functional_dropout(t, probabilities, dropout_position::attention), qkv.value).transpose(1, 2));
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, batch = x.dim(0), sequence = x.dim(1), d = ctx.config.head_dim;
    tensor all = t.call("Wqkv", linear{width, 3 * width}, x);
    if (ctx.config.clamps_qkv) all = t.clamp(all);
    const tensor part = all.slice(-1, width).view({batch, sequence, ctx.config.num_attention_heads, d}).transpose(1, 2);
    query_key_value qkv{part, part, part};
    update_kv_cache(ctx, t, qkv);
    return t.call("out_proj", linear{width, width}, alibi_attention(ctx, t, qkv).view({batch, sequence, width}));
}

/// The feed-forward block adds the residual itself.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    const norm_module without_bias{norm_kind::layer, width, {}, true, false};
    tensor h = mix_tokens(ctx, t, t.call("norm_1", without_bias, x));
    const tensor middle = t.add(dropout(t, "resid_attn_dropout", h, dropout_position::attention), x);
    h = t.call("norm_2", without_bias, middle);
    const module_info block{.name = "ffn", .class_of_module = ctx.class_of("MLP"), .module_role = role::mlp};
    t.enter(block);
    h = t.call("act", gelu_module{}, t.call("up_proj", linear{width, inner}, h));
    h = functional_dropout(t, t.call("down_proj", linear{inner, width}, h), dropout_position::attention);
    return t.leave(block, t.add(h, middle));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = embed_tokens(ctx, t);
    const std::int64_t max_positions = ctx.config.max_position_embeddings;
    t.check_positions(max_positions, t.load().past + t.load().sequence);
    const tensor by_distance = biases(t, ctx.config.num_attention_heads, max_positions);
    decoder_inputs shared = make_masks(ctx, t);
    shared.full.family_tensors[0] = shared.sliding.family_tensors[0] = by_distance;
    const norm_module without_bias{norm_kind::layer, ctx.config.hidden_size, {}, true, false};
    return t.call("norm_f", without_bias, forward_layers(ctx, t, shared, x));
}

/// Parses `config.json`. Attention settings are in a nested object. The reference ignores the expansion ratio of the
/// block.
constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    divide_by_heads(json, config, {"n_heads", "num_attention_heads"});
    config.intermediate_size = 4 * config.hidden_size;
    const auto attention = json.optional_object("attn_config");
    if (attention) set_rate(config.dropout_positions, dropout_position::attention, attention->real("attn_pdrop", 0));
    config.clamps_qkv = attention && attention->real("clip_qkv", 0) != 0;
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::classifier, "hidden_dropout", 0.1},
                                             {dropout_position::classifier, "classifier_dropout", same_as_previous}};

}  // namespace mpt_detail

// transformers/models/mpt: configuration_mpt.py, modeling_mpt.py; linear biases by distance, norms without biases
inline constexpr model_spec mpt = [](model_spec spec) {
    spec.model_type = "mpt";
    spec.class_prefix = "Mpt";
    spec.parse_config = mpt_detail::parse_config;
    spec.supported_heads = decoder_heads;
    spec.base_model = mpt_detail::base;
    spec.decoder_layer = mpt_detail::decoder_layer;
    spec.attention = mpt_detail::attention;
    spec.norm = norm_kind::layer;
    spec.rotary = rotary_style::none;
    spec.names.base_model = "transformer";
    spec.names.token_classifier = "classifier";
    spec.names.embed_tokens = "wte";
    spec.names.layers = "blocks";
    spec.names.layer_class = "Block";
    spec.names.attention = "attn";
    spec.config_keys.add("hidden_size", "d_model", key_rule::standard_name_first);
    spec.config_keys.add("num_attention_heads", "n_heads", key_rule::standard_name_first);
    spec.config_keys.add("num_hidden_layers", "n_layers", key_rule::standard_name_first);
    spec.config_keys.add("max_position_embeddings", "max_seq_len", key_rule::family_name_only);
    spec.defaults.vocab_size = 50368;
    spec.defaults.hidden_size = 2048;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 2048;
    spec.defaults.hidden_act = activation::gelu;
    spec.defaults.tie_word_embeddings = true;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.dropout_keys = mpt_detail::dropout_rates;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
