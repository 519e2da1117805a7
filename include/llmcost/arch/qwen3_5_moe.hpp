// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3_5.hpp>
#include <llmcost/arch/qwen3_next.hpp>
#include <llmcost/arch/qwen3_vl.hpp>
#include <llmcost/config/experts.hpp>
#include <llmcost/config/gated_delta_net.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/deepstack.hpp>

namespace llmcost::arch {

/// Every layer has experts, whose router always norms its weights.
constexpr void parse_qwen3_5_moe(config_view json, model_config& config) {
    parse_experts(json, config, "num_experts");
    parse_load_balancing(json, config);
    validate_experts(json, config);
    config.moe.norm_topk_prob = true;
    config.moe.shared_intermediate_size = json.positive("shared_expert_intermediate_size", 512);
    parse_gated_delta_net(json, config);
    check_three_axes(json);
    set_gated_delta_layers(json, config, expert_layer_selection(true));
}

// transformers/models/qwen3_5_moe: experts in every layer, as wide as `moe_intermediate_size`
inline constexpr model_spec qwen3_5_moe_text = [](model_spec spec) {
    spec.model_type = "qwen3_5_moe_text";
    spec.class_prefix = "Qwen3_5Moe";
    spec.parse_config = parse_qwen3_5_moe;
    spec.supported_heads = language_heads;
    spec.router = qwen3_next.router;
    spec.shared_experts = qwen3_next.shared_experts;
    spec.defaults.hidden_size = 2048;
    spec.defaults.num_hidden_layers = 40;
    spec.defaults.num_key_value_heads = 2;
    spec.defaults.moe = {.num_experts = 256, .num_experts_per_tok = 8, .intermediate_size = 512};
    return spec;
}(qwen3_5_text);

inline constexpr submodel_spec qwen3_5_moe_vision = [](model_spec spec) {
    spec.model_type = "qwen3_5_moe_vision";
    spec.class_prefix = "Qwen3_5Moe";
    return spec;
}(qwen3_5_vision);

// transformers/models/qwen3_5_moe
inline constexpr model_spec qwen3_5_moe = [](model_spec spec) {
    spec.model_type = "qwen3_5_moe";
    spec.class_prefix = "Qwen3_5Moe";
    spec.supported_heads = qwen3_vl.supported_heads;
    spec.parse_composite_config = weigh_balance_of_text;
    spec.text_model.default_spec = &qwen3_5_moe_text;
    spec.components[0].default_spec = &qwen3_5_moe_vision;
    return spec;
}(qwen3_5);

}  // namespace llmcost::arch
