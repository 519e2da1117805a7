// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

/// Phi-3 called longrope `su` and `yarn` at first (configuration_phi3.py, `convert_rope_params_to_dict`).
constexpr void parse_phi3(config_view json, model_config& config) {
    parse_window(json, config);
    for (const literal type : {"su", "yarn"})
        if (detail::has_rope_type(json, type)) config.rope_scaling = rope_scaling_kind::longrope;
}

inline constexpr dropout_key phi3_dropout[]{{dropout_position::hidden, "resid_pdrop"},
                                            {dropout_position::attention, "attention_dropout"},
                                            {dropout_position::classifier, "classifier_dropout", 0.1}};

// transformers/models/phi3: q, k, v and gate, up in one projection each; dropout modules in the residual
inline constexpr model_spec phi3 = [](model_spec spec) {
    spec.supported_heads = decoder_heads;
    spec.model_type = "phi3";
    spec.class_prefix = "Phi3";
    spec.parse_config = parse_phi3;
    spec.attention = fused_qkv_attention;
    spec.has_partial_rotary = true;
    spec.dense_mlp = mlp_kind::fused_gated;
    spec.names.q_proj = "qkv_proj";
    spec.names.mlp_modules = {.gate = "gate_up_proj", .act = "activation_fn"};
    spec.names.attention_dropout = "resid_attn_dropout";
    spec.names.mlp_dropout = "resid_mlp_dropout";
    spec.defaults.vocab_size = 32064;
    spec.defaults.hidden_size = 3072;
    spec.defaults.intermediate_size = 8192;
    spec.defaults.max_position_embeddings = 4096;
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.dropout_keys = phi3_dropout;
    return spec;
}(llama);

}  // namespace llmcost::arch
