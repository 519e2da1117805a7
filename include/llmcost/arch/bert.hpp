// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/encoder.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/encoder_model.hpp>

// Source: transformers/models/bert: configuration_bert.py, modeling_bert.py

namespace llmcost::arch {

namespace bert_detail {

constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, bert_heads); }

}  // namespace bert_detail

inline constexpr model_spec bert = [](model_spec spec) {
    spec.model_type = "bert";
    spec.class_prefix = "Bert";
    spec.forward = bert_detail::forward;
    spec.parse_config = parse_decoding_encoder;
    spec.supported_heads = {head_kind::none,
                            head_kind::causal_lm,
                            head_kind::masked_lm,
                            head_kind::pretraining,
                            head_kind::next_sentence,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.base_model = "bert";
    spec.names.causal_lm_class = "LMHeadModel";
    spec.defaults.vocab_size = 30522;
    spec.defaults.hidden_size = 768;
    spec.defaults.intermediate_size = 3072;
    spec.defaults.num_hidden_layers = spec.defaults.num_attention_heads = 12;
    spec.defaults.max_position_embeddings = 512;
    spec.defaults.type_vocab_size = 2;
    spec.defaults.hidden_act = activation::gelu;
    spec.defaults.tie_word_embeddings = true;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    return spec;
}(shared_encoder);

}  // namespace llmcost::arch
