// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

namespace llmcost {

/// Causal language models as published.
// clang-format off
inline constexpr bundled_config bundled_causal[]{
    {"adept/fuyu-8b"sv, "its own config.json"sv,
     R"({"model_type":"fuyu","architectures":["FuyuForCausalLM"],"num_channels":3,"patch_size":30,)"
     R"("text_config":{"model_type":"persimmon"},"tie_word_embeddings":false,"torch_dtype":"bfloat16","use_cache":true})"sv, 9408238592},
    {"allenai/OLMo-1B-hf"sv, "its own config.json"sv,
     R"({"model_type":"olmo","architectures":["OlmoForCausalLM"],"attention_bias":false,"attention_dropout":0.0,)"
     R"("clip_qkv":null,"hidden_act":"silu","hidden_size":2048,"intermediate_size":8192,"max_position_embeddings":2048,)"
     R"("num_attention_heads":16,"num_hidden_layers":16,"num_key_value_heads":16,"rope_scaling":null,)"
     R"("tie_word_embeddings":true,"torch_dtype":"float32","use_cache":true,"vocab_size":50304})"sv, 1176764416},
    {"allenai/Olmo-3.1-32B-Instruct"sv, "its own config.json"sv,
     R"({"model_type":"olmo3","architectures":["Olmo3ForCausalLM"],"attention_bias":false,"attention_dropout":0.0,)"
     R"("dtype":"bfloat16","hidden_act":"silu","hidden_size":5120,"intermediate_size":27648,)"
     R"("layer_types":["sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","full_attention"],)"
     R"("max_position_embeddings":65536,"num_attention_heads":40,"num_hidden_layers":64,"num_key_value_heads":8,)"
     R"("rope_scaling":{"rope_type":"yarn","factor":8.0,"original_max_position_embeddings":8192},"sliding_window":4096,)"
     R"("tie_word_embeddings":false,"use_cache":false,"vocab_size":100278})"sv, 32233522176},
    {"arcee-ai/AFM-4.5B-Base"sv, "its own config.json"sv,
     R"({"model_type":"arcee","architectures":["ArceeForCausalLM"],"attention_bias":false,"attention_dropout":0.0,)"
     R"("head_dim":128,"hidden_act":"relu2","hidden_size":2560,"intermediate_size":18432,"max_position_embeddings":65536,)"
     R"("mlp_bias":false,"num_attention_heads":20,"num_hidden_layers":36,"num_key_value_heads":4,)"
     R"("rope_scaling":{"rope_type":"yarn","factor":20.0,"original_max_position_embeddings":4096},"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16","use_cache":false,"vocab_size":128004})"sv, 4619184640},
    {"arcee-ai/Trinity-Large-Preview"sv, "its own config.json"sv,
     R"({"model_type":"afmoe","architectures":["AfmoeForCausalLM"],"attention_dropout":0.0,"dtype":"bfloat16",)"
     R"("global_attn_every_n_layers":4,"head_dim":128,"hidden_act":"silu","hidden_size":3072,"intermediate_size":12288,)"
     R"("layer_types":["sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention"],"max_position_embeddings":262144,"moe_intermediate_size":3072,"mup_enabled":true,)"
     R"("num_attention_heads":48,"num_dense_layers":6,"num_experts":256,"num_experts_per_tok":4,"num_hidden_layers":60,)"
     R"("num_key_value_heads":8,"num_shared_experts":1,"rope_scaling":null,"sliding_window":4096,"tie_word_embeddings":false,)"
     R"("use_cache":true,"vocab_size":200192})"sv, 398635286016},
    {"deepseek-ai/DeepSeek-V3.2-Exp"sv, "its own config.json"sv,
     R"({"model_type":"deepseek_v32","architectures":["DeepseekV32ForCausalLM"],"attention_bias":false,)"
     R"("attention_dropout":0.0,"first_k_dense_replace":3,"hidden_act":"silu","hidden_size":7168,"index_head_dim":128,)"
     R"("index_n_heads":64,"index_topk":2048,"intermediate_size":18432,"kv_lora_rank":512,"max_position_embeddings":163840,)"
     R"("moe_intermediate_size":2048,"n_group":8,"n_routed_experts":256,"n_shared_experts":1,"norm_topk_prob":true,)"
     R"("num_attention_heads":128,"num_experts_per_tok":8,"num_hidden_layers":61,"num_key_value_heads":128,"q_lora_rank":1536,)"
     R"("qk_nope_head_dim":128,"qk_rope_head_dim":64,"quantization_config":{"activation_scheme":"dynamic","fmt":"e4m3",)"
     R"("quant_method":"fp8","scale_fmt":"ue8m0","weight_block_size":[128,128]},"rope_scaling":{"type":"yarn","factor":40,)"
     R"("original_max_position_embeddings":4096},"tie_word_embeddings":false,"topk_group":4,"torch_dtype":"bfloat16",)"
     R"("use_cache":true,"v_head_dim":128,"vocab_size":129280,"num_nextn_predict_layers":1})"sv, 671877929216},
    {"deepseek-ai/DeepSeek-V4-Flash-Base"sv, "its own config.json"sv,
     R"({"model_type":"deepseek_v4","architectures":["DeepseekV4ForCausalLM"],"attention_dropout":0.0,"hc_mult":4,)"
     R"("hc_sinkhorn_iters":20,"head_dim":512,"hidden_act":"silu","hidden_size":4096,"index_head_dim":128,"index_n_heads":64,)"
     R"("index_topk":512,"max_position_embeddings":1048576,"moe_intermediate_size":2048,"n_routed_experts":256,)"
     R"("norm_topk_prob":true,"num_attention_heads":64,"num_experts_per_tok":6,"num_hidden_layers":43,"num_hash_layers":3,)"
     R"("num_key_value_heads":1,"o_groups":8,"o_lora_rank":1024,"q_lora_rank":1024,"qk_rope_head_dim":64,)"
     R"("quantization_config":{"activation_scheme":"dynamic","fmt":"e4m3","quant_method":"fp8","scale_fmt":"ue8m0",)"
     R"("weight_block_size":[128,128]},"rope_scaling":{"type":"yarn","factor":16,"original_max_position_embeddings":65536},)"
     R"("scoring_func":"sqrtsoftplus","sliding_window":128,"tie_word_embeddings":false,"torch_dtype":"bfloat16",)"
     R"("use_cache":true,"vocab_size":129280,"compress_ratios":[0,0,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,)"
     R"(128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,0],"num_nextn_predict_layers":1})"sv, 284332230231},
    {"EleutherAI/gpt-neo-125m"sv, "its own config.json"sv,
     R"({"model_type":"gpt_neo","activation_function":"gelu_new","architectures":["GPTNeoForCausalLM"],"attention_dropout":0,)"
     R"("attention_types":[[["global","local"],6]],"embed_dropout":0,"hidden_size":768,"intermediate_size":null,)"
     R"("max_position_embeddings":2048,"num_heads":12,"num_layers":12,"resid_dropout":0,"torch_dtype":"float32",)"
     R"("use_cache":true,"vocab_size":50258,"window_size":256})"sv, 125199360},
    {"facebook/xglm-1.7B"sv, "its own config.json"sv,
     R"({"model_type":"xglm","activation_dropout":0.0,"activation_function":"gelu","architectures":["XGLMForCausalLM"],)"
     R"("attention_dropout":0.1,"attention_heads":16,"d_model":2048,"dropout":0.1,"ffn_dim":8192,"layerdrop":0.0,)"
     R"("max_position_embeddings":2048,"num_layers":24,"use_cache":true,"vocab_size":256008})"sv, 1732907008},
    {"FacebookAI/xlm-clm-enfr-1024"sv, "its own config.json"sv,
     R"({"model_type":"xlm","architectures":["XLMWithLMHeadModel"],"asm":false,"attention_dropout":0.1,"dropout":0.1,)"
     R"("emb_dim":1024,"gelu_activation":true,"is_encoder":true,"max_position_embeddings":512,"n_heads":8,"n_langs":2,)"
     R"("n_layers":6,"summary_activation":null,"summary_first_dropout":0.1,"summary_proj_to_labels":true,)"
     R"("summary_type":"first","summary_use_proj":true,"use_lang_emb":true,"vocab_size":64139})"sv, 141848203},
    {"HuggingFaceH4/starchat-alpha"sv, "its own config.json"sv,
     R"({"model_type":"gpt_bigcode","activation_function":"gelu","architectures":["GPTBigCodeForCausalLM"],"attn_pdrop":0.1,)"
     R"("embd_pdrop":0.1,"multi_query":true,"n_embd":6144,"n_head":48,"n_inner":24576,"n_layer":40,"n_positions":8192,)"
     R"("resid_pdrop":0.1,"torch_dtype":"float16","use_cache":true,"vocab_size":49156})"sv, 15517480960},
    {"HuggingFaceTB/SmolLM3-3B"sv, "its own config.json"sv,
     R"({"model_type":"smollm3","architectures":["SmolLM3ForCausalLM"],"attention_bias":false,"attention_dropout":0.0,)"
     R"("hidden_act":"silu","hidden_size":2048,"intermediate_size":11008,"layer_types":["full_attention","full_attention",)"
     R"("full_attention","full_attention","full_attention","full_attention","full_attention","full_attention",)"
     R"("full_attention","full_attention","full_attention","full_attention","full_attention","full_attention",)"
     R"("full_attention","full_attention","full_attention","full_attention","full_attention","full_attention",)"
     R"("full_attention","full_attention","full_attention","full_attention","full_attention","full_attention",)"
     R"("full_attention","full_attention","full_attention","full_attention","full_attention","full_attention",)"
     R"("full_attention","full_attention","full_attention","full_attention"],"max_position_embeddings":65536,"mlp_bias":false,)"
     R"("no_rope_layer_interval":4,"no_rope_layers":[1,1,1,0,1,1,1,0,1,1,1,0,1,1,1,0,1,1,1,0,1,1,1,0,1,1,1,0,1,1,1,0,1,1,1,0],)"
     R"("num_attention_heads":16,"num_hidden_layers":36,"num_key_value_heads":4,"rope_scaling":null,"sliding_window":null,)"
     R"("torch_dtype":"bfloat16","use_cache":false,"use_sliding_window":false,"vocab_size":128256})"sv, 3075098624},
    {"ibm-ai-platform/Bamba-9B-1.8T"sv, "its own config.json"sv,
     R"({"model_type":"bamba","architectures":["BambaForCausalLM"],"attention_dropout":0.0,"attn_layer_indices":[9,18,27],)"
     R"("hidden_act":"silu","hidden_size":4096,"intermediate_size":14336,"mamba_chunk_size":256,"mamba_conv_bias":true,)"
     R"("mamba_d_conv":4,"mamba_d_head":64,"mamba_d_state":128,"mamba_expand":2,"mamba_n_groups":1,"mamba_n_heads":128,)"
     R"("mamba_proj_bias":false,"num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":8,)"
     R"("tie_word_embeddings":false,"use_cache":true,"vocab_size":128256})"sv, 9780235392},
    {"ibm-granite/granite-3.0-1b-a400m-base"sv, "its own config.json"sv,
     R"({"model_type":"granitemoe","architectures":["GraniteMoeForCausalLM"],"attention_bias":false,"attention_dropout":0.0,)"
     R"("hidden_act":"silu","hidden_size":1024,"intermediate_size":512,"max_position_embeddings":4096,)"
     R"("num_attention_heads":16,"num_experts_per_tok":8,"num_hidden_layers":24,"num_key_value_heads":8,)"
     R"("num_local_experts":32,"output_router_logits":false,"rope_scaling":null,"tie_word_embeddings":true,"use_cache":true,)"
     R"("vocab_size":49152})"sv, 1334625280},
    {"ibm-granite/granite-4.0-h-1b"sv, "its own config.json"sv,
     R"({"model_type":"granitemoehybrid","architectures":["GraniteMoeHybridForCausalLM"],"attention_bias":false,)"
     R"("attention_dropout":0.0,"hidden_act":"silu","hidden_size":1536,"intermediate_size":4096,"layer_types":["mamba",)"
     R"("mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba",)"
     R"("attention","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba",)"
     R"("mamba","mamba","mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba"],)"
     R"("mamba_chunk_size":256,"mamba_conv_bias":true,"mamba_d_conv":4,"mamba_d_head":64,"mamba_d_state":128,"mamba_expand":2,)"
     R"("mamba_n_groups":1,"mamba_n_heads":48,"mamba_proj_bias":false,"max_position_embeddings":131072,)"
     R"("num_attention_heads":12,"num_hidden_layers":40,"num_key_value_heads":4,"num_local_experts":0,)"
     R"("output_router_logits":false,"position_embedding_type":"nope","shared_intermediate_size":4096,)"
     R"("tie_word_embeddings":true,"torch_dtype":"bfloat16","use_cache":true,"vocab_size":100352})"sv, 1461538368},
    {"kajuma/DiffLlama-0.3B-handcut"sv, "its own config.json"sv,
     R"({"model_type":"diffllama","architectures":["DiffLlamaForCausalLM"],"attention_bias":false,"attention_dropout":0.0,)"
     R"("head_dim":64,"hidden_act":"silu","hidden_size":2048,"intermediate_size":8192,"max_position_embeddings":131072,)"
     R"("num_attention_heads":32,"num_hidden_layers":16,"num_key_value_heads":8,"rope_scaling":{"rope_type":"llama3"},)"
     R"("tie_word_embeddings":true,"torch_dtype":"float32","use_cache":true,"vocab_size":128256})"sv, 1235818496},
    {"LanguageBind/Video-LLaVA-7B"sv, "its own config.json"sv,
     R"({"model_type":"llava","architectures":["LlavaLlamaForCausalLM"],"tie_word_embeddings":false,"torch_dtype":"bfloat16",)"
     R"("use_cache":true,"hidden_act":"silu","hidden_size":4096,"intermediate_size":11008,"max_position_embeddings":4096,)"
     R"("mm_hidden_size":1024,"mm_projector_type":"mlp2x_gelu","num_attention_heads":32,"num_hidden_layers":32,)"
     R"("num_key_value_heads":32,"vocab_size":32000})"sv, 7062902784},
    {"LGAI-EXAONE/EXAONE-4.0-32B"sv, "its own config.json"sv,
     R"({"model_type":"exaone4","architectures":["Exaone4ForCausalLM"],"attention_dropout":0.0,"head_dim":128,)"
     R"("hidden_act":"silu","hidden_size":5120,"intermediate_size":27392,"layer_types":["sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention",)"
     R"("full_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention",)"
     R"("sliding_attention","sliding_attention","full_attention"],"max_position_embeddings":131072,"num_attention_heads":40,)"
     R"("num_hidden_layers":64,"num_key_value_heads":8,"rope_scaling":{"rope_type":"llama3"},"sliding_window":4096,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16","use_cache":true,"vocab_size":102400})"sv, 32003216384},
    {"LiquidAI/LFM2-24B-A2B"sv, "its own config.json"sv,
     R"({"model_type":"lfm2_moe","architectures":["Lfm2MoeForCausalLM"],"conv_L_cache":3,"conv_bias":false,"dtype":"bfloat16",)"
     R"("hidden_size":2048,"intermediate_size":11776,"layer_types":["conv","conv","full_attention","conv","conv","conv",)"
     R"("full_attention","conv","conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","conv",)"
     R"("full_attention","conv","conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","conv",)"
     R"("full_attention","conv","conv","conv","full_attention","conv","conv","conv","full_attention","conv"],)"
     R"("max_position_embeddings":128000,"moe_intermediate_size":1536,"norm_topk_prob":true,"num_attention_heads":32,)"
     R"("num_dense_layers":2,"num_experts":64,"num_experts_per_tok":4,"num_hidden_layers":40,"num_key_value_heads":8,)"
     R"("rope_parameters":{"rope_type":"default"},"use_cache":true,"use_expert_bias":true,"vocab_size":65536})"sv, 23843659008},
    {"microsoft/bitnet-b1.58-2B-4T-bf16"sv, "its own config.json"sv,
     R"({"model_type":"bitnet","architectures":["BitNetForCausalLM"],"hidden_act":"relu2","hidden_size":2560,)"
     R"("intermediate_size":6912,"max_position_embeddings":4096,"num_attention_heads":20,"num_hidden_layers":30,)"
     R"("num_key_value_heads":5,"tie_word_embeddings":true,"torch_dtype":"bfloat16","use_cache":true,"vocab_size":128256,)"
     R"("quantization_config":{"quant_method":"bitnet","linear_class":"autobitlinear","quantization_mode":"online"}})"sv, 2412820480},
    {"microsoft/phi-2"sv, "its own config.json"sv,
     R"({"model_type":"phi","architectures":["PhiForCausalLM"],"attention_dropout":0.0,"embd_pdrop":0.0,)"
     R"("hidden_act":"gelu_new","hidden_size":2560,"intermediate_size":10240,"max_position_embeddings":2048,)"
     R"("num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":32,"partial_rotary_factor":0.4,)"
     R"("qk_layernorm":false,"resid_pdrop":0.1,"rope_scaling":null,"tie_word_embeddings":false,"torch_dtype":"float32",)"
     R"("use_cache":true,"vocab_size":51200})"sv, 2779683840},
    {"microsoft/Phi-mini-MoE-instruct"sv, "its own config.json"sv,
     R"({"model_type":"phimoe","architectures":["PhiMoEForCausalLM"],"attention_bias":true,"head_dim":128,"hidden_act":"silu",)"
     R"("hidden_size":4096,"intermediate_size":960,"lm_head_bias":true,"max_position_embeddings":4096,)"
     R"("num_attention_heads":32,"num_experts_per_tok":2,"num_hidden_layers":32,"num_key_value_heads":8,)"
     R"("num_local_experts":16,"output_router_logits":false,"sliding_window":2047,"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16","use_cache":true,"vocab_size":32064})"sv, 7647632704},
    {"MiniMaxAI/MiniMax-M2.1"sv, "its own config.json"sv,
     R"({"model_type":"minimax_m2","architectures":["MiniMaxM2ForCausalLM"],"head_dim":128,"hidden_act":"silu",)"
     R"("hidden_size":3072,"intermediate_size":1536,"max_position_embeddings":196608,"num_attention_heads":48,)"
     R"("num_experts_per_tok":8,"num_hidden_layers":62,"num_key_value_heads":8,"num_local_experts":256,)"
     R"("quantization_config":{"activation_scheme":"dynamic","fmt":"float8_e4m3fn","quant_method":"fp8",)"
     R"("weight_block_size":[128,128],"modules_to_not_convert":["gate","e_score_correction_bias","lm_head"]},"rotary_dim":64,)"
     R"("tie_word_embeddings":false,"use_cache":true,"vocab_size":200064,"num_mtp_modules":3})"sv, 228689748992},
    {"MiniMaxAI/MiniMax-M2.7"sv, "sizes of MiniMaxAI/MiniMax-M2.1, of which it has the parameters"sv,
     R"({"model_type":"minimax_m2","architectures":["MiniMaxM2ForCausalLM"],"head_dim":128,"hidden_act":"silu",)"
     R"("hidden_size":3072,"intermediate_size":1536,"max_position_embeddings":196608,"num_attention_heads":48,)"
     R"("num_experts_per_tok":8,"num_hidden_layers":62,"num_key_value_heads":8,"num_local_experts":256,)"
     R"("quantization_config":{"activation_scheme":"dynamic","fmt":"float8_e4m3fn","quant_method":"fp8",)"
     R"("weight_block_size":[128,128],"modules_to_not_convert":["gate","e_score_correction_bias","lm_head"]},"rotary_dim":64,)"
     R"("tie_word_embeddings":false,"use_cache":true,"vocab_size":200064,"num_mtp_modules":3})"sv, 228689748992},
    {"MiniMaxAI/MiniMax-Text-01-hf"sv, "its own config.json"sv,
     R"({"model_type":"minimax","architectures":["MiniMaxForCausalLM"],"attention_dropout":0.0,)"
     R"("layer_types":["linear_attention","linear_attention","linear_attention","linear_attention","linear_attention",)"
     R"("linear_attention","linear_attention","full_attention","linear_attention","linear_attention","linear_attention",)"
     R"("linear_attention","linear_attention","linear_attention","linear_attention","full_attention","linear_attention",)"
     R"("linear_attention","linear_attention","linear_attention","linear_attention","linear_attention","linear_attention",)"
     R"("full_attention","linear_attention","linear_attention","linear_attention","linear_attention","linear_attention",)"
     R"("linear_attention","linear_attention","full_attention","linear_attention","linear_attention","linear_attention",)"
     R"("linear_attention","linear_attention","linear_attention","linear_attention","full_attention","linear_attention",)"
     R"("linear_attention","linear_attention","linear_attention","linear_attention","linear_attention","linear_attention",)"
     R"("full_attention","linear_attention","linear_attention","linear_attention","linear_attention","linear_attention",)"
     R"("linear_attention","linear_attention","full_attention","linear_attention","linear_attention","linear_attention",)"
     R"("linear_attention","linear_attention","linear_attention","linear_attention","full_attention","linear_attention",)"
     R"("linear_attention","linear_attention","linear_attention","linear_attention","linear_attention","linear_attention",)"
     R"("full_attention","linear_attention","linear_attention","linear_attention","linear_attention","linear_attention",)"
     R"("linear_attention","linear_attention","full_attention"],"head_dim":128,"hidden_act":"silu","hidden_size":6144,)"
     R"("intermediate_size":9216,"max_position_embeddings":10240000,"num_attention_heads":64,"num_experts_per_tok":2,)"
     R"("num_hidden_layers":80,"num_key_value_heads":8,"num_local_experts":32,"output_router_logits":false,)"
     R"("router_jitter_noise":0.0,"sliding_window":null,"tie_word_embeddings":false,"use_cache":true,"vocab_size":200064})"sv, 456089655296},
    {"mlx-community/c4ai-command-a-03-2025-bf16"sv, "its own config.json"sv,
     R"({"model_type":"cohere2","architectures":["Cohere2ForCausalLM"],"attention_bias":false,"attention_dropout":0.0,)"
     R"("head_dim":128,"hidden_act":"silu","hidden_size":12288,"intermediate_size":36864,"max_position_embeddings":131072,)"
     R"("num_attention_heads":96,"num_hidden_layers":64,"num_key_value_heads":8,"rope_scaling":null,"sliding_window":4096,)"
     R"("sliding_window_pattern":4,"torch_dtype":"bfloat16","use_cache":true,"vocab_size":256000})"sv, 111057580032},
    {"mosaicml/mpt-7b"sv, "its own config.json"sv,
     R"({"model_type":"mpt","architectures":["MptForCausalLM"],"attn_config":{"attn_pdrop":0,"clip_qkv":null},"d_model":4096,)"
     R"("max_seq_len":2048,"n_heads":32,"n_layers":32,"torch_dtype":"bfloat16","use_cache":false,"vocab_size":50432})"sv, 6649286656},
    {"naver-hyperclovax/HyperCLOVAX-SEED-Think-14B"sv, "its own config.json"sv,
     R"({"model_type":"hyperclovax","architectures":["HyperCLOVAXForCausalLM"],"attention_bias":false,"attention_dropout":0.0,)"
     R"("head_dim":128,"hidden_act":"silu","hidden_size":6144,"intermediate_size":14336,"max_position_embeddings":131072,)"
     R"("mlp_bias":false,"num_attention_heads":48,"num_hidden_layers":38,"num_key_value_heads":8,"rope_scaling":null,)"
     R"("tie_word_embeddings":false,"torch_dtype":"float32","use_cache":false,"use_post_norm":true,"vocab_size":110592})"sv, 14748112896},
    {"nvidia/GLM-5-NVFP4"sv, "its own config.json"sv,
     R"({"model_type":"glm_moe_dsa","architectures":["GlmMoeDsaForCausalLM"],"attention_bias":false,"attention_dropout":0.0,)"
     R"("dtype":"bfloat16","first_k_dense_replace":3,"hidden_act":"silu","head_dim":64,"hidden_size":6144,)"
     R"("index_head_dim":128,"index_n_heads":32,"index_topk":2048,"intermediate_size":12288,"kv_lora_rank":512,)"
     R"("max_position_embeddings":202752,"moe_intermediate_size":2048,"n_group":1,"n_routed_experts":256,"n_shared_experts":1,)"
     R"("norm_topk_prob":true,"num_attention_heads":64,"num_experts_per_tok":8,"num_hidden_layers":78,)"
     R"("num_key_value_heads":64,"q_lora_rank":2048,"qk_nope_head_dim":192,"qk_rope_head_dim":64,)"
     R"("rope_parameters":{"rope_type":"default"},"tie_word_embeddings":false,"topk_group":1,"use_cache":true,)"
     R"("v_head_dim":256,"vocab_size":154880,"num_nextn_predict_layers":1})"sv, 743911199232},
    {"nvidia/Nemotron-4-Mini-Hindi-4B-Instruct"sv, "its own config.json"sv,
     R"({"model_type":"nemotron","architectures":["NemotronForCausalLM"],"hidden_act":"relu2","hidden_size":3072,)"
     R"("intermediate_size":9216,"max_position_embeddings":4096,"num_attention_heads":24,"num_hidden_layers":32,)"
     R"("num_key_value_heads":8,"partial_rotary_factor":0.5,"tie_word_embeddings":false,"torch_dtype":"bfloat16",)"
     R"("use_cache":true,"vocab_size":256000})"sv, 4190509056},
    {"nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"sv, "its own config.json"sv,
     R"({"model_type":"nemotron_h","architectures":["NemotronHForCausalLM"],"attention_dropout":0.0,"chunk_size":128,)"
     R"("conv_kernel":4,"head_dim":128,"hidden_size":2688,)"
     R"("hybrid_override_pattern":"MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME","intermediate_size":1856,)"
     R"("mamba_head_dim":64,"mamba_hidden_act":"silu","mamba_num_heads":64,"max_position_embeddings":262144,"mlp_bias":false,)"
     R"("mlp_hidden_act":"relu2","moe_intermediate_size":1856,"moe_shared_expert_intermediate_size":3712,"n_group":1,)"
     R"("n_groups":8,"n_routed_experts":128,"norm_topk_prob":true,"num_attention_heads":32,"num_experts_per_tok":6,)"
     R"("num_hidden_layers":52,"num_key_value_heads":2,"sliding_window":null,"ssm_state_size":128,"tie_word_embeddings":false,)"
     R"("topk_group":1,"torch_dtype":"bfloat16","use_bias":false,"use_cache":true,"use_conv_bias":true,"vocab_size":131072,)"
     R"("mamba_ssm_cache_dtype":"float32"})"sv, 31577937344},
    {"openai-community/openai-gpt"sv, "its own config.json"sv,
     R"({"model_type":"openai-gpt","afn":"gelu","architectures":["OpenAIGPTLMHeadModel"],"attn_pdrop":0.1,"embd_pdrop":0.1,)"
     R"("n_embd":768,"n_head":12,"n_layer":12,"n_positions":512,"resid_pdrop":0.1,"vocab_size":40478})"sv, 116534784},
    {"openbmb/cpm-ant-10b"sv, "its own config.json"sv,
     R"({"model_type":"cpmant","architectures":["CPMAntForCausalLM"],"dim_ff":10240,"dim_head":128,"hidden_size":4096,)"
     R"("dropout_p":0.0,"num_attention_heads":32,"num_hidden_layers":48,"position_bias_num_buckets":512,"prompt_length":32,)"
     R"("prompt_types":32,"segment_types":32,"torch_dtype":"float32","use_cache":true,"vocab_size":30720})"sv, 9517453312},
    {"poolside/Laguna-XS.2"sv, "its own config.json"sv,
     R"({"model_type":"laguna","architectures":["LagunaForCausalLM"],"vocab_size":100352,"hidden_size":2048,)"
     R"("intermediate_size":8192,"num_hidden_layers":40,"num_attention_heads":48,"num_key_value_heads":8,"head_dim":128,)"
     R"("max_position_embeddings":131072,"attention_bias":false,"attention_dropout":0.0,"num_experts":256,)"
     R"("num_experts_per_tok":8,"moe_intermediate_size":512,"shared_expert_intermediate_size":512,"tie_word_embeddings":false,)"
     R"("use_cache":true,"torch_dtype":"bfloat16","gating":true,"sliding_window":512,)"
     R"("rope_parameters":{"full_attention":{"rope_type":"yarn","partial_rotary_factor":0.5},)"
     R"("sliding_attention":{"rope_type":"default","partial_rotary_factor":1.0}},"layer_types":["full_attention",)"
     R"("sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention",)"
     R"("sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","full_attention",)"
     R"("sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention",)"
     R"("sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","full_attention",)"
     R"("sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention",)"
     R"("sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","full_attention",)"
     R"("sliding_attention","sliding_attention","sliding_attention"],"moe_apply_router_weight_on_input":false,)"
     R"("mlp_layer_types":["dense","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse",)"
     R"("sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse",)"
     R"("sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse",)"
     R"("sparse","sparse","sparse"],"num_attention_heads_per_layer":[48,64,64,64,48,64,64,64,48,64,64,64,48,64,64,64,48,64,64,)"
     R"(64,48,64,64,64,48,64,64,64,48,64,64,64,48,64,64,64,48,64,64,64]})"sv, 33442617088},
    {"rednote-hilab/dots.llm1.base"sv, "its own config.json"sv,
     R"({"model_type":"dots1","architectures":["Dots1ForCausalLM"],"attention_bias":false,"attention_dropout":0.0,)"
     R"("first_k_dense_replace":1,"hidden_act":"silu","hidden_size":4096,"intermediate_size":10944,)"
     R"("max_position_embeddings":32768,"moe_intermediate_size":1408,"n_routed_experts":128,"n_shared_experts":2,)"
     R"("norm_topk_prob":true,"num_attention_heads":32,"num_experts_per_tok":6,"num_hidden_layers":62,)"
     R"("num_key_value_heads":32,"rope_scaling":null,"sliding_window":null,"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16","use_cache":true,"vocab_size":152064})"sv, 142774373888},
    {"RWKV/rwkv-4-169m-pile"sv, "its own config.json"sv,
     R"({"model_type":"rwkv","architectures":["RwkvForCausalLM"],"attention_hidden_size":768,"hidden_size":768,)"
     R"("intermediate_size":3072,"num_hidden_layers":12,"rescale_every":6,"tie_word_embeddings":false,"torch_dtype":"float32",)"
     R"("use_cache":true,"vocab_size":50277})"sv, 169342464},
    {"Salesforce/codegen-16B-multi"sv, "its own config.json"sv,
     R"({"model_type":"codegen","activation_function":"gelu_new","architectures":["CodeGenForCausalLM"],"attn_pdrop":0.0,)"
     R"("embd_pdrop":0.0,"n_embd":6144,"n_head":24,"n_inner":null,"n_layer":34,"n_positions":2048,"resid_pdrop":0.0,)"
     R"("rotary_dim":64,"tie_word_embeddings":false,"torch_dtype":"float16","use_cache":true,"vocab_size":51200})"sv, 16032155648},
    {"SmallDoge/Doge-120M-MoE"sv, "its own config.json"sv,
     R"({"model_type":"doge","architectures":["DogeForCausalLM"],"attention_dropout":0.0,"hidden_act":"silu",)"
     R"("hidden_dropout":0.0,"hidden_size":512,"intermediate_size":1024,"is_moe":true,"keep_window_size":2048,)"
     R"("max_position_embeddings":2048,"num_attention_heads":4,"num_experts":4096,"num_experts_per_tok":32,)"
     R"("num_hidden_layers":16,"num_key_value_heads":2,"rope_scaling":{"factor":4.0,"rope_type":"dynamic"},)"
     R"("tie_word_embeddings":true,"torch_dtype":"float32","use_cache":true,"vocab_size":32768})"sv, 122728992},
    {"swiss-ai/Apertus-70B-2509"sv, "its own config.json"sv,
     R"({"model_type":"apertus","architectures":["ApertusForCausalLM"],"attention_bias":false,"attention_dropout":0.0,)"
     R"("dtype":"bfloat16","hidden_act":"xielu","hidden_size":8192,"intermediate_size":43008,"max_position_embeddings":65536,)"
     R"("num_attention_heads":64,"num_hidden_layers":80,"num_key_value_heads":8,"rope_scaling":{"rope_type":"llama3"},)"
     R"("tie_word_embeddings":false,"use_cache":true,"vocab_size":131072})"sv, 70599864480},
    {"tencent/Hunyuan-0.5B-Pretrain"sv, "its own config.json"sv,
     R"({"model_type":"hunyuan_v1_dense","architectures":["HunYuanDenseV1ForCausalLM"],"attention_bias":false,)"
     R"("attention_dropout":0.0,"head_dim":128,"hidden_act":"silu","hidden_size":1024,"intermediate_size":3584,)"
     R"("max_position_embeddings":262144,"num_attention_heads":16,"num_hidden_layers":24,"num_key_value_heads":8,)"
     R"("rope_scaling":{"alpha":1000.0,"factor":1.0,"type":"dynamic"},"tie_word_embeddings":true,"torch_dtype":"bfloat16",)"
     R"("use_cache":true,"vocab_size":120818})"sv, 539010048},
    {"tencent/Hy3-preview"sv, "its own config.json"sv,
     R"({"model_type":"hy_v3","architectures":["HYV3ForCausalLM"],"enable_moe_fp32_combine":false,)"
     R"("moe_intermediate_size":1536,"head_dim":128,"hidden_act":"silu","hidden_size":4096,"intermediate_size":13312,)"
     R"("max_position_embeddings":262144,"num_attention_heads":64,"num_experts":192,"num_experts_per_tok":8,)"
     R"("num_hidden_layers":80,"num_key_value_heads":8,"num_shared_experts":1,"rope_parameters":{"rope_type":"default"},)"
     R"("tie_word_embeddings":false,"use_cache":true,"vocab_size":120832,"num_nextn_predict_layers":1})"sv, 295033528320},
    {"THUDM/glm-4-9b-chat-hf"sv, "its own config.json"sv,
     R"({"model_type":"glm","architectures":["GlmForCausalLM"],"attention_bias":true,"attention_dropout":0.0,"head_dim":128,)"
     R"("hidden_act":"silu","hidden_size":4096,"intermediate_size":13696,"max_position_embeddings":131072,)"
     R"("num_attention_heads":32,"num_hidden_layers":40,"num_key_value_heads":2,"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16","use_cache":true,"vocab_size":151552})"sv, 9399951360},
    {"togethercomputer/RedPajama-INCITE-7B-Base"sv, "its own config.json"sv,
     R"({"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_act":"gelu","hidden_size":4096,)"
     R"("intermediate_size":16384,"max_position_embeddings":2048,"num_attention_heads":32,"num_hidden_layers":32,)"
     R"("rotary_pct":1.0,"tie_word_embeddings":false,"torch_dtype":"float16","use_cache":true,"use_parallel_residual":false,)"
     R"("vocab_size":50432})"sv, 6857302016},
    {"upstage/Solar-Open-100B"sv, "its own config.json"sv,
     R"({"model_type":"solar_open","architectures":["SolarOpenForCausalLM"],"partial_rotary_factor":1.0,"hidden_size":4096,)"
     R"("num_hidden_layers":48,"num_attention_heads":64,"head_dim":128,"num_key_value_heads":8,"vocab_size":196608,)"
     R"("intermediate_size":10240,"moe_intermediate_size":1280,"max_position_embeddings":131072,"n_routed_experts":128,)"
     R"("n_shared_experts":1,"norm_topk_prob":true,"num_experts_per_tok":8,"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16","use_cache":true,"rope_scaling":{"type":"yarn","factor":2.0,)"
     R"("original_max_position_embeddings":65536}})"sv, 102651793408},
    {"XiaomiMiMo/MiMo-V2-Flash"sv, "its own config.json"sv,
     R"({"model_type":"mimo_v2_flash","architectures":["MiMoV2FlashForCausalLM"],"num_hidden_layers":48,"hidden_size":4096,)"
     R"("num_attention_heads":64,"num_key_value_heads":4,"head_dim":192,"v_head_dim":128,"intermediate_size":16384,)"
     R"("vocab_size":152576,"max_position_embeddings":262144,"sliding_window":128,"sliding_window_size":128,)"
     R"("moe_intermediate_size":2048,"n_routed_experts":256,"num_experts_per_tok":8,"norm_topk_prob":true,"n_group":1,)"
     R"("topk_group":1,"hidden_act":"silu","attention_dropout":0.0,"attention_bias":false,"tie_word_embeddings":false,)"
     R"("torch_dtype":"bfloat16","use_cache":true,"quantization_config":{"activation_scheme":"dynamic","fmt":"e4m3",)"
     R"("quant_method":"fp8","weight_block_size":[128,128]}})"sv, 308778768832},
    {"zai-org/GLM-4-32B-0414"sv, "its own config.json"sv,
     R"({"model_type":"glm4","architectures":["Glm4ForCausalLM"],"attention_bias":false,"attention_dropout":0.0,)"
     R"("head_dim":128,"hidden_act":"silu","hidden_size":6144,"intermediate_size":23040,"max_position_embeddings":32768,)"
     R"("num_attention_heads":48,"num_hidden_layers":61,"num_key_value_heads":2,"partial_rotary_factor":0.5,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16","use_cache":true,"vocab_size":151552})"sv, 32566081536},
    {"zai-org/GLM-4.5-Air-Base"sv, "its own config.json"sv,
     R"({"model_type":"glm4_moe","architectures":["Glm4MoeForCausalLM"],"attention_bias":true,"attention_dropout":0.0,)"
     R"("head_dim":128,"hidden_act":"silu","hidden_size":4096,"partial_rotary_factor":0.5,"intermediate_size":10944,)"
     R"("max_position_embeddings":131072,"moe_intermediate_size":1408,"norm_topk_prob":true,"num_attention_heads":96,)"
     R"("n_group":1,"topk_group":1,"n_routed_experts":128,"n_shared_experts":1,"num_experts_per_tok":8,)"
     R"("first_k_dense_replace":1,"num_hidden_layers":46,"num_key_value_heads":8,"rope_scaling":null,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16","use_cache":true,"use_qk_norm":false,"vocab_size":151552,)"
     R"("num_nextn_predict_layers":1})"sv, 106852245504},
    {"zai-org/GLM-4.7-Flash"sv, "its own config.json"sv,
     R"({"model_type":"glm4_moe_lite","architectures":["Glm4MoeLiteForCausalLM"],"attention_bias":false,)"
     R"("attention_dropout":0.0,"hidden_act":"silu","hidden_size":2048,"intermediate_size":10240,)"
     R"("max_position_embeddings":202752,"moe_intermediate_size":1536,"norm_topk_prob":true,"num_attention_heads":20,)"
     R"("n_group":1,"topk_group":1,"n_routed_experts":64,"n_shared_experts":1,"num_experts_per_tok":4,"num_hidden_layers":47,)"
     R"("num_key_value_heads":20,"num_nextn_predict_layers":1,"rope_scaling":null,"tie_word_embeddings":false,)"
     R"("dtype":"bfloat16","q_lora_rank":768,"kv_lora_rank":512,"qk_nope_head_dim":192,"qk_rope_head_dim":64,"v_head_dim":256,)"
     R"("vocab_size":154880})"sv, 29943390976},
};
// clang-format on

}  // namespace llmcost
