// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace exaone_detail {

/// Attention within a module that does nothing else.
constexpr value mix(const site& here, trace& t, const value& x) {
    const module_info around{.name = here.row.names.attention, .type = here.type("Attention"), .what = role::attn};
    t.enter(around);
    return t.leave(around, t.call("attention", attention_module{here}, x));
}

}  // namespace exaone_detail

// modeling_exaone.py of LGAI-EXAONE/EXAONE-3.5-2.4B-Instruct: Llama under GPT-2's names
inline constexpr architecture exaone = [](architecture a) {
    a.model_type = "exaone", a.prefix = "Exaone", a.remote_code = true, a.mix = exaone_detail::mix, a.drops = {};
    a.heads = classifying_decoder_heads;
    a.names.base = "transformer", a.names.embed_tokens = "wte", a.names.layers = "h", a.names.norm = "ln_f";
    a.names.rotary = "rotary", a.names.layer_type = "Block";
    a.names.attention = "attn", a.names.attention_type = "SelfAttention", a.names.o = "out_proj";
    a.names.mlp = {.gate = "c_fc_0", .up = "c_fc_1", .down = "c_proj", .act = "act"}, a.names.mlp_type = "GatedMLP";
    a.names.norm_before_attention = "ln_1", a.names.norm_before_feed_forward = "ln_2";
    a.keys[0] = {"num_hidden_layers", "num_layers"}, a.keys[1] = {"hidden_act", "activation_function"};
    a.keys[2] = no_attention_bias, a.keys[3] = no_mlp_bias;
    a.defaults.vocab_size = 102400, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 8192;
    return a;
}(llama);

}  // namespace llmcost::arch
