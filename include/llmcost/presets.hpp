// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/bert.hpp>
#include <llmcost/arch/deepseek_v2.hpp>
#include <llmcost/arch/deepseek_v3.hpp>
#include <llmcost/arch/falcon.hpp>
#include <llmcost/arch/gemma2.hpp>
#include <llmcost/arch/gemma3.hpp>
#include <llmcost/arch/gpt2.hpp>
#include <llmcost/arch/gpt_oss.hpp>
#include <llmcost/arch/llama.hpp>
#include <llmcost/arch/mamba.hpp>
#include <llmcost/arch/mixtral.hpp>
#include <llmcost/arch/olmo2.hpp>
#include <llmcost/arch/opt.hpp>
#include <llmcost/arch/phi3.hpp>
#include <llmcost/arch/qwen3.hpp>
#include <llmcost/arch/qwen3_moe.hpp>
#include <llmcost/arch/t5.hpp>
#include <llmcost/arch/vit.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

/// A model with these sizes, where `kind_of(i)` is the layer spec of layer i.
template <class KindOf>
constexpr model planned(const model_spec& row, model_config config, KindOf kind_of) {
    set_layers(config_view{&detail::no_keys, 0}, config, kind_of);
    return {&row, config};
}

/// A model with these sizes and the default layer specs of its family, for example alternating ones (Gemma 2).
constexpr model planned(const model_spec& row, model_config config) {
    model_config as_read = config;
    if (row.parse_config != nullptr) row.parse_config(config_view{&detail::no_keys, 0}, as_read);
    config.layers = as_read.layers;
    return {&row, config};
}

/// Well-known models as literals, for programs that do not read JSON. Each is named after a repository on the Hub.
///
/// Omitted fields have the defaults of `model_config`: `silu`, no biases, no window, equal layers.
namespace presets {

// clang-format off

// meta-llama/Llama-3.2-1B
inline constexpr model llama_3_2_1b{&arch::llama, {
    .vocab_size = 128256, .hidden_size = 2048, .intermediate_size = 8192, .num_hidden_layers = 16,
    .num_attention_heads = 32, .num_key_value_heads = 8, .head_dim = 64, .rotary_dim = 64,
    .max_position_embeddings = 131072, .dtype_of_weights = dtype::bfloat16, .tie_word_embeddings = true}};

// meta-llama/Llama-3.2-3B
inline constexpr model llama_3_2_3b{&arch::llama, {
    .vocab_size = 128256, .hidden_size = 3072, .intermediate_size = 8192, .num_hidden_layers = 28,
    .num_attention_heads = 24, .num_key_value_heads = 8, .head_dim = 128, .rotary_dim = 128,
    .max_position_embeddings = 131072, .dtype_of_weights = dtype::bfloat16, .tie_word_embeddings = true}};

// meta-llama/Llama-3.1-8B
inline constexpr model llama_3_1_8b{&arch::llama, {
    .vocab_size = 128256, .hidden_size = 4096, .intermediate_size = 14336, .num_hidden_layers = 32,
    .num_attention_heads = 32, .num_key_value_heads = 8, .head_dim = 128, .rotary_dim = 128,
    .max_position_embeddings = 131072, .dtype_of_weights = dtype::bfloat16}};

// meta-llama/Llama-3.1-70B
inline constexpr model llama_3_1_70b{&arch::llama, {
    .vocab_size = 128256, .hidden_size = 8192, .intermediate_size = 28672, .num_hidden_layers = 80,
    .num_attention_heads = 64, .num_key_value_heads = 8, .head_dim = 128, .rotary_dim = 128,
    .max_position_embeddings = 131072, .dtype_of_weights = dtype::bfloat16}};

// meta-llama/Llama-3.1-405B
inline constexpr model llama_3_1_405b{&arch::llama, {
    .vocab_size = 128256, .hidden_size = 16384, .intermediate_size = 53248, .num_hidden_layers = 126,
    .num_attention_heads = 128, .num_key_value_heads = 8, .head_dim = 128, .rotary_dim = 128,
    .max_position_embeddings = 131072, .dtype_of_weights = dtype::bfloat16}};

// Qwen/Qwen2.5-7B
inline constexpr model qwen2_5_7b{&arch::qwen2, {
    .vocab_size = 152064, .hidden_size = 3584, .intermediate_size = 18944, .num_hidden_layers = 28,
    .num_attention_heads = 28, .num_key_value_heads = 4, .head_dim = 128, .rotary_dim = 128,
    .max_position_embeddings = 131072, .dtype_of_weights = dtype::bfloat16, .attention_bias = true}};

// Qwen/Qwen3-0.6B
inline constexpr model qwen3_0_6b{&arch::qwen3, {
    .vocab_size = 151936, .hidden_size = 1024, .intermediate_size = 3072, .num_hidden_layers = 28,
    .num_attention_heads = 16, .num_key_value_heads = 8, .head_dim = 128, .rotary_dim = 128,
    .max_position_embeddings = 40960, .dtype_of_weights = dtype::bfloat16, .tie_word_embeddings = true}};

// Qwen/Qwen3-8B
inline constexpr model qwen3_8b{&arch::qwen3, {
    .vocab_size = 151936, .hidden_size = 4096, .intermediate_size = 12288, .num_hidden_layers = 36,
    .num_attention_heads = 32, .num_key_value_heads = 8, .head_dim = 128, .rotary_dim = 128,
    .max_position_embeddings = 40960, .dtype_of_weights = dtype::bfloat16}};

// Qwen/Qwen3-30B-A3B
inline constexpr model qwen3_30b_a3b = planned(arch::qwen3_moe, {
    .vocab_size = 151936, .hidden_size = 2048, .intermediate_size = 6144, .num_hidden_layers = 48,
    .num_attention_heads = 32, .num_key_value_heads = 4, .head_dim = 128, .rotary_dim = 128,
    .max_position_embeddings = 40960, .dtype_of_weights = dtype::bfloat16,
    .moe = {.num_experts = 128, .num_experts_per_tok = 8, .intermediate_size = 768, .norm_topk_prob = true}});

// google/gemma-2-2b
inline constexpr model gemma_2_2b = planned(arch::gemma2, {
    .vocab_size = 256000, .hidden_size = 2304, .intermediate_size = 9216, .num_hidden_layers = 26,
    .num_attention_heads = 8, .num_key_value_heads = 4, .head_dim = 256, .rotary_dim = 256,
    .max_position_embeddings = 8192, .sliding_window = 4096, .hidden_act = activation::gelu_pytorch_tanh,
    .dtype_of_weights = dtype::bfloat16, .tie_word_embeddings = true, .attention_soft_cap = true, .logits_soft_cap = true});

// google/gemma-3-1b-pt
inline constexpr model gemma_3_1b = planned(arch::gemma3_text, {
    .vocab_size = 262144, .hidden_size = 1152, .intermediate_size = 6912, .num_hidden_layers = 26,
    .num_attention_heads = 4, .num_key_value_heads = 1, .head_dim = 256, .rotary_dim = 256,
    .max_position_embeddings = 32768, .sliding_window = 512, .hidden_act = activation::gelu_pytorch_tanh,
    .dtype_of_weights = dtype::bfloat16, .tie_word_embeddings = true});

// mistralai/Mistral-7B-v0.1
inline constexpr model mistral_7b_v0_1 = planned(arch::mistral, {
    .vocab_size = 32000, .hidden_size = 4096, .intermediate_size = 14336, .num_hidden_layers = 32,
    .num_attention_heads = 32, .num_key_value_heads = 8, .head_dim = 128, .rotary_dim = 128,
    .max_position_embeddings = 32768, .sliding_window = 4096, .dtype_of_weights = dtype::bfloat16});

// mistralai/Mixtral-8x7B-v0.1
inline constexpr model mixtral_8x7b_v0_1 = planned(arch::mixtral, {
    .vocab_size = 32000, .hidden_size = 4096, .intermediate_size = 14336, .num_hidden_layers = 32,
    .num_attention_heads = 32, .num_key_value_heads = 8, .head_dim = 128, .rotary_dim = 128,
    .max_position_embeddings = 32768, .dtype_of_weights = dtype::bfloat16,
    .moe = {.num_experts = 8, .num_experts_per_tok = 2, .intermediate_size = 14336, .norm_topk_prob = true}});

// deepseek-ai/DeepSeek-V2-Lite
inline constexpr model deepseek_v2_lite = planned(arch::deepseek_v2, {
    .vocab_size = 102400, .hidden_size = 2048, .intermediate_size = 10944, .num_hidden_layers = 27,
    .num_attention_heads = 16, .num_key_value_heads = 16, .head_dim = 64, .rotary_dim = 64,
    .max_position_embeddings = 163840, .dtype_of_weights = dtype::bfloat16,
    .moe = {.num_experts = 64, .num_experts_per_tok = 6, .intermediate_size = 1408, .shared_intermediate_size = 2816},
    .mla = {.kv_lora_rank = 512, .qk_nope_head_dim = 128, .qk_rope_head_dim = 64, .v_head_dim = 128}},
    [](std::int64_t layer) { return layer_spec{.has_experts = layer >= 1}; });

// deepseek-ai/DeepSeek-V3
inline constexpr model deepseek_v3 = planned(arch::deepseek_v3, {
    .vocab_size = 129280, .hidden_size = 7168, .intermediate_size = 18432, .num_hidden_layers = 61,
    .num_attention_heads = 128, .num_key_value_heads = 128, .head_dim = 64, .rotary_dim = 64,
    .max_position_embeddings = 163840, .dtype_of_weights = dtype::bfloat16, .rope_interleave = true, .quantized = true,
    .moe = {.num_experts = 256, .num_experts_per_tok = 8, .intermediate_size = 2048, .shared_intermediate_size = 2048,
            .n_group = 8, .topk_group = 4, .norm_topk_prob = true, .has_group_limit = true},
    .mla = {.q_lora_rank = 1536, .kv_lora_rank = 512, .qk_nope_head_dim = 128, .qk_rope_head_dim = 64, .v_head_dim = 128}});

// openai/gpt-oss-20b
inline constexpr model gpt_oss_20b = planned(arch::gpt_oss, {
    .vocab_size = 201088, .hidden_size = 2880, .intermediate_size = 2880, .num_hidden_layers = 24,
    .num_attention_heads = 64, .num_key_value_heads = 8, .head_dim = 64, .rotary_dim = 64,
    .max_position_embeddings = 131072, .sliding_window = 128, .attention_bias = true, .output_bias = true,
    .quantized = true, .moe = {.num_experts = 32, .num_experts_per_tok = 4, .intermediate_size = 2880}});

// microsoft/Phi-3-mini-4k-instruct
inline constexpr model phi_3_mini_4k_instruct = planned(arch::phi3, {
    .vocab_size = 32064, .hidden_size = 3072, .intermediate_size = 8192, .num_hidden_layers = 32,
    .num_attention_heads = 32, .num_key_value_heads = 32, .head_dim = 96, .rotary_dim = 96,
    .max_position_embeddings = 4096, .sliding_window = 2047, .dtype_of_weights = dtype::bfloat16});

// allenai/OLMo-2-1124-7B
inline constexpr model olmo_2_7b{&arch::olmo2, {
    .vocab_size = 100352, .hidden_size = 4096, .intermediate_size = 11008, .num_hidden_layers = 32,
    .num_attention_heads = 32, .num_key_value_heads = 32, .head_dim = 128, .rotary_dim = 128,
    .max_position_embeddings = 4096, .dtype_of_weights = dtype::float32}};

// openai-community/gpt2
inline constexpr model gpt2{&arch::gpt2, {
    .vocab_size = 50257, .hidden_size = 768, .intermediate_size = 3072, .num_hidden_layers = 12,
    .num_attention_heads = 12, .num_key_value_heads = 12, .head_dim = 64, .rotary_dim = 64,
    .max_position_embeddings = 1024, .hidden_act = activation::gelu_new, .tie_word_embeddings = true,
    .dropout_positions = dropout_set{}.with_position(dropout_position::hidden).with_position(dropout_position::embeddings).with_position(dropout_position::attention)}};

// facebook/opt-125m
inline constexpr model opt_125m{&arch::opt, {
    .vocab_size = 50272, .hidden_size = 768, .intermediate_size = 3072, .num_hidden_layers = 12,
    .num_attention_heads = 12, .num_key_value_heads = 12, .head_dim = 64, .rotary_dim = 64,
    .max_position_embeddings = 2048, .embedding_size = 768, .hidden_act = activation::relu, .dtype_of_weights = dtype::float16,
    .tie_word_embeddings = true, .attention_bias = true, .output_bias = true, .mlp_bias = true,
    .dropout_positions = dropout_set{}.with_position(dropout_position::hidden),
    .family = family_config{}.with_value(opt_decoder::norm_affine, 1).with_value(opt_decoder::final_norm, 1)}};

// tiiuae/falcon-7b
inline constexpr model falcon_7b{&arch::falcon, {
    .vocab_size = 65024, .hidden_size = 4544, .intermediate_size = 18176, .num_hidden_layers = 32,
    .num_attention_heads = 71, .num_key_value_heads = 1, .head_dim = 64, .rotary_dim = 64,
    .max_position_embeddings = 2048, .hidden_act = activation::gelu, .dtype_of_weights = dtype::bfloat16,
    .tie_word_embeddings = true, .parallel_residual = true,
    .family = family_config{}.with_value(arch::falcon_detail::qkv_layout, static_cast<std::int64_t>(arch::falcon_detail::layout::one_key))}};

// state-spaces/mamba-2.8b-hf
inline constexpr model mamba_2_8b = planned(arch::mamba, {
    .vocab_size = 50280, .hidden_size = 2560, .intermediate_size = 5120, .num_hidden_layers = 64,
    .dtype_of_weights = dtype::float32, .tie_word_embeddings = true,
    .ssm = {.state_size = 16, .conv_kernel = 4, .intermediate_size = 5120, .time_step_rank = 160}});

// google-bert/bert-base-uncased
inline constexpr model bert_base_uncased{&arch::bert, {
    .vocab_size = 30522, .hidden_size = 768, .intermediate_size = 3072, .num_hidden_layers = 12,
    .num_attention_heads = 12, .num_key_value_heads = 12, .head_dim = 64, .rotary_dim = 64,
    .max_position_embeddings = 512, .type_vocab_size = 2, .hidden_act = activation::gelu,
    .head = head_kind::masked_lm, .tie_word_embeddings = true,
    .dropout_positions = dropout_set{}.with_position(dropout_position::hidden).with_position(dropout_position::attention).with_position(dropout_position::classifier)}};

// google-t5/t5-small
inline constexpr model t5_small{&arch::t5, {
    .vocab_size = 32128, .hidden_size = 512, .intermediate_size = 2048, .num_hidden_layers = 6,
    .num_attention_heads = 8, .num_key_value_heads = 8, .head_dim = 64, .rotary_dim = 64,
    .hidden_act = activation::relu, .head = head_kind::conditional_generation, .tie_word_embeddings = true,
    .encoder = {.num_hidden_layers = 6},
    .dropout_positions = dropout_set{}.with_position(dropout_position::hidden).with_position(dropout_position::attention),
    .family = family_config{}.with_value(t5_stacks::buckets, 32).with_value(t5_stacks::scales_output, 1)}};

// google/vit-base-patch16-224
inline constexpr model vit_base_patch16_224{&arch::vit, {
    .hidden_size = 768, .intermediate_size = 3072, .num_hidden_layers = 12,
    .num_attention_heads = 12, .num_key_value_heads = 12, .head_dim = 64, .rotary_dim = 64,
    .embedding_size = 768, .num_labels = 1000, .hidden_act = activation::gelu,
    .head = head_kind::image_classification, .attention_bias = true,
    .vision = {.image_height = 224, .image_width = 224, .patch_size = 16, .num_channels = 3},
    .family = family_config{}.with_value(vit_config::pooler_act, static_cast<std::int64_t>(activation::tanh))
                      .with_value(vit_config::encoder_stride, 16)
                      .with_value(vit_config::tokens, 1)}};

/// A preset and the name of its repository on the Hub.
struct named_model {
    string_ref name;
    const model* literal;
};

/// All presets, in the order above.
inline constexpr named_model all[]{
    named_model{"meta-llama/Llama-3.2-1B",          &llama_3_2_1b},
    named_model{"meta-llama/Llama-3.2-3B",          &llama_3_2_3b},
    named_model{"meta-llama/Llama-3.1-8B",          &llama_3_1_8b},
    named_model{"meta-llama/Llama-3.1-70B",         &llama_3_1_70b},
    named_model{"meta-llama/Llama-3.1-405B",        &llama_3_1_405b},
    named_model{"Qwen/Qwen2.5-7B",                  &qwen2_5_7b},
    named_model{"Qwen/Qwen3-0.6B",                  &qwen3_0_6b},
    named_model{"Qwen/Qwen3-8B",                    &qwen3_8b},
    named_model{"Qwen/Qwen3-30B-A3B",               &qwen3_30b_a3b},
    named_model{"google/gemma-2-2b",                &gemma_2_2b},
    named_model{"google/gemma-3-1b-pt",             &gemma_3_1b},
    named_model{"mistralai/Mistral-7B-v0.1",        &mistral_7b_v0_1},
    named_model{"mistralai/Mixtral-8x7B-v0.1",      &mixtral_8x7b_v0_1},
    named_model{"deepseek-ai/DeepSeek-V2-Lite",     &deepseek_v2_lite},
    named_model{"deepseek-ai/DeepSeek-V3",          &deepseek_v3},
    named_model{"openai/gpt-oss-20b",               &gpt_oss_20b},
    named_model{"microsoft/Phi-3-mini-4k-instruct", &phi_3_mini_4k_instruct},
    named_model{"allenai/OLMo-2-1124-7B",           &olmo_2_7b},
    named_model{"openai-community/gpt2",            &gpt2},
    named_model{"facebook/opt-125m",                &opt_125m},
    named_model{"tiiuae/falcon-7b",                 &falcon_7b},
    named_model{"state-spaces/mamba-2.8b-hf",       &mamba_2_8b},
    named_model{"google-bert/bert-base-uncased",    &bert_base_uncased},
    named_model{"google-t5/t5-small",               &t5_small},
    named_model{"google/vit-base-patch16-224",      &vit_base_patch16_224},
};
// clang-format on

}  // namespace presets
}  // namespace llmcost
