// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3_next.hpp>

namespace llmcost::arch {

/// Of `mrope_section` the second and the third entry are looked up.
constexpr void check_three_axes(config_view config) {
    if (read_sections(config, {3, 32}).axes < 3) fail_sections(config, "frequencies of three axes");
}

constexpr void read_qwen3_5(config_view config, sizes& s) {
    read_delta_nets(config, s);
    check_three_axes(config);
    plan_delta_nets(config, s, expert_places(false));
}

/// Every layer has experts, whose router always norms its weights.
constexpr void read_qwen3_5_moe(config_view config, sizes& s) {
    read_experts(config, s, "num_experts");
    read_balance(config, s);
    check_experts(config, s);
    s.moe.norm_topk_prob = true;
    s.moe.shared_intermediate_size = config.positive("shared_expert_intermediate_size", 512);
    read_delta_nets(config, s);
    check_three_axes(config);
    plan_delta_nets(config, s, expert_places(true));
}

// transformers/models/qwen3_5: delta nets with a projection for each part, positions of three axes, no experts
inline constexpr architecture qwen3_5_text = [](architecture a) {
    a.model_type = "qwen3_5_text", a.prefix = "Qwen3_5", a.read = read_qwen3_5, a.heads = classifying_decoder_heads;
    a.recur = qwen3_next_detail::recur<true>, a.axes = rotary_axes::interleaved;
    a.router = router_kind::none, a.shared_experts = shared_expert_kind::none;
    a.names.model_type = "TextModel", a.names.rotary_type = "TextRotaryEmbedding";
    a.defaults.vocab_size = 248320, a.defaults.hidden_size = 4096, a.defaults.intermediate_size = 12288;
    a.defaults.num_hidden_layers = 32, a.defaults.num_attention_heads = 16, a.defaults.num_key_value_heads = 4;
    a.defaults.head_dim = 256, a.defaults.max_position_embeddings = 32768, a.defaults.moe = {};
    return a;
}(qwen3_next);

// transformers/models/qwen3_5_moe: experts in every layer, as wide as `moe_intermediate_size`
inline constexpr architecture qwen3_5_moe_text = [](architecture a) {
    a.model_type = "qwen3_5_moe_text", a.prefix = "Qwen3_5Moe", a.read = read_qwen3_5_moe, a.heads = language_heads;
    a.router = qwen3_next.router, a.shared_experts = qwen3_next.shared_experts;
    a.defaults.hidden_size = 2048, a.defaults.num_hidden_layers = 40, a.defaults.num_key_value_heads = 2;
    a.defaults.moe = {.num_experts = 256, .num_experts_per_tok = 8, .intermediate_size = 512};
    return a;
}(qwen3_5_text);

}  // namespace llmcost::arch
