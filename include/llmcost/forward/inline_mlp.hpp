// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/attention.hpp>
#include <llmcost/forward/layers.hpp>

// MLPs whose modules are direct children of the decoder layer.
namespace llmcost {

/// Children of an MLP that a layer has among its own.
constexpr tensor mlp_in_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    tensor h = t.call("fc1", mlp_child<linear>{{width, inner, true}}, x);
    h = t.call("activation_fn", mlp_child<activation_module>{{ctx.config.hidden_act}}, h);
    return t.call("fc2", last_mlp_child<linear>{{inner, width, true}}, functional_dropout(t, h, dropout_position::mlp));
}

constexpr tensor inline_mlp_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor a = mix_tokens(ctx, t, apply_norm(ctx, t, "self_attn_layer_norm", x));
    const tensor middle = add_residual_with_dropout(ctx, t, x, a);
    const tensor f = mlp_in_layer(ctx, t, apply_norm(ctx, t, "final_layer_norm", middle));
    return add_residual_with_dropout(ctx, t, middle, f);
}

}  // namespace llmcost
