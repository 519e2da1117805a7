// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>

namespace llmcost::arch {

// transformers/models/llama: configuration_llama.py, modeling_llama.py
inline constexpr model_spec llama = [](model_spec spec) {
    spec.model_type = "llama";
    spec.class_prefix = "Llama";
    spec.supported_heads = answering_decoder_heads;
    spec.names.base_model_for_question_answering = "transformer";
    spec.defaults.vocab_size = 32000;
    spec.defaults.hidden_size = 4096;
    spec.defaults.intermediate_size = 11008;
    spec.defaults.num_hidden_layers = 32;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.max_position_embeddings = 2048;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
