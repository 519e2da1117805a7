// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

constexpr void read_qwen2_moe(config_view config, sizes& s) {
    read_experts(config, s, "num_experts");
    read_balance(config, s);
    s.moe.shared_intermediate_size = config.positive("shared_expert_intermediate_size", 5632);
    s.attention_bias = config.boolean("qkv_bias", true);
    s.output_bias = false;
    const bool slides = config.boolean("use_sliding_window", false);
    if (!slides) s.sliding_window = 0;
    const std::int64_t until = config.non_negative("max_window_layers", 28);
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    const expert_places experts(config, s);
    plan_layers(config, s, [&](std::int64_t i) {
        const bool short_sighted = (i + 1) % 2 != 0 && i < until && slides;
        const mixer_kind mixer = listed          ? given[i].mixer
                                 : short_sighted ? mixer_kind::sliding_attention
                                                 : mixer_kind::full_attention;
        return layer_kind{mixer, experts.has(i)};
    });
}

// transformers/models/qwen2_moe: a gated shared expert; both masks always
inline constexpr architecture qwen2_moe = [](architecture a) {
    a.names.base_under_answers = "model";
    a.model_type = "qwen2_moe", a.prefix = "Qwen2Moe", a.read = read_qwen2_moe, a.masks = mask_rule::full_and_sliding;
    a.router = router_kind::softmax_top_k, a.shared_experts = shared_expert_kind::gated;
    a.defaults.vocab_size = 151936, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 5632;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 16, a.defaults.num_key_value_heads = 16;
    a.defaults.max_position_embeddings = 32768, a.defaults.sliding_window = 4096, a.defaults.moe.num_experts = 60;
    a.defaults.moe.num_experts_per_tok = 4, a.defaults.moe.intermediate_size = 1408;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
