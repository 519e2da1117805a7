// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mistral.hpp>

namespace llmcost::arch {

namespace ministral3_detail {

/// Self-attention whose queries are scaled by position: 1 + β · log(1 + floor(position / length)). Every layer
/// recomputes the scale.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
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
constexpr void parse_config(config_view json, model_config& config) {
    parse_window(json, config);
    const auto rope = detail::rope_parameters(json);
    if (!rope) return;
    (void)rope->real("llama_4_scaling_beta");
    for (const literal type : {"yarn", "llama3", "longrope"})
        if (detail::has_type_of_rope(*rope, type)) return;
    (void)rope->real("original_max_position_embeddings");
}

}  // namespace ministral3_detail

// transformers/models/ministral3: queries scaled by token position
inline constexpr model_spec ministral3 = [](model_spec spec) {
    spec.model_type = "ministral3";
    spec.class_prefix = "Ministral3";
    spec.parse_config = ministral3_detail::parse_config;
    spec.attention = ministral3_detail::attention;
    spec.defaults.vocab_size = 131072;
    spec.defaults.num_hidden_layers = 34;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 262144;
    spec.defaults.sliding_window = 0;
    return spec;
}(mistral);

}  // namespace llmcost::arch
