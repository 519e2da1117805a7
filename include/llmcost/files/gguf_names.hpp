// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

// Names that llama.cpp's converter gives to a model's tensors, and shapes where it splits or transposes one.
namespace llmcost {

/// A tensor that a GGUF file would hold.
struct gguf_tensor {
    std::string name;
    std::vector<std::uint64_t> sizes;  ///< in PyTorch's order
    std::int64_t layer = -1;           ///< -1 for those of no layer
    std::string parameter{};           ///< of the model, which it holds or is a part of; empty: of none
};

namespace detail {

/// The embedding table, and the output head where it is not tied.
inline constexpr std::string_view gguf_token_embeddings = "token_embd.weight", gguf_scores = "output.weight";

/// Factors of rotary frequencies that the converter writes as tensors (`generate_extra_tensors`).
enum class frequency_factors : std::uint8_t {
    none,
    rescaled,       ///< `rope_freqs`, where a configuration rescales by wavelength
    long_and_short  ///< `rope_factors_long` and `_short`, where one picks between them by length
};

/// Which models of 80 layers llama.cpp takes for its 70B, whose values get more bits (`LLM_TYPE_70B`).
enum class large_expert_rule : std::uint8_t {
    disabled,
    enabled,
    shared_keys  ///< where heads share keys (Llama 1's 65B has a key for each), and no mixture of 8
};

/// How the converter (conversion/*.py) calls the tensors of a type of Transformers, and what llama.cpp makes of the
/// type.
struct gguf_name_map {
    std::string_view model_type;
    std::string_view architecture;
    /// Transformers' name for the norm after attention may be the norm before the feed-forward block.
    std::string_view post_attention_norm = "ffn_norm";
    bool experts_by_input = false;     ///< experts' weights have their inputs first, and are turned
    bool corrects_scores = false;      ///< routers have a buffer of corrections
    bool shares_one_key = false;       ///< latent attention is written as one key that all heads share
    bool hidden_states_alone = false;  ///< poolers and heads are not converted
    large_expert_rule is_large = large_expert_rule::disabled;
    frequency_factors factors = frequency_factors::none;
};
// clang-format off
inline constexpr gguf_name_map gguf_namings[]{
    {.model_type = "llama", .architecture = "llama", .is_large = large_expert_rule::shared_keys, .factors = frequency_factors::rescaled},
    {.model_type = "mistral", .architecture = "llama", .is_large = large_expert_rule::shared_keys, .factors = frequency_factors::rescaled},
    {.model_type = "mixtral", .architecture = "llama", .is_large = large_expert_rule::shared_keys, .factors = frequency_factors::rescaled},
    {.model_type = "qwen2", .architecture = "qwen2", .is_large = large_expert_rule::enabled},
    {.model_type = "qwen3", .architecture = "qwen3"},
    {.model_type = "qwen3_moe", .architecture = "qwen3moe"},
    {.model_type = "qwen2_vl_text", .architecture = "qwen2vl"},
    {.model_type = "qwen2_5_vl_text", .architecture = "qwen2vl"},
    {.model_type = "qwen3_vl_text", .architecture = "qwen3vl"},
    {.model_type = "granite", .architecture = "granite"},
    {.model_type = "olmo2", .architecture = "olmo2", .post_attention_norm = "post_attention_norm"},
    {.model_type = "smollm3", .architecture = "smollm3"},
    {.model_type = "gemma", .architecture = "gemma"},
    {.model_type = "gemma2", .architecture = "gemma2", .post_attention_norm = "post_attention_norm"},
    {.model_type = "gemma3_text", .architecture = "gemma3", .post_attention_norm = "post_attention_norm"},
    {.model_type = "phi3", .architecture = "phi3", .factors = frequency_factors::long_and_short},
    {.model_type = "gpt_oss", .architecture = "gpt-oss", .post_attention_norm = "post_attention_norm", .experts_by_input = true},
    {.model_type = "deepseek_v2", .architecture = "deepseek2", .shares_one_key = true},
    {.model_type = "deepseek_v3", .architecture = "deepseek2", .corrects_scores = true, .shares_one_key = true},
    {.model_type = "bert", .architecture = "bert", .hidden_states_alone = true},
};
// clang-format on

const gguf_name_map& naming_of(const model& m);

struct renamed_module {
    std::string_view theirs;
    std::string_view ours;
};
inline constexpr renamed_module gguf_globals[]{
    {"model.embed_tokens", "token_embd"},
    {"model.norm", "output_norm"},
    {"lm_head", "output"},
    {"embeddings.word_embeddings", "token_embd"},
    {"embeddings.position_embeddings", "position_embd"},
    {"embeddings.token_type_embeddings", "token_types"},
    {"embeddings.LayerNorm", "token_embd_norm"},
};
inline constexpr renamed_module gguf_modules[]{
    {"input_layernorm", "attn_norm"},
    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},
    {"self_attn.qkv_proj", "attn_qkv"},
    {"self_attn.o_proj", "attn_output"},
    {"self_attn.q_norm", "attn_q_norm"},
    {"self_attn.k_norm", "attn_k_norm"},
    {"self_attn.q_a_proj", "attn_q_a"},
    {"self_attn.q_a_layernorm", "attn_q_a_norm"},
    {"self_attn.q_b_proj", "attn_q_b"},
    {"self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"},
    {"self_attn.kv_a_layernorm", "attn_kv_a_norm"},
    {"pre_feedforward_layernorm", "ffn_norm"},
    {"post_feedforward_layernorm", "post_ffw_norm"},
    {"mlp.gate_proj", "ffn_gate"},
    {"mlp.up_proj", "ffn_up"},
    {"mlp.gate_up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},
    {"mlp.gate", "ffn_gate_inp"},
    {"mlp.router", "ffn_gate_inp"},
    {"mlp.shared_experts.gate_proj", "ffn_gate_shexp"},
    {"mlp.shared_experts.up_proj", "ffn_up_shexp"},
    {"mlp.shared_experts.down_proj", "ffn_down_shexp"},
    {"attention.self.query", "attn_q"},
    {"attention.self.key", "attn_k"},
    {"attention.self.value", "attn_v"},
    {"attention.output.dense", "attn_output"},
    {"attention.output.LayerNorm", "attn_output_norm"},
    {"intermediate.dense", "ffn_up"},
    {"output.dense", "ffn_down"},
    {"output.LayerNorm", "layer_output_norm"},
};

template <std::size_t n>
constexpr std::string_view renamed(const renamed_module (&table)[n], std::string_view module) noexcept {
    for (const renamed_module& r : table)
        if (r.theirs == module) return r.ours;
    return {};
}

/// Makes the tensors of a GGUF file from those of a trace, one by one.
class gguf_converter {
public:
    gguf_converter(const model& m, const gguf_name_map& names) : model_(m), names_(names) {}

    void add(const tensor_shape& t);
    [[nodiscard]] std::vector<gguf_tensor> release() { return std::move(out_); }

private:
    struct name_halves {
        std::string_view module, parameter;
    };
    static name_halves halves(std::string_view name);
    static void erase(std::string& text, std::string_view part) {
        if (const std::size_t position = text.find(part); position != std::string::npos)
            text.erase(position, part.size());
    }
    static bool layer_of(std::string_view& rest, std::int64_t& layer);
    [[noreturn]] void fail(std::string_view name) const;
    void emit(std::int64_t layer, std::string_view name, std::vector<std::uint64_t> sizes) {
        out_.push_back({"blk." + std::to_string(layer) + '.' + std::string(name), std::move(sizes), layer, parameter_});
    }

    bool add_in_layer(std::string_view rest, std::int64_t layer);
    /// Keys and values of latent attention, by heads; those of keys are turned.
    void split_latent(std::int64_t layer);
    /// Gate and up apart; rows are outputs.
    bool add_experts(std::string_view part, std::int64_t layer);

    const model& model_;
    const gguf_name_map& names_;
    std::string parameter_{};
    std::vector<std::uint64_t> sizes_{};
    std::vector<gguf_tensor> out_{};
};

}  // namespace detail

/// The tensors that llama.cpp's converter writes for a model, from the tensors of its trace.
///
/// Those that it makes from nothing but the configuration (`rope_freqs`) are not among them. Throws `unsupported` for a
/// type or tensor whose conversion is not known.
[[nodiscard]] std::vector<gguf_tensor> gguf_tensors(const model& m, const model_listing& listing);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/files/impl/gguf_names.ipp>  // IWYU pragma: export
#endif
