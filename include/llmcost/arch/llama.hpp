// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

// transformers/models/llama: configuration_llama.py, modeling_llama.py
inline constexpr architecture llama = [](architecture a) {
    a.model_type = "llama", a.prefix = "Llama", a.heads = answering_decoder_heads;
    a.names.base_under_answers = "transformer";
    a.defaults.vocab_size = 32000, a.defaults.hidden_size = 4096, a.defaults.intermediate_size = 11008;
    a.defaults.num_hidden_layers = 32, a.defaults.num_attention_heads = 32, a.defaults.max_position_embeddings = 2048;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
