// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

// GPT-OSS. Derived from Llama, with these differences:
//  - attention sinks;
//  - biases in all projections;
//  - clamped experts with transposed weights.
//
// Source: transformers/models/gpt_oss

namespace llmcost::arch {

namespace gpt_oss_detail {

/// Self-attention with sinks: one additional logit per head takes part in the softmax only.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor sinks = t.param("sinks", {ctx.config.num_attention_heads});
    return output_projection(ctx, t, attention_from_qkv(ctx, t, project_qkv(ctx, t, x), {.sinks = &sinks}));
}

}  // namespace gpt_oss_detail

constexpr void parse_gpt_oss(config_view json, model_config& config) {
    parse_experts(json, config, json.contains("num_experts") ? "num_experts" : "num_local_experts");
    parse_load_balancing(json, config);
    config.moe.intermediate_size = config.intermediate_size;
    validate_experts(json, config);
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        const token_mixer_kind alternating =
            (i + 1) % 2 != 0 ? token_mixer_kind::sliding_attention : token_mixer_kind::full_attention;
        return layer_spec{listed ? listed_layers[i].token_mixer : alternating, true};
    });
}

inline constexpr model_spec gpt_oss = [](model_spec spec) {
    spec.supported_heads = decoder_heads;
    spec.model_type = "gpt_oss";
    spec.class_prefix = "GptOss";
    spec.parse_config = parse_gpt_oss;
    spec.norm = norm_kind::rms_cast_last;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.router = router_kind::top_k_softmax;
    spec.expert = expert_kind::clamped_swiglu;
    spec.attention = gpt_oss_detail::attention;
    spec.rotary = rotary_style::rotate_half_split;
    spec.names.router = "router";
    spec.names.moe_class = "MLP";
    spec.defaults.vocab_size = 201088;
    spec.defaults.hidden_size = 2880;
    spec.defaults.intermediate_size = 2880;
    spec.defaults.num_hidden_layers = 36;
    spec.defaults.num_attention_heads = 64;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head_dim = 64;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.sliding_window = 128;
    spec.defaults.attention_bias = true;
    spec.defaults.moe.num_experts = 128;
    spec.defaults.moe.num_experts_per_tok = 4;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
