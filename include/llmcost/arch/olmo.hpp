// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

namespace llmcost::arch {

constexpr void parse_olmoe(config_view json, model_config& config) {
    parse_experts(json, config, json.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    parse_load_balancing(json, config);
    config.moe.intermediate_size = config.intermediate_size;
    config.clamps_qkv = json.optional_real("clip_qkv").has_value();
    validate_experts(json, config);
    set_single_mask(json, config);
    config.layers.fill({config.layers[0].token_mixer, true});
}

constexpr void parse_olmo(config_view json, model_config& config) {
    set_single_mask(json, config);
    config.clamps_qkv = json.optional_real("clip_qkv").has_value();
}

/// Every fourth layer is full; frequencies are scaled in these only (`convert_rope_params_to_dict`).
constexpr void parse_olmo3(config_view json, model_config& config) {
    require_sliding_window(json);
    detail::scale_full_layers_alone(json, config);
    if (parse_layer_types(json, config)) return;
    set_layers(json, config, [](std::int64_t i) {
        return layer_spec{(i + 1) % 4 != 0 ? token_mixer_kind::sliding_attention : token_mixer_kind::full_attention};
    });
}

// transformers/models/olmo: norms without weights, rotation in float32, queries, keys and values perhaps clipped
inline constexpr model_spec olmo = [](model_spec spec) {
    spec.supported_heads = classifying_decoder_heads;
    spec.model_type = "olmo";
    spec.class_prefix = "Olmo";
    spec.parse_config = parse_olmo;
    spec.norm = norm_kind::layer_weightless;
    spec.names.norm_class = "LayerNorm";
    spec.rotary = rotary_style::rotate_half_float32;
    spec.defaults.vocab_size = 50304;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

// transformers/models/olmo2: norms after the blocks; QK-norm over all heads
inline constexpr model_spec olmo2 = [](model_spec spec) {
    spec.supported_heads = classifying_decoder_heads;
    spec.model_type = "olmo2";
    spec.class_prefix = "Olmo2";
    spec.decoder_layer = post_norm_layer;
    spec.norm = norm_kind::rms_cast_last;
    spec.qk_norm = qk_norm_kind::all_heads;
    spec.rotary = rotary_style::rotate_half_float32;
    spec.defaults.vocab_size = 50304;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

// transformers/models/olmo3: three sliding layers to a full one, rotary tables of their own
inline constexpr model_spec olmo3 = [](model_spec spec) {
    spec.model_type = "olmo3";
    spec.class_prefix = "Olmo3";
    spec.parse_config = parse_olmo3;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.has_rotary_per_token_mixer = true;
    spec.defaults.sliding_window = 4096;
    return spec;
}(olmo2);

// transformers/models/olmoe: QK-norm over all heads; every layer has experts
inline constexpr model_spec olmoe = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "olmoe";
    spec.class_prefix = "Olmoe";
    spec.parse_config = parse_olmoe;
    spec.qk_norm = qk_norm_kind::all_heads;
    spec.router = router_kind::softmax_top_k;
    spec.defaults.vocab_size = 50304;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 2048;
    spec.defaults.num_hidden_layers = 16;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 4096;
    spec.defaults.moe.num_experts = 64;
    spec.defaults.moe.num_experts_per_tok = 8;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
