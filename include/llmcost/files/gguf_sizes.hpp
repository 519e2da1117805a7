// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/config/rope.hpp>
#include <llmcost/files/ggml_type.hpp>
#include <llmcost/files/gguf_mix.hpp>
#include <llmcost/files/gguf_names.hpp>
#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

// Sizes of GGUF files that do not exist yet: the type that llama-quantize gives each tensor (llama.cpp,
// src/llama-quant.cpp, llama_tensor_get_type), of a file that the converter wrote with halves.
namespace llmcost {

/// What determines a file in addition to the model's sizes.
struct gguf_source {
    bool rescales_frequencies = false;  ///< `rope_type` is llama3: the factors are written as a tensor
    bool experts_are_mxfp4 = false;     ///< the checkpoint holds experts in MXFP4, which are copied
    std::uint64_t tokens = 0;           ///< of the tokenizer, where later rows are cut (Gemma 3); 0: no row is cut
    bool importance_matrix = false;     ///< one is given to llama-quantize
};

/// The keys of a model's config.json that determine its conversion.
[[nodiscard]] inline gguf_source gguf_source_of(config_view json) {
    gguf_source s;
    s.rescales_frequencies = detail::has_rope_type(json, "llama3");
    const auto quantized = json.optional_object("quantization_config");
    s.experts_are_mxfp4 = quantized && quantized->string("quant_method", "") == "mxfp4";
    return s;
}

/// The weights of a GGUF file: its tensors, and the bytes after metadata and table, with the padding between tensors.
struct predicted_gguf {
    stored_tensors weights;
    count data_bytes;
};

namespace detail {

inline const gguf_mix_entry& find_gguf_mix(std::string_view name) {
    if (const gguf_mix_entry* row = lookup_gguf_mix(name)) return *row;
    std::string known;
    for (const gguf_mix_entry& row : gguf_mixes) known += (known.empty() ? "" : ", ") + std::string(row.name);
    throw error(errc::usage, "", quote(name) + " is no quantization that is known; known are " + known);
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Tensors that the converter always stores in float32, and that llama-quantize does not change (`prepare_tensors`,
/// `tensor_allows_quantization`).
inline bool is_float32(const gguf_tensor& t) {
    constexpr std::string_view float32_suffixes[]{"_norm.weight", ".ffn_gate_inp.weight", "position_embd.weight",
                                                  "token_types.weight"};
    const auto ends = [&](std::string_view end) { return t.name.ends_with(end); };
    return t.sizes.size() < 2 || !ends(".weight") ||
           std::any_of(std::begin(float32_suffixes), std::end(float32_suffixes), ends);
}
/// ggml_n_dims: leading sizes of one do not count; a vector is left as it is.
inline bool is_matrix(const gguf_tensor& t) {
    for (std::size_t i = 0; i + 1 < t.sizes.size(); ++i)
        if (t.sizes[i] > 1) return true;
    return false;
}

/// Gives every tensor of one file its type; tensors must come in the file's order.
class gguf_typing {
public:
    gguf_typing(const model& m, const gguf_mix_entry& quant_mix, const gguf_source& source,
                const std::vector<gguf_tensor>& tensors)
        : quant_mix_(quant_mix), source_(source) {
        const gguf_name_map& naming = naming_of(m);
        const model_config& d = m.config;
        layers_ = d.num_hidden_layers;
        experts_ = d.moe.num_experts;
        const std::int64_t keys = naming.shares_one_key || d.num_key_value_heads == 0 ? 1 : d.num_key_value_heads;
        heads_per_key_ = d.num_attention_heads / keys;
        const bool shares_keys = d.num_attention_heads != d.num_key_value_heads && experts_ != 8;
        is_70b_ = layers_ == 80 && (naming.is_large == large_expert_rule::enabled ||
                                    (naming.is_large == large_expert_rule::shared_keys && shares_keys));
        for (const gguf_tensor& t : tensors) {
            if (is_value(t.name)) ++values_;
            if (t.name == gguf_scores) tied_ = false;
        }
    }

    [[nodiscard]] ggml_type type_of(const gguf_tensor& t) {
        if (is_float32(t)) return ggml_type::f32;
        if (source_.experts_are_mxfp4 && contains(t.name, "_exps.weight")) return copied_experts(t);
        const bool half = quant_mix_.quant_mix == gguf_mix::f16 || quant_mix_.quant_mix == gguf_mix::bf16;
        if (half) return quant_mix_.type;
        if (!is_matrix(t)) return ggml_type::f16;
        return compatible_type(t, select_type(t));
    }

private:
    /// `category_is_attn_v`: values, alone or with queries and keys.
    static bool is_value(std::string_view name) {
        return contains(name, "attn_qkv.weight") || contains(name, "attn_kv_b.weight") ||
               contains(name, "attn_v.weight");
    }
    static bool use_more_bits(std::int64_t i, std::int64_t n) {
        return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2;
    }

    ggml_type copied_experts(const gguf_tensor& t) const {
        // the converter writes these itself
        for (const gguf_mix written : {gguf_mix::f16, gguf_mix::bf16, gguf_mix::q8_0})
            if (quant_mix_.quant_mix == written) return ggml_type::mxfp4;
        throw error(errc::unsupported, "",
                    "llama-quantize does not quantize " + quote(t.name) +
                        " again, which is MXFP4 in the checkpoint; f16, bf16 and q8_0 copy it");
    }

    ggml_type select_type(const gguf_tensor& t) {
        const std::string_view name = t.name;
        const bool embeds = name == gguf_token_embeddings;
        if (name == gguf_scores || (tied_ && embeds)) {
            if (t.sizes.back() % row_of(quant_mix_.type).block != 0) return ggml_type::q8_0;
            return quant_mix_.type == ggml_type::q8_0 ? ggml_type::q8_0 : ggml_type::q6_k;
        }
        if (embeds) return quant_mix_.type;
        if (is_value(name)) return type_of_attn_v(num_attn_v_++);
        if (contains(name, "attn_k.weight")) return experts_ == 8 ? ggml_type::q8_0 : quant_mix_.type;
        if (contains(name, "attn_output.weight")) return type_of_output();
        // layers of mixtures are distinguished by their names, as a layer has several such tensors
        if (contains(name, "ffn_down")) return type_of_ffn_down(experts_ > 1 ? t.layer : num_ffn_down_++);
        return quant_mix_.type;
    }
    ggml_type type_of_attn_v(std::int64_t i) const {
        ggml_type type = quant_mix_.type;
        switch (quant_mix_.quant_mix) {
            case gguf_mix::q2_k: type = heads_per_key_ >= 4 ? ggml_type::q4_k : ggml_type::q3_k; break;
            case gguf_mix::q3_k_m: type = i < 2 ? ggml_type::q5_k : ggml_type::q4_k; break;
            case gguf_mix::iq4_xs:
                if (heads_per_key_ >= 4) type = ggml_type::q5_k;
                break;
            case gguf_mix::q4_k_m:
            case gguf_mix::q5_k_m:
                if (use_more_bits(i, values_)) type = ggml_type::q6_k;
                break;
            case gguf_mix::q4_k_s:
                if (i < 4) type = ggml_type::q5_k;
                break;
            default: break;
        }
        if (is_70b_ && (type == ggml_type::q3_k || type == ggml_type::q4_k)) type = ggml_type::q5_k;
        return experts_ == 8 ? ggml_type::q8_0 : type;
    }
    ggml_type type_of_output() const {
        if (experts_ != 8) {
            if (quant_mix_.quant_mix == gguf_mix::q2_k) return ggml_type::q3_k;
            return quant_mix_.quant_mix == gguf_mix::q3_k_m ? ggml_type::q4_k : quant_mix_.type;
        }
        for (const gguf_mix low :
             {gguf_mix::q2_k, gguf_mix::q3_k_m, gguf_mix::q4_k_s, gguf_mix::q4_k_m, gguf_mix::iq4_xs})
            if (quant_mix_.quant_mix == low) return ggml_type::q5_k;
        return quant_mix_.type;
    }
    ggml_type type_of_ffn_down(std::int64_t i) const {
        switch (quant_mix_.quant_mix) {
            case gguf_mix::q2_k: return ggml_type::q3_k;
            case gguf_mix::q3_k_m: return i < layers_ / 16 ? ggml_type::q5_k : ggml_type::q4_k;
            case gguf_mix::q4_k_m:
            case gguf_mix::q5_k_m: return use_more_bits(i, layers_) ? ggml_type::q6_k : quant_mix_.type;
            case gguf_mix::iq4_xs:
                return i < layers_ / 8 && !source_.importance_matrix ? ggml_type::q5_k : quant_mix_.type;
            case gguf_mix::q4_k_s: return i < layers_ / 8 ? ggml_type::q5_k : quant_mix_.type;
            case gguf_mix::q4_0:
                return i < layers_ / 8 && source_.importance_matrix ? ggml_type::q4_1 : quant_mix_.type;
            default: return quant_mix_.type;
        }
    }
    /// `tensor_type_fallback`: rows that are no multiple of a block take a type of smaller blocks.
    static ggml_type compatible_type(const gguf_tensor& t, ggml_type type) {
        const std::uint64_t row = t.sizes.back();
        if (row % row_of(type).block == 0) return type;
        ggml_type smaller = type;
        switch (type) {
            case ggml_type::iq4_xs: smaller = ggml_type::iq4_nl; break;
            case ggml_type::q2_k:
            case ggml_type::q3_k: smaller = ggml_type::q4_0; break;
            case ggml_type::q4_k: smaller = ggml_type::q5_0; break;
            case ggml_type::q5_k: smaller = ggml_type::q5_1; break;
            case ggml_type::q6_k: smaller = ggml_type::q8_0; break;
            default:
                throw error(errc::unsupported, "",
                            "llama-quantize has no type for " + quote(t.name) + ", whose rows of " +
                                std::to_string(row) + " elements are no multiple of " +
                                std::to_string(row_of(type).block));
        }
        return row % row_of(smaller).block == 0 ? smaller : ggml_type::f16;
    }

    const gguf_mix_entry& quant_mix_;
    const gguf_source& source_;
    std::int64_t layers_ = 0;
    std::int64_t experts_ = 0;
    std::int64_t heads_per_key_ = 1;
    std::int64_t values_ = 0;
    std::int64_t num_attn_v_ = 0;
    std::int64_t num_ffn_down_ = 0;
    bool is_70b_ = false;
    bool tied_ = true;
};

/// What the converter makes from the configuration alone (`generate_extra_tensors`).
inline void add_frequencies(std::vector<gguf_tensor>& all, const model& m, const gguf_source& source) {
    const auto pairs = static_cast<std::uint64_t>(m.config.rotary_dim / 2);
    const frequency_factors written = naming_of(m).factors;
    if (written == frequency_factors::rescaled && source.rescales_frequencies)
        all.push_back({"rope_freqs.weight", {pairs}});
    if (written == frequency_factors::long_and_short && m.config.rope_scaling == rope_scaling_kind::longrope) {
        all.push_back({"rope_factors_long.weight", {pairs}});
        all.push_back({"rope_factors_short.weight", {pairs}});
    }
}

}  // namespace detail

/// The weights of the file that llama-quantize would write, or the converter for `f16`, `bf16` and `q8_0`.
///
/// `mix` is f16, bf16, q8_0, q4_0, q4_k_s, q4_k_m, q5_k_m, q6_k, q2_k, q3_k_m or iq4_xs, else `usage` is thrown;
/// `unsupported` for a type of models whose conversion is not known.
[[nodiscard]] inline predicted_gguf gguf_sizes(const model& m, const model_listing& listing, std::string_view quant_mix,
                                               const gguf_source& source = {}) {
    const detail::gguf_mix_entry& row = detail::find_gguf_mix(quant_mix);
    std::vector<gguf_tensor> all = gguf_tensors(m, listing);
    detail::add_frequencies(all, m, source);
    for (gguf_tensor& t : all)
        if (t.name == detail::gguf_token_embeddings && source.tokens != 0 && source.tokens < t.sizes[0])
            t.sizes[0] = source.tokens;
    // the order of llama.cpp's table of weights
    std::sort(all.begin(), all.end(), [](const gguf_tensor& a, const gguf_tensor& b) {
        return a.layer != b.layer ? a.layer < b.layer : a.name < b.name;
    });
    detail::gguf_typing typing{m, row, source, all};
    predicted_gguf out;
    for (gguf_tensor& t : all) {
        const ggml_type_row& type = row_of(typing.type_of(t));
        stored_tensor stored{std::move(t.name), type.name, std::move(t.sizes), 0};
        stored.bytes = (elements_of(stored) / type.block * type.bytes).to_64();
        out.data_bytes += count((count(stored.bytes) + 31) / 32) * 32;
        out.weights.add(std::move(stored));
    }
    return out;
}

}  // namespace llmcost
