// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/decoder.hpp>

// Per-layer inputs: every layer reads its own embeddings of the tokens (Gemma 3n, Gemma 4).
namespace llmcost {

/// Per-layer embeddings from a separate table: (B, S, layers, width).
constexpr tensor embed_per_layer_inputs(const layer_context& ctx, trace& t, std::int64_t rows, std::int64_t width) {
    const std::int64_t layers = ctx.config.num_hidden_layers;
    const embedding token_embedding{rows, layers * width, true, ctx.class_of(ctx.spec.names.embedding_class)};
    const shape ids{t.load().batch, t.load().sequence};
    t.register_buffer({}, t.activation_type());  // `embed_scale` of the table
    const tensor found = t.call("embed_tokens_per_layer", token_embedding, ids);
    return t.reshape(found, {found.dim(0), found.dim(1), layers, width});
}

/// Per-layer inputs of all layers: the per-layer embeddings plus a projection of the input embeddings.
constexpr tensor projected_inputs(const layer_context& ctx, trace& t, const tensor& x, const tensor& per_layer_inputs,
                                  bool in_place) {
    const std::int64_t layers = per_layer_inputs.dim(2), width = per_layer_inputs.dim(3);
    tensor made = t.call("per_layer_model_projection", linear{ctx.config.hidden_size, layers * width}, x);
    if (in_place)
        t.mul_(made);
    else
        made = t.mul_scalar(made);
    const shape split{x.dim(0), x.dim(1), layers, width};
    const tensor projected = apply_norm(ctx, t, "per_layer_projection_norm", width, t.reshape(made, split));
    return t.mul_scalar(t.add(projected, per_layer_inputs));
}

}  // namespace llmcost
