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
    {.model_type = "gemma2", .architecture = "gemma2", .post_attention_norm = "post_attention_norm"},
    {.model_type = "gemma3_text", .architecture = "gemma3", .post_attention_norm = "post_attention_norm"},
    {.model_type = "phi3", .architecture = "phi3", .factors = frequency_factors::long_and_short},
    {.model_type = "gpt_oss", .architecture = "gpt-oss", .post_attention_norm = "post_attention_norm", .experts_by_input = true},
    {.model_type = "deepseek_v2", .architecture = "deepseek2", .shares_one_key = true},
    {.model_type = "deepseek_v3", .architecture = "deepseek2", .corrects_scores = true, .shares_one_key = true},
    {.model_type = "bert", .architecture = "bert", .hidden_states_alone = true},
};
// clang-format on

inline const gguf_name_map& naming_of(const model& m) {
    const std::string_view type = (m.text_spec != nullptr ? m.text_spec : m.spec)->model_type;
    std::string known;
    for (const gguf_name_map& n : gguf_namings) {
        if (n.model_type == type) return n;
        known += (known.empty() ? "" : ", ") + std::string(n.model_type);
    }
    throw error(errc::unsupported, "", quote(type) + " is converted in a way that is not known; known are " + known);
}

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
    gguf_converter(const model& m, const gguf_name_map& names) : m_(m), names_(names) {}

    void add(const tensor_shape& t) {
        std::string name = t.name;
        parameter_ = t.name;
        // parts other than the text model are written to a separate file
        for (const std::string_view excluded_prefix : {"model.vision_tower.", "model.multi_modal_projector."})
            if (name.starts_with(excluded_prefix)) return;
        erase(name, "language_model.");
        if (name.starts_with("bert.")) name.erase(0, 5);
        if (names_.hidden_states_alone && (name.starts_with("pooler.") || name.starts_with("cls."))) return;
        sizes_.assign(t.sizes.begin(), t.sizes.end());
        std::string_view rest = name;
        std::int64_t layer = -1;
        if (!layer_of(rest, layer)) {
            const auto [module, parameter] = halves(name);
            const std::string_view ours = renamed(gguf_globals, module);
            if (ours.empty() || parameter.empty()) fail(t.name);
            out_.push_back({std::string(ours) + '.' + std::string(parameter), sizes_, -1, parameter_});
            return;
        }
        if (!add_in_layer(rest, layer)) fail(t.name);
    }
    [[nodiscard]] std::vector<gguf_tensor> release() { return std::move(out_); }

private:
    struct name_halves {
        std::string_view module, parameter;
    };
    static name_halves halves(std::string_view name) {
        const std::size_t dot = name.rfind('.');
        if (dot == std::string_view::npos) return {name, {}};
        return {name.substr(0, dot), name.substr(dot + 1)};
    }
    static void erase(std::string& text, std::string_view part) {
        if (const std::size_t at = text.find(part); at != std::string::npos) text.erase(at, part.size());
    }
    static bool layer_of(std::string_view& rest, std::int64_t& layer) {
        for (const std::string_view list : {"model.layers.", "encoder.layer."}) {
            if (!rest.starts_with(list)) continue;
            rest.remove_prefix(list.size());
            for (layer = 0; !rest.empty() && rest.front() >= '0' && rest.front() <= '9'; rest.remove_prefix(1))
                layer = layer * 10 + (rest.front() - '0');
            if (!rest.empty()) rest.remove_prefix(1);
            return true;
        }
        return false;
    }
    [[noreturn]] void fail(std::string_view name) const {
        throw error(errc::unsupported, "",
                    "how " + quote(name) + " of " + std::string(names_.model_type) + " is converted is not known");
    }
    void emit(std::int64_t layer, std::string_view name, std::vector<std::uint64_t> sizes) {
        out_.push_back({"blk." + std::to_string(layer) + '.' + std::string(name), std::move(sizes), layer, parameter_});
    }

    bool add_in_layer(std::string_view rest, std::int64_t layer) {
        if (rest == "self_attn.sinks") {
            emit(layer, "attn_sinks.weight", sizes_);
            return true;
        }
        if (rest == "self_attn.kv_b_proj.weight") {
            split_latent(layer);
            return true;
        }
        if (rest.starts_with("mlp.experts.")) return add_experts(rest.substr(12), layer);
        const auto [module, parameter] = halves(rest);
        const std::string_view ours =
            module == "post_attention_layernorm" ? names_.post_attention_norm : renamed(gguf_modules, module);
        if (ours.empty() || (parameter != "weight" && parameter != "bias")) return false;
        emit(layer, std::string(ours) + '.' + std::string(parameter), sizes_);
        if (module != "mlp.gate" || !names_.corrects_scores) return true;
        parameter_.clear();  // a buffer
        emit(layer, "exp_probs_b.bias", {sizes_[0]});
        return true;
    }
    /// Keys and values of latent attention, by heads; those of keys are turned.
    void split_latent(std::int64_t layer) {
        const auto heads = static_cast<std::uint64_t>(m_.config.num_attention_heads);
        const auto nope = static_cast<std::uint64_t>(m_.config.mla.qk_nope_head_dim);
        emit(layer, "attn_k_b.weight", {heads, sizes_[1], nope});
        emit(layer, "attn_v_b.weight", {heads, static_cast<std::uint64_t>(m_.config.mla.v_head_dim), sizes_[1]});
    }
    /// Gate and up apart; rows are outputs.
    bool add_experts(std::string_view part, std::int64_t layer) {
        const std::vector<std::uint64_t>& s = sizes_;
        const bool is_transposed = names_.experts_by_input;
        if (part == "gate_up_proj" && s.size() == 3) {
            const std::vector<std::uint64_t> half{s[0], s[is_transposed ? 2 : 1] / 2, s[is_transposed ? 1 : 2]};
            emit(layer, "ffn_gate_exps.weight", half);
            emit(layer, "ffn_up_exps.weight", half);
        } else if (part == "down_proj" && s.size() == 3) {
            emit(layer, "ffn_down_exps.weight", {s[0], s[is_transposed ? 2 : 1], s[is_transposed ? 1 : 2]});
        } else if (part == "gate_up_proj_bias" && s.size() == 2) {
            emit(layer, "ffn_gate_exps.bias", {s[0], s[1] / 2});
            emit(layer, "ffn_up_exps.bias", {s[0], s[1] / 2});
        } else if (part == "down_proj_bias" && s.size() == 2) {
            emit(layer, "ffn_down_exps.bias", s);
        } else {
            return false;
        }
        return true;
    }

    const model& m_;
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
[[nodiscard]] inline std::vector<gguf_tensor> gguf_tensors(const model& m, const model_listing& listing) {
    detail::gguf_converter out{m, detail::naming_of(m)};
    for (const tensor_shape& t : listing.tensors) out.add(t);
    return out.release();
}

}  // namespace llmcost
