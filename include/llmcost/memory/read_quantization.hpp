// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/memory/quantization.hpp>
#include <llmcost/memory/read_compressed_tensors.hpp>

namespace llmcost {

namespace detail {

/// Reads FP8 quantization by blocks, or by tensors if there are no blocks; experts may have four bits.
///
/// A file without `weight_block_size` is not written by Transformers and has one scale per tensor. A checkpoint stores
/// the gate and up projections of experts separately, each with its own blocks.
///
/// Source: transformers/integrations/finegrained_fp8.py, `FP8Linear`, `FP8Experts`, `replace_with_fp8_linear`;
/// utils/quantization_config.py, `FineGrainedFP8Config`; vllm/model_executor/layers/quantization/fp8.py,
/// `Fp8Config.from_config`.
void parse_fp8(config_view q, quantization& out);

/// Reads MXFP4, which quantizes experts only: 16 bytes and one scale per 32 values. All other weights are bfloat16.
///
/// Source: transformers/integrations/mxfp4.py, `replace_with_mxfp4_linear`, `Mxfp4ReverseDeserialize`;
/// vllm/model_executor/layers/quantization/mxfp4.py, `get_supported_act_dtypes`.
void parse_mxfp4(config_view q, quantization& out);

/// Reads GPTQ, which quantizes the linear layers of the layer list. `g_idx` is stored even if inputs are not reordered.
///
/// AutoGPTQ writes zero biases for layers without bias. Loaders skip them (vllm/model_executor/models/llama.py), so
/// they are not counted.
///
/// Source: auto_gptq/nn_modules/qlinear/qlinear_cuda.py, `QuantLinear`; optimum/gptq/quantizer.py, `convert_model`, and
/// constants.py, `BLOCK_PATTERNS`; gptqmodel, `dynamic`.
void parse_gptq(config_view q, quantization& out);

/// Reads AWQ, which quantizes linear layers except the listed ones and the head.
///
/// Source: awq/modules/linear/gemm.py, `WQLinear_GEMM`; transformers/integrations/awq.py, `replace_with_awq_linear`.
void parse_awq(config_view q, quantization& out);

/// Reads FP8 with one scale per output.
///
/// Source: transformers/integrations/fbgemm_fp8.py.
void parse_fbgemm_fp8(config_view q, quantization& out);

/// Reads BitNet: four ternary values per byte. In mode online, stored weights are unquantized and rounded in each pass.
///
/// Source: transformers/integrations/bitnet.py, `BitLinear`, `AutoBitLinear`.
void parse_bitnet(config_view q, quantization& out);

/// Reads bitsandbytes: 8 bits with one scale per output, or 4 bits in runs of 64 with optional double quantization.
///
/// The metadata of a few hundred bytes that `as_dict` stores per weight is not counted: its length depends on the
/// digits of `nested_offset`. Transformers does not convert experts (integrations/bitsandbytes.py).
///
/// Source: bitsandbytes/nn/modules.py, `Linear8bitLt`, `Linear4bit`, `_save_to_state_dict`; functional.py,
/// `quantize_4bit`, `QuantState.as_dict`.
void parse_bitsandbytes(config_view q, quantization& out);

/// Reads ModelOpt: one algorithm, or one for each of `quantized_layers`.
///
/// Source: vllm/model_executor/layers/quantization/modelopt.py, `ModelOptMixedPrecisionConfig`.
void parse_modelopt(config_view q, quantization& out);

/// Reads MLX, which quantizes embeddings too. Vision and audio encoders stay unquantized.
///
/// A weight whose inputs are no multiple of `group_size` stays unquantized.
///
/// Source: mlx_lm/utils.py, `quantize_model`; mlx_vlm/utils.py, `skip_multimodal_module`; mlx/nn/layers/quantized.py.
void parse_mlx(config_view q, quantization& out);

/// Reads torchao, version 2 of its linear layer formats.
///
/// Source: torchao/quantization/quant_api.py;
/// quantize_/workflows/{int4/int4_tensor,int8/int8_tensor,float8/float8_tensor}.py;
/// prototype/safetensors/safetensors_support.py, `flatten_tensor_state_dict`;
/// transformers/quantizers/quantizer_torchao.py.
void parse_torchao(config_view q, quantization& out);

/// The names of a format in configurations, and the function that reads it.
struct quantization_reader {
    literal method;
    void (*read)(config_view, quantization&);
};
// clang-format off
inline constexpr quantization_reader quantization_readers[]{
    {"fp8",                parse_fp8},
    {"mxfp4",              parse_mxfp4},
    {"gptq",               parse_gptq},
    {"awq",                parse_awq},
    {"bitsandbytes",       parse_bitsandbytes},
    {"compressed-tensors", parse_compressed_tensors},
    {"modelopt",           parse_modelopt},
    {"modelopt_fp4",       parse_modelopt},
    {"modelopt_mixed",     parse_modelopt},
    {"modelopt_mxfp8",     parse_modelopt},
    {"mlx",                parse_mlx},
    {"torchao",            parse_torchao},
    {"fbgemm_fp8",         parse_fbgemm_fp8},
    {"bitnet",             parse_bitnet},
};
// clang-format on

}  // namespace detail

/// Reads the quantization of a configuration or of its text model. Without one, the result has no method.
///
/// Throws: `config_error` if it is invalid, with `unsupported` if the layout of a format is not supported.
[[nodiscard]] quantization parse_quantization(config_view json);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/read_quantization.ipp>  // IWYU pragma: export
#endif
