// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

namespace llmcost {

/// GPT-2, GPT-J, GPT-NeoX and Pythia, OPT, BLOOM, Falcon.
// clang-format off
inline constexpr bundled_config bundled_gpt[] = {
    {"bigscience/bloom"sv, "its own config.json"sv,
     R"({"model_type":"bloom","architectures":["BloomForCausalLM"],"vocab_size":250880,"n_embed":14336,"n_layer":70,)"
     R"("num_attention_heads":112,"apply_residual_connection_post_layernorm":false,"hidden_dropout":0.0,)"
     R"("slow_but_exact":false})"sv, 176247271424},
    {"bigscience/bloom-1b1"sv, "model card; the rest as bigscience/bloom"sv,
     R"({"model_type":"bloom","architectures":["BloomForCausalLM"],"vocab_size":250880,"n_embed":1536,"n_layer":24,)"
     R"("num_attention_heads":16,"apply_residual_connection_post_layernorm":false})"sv, 1065314304},
    {"bigscience/bloom-3b"sv, "model card; the rest as bigscience/bloom"sv,
     R"({"model_type":"bloom","architectures":["BloomForCausalLM"],"vocab_size":250880,"n_embed":2560,"n_layer":30,)"
     R"("num_attention_heads":32,"apply_residual_connection_post_layernorm":false})"sv, 3002557440},
    {"bigscience/bloom-560m"sv, "llm-analysis 0.2.2 model_configs; the rest as bigscience/bloom"sv,
     R"({"model_type":"bloom","architectures":["BloomForCausalLM"],"vocab_size":250880,"n_embed":1024,"n_layer":24,)"
     R"("num_attention_heads":16,"apply_residual_connection_post_layernorm":false})"sv, 559214592},
    {"bigscience/bloom-7b1"sv, "llm-analysis 0.2.2 model_configs; the rest as bigscience/bloom"sv,
     R"({"model_type":"bloom","architectures":["BloomForCausalLM"],"vocab_size":250880,"n_embed":4096,"n_layer":30,)"
     R"("num_attention_heads":32,"apply_residual_connection_post_layernorm":false})"sv, 7069016064},
    {"EleutherAI/gpt-j-6b"sv, "its own config.json"sv,
     R"({"model_type":"gptj","architectures":["GPTJForCausalLM"],"vocab_size":50400,"n_embd":4096,"n_inner":null,"n_layer":28,)"
     R"("n_head":16,"activation_function":"gelu_new","n_positions":2048,"rotary_dim":64,"tie_word_embeddings":false,)"
     R"("attn_pdrop":0.0,"embd_pdrop":0.0,"resid_pdrop":0.0,"rope_scaling":{"rope_type":"gptj"}})"sv, 6050882784},
    {"EleutherAI/gpt-neox-20b"sv, "transformers 5.23.0 GPTNeoXConfig; its hidden_act as in atb_llm GPTNeoXConfig"sv,
     R"({"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"vocab_size":50432,"hidden_size":6144,)"
     R"("intermediate_size":24576,"num_hidden_layers":44,"num_attention_heads":64,"use_parallel_residual":true,)"
     R"("hidden_act":"gelu_fast","max_position_embeddings":2048,"rotary_pct":0.25,"rotary_emb_base":10000,)"
     R"("tie_word_embeddings":false})"sv, 20554567680},
    {"EleutherAI/pythia-1.4b"sv,
     "litgpt 0.5.13 config.py; the rest as config.json of EleutherAI/pythia-14m at 94f7c35"sv,
     R"({"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"vocab_size":50304,"hidden_size":2048,)"
     R"("intermediate_size":8192,"num_hidden_layers":24,"num_attention_heads":16,"use_parallel_residual":true,)"
     R"("hidden_act":"gelu","max_position_embeddings":2048,"rotary_pct":0.25,"rotary_emb_base":10000,)"
     R"("tie_word_embeddings":false})"sv, 1414647808},
    {"EleutherAI/pythia-12b"sv,
     "litgpt 0.5.13 config.py; the rest as config.json of EleutherAI/pythia-14m at 94f7c35"sv,
     R"({"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"vocab_size":50688,"hidden_size":5120,)"
     R"("intermediate_size":20480,"num_hidden_layers":36,"num_attention_heads":40,"use_parallel_residual":true,)"
     R"("hidden_act":"gelu","max_position_embeddings":2048,"rotary_pct":0.25,"rotary_emb_base":10000,)"
     R"("tie_word_embeddings":false})"sv, 11846072320},
    {"EleutherAI/pythia-160m"sv,
     "litgpt 0.5.13 config.py; the rest as config.json of EleutherAI/pythia-14m at 94f7c35"sv,
     R"({"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"vocab_size":50304,"hidden_size":768,)"
     R"("intermediate_size":3072,"num_hidden_layers":12,"num_attention_heads":12,"use_parallel_residual":true,)"
     R"("hidden_act":"gelu","max_position_embeddings":2048,"rotary_pct":0.25,"rotary_emb_base":10000,)"
     R"("tie_word_embeddings":false})"sv, 162322944},
    {"EleutherAI/pythia-1b"sv, "litgpt 0.5.13 config.py; the rest as config.json of EleutherAI/pythia-14m at 94f7c35"sv,
     R"({"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"vocab_size":50304,"hidden_size":2048,)"
     R"("intermediate_size":8192,"num_hidden_layers":16,"num_attention_heads":8,"use_parallel_residual":true,)"
     R"("hidden_act":"gelu","max_position_embeddings":2048,"rotary_pct":0.25,"rotary_emb_base":10000,)"
     R"("tie_word_embeddings":false})"sv, 1011781632},
    {"EleutherAI/pythia-2.8b"sv,
     "litgpt 0.5.13 config.py; the rest as config.json of EleutherAI/pythia-14m at 94f7c35"sv,
     R"({"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"vocab_size":50304,"hidden_size":2560,)"
     R"("intermediate_size":10240,"num_hidden_layers":32,"num_attention_heads":32,"use_parallel_residual":true,)"
     R"("hidden_act":"gelu","max_position_embeddings":2048,"rotary_pct":0.25,"rotary_emb_base":10000,)"
     R"("tie_word_embeddings":false})"sv, 2775208960},
    {"EleutherAI/pythia-410m"sv,
     "litgpt 0.5.13 config.py; the rest as config.json of EleutherAI/pythia-14m at 94f7c35"sv,
     R"({"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"vocab_size":50304,"hidden_size":1024,)"
     R"("intermediate_size":4096,"num_hidden_layers":24,"num_attention_heads":16,"use_parallel_residual":true,)"
     R"("hidden_act":"gelu","max_position_embeddings":2048,"rotary_pct":0.25,"rotary_emb_base":10000,)"
     R"("tie_word_embeddings":false})"sv, 405334016},
    {"EleutherAI/pythia-6.9b"sv,
     "litgpt 0.5.13 config.py; the rest as config.json of EleutherAI/pythia-14m at 94f7c35"sv,
     R"({"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"vocab_size":50432,"hidden_size":4096,)"
     R"("intermediate_size":16384,"num_hidden_layers":32,"num_attention_heads":32,"use_parallel_residual":true,)"
     R"("hidden_act":"gelu","max_position_embeddings":2048,"rotary_pct":0.25,"rotary_emb_base":10000,)"
     R"("tie_word_embeddings":false})"sv, 6857302016},
    {"EleutherAI/pythia-70m"sv,
     "litgpt 0.5.13 config.py; the rest as config.json of EleutherAI/pythia-14m at 94f7c35"sv,
     R"({"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"vocab_size":50304,"hidden_size":512,)"
     R"("intermediate_size":2048,"num_hidden_layers":6,"num_attention_heads":8,"use_parallel_residual":true,)"
     R"("hidden_act":"gelu","max_position_embeddings":2048,"rotary_pct":0.25,"rotary_emb_base":10000,)"
     R"("tie_word_embeddings":false})"sv, 70426624},
    {"facebook/opt-1.3b"sv, "EasyDeL 0.0.29 configs.py; the rest as facebook/opt-125m"sv,
     R"({"model_type":"opt","architectures":["OPTForCausalLM"],"vocab_size":50272,"hidden_size":2048,)"
     R"("word_embed_proj_dim":2048,"ffn_dim":8192,"num_hidden_layers":24,"num_attention_heads":32,)"
     R"("activation_function":"relu","do_layer_norm_before":true,"max_position_embeddings":2048,)"
     R"("torch_dtype":"float16"})"sv, 1315758080},
    {"facebook/opt-125m"sv, "its own config.json"sv,
     R"({"model_type":"opt","architectures":["OPTForCausalLM"],"vocab_size":50272,"hidden_size":768,"word_embed_proj_dim":768,)"
     R"("ffn_dim":3072,"num_hidden_layers":12,"num_attention_heads":12,"activation_function":"relu",)"
     R"("do_layer_norm_before":true,"max_position_embeddings":2048,"torch_dtype":"float16","dropout":0.1,"layerdrop":0.0})"sv, 125239296},
    {"facebook/opt-13b"sv, "EasyDeL 0.0.29 configs.py; the rest as facebook/opt-125m"sv,
     R"({"model_type":"opt","architectures":["OPTForCausalLM"],"vocab_size":50272,"hidden_size":5120,)"
     R"("word_embed_proj_dim":5120,"ffn_dim":20480,"num_hidden_layers":40,"num_attention_heads":40,)"
     R"("activation_function":"relu","do_layer_norm_before":true,"_remove_final_layer_norm":false,)"
     R"("max_position_embeddings":2048,"torch_dtype":"float16"})"sv, 12853473280},
    {"facebook/opt-2.7b"sv, "facebookresearch/metaseq 0580bd7 opt_job_constants.py; the rest as facebook/opt-125m"sv,
     R"({"model_type":"opt","architectures":["OPTForCausalLM"],"vocab_size":50272,"hidden_size":2560,)"
     R"("word_embed_proj_dim":2560,"ffn_dim":10240,"num_hidden_layers":32,"num_attention_heads":32,)"
     R"("activation_function":"relu","do_layer_norm_before":true,"max_position_embeddings":2048,)"
     R"("torch_dtype":"float16"})"sv, 2651596800},
    {"facebook/opt-30b"sv, "facebookresearch/metaseq 0580bd7 opt_job_constants.py; the rest as facebook/opt-125m"sv,
     R"({"model_type":"opt","architectures":["OPTForCausalLM"],"vocab_size":50272,"hidden_size":7168,)"
     R"("word_embed_proj_dim":7168,"ffn_dim":28672,"num_hidden_layers":48,"num_attention_heads":56,)"
     R"("activation_function":"relu","do_layer_norm_before":true,"max_position_embeddings":2048,)"
     R"("torch_dtype":"float16"})"sv, 29974540288},
    {"facebook/opt-350m"sv, "EasyDeL 0.0.29 configs.py; the rest as facebook/opt-125m"sv,
     R"({"model_type":"opt","architectures":["OPTForCausalLM"],"vocab_size":50272,"hidden_size":1024,)"
     R"("word_embed_proj_dim":512,"ffn_dim":4096,"num_hidden_layers":24,"num_attention_heads":16,)"
     R"("activation_function":"relu","do_layer_norm_before":false,"max_position_embeddings":2048,)"
     R"("torch_dtype":"float16"})"sv, 331196416},
    {"facebook/opt-6.7b"sv, "EasyDeL 0.0.29 configs.py; the rest as facebook/opt-125m"sv,
     R"({"model_type":"opt","architectures":["OPTForCausalLM"],"vocab_size":50272,"hidden_size":4096,)"
     R"("word_embed_proj_dim":4096,"ffn_dim":16384,"num_hidden_layers":32,"num_attention_heads":32,)"
     R"("activation_function":"relu","do_layer_norm_before":true,"_remove_final_layer_norm":false,)"
     R"("max_position_embeddings":2048,"torch_dtype":"float16"})"sv, 6658473984},
    {"facebook/opt-66b"sv, "EasyDeL 0.0.29 configs.py; the rest as facebook/opt-125m"sv,
     R"({"model_type":"opt","architectures":["OPTForCausalLM"],"vocab_size":50272,"hidden_size":9216,)"
     R"("word_embed_proj_dim":9216,"ffn_dim":36864,"num_hidden_layers":64,"num_attention_heads":72,)"
     R"("activation_function":"relu","do_layer_norm_before":true,"_remove_final_layer_norm":false,)"
     R"("max_position_embeddings":2048,"torch_dtype":"float16"})"sv, 65719701504},
    {"openai-community/gpt2"sv, "its own config.json"sv,
     R"({"model_type":"gpt2","architectures":["GPT2LMHeadModel"],"vocab_size":50257,"n_embd":768,"n_layer":12,"n_head":12,)"
     R"("activation_function":"gelu_new","n_positions":1024,"attn_pdrop":0.1,"embd_pdrop":0.1,"resid_pdrop":0.1})"sv, 124439808},
    {"openai-community/gpt2-large"sv, "llm-analysis 0.2.2 model_configs; nanoGPT model.py"sv,
     R"({"model_type":"gpt2","architectures":["GPT2LMHeadModel"],"vocab_size":50257,"n_embd":1280,"n_layer":36,)"
     R"("n_head":20,"activation_function":"gelu_new","n_positions":1024})"sv, 774030080},
    {"openai-community/gpt2-medium"sv, "mlc-ai/mlc-llm 01ced33 model_preset.py gpt2_medium"sv,
     R"({"model_type":"gpt2","architectures":["GPT2LMHeadModel"],"vocab_size":50257,"n_embd":1024,"n_layer":24,)"
     R"("n_head":16,"activation_function":"gelu_new","n_positions":1024})"sv, 354823168},
    {"openai-community/gpt2-xl"sv, "llm-analysis 0.2.2 model_configs; nanoGPT model.py"sv,
     R"({"model_type":"gpt2","architectures":["GPT2LMHeadModel"],"vocab_size":50257,"n_embd":1600,"n_layer":48,)"
     R"("n_head":25,"activation_function":"gelu_new","n_positions":1024})"sv, 1557611200},
    {"tiiuae/falcon-40b"sv, "its own config.json"sv,
     R"({"model_type":"falcon","architectures":["FalconForCausalLM"],"vocab_size":65024,"hidden_size":8192,)"
     R"("num_hidden_layers":60,"num_attention_heads":128,"num_kv_heads":8,"multi_query":true,"new_decoder_architecture":true,)"
     R"("parallel_attn":true,"apply_residual_connection_post_layernorm":false,"alibi":false,"bias":false,)"
     R"("torch_dtype":"bfloat16","hidden_dropout":0.0})"sv, 41303293952},
    {"tiiuae/falcon-40b-instruct"sv, "as tiiuae/falcon-40b; litgpt 0.5.13 config.py"sv,
     R"({"model_type":"falcon","architectures":["FalconForCausalLM"],"vocab_size":65024,"hidden_size":8192,)"
     R"("num_hidden_layers":60,"num_attention_heads":128,"num_kv_heads":8,"multi_query":true,)"
     R"("new_decoder_architecture":true,"parallel_attn":true,"apply_residual_connection_post_layernorm":false,)"
     R"("alibi":false,"bias":false,"torch_dtype":"bfloat16"})"sv, 41303293952},
    {"tiiuae/falcon-7b"sv, "EasyDeL 0.0.29 configs.py; litgpt 0.5.13 config.py; transformers 5.23.0 FalconConfig"sv,
     R"({"model_type":"falcon","architectures":["FalconForCausalLM"],"vocab_size":65024,"hidden_size":4544,)"
     R"("num_hidden_layers":32,"num_attention_heads":71,"multi_query":true,"new_decoder_architecture":false,)"
     R"("parallel_attn":true,"apply_residual_connection_post_layernorm":false,"alibi":false,"bias":false,)"
     R"("torch_dtype":"bfloat16"})"sv, 6921720704},
    {"tiiuae/falcon-7b-instruct"sv,
     "EasyDeL 0.0.29 configs.py; litgpt 0.5.13 config.py; transformers 5.23.0 FalconConfig"sv,
     R"({"model_type":"falcon","architectures":["FalconForCausalLM"],"vocab_size":65024,"hidden_size":4544,)"
     R"("num_hidden_layers":32,"num_attention_heads":71,"multi_query":true,"new_decoder_architecture":false,)"
     R"("parallel_attn":true,"apply_residual_connection_post_layernorm":false,"alibi":false,"bias":false,)"
     R"("torch_dtype":"bfloat16"})"sv, 6921720704},
};
// clang-format on

}  // namespace llmcost
