// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iterator>
#include <string>
#include <string_view>

#include <llmcost/memory/adapter.hpp>

// The modules that PEFT adapts by default, and module names of checkpoints from before Transformers 5.
namespace llmcost {

/// The default targets of PEFT by `model_type`. IA3 scales the inputs of `feedforward`.
///
/// Source: peft/utils/constants.py.
struct usual_targets {
    std::string_view model_type;
    std::string_view lora;  ///< path endings, separated by blanks
    std::string_view ia3;
    std::string_view feedforward;  ///< IA3: modules whose input is scaled
};
/// The default targets of LN tuning by `model_type`.
struct usual_norms {
    std::string_view model_type;
    std::string_view norms;
};
// clang-format off
inline constexpr usual_targets usual_targets_of_types[]{
    {"bart",        "q_proj v_proj",                     "q_proj v_proj fc2",                   "fc2"},
    {"bert",        "query value",                       "key value output.dense",              "output.dense"},
    {"bloom",       "query_key_value",                   "query_key_value mlp.dense_4h_to_h",   "mlp.dense_4h_to_h"},
    {"codegen",     "qkv_proj",                          "",                                    ""},
    {"deberta-v2",  "query_proj value_proj",             "key_proj value_proj output.dense",    "output.dense"},
    {"electra",     "query value",                       "",                                    ""},
    {"falcon",      "query_key_value",                   "query_key_value dense_4h_to_h",       "dense_4h_to_h"},
    {"gemma",       "q_proj v_proj",                     "q_proj v_proj down_proj",             "down_proj"},
    {"gemma2",      "q_proj v_proj",                     "q_proj v_proj down_proj",             "down_proj"},
    {"gemma3_text", "q_proj v_proj",                     "q_proj v_proj down_proj",             "down_proj"},
    {"gpt2",        "c_attn",                            "c_attn mlp.c_proj",                   "mlp.c_proj"},
    {"gpt_bigcode", "c_attn",                            "c_attn mlp.c_proj",                   "mlp.c_proj"},
    {"gpt_neo",     "q_proj v_proj",                     "q_proj v_proj c_proj",                "c_proj"},
    {"gpt_neox",    "query_key_value",                   "query_key_value dense_4h_to_h",       "dense_4h_to_h"},
    {"gptj",        "q_proj v_proj",                     "q_proj v_proj fc_out",                "fc_out"},
    {"layoutlm",    "query value",                       "",                                    ""},
    {"llama",       "q_proj v_proj",                     "k_proj v_proj down_proj",             "down_proj"},
    {"llama4",      "q_proj v_proj",                     "q_proj v_proj down_proj",             "down_proj"},
    {"mistral",     "q_proj v_proj",                     "k_proj v_proj down_proj",             "down_proj"},
    {"mixtral",     "q_proj v_proj",                     "k_proj v_proj w2",                    "w2"},
    {"mpt",         "Wqkv",                              "",                                    ""},
    {"mt5",         "q v",                               "k v wi_1",                            ""},
    {"nemotron_h",  "q_proj k_proj v_proj o_proj",       "",                                    ""},
    {"opt",         "q_proj v_proj",                     "q_proj k_proj fc2",                   "fc2"},
    {"phi",         "q_proj v_proj fc1 fc2",             "q_proj v_proj fc2",                   "fc2"},
    {"qwen2",       "q_proj v_proj",                     "q_proj v_proj down_proj",             "down_proj"},
    {"qwen3",       "q_proj v_proj",                     "q_proj v_proj down_proj",             "down_proj"},
    {"roberta",     "query value",                       "key value output.dense",              "output.dense"},
    {"rwkv",        "key value receptance output",       "",                                    ""},
    {"stablelm",    "q_proj v_proj",                     "",                                    ""},
    {"t5",          "q v",                               "k v wo",                              "wo"},
    {"xlm-roberta", "query value",                       "",                                    ""},
};
inline constexpr usual_norms usual_norms_of_types[]{
    {"bart",        "self_attn_layer_norm encoder_attn_layer_norm final_layer_norm"},
    {"bloom",       "input_layernorm post_attention_layernorm ln_f"},
    {"falcon",      "input_layernorm post_attention_layernorm ln_f"},
    {"gemma",       "input_layernorm post_attention_layernorm norm"},
    {"gemma2",      "input_layernorm post_attention_layernorm pre_feedforward_layernorm post_feedforward_layernorm norm"},
    {"gemma3_text", "input_layernorm post_attention_layernorm pre_feedforward_layernorm post_feedforward_layernorm norm"},
    {"gpt2",        "ln_1 ln_2 ln_f"},
    {"gptj",        "ln_1 ln_f"},
    {"llama",       "input_layernorm post_attention_layernorm norm"},
    {"mistral",     "input_layernorm post_attention_layernorm norm"},
    {"mt5",         "layer_norm final_layer_norm"},
    {"phi",         "input_layernorm final_layernorm"},
    {"qwen2",       "post_attention_layernorm"},
    {"qwen3",       "post_attention_layernorm"},
    {"t5",          "layer_norm final_layer_norm"},
};

/// Model types whose experts were linear layers named `w1`, `w2`, `w3`, or named after projections.
///
/// Source: peft/utils/transformers_weight_conversion.py, `_MOE_TARGET_MODULE_MAPPING`.
inline constexpr std::string_view types_with_numbered_experts[]{
    "minimax", "minimax_m2", "mixtral"
};
inline constexpr std::string_view types_with_named_experts[]{
    "afmoe", "beam", "cohere2_moe", "deepseek_v2", "deepseek_v3", "deepseek_v32", "dots1", "ernie4_5_moe",
    "exaone_moe", "flex_olmo", "glm4_moe", "glm4_moe_lite", "glm4v_moe", "glm_moe_dsa", "hunyuan_v1_moe",
    "longcat_flash", "mellum", "olmoe", "qwen3_moe", "qwen3_next", "solar_open"
};
// clang-format on

/// A linear layer of experts or of a router that has become a parameter.
struct former_module {
    std::string_view name;
    std::string_view parameter;
    bool fused = false;  ///< concatenated with another one; their ranks are added
};
inline constexpr former_module numbered_experts[]{
    {"gate", "gate.weight"}, {"w1", "gate_up_proj", true}, {"w3", "gate_up_proj", true}, {"w2", "down_proj"}};
inline constexpr former_module named_experts[]{{"gate", "gate.weight"},
                                               {"gate_proj", "gate_up_proj", true},
                                               {"up_proj", "gate_up_proj", true},
                                               {"down_proj", "down_proj"}};

namespace detail {

inline constexpr std::size_t former_module_kinds = std::size(numbered_experts);

}  // namespace detail

/// Returns the adapter with the default targets of PEFT if it has none. Unchanged for a type without defaults.
[[nodiscard]] adapter with_usual_targets(adapter a, std::string_view model_type);

/// Returns the adapter with the names of expert linear layers replaced by their parameters.
///
/// `missing`: name of a parameter of which only one of the fused layers is a target.
///
/// Source: peft/utils/transformers_weight_conversion.py, `_convert_peft_config_moe`.
[[nodiscard]] adapter with_fused_experts(adapter a, std::string_view model_type, std::string& missing);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/adapter_targets.ipp>  // IWYU pragma: export
#endif
