// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>

namespace llmcost::arch {

namespace plbart_detail {

inline constexpr family_key family_keys[]{
    {"decoder_layers", 6}, {"decoder_attention_heads", 12}, {"decoder_ffn_dim", 3072}, {"encoder_ffn_dim", 3072}};

}  // namespace plbart_detail

// PLBART. BART for programming languages, without a question-answering class.
//
// Source: transformers/models/plbart
inline constexpr model_spec plbart = [](model_spec spec) {
    spec.model_type = "plbart";
    spec.class_prefix = "PLBart";
    spec.family_keys = plbart_detail::family_keys;
    spec.supported_heads = {head_kind::none, head_kind::causal_lm, head_kind::conditional_generation,
                            head_kind::sequence_classification};
    spec.defaults.vocab_size = 50005;
    spec.defaults.hidden_size = 768;
    spec.defaults.num_hidden_layers = 6;
    spec.defaults.num_attention_heads = 12;
    spec.defaults.num_labels = 2;
    return spec;
}(bart);

}  // namespace llmcost::arch
