// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gpt2.hpp>
#include <llmcost/forward/float32_attention.hpp>

// GPT-Neo. Derived from GPT-2, with local attention by a table, and scores without a scale.
//
// Source: transformers/models/gpt_neo: configuration_gpt_neo.py, modeling_gpt_neo.py

namespace llmcost::arch {

namespace gpt_neo_detail {

enum family_config_index : std::uint8_t { window };

inline constexpr family_key family_keys[]{{"window_size", 256}};

/// `family_tag` of layers with local attention. Their KV cache and matmuls have the size of global attention.
inline constexpr std::uint8_t local = 1;

/// Attention without a scale. A table replaces hidden scores by the lowest number; the mask is added afterwards.
constexpr tensor masked_attention(const layer_context& ctx, trace& t, const query_key_value& qkv) {
    attention_pattern pattern = ctx.inputs->pattern;
    if (ctx.layer.family_tag == local) pattern.window = ctx.config.family[window];
    return float32_attention(ctx, t, qkv, pattern, score_step::hide_then_mask);
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size;
    const module_info inner{
        .name = "attention", .class_of_module = ctx.class_of("SelfAttention"), .module_role = role::attn};
    t.enter(inner);
    t.register_buffer({ctx.config.max_position_embeddings, ctx.config.max_position_embeddings}, dtype::int8);  // `bias`
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    update_kv_cache(ctx, t, qkv);
    const tensor flat = masked_attention(ctx, t, qkv).view({x.dim(0), x.dim(1), width});
    return t.leave(inner, dropout(t, "resid_dropout", t.call("out_proj", linear{width, width, true}, flat)));
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return mlp_with_dropout(ctx, t, x, "c_fc", "c_proj");
}

/// Prepares the decoder inputs. With causal counting, windows change the cost, although the KV cache has no window.
constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    if (t.load().attention == attention_scores::causal && ctx.config.layers.is_heterogeneous())
        (void)attention_pattern_of(t, ctx.config.family[window]);
    return make_masks(ctx, t);
}

/// Parses `config.json`. `attention_types` contains lists of layer kinds with repetition counts.
///
/// Source: transformers, configuration_gpt_neo.py, `expand_attention_types_params`.
constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    const token_mixer_kind mixer = config.layers[0].token_mixer;
    divide_by_heads(json, config, {"num_heads", "num_attention_heads"});
    if (config.intermediate_size == 0) config.intermediate_size = 4 * config.hidden_size;
    config.attention_bias = false;
    constexpr literal key = "attention_types";
    std::int64_t planned = 0;
    const auto plan = [&](string_ref name) {
        if (name != "global" && name != "local") throw_unsupported(json, key, "unsupported layer type");
        if (planned < config.num_hidden_layers)
            set_layer(json, config, planned,
                      {.token_mixer = mixer, .family_tag = name == "local" ? local : std::uint8_t{}});
        ++planned;
    };
    const auto list = json.optional_array(key);
    if (list) {
        for (const config_view entry : *list)
            for (std::int64_t n = entry[1].as_non_negative(); n > 0 && planned <= config.num_hidden_layers; --n)
                for (const config_view layer_type : entry[0].as_array()) plan(layer_type.as_string());
    } else {
        for (int n = 0; n < 12; ++n) {
            plan("global");
            plan("local");
        }
    }
    if (planned != config.num_hidden_layers)
        throw_invalid_value(json, list ? key : "num_layers", "as many kinds of attention as layers");
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "resid_dropout"},
                                             {dropout_position::embeddings, "embed_dropout"},
                                             {dropout_position::attention, "attention_dropout"},
                                             {dropout_position::classifier, "classifier_dropout", 0.1}};

}  // namespace gpt_neo_detail

inline constexpr model_spec gpt_neo = [](model_spec spec) {
    spec.model_type = "gpt_neo";
    spec.class_prefix = "GPTNeo";
    spec.parse_config = gpt_neo_detail::parse_config;
    spec.family_keys = gpt_neo_detail::family_keys;
    spec.prepare_inputs = gpt_neo_detail::prepare_inputs;
    spec.attention = gpt_neo_detail::attention;
    spec.mlp = gpt_neo_detail::mlp;
    spec.supported_layers.max_family_tag = gpt_neo_detail::local;
    spec.names.causal_lm_class = "ForCausalLM";
    spec.config_keys.remove("hidden_size");
    spec.config_keys.remove("num_attention_heads");
    spec.config_keys.add("num_attention_heads", "num_heads", key_rule::standard_name_first);
    spec.config_keys.remove("max_position_embeddings");
    spec.config_keys.remove("num_hidden_layers");
    spec.config_keys.add("num_hidden_layers", "num_layers", key_rule::standard_name_first);
    spec.config_keys.remove("intermediate_size");
    spec.defaults.hidden_size = 2048;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 2048;
    spec.dropout_keys = gpt_neo_detail::dropout_rates;
    return spec;
}(gpt2);

}  // namespace llmcost::arch
