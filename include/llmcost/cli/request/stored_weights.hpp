// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/metric_query.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/files/gguf_mix.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/quantization.hpp>
#include <llmcost/memory/quantization_names.hpp>
#include <llmcost/model/model_spec.hpp>

// The bytes of weights of several element types: from a weight file, `--quantization` or `quantization_config`.
namespace llmcost::cli {

namespace detail {

/// The weights of a `quantization_config`.
///
/// Weights that are not quantized have the type of the checkpoint, else that of the method, else bfloat16.
stored_model_weights weights_by_quantization(const model& m, const quantization& plan, const std::string& description);

/// The value of `--quantization`: a method or a llama.cpp type; case, `_` and `-` do not matter.
struct requested_quantization {
    const quantization_preset* method = nullptr;
    const llmcost::detail::gguf_mix_entry* gguf_mix = nullptr;
};

}  // namespace detail

/// Replaces the `quantization_config` of a configuration by that of `--quantization`.
void set_quantization(const arguments& args, config_document& document);

/// Throws: `unsupported` if the configuration has a quantization whose layout is not known. Its weights have no known
/// size without `--quantization` or `--dtype`.
void require_known_layout(const parsed_model& read);

/// Whether a query includes bytes of weights: one of its metrics, or all metrics.
[[nodiscard]] bool includes_weight_bytes(const metric_query& query);

/// The stored weights of a model: from `--quantization`, `--dtype`, the weight file or `quantization_config`, in this
/// order. `is_applied` is false if all weights have one type.
[[nodiscard]] stored_model_weights stored_weights_of(parsed_model& read, const arguments& args);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/stored_weights.ipp>  // IWYU pragma: export
#endif
