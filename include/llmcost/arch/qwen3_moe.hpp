// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

namespace llmcost::arch {

constexpr void parse_qwen3_moe(config_view json, model_config& config) {
    parse_experts(json, config, json.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    parse_load_balancing(json, config);
    const bool slides = json.boolean("use_sliding_window", false);
    if (!slides) config.sliding_window = 0;
    set_single_mask(json, config, slides);
    const token_mixer_kind mixer = config.layers[0].token_mixer;
    const expert_layer_selection experts(json, config);
    set_layers(json, config, [&](std::int64_t i) { return layer_spec{mixer, experts.has(i)}; });
}

// transformers/models/qwen3_moe: norms of queries and keys per head, no shared expert
inline constexpr model_spec qwen3_moe = [](model_spec spec) {
    spec.model_type = "qwen3_moe";
    spec.class_prefix = "Qwen3Moe";
    spec.parse_config = parse_qwen3_moe;
    spec.qk_norm = qk_norm_kind::per_head;
    spec.router = router_kind::softmax_top_k;
    spec.defaults.vocab_size = 151936;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 6144;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.max_position_embeddings = 32768;
    spec.defaults.sliding_window = 4096;
    spec.defaults.moe.num_experts = 128;
    spec.defaults.moe.num_experts_per_tok = 8;
    spec.defaults.moe.intermediate_size = 768;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
