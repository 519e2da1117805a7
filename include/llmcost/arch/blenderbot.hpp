// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>

namespace llmcost::arch {

namespace blenderbot_detail {

inline constexpr family_key family_keys[]{
    {"decoder_layers", 24}, {"decoder_attention_heads", 32}, {"decoder_ffn_dim", 10240}, {"encoder_ffn_dim", 10240}};

inline constexpr stack_style style{
    .norm_first = true, .norm_embedding = "", .norm_last = "layer_norm", .positions = learned_positions};

}  // namespace blenderbot_detail

/// Traces Blenderbot: learned positions and pre-norm layers.
///
/// Source: transformers/models/blenderbot/modeling_blenderbot.py.
constexpr tensor forward_blenderbot(const layer_context& ctx, trace& t) {
    return forward_sequence_model(ctx, t, blenderbot_detail::style);
}

// Blenderbot. Derived from BART.
//
// Source: transformers/models/blenderbot: configuration_blenderbot.py, modeling_blenderbot.py
inline constexpr model_spec blenderbot = [](model_spec spec) {
    spec.model_type = "blenderbot";
    spec.class_prefix = "Blenderbot";
    spec.forward = forward_blenderbot;
    spec.family_keys = blenderbot_detail::family_keys;
    spec.supported_heads = {head_kind::none, head_kind::causal_lm, head_kind::conditional_generation};
    spec.defaults.vocab_size = 8008;
    spec.defaults.hidden_size = 2560;
    spec.defaults.max_position_embeddings = 128;
    spec.defaults.num_hidden_layers = 2;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.num_labels = 2;
    return spec;
}(bart);

}  // namespace llmcost::arch
