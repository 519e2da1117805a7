// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/blenderbot.hpp>

namespace llmcost::arch {

namespace blenderbot_small_detail {

inline constexpr family_key family_keys[]{
    {"decoder_layers", 8}, {"decoder_attention_heads", 16}, {"decoder_ffn_dim", 2048}, {"encoder_ffn_dim", 2048}};

// the decoder does not scale its embeddings and normalizes them before it adds positions:
// `BlenderbotSmallDecoder.forward`
inline constexpr stack_style style{
    .has_token_only_norm = true, .scale = embedding_scaling::encoder_only, .positions = learned_positions};

}  // namespace blenderbot_small_detail

/// Traces Blenderbot Small: learned positions and post-norm layers.
///
/// Source: transformers/models/blenderbot_small/modeling_blenderbot_small.py.
constexpr tensor forward_blenderbot_small(const layer_context& ctx, trace& t) {
    return forward_sequence_model(ctx, t, blenderbot_small_detail::style);
}

// Blenderbot Small. Derived from Blenderbot.
//
// Source: transformers/models/blenderbot_small: configuration_blenderbot_small.py, modeling_blenderbot_small.py
inline constexpr model_spec blenderbot_small = [](model_spec spec) {
    spec.model_type = "blenderbot-small";
    spec.class_prefix = "BlenderbotSmall";
    spec.forward = forward_blenderbot_small;
    spec.family_keys = blenderbot_small_detail::family_keys;
    spec.defaults.vocab_size = 50265;
    spec.defaults.hidden_size = 512;
    spec.defaults.max_position_embeddings = 512;
    spec.defaults.num_hidden_layers = 8;
    spec.defaults.num_attention_heads = 16;
    return spec;
}(blenderbot);

}  // namespace llmcost::arch
