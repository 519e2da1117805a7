// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

namespace llmcost::arch {

constexpr void parse_qwen2_moe(config_view json, model_config& config) {
    parse_experts(json, config, "num_experts");
    parse_load_balancing(json, config);
    config.moe.shared_intermediate_size = json.positive("shared_expert_intermediate_size", 5632);
    config.attention_bias = json.boolean("qkv_bias", true);
    config.output_bias = false;
    const bool slides = json.boolean("use_sliding_window", false);
    if (!slides) config.sliding_window = 0;
    const std::int64_t max_window_layers = json.non_negative("max_window_layers", 28);
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    const expert_layer_selection experts(json, config);
    set_layers(json, config, [&](std::int64_t i) {
        const bool short_sighted = (i + 1) % 2 != 0 && i < max_window_layers && slides;
        const token_mixer_kind mixer = listed          ? listed_layers[i].token_mixer
                                       : short_sighted ? token_mixer_kind::sliding_attention
                                                       : token_mixer_kind::full_attention;
        return layer_spec{mixer, experts.has(i)};
    });
}

// transformers/models/qwen2_moe: a gated shared expert; both masks always
inline constexpr model_spec qwen2_moe = [](model_spec spec) {
    spec.names.base_model_for_question_answering = "model";
    spec.model_type = "qwen2_moe";
    spec.class_prefix = "Qwen2Moe";
    spec.parse_config = parse_qwen2_moe;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.router = router_kind::softmax_top_k;
    spec.shared_experts = shared_expert_kind::gated;
    spec.defaults.vocab_size = 151936;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 5632;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.num_key_value_heads = 16;
    spec.defaults.max_position_embeddings = 32768;
    spec.defaults.sliding_window = 4096;
    spec.defaults.moe.num_experts = 60;
    spec.defaults.moe.num_experts_per_tok = 4;
    spec.defaults.moe.intermediate_size = 1408;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
