// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/sequence_stacks.hpp>
#include <llmcost/walks/sequence_stacks.hpp>

namespace llmcost::arch {

namespace bart_detail {

inline constexpr own_key keys[]{
    {"decoder_layers", 12}, {"decoder_attention_heads", 16}, {"decoder_ffn_dim", 4096}, {"encoder_ffn_dim", 4096}};
inline constexpr own_key plbart_keys[]{
    {"decoder_layers", 6}, {"decoder_attention_heads", 12}, {"decoder_ffn_dim", 3072}, {"encoder_ffn_dim", 3072}};
inline constexpr stack_style style{.positions = learned_positions_after_two};
inline constexpr stack_style mbart_style{
    .norm_first = true, .norm_last = "layer_norm", .positions = learned_positions_after_two};

}  // namespace bart_detail

/// Learned positions and post-norms.
///
/// Source: transformers/models/bart/modeling_bart.py.
constexpr value describe_bart(const site& here, trace& t) { return describe_stacks(here, t, bart_detail::style); }
constexpr value describe_bart_stacks(const site& here, trace& t) { return describe_both_stacks(here, t, bart_detail::style); }

/// Norms in front of blocks and behind the layers.
///
/// Source: transformers/models/mbart/modeling_mbart.py.
constexpr value describe_mbart(const site& here, trace& t) { return describe_stacks(here, t, bart_detail::mbart_style); }
constexpr value describe_mbart_stacks(const site& here, trace& t) {
    return describe_both_stacks(here, t, bart_detail::mbart_style);
}

// transformers/models/bart: configuration_bart.py, modeling_bart.py
inline constexpr architecture bart{
    .model_type = "bart",
    .prefix = "Bart",
    .describe = describe_bart,
    .base = describe_bart_stacks,
    .read = read_stacks,
    .own = bart_detail::keys,
    .drops = stack_dropout,
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::causal_lm, head_kind::conditional_generation, head_kind::sequence_classification,
              head_kind::question_answering},
    .keys = {{"hidden_size", "d_model", key_rule::standard_first},
             {"num_attention_heads", "encoder_attention_heads", key_rule::standard_first},
             {"num_hidden_layers", "encoder_layers", key_rule::standard_first},
             {"hidden_act", "activation_function", key_rule::written_only},
             no_key_value_heads},
    .defaults = {.vocab_size = 50265,
                 .hidden_size = 1024,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 16,
                 .max_position_embeddings = 1024,
                 .num_labels = 3,
                 .hidden_act = activation::gelu,
                 .tie_word_embeddings = true},
};

// transformers/models/mbart: norms in front of blocks
inline constexpr architecture mbart = [](architecture a) {
    a.model_type = "mbart", a.prefix = "MBart", a.describe = describe_mbart, a.base = describe_mbart_stacks;
    a.defaults.num_labels = 2;
    return a;
}(bart);

// transformers/models/plbart: BART for programs, without a class that answers questions
inline constexpr architecture plbart = [](architecture a) {
    a.model_type = "plbart", a.prefix = "PLBart", a.own = bart_detail::plbart_keys;
    a.heads = {head_kind::none, head_kind::causal_lm, head_kind::conditional_generation, head_kind::sequence_classification};
    a.defaults.vocab_size = 50005, a.defaults.hidden_size = 768, a.defaults.num_hidden_layers = 6;
    a.defaults.num_attention_heads = 12, a.defaults.num_labels = 2;
    return a;
}(bart);

}  // namespace llmcost::arch
