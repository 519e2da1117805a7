// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

// EXAONE 3.5. Derived from Llama, with GPT-2's module names.
//
// Source: modeling_exaone.py of LGAI-EXAONE/EXAONE-3.5-2.4B-Instruct

namespace llmcost::arch {

namespace exaone_detail {

/// Attention inside an outer module without computation.
constexpr tensor token_mixer(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info outer_attention{
        .name = ctx.spec.names.attention, .class_of_module = ctx.class_of("Attention"), .module_role = role::attn};
    t.enter(outer_attention);
    return t.leave(outer_attention, t.call("attention", attention_module{ctx}, x));
}

}  // namespace exaone_detail

inline constexpr model_spec exaone = [](model_spec spec) {
    spec.model_type = "exaone";
    spec.class_prefix = "Exaone";
    spec.is_remote_code = true;
    spec.token_mixer = exaone_detail::token_mixer;
    spec.dropout_keys = {};
    spec.supported_heads = classifying_decoder_heads;
    spec.names.base_model = "transformer";
    spec.names.embed_tokens = "wte";
    spec.names.layers = "h";
    spec.names.norm = "ln_f";
    spec.names.rotary = "rotary";
    spec.names.layer_class = "Block";
    spec.names.attention = "attn";
    spec.names.attention_class = "SelfAttention";
    spec.names.o_proj = "out_proj";
    spec.names.mlp_modules = {.gate = "c_fc_0", .up = "c_fc_1", .down = "c_proj", .act = "act"};
    spec.names.mlp_class = "GatedMLP";
    spec.names.pre_attention_norm = "ln_1";
    spec.names.pre_mlp_norm = "ln_2";
    spec.config_keys.add("num_hidden_layers", "num_layers", key_rule::family_name_first);
    spec.config_keys.add("hidden_act", "activation_function", key_rule::family_name_first);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 102400;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 8192;
    return spec;
}(llama);

}  // namespace llmcost::arch
