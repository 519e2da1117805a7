// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/linear.hpp>
#include <llmcost/model/model_spec.hpp>

// Building blocks of MLPs: dense, and mixture of experts (MoE).
//
// Shapes: n = tokens, k = experts per token, width = hidden size.
namespace llmcost {

/// A dense MLP of the model, as child module `name`: (…, width) -> (…, width).
constexpr tensor call_mlp(const layer_context& ctx, trace& t, literal name, std::int64_t intermediate_size,
                          const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    const literal prefix = is_empty(n.mlp_class_prefix) ? ctx.spec.class_prefix : n.mlp_class_prefix;
    const mlp_module block{ctx.spec.dense_mlp,    ctx.config.hidden_size, intermediate_size, ctx.config.hidden_act,
                           {prefix, n.mlp_class}, ctx.config.mlp_bias,    n.mlp_modules};
    return t.call(name, block, x);
}

/// The router of the model: tokens (n, width) -> weights (n, k).
constexpr tensor call_router(const layer_context& ctx, trace& t, const tensor& tokens) {
    const moe_config& moe = ctx.config.moe;
    const router_config r{ctx.config.hidden_size,
                          moe.num_experts,
                          moe.num_experts_per_tok,
                          moe.n_group,
                          moe.topk_group,
                          moe.has_group_limit,
                          moe.norm_topk_prob,
                          ctx.spec.router == router_kind::top_k_softmax,
                          moe.has_float32_correction};
    const moe_router router{ctx.spec.router, r, ctx.class_of(ctx.spec.names.router_class)};
    const tensor_pair routed = t.call(ctx.spec.names.router, router, tokens);
    t.record_router_logits(routed.first);
    return routed.second;
}

/// The routed experts of the model: tokens (n, width), weights (n, k) -> (n, width).
constexpr tensor call_experts(const layer_context& ctx, trace& t, const tensor& tokens, const tensor& weights) {
    const moe_config& moe = ctx.config.moe;
    const routed_experts_base all{ctx.config.hidden_size, moe.intermediate_size,
                                  moe.num_experts,        moe.num_experts_per_tok,
                                  ctx.config.hidden_act,  ctx.class_of(ctx.spec.names.experts_class)};
    if (ctx.spec.expert == expert_kind::gated)
        return t.call("experts", experts<expert_kind::gated>{all}, tokens, weights);
    return t.call("experts", experts<expert_kind::clamped_swiglu>{all}, tokens, weights);
}

/// MoE block: router, routed experts and optional shared experts. (B, S, width) -> (B, S, width).
struct moe_block {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of(ctx.spec.names.moe_class); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, intermediate_size = ctx.config.moe.shared_intermediate_size;
        const shared_expert_kind shared = ctx.spec.shared_experts;
        const tensor tokens = x.view({-1, width});
        tensor shared_output;
        if (shared == shared_expert_kind::gated)
            shared_output = call_mlp(ctx, t, "shared_expert", intermediate_size, tokens);
        const tensor weights = call_router(ctx, t, tokens);
        const tensor routed = call_experts(ctx, t, tokens, weights);
        if (shared == shared_expert_kind::gated) {
            const tensor gate = t.sigmoid(t.call("shared_expert_gate", linear{width, 1}, tokens));
            return t.add(routed, t.mul(gate, shared_output)).view({x.dim(0), x.dim(1), width});
        }
        const tensor out = routed.view({x.dim(0), x.dim(1), width});
        if (shared == shared_expert_kind::none || intermediate_size == 0) return out;
        return t.add(out, call_mlp(ctx, t, "shared_experts", intermediate_size, x));
    }
};

/// A family-specific router: tokens (n, width) -> logits (n, experts) and weights (n, k).
using router_function = tensor_pair (*)(const layer_context&, trace&, const tensor&);

/// A module that calls a family-specific router.
struct custom_router_module {
    layer_context ctx;
    router_function rule;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of(ctx.spec.names.router_class); }
    constexpr tensor_pair forward(trace& t, const tensor& tokens) const { return rule(ctx, t, tokens); }
};
constexpr tensor call_custom_router(const layer_context& ctx, trace& t, router_function rule, const tensor& tokens) {
    const tensor_pair routed = t.call(ctx.spec.names.router, custom_router_module{ctx, rule}, tokens);
    t.record_router_logits(routed.first);
    return routed.second;
}

/// A module that calls a family-specific MoE block.
struct custom_moe_module {
    layer_context ctx;
    layer_forward_function mixture;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of(ctx.spec.names.moe_class); }
    constexpr tensor forward(trace& t, const tensor& x) const { return mixture(ctx, t, x); }
};

/// A family-specific MoE block if the layer has experts, otherwise a dense MLP: (B, S, width) -> (B, S, width).
constexpr tensor moe_or_dense_mlp(const layer_context& ctx, trace& t, layer_forward_function moe_block,
                                  const tensor& x) {
    const literal name = ctx.spec.names.mlp;
    if (ctx.layer.has_experts) return t.call(name, custom_moe_module{ctx, moe_block}, x);
    return call_mlp(ctx, t, name,
                    ctx.layer.intermediate_size != 0 ? ctx.layer.intermediate_size : ctx.config.intermediate_size, x);
}

/// Adds the load-balancing loss of routers with float32 logits, if enabled.
///
/// For the `model_spec::process_logits` of a family.
constexpr void add_load_balancing_loss(const layer_context& ctx, trace& t, bool is_enabled) {
    if (!is_enabled) return;
    const recorder::detach_guard unread{t};
    const std::int64_t routers = ctx.config.layers.num_layers_with_experts(ctx.config.num_hidden_layers);
    load_balancing_loss(t, routers, t.load().batch * t.load().sequence, ctx.config.moe, dtype::float32);
}

/// The default `model_spec::mlp`: an MoE block if the layer has experts, otherwise a dense MLP.
constexpr tensor default_mlp(const layer_context& ctx, trace& t, const tensor& x) {
    const literal name = ctx.spec.names.mlp;
    if (ctx.layer.has_experts) return t.call(name, moe_block{ctx}, x);
    return call_mlp(ctx, t, name,
                    ctx.layer.intermediate_size != 0 ? ctx.layer.intermediate_size : ctx.config.intermediate_size, x);
}

/// Sigmoids in float32; experts are picked by corrected ones, and weighed by their own, normed to one.
constexpr tensor_pair route_by_corrected_sigmoid(const layer_context& ctx, trace& t, const tensor& tokens) {
    const moe_config& moe = ctx.config.moe;
    const tensor logits = t.linear(tokens, t.param("weight", {moe.num_experts, ctx.config.hidden_size}));
    const tensor scores = t.sigmoid(t.to(logits, dtype::float32));
    tensor weights = select_with_correction(t, scores, correction_bias(t, moe.num_experts, moe.has_float32_correction),
                                            moe.num_experts_per_tok);
    t.div_(weights, t.sum(weights, -1, true));
    return {logits, weights};
}

/// MLP of two linear layers with biases, then dropout, as child module `mlp`. `up` and `down` are their names.
constexpr tensor mlp_with_dropout(const layer_context& ctx, trace& t, const tensor& x, literal up, literal down) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    const module_info block{.name = "mlp", .class_of_module = ctx.class_of("MLP"), .module_role = role::mlp};
    t.enter(block);
    const tensor h = t.call("act", activation_module{ctx.config.hidden_act}, t.call(up, linear{width, inner, true}, x));
    return t.leave(block, dropout(t, "dropout", t.call(down, linear{inner, width, true}, h)));
}

/// MoE block with a custom router and without shared experts: (B, S, width) -> (B, S, width).
template <router_function Router>
constexpr tensor routed_experts_block(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor tokens = t.reshape(x, {-1, ctx.config.hidden_size});
    return call_experts(ctx, t, tokens, call_custom_router(ctx, t, Router, tokens)).view({x.dim(0), x.dim(1), -1});
}

}  // namespace llmcost
