// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/moe.hpp>

namespace llmcost::arch {

/// Attention in the layers that `full_attn_idxs` or `layer_types` name, short convolutions in the others.
constexpr void read_lfm2(config_view config, shape& s) {
    s.tie_word_embeddings = config.boolean("tie_embedding", s.tie_word_embeddings);
    std::int64_t inner = config.positive("block_ff_dim", s.intermediate_size);
    if (config.boolean("block_auto_adjust_ff_dim", true)) {
        inner = 2 * inner / 3;
        if (const auto factor = config.find("block_ffn_dim_multiplier"); !factor || !factor->is_null()) {
            const double adjusted = config.real("block_ffn_dim_multiplier", 1.0) * static_cast<double>(inner);
            if (!(adjusted >= 0 && adjusted <= static_cast<double>(largest_input)))
                fail_value(config, "block_ffn_dim_multiplier", "a factor that gives a width up to 2147483647");
            inner = static_cast<std::int64_t>(adjusted);
            const std::int64_t multiple = config.positive("block_multiple_of", 256);
            inner = (inner + multiple - 1) / multiple * multiple;
        }
    }
    if (inner < 1) fail_unsupported(config, "block_ff_dim", "leaves no features after its adjustment");
    s.intermediate_size = checked_width(config, "block_ff_dim", inner, 1);
    s.hidden_act = activation::silu;
    s.ssm.conv_kernel = config.positive("conv_L_cache", 3);
    s.ssm.use_bias = config.boolean("conv_bias", false);
    s.attention_bias = s.output_bias = s.mlp_bias = false;
    if (read_layer_types(config, s, mixer_kind::linear)) return;
    const auto listed = config.optional_array("full_attn_idxs");
    if (!listed) return plan_layers(s, {mixer_kind::full_attention, false});
    const layer_set attends(*listed);
    plan_layers(config, s, [&](std::int64_t i) {
        return layer_kind{attends.has(i) ? mixer_kind::full_attention : mixer_kind::linear, false};
    });
}

/// Gated delta nets beside attention of which a part of each head is rotated (Qwen3-Next, Qwen3.5).
constexpr void read_delta_nets(config_view config, shape& s) {
    s.delta = {config.positive("linear_num_key_heads", 16), config.positive("linear_num_value_heads", 32),
               config.positive("linear_key_head_dim", 128), config.positive("linear_value_head_dim", 128),
               config.positive("linear_conv_kernel_dim", 4)};
    if (s.delta.num_value_heads % s.delta.num_key_heads != 0)
        fail_value(config, "linear_num_value_heads", "a multiple of linear_num_key_heads");
    (void)checked_width(config, "linear_key_head_dim", s.delta.num_key_heads, s.delta.key_head_dim);
    (void)checked_width(config, "linear_value_head_dim", s.delta.num_value_heads, s.delta.value_head_dim);
    s.rotary_dim =
        static_cast<std::int64_t>(static_cast<double>(s.head_dim) * detail::read_partial_rotary_factor(config, 0.25));
}

/// Of `mrope_section` the second and the third entry are looked up.
constexpr void check_three_axes(config_view config) {
    if (read_sections(config, {3, 32}).axes < 3) fail_sections(config, "frequencies of three axes");
}

/// Every `full_attention_interval`-th layer attends, the others keep a state, unless `layer_types` says otherwise.
constexpr void plan_delta_nets(config_view config, shape& s, const expert_places& experts) {
    const std::int64_t interval = config.positive("full_attention_interval", 4);
    const bool listed = read_layer_types(config, s, mixer_kind::linear);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const mixer_kind by_rule = (i + 1) % interval != 0 ? mixer_kind::linear : mixer_kind::full_attention;
        return layer_kind{listed ? layer_kind::from(given[i]).mixer : by_rule, experts.has(i)};
    });
}

/// Experts as in Qwen3-MoE.
constexpr void read_qwen3_next(config_view config, shape& s) {
    read_experts(config, s, "num_experts");
    read_balance(config, s);
    s.moe.shared_intermediate_size = config.positive("shared_expert_intermediate_size", 512);
    read_delta_nets(config, s);
    plan_delta_nets(config, s, expert_places(config, s));
}

constexpr void read_qwen3_5(config_view config, shape& s) {
    read_delta_nets(config, s);
    check_three_axes(config);
    plan_delta_nets(config, s, expert_places(false));
}

/// Every layer has experts, whose router always norms its weights.
constexpr void read_qwen3_5_moe(config_view config, shape& s) {
    read_experts(config, s, "num_experts");
    read_balance(config, s);
    check_experts(config, s);
    s.moe.norm_topk_prob = true;
    s.moe.shared_intermediate_size = config.positive("shared_expert_intermediate_size", 512);
    read_delta_nets(config, s);
    check_three_axes(config);
    plan_delta_nets(config, s, expert_places(true));
}

/// Attention and experts in every so many-th layer, Mamba mixers and plain blocks in the others.
constexpr void read_jamba(config_view config, shape& s) {
    const literal experts = config.contains("num_local_experts") ? "num_local_experts" : "num_experts";
    s.moe.num_experts = config.non_negative(experts, s.moe.num_experts);
    if (s.moe.num_experts > 1) read_experts(config, s, experts);
    read_balance(config, s);
    s.moe.norm_topk_prob = false;
    s.moe.intermediate_size = s.intermediate_size;
    s.ssm = {.state_size = config.positive("mamba_d_state", 16),
             .conv_kernel = config.positive("mamba_d_conv", 4),
             .intermediate_size = checked_width(config, "mamba_expand", config.positive("mamba_expand", 2), s.hidden_size),
             .time_step_rank = (s.hidden_size + 15) / 16,
             .use_bias = config.boolean("mamba_proj_bias", false),
             .use_conv_bias = config.boolean("mamba_conv_bias", true)};
    if (const auto rank = config.find("mamba_dt_rank"); rank && !(rank->is_string() && rank->as_string() == "auto"))
        s.ssm.time_step_rank = rank->as_positive();
    s.attention_bias = s.output_bias = s.mlp_bias = false;
    const auto every = [&](literal period, std::int64_t n, literal offset, std::int64_t from) {
        const std::int64_t step = config.positive(period, n), first = config.non_negative(offset, from);
        if (first >= step) fail_value(config, offset, "a number below the period");
        return [=](std::int64_t i) { return i % step == first; };
    };
    const auto attends = every("attn_layer_period", 8, "attn_layer_offset", 4);
    const auto has_several = every("expert_layer_period", 2, "expert_layer_offset", 1);
    plan_layers(config, s, [&](std::int64_t i) {
        return layer_kind{attends(i) ? mixer_kind::full_attention : mixer_kind::linear,
                          s.moe.num_experts > 1 && has_several(i)};
    });
}

// transformers/models/jamba: Mamba mixers with norms of their own, attention without positions, experts without norming
inline constexpr architecture jamba = [](architecture a) {
    a.model_type = "jamba", a.prefix = "Jamba", a.read = read_jamba, a.heads = classifying_decoder_heads;
    a.router = router_kind::softmax_top_k, a.rotated = rotation::none, a.masks = mask_rule::full_and_present;
    a.mixer = linear_mixer::selective_state_space;
    a.names.norm = "final_layernorm", a.names.norm_2 = "pre_ff_layernorm", a.names.linear_mixer = "mamba";
    a.names.feed_forward = "feed_forward", a.names.router = "router";
    a.names.layer_type = "AttentionDecoderLayer", a.names.linear_layer_type = "MambaDecoderLayer";
    a.defaults.vocab_size = 65536, a.defaults.hidden_size = 4096, a.defaults.intermediate_size = 14336;
    a.defaults.num_hidden_layers = 32, a.defaults.num_attention_heads = 32, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 262144, a.defaults.moe.num_experts = 16, a.defaults.moe.num_experts_per_tok = 2;
    return a;
}(mixtral);

// transformers/models/lfm2: gated short convolutions between attention layers
inline constexpr architecture lfm2 = [](architecture a) {
    a.model_type = "lfm2", a.prefix = "Lfm2", a.read = read_lfm2, a.heads = language_heads;
    a.qk_norm = qk_norm_kind::per_head, a.masks = mask_rule::full_and_present, a.mixer = linear_mixer::short_convolution;
    a.names.norm = "embedding_norm", a.names.norm_1 = "operator_norm", a.names.norm_2 = "ffn_norm";
    a.names.o = "out_proj", a.names.q_norm = "q_layernorm", a.names.k_norm = "k_layernorm";
    a.names.linear_mixer = "conv", a.names.feed_forward = "feed_forward";
    a.names.mlp = {.gate = "w1", .up = "w3", .down = "w2", .act = ""};
    a.defaults.vocab_size = 65536, a.defaults.hidden_size = 2560, a.defaults.intermediate_size = 12288;
    a.defaults.num_hidden_layers = 32, a.defaults.num_attention_heads = 32, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 128000, a.defaults.tie_word_embeddings = true;
    return a;
}(llama);

// transformers/models/qwen3_next: gated delta nets, gated attention, experts with a shared one
inline constexpr architecture qwen3_next = [](architecture a) {
    a.model_type = "qwen3_next", a.prefix = "Qwen3Next", a.read = read_qwen3_next, a.norm = norm_kind::rms_plus_one;
    a.names.base_under_answers = "transformer";
    a.masks = mask_rule::full_and_present, a.mixer = linear_mixer::gated_delta, a.gates_attention = a.joins_rotated = true;
    a.qk_norm = qk_norm_kind::per_head;
    a.defaults =
        shape{.vocab_size = 151936,
              .hidden_size = 2048,
              .intermediate_size = 5632,
              .num_hidden_layers = 48,
              .num_attention_heads = 16,
              .num_key_value_heads = 2,
              .head_dim = 256,
              .max_position_embeddings = 32768,
              .moe = {.num_experts = 512, .num_experts_per_tok = 10, .intermediate_size = 512, .norm_topk_prob = true}};
    return a;
}(qwen2_moe);

// transformers/models/qwen3_5: delta nets with a projection for each part, positions of three axes, no experts
inline constexpr architecture qwen3_5_text = [](architecture a) {
    a.model_type = "qwen3_5_text", a.prefix = "Qwen3_5", a.read = read_qwen3_5, a.heads = classifying_decoder_heads;
    a.mixer = linear_mixer::gated_delta_apart, a.axes = rotary_axes::interleaved;
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
