// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/quantization_block.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/model_kernel.hpp>

// How an engine runs a model on a device.
namespace llmcost {

/// The element types of a checkpoint; null: the default of the engine.
struct checkpoint_types {
    const operand_type* products = nullptr;  ///< of linear layers; null: 32 bits, which engines run in 16
    const operand_type* experts = nullptr;   ///< of routed experts; null: that of linear layers
    const operand_type* cache = nullptr;     ///< of the KV cache; null: the default of the engine
};

/// The type of unquantized products on a device: bfloat16, otherwise what the datasheet has.
[[nodiscard]] constexpr const operand_type* default_operand_type(const device& device) noexcept {
    for (const literal name : {"bfloat16", "float16", "float32"})
        if (const operand_type* row = find_operand_type(name); device.*row->unit > 0) return row;
    return find_operand_type("bfloat16");
}

/// Whether an engine supports a device.
[[nodiscard]] constexpr bool supports_device(const engine& engine, const device& device) noexcept {
    return engine.required_vendor.empty() || engine.required_vendor == device.vendor;
}

/// The type in which an engine runs weights on a device: their own, or unpacked if the device does not multiply it.
[[nodiscard]] constexpr const operand_type* executed_type_of(const operand_type* type, const engine& engine,
                                                             const device& device) noexcept {
    if (type == nullptr || device.*type->unit > 0 || type->unpacked_type.empty() || !engine.supports_weight_unpacking ||
        !(device.vendor == "NVIDIA"))
        return type;
    const operand_type* const unpacked = find_operand_type(type->unpacked_type);
    return device.*unpacked->unit > 0 ? unpacked : type;
}

namespace detail {

/// The default type of the KV cache of an engine: 8 bits or that of the activations.
///
/// It has 8 bits if the weights have scales of keys and values (one scale per tensor, or NVFP4).
/// With `has_8bit_cache`, it has 8 bits for all weights below 16 bits.
[[nodiscard]] constexpr const operand_type* default_kv_cache_type(const execution& execution,
                                                                  const engine& engine) noexcept {
    const bool is_8bit = execution.linear_type->weight_bytes < 2 || execution.expert_type->weight_bytes < 2;
    const bool scaled = execution.linear_type->has_per_tensor_scale || execution.linear_type->unit == &device::fp4;
    return scaled || (is_8bit && engine.has_8bit_cache) ? find_operand_type("fp8") : execution.unquantized_type();
}

}  // namespace detail

/// How an engine runs weights of the given types on a device. `engine{}`: no engine, any kernels.
///
/// Weights in 32 bits run in the default type of the device. Source: vLLM v0.11, config/model.py,
/// `_resolve_auto_dtype`. Prefill attention multiplies in the type of an 8-bit KV cache if device and engine support
/// it.
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
    // without an engine, convolutions are those of PyTorch
    if (engine.name.empty() && config.unquantized_type()->unit == &device::fp32 && device.tf32 > 0)
        config.convolution_type = &tf32_operands;
    config.has_static_scales = engine.has_static_scales;
    config.vocabulary_multiple = engine.vocabulary_multiple;
    config.parallel = shards;
    config.launch = issued;
    if (device.devices_per_node > 0) config.devices_per_node = static_cast<std::int64_t>(device.devices_per_node);
    return config;
}

/// The weight types of a checkpoint, by its quantization and its `dtype` `type`.
///
/// Supports the formats of fp8, fbgemm_fp8, modelopt, compressed-tensors, mxfp4, mlx, awq and gptq.
/// Throws: `config_error` for another method.
[[nodiscard]] constexpr checkpoint_types checkpoint_types_of(config_view root, dtype type) {
    const operand_type* const plain = type == dtype::float32 || type == dtype::unspecified ? nullptr
                                      : type == dtype::float16 ? find_operand_type("float16")
                                                               : find_operand_type("bfloat16");
    const auto quantized = find_quantization(root);
    if (!quantized) return {plain, plain};
    const auto make_uniform = [](literal name) {
        return checkpoint_types{find_operand_type(name), find_operand_type(name)};
    };
    const string_ref method = quantization_method(*quantized);
    if (method == "mxfp4")
        return {plain, find_operand_type("w4a16_mxfp4")};  // attention, routers and head are not quantized
    if (method == "fp8") {
        checkpoint_types types = make_uniform(quantized->contains("weight_block_size") ? "fp8_block" : "fp8");
        const auto experts = quantized->contains("expert_dtype") ? quantized->optional_string("expert_dtype")
                                                                 : root.optional_string("expert_dtype");
        if (experts && *experts == "fp4") types.experts = find_operand_type("w4a16_mxfp4");
        return types;
    }
    if (method == "fbgemm_fp8") return make_uniform("fp8");
    if (method == "modelopt_mxfp8") return make_uniform("mxfp8");
    if (method == "modelopt" || method == "modelopt_fp4") {
        const config_view settings = modelopt_settings(*quantized);
        const string_ref algorithm = settings.string("quant_algo", "");
        if (algorithm == "NVFP4") return make_uniform("nvfp4");
        if (algorithm == "W4A16_NVFP4") return make_uniform("nvfp4_wo");
        if (algorithm.starts_with("FP8") || algorithm.empty()) return make_uniform("fp8");
        throw_unsupported(settings, "quant_algo",
                          "unsupported algorithm; expected FP8, FP8_PER_CHANNEL_PER_TOKEN, FP8_PB_WO, NVFP4 or "
                          "W4A16_NVFP4");
    }
    if (const std::int64_t bits = quantized->non_negative("bits", 4); method == "mlx" && (bits == 4 || bits == 8))
        return make_uniform(bits == 4 ? "int4_wo" : "int8_wo");
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
                    const auto inputs = group.as_object().find("input_activations");
                    const bool is_weight_only = !inputs || !inputs->is_object();  // W8A16
                    return make_uniform(floats ? "fp8" : is_weight_only ? "int8_wo" : "int8");
                }
    throw_unsupported(
        *quantized, "quant_method",
        "unsupported method (expected fp8, modelopt, compressed-tensors with config_groups, mxfp4, awq or gptq)");
}

}  // namespace llmcost
