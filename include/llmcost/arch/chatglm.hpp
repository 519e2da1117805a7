// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/glm.hpp>

namespace llmcost::arch {

namespace chatglm_detail {

/// Words, layers and the last norm, each in the module that holds them.
constexpr value base(const site& here, trace& t) {
    const module_info words{.name = "embedding", .type = {"", "Embedding"}, .what = role::embedding};
    const module_info encoder{.name = "encoder", .type = {"", "GLMTransformer"}};
    t.enter(words);
    value x = t.leave(words, embed_words(here, t));
    const decoder_context shared = here.row.prepare(here, t);
    t.enter(encoder);
    x = normed(here, t, here.row.names.norm, describe_layers(here, t, shared, x));
    return t.leave(encoder, x);
}

/// Scores of words are made inside of the model that others have under a head.
constexpr value describe(const site& here, trace& t) {
    const module_info whole{.type = here.type(name_of(head_kind::conditional_generation))};
    const module_info transformer{.name = "transformer", .type = here.type("Model")};
    t.enter(whole), t.enter(transformer);
    const value x = base(here, t);
    const value out = t.leave(transformer, describe_word_scores(here, t, x));
    return t.leave(whole, t.returns(x, out));
}

/// Refuses what the first generation has (ChatGLM-6B), and wirings that no published file asks for.
constexpr void read(config_view config, sizes& s) {
    if (config.contains("inner_hidden_size") || config.contains("position_encoding_2d"))
        fail_unsupported(config, "model_type", "no row describes the first ChatGLM, whose positions have two axes");
    if (!config.boolean("rmsnorm", true)) fail_unsupported(config, "rmsnorm", "no row describes layer norms here");
    if (!config.boolean("post_layer_norm", true))
        fail_unsupported(config, "post_layer_norm", "no row describes layers without a norm behind them");
    if (config.boolean("apply_residual_connection_post_layernorm", false))
        fail_unsupported(config, "apply_residual_connection_post_layernorm", "no row describes residuals of norms");
    plan_one_mask(config, s);
    const bool biases = config.boolean("add_bias_linear", false);
    s.attention_bias = config.boolean("add_qkv_bias", false) || biases;
    s.output_bias = s.mlp_bias = biases;
    s.num_key_value_heads =
        config.boolean("multi_query_attention", false) ? config.positive("multi_query_group_num", 1) : s.num_attention_heads;
    if (s.num_attention_heads % s.num_key_value_heads != 0)
        fail_value(config, "multi_query_group_num", "a divisor of num_attention_heads");
    s.rotary_dim = whole_pairs(s.head_dim, 0.5);
    s.head = head_kind::causal_lm;
}

}  // namespace chatglm_detail

// modeling_chatglm.py of THUDM/chatglm2-6b, chatglm3-6b, glm-4-9b-chat: GLM with one projection for queries,
// keys and values, pairs rotated as two tensors
inline constexpr architecture chatglm = [](architecture a) {
    a.model_type = "chatglm", a.prefix = "ChatGLM", a.remote_code = true, a.read = chatglm_detail::read, a.drops = {};
    a.describe = chatglm_detail::describe, a.base = chatglm_detail::base, a.attend = attend_from_one;
    a.rotated = rotation::split_pairs;
    a.heads = {head_kind::causal_lm, head_kind::conditional_generation};
    a.names.causal_lm_type = "Model";  // what files name; their `auto_map` leads to the one under a head
    a.names.embed_tokens = "word_embeddings", a.names.norm = "final_layernorm", a.names.lm_head = "output_layer";
    a.names.rotary = "rotary_pos_emb", a.names.norm_type = "RMSNorm";
    a.names.attention = "self_attention", a.names.q = "query_key_value", a.names.o = "dense";
    a.names.mlp = {.gate = "dense_h_to_4h", .down = "dense_4h_to_h", .act = ""};
    a.keys[0] = no_mlp_bias, a.keys[1] = no_attention_bias, a.keys[2] = no_key_value_heads;
    a.keys[3] = {"num_hidden_layers", "num_layers"}, a.keys[4] = {"intermediate_size", "ffn_hidden_size"};
    a.keys[5] = {"vocab_size", "padded_vocab_size"}, a.keys[6] = {"head_dim", "kv_channels"};
    a.keys[7] = {"max_position_embeddings", "seq_length"};
    a.defaults.vocab_size = 65024, a.defaults.num_hidden_layers = 28, a.defaults.max_position_embeddings = 2048;
    a.defaults.num_key_value_heads = 0, a.defaults.attention_bias = false;
    return a;
}(glm);

}  // namespace llmcost::arch
