// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/activation.hpp>
#include <llmcost/model/model_spec.hpp>

// Decoder layers: order of norms, residual connections, token mixer and MLP.
//
// Shapes: B = batch, S = sequence (new tokens).
namespace llmcost {

/// The norm `name` of the layer or the model: (B, S, hidden) -> (B, S, hidden).
constexpr tensor apply_norm(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    return call_norm(t, name, ctx.spec.norm, ctx.config.hidden_size, ctx.class_of(ctx.spec.names.norm_class), x);
}

/// The token mixer of the layer: attention, or the recurrent block of a hybrid model.
///
/// Throws: `description_error` if the layer is recurrent and the model spec has no recurrent block.
constexpr tensor mix_tokens(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.layer.token_mixer != token_mixer_kind::recurrent) return ctx.spec.token_mixer(ctx, t, x);
    if (ctx.spec.recurrent_block == nullptr)
        throw_description_error("the layer is recurrent, but the model spec has no recurrent_block");
    return ctx.spec.recurrent_block(ctx, t, x);
}

/// The dropout module `name`. Returns x if the name is empty.
constexpr tensor apply_dropout(trace& t, literal name, const tensor& x) {
    return is_empty(name) ? x : dropout(t, name, x);
}

/// residual + x.
constexpr tensor add_residual(const layer_context&, trace& t, const tensor& residual, const tensor& x) {
    return t.add(residual, x);
}
/// residual + dropout(x).
constexpr tensor add_residual_with_dropout(const layer_context&, trace& t, const tensor& residual, const tensor& x) {
    return t.add(residual, functional_dropout(t, x, dropout_position::hidden));
}
/// residual + x · multiplier.
constexpr tensor add_scaled_residual(const layer_context&, trace& t, const tensor& residual, const tensor& x) {
    return t.add(residual, t.mul_scalar(x));
}

/// Pre-norm decoder layer (Llama): (B, S, hidden) -> (B, S, hidden).
///
///     h = x + mix_tokens(norm(x))
///     y = h + mlp(norm(h))
constexpr tensor pre_norm_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    tensor h = mix_tokens(ctx, t, apply_norm(ctx, t, n.pre_attention_norm, x));
    const tensor middle = ctx.spec.add_residual(ctx, t, x, apply_dropout(t, n.attention_dropout, h));
    h = ctx.spec.mlp(ctx, t, apply_norm(ctx, t, n.pre_mlp_norm, middle));
    return ctx.spec.add_residual(ctx, t, middle, apply_dropout(t, n.mlp_dropout, h));
}

/// Post-norm decoder layer, with norms before the residual addition (OLMo 2): (B, S, hidden) -> (B, S, hidden).
///
///     h = x + norm(mix_tokens(x))
///     y = h + norm(mlp(h))
constexpr tensor post_norm_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    tensor h = apply_norm(ctx, t, n.post_attention_norm, apply_dropout(t, n.attention_dropout, mix_tokens(ctx, t, x)));
    const tensor middle = ctx.spec.add_residual(ctx, t, x, h);
    h = apply_norm(ctx, t, n.post_mlp_norm, apply_dropout(t, n.mlp_dropout, ctx.spec.mlp(ctx, t, middle)));
    return ctx.spec.add_residual(ctx, t, middle, h);
}

/// Decoder layer with norms before and after each block (Gemma 2): (B, S, hidden) -> (B, S, hidden).
///
///     h = x + norm(mix_tokens(norm(x)))
///     y = h + norm(mlp(norm(h)))
constexpr tensor sandwich_norm_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    tensor h = mix_tokens(ctx, t, apply_norm(ctx, t, n.pre_attention_norm, x));
    const tensor middle = ctx.spec.add_residual(ctx, t, x, apply_norm(ctx, t, n.post_attention_norm, h));
    h = ctx.spec.mlp(ctx, t, apply_norm(ctx, t, n.pre_mlp_norm, middle));
    return ctx.spec.add_residual(ctx, t, middle, apply_norm(ctx, t, n.post_mlp_norm, h));
}

/// Decoder layer with parallel attention and MLP (Cohere): (B, S, hidden) -> (B, S, hidden).
///
///     h = norm(x)
///     y = x + mix_tokens(h) + mlp(h)
constexpr tensor parallel_residual_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor h = apply_norm(ctx, t, ctx.spec.names.pre_attention_norm, x);
    const tensor a = mix_tokens(ctx, t, h);
    const tensor f = apply_dropout(t, ctx.spec.names.mlp_dropout, ctx.spec.mlp(ctx, t, h));
    return t.add(t.add(x, a), f);
}

/// The module of a decoder layer. It calls `model_spec::decoder_layer`.
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

constexpr tensor norm_without_weight(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    return t.call(name, norm_module{norm_kind::rms_power, x.dim(-1), ctx.class_of("RMSNorm"), false}, x);
}

}  // namespace llmcost
