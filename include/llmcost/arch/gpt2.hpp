// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/conv_1d_mlp.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/layers/conv_1d.hpp>

namespace llmcost::arch {

namespace gpt2_detail {

enum family_config_index : std::uint8_t { upcast_attention };

inline constexpr family_key family_keys[]{{"reorder_and_upcast_attn", 0, family_key_type::boolean}};

/// Attention with scores in float32, scaled inside the matmul (`_upcast_and_reordered_attn`).
constexpr tensor upcast_and_reordered_attention(const layer_context& ctx, trace& t, const query_key_value& qkv) {
    const attention_pattern& pattern = ctx.inputs->pattern;
    const std::int64_t batch = qkv.query.dim(0), heads = qkv.query.dim(1), sequence = qkv.query.dim(2),
                       length = qkv.key.dim(2);
    const recorder::fused_kernel_guard fused{t, fused_attention_kernel(qkv.query, heads, pattern, length)};
    const bool sparse = t.load().attention == attention_scores::causal;
    const std::int64_t d = ctx.config.head_dim;
    const tensor rows = t.to(t.reshape(qkv.query, {-1, sequence, d}), dtype::float32);
    const tensor columns = t.to(t.reshape(qkv.key.transpose(2, 3), {-1, d, length}), dtype::float32);
    tensor scores = t.bmm(op::batched_matmul_scaled, rows, columns, sparse ? pattern.visible_pairs() : 0);
    t.add_written_elements(scores.numel);  // an empty tensor of the same size, which the matmul does not read
    scores = scores.view({batch, heads, sequence, length});
    if (!sparse) scores = t.add(scores, ctx.inputs->mask);
    const tensor probabilities =
        dropout(t, "attn_dropout", t.to(t.softmax(scores), qkv.value.type), dropout_position::attention);
    const tensor mixed = t.matmul(probabilities, qkv.value).transpose(1, 2);
    return t.contiguous(t.reshape(mixed, {batch, sequence, -1}));
}

/// Self-attention from a fused projection.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, batch = x.dim(0), sequence = x.dim(1),
                       inner = ctx.config.num_attention_heads * ctx.config.head_dim;
    const tensor fused = t.call("c_attn", conv_1d{width, 3 * inner}, x);
    const tensor part = fused.slice(-1, inner).view({batch, sequence, -1, ctx.config.head_dim}).transpose(1, 2);
    query_key_value qkv{part, part, part};
    update_kv_cache(ctx, t, qkv);
    const tensor flat = ctx.config.family[upcast_attention]
                            ? upcast_and_reordered_attention(ctx, t, qkv)
                            : scaled_dot_product_attention(ctx, t, qkv, {.has_float32_softmax = false});
    return dropout(t, "resid_dropout", t.call("c_proj", conv_1d{inner, width}, flat));
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return t.call(ctx.spec.names.mlp, conv_1d_mlp{ctx}, x);
}

/// Sums token embeddings and learned position embeddings.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t max_positions = ctx.config.max_position_embeddings;
    const tensor token_embeddings = embed_tokens(ctx, t);
    t.check_positions(max_positions, load.past + load.sequence);
    const tensor places = t.call(
        "wpe",
        embedding{.num_embeddings = max_positions, .embedding_dim = ctx.config.hidden_size, .creates_indices = true},
        shape{1, load.sequence});
    return dropout(t, "drop", t.add(token_embeddings, places), dropout_position::embeddings);
}

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    divide_by_heads(json, config, {"n_head", "num_attention_heads"});
    if (config.intermediate_size == 0) config.intermediate_size = 4 * config.hidden_size;
    if (json.boolean("add_cross_attention", false))
        throw_unsupported(json, "add_cross_attention", "cross-attention is not supported by this model type");
    if (config.family[upcast_attention] && (config.head_dim == 1 || !json.boolean("scale_attn_weights", true)))
        throw_unsupported(json, "reorder_and_upcast_attn",
                          "reorder_and_upcast_attn without scale_attn_weights is not supported");
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "resid_pdrop", 0.1},
                                             {dropout_position::embeddings, "embd_pdrop", 0.1},
                                             {dropout_position::attention, "attn_pdrop", 0.1},
                                             {dropout_position::classifier, "hidden_dropout", 0.1},
                                             {dropout_position::classifier, "classifier_dropout", same_as_previous}};

}  // namespace gpt2_detail

// GPT-2. Derived from the default decoder, with learned positions and fused, transposed projections.
//
// Source: transformers/models/gpt2: configuration_gpt2.py, modeling_gpt2.py
inline constexpr model_spec gpt2 = [](model_spec spec) {
    spec.model_type = "gpt2";
    spec.class_prefix = "GPT2";
    spec.parse_config = gpt2_detail::parse_config;
    spec.family_keys = gpt2_detail::family_keys;
    spec.dropout_keys = gpt2_detail::dropout_rates;
    spec.embed_tokens = gpt2_detail::embed;
    spec.attention = gpt2_detail::attention;
    spec.mlp = gpt2_detail::mlp;
    spec.norm = norm_kind::layer;
    spec.rotary = rotary_style::none;
    spec.supported_heads = answering_decoder_heads;
    spec.names.base_model = spec.names.base_model_for_question_answering = "transformer";
    spec.names.token_classifier = "classifier";
    spec.names.causal_lm_class = "LMHeadModel";
    spec.names.embed_tokens = "wte";
    spec.names.layers = "h";
    spec.names.norm = "ln_f";
    spec.names.layer_class = "Block";
    spec.names.attention = "attn";
    spec.names.pre_attention_norm = "ln_1";
    spec.names.pre_mlp_norm = "ln_2";
    spec.config_keys.add("hidden_size", "n_embd", key_rule::standard_name_first);
    spec.config_keys.add("max_position_embeddings", "n_positions", key_rule::standard_name_first);
    spec.config_keys.add("num_attention_heads", "n_head", key_rule::standard_name_first);
    spec.config_keys.add("num_hidden_layers", "n_layer", key_rule::standard_name_first);
    spec.config_keys.add("intermediate_size", "n_inner", key_rule::family_name_only);
    spec.config_keys.add("hidden_act", "activation_function", key_rule::family_name_only);
    spec.defaults.vocab_size = 50257;
    spec.defaults.hidden_size = 768;
    spec.defaults.num_hidden_layers = 12;
    spec.defaults.num_attention_heads = 12;
    spec.defaults.max_position_embeddings = 1024;
    spec.defaults.hidden_act = activation::gelu_new;
    spec.defaults.tie_word_embeddings = true;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
