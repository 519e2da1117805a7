// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/report/listing.hpp>

// Compares the tensors of a Hugging Face checkpoint with those of a trace.
namespace llmcost {

/// A tensor that a checkpoint holds in other sizes.
struct tensor_mismatch {
    std::string name;  ///< in the checkpoint
    std::vector<std::uint64_t> predicted;
    std::vector<std::uint64_t> stored;
};

/// How a checkpoint differs from what is predicted.
struct tensor_check {
    std::uint64_t agree = 0;                 ///< tensors of the checkpoint as predicted
    std::vector<std::string> not_predicted;  ///< only in the checkpoint, by its names
    std::vector<std::string> absent;         ///< only predicted, by the names of the trace
    std::vector<tensor_mismatch> other_sizes;
    std::vector<std::string> buffers;  ///< of the checkpoint: no parameters, and so not predicted
    std::vector<std::string> tied;     ///< of the checkpoint: further names of tensors that are counted once
    std::vector<std::string> packed;  ///< of the checkpoint: numbers, scales and the like of weights that are quantised
    std::vector<std::string>
        parameters{};  ///< of each tensor of the checkpoint: the parameter that it stores or belongs to, if any

    [[nodiscard]] bool has_no_mismatch() const noexcept {
        return not_predicted.empty() && absent.empty() && other_sizes.empty();
    }
};

namespace detail {

/// Names predicted, with their sizes.
using predicted_tensors = std::unordered_map<std::string, std::vector<std::uint64_t>>;

/// What a checkpoint's names have too much in front, or too little: those of a base model alone lack its prefix.
struct name_prefix {
    std::string added;
    std::string dropped;
    [[nodiscard]] std::string apply(const std::string& name) const;
};

/// Names by which formats store a quantized weight, and the name of the model that each replaces.
struct packed_name {
    std::string_view ending;
    std::string_view replacement;
};
// read_quantization.hpp and read_compressed_tensors.hpp have the sources
inline constexpr packed_name packed_names[]{
    {".qweight", ".weight"},
    {".qzeros", ".weight"},
    {".scales", ".weight"},
    {".g_idx", ".weight"},
    {".weight_packed", ".weight"},
    {".weight_shape", ".weight"},
    {".weight_scale", ".weight"},
    {".weight_scale_inv", ".weight"},
    {".weight_scale_2", ".weight"},
    {".weight_global_scale", ".weight"},
    {".weight_zero_point", ".weight"},
    {".weight_g_idx", ".weight"},
    {".input_scale", ".weight"},
    {".input_global_scale", ".weight"},
    {".input_zero_point", ".weight"},
    {".output_scale", ".weight"},
    {".activation_scale", ".weight"},
    {".SCB", ".weight"},
    {".weight_format", ".weight"},
    {".weight.absmax", ".weight"},
    {".weight.nested_absmax", ".weight"},
    {".weight.quant_map", ".weight"},
    {".weight.nested_quant_map", ".weight"},
    {".weight.quant_state.bitsandbytes__nf4", ".weight"},
    {".weight.quant_state.bitsandbytes__fp4", ".weight"},
    {"._weight_qdata", ".weight"},
    {"._weight_scale", ".weight"},
    {"._weight_zero_point", ".weight"},
    {"_blocks", ""},
    {"_scales", ""},
    {"_scale_inv", ""},
};

}  // namespace detail

/// Which tensors of a checkpoint are not predicted, which that are predicted it lacks, and which have other sizes.
///
/// Names are those of checkpoints on the hub: with or without the base model's prefix, experts together or one by one,
/// and tied tensors stored or not.
[[nodiscard]] tensor_check check_tensors(const model_listing& listing, const std::vector<stored_tensor>& stored);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/files/impl/check_tensors.ipp>  // IWYU pragma: export
#endif
