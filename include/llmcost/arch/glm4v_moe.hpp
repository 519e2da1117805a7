// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/deepseek_v2.hpp>
#include <llmcost/arch/glm4v.hpp>
#include <llmcost/config/experts.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/forward/glm_vision.hpp>
#include <llmcost/forward/packed_sequences.hpp>
#include <llmcost/forward/router_balance.hpp>

namespace llmcost::arch {

namespace glm4v_moe_detail {

using glm_vision::parse_rotary;

/// Traces the text model. The final norm has another class than those of the layers.
constexpr tensor moe_base(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    return call_norm(t, "norm", norm_kind::rms, ctx.config.hidden_size, ctx.class_of("RMSNorm"),
                     forward_layers(ctx, t, shared, x));
}

/// Parses the MoE text model: dense layers first, then routed and shared experts.
constexpr void parse_moe_text(config_view json, model_config& config) {
    parse_experts(json, config, json.contains("num_local_experts") ? "num_local_experts" : "n_routed_experts");
    validate_experts(json, config);
    config.moe.shared_intermediate_size =
        checked_size(json, "n_shared_experts", json.positive("n_shared_experts", 1), config.moe.intermediate_size);
    config.moe.n_group = json.positive("n_group", 1);
    config.moe.topk_group = json.positive("topk_group", 1);
    config.moe.has_group_limit = true;
    check_groups(json, config);
    if (config.moe.num_experts / config.moe.n_group < 2)
        throw_invalid_value(json, "n_group", "at most half the number of experts");
    config.output_bias = false;
    set_single_mask(json, config);
    const token_mixer_kind mixer = config.layers[0].token_mixer;
    const std::int64_t dense = json.non_negative("first_k_dense_replace", 1);
    set_layers(json, config, [&](std::int64_t i) { return layer_spec{mixer, i >= dense}; });
    parse_rotary(json, config, 0.5);
}

}  // namespace glm4v_moe_detail

// The text model of GLM-4V MoE. Derived from GLM-4V, with half-rotation RoPE, pre-norm layers and DeepSeek V3's
// experts.
//
// Source: transformers/models/glm4v_moe
inline constexpr model_spec glm4v_moe_text = [](model_spec spec) {
    spec.model_type = "glm4v_moe_text";
    spec.class_prefix = "Glm4vMoe";
    spec.parse_config = glm4v_moe_detail::parse_moe_text;
    spec.base_model = glm4v_moe_detail::moe_base;
    spec.decoder_layer = pre_norm_layer;
    spec.dense_mlp = mlp_kind::gated;
    spec.rotary = rotary_style::rotate_half;
    spec.router = router_kind::sigmoid_grouped;
    spec.shared_experts = shared_expert_kind::added;
    spec.names.mlp_modules = {};
    spec.names.norm_class = "TextRMSNorm";
    spec.names.moe_class = "TextMoE";
    spec.names.experts_class = "TextExperts";
    spec.names.router_class = "TextTopkRouter";
    spec.config_keys.remove("attention_bias");
    spec.defaults.vocab_size = 151424;
    spec.defaults.intermediate_size = 10944;
    spec.defaults.num_hidden_layers = 46;
    spec.defaults.num_attention_heads = 96;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 65536;
    spec.defaults.attention_bias = true;
    spec.defaults.moe = {
        .num_experts = 128, .num_experts_per_tok = 8, .intermediate_size = 1408, .norm_topk_prob = true};
    spec.defaults.moe.has_float32_correction = true;
    return spec;
}(glm4v_text);

inline constexpr submodel_spec glm4v_moe_vision = [](model_spec spec) {
    spec.model_type = "glm4v_moe_vision";
    spec.class_prefix = "Glm4vMoe";
    spec.names.mlp_class_prefix = "";
    spec.names.mlp_class = "isionMlp";  // the reference's spelling
    return spec;
}(glm4v_vision);

// Source: transformers/models/glm4v_moe
inline constexpr model_spec glm4v_moe = [](model_spec spec) {
    spec.model_type = "glm4v_moe";
    spec.class_prefix = "Glm4vMoe";
    spec.parse_composite_config = router_balance::parse_config;
    spec.process_logits = router_balance::process_logits;
    spec.text_model.default_spec = &glm4v_moe_text;
    spec.components[0].default_spec = &glm4v_moe_vision;
    return spec;
}(glm4v);

}  // namespace llmcost::arch
