// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/forward/decoder.hpp>

// Composite models: encoders of images or audio, and a text model.
namespace llmcost {

/// The base model of the text model, as child module `name`.
constexpr tensor forward_text_model(const layer_context& ctx, trace& t, literal name) {
    const layer_context text = ctx.text_model();
    return forward_in_module({.name = name, .class_of_module = text.class_of(text.spec.names.model_class)},
                             text.spec.base_model, text, t);
}

/// The base model of the text model, with masks created by the parent.
///
/// Source: transformers/models/gemma3/modeling_gemma3.py, `create_masks_for_generate` in `Gemma3Model`.
constexpr tensor forward_masked_text_model(const layer_context& ctx, trace& t, literal name) {
    const layer_context text = ctx.text_model();
    const decoder_inputs made = make_masks(text, t);
    const module_info m{.name = name, .class_of_module = text.class_of(text.spec.names.model_class)};
    t.enter(m);
    const tensor x = text.spec.embed_tokens(text, t);
    const decoder_inputs shared = add_rotary_embeddings(text, t, made);
    return t.leave(m, apply_norm(text, t, text.spec.names.norm, forward_layers(text, t, shared, x)));
}

/// The base model of an encoder, as child module `name`.
constexpr tensor forward_encoder_component(const layer_context& ctx, trace& t, std::size_t component_index,
                                           literal name, role module_role) {
    const layer_context tower = ctx.component(component_index);
    const module_info m{
        .name = name, .class_of_module = tower.class_of(tower.spec.names.model_class), .module_role = module_role};
    return forward_in_module(m, tower.spec.base_model, tower, t);
}

/// Projects encoder features to the text model's hidden size: linear, activation, linear.
struct projector {
    class_name named;
    std::int64_t in;
    std::int64_t inner;
    std::int64_t out;
    bool bias;
    activation act;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor h = t.call("act", activation_module{act}, t.call("linear_1", linear{in, inner, bias}, x));
        return t.call("linear_2", linear{inner, out, bias}, h);
    }
};

/// Heads of most composite models: none, or a language model head.
inline constexpr head_set composite_heads{head_kind::none, head_kind::conditional_generation};

/// Base model spec of composite models.
inline constexpr model_spec shared_composite = [](model_spec spec) {
    spec.forward = forward_decoder;
    spec.supported_heads = composite_heads;
    spec.defaults.head = head_kind::conditional_generation;
    return spec;
}(model_spec{});

}  // namespace llmcost
