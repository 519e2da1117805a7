// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>
#include <llmcost/walks/further_tokens.hpp>

namespace llmcost::arch {

/// Groups that a router picks experts from.
constexpr void check_groups(config_view config, const sizes& s) {
    if (s.moe.num_experts % s.moe.n_group != 0) fail_value(config, "n_group", "a divisor of the number of experts");
    if (s.moe.topk_group > s.moe.n_group) fail_value(config, "topk_group", "at most n_group");
}

/// Latent attention and experts behind the first `first_k_dense_replace` layers.
constexpr void read_deepseek(config_view config, sizes& s, std::int64_t dense_layers, std::int64_t shared_experts,
                             literal also_experts) {
    const auto rank = config.find("q_lora_rank");
    s.mla.q_lora_rank = rank && rank->is_null() ? 0 : config.positive("q_lora_rank", 1536);
    s.mla.kv_lora_rank = config.positive("kv_lora_rank", 512);
    s.mla.qk_nope_head_dim = config.positive("qk_nope_head_dim", 128);
    s.mla.qk_rope_head_dim = config.positive("qk_rope_head_dim", 64);
    s.mla.v_head_dim = config.positive("v_head_dim", 128);
    s.head_dim = s.rotary_dim = s.mla.qk_rope_head_dim;
    if (s.rotary_dim % 2 != 0) fail_value(config, "qk_rope_head_dim", "an even number");
    (void)checked_width(config, "qk_nope_head_dim", s.num_attention_heads, s.mla.qk_nope_head_dim);
    (void)checked_width(config, "v_head_dim", s.num_attention_heads, s.mla.v_head_dim);
    read_experts(config, s, config.contains(also_experts) ? also_experts : "n_routed_experts");
    check_experts(config, s);
    s.moe.shared_intermediate_size = checked_width(
        config, "n_shared_experts", config.positive("n_shared_experts", shared_experts), s.moe.intermediate_size);
    s.moe.n_group = config.positive("n_group", s.moe.n_group);
    s.moe.topk_group = config.positive("topk_group", s.moe.topk_group);
    const std::int64_t dense = config.non_negative("first_k_dense_replace", dense_layers);
    plan_one_mask(config, s);
    const mixer_kind mixer = s.layers[0].mixer;
    plan_layers(config, s, [&](std::int64_t i) { return layer_kind{mixer, i >= dense}; });
}

constexpr void read_deepseek_v2(config_view config, sizes& s) {
    read_deepseek(config, s, 0, 2, "num_experts");
    const string_ref method = config.string("topk_method", "greedy");
    s.moe.limits_groups = method == "group_limited_greedy";
    if (!s.moe.limits_groups && method != "greedy")
        fail_unsupported(config, "topk_method", "no router describes this method");
    if (s.moe.limits_groups) check_groups(config, s);
}

constexpr void read_deepseek_v3(config_view config, sizes& s) {
    read_deepseek(config, s, 3, 1, "num_local_experts");
    s.moe.limits_groups = true;
    check_groups(config, s);
    s.rope_interleave = config.boolean("rope_interleave", true);
    if (s.moe.num_experts / s.moe.n_group < 2) fail_value(config, "n_group", "at most half as many groups as experts");
}

// transformers/models/deepseek_v2: latent attention, complex rotation, softmax router
inline constexpr architecture deepseek_v2 = [](architecture a) {
    a.heads = classifying_decoder_heads;
    a.model_type = "deepseek_v2", a.prefix = "DeepseekV2", a.read = read_deepseek_v2, a.mix = mix_by_latent_attention;
    a.rotated = rotation::complex_pairs, a.router = router_kind::softmax_grouped;
    a.shared_experts = shared_expert_kind::added;
    a.names.moe_type = "Moe", a.names.router_type = "TopkRouter";
    a.defaults.vocab_size = 102400;
    a.defaults.moe = {.num_experts = 64, .intermediate_size = 1407};
    return a;
}(llama);

// transformers/models/deepseek_v3: sigmoid router with groups, pairs rotated as two tensors
inline constexpr architecture deepseek_v3 = [](architecture a) {
    a.heads = decoder_heads;
    a.model_type = "deepseek_v3", a.prefix = "DeepseekV3", a.read = read_deepseek_v3;
    a.rotated = rotation::split_pairs, a.router = router_kind::sigmoid_grouped;
    a.predict = predict_by_last_layer;
    a.names.moe_type = "MoE";
    a.defaults.vocab_size = 129280, a.defaults.hidden_size = 7168, a.defaults.intermediate_size = 18432;
    a.defaults.num_hidden_layers = 61, a.defaults.num_attention_heads = 128, a.defaults.num_key_value_heads = 128;
    a.defaults.max_position_embeddings = 4096, a.defaults.moe.num_experts = 256, a.defaults.moe.num_experts_per_tok = 8;
    a.defaults.moe.intermediate_size = 2048, a.defaults.moe.n_group = 8, a.defaults.moe.topk_group = 4;
    a.defaults.moe.norm_topk_prob = true;
    a.keys[0] = no_mlp_bias;
    return a;
}(deepseek_v2);

}  // namespace llmcost::arch
