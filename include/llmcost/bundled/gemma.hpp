// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

namespace llmcost {

/// Gemma 1 to 3, text models.
// clang-format off
inline constexpr bundled_config bundled_gemma[] = {
    {"google/gemma-2-27b"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py gemma2_27b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"gemma2","architectures":["Gemma2ForCausalLM"],"vocab_size":256000,"hidden_size":4608,)"
     R"("intermediate_size":36864,"num_hidden_layers":46,"num_attention_heads":32,"num_key_value_heads":16,)"
     R"("head_dim":128,"hidden_act":"gelu_pytorch_tanh","hidden_activation":"gelu_pytorch_tanh",)"
     R"("attention_bias":false,"attn_logit_softcapping":50.0,"final_logit_softcapping":30.0,)"
     R"("query_pre_attn_scalar":144,"max_position_embeddings":8192,"rope_theta":10000.0,"sliding_window":4096,)"
     R"("torch_dtype":"bfloat16"})"sv, 27227128320},
    {"google/gemma-2-27b-it"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py gemma2_27b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"gemma2","architectures":["Gemma2ForCausalLM"],"vocab_size":256000,"hidden_size":4608,)"
     R"("intermediate_size":36864,"num_hidden_layers":46,"num_attention_heads":32,"num_key_value_heads":16,)"
     R"("head_dim":128,"hidden_act":"gelu_pytorch_tanh","hidden_activation":"gelu_pytorch_tanh",)"
     R"("attention_bias":false,"attn_logit_softcapping":50.0,"final_logit_softcapping":30.0,)"
     R"("query_pre_attn_scalar":144,"max_position_embeddings":8192,"rope_theta":10000.0,"sliding_window":4096,)"
     R"("torch_dtype":"bfloat16"})"sv, 27227128320},
    {"google/gemma-2-2b"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py gemma2_2b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"gemma2","architectures":["Gemma2ForCausalLM"],"vocab_size":256000,"hidden_size":2304,)"
     R"("intermediate_size":9216,"num_hidden_layers":26,"num_attention_heads":8,"num_key_value_heads":4,)"
     R"("head_dim":256,"hidden_act":"gelu_pytorch_tanh","hidden_activation":"gelu_pytorch_tanh",)"
     R"("attention_bias":false,"attn_logit_softcapping":50.0,"final_logit_softcapping":30.0,)"
     R"("query_pre_attn_scalar":256,"max_position_embeddings":8192,"rope_theta":10000.0,"sliding_window":4096,)"
     R"("torch_dtype":"bfloat16"})"sv, 2614341888},
    {"google/gemma-2-2b-it"sv, "its own config.json"sv,
     R"({"model_type":"gemma2","architectures":["Gemma2ForCausalLM"],"vocab_size":256000,"hidden_size":2304,)"
     R"("intermediate_size":9216,"num_hidden_layers":26,"num_attention_heads":8,"num_key_value_heads":4,)"
     R"("head_dim":256,"hidden_act":"gelu_pytorch_tanh","hidden_activation":"gelu_pytorch_tanh",)"
     R"("attention_bias":false,"attn_logit_softcapping":50.0,"final_logit_softcapping":30.0,)"
     R"("query_pre_attn_scalar":256,"max_position_embeddings":8192,"rope_theta":10000.0,"sliding_window":4096,)"
     R"("torch_dtype":"bfloat16"})"sv, 2614341888},
    {"google/gemma-2-9b"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py gemma2_9b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"gemma2","architectures":["Gemma2ForCausalLM"],"vocab_size":256000,"hidden_size":3584,)"
     R"("intermediate_size":14336,"num_hidden_layers":42,"num_attention_heads":16,"num_key_value_heads":8,)"
     R"("head_dim":256,"hidden_act":"gelu_pytorch_tanh","hidden_activation":"gelu_pytorch_tanh",)"
     R"("attention_bias":false,"attn_logit_softcapping":50.0,"final_logit_softcapping":30.0,)"
     R"("query_pre_attn_scalar":256,"max_position_embeddings":8192,"rope_theta":10000.0,"sliding_window":4096,)"
     R"("torch_dtype":"bfloat16"})"sv, 9241705984},
    {"google/gemma-2-9b-it"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py gemma2_9b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"gemma2","architectures":["Gemma2ForCausalLM"],"vocab_size":256000,"hidden_size":3584,)"
     R"("intermediate_size":14336,"num_hidden_layers":42,"num_attention_heads":16,"num_key_value_heads":8,)"
     R"("head_dim":256,"hidden_act":"gelu_pytorch_tanh","hidden_activation":"gelu_pytorch_tanh",)"
     R"("attention_bias":false,"attn_logit_softcapping":50.0,"final_logit_softcapping":30.0,)"
     R"("query_pre_attn_scalar":256,"max_position_embeddings":8192,"rope_theta":10000.0,"sliding_window":4096,)"
     R"("torch_dtype":"bfloat16"})"sv, 9241705984},
    {"google/gemma-2b"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py gemma_2b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"gemma","architectures":["GemmaForCausalLM"],"vocab_size":256000,"hidden_size":2048,)"
     R"("intermediate_size":16384,"num_hidden_layers":18,"num_attention_heads":8,"num_key_value_heads":1,)"
     R"("head_dim":256,"hidden_act":"gelu","attention_bias":false,"max_position_embeddings":8192,"rope_theta":10000.0,)"
     R"("rope_scaling":null,"torch_dtype":"bfloat16"})"sv, 2506172416},
    {"google/gemma-2b-it"sv, "its own config.json"sv,
     R"({"model_type":"gemma","architectures":["GemmaForCausalLM"],"vocab_size":256000,"hidden_size":2048,)"
     R"("intermediate_size":16384,"num_hidden_layers":18,"num_attention_heads":8,"num_key_value_heads":1,)"
     R"("head_dim":256,"hidden_act":"gelu","attention_bias":false,"max_position_embeddings":8192,"rope_theta":10000.0,)"
     R"("rope_scaling":null,"torch_dtype":"bfloat16"})"sv, 2506172416},
    {"google/gemma-3-1b-it"sv, "its own config.json"sv,
     R"({"model_type":"gemma3_text","architectures":["Gemma3ForCausalLM"],"vocab_size":262144,"hidden_size":1152,)"
     R"("intermediate_size":6912,"num_hidden_layers":26,"num_attention_heads":4,"num_key_value_heads":1,)"
     R"("head_dim":256,"hidden_activation":"gelu_pytorch_tanh","attention_bias":false,"attn_logit_softcapping":null,)"
     R"("final_logit_softcapping":null,"query_pre_attn_scalar":256,"max_position_embeddings":32768,)"
     R"("rope_theta":1000000,"rope_local_base_freq":10000,"rope_scaling":null,"sliding_window":512,)"
     R"("sliding_window_pattern":6,"torch_dtype":"bfloat16"})"sv, 999885952},
    {"google/gemma-3-1b-pt"sv, "as google/gemma-3-1b-it; keras-hub 0.32.0 preset gemma3_1b"sv,
     R"({"model_type":"gemma3_text","architectures":["Gemma3ForCausalLM"],"vocab_size":262144,"hidden_size":1152,)"
     R"("intermediate_size":6912,"num_hidden_layers":26,"num_attention_heads":4,"num_key_value_heads":1,)"
     R"("head_dim":256,"hidden_activation":"gelu_pytorch_tanh","attention_bias":false,"attn_logit_softcapping":null,)"
     R"("final_logit_softcapping":null,"query_pre_attn_scalar":256,"max_position_embeddings":32768,)"
     R"("rope_theta":1000000,"rope_local_base_freq":10000,"rope_scaling":null,"sliding_window":512,)"
     R"("sliding_window_pattern":6,"torch_dtype":"bfloat16"})"sv, 999885952},
    {"google/gemma-3-270m"sv, "rasbt/LLMs-from-scratch ch05/12_gemma3; keras-hub 0.32.0 preset gemma3_270m"sv,
     R"({"model_type":"gemma3_text","architectures":["Gemma3ForCausalLM"],"vocab_size":262144,"hidden_size":640,)"
     R"("intermediate_size":2048,"num_hidden_layers":18,"num_attention_heads":4,"num_key_value_heads":1,)"
     R"("head_dim":256,"hidden_activation":"gelu_pytorch_tanh","attention_bias":false,"attn_logit_softcapping":null,)"
     R"("final_logit_softcapping":null,"query_pre_attn_scalar":256,"max_position_embeddings":32768,)"
     R"("rope_theta":1000000.0,"rope_local_base_freq":10000.0,"rope_scaling":null,"sliding_window":512,)"
     R"("layer_types":["sliding_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","sliding_attention","full_attention"],"torch_dtype":"bfloat16"})"sv,
     268098176},
    {"google/gemma-3-270m-it"sv, "rasbt/LLMs-from-scratch ch05/12_gemma3; keras-hub 0.32.0 preset gemma3_270m"sv,
     R"({"model_type":"gemma3_text","architectures":["Gemma3ForCausalLM"],"vocab_size":262144,"hidden_size":640,)"
     R"("intermediate_size":2048,"num_hidden_layers":18,"num_attention_heads":4,"num_key_value_heads":1,)"
     R"("head_dim":256,"hidden_activation":"gelu_pytorch_tanh","attention_bias":false,"attn_logit_softcapping":null,)"
     R"("final_logit_softcapping":null,"query_pre_attn_scalar":256,"max_position_embeddings":32768,)"
     R"("rope_theta":1000000.0,"rope_local_base_freq":10000.0,"rope_scaling":null,"sliding_window":512,)"
     R"("layer_types":["sliding_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","sliding_attention","full_attention"],"torch_dtype":"bfloat16"})"sv,
     268098176},
    {"google/gemma-7b"sv, "litgpt 0.5.13 config.py; the rest as google/gemma-2b-it"sv,
     R"({"model_type":"gemma","architectures":["GemmaForCausalLM"],"vocab_size":256000,"hidden_size":3072,)"
     R"("intermediate_size":24576,"num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":16,)"
     R"("head_dim":256,"hidden_act":"gelu","attention_bias":false,"max_position_embeddings":8192,"rope_theta":10000.0,)"
     R"("rope_scaling":null,"torch_dtype":"bfloat16"})"sv, 8537680896},
    {"google/gemma-7b-it"sv, "litgpt 0.5.13 config.py; the rest as google/gemma-2b-it"sv,
     R"({"model_type":"gemma","architectures":["GemmaForCausalLM"],"vocab_size":256000,"hidden_size":3072,)"
     R"("intermediate_size":24576,"num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":16,)"
     R"("head_dim":256,"hidden_act":"gelu","attention_bias":false,"max_position_embeddings":8192,"rope_theta":10000.0,)"
     R"("rope_scaling":null,"torch_dtype":"bfloat16"})"sv, 8537680896},
};
// clang-format on

}  // namespace llmcost
