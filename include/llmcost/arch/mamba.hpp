// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/layers/state_space.hpp>
#include <llmcost/layers/state_space_dual.hpp>

namespace llmcost::arch {

/// Keys that state space models have in common.
constexpr void parse_state_space(config_view json, model_config& config) {
    state_space_config& m = config.ssm;
    m.state_size = json.positive("state_size", m.state_size);
    m.conv_kernel = json.positive("conv_kernel", 4);
    m.use_bias = json.boolean("use_bias", false);
    m.use_conv_bias = json.boolean("use_conv_bias", true);
    m.residual_in_fp32 = json.boolean("residual_in_fp32", true);
    m.intermediate_size = json.positive("expand", 2) * config.hidden_size;
    if (m.intermediate_size > max_input) throw_unsupported(json, "hidden_size", "hidden_size * expand is too large");
    config.layers.fill({token_mixer_kind::recurrent});
}

/// Mamba-1: an inner width that the file states goes before `expand`; the rank of time steps may be "auto".
constexpr void parse_mamba(config_view json, model_config& config) {
    parse_state_space(json, config);
    if (config.intermediate_size > 0) config.ssm.intermediate_size = config.intermediate_size;
    config.ssm.time_step_rank = (config.hidden_size + 15) / 16;
    const auto rank = json.find("time_step_rank");
    if (rank && !(rank->is_string() && rank->as_string() == "auto")) config.ssm.time_step_rank = rank->as_positive();
}

/// Mamba-2: heads that make up the inner width, groups that share B and C.
constexpr void parse_mamba2(config_view json, model_config& config) {
    parse_state_space(json, config);
    state_space_config& m = config.ssm;
    m.num_heads = json.positive("num_heads", 128);
    m.head_dim = json.positive("head_dim", 64);
    m.n_groups = json.positive("n_groups", 8);
    m.chunk_size = json.positive("chunk_size", 256);
    if (m.num_heads * m.head_dim != m.intermediate_size)
        throw_invalid_value(json, "num_heads", "hidden_size * expand / head_dim heads");
    if (m.num_heads % m.n_groups != 0) throw_invalid_value(json, "n_groups", "a divisor of num_heads");
    if (m.n_groups * m.state_size > max_input)
        throw_unsupported(json, "state_size", "n_groups * state_size is too large");
}

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
constexpr tensor forward_mamba(const layer_context& ctx, trace& t) {
    return forward_state_space(ctx, t, Mixer);
}

// transformers/models/mamba: configuration_mamba.py, modeling_mamba.py
inline constexpr model_spec mamba{
    .model_type = "mamba",
    .class_prefix = "Mamba",
    .forward = forward_mamba<state_space_mixer::selective>,
    .parse_config = parse_mamba,
    .dropout_keys = dropout_key_table::none(),
    .supported_layers = supported_layer_set{} | token_mixer_kind::recurrent,
    .defaults = {.vocab_size = 50280,
                 .hidden_size = 768,
                 .num_hidden_layers = 32,
                 .tie_word_embeddings = true,
                 .ssm = {.state_size = 16}},
};

// transformers/models/falcon_mamba: norms without weights over time steps, B and C
inline constexpr model_spec falcon_mamba = [](model_spec spec) {
    spec.model_type = "falcon_mamba";
    spec.class_prefix = "FalconMamba";
    spec.forward = forward_mamba<state_space_mixer::selective_normed>;
    return spec;
}(mamba);

// transformers/models/mamba2: a scan by chunks over heads, one projection, a gated norm
inline constexpr model_spec mamba2{
    .model_type = "mamba2",
    .class_prefix = "Mamba2",
    .forward = forward_mamba<state_space_mixer::dual>,
    .parse_config = parse_mamba2,
    .dropout_keys = dropout_key_table::none(),
    .supported_layers = supported_layer_set{} | token_mixer_kind::recurrent,
    .defaults = {.vocab_size = 32768, .hidden_size = 4096, .num_hidden_layers = 64, .ssm = {.state_size = 128}},
};

}  // namespace llmcost::arch
