// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/sequence_stacks.hpp>
#include <llmcost/forward/encoder_decoder_stacks.hpp>

namespace llmcost::arch {

namespace bart_detail {

inline constexpr family_key family_keys[]{
    {"decoder_layers", 12}, {"decoder_attention_heads", 16}, {"decoder_ffn_dim", 4096}, {"encoder_ffn_dim", 4096}};

}  // namespace bart_detail

/// Traces BART: learned positions and post-norm layers.
///
/// Source: transformers/models/bart/modeling_bart.py.
constexpr tensor forward_bart(const layer_context& ctx, trace& t) {
    return forward_sequence_model(ctx, t, bart_stack_style);
}

constexpr tensor forward_bart_encoder_decoder(const layer_context& ctx, trace& t) {
    return forward_encoder_decoder(ctx, t, bart_stack_style);
}

// Source: transformers/models/bart: configuration_bart.py, modeling_bart.py
inline constexpr model_spec bart{
    .model_type = "bart",
    .class_prefix = "Bart",
    .forward = forward_bart,
    .base_model = forward_bart_encoder_decoder,
    .parse_config = parse_stacks,
    .family_keys = bart_detail::family_keys,
    .dropout_keys = stack_dropout,
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::none, head_kind::causal_lm, head_kind::conditional_generation,
                        head_kind::sequence_classification, head_kind::question_answering},
    .config_keys = {{"hidden_size", "d_model", key_rule::standard_name_first},
                    {"num_attention_heads", "encoder_attention_heads", key_rule::standard_name_first},
                    {"num_hidden_layers", "encoder_layers", key_rule::standard_name_first},
                    {"hidden_act", "activation_function", key_rule::family_name_only},
                    absent_num_key_value_heads},
    .defaults = {.vocab_size = 50265,
                 .hidden_size = 1024,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 16,
                 .max_position_embeddings = 1024,
                 .num_labels = 3,
                 .hidden_act = activation::gelu,
                 .tie_word_embeddings = true},
};

}  // namespace llmcost::arch
