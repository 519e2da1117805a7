// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/devices/device.hpp>
#include <llmcost/reading/config.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/model_kernel.hpp>

// How an engine runs a model on a device: what follows from their choice.
namespace llmcost {

/// What a model's tensors are held in; null leaves it to the engine.
struct stored_types {
    const operand_row* products = nullptr;  ///< of linear layers; null: stored in 32 bits, which engines run in 16
    const operand_row* experts = nullptr;   ///< of routed experts; null: as linear layers
    const operand_row* cache = nullptr;     ///< of cached keys and values; null: what the engine's recipes keep
};

/// What a device multiplies where nothing is quantised: bfloat16, or what its datasheet has instead.
[[nodiscard]] constexpr const operand_row* usual_operand(const device& on) noexcept {
    for (const literal name : {"bfloat16", "float16", "float32"})
        if (const operand_row* row = find_operand(name); on.*row->unit > 0) return row;
    return find_operand("bfloat16");
}

/// Whether an engine runs on a device.
[[nodiscard]] constexpr bool runs_on(const engine& by, const device& on) noexcept {
    return by.only_on.empty() || by.only_on == on.vendor;
}

/// In what an engine runs weights of some type on a device: the same, or unpacked where the device does not multiply it.
[[nodiscard]] constexpr const operand_row* run_as(const operand_row* type, const engine& by, const device& on) noexcept {
    if (type == nullptr || on.*type->unit > 0 || type->unpacked.empty() || !by.unpacks || !(on.vendor == "NVIDIA"))
        return type;
    const operand_row* const unpacked = find_operand(type->unpacked);
    return on.*unpacked->unit > 0 ? unpacked : type;
}

namespace detail {

/// What an engine keeps in the cache unless told otherwise: 8 bits beside weights that bring scales of keys and values along
/// (one scale per tensor, or NVIDIA's 4 bits), or beside any narrow ones; else as the activations.
[[nodiscard]] constexpr const operand_row* usual_cache(const execution& how, const engine& by) noexcept {
    const bool narrow = how.products->weight_bytes < 2 || how.experts->weight_bytes < 2;
    const bool scaled = how.products->scaled_per_tensor || how.products->unit == &device::fp4;
    return scaled || (narrow && by.narrow_cache) ? find_operand("fp8") : how.unquantised();
}

}  // namespace detail

/// How an engine runs weights of these types on a device; `engine{}` is none: any kernels, and no choice of its own.
///
/// Weights of 32 bits are run in what the device multiplies, as engines do (vLLM v0.11, config/model.py,
/// _resolve_auto_dtype). Attention of prompts multiplies in the cache's type where that has 8 bits that the device
/// multiplies, and the engine does so.
[[nodiscard]] constexpr execution execution_of(const engine& by, const device& on, const stored_types& types = {},
                                               const sharding& shards = {}, issue issued = issue::graph) noexcept {
    execution how;
    how.beside = usual_operand(on);
    how.products = types.products != nullptr ? types.products : how.beside;
    how.experts = types.experts != nullptr ? types.experts : how.products;
    how.cache = types.cache != nullptr ? types.cache : detail::usual_cache(how, by);
    how.attention = how.unquantised();
    const bool narrow = by.narrow_prompts && how.cache->weight_bytes < 2 && on.*how.cache->unit > 0;
    how.prompts = narrow ? how.cache : how.attention;
    how.static_scales = by.static_scales;
    how.shards = shards;
    how.issued = issued;
    if (on.node_devices > 0) how.node = static_cast<std::int64_t>(on.node_devices);
    return how;
}

/// What a checkpoint holds its weights in, whose `dtype` is `type`: by its `quantization_config` as fp8, modelopt,
/// compressed-tensors, mxfp4, awq and gptq write it.
///
/// Throws `config_error` for another method.
[[nodiscard]] constexpr stored_types stored_types_of(config_view root, dtype type) {
    const operand_row* const plain = type == dtype::float32 || type == dtype::unspecified ? nullptr
                                     : type == dtype::float16                             ? find_operand("float16")
                                                                                          : find_operand("bfloat16");
    const auto quantized = root.optional_object("quantization_config");
    if (!quantized) return {plain, plain};
    const auto both = [](literal name) { return stored_types{find_operand(name), find_operand(name)}; };
    const string_ref method = quantized->string("quant_method", "");
    if (method == "mxfp4") return {plain, find_operand("w4a16_mxfp4")};  // attention, routers and head are left as they are
    if (method == "fp8") return both(quantized->contains("weight_block_size") ? "fp8_block" : "fp8");
    if (method == "modelopt") return both(quantized->string("quant_algo", "") == "NVFP4" ? "nvfp4" : "fp8");
    if (method == "awq" || method == "gptq") return both(quantized->non_negative("bits", 4) == 8 ? "int8" : "int4_wo");
    if (method == "compressed-tensors")
        if (const auto groups = quantized->optional_object("config_groups"))
            for (const config_view group : *groups)
                if (const auto weights = group.as_object().optional_object("weights")) {
                    const bool floats = weights->string("type", "") == "float";
                    const bool powers = quantized->string("format", "").starts_with("mxfp4");
                    if (weights->non_negative("num_bits", 8) == 4)
                        return both(!floats ? "int4_wo" : powers ? "w4a16_mxfp4" : "nvfp4");
                    return both(floats ? "fp8" : "int8");
                }
    fail_unsupported(*quantized, "quant_method",
                     "no type of weights is known here but of fp8, modelopt, compressed-tensors with config_groups, mxfp4, "
                     "awq and gptq");
}

}  // namespace llmcost
