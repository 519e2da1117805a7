// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/config_view.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/model_kernel.hpp>

// How an engine runs a model on a device: what follows from their choice.
namespace llmcost {

/// What a model's tensors are held in; null leaves it to the engine.
struct checkpoint_types {
    const operand_type* products = nullptr;  ///< of linear layers; null: stored in 32 bits, which engines run in 16
    const operand_type* experts = nullptr;   ///< of routed experts; null: as linear layers
    const operand_type* cache = nullptr;     ///< of cached keys and values; null: what the engine's recipes keep
};

/// What a device multiplies where nothing is quantised: bfloat16, or what its datasheet has instead.
[[nodiscard]] constexpr const operand_type* default_operand_type(const device& device) noexcept {
    for (const literal name : {"bfloat16", "float16", "float32"})
        if (const operand_type* row = find_operand_type(name); device.*row->unit > 0) return row;
    return find_operand_type("bfloat16");
}

/// Whether an engine runs on a device.
[[nodiscard]] constexpr bool supports_device(const engine& engine, const device& device) noexcept {
    return engine.required_vendor.empty() || engine.required_vendor == device.vendor;
}

/// In what an engine runs weights of some type on a device: the same, or unpacked where the device does not multiply
/// it.
[[nodiscard]] constexpr const operand_type* executed_type_of(const operand_type* type, const engine& engine,
                                                             const device& device) noexcept {
    if (type == nullptr || device.*type->unit > 0 || type->unpacked_type.empty() || !engine.supports_weight_unpacking ||
        !(device.vendor == "NVIDIA"))
        return type;
    const operand_type* const unpacked = find_operand_type(type->unpacked_type);
    return device.*unpacked->unit > 0 ? unpacked : type;
}

namespace detail {

/// What an engine keeps in the cache unless told otherwise: 8 bits beside weights that bring scales of keys and values
/// along (one scale per tensor, or NVIDIA's 4 bits), or beside any narrow ones; else as the activations.
[[nodiscard]] constexpr const operand_type* default_kv_cache_type(const execution& execution,
                                                                  const engine& engine) noexcept {
    const bool is_8bit = execution.linear_type->weight_bytes < 2 || execution.expert_type->weight_bytes < 2;
    const bool scaled = execution.linear_type->has_per_tensor_scale || execution.linear_type->unit == &device::fp4;
    return scaled || (is_8bit && engine.has_8bit_cache) ? find_operand_type("fp8") : execution.unquantized_type();
}

}  // namespace detail

/// How an engine runs weights of these types on a device; `engine{}` is none: any kernels, and no choice of its own.
///
/// Weights of 32 bits are run in what the device multiplies, as engines do (vLLM v0.11, config/model.py,
/// _resolve_auto_dtype). Attention of prompts multiplies in the cache's type where that has 8 bits that the device
/// multiplies, and the engine does so.
[[nodiscard]] constexpr execution execution_of(const engine& engine, const device& device,
                                               const checkpoint_types& types = {}, const parallel_config& shards = {},
                                               launch_mode issued = launch_mode::cuda_graph) noexcept {
    execution config;
    config.default_type = default_operand_type(device);
    config.linear_type = types.products != nullptr ? types.products : config.default_type;
    config.expert_type = types.experts != nullptr ? types.experts : config.linear_type;
    config.kv_cache_type = types.cache != nullptr ? types.cache : detail::default_kv_cache_type(config, engine);
    config.decode_attention_type = config.unquantized_type();
    const bool is_8bit = engine.has_8bit_prefill_attention && config.kv_cache_type->weight_bytes < 2 &&
                         device.*config.kv_cache_type->unit > 0;
    config.prefill_attention_type = is_8bit ? config.kv_cache_type : config.decode_attention_type;
    config.has_static_scales = engine.has_static_scales;
    config.parallel = shards;
    config.launch = issued;
    if (device.devices_per_node > 0) config.devices_per_node = static_cast<std::int64_t>(device.devices_per_node);
    return config;
}

/// What a checkpoint holds its weights in, whose `dtype` is `type`: by its `quantization_config` as fp8, modelopt,
/// compressed-tensors, mxfp4, awq and gptq write it.
///
/// Throws `config_error` for another method.
[[nodiscard]] constexpr checkpoint_types checkpoint_types_of(config_view root, dtype type) {
    const operand_type* const plain = type == dtype::float32 || type == dtype::unspecified ? nullptr
                                      : type == dtype::float16 ? find_operand_type("float16")
                                                               : find_operand_type("bfloat16");
    const auto quantized = root.optional_object("quantization_config");
    if (!quantized) return {plain, plain};
    const auto make_uniform = [](literal name) {
        return checkpoint_types{find_operand_type(name), find_operand_type(name)};
    };
    const string_ref method = quantized->string("quant_method", "");
    if (method == "mxfp4")
        return {plain, find_operand_type("w4a16_mxfp4")};  // attention, routers and head are left as they are
    if (method == "fp8") return make_uniform(quantized->contains("weight_block_size") ? "fp8_block" : "fp8");
    if (method == "modelopt") return make_uniform(quantized->string("quant_algo", "") == "NVFP4" ? "nvfp4" : "fp8");
    if (method == "awq" || method == "gptq")
        return make_uniform(quantized->non_negative("bits", 4) == 8 ? "int8" : "int4_wo");
    if (method == "compressed-tensors")
        if (const auto groups = quantized->optional_object("config_groups"))
            for (const config_view group : *groups)
                if (const auto weights = group.as_object().optional_object("weights")) {
                    const bool floats = weights->string("type", "") == "float";
                    const bool powers = quantized->string("format", "").starts_with("mxfp4");
                    if (weights->non_negative("num_bits", 8) == 4)
                        return make_uniform(!floats ? "int4_wo" : powers ? "w4a16_mxfp4" : "nvfp4");
                    return make_uniform(floats ? "fp8" : "int8");
                }
    throw_unsupported(
        *quantized, "quant_method",
        "no type of weights is known here but of fp8, modelopt, compressed-tensors with config_groups, mxfp4, "
        "awq and gptq");
}

}  // namespace llmcost
