// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

/// Every layer slides where the configuration has a window, or those that a list names (Mistral, Phi-3, StarCoder2).
constexpr void parse_window(config_view json, model_config& config) {
    if (!parse_layer_types(json, config) || !config.layers.is_heterogeneous()) set_single_mask(json, config);
}

namespace mistral_detail {

/// Ministral makes a mask of the window whatever its layers are; these are listed, or slide.
constexpr void parse_ministral(config_view json, model_config& config) {
    require_sliding_window(json);
    if (const auto head_dim = json.find("head_dim"); !head_dim || head_dim->is_null())
        throw_missing_key(json, "head_dim", "a positive integer");
    if (!parse_layer_types(json, config)) config.layers.fill({token_mixer_kind::sliding_attention});
}

/// Self-attention whose queries are scaled by position: 1 + β · log(1 + floor(position / length)). Every layer
/// recomputes the scale.
constexpr tensor attend_by_position(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t sequence = x.dim(1);
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    const tensor steps = t.floor(t.div_scalar(trace::buffer({1, sequence})));
    const tensor scale = t.add_scalar(t.mul_scalar(t.log(t.add_scalar(steps)))).view({1, 1, sequence, 1});
    qkv.query = t.mul(qkv.query, t.to(scale, qkv.query.type));
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

/// The scale needs both of its numbers; `original_max_position_embeddings` is filled in for types that stretch.
constexpr void parse_ministral3(config_view json, model_config& config) {
    parse_window(json, config);
    const auto rope = detail::rope_parameters(json);
    if (!rope) return;
    (void)rope->real("llama_4_scaling_beta");
    for (const literal type : {"yarn", "llama3", "longrope"})
        if (detail::has_type_of_rope(*rope, type)) return;
    (void)rope->real("original_max_position_embeddings");
}

}  // namespace mistral_detail

// transformers/models/mistral: one mask, sliding where there is a window
inline constexpr model_spec mistral = [](model_spec spec) {
    spec.model_type = "mistral";
    spec.class_prefix = "Mistral";
    spec.parse_config = parse_window;
    spec.names.base_model_for_question_answering = "model";
    spec.defaults.intermediate_size = 14336;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.sliding_window = 4096;
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

// transformers/models/ministral: a mask for each kind of layer
inline constexpr model_spec ministral = [](model_spec spec) {
    spec.model_type = "ministral";
    spec.class_prefix = "Ministral";
    spec.parse_config = mistral_detail::parse_ministral;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.names.base_model_for_question_answering = "transformer";
    return spec;
}(mistral);

// transformers/models/ministral3: queries scaled by token position
inline constexpr model_spec ministral3 = [](model_spec spec) {
    spec.model_type = "ministral3";
    spec.class_prefix = "Ministral3";
    spec.parse_config = mistral_detail::parse_ministral3;
    spec.attention = mistral_detail::attend_by_position;
    spec.defaults.vocab_size = 131072;
    spec.defaults.num_hidden_layers = 34;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 262144;
    spec.defaults.sliding_window = 0;
    return spec;
}(mistral);

}  // namespace llmcost::arch
