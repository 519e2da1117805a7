// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3_next.hpp>
#include <llmcost/arch/qwen3_vl.hpp>
#include <llmcost/forward/gated_delta_net.hpp>

namespace llmcost::arch {

namespace qwen3_5_detail {

inline constexpr family_key vision_keys[]{
    {"patch_size", 16},        {"temporal_patch_size", 2}, {"in_channels", 3},
    {"spatial_merge_size", 2}, {"out_hidden_size", 3584},  {"num_position_embeddings", 2304},
};

}  // namespace qwen3_5_detail

constexpr void parse_qwen3_5(config_view json, model_config& config) {
    parse_gated_delta_net(json, config);
    check_three_axes(json);
    set_gated_delta_layers(json, config, expert_layer_selection(false));
}

// transformers/models/qwen3_5: delta nets with a projection for each part, positions of three axes, no experts
inline constexpr model_spec qwen3_5_text = [](model_spec spec) {
    spec.model_type = "qwen3_5_text";
    spec.class_prefix = "Qwen3_5";
    spec.parse_config = parse_qwen3_5;
    spec.supported_heads = classifying_decoder_heads;
    spec.forward = forward_text_decoder;
    spec.recurrent_block = gated_delta_net_block<true>;
    spec.rotary_axes = rotary_axis_layout::interleaved;
    spec.router = router_kind::none;
    spec.shared_experts = shared_expert_kind::none;
    spec.names.model_class = "TextModel";
    spec.names.rotary_class = "TextRotaryEmbedding";
    spec.defaults.vocab_size = 248320;
    spec.defaults.hidden_size = 4096;
    spec.defaults.intermediate_size = 12288;
    spec.defaults.num_hidden_layers = 32;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.head_dim = 256;
    spec.defaults.max_position_embeddings = 32768;
    spec.defaults.moe = {};
    return spec;
}(qwen3_next);

// transformers/models/qwen3_5, Qwen3_5VisionConfig: Qwen3-VL's without what it hands to early layers
inline constexpr submodel_spec qwen3_5_vision = [](model_spec spec) {
    spec.model_type = "qwen3_5_vision";
    spec.class_prefix = "Qwen3_5";
    spec.parse_config = nullptr;
    spec.family_keys = qwen3_5_detail::vision_keys;
    return spec;
}(qwen3_vl_vision);

// transformers/models/qwen3_5
inline constexpr model_spec qwen3_5 = [](model_spec spec) {
    spec.model_type = "qwen3_5";
    spec.class_prefix = "Qwen3_5";
    spec.text_model.default_spec = &qwen3_5_text;
    spec.components[0].default_spec = &qwen3_5_vision;
    spec.supported_heads = {head_kind::none, head_kind::conditional_generation, head_kind::sequence_classification,
                            head_kind::token_classification};
    return spec;
}(qwen3_vl);

}  // namespace llmcost::arch
