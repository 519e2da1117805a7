// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

namespace llmcost::arch {

/// Checks the expert groups of the router.
///
/// Throws: `config_error` for an invalid `n_group` or `topk_group`.
constexpr void check_groups(config_view json, const model_config& config) {
    if (config.moe.num_experts % config.moe.n_group != 0)
        throw_invalid_value(json, "n_group", "a divisor of the number of experts");
    if (config.moe.topk_group > config.moe.n_group) throw_invalid_value(json, "topk_group", "at most n_group");
}

/// Parses latent attention and experts. The first `first_k_dense_replace` layers are dense.
constexpr void parse_deepseek(config_view json, model_config& config, std::int64_t dense_layers,
                              std::int64_t shared_experts, literal also_experts) {
    const auto rank = json.find("q_lora_rank");
    config.mla.q_lora_rank = rank && rank->is_null() ? 0 : json.positive("q_lora_rank", 1536);
    config.mla.kv_lora_rank = json.positive("kv_lora_rank", 512);
    config.mla.qk_nope_head_dim = json.positive("qk_nope_head_dim", 128);
    config.mla.qk_rope_head_dim = json.positive("qk_rope_head_dim", 64);
    config.mla.v_head_dim = json.positive("v_head_dim", 128);
    config.head_dim = config.rotary_dim = config.mla.qk_rope_head_dim;
    if (config.rotary_dim % 2 != 0) throw_invalid_value(json, "qk_rope_head_dim", "an even number");
    (void)checked_size(json, "qk_nope_head_dim", config.num_attention_heads, config.mla.qk_nope_head_dim);
    (void)checked_size(json, "v_head_dim", config.num_attention_heads, config.mla.v_head_dim);
    parse_experts(json, config, json.contains(also_experts) ? also_experts : "n_routed_experts");
    validate_experts(json, config);
    config.moe.shared_intermediate_size = checked_size(
        json, "n_shared_experts", json.positive("n_shared_experts", shared_experts), config.moe.intermediate_size);
    config.moe.n_group = json.positive("n_group", config.moe.n_group);
    config.moe.topk_group = json.positive("topk_group", config.moe.topk_group);
    const std::int64_t dense = json.non_negative("first_k_dense_replace", dense_layers);
    set_single_mask(json, config);
    const token_mixer_kind mixer = config.layers[0].token_mixer;
    set_layers(json, config, [&](std::int64_t i) { return layer_spec{mixer, i >= dense}; });
}

constexpr void parse_deepseek_v2(config_view json, model_config& config) {
    parse_deepseek(json, config, 0, 2, "num_experts");
    const string_ref method = json.string("topk_method", "greedy");
    config.moe.has_group_limit = method == "group_limited_greedy";
    if (!config.moe.has_group_limit && method != "greedy")
        throw_unsupported(json, "topk_method", "unsupported top-k method");
    if (config.moe.has_group_limit) check_groups(json, config);
}

// DeepSeek V2. Derived from Llama, with multi-head latent attention, complex RoPE and a softmax router.
//
// Source: transformers/models/deepseek_v2
inline constexpr model_spec deepseek_v2 = [](model_spec spec) {
    spec.supported_heads = classifying_decoder_heads;
    spec.model_type = "deepseek_v2";
    spec.class_prefix = "DeepseekV2";
    spec.parse_config = parse_deepseek_v2;
    spec.token_mixer = latent_attention_token_mixer;
    spec.rotary = rotary_style::interleaved_complex;
    spec.router = router_kind::softmax_grouped;
    spec.shared_experts = shared_expert_kind::added;
    spec.names.moe_class = "Moe";
    spec.names.router_class = "TopkRouter";
    spec.defaults.vocab_size = 102400;
    spec.defaults.moe = {.num_experts = 64, .intermediate_size = 1407};
    return spec;
}(llama);

}  // namespace llmcost::arch
