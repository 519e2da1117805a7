// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>

namespace llmcost::arch {

namespace blenderbot_detail {

inline constexpr family_key family_keys[]{
    {"decoder_layers", 24}, {"decoder_attention_heads", 32}, {"decoder_ffn_dim", 10240}, {"encoder_ffn_dim", 10240}};
inline constexpr family_key small_keys[]{
    {"decoder_layers", 8}, {"decoder_attention_heads", 16}, {"decoder_ffn_dim", 2048}, {"encoder_ffn_dim", 2048}};
inline constexpr stack_style style{
    .norm_first = true, .norm_embedding = "", .norm_last = "layer_norm", .positions = learned_positions};
// the decoder does not scale its embeddings and normalizes them before it adds positions:
// `BlenderbotSmallDecoder.forward`
inline constexpr stack_style small_style{
    .has_token_only_norm = true, .scale = embedding_scaling::encoder_only, .positions = learned_positions};

}  // namespace blenderbot_detail

/// Traces Blenderbot: learned positions and pre-norm layers.
///
/// Source: transformers/models/blenderbot/modeling_blenderbot.py.
constexpr tensor forward_blenderbot(const layer_context& ctx, trace& t) {
    return forward_sequence_model(ctx, t, blenderbot_detail::style);
}

/// Traces Blenderbot Small: learned positions and post-norm layers.
///
/// Source: transformers/models/blenderbot_small/modeling_blenderbot_small.py.
constexpr tensor forward_blenderbot_small(const layer_context& ctx, trace& t) {
    return forward_sequence_model(ctx, t, blenderbot_detail::small_style);
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

// Blenderbot Small. Derived from Blenderbot.
//
// Source: transformers/models/blenderbot_small: configuration_blenderbot_small.py, modeling_blenderbot_small.py
inline constexpr model_spec blenderbot_small = [](model_spec spec) {
    spec.model_type = "blenderbot-small";
    spec.class_prefix = "BlenderbotSmall";
    spec.forward = forward_blenderbot_small;
    spec.family_keys = blenderbot_detail::small_keys;
    spec.defaults.vocab_size = 50265;
    spec.defaults.hidden_size = 512;
    spec.defaults.max_position_embeddings = 512;
    spec.defaults.num_hidden_layers = 8;
    spec.defaults.num_attention_heads = 16;
    return spec;
}(blenderbot);

}  // namespace llmcost::arch
