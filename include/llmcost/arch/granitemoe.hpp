// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/granite.hpp>
#include <llmcost/config/experts.hpp>

namespace llmcost::arch {

namespace granitemoe_detail {

enum family_config_index : std::uint8_t { weighs_balance };

inline constexpr family_key family_keys[]{{"output_router_logits", 0, family_key_type::boolean}};

constexpr tensor process_logits(const layer_context& ctx, trace& t, const tensor& scores) {
    const tensor out = divide_logits_by_scale(ctx, t, scores);
    add_load_balancing_loss(ctx, t, ctx.config.family[weighs_balance] != 0);
    return out;
}

/// Router: top-k logits, then a softmax over these in float32.
constexpr tensor_pair route(const layer_context& ctx, trace& t, const tensor& tokens) {
    const moe_config& moe = ctx.config.moe;
    const tensor weight = t.param("weight", {moe.num_experts, ctx.config.hidden_size});
    const tensor logits = t.to(t.linear(tokens, weight), dtype::float32);
    return {logits, t.to(t.softmax_method(t.topk(logits, moe.num_experts_per_tok)), tokens.type)};
}

/// MoE block with an optional shared expert.
constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor routed = moe_or_dense_mlp(ctx, t, routed_experts_block<route>, x);
    const std::int64_t inner = ctx.config.moe.shared_intermediate_size;
    if (inner == 0) return routed;
    return t.add(routed, call_mlp(ctx, t, "shared_mlp", inner, x));
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_local_experts(json, config);
    set_single_mask(json, config);
    config.layers.fill({config.layers[0].token_mixer, true});
}

}  // namespace granitemoe_detail

// Granite MoE. Derived from Granite, with experts weighted by a softmax over the top-k logits.
//
// Source: transformers/models/granitemoe
inline constexpr model_spec granitemoe = [](model_spec spec) {
    spec.model_type = "granitemoe";
    spec.class_prefix = "GraniteMoe";
    spec.parse_config = granitemoe_detail::parse_config;
    spec.mlp = granitemoe_detail::mlp;
    spec.family_keys = granitemoe_detail::family_keys;
    spec.process_logits = granitemoe_detail::process_logits;
    spec.names.mlp = "block_sparse_moe";
    spec.names.moe_class = "MoE";
    spec.names.router = "router";
    spec.defaults.moe.num_experts = 8;
    spec.defaults.moe.num_experts_per_tok = 2;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(granite);

}  // namespace llmcost::arch
