// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/memory/quantization.hpp>

// Reads configurations of compressed-tensors.
//
// Source: compressed_tensors/quantization/lifecycle/initialize.py, `initialize_qparams`; quantization/quant_args.py,
// `QuantizationArgs`; compressors/{pack_quantized,naive_quantized,nvfp4,mxfp4,mxfp8}/base.py, `compress`;
// compressors/format.py, `infer_module_format`; utils/match.py, `is_match`.
namespace llmcost::detail {

/// Quantization arguments, after the checks of `QuantizationArgs`.
struct compression_arguments {
    std::int64_t bits = 8;
    bool floating = false;
    bool symmetric = true;
    string_ref strategy;
    std::int64_t group = 0;
    std::int64_t block_outputs = 0, block_inputs = 0;
    bool scales_are_bytes = false;
    bool reorders_groups = false;
};

/// The stored scales of activations, by the key `dynamic`. Dynamic quantization stores none.
enum class activation_scales : std::uint8_t { none, of_groups, static_scales };

/// Reads groups of modules by class, name or expression. Experts are separate linear layers, as when compressed.
void parse_compressed_tensors(config_view q, quantization& out);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/read_compressed_tensors.ipp>  // IWYU pragma: export
#endif
