// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/state_space.hpp>
#include <llmcost/layers/state_space_dual.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

/// Keys that state space models have in common.
constexpr void read_state_space(config_view config, sizes& s) {
    state_space_sizes& m = s.ssm;
    m.state_size = config.positive("state_size", m.state_size);
    m.conv_kernel = config.positive("conv_kernel", 4);
    m.use_bias = config.boolean("use_bias", false);
    m.use_conv_bias = config.boolean("use_conv_bias", true);
    m.residual_in_fp32 = config.boolean("residual_in_fp32", true);
    m.intermediate_size = config.positive("expand", 2) * s.hidden_size;
    if (m.intermediate_size > largest_input)
        fail_unsupported(config, "hidden_size", "hidden_size * expand is too large a width");
    s.layers.set_all({mixer_kind::recurrent});
}

/// Mamba-1: an inner width that the file states goes before `expand`; the rank of time steps may be "auto".
constexpr void read_mamba(config_view config, sizes& s) {
    read_state_space(config, s);
    if (s.intermediate_size > 0) s.ssm.intermediate_size = s.intermediate_size;
    s.ssm.time_step_rank = (s.hidden_size + 15) / 16;
    const auto rank = config.find("time_step_rank");
    if (rank && !(rank->is_string() && rank->as_string() == "auto")) s.ssm.time_step_rank = rank->as_positive();
}

/// Mamba-2: heads that make up the inner width, groups that share B and C.
constexpr void read_mamba2(config_view config, sizes& s) {
    read_state_space(config, s);
    state_space_sizes& m = s.ssm;
    m.num_heads = config.positive("num_heads", 128);
    m.head_dim = config.positive("head_dim", 64);
    m.n_groups = config.positive("n_groups", 8);
    m.chunk_size = config.positive("chunk_size", 256);
    if (m.num_heads * m.head_dim != m.intermediate_size)
        fail_value(config, "num_heads", "hidden_size * expand / head_dim heads");
    if (m.num_heads % m.n_groups != 0) fail_value(config, "n_groups", "a divisor of num_heads");
    if (m.n_groups * m.state_size > largest_input)
        fail_unsupported(config, "state_size", "n_groups * state_size is too large a width");
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
    site here;
    state_space_mixer mixer;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Block"); }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::rms> before{here.dims.hidden_size, here.type("RMSNorm")};
        const value h = t.call("norm", before, t.to(x, t.activation_type()));
        const value residual = here.dims.ssm.residual_in_fp32 ? t.to(x, dtype::float32) : x;
        return t.add(residual, mixed(t, h));
    }

private:
    constexpr value mixed(trace& t, const value& h) const {
        const class_name named = here.type("Mixer");
        if (mixer == state_space_mixer::dual) {
            const dual_state_space layer{
                here.dims.hidden_size, here.dims.ssm, here.dims.hidden_act, named, {"Mamba", "RMSNormGated"}};
            return t.call("mixer", layer, h);
        }
        const state_norm norms = mixer == state_space_mixer::selective ? state_norm::none : state_norm::plain;
        const class_name norm_named = here.type("WeightlessRMSNorm");
        return t.call(
            "mixer",
            selective_state_space{here.dims.hidden_size, here.dims.ssm, here.dims.hidden_act, named, norms, norm_named}, h);
    }
};

/// Embedding, blocks with this mixer, last norm, and the head where there is one.
constexpr value describe_state_space(const site& here, trace& t, state_space_mixer mixer) {
    const bool bare = here.dims.head == head_kind::none;
    const module_info whole{.type = here.type("ForCausalLM")};
    const module_info base{.name = bare ? "" : "backbone", .type = here.type("Model")};
    if (!bare) t.enter(whole);
    t.enter(base);
    const extents ids{t.load().batch, t.load().sequence};
    value x = t.call("embeddings", embedding{here.dims.vocab_size, here.dims.hidden_size}, ids);
    for (repetition layer = t.repeat(here.dims.num_hidden_layers, x); layer.next();)
        x = t.call({"layers", layer.index()}, state_space_block{here, mixer}, x);
    x = t.call("norm_f", norm<norm_kind::rms>{here.dims.hidden_size, here.type("RMSNorm")}, x);
    t.leave(base);
    if (bare) return x;
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    const linear head{here.dims.hidden_size, here.dims.vocab_size, false, here.dims.tie_word_embeddings};
    const value scores = t.call("lm_head", head_linear{head}, t.to(kept_positions(t, x), t.activation_type()));
    return t.leave(whole, t.returns(x, t.to(scores, dtype::float32)));
}

template <state_space_mixer Mixer>
constexpr value describe_mamba(const site& here, trace& t) {
    return describe_state_space(here, t, Mixer);
}

// transformers/models/mamba: configuration_mamba.py, modeling_mamba.py
inline constexpr architecture mamba{
    .model_type = "mamba",
    .prefix = "Mamba",
    .describe = describe_mamba<state_space_mixer::selective>,
    .read = read_mamba,
    .drops = dropout_keys::none(),
    .kinds = understood_kinds{} | mixer_kind::recurrent,
    .defaults = {.vocab_size = 50280,
                 .hidden_size = 768,
                 .num_hidden_layers = 32,
                 .tie_word_embeddings = true,
                 .ssm = {.state_size = 16}},
};

// transformers/models/falcon_mamba: norms without weights over time steps, B and C
inline constexpr architecture falcon_mamba = [](architecture a) {
    a.model_type = "falcon_mamba", a.prefix = "FalconMamba",
    a.describe = describe_mamba<state_space_mixer::selective_normed>;
    return a;
}(mamba);

// transformers/models/mamba2: a scan by chunks over heads, one projection, a gated norm
inline constexpr architecture mamba2{
    .model_type = "mamba2",
    .prefix = "Mamba2",
    .describe = describe_mamba<state_space_mixer::dual>,
    .read = read_mamba2,
    .drops = dropout_keys::none(),
    .kinds = understood_kinds{} | mixer_kind::recurrent,
    .defaults = {.vocab_size = 32768, .hidden_size = 4096, .num_hidden_layers = 64, .ssm = {.state_size = 128}},
};

}  // namespace llmcost::arch
