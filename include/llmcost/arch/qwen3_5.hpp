// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3_next.hpp>
#include <llmcost/arch/qwen3_vl.hpp>

namespace llmcost::arch {

namespace qwen3_5_detail {

inline constexpr own_key vision_keys[]{
    {"patch_size", 16},        {"temporal_patch_size", 2}, {"in_channels", 3},
    {"spatial_merge_size", 2}, {"out_hidden_size", 3584},  {"num_position_embeddings", 2304},
};

}  // namespace qwen3_5_detail

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
    a.describe = describe_text_decoder;
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

// transformers/models/qwen3_5, Qwen3_5VisionConfig: Qwen3-VL's without what it hands to early layers
inline constexpr architecture qwen3_5_vision = [](architecture a) {
    a.model_type = "qwen3_5_vision", a.prefix = "Qwen3_5", a.read = nullptr, a.own = qwen3_5_detail::vision_keys;
    return a;
}(qwen3_vl_vision);
inline constexpr architecture qwen3_5_moe_vision = [](architecture a) {
    a.model_type = "qwen3_5_moe_vision", a.prefix = "Qwen3_5Moe";
    return a;
}(qwen3_5_vision);

// transformers/models/qwen3_5
inline constexpr architecture qwen3_5 = [](architecture a) {
    a.model_type = "qwen3_5", a.prefix = "Qwen3_5";
    a.text.otherwise = &qwen3_5_text, a.beside[0].otherwise = &qwen3_5_vision;
    a.heads = {head_kind::none, head_kind::conditional_generation, head_kind::sequence_classification,
               head_kind::token_classification};
    return a;
}(qwen3_vl);

// transformers/models/qwen3_5_moe
inline constexpr architecture qwen3_5_moe = [](architecture a) {
    a.model_type = "qwen3_5_moe", a.prefix = "Qwen3_5Moe", a.heads = qwen3_vl.heads;
    a.read_whole = weigh_balance_of_text;
    a.text.otherwise = &qwen3_5_moe_text, a.beside[0].otherwise = &qwen3_5_moe_vision;
    return a;
}(qwen3_5);

}  // namespace llmcost::arch
