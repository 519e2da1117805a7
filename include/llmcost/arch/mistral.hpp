// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

/// Every layer slides where the configuration has a window, or those that a list names (Mistral, Phi-3, StarCoder2).
constexpr void read_window(config_view config, sizes& s) {
    if (!read_layer_types(config, s) || !s.layers.mixed()) plan_one_mask(config, s);
}

namespace mistral_detail {

/// Ministral makes a mask of the window whatever its layers are; these are listed, or slide.
constexpr void read_ministral(config_view config, sizes& s) {
    check_window_is_given(config);
    if (const auto given = config.find("head_dim"); !given || given->is_null())
        fail_missing(config, "head_dim", "a positive integer");
    if (!read_layer_types(config, s)) s.layers.set_all({mixer_kind::sliding_attention});
}

/// Queries are scaled by where their tokens stand: 1 + β · log(1 + floor(position / length)), made in every layer.
constexpr value attend_by_position(const site& here, trace& t, const value& x) {
    const std::int64_t sequence = x.dim(1);
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    turn(here, t, of);
    const value steps = t.unary(op::compare, t.div(trace::buffer({1, sequence})));
    const value scale = t.add(t.mul(t.unary(op::log, t.add(steps)))).view({1, 1, sequence, 1});
    of.q = t.mul(of.q, t.to(scale, of.q.type));
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

/// The scale needs both of its numbers; `original_max_position_embeddings` is filled in for types that stretch.
constexpr void read_ministral3(config_view config, sizes& s) {
    read_window(config, s);
    const auto rope = detail::rope_parameters(config);
    if (!rope) return;
    (void)rope->real("llama_4_scaling_beta");
    for (const literal type : {"yarn", "llama3", "longrope"})
        if (detail::has_type_of_rope(*rope, type)) return;
    (void)rope->real("original_max_position_embeddings");
}

}  // namespace mistral_detail

// transformers/models/mistral: one mask, sliding where there is a window
inline constexpr architecture mistral = [](architecture a) {
    a.model_type = "mistral", a.prefix = "Mistral", a.read = read_window;
    a.names.base_under_answers = "model";
    a.defaults.intermediate_size = 14336, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 131072, a.defaults.sliding_window = 4096;
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    return a;
}(llama);

// transformers/models/ministral: a mask for each kind of layer
inline constexpr architecture ministral = [](architecture a) {
    a.model_type = "ministral", a.prefix = "Ministral", a.read = mistral_detail::read_ministral;
    a.masks = mask_rule::full_and_sliding, a.names.base_under_answers = "transformer";
    return a;
}(mistral);

// transformers/models/ministral3: queries scaled by where their tokens stand
inline constexpr architecture ministral3 = [](architecture a) {
    a.model_type = "ministral3", a.prefix = "Ministral3", a.read = mistral_detail::read_ministral3;
    a.attend = mistral_detail::attend_by_position;
    a.defaults.vocab_size = 131072, a.defaults.num_hidden_layers = 34, a.defaults.head_dim = 128;
    a.defaults.max_position_embeddings = 262144, a.defaults.sliding_window = 0;
    return a;
}(mistral);

}  // namespace llmcost::arch
