// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/llmcost.hpp>

#include "registry.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>

// Configurations that are nearly right: real ones with keys and values exchanged.
namespace llmcost::testing {

// clang-format off
/// Keys that parsers read; a new family may add its keys.
inline constexpr std::string_view config_keys[] = {
    "_remove_final_layer_norm", "activation", "activation_function", "add_cross_attention", "alibi",
    "apply_residual_connection_post_layernorm", "architectures", "attention_bias", "attention_chunk_size",
    "attn_layer_offset", "attn_layer_period", "attn_logit_softcapping", "attn_temperature_tuning", "bias",
    "block_auto_adjust_ff_dim", "block_ff_dim", "block_ffn_dim_multiplier", "block_multiple_of", "chunk_size",
    "clip_qkv", "conv_L_cache", "conv_bias", "conv_kernel", "d_ff", "d_kv", "d_model", "decoder_attention_heads",
    "decoder_ffn_dim", "decoder_layers", "decoder_sparse_step", "do_layer_norm_before", "dtype", "embedding_size",
    "enable_bias", "encoder_attention_heads", "encoder_ffn_dim", "encoder_layers", "expand", "expert_layer_offset",
    "expert_layer_period", "feed_forward_proj", "ffn_dim", "ffn_hidden_size", "final_logit_softcapping",
    "first_k_dense_replace", "full_attention_interval", "full_attn_idxs", "head_dim", "hidden_act",
    "hidden_activation", "hidden_size", "id2label", "image_size", "interleave_moe_layer_step", "intermediate_size",
    "intermediate_size_mlp", "is_decoder", "kv_lora_rank", "layer_norm_elementwise_affine", "layer_types",
    "linear_conv_kernel_dim", "linear_key_head_dim", "linear_num_key_heads", "linear_num_value_heads",
    "linear_value_head_dim", "mamba_conv_bias", "mamba_d_conv", "mamba_d_state", "mamba_dt_rank", "mamba_expand",
    "mamba_proj_bias", "max_position_embeddings", "max_window_layers", "mlp_bias", "mlp_only_layers",
    "moe_intermediate_size", "moe_layers", "multi_query", "n_embd", "n_embed", "n_group", "n_groups", "n_head",
    "n_inner", "n_layer", "n_positions", "n_routed_experts", "n_shared_experts", "new_decoder_architecture",
    "no_rope_layer_interval", "no_rope_layers", "norm_topk_prob", "num_attention_heads", "num_channels",
    "num_decoder_layers", "num_experts", "num_experts_per_tok", "num_heads", "num_hidden_layers",
    "num_key_value_heads", "num_kv_heads", "num_labels", "num_layers", "num_ln_in_parallel_attn", "num_local_experts",
    "parallel_attn", "partial_rotary_factor", "patch_size", "pooler_act", "pooler_output_size", "pretraining_tp",
    "q_lora_rank", "qk_layernorm", "qk_nope_head_dim", "qk_rope_head_dim", "qkv_bias", "quantization_config",
    "relative_attention_num_buckets", "reorder_and_upcast_attn", "residual_in_fp32", "rope_interleave",
    "rope_parameters", "rope_scaling", "rotary_dim", "rotary_pct", "scale_attn_weights",
    "shared_expert_intermediate_size", "sliding_window", "sliding_window_pattern", "slow_but_exact", "state_size",
    "text_config", "tie_embedding", "tie_word_embeddings", "time_step_rank", "topk_group", "topk_method",
    "torch_dtype", "type_vocab_size", "use_bias", "use_bidirectional_attention", "use_conv_bias",
    "use_parallel_residual", "use_qk_norm", "use_qkv_bias", "use_sliding_window", "v_head_dim", "vocab_size",
    "word_embed_proj_dim",
};
// clang-format on
inline constexpr std::string_view workload_keys[] = {"batch",  "sequence",  "past",     "encoder_sequence",
                                                     "logits", "attention", "training", "dtype"};
inline constexpr std::string_view config_strings[] = {"auto",
                                                      "bfloat16",
                                                      "float8_e4m3fn",
                                                      "full_attention",
                                                      "sliding_attention",
                                                      "chunked_attention",
                                                      "linear_attention",
                                                      "conv",
                                                      "mamba",
                                                      "attention",
                                                      "greedy",
                                                      "group_limited_greedy",
                                                      "noaux_tc",
                                                      "gated-gelu",
                                                      "gated-silu",
                                                      "gelu_new",
                                                      "quick_gelu",
                                                      "relu2",
                                                      "tanh",
                                                      "",
                                                      "1",
                                                      "\u001b[31m",
                                                      "LlamaModel",
                                                      "default",
                                                      "yarn"};
inline constexpr std::int64_t config_numbers[] = {0,
                                                  1,
                                                  2,
                                                  3,
                                                  5,
                                                  7,
                                                  8,
                                                  12,
                                                  16,
                                                  64,
                                                  96,
                                                  100,
                                                  255,
                                                  256,
                                                  511,
                                                  512,
                                                  513,
                                                  4096,
                                                  65536,
                                                  46341,
                                                  1 << 20,
                                                  (1 << 30) - 1,
                                                  1 << 30,
                                                  (1 << 30) + 1,
                                                  2147483646,
                                                  2147483647,
                                                  2147483648,
                                                  4294967296,
                                                  std::int64_t{1} << 62,
                                                  INT64_MAX,
                                                  -1,
                                                  -2,
                                                  INT64_MIN};
inline constexpr double config_reals[] = {0.0, -0.0, 0.25,   0.5,  1.0,   1.5,         0.01,
                                          3.0, -1.0, 1e-300, 1e30, 1e308, 2147483648.5};

class config_mutator {
public:
    using json = nlohmann::ordered_json;

    explicit config_mutator(unsigned seed) : random_(seed) {}

    /// A number below `n`.
    std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
    template <class List>
    auto one_of(const List& list) {
        return std::begin(list)[below(static_cast<std::size_t>(std::end(list) - std::begin(list)))];
    }

    json number() {
        switch (below(4)) {
            case 0: return 1 + below(12);
            case 1: return std::int64_t{1} << below(32);
            default: return one_of(config_numbers);
        }
    }
    json list(const json& config) {
        json out = json::array();
        const std::size_t layers = below(2) == 0 ? below(5) : size_of_stack(config);
        const bool uses_strings = below(4) != 0;
        const std::string_view a = config_strings[3 + below(7)], b = config_strings[3 + below(7)];
        for (std::size_t i = 0; i < layers; ++i) out.push_back(uses_strings ? json(below(2) == 0 ? a : b) : number());
        return out;
    }
    json value(const json& config) {
        switch (below(12)) {
            case 0: return nullptr;
            case 1: return below(2) == 0;
            case 2: return one_of(config_reals);
            case 3: return one_of(config_strings);
            case 4: return list(config);
            case 5: return {{"rope_type", one_of(config_strings)}, {"partial_rotary_factor", one_of(config_reals)}};
            case 6: return {{"__float__", below(2) == 0 ? "Infinity" : "NaN"}};
            case 7: return json::object();
            default: return number();
        }
    }

    void mutate(json& config) {
        switch (below(10)) {
            case 0: config[std::string(one_of(config_keys))] = value(config); return;
            case 1:
            case 2: config["workload"][std::string(one_of(workload_keys))] = number(); return;
            case 3: exchange_type(config); return;
            case 4: shrink(config); return;
            case 5: config["layer_types"] = list(config); return;
            case 6:
                if (!config.empty())
                    config.erase(std::next(config.begin(), static_cast<std::ptrdiff_t>(below(config.size()))));
                return;
            case 7: config["closes"] = true; return;  // a closed form costs many walks
            default: change_one(config); return;
        }
    }
    /// Takes some keys over from another configuration.
    void cross(json& config, const json& donor) {
        for (const auto& [key, value] : donor.items())
            if (below(3) == 0) config[key] = value;
    }

private:
    static std::size_t size_of_stack(const json& config) {
        for (const char* key : {"num_hidden_layers", "n_layer", "num_layers"})
            if (config.contains(key) && config[key].is_number_unsigned() && config[key] <= 520) return config[key];
        return 4;
    }
    void change_one(json& config) {
        if (config.empty()) return;
        json& entry = *std::next(config.begin(), static_cast<std::ptrdiff_t>(below(config.size())));
        if (!entry.is_number_integer() || below(3) == 0) {
            entry = value(config);
            return;
        }
        const auto n = entry.get<std::int64_t>();
        if (n < 0 || n > INT64_MAX / 8) return;
        const std::int64_t near[] = {n + 1, n - 1, n * 2, n / 2, n * 3, n / 3};
        entry = one_of(near);
    }
    void exchange_type(json& config) {
        const model_spec& row = *one_of(parts::registry);
        config["model_type"] = row.model_type;
        const std::string_view endings[] = {"Model",
                                            "ForCausalLM",
                                            "ForSequenceClassification",
                                            "ForTokenClassification",
                                            "ForQuestionAnswering",
                                            "ForMaskedLM",
                                            "ForPreTraining",
                                            "ForConditionalGeneration",
                                            "ForImageClassification",
                                            "LMHeadModel"};
        config["architectures"] = json::array({std::string(row.class_prefix) + std::string(one_of(endings))});
        if (below(2) == 0) config.erase("architectures");
    }
    /// A toy of the same kind: sizes of a few, whose divisibility matters more.
    void shrink(json& config) {
        const std::size_t factor = 1 + below(4);
        for (auto& entry : config)
            if (entry.is_number_integer() && entry > 8) entry = below(3) == 0 ? 1 + below(16) : factor << below(5);
    }

    std::minstd_rand random_;
};

/// A text as JSON whatever its numbers; null where it is no object.
inline nlohmann::ordered_json config_json(std::string_view text) {
    std::string plain(text);
    for (const std::string_view name :
         {std::string_view(" Infinity"), std::string_view(" -Infinity"), std::string_view(" NaN")})
        for (std::size_t position = plain.find(name); position != std::string::npos;
             position = plain.find(name, position + 1))
            plain.replace(position, name.size(), R"( {"__float__": ")" + std::string(name.substr(1)) + "\"}");
    nlohmann::ordered_json parsed = nlohmann::ordered_json::parse(plain, nullptr, false);
    return parsed.is_object() ? parsed : nlohmann::ordered_json();
}

inline std::string config_text(const nlohmann::ordered_json& config) {
    return config.dump(1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

/// A configuration with a few changes; a text that is no configuration becomes a small one.
inline std::string mutated_config(std::string_view text, unsigned seed) {
    config_mutator m(seed);
    nlohmann::ordered_json config = config_json(text);
    if (config.is_null()) config = {{"model_type", m.one_of(parts::registry).model_type}};
    for (std::size_t left = 1 + m.below(4); left > 0; --left) {
        if (config.contains("workload") && !config["workload"].is_object()) config.erase("workload");
        m.mutate(config);
    }
    return config_text(config);
}

/// The first configuration with some keys of the second.
inline std::string crossed_configs(std::string_view first, std::string_view second, unsigned seed) {
    nlohmann::ordered_json config = config_json(first);
    const nlohmann::ordered_json donor = config_json(second);
    if (config.is_null() || donor.is_null()) return std::string(first);
    config_mutator(seed).cross(config, donor);
    return config_text(config);
}

}  // namespace llmcost::testing
