// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace gpt_oss_detail {

/// Every head has one logit more, which takes part in the softmax only.
constexpr value attend(const site& here, trace& t, const value& x) {
    const value sinks = t.param("sinks", {here.dims.num_attention_heads});
    return join(here, t, attend_with(here, t, project_qkv(here, t, x), {.sinks = &sinks}));
}

}  // namespace gpt_oss_detail

constexpr void read_gpt_oss(config_view config, sizes& s) {
    read_experts(config, s, config.contains("num_experts") ? "num_experts" : "num_local_experts");
    read_balance(config, s);
    s.moe.intermediate_size = s.intermediate_size;
    check_experts(config, s);
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const mixer_kind alternating = (i + 1) % 2 != 0 ? mixer_kind::sliding_attention : mixer_kind::full_attention;
        return layer_kind{listed ? given[i].mixer : alternating, true};
    });
}

// transformers/models/gpt_oss: sinks, biases everywhere, clamped experts with transposed weights
inline constexpr architecture gpt_oss = [](architecture a) {
    a.heads = decoder_heads;
    a.model_type = "gpt_oss", a.prefix = "GptOss", a.read = read_gpt_oss, a.norm = norm_kind::rms_cast_last,
    a.masks = mask_rule::full_and_sliding;
    a.router = router_kind::top_k_softmax, a.expert = expert_kind::clamped_swiglu, a.attend = gpt_oss_detail::attend,
    a.rotated = rotation::split;
    a.names.router = "router", a.names.moe_type = "MLP";
    a.defaults.vocab_size = 201088, a.defaults.hidden_size = 2880, a.defaults.intermediate_size = 2880;
    a.defaults.num_hidden_layers = 36, a.defaults.num_attention_heads = 64, a.defaults.num_key_value_heads = 8;
    a.defaults.head_dim = 64, a.defaults.max_position_embeddings = 131072, a.defaults.sliding_window = 128;
    a.defaults.attention_bias = true, a.defaults.moe.num_experts = 128, a.defaults.moe.num_experts_per_tok = 4;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
