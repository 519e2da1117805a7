// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/string_ref.hpp>

// The object of a configuration that describes the quantization of a checkpoint, and its method.
namespace llmcost {

/// Whether an object is a quantization of MLX: `bits` and `group_size`, and settings per module.
///
/// GPTQ and AWQ have the same two keys and further ones, such as `sym` and `zero_point`.
///
/// Source: mlx_lm/utils.py, `load_model`, `quantize_model`.
[[nodiscard]] constexpr bool is_mlx_quantization(config_view block) {
    if (!block.is_object() || !block.contains("bits") || !block.contains("group_size")) return false;
    for (const config_view entry : block) {
        const string_ref key = entry.key();
        const bool is_setting = key == "bits" || key == "group_size" || key == "mode";
        const bool is_module = entry.is_object() || (entry.is_boolean() && key.find('.') != string_ref::npos);
        if (!is_setting && !is_module && key != "lm_head") return false;
    }
    return true;
}

/// The object of a configuration that describes its quantization. Empty if there is none.
///
/// Source: mlx_lm/utils.py, `load_model`; vllm/config/model.py, `_parse_quant_hf_config`.
[[nodiscard]] constexpr maybe<config_view> find_quantization(config_view root) {
    const auto mlx_block = root.find("quantization");
    if (mlx_block && is_mlx_quantization(*mlx_block)) return mlx_block;
    if (const auto found = root.optional_object("quantization_config")) return found;
    if (const auto text = root.find("text_config"); text && text->is_object()) {
        if (const auto found = text->optional_object("quantization_config")) return found;
        const auto nested = text->find("quantization");
        if (nested && is_mlx_quantization(*nested)) return nested;
    }
    return root.optional_object("compression_config");
}

/// The method of a quantization: `quant_method`, otherwise that of the tool with these keys. Empty if it is unknown.
///
/// ModelOpt writes `quant_algo` and `producer`; its separate file contains them in an object `quantization`.
///
/// Source: transformers/quantizers/auto.py, `AutoQuantizationConfig.from_dict`;
/// vllm/model_executor/layers/quantization/modelopt.py, `override_quantization_method`.
[[nodiscard]] constexpr string_ref quantization_method(config_view block) {
    if (const auto method = block.optional_string("quant_method")) return *method;
    if (block.boolean("load_in_4bit", false) || block.boolean("load_in_8bit", false)) return "bitsandbytes";
    const auto nested = block.find("quantization");
    if (block.contains("quant_algo") || (nested && nested->is_object() && nested->contains("quant_algo")))
        return "modelopt";
    if (const auto producer = block.find("producer"); producer && producer->is_object())
        if (const auto name = producer->find("name"); name && name->is_string() && name->as_string() == "modelopt")
            return "modelopt";
    if (is_mlx_quantization(block)) return "mlx";
    return {};
}

/// ModelOpt's settings: those of the object itself, or of its object `quantization` in the separate file.
[[nodiscard]] constexpr config_view modelopt_settings(config_view block) {
    const auto nested = block.optional_object("quantization");
    return nested ? *nested : block;
}

}  // namespace llmcost
