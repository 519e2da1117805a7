// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

/// Parses `config.json`; RoPE parameters are under the key `rotary`.
constexpr void parse_internlm(config_view json, model_config& config) {
    set_single_mask(json, config);
    const auto rotary = json.optional_object("rotary");
    const string_ref type = rotary ? rotary->string("type", "origin") : string_ref("origin");
    if (type != "origin" && type != "dynamic") throw_unsupported(*rotary, "type", "unsupported RoPE type");
    if (type == "dynamic") config.rope_scaling = rope_scaling_kind::dynamic;
}

// modeling_internlm.py of internlm/internlm-7b: Llama, all four projections of attention with a bias or none
inline constexpr model_spec internlm = [](model_spec spec) {
    spec.model_type = "internlm";
    spec.class_prefix = "InternLM";
    spec.parse_config = parse_internlm;
    spec.dropout_keys = {};
    spec.is_remote_code = true;
    spec.supported_heads = classifying_decoder_heads;
    spec.config_keys.add("attention_bias", "bias", key_rule::family_name_first);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 103168;
    spec.defaults.attention_bias = true;
    return spec;
}(llama);

}  // namespace llmcost::arch
