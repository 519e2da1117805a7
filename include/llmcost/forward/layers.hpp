// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/activation.hpp>
#include <llmcost/model/model_spec.hpp>

// Layers of a decoder: where norms and residuals stand around what mixes tokens and what feeds forward.
namespace llmcost {

/// A norm of a layer or behind all of them.
constexpr tensor apply_norm(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    return call_norm(t, name, ctx.spec.norm, ctx.config.hidden_size, ctx.class_of(ctx.spec.names.norm_class), x);
}

/// What mixes the tokens of this layer: its recurrence, or attention.
constexpr tensor mix_tokens(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.layer.token_mixer != token_mixer_kind::recurrent) return ctx.spec.token_mixer(ctx, t, x);
    if (ctx.spec.recurrent_block == nullptr) throw_description_error("a recurrent layer of a row without a recurrence");
    return ctx.spec.recurrent_block(ctx, t, x);
}

/// A dropout module, where the row has one of this name.
constexpr tensor apply_dropout(trace& t, literal name, const tensor& x) {
    return is_empty(name) ? x : dropout(t, name, x);
}

/// x + h.
constexpr tensor add_residual(const layer_context&, trace& t, const tensor& residual, const tensor& x) {
    return t.add(residual, x);
}
/// x + h, of which something is dropped.
constexpr tensor add_residual_with_dropout(const layer_context&, trace& t, const tensor& residual, const tensor& x) {
    return t.add(residual, functional_dropout(t, x, dropout_position::hidden));
}
/// x + h · constant.
constexpr tensor add_scaled_residual(const layer_context&, trace& t, const tensor& residual, const tensor& x) {
    return t.add(residual, t.mul_scalar(x));
}

/// Norm, mixer, residual; norm, feed-forward, residual (Llama).
constexpr tensor pre_norm_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    tensor h = mix_tokens(ctx, t, apply_norm(ctx, t, n.pre_attention_norm, x));
    const tensor middle = ctx.spec.add_residual(ctx, t, x, apply_dropout(t, n.attention_dropout, h));
    h = ctx.spec.mlp(ctx, t, apply_norm(ctx, t, n.pre_mlp_norm, middle));
    return ctx.spec.add_residual(ctx, t, middle, apply_dropout(t, n.mlp_dropout, h));
}

/// Norms on each block's output, inside of the residual (OLMo 2).
constexpr tensor post_norm_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    tensor h = apply_norm(ctx, t, n.post_attention_norm, apply_dropout(t, n.attention_dropout, mix_tokens(ctx, t, x)));
    const tensor middle = ctx.spec.add_residual(ctx, t, x, h);
    h = apply_norm(ctx, t, n.post_mlp_norm, apply_dropout(t, n.mlp_dropout, ctx.spec.mlp(ctx, t, middle)));
    return ctx.spec.add_residual(ctx, t, middle, h);
}

/// Norms before and after each block (Gemma 2).
constexpr tensor sandwich_norm_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    tensor h = mix_tokens(ctx, t, apply_norm(ctx, t, n.pre_attention_norm, x));
    const tensor middle = ctx.spec.add_residual(ctx, t, x, apply_norm(ctx, t, n.post_attention_norm, h));
    h = ctx.spec.mlp(ctx, t, apply_norm(ctx, t, n.pre_mlp_norm, middle));
    return ctx.spec.add_residual(ctx, t, middle, apply_norm(ctx, t, n.post_mlp_norm, h));
}

/// Mixer and feed-forward side by side behind one norm (Cohere).
constexpr tensor parallel_residual_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor h = apply_norm(ctx, t, ctx.spec.names.pre_attention_norm, x);
    const tensor a = mix_tokens(ctx, t, h);
    const tensor f = apply_dropout(t, ctx.spec.names.mlp_dropout, ctx.spec.mlp(ctx, t, h));
    return t.add(t.add(x, a), f);
}

/// The module around a row's `layer`.
struct decoder_layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const {
        const bool recurs = ctx.layer.token_mixer == token_mixer_kind::recurrent;
        return ctx.class_of(recurs ? ctx.spec.names.recurrent_layer_class : ctx.spec.names.layer_class);
    }
    constexpr tensor forward(trace& t, const tensor& x) const { return ctx.spec.decoder_layer(ctx, t, x); }
};

}  // namespace llmcost
