// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/decoder.hpp>
#include <llmcost/layers/state_space.hpp>
#include <llmcost/layers/state_space_dual.hpp>

// Language models of state space blocks (Mamba, Mamba-2).
namespace llmcost {

/// What the blocks of a state space model mix tokens with.
enum class state_space_mixer : std::uint8_t {
    selective,
    selective_normed,  ///< with norms over time steps, B and C
    dual
};

/// A norm, a mixer and the residual around both.
///
/// Source: transformers/models/mamba/modeling_mamba.py, `MambaBlock`.
struct state_space_block {
    layer_context ctx;
    state_space_mixer mixer;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Block"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module input_norm{norm_kind::rms, ctx.config.hidden_size, ctx.class_of("RMSNorm")};
        const tensor h = t.call("norm", input_norm, t.to(x, t.activation_type()));
        const tensor residual = ctx.config.ssm.residual_in_fp32 ? t.to(x, dtype::float32) : x;
        return t.add(residual, mixed(t, h));
    }

private:
    constexpr tensor mixed(trace& t, const tensor& h) const {
        const class_name named = ctx.class_of("Mixer");
        if (mixer == state_space_mixer::dual) {
            const dual_state_space layer{
                ctx.config.hidden_size, ctx.config.ssm, ctx.config.hidden_act, named, {"Mamba", "RMSNormGated"}};
            return t.call("mixer", layer, h);
        }
        const state_norm norms = mixer == state_space_mixer::selective ? state_norm::none : state_norm::plain;
        const class_name norm_named = ctx.class_of("WeightlessRMSNorm");
        return t.call("mixer",
                      selective_state_space{ctx.config.hidden_size, ctx.config.ssm, ctx.config.hidden_act, named, norms,
                                            norm_named},
                      h);
    }
};

/// Embedding, blocks with this mixer, last norm, and the head where there is one.
constexpr tensor forward_state_space(const layer_context& ctx, trace& t, state_space_mixer mixer) {
    const bool bare = ctx.config.head == head_kind::none;
    const module_info model_info{.class_of_module = ctx.class_of("ForCausalLM")};
    const module_info base{.name = bare ? "" : "backbone", .class_of_module = ctx.class_of("Model")};
    if (!bare) t.enter(model_info);
    t.enter(base);
    const shape ids{t.load().batch, t.load().sequence};
    tensor x = t.call("embeddings", embedding{ctx.config.vocab_size, ctx.config.hidden_size}, ids);
    for (loop layer = t.loop_modules(ctx.config.num_hidden_layers, x); layer.next();)
        x = t.call({"layers", layer.index()}, state_space_block{ctx, mixer}, x);
    x = t.call("norm_f", norm_module{norm_kind::rms, ctx.config.hidden_size, ctx.class_of("RMSNorm")}, x);
    t.leave(base);
    if (bare) return x;
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    const linear head{ctx.config.hidden_size, ctx.config.vocab_size, false, ctx.config.tie_word_embeddings};
    const tensor scores = t.call("lm_head", head_linear{head}, t.to(logits_to_keep(t, x), t.activation_type()));
    return t.leave(model_info, t.select_model_output(x, t.to(scores, dtype::float32)));
}

template <state_space_mixer Mixer>
constexpr tensor forward_state_space_model(const layer_context& ctx, trace& t) {
    return forward_state_space(ctx, t, Mixer);
}

/// The recurrent block of a hybrid model: a Mamba-2 mixer of class `mixer_class`.
constexpr tensor mamba2_block(const layer_context& ctx, trace& t, const tensor& x, literal mixer_class) {
    const dual_state_space layer{ctx.config.hidden_size, ctx.config.ssm, ctx.config.hidden_act,
                                 ctx.class_of(mixer_class), ctx.class_of("RMSNormGated")};
    return t.call(ctx.spec.names.recurrent_block, layer, x);
}

}  // namespace llmcost
