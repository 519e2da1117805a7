// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/forward/decoder.hpp>
#include <llmcost/forward/multimodal.hpp>

// A text model whose embeddings are scaled after features are inserted (Granite).
namespace llmcost {

/// Traces the text model. `place` inserts features into the token embeddings before they are scaled; `layer` calls one
/// layer.
template <class Place, class Layer>
constexpr tensor forward_scaled_text_model(const layer_context& ctx, trace& t, literal name, const Place& place,
                                           const Layer& layer) {
    const layer_context text = ctx.text_model();
    const module_info m{.name = name, .class_of_module = text.class_of(text.spec.names.model_class)};
    t.enter(m);
    tensor x = t.leave(m, embed_tokens(text, t));
    x = place(x);
    t.enter(m);
    x = t.mul_scalar(x);
    const decoder_inputs shared = text.spec.prepare_inputs(text, t);
    for (loop layer_loop = t.loop_modules(text.config.num_hidden_layers, text.config.layers, x); layer_loop.next();)
        x = layer(text.for_layer(layer_loop, shared.for_layer(layer_loop.layer())), x);
    return t.leave(m, apply_norm(text, t, text.spec.names.norm, x));
}

}  // namespace llmcost
