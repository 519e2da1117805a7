// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

namespace llmcost {

/// State space models and hybrids: Mamba, Mamba 2, Falcon Mamba, Jamba, LFM2.
// clang-format off
inline constexpr bundled_config bundled_state_space[] = {
    {"ai21labs/AI21-Jamba-1.5-Large"sv,
     "arXiv 2408.12570, intermediate_size by its 398B and 94B; the rest as ai21labs/AI21-Jamba-1.5-Mini"sv,
     R"({"model_type":"jamba","architectures":["JambaForCausalLM"],"vocab_size":65536,"hidden_size":8192,)"
     R"("intermediate_size":24576,"num_hidden_layers":72,"num_attention_heads":64,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","mamba_conv_bias":true,"mamba_proj_bias":false,"max_position_embeddings":262144,)"
     R"("sliding_window":null,"num_experts":16,"num_experts_per_tok":2,"attn_layer_offset":4,"attn_layer_period":8,)"
     R"("expert_layer_offset":1,"expert_layer_period":2,"mamba_d_conv":4,"mamba_d_state":16,"mamba_dt_rank":512,)"
     R"("mamba_expand":2,"use_mamba_kernels":false,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv,
     398555145696},
    {"ai21labs/AI21-Jamba-1.5-Mini"sv, "its own config.json"sv,
     R"({"model_type":"jamba","architectures":["JambaForCausalLM"],"vocab_size":65536,"hidden_size":4096,)"
     R"("intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","mamba_conv_bias":true,"mamba_proj_bias":false,"max_position_embeddings":262144,)"
     R"("sliding_window":null,"num_experts":16,"num_experts_per_tok":2,"attn_layer_offset":4,"attn_layer_period":8,)"
     R"("expert_layer_offset":1,"expert_layer_period":2,"mamba_d_conv":4,"mamba_d_state":16,"mamba_dt_rank":256,)"
     R"("mamba_expand":2,"use_mamba_kernels":false,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv,
     51570323328},
    {"LiquidAI/LFM2-1.2B"sv, "its own config.json"sv,
     R"({"model_type":"lfm2","architectures":["Lfm2ForCausalLM"],"vocab_size":65536,"hidden_size":2048,)"
     R"("block_ff_dim":12288,"block_auto_adjust_ff_dim":true,"block_ffn_dim_multiplier":1.0,"block_multiple_of":256,)"
     R"("num_hidden_layers":16,"num_attention_heads":32,"num_key_value_heads":8,"conv_bias":false,)"
     R"("max_position_embeddings":128000,"rope_theta":1000000.0,"full_attn_idxs":[2,5,8,10,12,14],"conv_L_cache":3,)"
     R"("torch_dtype":"bfloat16"})"sv, 1170340608},
    {"LiquidAI/LFM2-350M"sv, "config.json quoted by public loader tests; the rest as LiquidAI/LFM2-1.2B"sv,
     R"({"model_type":"lfm2","architectures":["Lfm2ForCausalLM"],"vocab_size":65536,"hidden_size":1024,)"
     R"("block_ff_dim":6656,"block_auto_adjust_ff_dim":true,"block_ffn_dim_multiplier":1.0,"block_multiple_of":256,)"
     R"("num_hidden_layers":16,"num_attention_heads":16,"num_key_value_heads":8,"conv_bias":false,)"
     R"("max_position_embeddings":128000,"rope_theta":1000000.0,"full_attn_idxs":[2,5,8,10,12,14],"conv_L_cache":3,)"
     R"("torch_dtype":"bfloat16"})"sv, 354483968},
    {"LiquidAI/LFM2-700M"sv,
     "config.json at revision 86f49fc9 quoted by public loader tests; the rest as LiquidAI/LFM2-1.2B"sv,
     R"({"model_type":"lfm2","architectures":["Lfm2ForCausalLM"],"vocab_size":65536,"hidden_size":1536,)"
     R"("block_ff_dim":10240,"block_auto_adjust_ff_dim":true,"block_ffn_dim_multiplier":1.0,"block_multiple_of":256,)"
     R"("num_hidden_layers":16,"num_attention_heads":24,"num_key_value_heads":8,"conv_bias":false,)"
     R"("max_position_embeddings":128000,"rope_theta":1000000.0,"full_attn_idxs":[2,5,8,10,12,14],"conv_L_cache":3,)"
     R"("torch_dtype":"bfloat16"})"sv, 742489344},
    {"mistralai/Mamba-Codestral-7B-v0.1"sv, "its own config.json"sv,
     R"({"model_type":"mamba2","architectures":["Mamba2ForCausalLM"],"vocab_size":32768,"hidden_size":4096,)"
     R"("intermediate_size":8192,"num_hidden_layers":64,"num_heads":128,"head_dim":64,"hidden_act":"silu",)"
     R"("use_bias":false,"use_conv_bias":true,"rms_norm":true,"norm_before_gate":true,"conv_kernel":4,"expand":2,)"
     R"("state_size":128,"time_step_rank":256,"n_groups":8,"chunk_size":256,"residual_in_fp32":true,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 7285403648},
    {"state-spaces/mamba-1.4b-hf"sv, "state-spaces/mamba 03a38fb README.md; the rest as state-spaces/mamba-130m-hf"sv,
     R"({"model_type":"mamba","architectures":["MambaForCausalLM"],"vocab_size":50280,"hidden_size":2048,)"
     R"("intermediate_size":4096,"num_hidden_layers":48,"hidden_act":"silu","use_bias":false,"use_conv_bias":true,)"
     R"("conv_kernel":4,"expand":2,"state_size":16,"time_step_rank":128,"residual_in_fp32":true,)"
     R"("torch_dtype":"float32"})"sv, 1372178432},
    {"state-spaces/mamba-130m-hf"sv, "its own config.json"sv,
     R"({"model_type":"mamba","architectures":["MambaForCausalLM"],"vocab_size":50280,"hidden_size":768,)"
     R"("intermediate_size":1536,"num_hidden_layers":24,"hidden_act":"silu","use_bias":false,"use_conv_bias":true,)"
     R"("conv_kernel":4,"expand":2,"state_size":16,"time_step_rank":48,"residual_in_fp32":true,)"
     R"("torch_dtype":"float32"})"sv, 129135360},
    {"state-spaces/mamba-2.8b-hf"sv, "state-spaces/mamba 03a38fb README.md; the rest as state-spaces/mamba-130m-hf"sv,
     R"({"model_type":"mamba","architectures":["MambaForCausalLM"],"vocab_size":50280,"hidden_size":2560,)"
     R"("intermediate_size":5120,"num_hidden_layers":64,"hidden_act":"silu","use_bias":false,"use_conv_bias":true,)"
     R"("conv_kernel":4,"expand":2,"state_size":16,"time_step_rank":160,"residual_in_fp32":true,)"
     R"("torch_dtype":"float32"})"sv, 2768345600},
    {"state-spaces/mamba-370m-hf"sv, "state-spaces/mamba 03a38fb README.md; the rest as state-spaces/mamba-130m-hf"sv,
     R"({"model_type":"mamba","architectures":["MambaForCausalLM"],"vocab_size":50280,"hidden_size":1024,)"
     R"("intermediate_size":2048,"num_hidden_layers":48,"hidden_act":"silu","use_bias":false,"use_conv_bias":true,)"
     R"("conv_kernel":4,"expand":2,"state_size":16,"time_step_rank":64,"residual_in_fp32":true,)"
     R"("torch_dtype":"float32"})"sv, 371516416},
    {"state-spaces/mamba-790m-hf"sv, "state-spaces/mamba 03a38fb README.md; the rest as state-spaces/mamba-130m-hf"sv,
     R"({"model_type":"mamba","architectures":["MambaForCausalLM"],"vocab_size":50280,"hidden_size":1536,)"
     R"("intermediate_size":3072,"num_hidden_layers":48,"hidden_act":"silu","use_bias":false,"use_conv_bias":true,)"
     R"("conv_kernel":4,"expand":2,"state_size":16,"time_step_rank":96,"residual_in_fp32":true,)"
     R"("torch_dtype":"float32"})"sv, 793204224},
    {"tiiuae/falcon-mamba-7b"sv, "mlstm-kernels 2.0.6 huggingface_model_configs.py"sv,
     R"({"model_type":"falcon_mamba","architectures":["FalconMambaForCausalLM"],"vocab_size":65024,"hidden_size":4096,)"
     R"("intermediate_size":8192,"num_hidden_layers":64,"hidden_act":"silu","use_bias":false,"use_conv_bias":true,)"
     R"("conv_kernel":4,"expand":16,"state_size":16,"time_step_rank":256,"residual_in_fp32":true,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 7272665088},
    {"tiiuae/falcon-mamba-7b-instruct"sv, "its own config.json"sv,
     R"({"model_type":"falcon_mamba","architectures":["FalconMambaForCausalLM"],"vocab_size":65024,"hidden_size":4096,)"
     R"("intermediate_size":8192,"num_hidden_layers":64,"hidden_act":"silu","use_bias":false,"use_conv_bias":true,)"
     R"("use_mambapy":false,"conv_kernel":4,"expand":16,"state_size":16,"time_step_rank":256,"residual_in_fp32":true,)"
     R"("tie_word_embeddings":false,"torch_dtype":"bfloat16"})"sv, 7272665088},
};
// clang-format on

}  // namespace llmcost
