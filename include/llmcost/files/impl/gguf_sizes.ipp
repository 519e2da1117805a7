// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/gguf_sizes.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/config/rope.hpp>
#include <llmcost/files/ggml_type.hpp>
#include <llmcost/files/gguf_mix.hpp>
#include <llmcost/files/gguf_names.hpp>
#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost {

LLMCOST_INLINE gguf_source gguf_source_of(config_view json) {
    gguf_source s;
    s.rescales_frequencies = detail::has_rope_type(json, "llama3");
    const auto quantized = json.optional_object("quantization_config");
    s.experts_are_mxfp4 = quantized && quantized->string("quant_method", "") == "mxfp4";
    return s;
}

}  // namespace llmcost

namespace llmcost::detail {

LLMCOST_INLINE const gguf_mix_entry& find_gguf_mix(std::string_view name) {
    if (const gguf_mix_entry* row = lookup_gguf_mix(name)) return *row;
    std::string known;
    for (const gguf_mix_entry& row : gguf_mixes) known += (known.empty() ? "" : ", ") + std::string(row.name);
    throw error(errc::usage, "", quote(name) + " is no quantization that is known; known are " + known);
}

LLMCOST_INLINE bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// Tensors that the converter always stores in float32, and that llama-quantize does not change (`prepare_tensors`,
/// `tensor_allows_quantization`).
LLMCOST_INLINE bool is_float32(const gguf_tensor& t) {
    constexpr std::string_view float32_suffixes[]{"_norm.weight", ".ffn_gate_inp.weight", "position_embd.weight",
                                                  "token_types.weight"};
    const auto ends = [&](std::string_view end) { return t.name.ends_with(end); };
    return t.sizes.size() < 2 || !ends(".weight") ||
           std::any_of(std::begin(float32_suffixes), std::end(float32_suffixes), ends);
}

/// ggml_n_dims: leading sizes of one do not count; a vector is left as it is.
LLMCOST_INLINE bool is_matrix(const gguf_tensor& t) {
    for (std::size_t i = 0; i + 1 < t.sizes.size(); ++i)
        if (t.sizes[i] > 1) return true;
    return false;
}

LLMCOST_INLINE gguf_typing::gguf_typing(const model& m, const gguf_mix_entry& quant_mix, const gguf_source& source,
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
        if (t.name == gguf_scores) is_tied_ = false;
    }
}

LLMCOST_INLINE ggml_type gguf_typing::type_of(const gguf_tensor& t) {
    if (is_float32(t)) return ggml_type::f32;
    if (source_.experts_are_mxfp4 && contains(t.name, "_exps.weight")) return copied_experts(t);
    const bool half = quant_mix_.quant_mix == gguf_mix::f16 || quant_mix_.quant_mix == gguf_mix::bf16;
    if (half) return quant_mix_.type;
    if (!is_matrix(t)) return ggml_type::f16;
    return compatible_type(t, select_type(t));
}

LLMCOST_INLINE bool gguf_typing::is_value(std::string_view name) {
    return contains(name, "attn_qkv.weight") || contains(name, "attn_kv_b.weight") || contains(name, "attn_v.weight");
}

LLMCOST_INLINE ggml_type gguf_typing::copied_experts(const gguf_tensor& t) const {
    // the converter writes these itself
    for (const gguf_mix written : {gguf_mix::f16, gguf_mix::bf16, gguf_mix::q8_0})
        if (quant_mix_.quant_mix == written) return ggml_type::mxfp4;
    throw error(errc::unsupported, "",
                "llama-quantize does not quantize " + quote(t.name) +
                    " again, which is MXFP4 in the checkpoint; f16, bf16 and q8_0 copy it");
}

LLMCOST_INLINE gguf_category gguf_typing::category_of(std::string_view name) const {
    const bool embeds = name == gguf_token_embeddings;
    if (name == gguf_scores || (is_tied_ && embeds)) return gguf_category::output;
    if (embeds) return gguf_category::token_embd;
    if (is_value(name)) return gguf_category::attn_v;
    if (contains(name, "attn_k.weight")) return gguf_category::attn_k;
    if (contains(name, "attn_q.weight")) return gguf_category::attn_q;
    if (contains(name, "attn_output.weight")) return gguf_category::attn_output;
    if (contains(name, "ffn_down")) return gguf_category::ffn_down;
    if (contains(name, "ffn_up") || contains(name, "ffn_gate")) return gguf_category::ffn_gate_up;
    return gguf_category::other;
}

LLMCOST_INLINE bool gguf_typing::is_met(gguf_condition condition, std::int64_t i, std::int64_t n) const {
    const bool has_matrix = source_.importance_matrix;
    switch (condition) {
        case gguf_condition::always: return true;
        case gguf_condition::shared_keys: return heads_per_key_ >= 4;
        case gguf_condition::shared_keys_or_experts: return heads_per_key_ >= 4 || experts_ >= 4;
        case gguf_condition::eight_experts: return experts_ == 8;
        case gguf_condition::not_eight_experts: return experts_ != 8;
        case gguf_condition::no_importance_matrix: return !has_matrix;
        case gguf_condition::first_two: return i < 2;
        case gguf_condition::first_four: return i < 4;
        case gguf_condition::first_sixteenth: return i < n / 16;
        case gguf_condition::first_eighth: return i < n / 8;
        case gguf_condition::first_eighth_with_importance_matrix: return i < n / 8 && has_matrix;
        case gguf_condition::first_eighth_without_importance_matrix: return i < n / 8 && !has_matrix;
        case gguf_condition::inner: return i >= n / 8 && i < 7 * n / 8;
        case gguf_condition::more_bits: return use_more_bits(i, n);
        case gguf_condition::more_bits_of_eight_experts: return experts_ == 8 && use_more_bits(i, n);
    }
    return false;
}

LLMCOST_INLINE ggml_type gguf_typing::type_of_values(ggml_type type) const {
    if (gguf_mixes_below_3_bits.contains(quant_mix_.quant_mix)) return type;
    if (is_70b_ && (type == ggml_type::q3_k || type == ggml_type::q4_k)) type = ggml_type::q5_k;
    return experts_ == 8 ? ggml_type::q8_0 : type;
}

LLMCOST_INLINE ggml_type gguf_typing::select_type(const gguf_tensor& t) {
    const std::string_view name = t.name;
    const gguf_mix mix = quant_mix_.quant_mix;
    const gguf_category category = category_of(name);
    const bool is_output = category == gguf_category::output;
    if (mix == gguf_mix::mxfp4_moe && !is_output)
        return t.sizes.size() > 2 && t.sizes.front() > 1 ? ggml_type::mxfp4 : ggml_type::q8_0;
    if (is_output && t.sizes.back() % row_of(quant_mix_.type).block != 0) return ggml_type::q8_0;

    std::int64_t i = 0, n = layers_;
    if (category == gguf_category::attn_v) {
        i = num_attn_v_++;
        n = values_;
    } else if (category == gguf_category::ffn_down || category == gguf_category::ffn_gate_up) {
        std::int64_t& counter = category == gguf_category::ffn_down ? num_ffn_down_
                                : contains(name, "ffn_up")          ? num_ffn_up_
                                                                    : num_ffn_gate_;
        i = counter++;
        // Layers of mixtures are distinguished by their names, as a layer has several such tensors.
        if (experts_ > 1 && !gguf_mixes_below_3_bits.contains(mix)) i = t.layer;
    }
    ggml_type type = is_output ? ggml_type::q6_k : quant_mix_.type;
    for (const gguf_type_rule& rule : gguf_type_rules) {
        if (rule.category != category || !rule.mixes.contains(mix) || !is_met(rule.condition, i, n)) continue;
        type = rule.type;
        break;
    }
    return category == gguf_category::attn_v ? type_of_values(type) : type;
}

LLMCOST_INLINE ggml_type gguf_typing::compatible_type(const gguf_tensor& t, ggml_type type) {
    const std::uint64_t row = t.sizes.back();
    if (row % row_of(type).block == 0) return type;
    ggml_type smaller = type;
    switch (type) {
        case ggml_type::iq1_s:
        case ggml_type::iq1_m:
        case ggml_type::iq2_xxs:
        case ggml_type::iq2_xs:
        case ggml_type::iq2_s:
        case ggml_type::iq3_xxs:
        case ggml_type::iq3_s:
        case ggml_type::iq4_xs: smaller = ggml_type::iq4_nl; break;
        case ggml_type::q2_k:
        case ggml_type::q3_k:
        case ggml_type::tq1_0:
        case ggml_type::tq2_0: smaller = ggml_type::q4_0; break;
        case ggml_type::q4_k: smaller = ggml_type::q5_0; break;
        case ggml_type::q5_k: smaller = ggml_type::q5_1; break;
        case ggml_type::q6_k: smaller = ggml_type::q8_0; break;
        default:
            throw error(errc::unsupported, "",
                        "llama-quantize has no type for " + quote(t.name) + ", whose rows of " + std::to_string(row) +
                            " elements are no multiple of " + std::to_string(row_of(type).block));
    }
    return row % row_of(smaller).block == 0 ? smaller : ggml_type::f16;
}

/// What the converter makes from the configuration alone (`generate_extra_tensors`).
LLMCOST_INLINE void add_frequencies(std::vector<gguf_tensor>& all, const model& m, const gguf_source& source) {
    const auto pairs = static_cast<std::uint64_t>(m.config.rotary_dim / 2);
    const frequency_factors written = naming_of(m).factors;
    if (written == frequency_factors::rescaled && source.rescales_frequencies)
        all.push_back({"rope_freqs.weight", {pairs}});
    if (written == frequency_factors::long_and_short && m.config.rope_scaling == rope_scaling_kind::longrope) {
        all.push_back({"rope_factors_long.weight", {pairs}});
        all.push_back({"rope_factors_short.weight", {pairs}});
    }
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE count frequency_bytes_of(const model& m, const gguf_source& source) {
    constexpr std::uint64_t float_bytes = 4;
    std::vector<gguf_tensor> frequencies;
    detail::add_frequencies(frequencies, m, source);
    count bytes;
    for (const gguf_tensor& t : frequencies) bytes += count(t.sizes.front()) * count(float_bytes);
    return bytes;
}

LLMCOST_INLINE predicted_gguf gguf_sizes(const model& m, const model_listing& listing, std::string_view quant_mix,
                                         const gguf_source& source) {
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
