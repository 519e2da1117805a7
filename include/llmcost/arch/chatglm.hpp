// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/glm.hpp>

// ChatGLM. Derived from GLM, with these differences:
//  - one projection for queries, keys and values;
//  - interleaved RoPE on two separate tensors.
//
// Source: modeling_chatglm.py of THUDM/chatglm2-6b, chatglm3-6b, glm-4-9b-chat

namespace llmcost::arch {

namespace chatglm_detail {

/// Token embeddings, layers and final norm, each in its own module.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const module_info embedding_module{
        .name = "embedding", .class_of_module = {"", "Embedding"}, .module_role = role::embedding};
    const module_info encoder{.name = "encoder", .class_of_module = {"", "GLMTransformer"}};
    t.enter(embedding_module);
    tensor x = t.leave(embedding_module, embed_tokens(ctx, t));
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    t.enter(encoder);
    x = apply_norm(ctx, t, ctx.spec.names.norm, forward_layers(ctx, t, shared, x));
    return t.leave(encoder, x);
}

/// Traces the model. The output layer belongs to the base model, not to a head.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    const module_info model_info{.class_of_module = ctx.class_of(name_of(head_kind::conditional_generation))};
    const module_info transformer{.name = "transformer", .class_of_module = ctx.class_of("Model")};
    t.enter(model_info);
    t.enter(transformer);
    const tensor x = base(ctx, t);
    const tensor out = t.leave(transformer, lm_head_logits(ctx, t, x));
    return t.leave(model_info, t.select_model_output(x, out));
}

/// Parses `config.json`. Rejects the first generation (ChatGLM-6B) and options that no published checkpoint uses.
constexpr void parse_config(config_view json, model_config& config) {
    if (json.contains("inner_hidden_size") || json.contains("position_encoding_2d"))
        throw_unsupported(json, "model_type", "the first ChatGLM (two-dimensional positions) is not supported");
    if (!json.boolean("rmsnorm", true))
        throw_unsupported(json, "rmsnorm", "layer norms are not supported by this model type");
    if (!json.boolean("post_layer_norm", true))
        throw_unsupported(json, "post_layer_norm", "a model without a final norm is not supported");
    if (json.boolean("apply_residual_connection_post_layernorm", false))
        throw_unsupported(json, "apply_residual_connection_post_layernorm",
                          "residuals of normalized states are not supported");
    set_single_mask(json, config);
    const bool biases = json.boolean("add_bias_linear", false);
    config.attention_bias = json.boolean("add_qkv_bias", false) || biases;
    config.output_bias = config.mlp_bias = biases;
    config.num_key_value_heads = json.boolean("multi_query_attention", false)
                                     ? json.positive("multi_query_group_num", 1)
                                     : config.num_attention_heads;
    if (config.num_attention_heads % config.num_key_value_heads != 0)
        throw_invalid_value(json, "multi_query_group_num", "a divisor of num_attention_heads");
    config.rotary_dim = round_rotary_dim(config.head_dim, 0.5);
    config.head = head_kind::causal_lm;
}

}  // namespace chatglm_detail

inline constexpr model_spec chatglm = [](model_spec spec) {
    spec.model_type = "chatglm";
    spec.class_prefix = "ChatGLM";
    spec.is_remote_code = true;
    spec.parse_config = chatglm_detail::parse_config;
    spec.dropout_keys = {};
    spec.forward = chatglm_detail::forward;
    spec.base_model = chatglm_detail::base;
    spec.attention = fused_qkv_attention;
    spec.rotary = rotary_style::interleaved_split;
    spec.supported_heads = {head_kind::causal_lm, head_kind::conditional_generation};
    spec.names.causal_lm_class = "Model";  // as in `architectures`; `auto_map` names the class with a head
    spec.names.embed_tokens = "word_embeddings";
    spec.names.norm = "final_layernorm";
    spec.names.lm_head = "output_layer";
    spec.names.rotary = "rotary_pos_emb";
    spec.names.norm_class = "RMSNorm";
    spec.names.attention = "self_attention";
    spec.names.q_proj = "query_key_value";
    spec.names.o_proj = "dense";
    spec.names.mlp_modules = {.gate = "dense_h_to_4h", .down = "dense_4h_to_h", .act = ""};
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.config_keys.add("num_hidden_layers", "num_layers", key_rule::family_name_first);
    spec.config_keys.add("intermediate_size", "ffn_hidden_size", key_rule::family_name_first);
    spec.config_keys.add("vocab_size", "padded_vocab_size", key_rule::family_name_first);
    spec.config_keys.add("head_dim", "kv_channels", key_rule::family_name_first);
    spec.config_keys.add("max_position_embeddings", "seq_length", key_rule::family_name_first);
    spec.defaults.vocab_size = 65024;
    spec.defaults.num_hidden_layers = 28;
    spec.defaults.max_position_embeddings = 2048;
    spec.defaults.num_key_value_heads = 0;
    spec.defaults.attention_bias = false;
    return spec;
}(glm);

}  // namespace llmcost::arch
