// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3_vl.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/deepstack.hpp>

namespace llmcost::arch {

// transformers/models/qwen3_vl_moe: experts as in Qwen3-MoE
inline constexpr model_spec qwen3_vl_moe_text = [](model_spec spec) {
    spec.model_type = "qwen3_vl_moe_text";
    spec.class_prefix = "Qwen3VLMoe";
    spec.parse_config = parse_qwen3_vl_moe;
    spec.router = router_kind::softmax_top_k;
    spec.names.moe_class = "TextSparseMoeBlock";
    spec.names.experts_class = "TextExperts";
    spec.names.router_class = "TextTopKRouter";
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 5632;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.num_key_value_heads = 16;
    spec.defaults.head_dim = 0;
    spec.defaults.moe = {.num_experts = 60, .num_experts_per_tok = 4, .intermediate_size = 1408};
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(qwen3_vl_text);

inline constexpr submodel_spec qwen3_vl_moe_vision = [](model_spec spec) {
    spec.model_type = "qwen3_vl_moe_vision";
    spec.class_prefix = "Qwen3VLMoe";
    return spec;
}(qwen3_vl_vision);

// transformers/models/qwen3_vl_moe
inline constexpr model_spec qwen3_vl_moe = [](model_spec spec) {
    spec.model_type = "qwen3_vl_moe";
    spec.class_prefix = "Qwen3VLMoe";
    spec.parse_composite_config = [](config_view json, model& m) {
        weigh_balance_of_text(json, m);
        deepstack::parse_config(json, m);
    };
    spec.text_model.default_spec = &qwen3_vl_moe_text;
    spec.components[0].default_spec = &qwen3_vl_moe_vision;
    return spec;
}(qwen3_vl);

}  // namespace llmcost::arch
