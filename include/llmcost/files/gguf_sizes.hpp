// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/files/ggml_type.hpp>
#include <llmcost/files/gguf_mix.hpp>
#include <llmcost/files/gguf_names.hpp>
#include <llmcost/files/gguf_type_rules.hpp>
#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/listing.hpp>

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
[[nodiscard]] gguf_source gguf_source_of(config_view json);

/// Bytes of the rotary frequencies that the converter writes in addition to the parameters of a model.
///
/// Source: conversion of llama.cpp, `generate_extra_tensors`.
[[nodiscard]] count frequency_bytes_of(const model& m, const gguf_source& source);

/// The weights of a GGUF file: its tensors, and the bytes after metadata and table, with the padding between tensors.
struct predicted_gguf {
    stored_tensors weights;
    count data_bytes;
};

namespace detail {

/// Gives every tensor of one file its type; tensors must come in the file's order.
class gguf_typing {
public:
    gguf_typing(const model& m, const gguf_mix_entry& quant_mix, const gguf_source& source,
                const std::vector<gguf_tensor>& tensors);

    [[nodiscard]] ggml_type type_of(const gguf_tensor& t);

private:
    /// `category_is_attn_v`: values, alone or with queries and keys.
    static bool is_value(std::string_view name);
    static bool use_more_bits(std::int64_t i, std::int64_t n) {
        return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2;
    }

    ggml_type copied_experts(const gguf_tensor& t) const;

    ggml_type select_type(const gguf_tensor& t);
    /// The category of a tensor, which determines the rules that may apply to it (`tensor_get_category`).
    [[nodiscard]] gguf_category category_of(std::string_view name) const;
    /// Whether the condition of a rule is met by the tensor with index `i` of `n`.
    [[nodiscard]] bool is_met(gguf_condition condition, std::int64_t i, std::int64_t n) const;
    /// The type of values after the rules: those of models of 70B and of 8 experts get more bits.
    [[nodiscard]] ggml_type type_of_values(ggml_type type) const;
    /// `tensor_type_fallback`: rows that are no multiple of a block take a type of smaller blocks.
    static ggml_type compatible_type(const gguf_tensor& t, ggml_type type);

    const gguf_mix_entry& quant_mix_;
    const gguf_source& source_;
    std::int64_t layers_ = 0;
    std::int64_t experts_ = 0;
    std::int64_t heads_per_key_ = 1;
    std::int64_t values_ = 0;
    std::int64_t num_attn_v_ = 0;
    std::int64_t num_ffn_down_ = 0;
    std::int64_t num_ffn_gate_ = 0;
    std::int64_t num_ffn_up_ = 0;
    bool is_70b_ = false;
    bool is_tied_ = true;
};

}  // namespace detail

/// The weights of the file that llama-quantize would write, or the converter for `f16`, `bf16` and `q8_0`.
///
/// `quant_mix` is a name of `gguf_mixes`, else `usage` is thrown; `unsupported` for a type of models whose conversion
/// is not known.
[[nodiscard]] predicted_gguf gguf_sizes(const model& m, const model_listing& listing, std::string_view quant_mix,
                                        const gguf_source& source = {});

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/files/impl/gguf_sizes.ipp>  // IWYU pragma: export
#endif
