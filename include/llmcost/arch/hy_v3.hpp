// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>
#include <llmcost/forward/multi_token_prediction.hpp>

namespace llmcost::arch {

namespace hy_v3_detail {

enum family_config_index : std::uint8_t { sums_in_float };
inline constexpr family_key family_keys[]{{"enable_moe_fp32_combine", 1, family_key_type::boolean}};

constexpr tensor_pair route(const layer_context& ctx, trace& t, const tensor& tokens) {
    const moe_config& moe = ctx.config.moe;
    const tensor weight = t.param("weight", {moe.num_experts, ctx.config.hidden_size});
    const tensor float_tokens = t.to(tokens, dtype::float32);
    const tensor logits = t.linear(float_tokens, t.to(weight, dtype::float32));
    const tensor scores = t.sigmoid(logits);
    const tensor best = select_with_correction(t, scores, correction_bias(t, moe.num_experts), moe.num_experts_per_tok);
    return {logits, t.mul_scalar(t.div(best, t.add_scalar(t.sum(best, -1, true))))};
}

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor tokens = x.view({-1, ctx.config.hidden_size});
    tensor routed = call_experts(ctx, t, tokens, call_custom_router(ctx, t, route, tokens));
    tensor shared_output = call_mlp(ctx, t, "shared_experts", ctx.config.moe.shared_intermediate_size, tokens);
    if (ctx.config.family[sums_in_float]) {
        routed = t.to(routed, dtype::float32);
        shared_output = t.to(shared_output, dtype::float32);
    }
    return t.to(t.add(routed, shared_output), x.type).view({x.dim(0), x.dim(1), ctx.config.hidden_size});
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return moe_or_dense_mlp(ctx, t, sparse_moe_block, x);
}

/// Parses `config.json`. Without `mlp_layer_types`, the first layer is dense. With `num_shared_experts` 0, one shared
/// expert has the width of a dense block.
constexpr void parse_config(config_view json, model_config& config) {
    parse_experts(json, config, json.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    validate_experts(json, config);
    const std::int64_t shared = json.non_negative("num_shared_experts", 1);
    config.moe.shared_intermediate_size =
        shared == 0 ? config.intermediate_size
                    : checked_size(json, "num_shared_experts", shared, config.moe.intermediate_size);
    set_single_mask(json, config);
    const token_mixer_kind mixer = config.layers[0].token_mixer;
    const sparse_layer_selection experts(json, config, 1);
    set_layers(json, config, [&](std::int64_t i) { return layer_spec{mixer, experts.has(i)}; });
}

}  // namespace hy_v3_detail

// transformers/models/hy_v3: QK-norm after the transposition; sigmoid router
inline constexpr model_spec hy_v3 = [](model_spec spec) {
    spec.model_type = "hy_v3";
    spec.class_prefix = "HYV3";
    spec.parse_config = hy_v3_detail::parse_config;
    spec.family_keys = hy_v3_detail::family_keys;
    spec.supported_heads = language_heads;
    spec.qk_norm = qk_norm_kind::per_head_transposed;
    spec.mlp = hy_v3_detail::mlp;
    spec.names.moe_class = "MoE";
    spec.multi_token_prediction = mtp_with_last_layer_spec;  // vllm/model_executor/models/hy_v3_mtp.py
    spec.defaults.vocab_size = 120832;
    spec.defaults.intermediate_size = 13312;
    spec.defaults.num_hidden_layers = 80;
    spec.defaults.num_attention_heads = 64;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.moe = {.num_experts = 192, .num_experts_per_tok = 8, .intermediate_size = 1536};
    return spec;
}(llama);

}  // namespace llmcost::arch
