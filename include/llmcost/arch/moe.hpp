// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

/// Experts in every `decoder_sparse_step`-th layer that `mlp_only_layers` does not name (Qwen).
class expert_places {
public:
    constexpr expert_places(config_view config, const shape& s)
        : several_(s.moe.num_experts > 0), step_(config.positive("decoder_sparse_step", 1)) {
        if (const auto dense = config.optional_array("mlp_only_layers")) dense_ = layer_set(*dense);
    }
    /// Experts in every layer, or in none.
    constexpr explicit expert_places(bool everywhere) noexcept : several_(everywhere), step_(1) {}
    [[nodiscard]] constexpr bool has(std::int64_t layer) const noexcept {
        return several_ && (layer + 1) % step_ == 0 && !dense_.has(layer);
    }

private:
    bool several_;
    std::int64_t step_;
    layer_set dense_{};
};

constexpr void read_experts(config_view config, shape& s, literal number_of_experts) {
    s.moe.num_experts = config.non_negative(number_of_experts, s.moe.num_experts);
    s.moe.num_experts_per_tok = s.moe.num_experts_per_tok > 0
                                    ? config.positive("num_experts_per_tok", s.moe.num_experts_per_tok)
                                    : config.positive("num_experts_per_tok");
    if (s.moe.num_experts_per_tok > s.moe.num_experts && s.moe.num_experts > 0)
        fail_value(config, "num_experts_per_tok", "at most the number of experts");
    s.moe.intermediate_size = config.positive("moe_intermediate_size", s.moe.intermediate_size);
    s.moe.norm_topk_prob = config.boolean("norm_topk_prob", s.moe.norm_topk_prob);
}

/// Types whose language model weighs how evenly its routers pick, where the configuration asks for it.
constexpr void read_balance(config_view config, shape& s) {
    s.moe.weighs_balance = config.boolean("output_router_logits", false) && s.moe.num_experts > 0;
}

/// Types whose layers have experts whatever a configuration says.
constexpr void check_experts(config_view config, const shape& s) {
    if (s.moe.num_experts > 0) return;
    constexpr literal names[] = {"num_experts", "num_local_experts", "n_routed_experts"};
    for (const literal key : names)
        if (config.contains(key)) fail_value(config, key, "a positive integer");
}

/// Mixtral names its experts `num_local_experts`; they are as wide as `intermediate_size`.
constexpr void read_mixtral(config_view config, shape& s) {
    read_experts(config, s, config.contains("num_experts") ? "num_experts" : "num_local_experts");
    read_balance(config, s);
    s.moe.intermediate_size = s.intermediate_size;
    s.moe.norm_topk_prob = true;
    check_experts(config, s);
    plan_one_mask(config, s);
    plan_layers(s, {layer_kind::from(s.layers.common).mixer, true});
}

constexpr void read_qwen2_moe(config_view config, shape& s) {
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
        const mixer_kind mixer = listed          ? layer_kind::from(given[i]).mixer
                                 : short_sighted ? mixer_kind::sliding_attention
                                                 : mixer_kind::full_attention;
        return layer_kind{mixer, experts.has(i)};
    });
}

constexpr void read_qwen3_moe(config_view config, shape& s) {
    read_experts(config, s, config.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    read_balance(config, s);
    const bool slides = config.boolean("use_sliding_window", false);
    if (!slides) s.sliding_window = 0;
    plan_one_mask(config, s, slides);
    const mixer_kind mixer = layer_kind::from(s.layers.common).mixer;
    const expert_places experts(config, s);
    plan_layers(config, s, [&](std::int64_t i) { return layer_kind{mixer, experts.has(i)}; });
}

constexpr void read_olmoe(config_view config, shape& s) {
    read_experts(config, s, config.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    read_balance(config, s);
    s.moe.intermediate_size = s.intermediate_size;
    s.clips_qkv = config.optional_real("clip_qkv").has_value();
    check_experts(config, s);
    plan_one_mask(config, s);
    plan_layers(s, {layer_kind::from(s.layers.common).mixer, true});
}

constexpr void read_gpt_oss(config_view config, shape& s) {
    read_experts(config, s, config.contains("num_experts") ? "num_experts" : "num_local_experts");
    read_balance(config, s);
    s.moe.intermediate_size = s.intermediate_size;
    check_experts(config, s);
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const mixer_kind alternating = (i + 1) % 2 != 0 ? mixer_kind::sliding_attention : mixer_kind::full_attention;
        return layer_kind{listed ? layer_kind::from(given[i]).mixer : alternating, true};
    });
}

// transformers/models/mixtral: softmax over all experts, the best k normed to one
inline constexpr architecture mixtral = [](architecture a) {
    a.model_type = "mixtral", a.prefix = "Mixtral", a.read = read_mixtral, a.router = router_kind::softmax_top_k_float;
    a.defaults.sliding_window = 0;
    a.defaults.moe = {.num_experts = 8, .num_experts_per_tok = 2};
    return a;
}(mistral);

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

// transformers/models/qwen3_moe: norms of queries and keys per head, no shared expert
inline constexpr architecture qwen3_moe = [](architecture a) {
    a.model_type = "qwen3_moe", a.prefix = "Qwen3Moe", a.read = read_qwen3_moe, a.qk_norm = qk_norm_kind::per_head;
    a.router = router_kind::softmax_top_k;
    a.defaults.vocab_size = 151936, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 6144;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 32, a.defaults.num_key_value_heads = 4;
    a.defaults.max_position_embeddings = 32768, a.defaults.sliding_window = 4096, a.defaults.moe.num_experts = 128;
    a.defaults.moe.num_experts_per_tok = 8, a.defaults.moe.intermediate_size = 768;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

// transformers/models/olmoe: norms of whole queries and keys, every layer has experts
inline constexpr architecture olmoe = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "olmoe", a.prefix = "Olmoe", a.read = read_olmoe, a.qk_norm = qk_norm_kind::whole;
    a.router = router_kind::softmax_top_k;
    a.defaults.vocab_size = 50304, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 2048;
    a.defaults.num_hidden_layers = 16, a.defaults.num_attention_heads = 16, a.defaults.max_position_embeddings = 4096;
    a.defaults.moe.num_experts = 64, a.defaults.moe.num_experts_per_tok = 8;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

// transformers/models/gpt_oss: sinks, biases everywhere, clamped experts with transposed weights
inline constexpr architecture gpt_oss = [](architecture a) {
    a.heads = decoder_heads;
    a.model_type = "gpt_oss", a.prefix = "GptOss", a.read = read_gpt_oss, a.norm = norm_kind::rms_cast_last,
    a.masks = mask_rule::full_and_sliding;
    a.router = router_kind::top_k_softmax, a.expert = expert_kind::clamped_swiglu, a.sinks = true,
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
