// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

// modeling_internlm2.py of internlm/internlm2-7b: one projection for queries, keys and values, names of its own
inline constexpr model_spec internlm2 = [](model_spec spec) {
    spec.model_type = "internlm2";
    spec.class_prefix = "InternLM2";
    spec.is_remote_code = true;
    spec.attention = fused_qkv_attention;
    spec.dropout_keys = {};
    spec.supported_heads = classifying_decoder_heads;
    spec.names.embed_tokens = "tok_embeddings";
    spec.names.lm_head = "output";
    spec.names.attention = "attention";
    spec.names.q_proj = "wqkv";
    spec.names.o_proj = "wo";
    spec.names.mlp = "feed_forward";
    spec.names.mlp_modules = {.gate = "w1", .up = "w3", .down = "w2"};
    spec.names.pre_attention_norm = "attention_norm";
    spec.names.pre_mlp_norm = "ffn_norm";
    spec.config_keys.add("attention_bias", "bias", key_rule::family_name_first);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 103168;
    spec.defaults.attention_bias = true;
    return spec;
}(llama);

}  // namespace llmcost::arch
