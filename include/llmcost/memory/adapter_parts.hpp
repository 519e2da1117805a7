// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/trace/leaf_module_policy.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

// The forward passes of adapters. PEFT stores the added parameters in float32 (`autocast_adapter_dtype`).
namespace llmcost::adapter_parts {

/// A module of an adapter, while it lives.
class part_guard {
public:
    part_guard(trace& t, literal name, class_name type)
        : trace_(t), part_{.name = name, .class_of_module = type, .is_leaf = true} {
        t.enter(part_);
    }
    ~part_guard() { trace_.leave(part_); }
    part_guard(const part_guard&) = delete;
    part_guard& operator=(const part_guard&) = delete;

private:
    trace& trace_;
    module_info part_;
};

/// LoRA of a linear layer with input x and output y (lora/layer.py, `Linear.forward`).
[[nodiscard]] tensor low_rank(trace& t, const adapter& adapter_config, const tensor& x, const tensor& y,
                              std::int64_t rank);
/// LoRA of a convolution (`_ConvNd.forward`). The kernel of the second product has size one.
[[nodiscard]] tensor low_rank(trace& t, const adapter& adapter_config, const tensor& x, const tensor& weight,
                              const convolution_options& options, const tensor& y, std::int64_t rank);

/// DoRA of a linear layer (lora/dora.py, `DoraLinearLayer.forward`).
[[nodiscard]] tensor decomposed(trace& t, const tensor& x, const tensor& weight, bool is_transposed, const tensor* bias,
                                const tensor& y, std::int64_t rank);

/// The matrices of LoRA for an embedding table. Columns of the first are gathered, the second is a factor.
struct row_matrices {
    tensor a, b;  ///< (rows, rank) and (rank, width), both transposed
};

/// LoRA of an embedding table with output `found` (lora/layer.py, `Embedding.forward`).
///
/// `scaled`: the table scales its output.
[[nodiscard]] tensor rows_of_low_rank(trace& t, const tensor& table, bool scaled, const tensor& found,
                                      std::int64_t rank);
/// DoRA of an embedding table (lora/dora.py, `DoraEmbeddingLayer`).
[[nodiscard]] tensor decomposed_rows(trace& t, const tensor& table, bool scaled, const tensor& found,
                                     std::int64_t rank);

/// Factors of IA3 for the input or output of a layer (ia3/layer.py, `Linear.forward`).
[[nodiscard]] tensor factors(trace& t, const shape& sizes, const tensor& x, const tensor& x_float32);

/// A parameter plus a low-rank product, for all experts in one call (lora/layer.py, `ParamWrapper`).
[[nodiscard]] tensor added_to(trace& t, literal name, const tensor& parameter, std::int64_t rank, bool scales);

/// Trained rows of an embedding table (trainable_tokens/layer.py). The original rows are stored.
[[nodiscard]] tensor trained_rows(trace& t, std::int64_t tokens, const tensor& table);
/// An embedding table with replaced rows. Writes the entire table (`Tensor.index_copy`).
[[nodiscard]] tensor with_rows(trace& t, const tensor& table, const tensor& rows);

/// Virtual tokens before a text: their embeddings, or the output of an MLP, the same for every sequence.
///
/// `for_two`: adds as many tokens for a decoder, which does not read them.
[[nodiscard]] tensor prompt(trace& t, const adapter& adapter_config, const tensor& text, bool for_two);
/// Keys and values of all layers: (batch, tokens, 2 · layers, width).
///
/// They are the rows of a table, or the output of an MLP (prefix_tuning/model.py, `PrefixEncoder`).
[[nodiscard]] tensor prefix(trace& t, const adapter& adapter_config, const tensor& text, std::int64_t layers,
                            std::int64_t width);
/// Keys or values of one layer, copied for the cache: (batch, heads, tokens, head width).
[[nodiscard]] tensor layer_prefix(trace& t, const tensor& prefix, const shape& sizes);

}  // namespace llmcost::adapter_parts

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/adapter_parts.ipp>  // IWYU pragma: export
#endif
