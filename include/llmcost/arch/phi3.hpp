// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mistral.hpp>

namespace llmcost::arch {

/// Phi-3 called longrope `su` and `yarn` at first (configuration_phi3.py, `convert_rope_params_to_dict`).
constexpr void read_phi3(config_view config, sizes& s) {
    read_window(config, s);
    for (const literal type : {"su", "yarn"})
        if (detail::has_rope_type(config, type)) s.frequencies = frequency_rule::picked;
}

inline constexpr dropout_key phi3_dropout[]{{dropout_of::hidden, "resid_pdrop"},
                                            {dropout_of::attention, "attention_dropout"},
                                            {dropout_of::classifier, "classifier_dropout", 0.1}};

// transformers/models/phi3: q, k, v and gate, up in one projection each; dropout modules in the residual
inline constexpr architecture phi3 = [](architecture a) {
    a.heads = decoder_heads;
    a.model_type = "phi3", a.prefix = "Phi3", a.read = read_phi3, a.attend = attend_from_one, a.joins_rotated = true;
    a.feed_forward = mlp_kind::fused_gated;
    a.names.q = "qkv_proj", a.names.mlp = {.gate = "gate_up_proj", .act = "activation_fn"};
    a.names.attention_dropout = "resid_attn_dropout", a.names.feed_forward_dropout = "resid_mlp_dropout";
    a.defaults.vocab_size = 32064, a.defaults.hidden_size = 3072, a.defaults.intermediate_size = 8192;
    a.defaults.max_position_embeddings = 4096;
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    a.drops = phi3_dropout;
    return a;
}(llama);

}  // namespace llmcost::arch
