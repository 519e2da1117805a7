// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

namespace llmcost {

/// Mixtures of experts of other makers: DeepSeek V2 to R1, gpt-oss, OLMoE.
// clang-format off
inline constexpr bundled_config bundled_mixture[] = {
    {"allenai/OLMoE-1B-7B-0125"sv, "its own config.json"sv,
     R"({"model_type":"olmoe","architectures":["OlmoeForCausalLM"],"vocab_size":50304,"hidden_size":2048,)"
     R"("intermediate_size":1024,"num_hidden_layers":16,"num_attention_heads":16,"num_key_value_heads":16,"hidden_act":"silu",)"
     R"("attention_bias":false,"clip_qkv":null,"max_position_embeddings":4096,"rope_theta":10000.0,"rope_scaling":null,)"
     R"("num_experts":64,"num_experts_per_tok":8,"norm_topk_prob":false,"tie_word_embeddings":false,"torch_dtype":"float32",)"
     R"("output_router_logits":false})"sv, 6919161856},
    {"deepseek-ai/DeepSeek-R1"sv, "aiconfigurator-core 0.12.0 model_configs"sv,
     R"({"model_type":"deepseek_v3","architectures":["DeepseekV3ForCausalLM"],"vocab_size":129280,"hidden_size":7168,)"
     R"("intermediate_size":18432,"num_hidden_layers":61,"num_attention_heads":128,"num_key_value_heads":128,)"
     R"("hidden_act":"silu","attention_bias":false,"max_position_embeddings":163840,"rope_theta":10000,)"
     R"("rope_scaling":{"beta_fast":32,"beta_slow":1,"factor":40,"mscale":1.0,"mscale_all_dim":1.0,)"
     R"("original_max_position_embeddings":4096,"type":"yarn"},"num_experts_per_tok":8,"moe_intermediate_size":2048,)"
     R"("norm_topk_prob":true,"n_routed_experts":256,"n_shared_experts":1,"first_k_dense_replace":3,)"
     R"("moe_layer_freq":1,"n_group":8,"topk_group":4,"topk_method":"noaux_tc","scoring_func":"sigmoid",)"
     R"("routed_scaling_factor":2.5,"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,)"
     R"("qk_rope_head_dim":64,"v_head_dim":128,"tie_word_embeddings":false,"torch_dtype":"bfloat16",)"
     R"("quantization_config":{"activation_scheme":"dynamic","fmt":"e4m3","quant_method":"fp8",)"
     R"("weight_block_size":[128,128]},"num_nextn_predict_layers":1})"sv, 671026404352},
    {"deepseek-ai/DeepSeek-V2-Lite"sv, "its own config.json"sv,
     R"({"model_type":"deepseek_v2","architectures":["DeepseekV2ForCausalLM"],"vocab_size":102400,"hidden_size":2048,)"
     R"("intermediate_size":10944,"num_hidden_layers":27,"num_attention_heads":16,"num_key_value_heads":16,)"
     R"("hidden_act":"silu","attention_bias":false,"max_position_embeddings":163840,"rope_theta":10000,)"
     R"("rope_scaling":{"beta_fast":32,"beta_slow":1,"factor":40,"mscale":0.707,"mscale_all_dim":0.707,)"
     R"("original_max_position_embeddings":4096,"type":"yarn"},"num_experts_per_tok":6,"moe_intermediate_size":1408,)"
     R"("norm_topk_prob":false,"n_routed_experts":64,"n_shared_experts":2,"first_k_dense_replace":1,)"
     R"("moe_layer_freq":1,"n_group":1,"topk_group":1,"topk_method":"greedy","scoring_func":"softmax",)"
     R"("routed_scaling_factor":1.0,"q_lora_rank":null,"kv_lora_rank":512,"qk_nope_head_dim":128,)"
     R"("qk_rope_head_dim":64,"v_head_dim":128,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 15706484224},
    {"deepseek-ai/DeepSeek-V3"sv, "its own config.json"sv,
     R"({"model_type":"deepseek_v3","architectures":["DeepseekV3ForCausalLM"],"vocab_size":129280,"hidden_size":7168,)"
     R"("intermediate_size":18432,"num_hidden_layers":61,"num_attention_heads":128,"num_key_value_heads":128,)"
     R"("hidden_act":"silu","attention_bias":false,"max_position_embeddings":163840,"rope_theta":10000,)"
     R"("rope_scaling":{"beta_fast":32,"beta_slow":1,"factor":40,"mscale":1.0,"mscale_all_dim":1.0,)"
     R"("original_max_position_embeddings":4096,"type":"yarn"},"num_experts_per_tok":8,"moe_intermediate_size":2048,)"
     R"("norm_topk_prob":true,"n_routed_experts":256,"n_shared_experts":1,"first_k_dense_replace":3,"moe_layer_freq":1,)"
     R"("n_group":8,"topk_group":4,"topk_method":"noaux_tc","scoring_func":"sigmoid","routed_scaling_factor":2.5,)"
     R"("q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16","quantization_config":{"activation_scheme":"dynamic",)"
     R"("fmt":"e4m3","quant_method":"fp8","weight_block_size":[128,128]},"num_nextn_predict_layers":1})"sv, 671026404352},
    {"openai/gpt-oss-120b"sv, "aiconfigurator-core 0.12.0 model_configs"sv,
     R"({"model_type":"gpt_oss","architectures":["GptOssForCausalLM"],"vocab_size":201088,"hidden_size":2880,)"
     R"("intermediate_size":2880,"num_hidden_layers":36,"num_attention_heads":64,"num_key_value_heads":8,)"
     R"("head_dim":64,"hidden_act":"silu","attention_bias":true,"max_position_embeddings":131072,"rope_theta":150000,)"
     R"("rope_scaling":{"beta_fast":32.0,"beta_slow":1.0,"factor":32.0,"original_max_position_embeddings":4096,)"
     R"("rope_type":"yarn","truncate":false},"sliding_window":128,"layer_types":["sliding_attention","full_attention",)"
     R"("sliding_attention","full_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","full_attention","sliding_attention","full_attention",)"
     R"("sliding_attention","full_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","full_attention","sliding_attention","full_attention",)"
     R"("sliding_attention","full_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","full_attention","sliding_attention","full_attention",)"
     R"("sliding_attention","full_attention","sliding_attention","full_attention"],"num_local_experts":128,)"
     R"("num_experts_per_tok":4,"swiglu_limit":7.0,"tie_word_embeddings":false,)"
     R"("quantization_config":{"modules_to_not_convert":["model.layers.*.self_attn","model.layers.*.mlp.router",)"
     R"("model.embed_tokens","lm_head"],"quant_method":"mxfp4"}})"sv, 116829156672},
    {"openai/gpt-oss-20b"sv, "its own config.json"sv,
     R"({"model_type":"gpt_oss","architectures":["GptOssForCausalLM"],"vocab_size":201088,"hidden_size":2880,)"
     R"("intermediate_size":2880,"num_hidden_layers":24,"num_attention_heads":64,"num_key_value_heads":8,"head_dim":64,)"
     R"("hidden_act":"silu","attention_bias":true,"max_position_embeddings":131072,"rope_theta":150000,)"
     R"("rope_scaling":{"beta_fast":32.0,"beta_slow":1.0,"factor":32.0,"original_max_position_embeddings":4096,)"
     R"("rope_type":"yarn","truncate":false},"sliding_window":128,"layer_types":["sliding_attention","full_attention",)"
     R"("sliding_attention","full_attention","sliding_attention","full_attention","sliding_attention","full_attention",)"
     R"("sliding_attention","full_attention","sliding_attention","full_attention","sliding_attention","full_attention",)"
     R"("sliding_attention","full_attention","sliding_attention","full_attention","sliding_attention","full_attention",)"
     R"("sliding_attention","full_attention","sliding_attention","full_attention"],"num_local_experts":32,)"
     R"("num_experts_per_tok":4,"swiglu_limit":7.0,"tie_word_embeddings":false,)"
     R"("quantization_config":{"modules_to_not_convert":["model.layers.*.self_attn","model.layers.*.mlp.router",)"
     R"("model.embed_tokens","lm_head"],"quant_method":"mxfp4"},"output_router_logits":false})"sv, 20914757184},
};
// clang-format on

}  // namespace llmcost
