// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>

namespace llmcost::arch {

namespace blenderbot_detail {

inline constexpr own_key keys[]{
    {"decoder_layers", 24}, {"decoder_attention_heads", 32}, {"decoder_ffn_dim", 10240}, {"encoder_ffn_dim", 10240}};
inline constexpr own_key small_keys[]{
    {"decoder_layers", 8}, {"decoder_attention_heads", 16}, {"decoder_ffn_dim", 2048}, {"encoder_ffn_dim", 2048}};
inline constexpr stack_style style{
    .norm_first = true, .norm_embedding = "", .norm_last = "layer_norm", .positions = learned_positions};
// the decoder scales no words and norms them by themselves: `BlenderbotSmallDecoder.forward`
inline constexpr stack_style small_style{
    .norm_words_only = true, .scale = word_scale::encoder_only, .positions = learned_positions};

}  // namespace blenderbot_detail

/// Learned positions, norms in front of blocks.
///
/// Source: transformers/models/blenderbot/modeling_blenderbot.py.
constexpr value describe_blenderbot(const site& here, trace& t) {
    return describe_stacks(here, t, blenderbot_detail::style);
}

/// Learned positions, norms behind blocks.
///
/// Source: transformers/models/blenderbot_small/modeling_blenderbot_small.py.
constexpr value describe_blenderbot_small(const site& here, trace& t) {
    return describe_stacks(here, t, blenderbot_detail::small_style);
}

// transformers/models/blenderbot: configuration_blenderbot.py, modeling_blenderbot.py
inline constexpr architecture blenderbot = [](architecture a) {
    a.model_type = "blenderbot", a.prefix = "Blenderbot", a.describe = describe_blenderbot;
    a.own = blenderbot_detail::keys;
    a.heads = {head_kind::none, head_kind::causal_lm, head_kind::conditional_generation};
    a.defaults.vocab_size = 8008, a.defaults.hidden_size = 2560, a.defaults.max_position_embeddings = 128;
    a.defaults.num_hidden_layers = 2, a.defaults.num_attention_heads = 32, a.defaults.num_labels = 2;
    return a;
}(bart);

// transformers/models/blenderbot_small: configuration_blenderbot_small.py, modeling_blenderbot_small.py
inline constexpr architecture blenderbot_small = [](architecture a) {
    a.model_type = "blenderbot-small", a.prefix = "BlenderbotSmall", a.describe = describe_blenderbot_small;
    a.own = blenderbot_detail::small_keys;
    a.defaults.vocab_size = 50265, a.defaults.hidden_size = 512, a.defaults.max_position_embeddings = 512;
    a.defaults.num_hidden_layers = 8, a.defaults.num_attention_heads = 16;
    return a;
}(blenderbot);

}  // namespace llmcost::arch
