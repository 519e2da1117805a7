// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

/// Frequencies stand under a key of their own.
constexpr void read_internlm(config_view config, sizes& s) {
    plan_one_mask(config, s);
    const auto rotary = config.optional_object("rotary");
    const string_ref type = rotary ? rotary->string("type", "origin") : string_ref("origin");
    if (type != "origin" && type != "dynamic") fail_unsupported(*rotary, "type", "no row describes these frequencies");
    if (type == "dynamic") s.frequencies = frequency_rule::rescaled;
}

// modeling_internlm.py of internlm/internlm-7b: Llama, all four projections of attention with a bias or none
inline constexpr architecture internlm = [](architecture a) {
    a.model_type = "internlm", a.prefix = "InternLM", a.read = read_internlm, a.drops = {};
    a.remote_code = true, a.heads = classifying_decoder_heads;
    a.keys[0] = {"attention_bias", "bias"}, a.keys[1] = no_mlp_bias;
    a.defaults.vocab_size = 103168, a.defaults.attention_bias = true;
    return a;
}(llama);

// modeling_internlm2.py of internlm/internlm2-7b: one projection for queries, keys and values, names of its own
inline constexpr architecture internlm2 = [](architecture a) {
    a.model_type = "internlm2", a.prefix = "InternLM2", a.remote_code = true, a.attend = attend_from_one, a.drops = {};
    a.heads = classifying_decoder_heads;
    a.names.embed_tokens = "tok_embeddings", a.names.lm_head = "output";
    a.names.attention = "attention", a.names.q = "wqkv", a.names.o = "wo";
    a.names.feed_forward = "feed_forward", a.names.mlp = {.gate = "w1", .up = "w3", .down = "w2"};
    a.names.norm_before_attention = "attention_norm", a.names.norm_before_feed_forward = "ffn_norm";
    a.keys[0] = {"attention_bias", "bias"}, a.keys[1] = no_mlp_bias;
    a.defaults.vocab_size = 103168, a.defaults.attention_bias = true;
    return a;
}(llama);

}  // namespace llmcost::arch
