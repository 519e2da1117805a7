// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// Names for quantizations of checkpoints that do not exist, and the `quantization_config` that the usual tool writes.
namespace llmcost {

struct quantization_preset {
    std::string_view name;
    std::string_view plan;     ///< JSON; `null` removes the quantization
    std::string_view experts;  ///< for models with routed experts, if different
};

namespace detail {

// AutoAWQ, awq/models/_config.py (`AwqConfig`). Unquantized: routers (awq/models/mixtral.py), vision encoders
// (qwen2vl.py).
inline constexpr std::string_view awq_plan =
    R"({"quant_method":"awq","bits":4,"group_size":128,"zero_point":true,"version":"gemm",)"
    R"("modules_to_not_convert":["gate","visual","vision_tower","vision_model","multi_modal_projector"]})";
// GPTQModel, quantization/config.py (`QuantizeConfig`)
inline constexpr std::string_view gptq_plan = R"({"quant_method":"gptq","bits":4,"group_size":128,"sym":true})";
// llm-compressor's scheme W4A16 (compressed_tensors/quantization/quant_scheme.py), which vLLM documents as INT4
inline constexpr std::string_view int4_plan =
    R"({"quant_method":"compressed-tensors","format":"pack-quantized","config_groups":{"group_0":{"targets":["Linear"],)"
    R"("weights":{"num_bits":4,"type":"int","strategy":"group","group_size":128,"symmetric":true}}},)"
    R"("ignore":["re:.*lm_head","re:.*gate$","re:.*visual.*","re:.*vision_.*","re:.*multi_modal_projector.*"]})";
// llm-compressor's scheme FP8_DYNAMIC (compressed_tensors/quantization/quant_scheme.py) with the exclusions of its
// examples
inline constexpr std::string_view fp8_plan =
    R"({"quant_method":"compressed-tensors","format":"float-quantized","config_groups":{"group_0":{"targets":["Linear"],)"
    R"("weights":{"num_bits":8,"type":"float","strategy":"channel","symmetric":true},)"
    R"("input_activations":{"num_bits":8,"type":"float","strategy":"token","dynamic":true}}},)"
    R"("ignore":["re:.*lm_head","re:.*gate$","re:.*visual.*","re:.*vision_.*","re:.*multi_modal_projector.*"]})";
// Transformers, utils/quantization_config.py (`FineGrainedFP8Config`), with the block sizes of DeepSeek-V3
inline constexpr std::string_view fp8_block_plan =
    R"({"quant_method":"fp8","activation_scheme":"dynamic","weight_block_size":[128,128]})";
// QLoRA (arXiv 2305.14314): NF4 with double quantization of scales
inline constexpr std::string_view nf4_plan =
    R"({"quant_method":"bitsandbytes","load_in_4bit":true,"bnb_4bit_quant_type":"nf4","bnb_4bit_use_double_quant":true})";
inline constexpr std::string_view int8_plan = R"({"quant_method":"bitsandbytes","load_in_8bit":true})";
// gpt-oss quantizes experts only; models without experts use the scheme MXFP4A16 of compressed-tensors
inline constexpr std::string_view mxfp4_experts_plan = R"({"quant_method":"mxfp4"})";
inline constexpr std::string_view mxfp4_plan =
    R"({"quant_method":"compressed-tensors","format":"mxfp4-pack-quantized","config_groups":{"group_0":{"targets":["Linear"],)"
    R"("weights":{"num_bits":4,"type":"float","strategy":"group","group_size":32,"symmetric":true,"scale_dtype":"torch.uint8"}}},)"
    R"("ignore":["re:.*lm_head","re:.*visual.*","re:.*vision_.*","re:.*multi_modal_projector.*"]})";
// ModelOpt's NVFP4 (nvidia/Llama-3.3-70B-Instruct-FP4)
inline constexpr std::string_view nvfp4_plan =
    R"({"quant_method":"modelopt","quant_algo":"NVFP4","group_size":16,"ignore":["lm_head","*.gate"]})";

}  // namespace detail

inline constexpr quantization_preset quantization_presets[]{
    {"none", "null", {}},
    {"awq", detail::awq_plan, {}},
    {"gptq", detail::gptq_plan, {}},
    {"fp8", detail::fp8_plan, {}},
    {"fp8-block", detail::fp8_block_plan, {}},
    {"nf4", detail::nf4_plan, {}},
    {"bnb-4bit", detail::nf4_plan, {}},
    {"int4", detail::int4_plan, {}},
    {"w4a16", detail::int4_plan, {}},
    {"int8", detail::int8_plan, {}},
    {"bnb-8bit", detail::int8_plan, {}},
    {"mxfp4", detail::mxfp4_plan, detail::mxfp4_experts_plan},
    {"nvfp4", detail::nvfp4_plan, {}},
};

/// The preset with this name. Returns null if there is none.
[[nodiscard]] constexpr const quantization_preset* find_quantization_preset(std::string_view name) noexcept {
    for (const quantization_preset& preset : quantization_presets)
        if (preset.name == name) return &preset;
    return nullptr;
}

}  // namespace llmcost
