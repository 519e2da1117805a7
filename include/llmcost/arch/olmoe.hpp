// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

namespace llmcost::arch {

constexpr void parse_olmoe(config_view json, model_config& config) {
    parse_experts(json, config, json.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    parse_load_balancing(json, config);
    config.moe.intermediate_size = config.intermediate_size;
    config.clamps_qkv = json.optional_real("clip_qkv").has_value();
    validate_experts(json, config);
    set_single_mask(json, config);
    config.layers.fill({config.layers[0].token_mixer, true});
}

// transformers/models/olmoe: QK-norm over all heads; every layer has experts
inline constexpr model_spec olmoe = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "olmoe";
    spec.class_prefix = "Olmoe";
    spec.parse_config = parse_olmoe;
    spec.qk_norm = qk_norm_kind::all_heads;
    spec.router = router_kind::softmax_top_k;
    spec.defaults.vocab_size = 50304;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 2048;
    spec.defaults.num_hidden_layers = 16;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 4096;
    spec.defaults.moe.num_experts = 64;
    spec.defaults.moe.num_experts_per_tok = 8;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
