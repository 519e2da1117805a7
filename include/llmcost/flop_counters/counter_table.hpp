// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include <llmcost/flop_counters/flop_counter.hpp>
#include <llmcost/flop_counters/observed_pass.hpp>

// Tables of FLOP counters.
//
// Source: the versions that `tests/oracle/flop_counters.py` ran: torch 2.15, deepspeed 0.19.8, calflops 0.3.2, ptflops
// 0.7.5, fvcore 0.1.5, thop 0.1.1, torchinfo 1.8.0.
namespace llmcost {

namespace detail {

inline constexpr call_cost no_cost{};
inline constexpr std::string_view full_dots = "a dot product of n terms counts n additions, and no bias";
inline constexpr std::string_view captured =
    "the module stores F.gelu when it is created, so a later patch has no effect";
inline constexpr std::string_view captured_silu =
    "the module stores F.silu when it is created, so a later patch has no effect";

// clang-format off
inline constexpr counter_rule flop_counter_rules[]{
    {"F.linear",                       "", tensor_condition::any, {.products = 2}, {}, full_dots, "torch/utils/flop_counter.py, mm_flop and addmm_flop"},
    {"torch.matmul",                   "", tensor_condition::any, {.products = 2}, {}, full_dots, "torch/utils/flop_counter.py, mm_flop and bmm_flop"},
    {"operator @",                     "", tensor_condition::any, {.products = 2}, {}, full_dots, "torch/utils/flop_counter.py, mm_flop and bmm_flop"},
    {"torch.bmm",                      "", tensor_condition::any, {.products = 2}, {}, full_dots, "torch/utils/flop_counter.py, bmm_flop"},
    {"torch.addmm",                    "", tensor_condition::any, {.products = 2}, {}, full_dots, "torch/utils/flop_counter.py, addmm_flop"},
    {"torch.baddbmm",                  "", tensor_condition::any, {.products = 2}, {}, full_dots, "torch/utils/flop_counter.py, baddbmm_flop"},
    {"torch.baddbmm, beta 0",          "", tensor_condition::any, {.products = 2}, {}, full_dots, "torch/utils/flop_counter.py, baddbmm_flop"},
    {"Tensor.baddbmm",                 "", tensor_condition::any, {.products = 2}, {}, full_dots, "torch/utils/flop_counter.py, baddbmm_flop"},
    {"torch.einsum",                   "", tensor_condition::any, {.products = 2}, {}, full_dots, "torch/utils/flop_counter.py, bmm_flop"},
    {"F.scaled_dot_product_attention", "", tensor_condition::any, {.products = 2}, {}, "two products; softmax, scale and mask are not counted", "torch/utils/flop_counter.py, sdpa_flop_count"},
    {"F.conv",                         "", tensor_condition::any, {.products = 2}, {}, full_dots, "torch/utils/flop_counter.py, conv_flop_count"},
    {"F.conv_transpose",               "", tensor_condition::any, {.products = 2}, {}, full_dots, "torch/utils/flop_counter.py, conv_flop_count"},
};

inline constexpr counter_rule deepspeed_rules[]{
    {"F.linear",                       "", tensor_condition::any, {.products = 2}, {.products = 1}, full_dots, "profiler.py, _linear_flops_compute"},
    {"torch.matmul",                   "", tensor_condition::any, {.input_elements_times_columns = 2}, {.input_elements_times_columns = 1}, full_dots, "profiler.py, _matmul_flops_compute"},
    {"operator @",                     "", tensor_condition::any, {.input_elements_times_columns = 2}, {.input_elements_times_columns = 1}, full_dots, "profiler.py, _matmul_flops_compute"},
    {"torch.bmm",                      "", tensor_condition::any, {.input_elements_times_columns = 2}, {.input_elements_times_columns = 1}, full_dots, "profiler.py, _matmul_flops_compute"},
    {"torch.addmm",                    "", tensor_condition::any, {.products = 2, .bias_elements = 1}, {.products = 1}, "a dot product of n terms counts n additions, a bias counts once per call", "profiler.py, _addmm_flops_compute"},
    {"torch.baddbmm",                  "", tensor_condition::any, {.input_elements_times_columns = 2, .bias_elements = 1}, {.input_elements_times_columns = 1}, "a dot product of n terms counts n additions, the added tensor counts once", "profiler.py, _tensor_addmm_flops_compute"},
    {"torch.baddbmm, beta 0",          "", tensor_condition::any, {.input_elements_times_columns = 2, .bias_elements = 1}, {.input_elements_times_columns = 1}, "a dot product of n terms counts n additions, the added tensor counts once", "profiler.py, _tensor_addmm_flops_compute"},
    {decomposed_addmm,                 "", tensor_condition::meta, {.products = 2}, {.products = 1}, "on the meta device addmm is Python code that calls torch.mm, which is also patched", "torch/_decomp/decompositions.py, addmm"},
    {"torch.einsum",                   "", tensor_condition::any, {.path_flops = 1}, {}, "FLOPs of numpy's einsum_path, four significant digits; MACs 0", "profiler.py, _einsum_flops_compute"},
    {"F.scaled_dot_product_attention", "", tensor_condition::any, {.products = 2}, {.products = 1}, "two products; softmax, scale and mask are not counted", "profiler.py, _attn_flops_compute"},
    {"F.conv",                         "", tensor_condition::any, {.products = 2, .biased_outputs = 1}, {.products = 1}, "a dot product of n terms counts n additions", "profiler.py, _conv_flops_compute"},
    {"F.conv_transpose",               "", tensor_condition::any, {.products = 2, .biased_outputs = 1}, {.products = 1}, "a dot product of n terms counts n additions", "profiler.py, _conv_trans_flops_compute"},
    {"F.softmax",                      "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "profiler.py, _softmax_flops_compute"},
    {"torch.mul",                      "", tensor_condition::any, {.outputs = 1}, {}, "1 for each result; the operator * is not counted", "profiler.py, _mul_flops_compute"},
    {"F.layer_norm",                   "", tensor_condition::any, {.inputs = 4, .affine_inputs = 1}, {}, "5 for each element, 4 without a weight", "profiler.py, _layer_norm_flops_compute"},
    {"F.group_norm",                   "", tensor_condition::any, {.inputs = 4, .affine_inputs = 1}, {}, "5 for each element, 4 without a weight", "profiler.py, _group_norm_flops_compute"},
    {"F.batch_norm",                   "", tensor_condition::any, {.inputs = 2}, {}, "2 for each element", "profiler.py, _batch_norm_flops_compute"},
    {"F.batch_norm of a batch",        "", tensor_condition::any, {.inputs = 4}, {}, "4 for each element, with batch statistics and without a weight", "profiler.py, _batch_norm_flops_compute"},
    {"F.gelu",                         "GELUActivation", tensor_condition::any, {}, {}, captured, "transformers/activations.py, GELUActivation"},
    {"F.gelu",                         "GELUTanh", tensor_condition::any, {}, {}, captured, "transformers/activations.py, GELUTanh"},
    {"F.gelu",                         "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "profiler.py, _gelu_flops_compute"},
    {"F.silu",                         "Lfm2MoeExperts", tensor_condition::any, {}, {}, captured_silu, "transformers/models/lfm2_moe, Lfm2MoeExperts"},
    {"F.silu",                         "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "profiler.py, _silu_flops_compute"},
    {"F.relu",                         "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "profiler.py, _relu_flops_compute"},
    {"clamp",                          "ReLU6", tensor_condition::any, {}, {}, "nn.ReLU6 calls F.hardtanh, which is not patched", "profiler.py, _relu6_flops_compute"},
    {"F.avg_pool",                     "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "profiler.py, _pool_flops_compute"},
    {"F.interpolate",                  "", tensor_condition::meta, {.outputs = 3, .output_positions = 1}, {}, "1 for each element of one channel; on the meta device it is Python code that calls torch.mul three times", "torch/_decomp/decompositions.py, _upsample_linear"},
    {"F.interpolate",                  "", tensor_condition::any, {.output_positions = 1}, {}, "1 for each element of one channel", "profiler.py, _upsample_flops_compute"},
    {"F.max_pool",                     "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "profiler.py, _pool_flops_compute"},
    {"mean",                           "AdaptiveAvgPool2d", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "profiler.py, _pool_flops_compute"},
    {"mean",                           "AdaptiveAvgPool1d", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "profiler.py, _pool_flops_compute"},
};

inline constexpr counter_rule calflops_rules[]{
    {"F.linear",                       "", tensor_condition::any, {.products = 2}, {.products = 1}, full_dots, "pytorch_ops.py, _linear_flops_compute"},
    {"torch.matmul",                   "", tensor_condition::any, {.input_elements_times_columns = 2}, {.input_elements_times_columns = 1}, full_dots, "pytorch_ops.py, _matmul_flops_compute"},
    {"operator @",                     "", tensor_condition::any, {}, {}, "Tensor.__matmul__ is not patched", "pytorch_ops.py, _patch_tensor_methods"},
    {"torch.bmm",                      "", tensor_condition::any, {}, {}, "the line that patches it is commented out", "pytorch_ops.py, _patch_tensor_methods"},
    {"torch.addmm",                    "", tensor_condition::any, {.products = 2, .bias_elements = 1}, {.products = 1}, "a dot product of n terms counts n additions, a bias counts once per call", "pytorch_ops.py, _addmm_flops_compute"},
    {"torch.baddbmm",                  "", tensor_condition::any, {.input_elements_times_columns = 2, .bias_elements = 1}, {.input_elements_times_columns = 1}, "a dot product of n terms counts n additions, the added tensor counts once", "pytorch_ops.py, _tensor_addmm_flops_compute"},
    {"torch.baddbmm, beta 0",          "", tensor_condition::any, {.input_elements_times_columns = 2, .bias_elements = 1}, {.input_elements_times_columns = 1}, "a dot product of n terms counts n additions, the added tensor counts once", "pytorch_ops.py, _tensor_addmm_flops_compute"},
    {"torch.einsum",                   "", tensor_condition::any, {.path_flops = 1}, {}, "FLOPs of numpy's einsum_path, four significant digits; MACs 0", "pytorch_ops.py, _einsum_flops_compute"},
    {"F.scaled_dot_product_attention", "", tensor_condition::any, {}, {}, "not patched: attention is not counted", "pytorch_ops.py, _patch_functionals"},
    {"F.conv",                         "", tensor_condition::any, {.products = 2, .biased_outputs = 1}, {.products = 1}, "a dot product of n terms counts n additions", "pytorch_ops.py, _conv_flops_compute"},
    {"F.conv_transpose",               "", tensor_condition::any, {.products = 2, .biased_outputs = 1}, {.products = 1}, "a dot product of n terms counts n additions", "pytorch_ops.py, _conv_trans_flops_compute"},
    {"F.softmax",                      "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "pytorch_ops.py, _softmax_flops_compute"},
    {"torch.mul",                      "", tensor_condition::any, {.outputs = 1}, {}, "1 for each result; the operator * is not counted", "pytorch_ops.py, _mul_flops_compute"},
    {"F.layer_norm",                   "", tensor_condition::any, {.inputs = 4, .affine_inputs = 1}, {}, "5 for each element, 4 without a weight", "pytorch_ops.py, _layer_norm_flops_compute"},
    {"F.group_norm",                   "", tensor_condition::any, {.inputs = 4, .affine_inputs = 1}, {}, "5 for each element, 4 without a weight", "pytorch_ops.py, _group_norm_flops_compute"},
    {"F.batch_norm",                   "", tensor_condition::any, {.inputs = 2}, {}, "2 for each element", "pytorch_ops.py, _batch_norm_flops_compute"},
    {"F.batch_norm of a batch",        "", tensor_condition::any, {.inputs = 4}, {}, "4 for each element, with batch statistics and without a weight", "pytorch_ops.py, _batch_norm_flops_compute"},
    {"F.gelu",                         "GELUActivation", tensor_condition::any, {}, {}, captured, "transformers/activations.py, GELUActivation"},
    {"F.gelu",                         "GELUTanh", tensor_condition::any, {}, {}, captured, "transformers/activations.py, GELUTanh"},
    {"F.gelu",                         "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "pytorch_ops.py, _gelu_flops_compute"},
    {"F.silu",                         "Lfm2MoeExperts", tensor_condition::any, {}, {}, captured_silu, "transformers/models/lfm2_moe, Lfm2MoeExperts"},
    {"F.silu",                         "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "pytorch_ops.py, _silu_flops_compute"},
    {"F.relu",                         "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "pytorch_ops.py, _relu_flops_compute"},
    {"clamp",                          "ReLU6", tensor_condition::any, {}, {}, "nn.ReLU6 calls F.hardtanh, which is not patched", "pytorch_ops.py, _relu6_flops_compute"},
    {"F.avg_pool",                     "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "pytorch_ops.py, _pool_flops_compute"},
    {"F.interpolate",                  "", tensor_condition::any, {.output_positions = 1}, {}, "1 for each element of one channel", "pytorch_ops.py, _upsample_flops_compute"},
    {"F.max_pool",                     "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "pytorch_ops.py, _pool_flops_compute"},
    {"mean",                           "AdaptiveAvgPool2d", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "pytorch_ops.py, _pool_flops_compute"},
    {"mean",                           "AdaptiveAvgPool1d", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "pytorch_ops.py, _pool_flops_compute"},
};

inline constexpr counter_rule ptflops_aten_rules[]{
    {"F.linear",                       "", tensor_condition::any, {.products = 1, .addmm_outputs = 1}, {}, "a bias that addmm adds counts 1 for each result", "aten_ops.py, addmm_flop"},
    {"torch.matmul",                   "", tensor_condition::any, {.products = 1}, {}, "", "aten_ops.py, matmul_flop and bmm_flop"},
    {"operator @",                     "", tensor_condition::any, {.products = 1}, {}, "", "aten_ops.py, matmul_flop and bmm_flop"},
    {"torch.bmm",                      "", tensor_condition::any, {.products = 1}, {}, "", "aten_ops.py, bmm_flop"},
    {"torch.addmm",                    "", tensor_condition::any, {.products = 1, .addmm_outputs = 1}, {}, "a bias that addmm adds counts 1 for each result", "aten_ops.py, addmm_flop"},
    {"torch.baddbmm",                  "", tensor_condition::any, {}, {}, "baddbmm is not in its table", "aten_ops.py, ATEN_OPS_MAPPING"},
    {"torch.baddbmm, beta 0",          "", tensor_condition::any, {}, {}, "baddbmm is not in its table", "aten_ops.py, ATEN_OPS_MAPPING"},
    {"Tensor.baddbmm",                 "", tensor_condition::any, {}, {}, "baddbmm is not in its table", "aten_ops.py, ATEN_OPS_MAPPING"},
    {"torch.einsum",                   "", tensor_condition::any, {.products = 1}, {}, "", "aten_ops.py, bmm_flop"},
    {"F.scaled_dot_product_attention", "", tensor_condition::meta, {.products = 1}, {}, "on the meta device it is two batched products", "aten_ops.py, bmm_flop"},
    {"F.scaled_dot_product_attention", "", tensor_condition::real, {.unfused_products = 1}, {}, "the fused kernel is not in its table: attention is not counted", "aten_ops.py, ATEN_OPS_MAPPING"},
    {"F.conv",                         "", tensor_condition::any, {.products = 1, .biased_outputs = 1}, {}, "a bias counts 1 for each result", "aten_ops.py, conv_flop"},
    {"F.conv_transpose",               "", tensor_condition::any, {.products = 1, .biased_outputs = 1}, {}, "a bias counts 1 for each result", "aten_ops.py, conv_flop"},
};

inline constexpr counter_rule ptflops_pytorch_rules[]{
    {"F.linear",                       "Linear", tensor_condition::any, {.products = 1, .biased_outputs = 1}, {}, "a bias counts 1 for each result", "pytorch_ops.py, linear_flops_counter_hook"},
    {decomposed_addmm,                 "", tensor_condition::meta, {.products = 1}, {}, "on the meta device addmm is Python code that calls torch.mm, which is also patched", "torch/_decomp/decompositions.py, addmm"},
    {"F.linear",                       "", tensor_condition::any, {}, {}, "F.linear outside of nn.Linear is not patched", "pytorch_engine.py, patch_functional"},
    {"torch.matmul",                   "", tensor_condition::any, {.input_elements_times_columns = 1}, {}, "", "pytorch_ops.py, _matmul_tensor_flops_hook"},
    {"operator @",                     "", tensor_condition::any, {}, {}, "Tensor.__matmul__ is not patched", "pytorch_engine.py, patch_tensor_ops"},
    {"torch.bmm",                      "", tensor_condition::any, {.input_elements_times_columns = 1}, {}, "", "pytorch_ops.py, _matmul_tensor_flops_hook"},
    {"torch.addmm",                    "", tensor_condition::any, {.products = 1, .bias_elements = 1}, {}, "a bias counts once per call", "pytorch_ops.py, _addmm_tensor_flops_hook"},
    {"torch.baddbmm",                  "", tensor_condition::any, {.input_elements_times_columns = 1, .bias_elements = 1}, {}, "the added tensor counts once", "pytorch_ops.py, _addmm_tensor_flops_hook"},
    {"torch.baddbmm, beta 0",          "", tensor_condition::any, {.input_elements_times_columns = 1}, {}, "", "pytorch_ops.py, _addmm_tensor_flops_hook"},
    {"F.scaled_dot_product_attention", "", tensor_condition::any, {}, {}, "not patched: attention is not counted", "pytorch_engine.py, patch_functional"},
    {"F.conv",                         "Conv1d", tensor_condition::any, {.products = 1, .biased_outputs = 1}, {}, "a bias counts 1 for each result", "pytorch_ops.py, conv_flops_counter_hook"},
    {"F.conv",                         "Conv2d", tensor_condition::any, {.products = 1, .biased_outputs = 1}, {}, "a bias counts 1 for each result", "pytorch_ops.py, conv_flops_counter_hook"},
    {"F.conv",                         "Conv3d", tensor_condition::any, {.products = 1, .biased_outputs = 1}, {}, "a bias counts 1 for each result", "pytorch_ops.py, conv_flops_counter_hook"},
    {"F.conv_transpose",               "ConvTranspose2d", tensor_condition::any, {.products = 1, .biased_outputs = 1}, {}, "a bias counts 1 for each result", "pytorch_ops.py, conv_flops_counter_hook"},
    {"F.softmax",                      "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "pytorch_ops.py, _numel_functional_flops_hook"},
    {"torch.mul",                      "", tensor_condition::any, {.outputs = 1}, {}, "1 for each result; the operator * is not counted", "pytorch_ops.py, _elementwise_tensor_flops_hook"},
    {"F.layer_norm",                   "LayerNorm", tensor_condition::any, {.inputs = 1}, {}, "1 for each element: it reads `affine`, which LayerNorm does not have", "pytorch_ops.py, bn_flops_counter_hook"},
    {"F.group_norm",                   "GroupNorm", tensor_condition::any, {.inputs = 1, .affine_inputs = 1}, {}, "2 for each element", "pytorch_ops.py, bn_flops_counter_hook"},
    {"F.batch_norm",                   "BatchNorm2d", tensor_condition::any, {.inputs = 1, .affine_inputs = 1}, {}, "2 for each element", "pytorch_ops.py, bn_flops_counter_hook"},
    {"F.batch_norm",                   "BatchNorm1d", tensor_condition::any, {.inputs = 1, .affine_inputs = 1}, {}, "2 for each element", "pytorch_ops.py, bn_flops_counter_hook"},
    {"F.gelu",                         "GELUActivation", tensor_condition::any, {}, {}, captured, "transformers/activations.py, GELUActivation"},
    {"F.gelu",                         "GELUTanh", tensor_condition::any, {}, {}, captured, "transformers/activations.py, GELUTanh"},
    {"F.gelu",                         "GELU", tensor_condition::any, {.inputs = 2}, {}, "1 for each element by the module and 1 by the function in it", "pytorch_ops.py, MODULES_MAPPING and FUNCTIONAL_MAPPING"},
    {"F.gelu",                         "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "pytorch_ops.py, _numel_functional_flops_hook"},
    {"F.silu",                         "Lfm2MoeExperts", tensor_condition::any, {}, {}, captured_silu, "transformers/models/lfm2_moe, Lfm2MoeExperts"},
    {"F.silu",                         "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "pytorch_ops.py, _numel_functional_flops_hook"},
    {"F.relu",                         "ReLU", tensor_condition::any, {.inputs = 2}, {}, "1 for each element by the module and 1 by the function in it", "pytorch_ops.py, MODULES_MAPPING and FUNCTIONAL_MAPPING"},
    {"F.relu",                         "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "pytorch_ops.py, _numel_functional_flops_hook"},
    {"clamp",                          "ReLU6", tensor_condition::any, {.inputs = 1}, {}, "1 for each element by the module; the function in it is F.hardtanh", "pytorch_ops.py, MODULES_MAPPING"},
    {"F.avg_pool",                     "AvgPool2d", tensor_condition::any, {.inputs = 2}, {}, "1 for each element by the module and 1 by the function in it", "pytorch_ops.py, MODULES_MAPPING and FUNCTIONAL_MAPPING"},
    {"F.max_pool",                     "MaxPool2d", tensor_condition::any, {.inputs = 2}, {}, "1 for each element by the module and 1 by the function in it", "pytorch_ops.py, MODULES_MAPPING and FUNCTIONAL_MAPPING"},
    {"F.avg_pool",                     "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "pytorch_ops.py, _numel_functional_flops_hook"},
    {"F.interpolate",                  "", tensor_condition::any, {.outputs = 1}, {}, "1 for each result", "pytorch_ops.py, _interpolate_functional_flops_hook"},
    {"F.max_pool",                     "", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "pytorch_ops.py, _numel_functional_flops_hook"},
    {"mean",                           "AdaptiveAvgPool2d", tensor_condition::any, {.inputs = 2}, {}, "1 for each element by the module and 1 by the function in it", "pytorch_ops.py, MODULES_MAPPING and FUNCTIONAL_MAPPING"},
    {"mean",                           "AdaptiveAvgPool1d", tensor_condition::any, {.inputs = 2}, {}, "1 for each element by the module and 1 by the function in it", "pytorch_ops.py, MODULES_MAPPING and FUNCTIONAL_MAPPING"},
};

inline constexpr counter_rule fvcore_rules[]{
    {"F.linear",                       "", tensor_condition::any, {.products = 1}, {}, "", "jit_handles.py, linear_flop_jit"},
    {"torch.matmul",                   "", tensor_condition::any, {.input_elements_times_columns = 1}, {}, "", "jit_handles.py, matmul_flop_jit"},
    {"operator @",                     "", tensor_condition::any, {.input_elements_times_columns = 1}, {}, "", "jit_handles.py, matmul_flop_jit"},
    {"torch.bmm",                      "", tensor_condition::any, {.input_elements_times_columns = 1}, {}, "", "jit_handles.py, bmm_flop_jit"},
    {"torch.addmm",                    "", tensor_condition::any, {.products = 1}, {}, "", "jit_handles.py, addmm_flop_jit"},
    {"torch.einsum",                   "", tensor_condition::any, {.path_flops = 1, .divided_by = 2}, {}, "half of the FLOPs of numpy's einsum_path, four significant digits", "jit_handles.py, einsum_flop_jit"},
    {"F.scaled_dot_product_attention", "", tensor_condition::any, {}, {}, "it has no handle: attention is not counted", "flop_count.py, _DEFAULT_SUPPORTED_OPS"},
    {"torch.baddbmm",                  "", tensor_condition::any, {}, {}, "it has no handle", "flop_count.py, _DEFAULT_SUPPORTED_OPS"},
    {"torch.baddbmm, beta 0",          "", tensor_condition::any, {}, {}, "it has no handle", "flop_count.py, _DEFAULT_SUPPORTED_OPS"},
    {"Tensor.baddbmm",                 "", tensor_condition::any, {}, {}, "it has no handle", "flop_count.py, _DEFAULT_SUPPORTED_OPS"},
    {"F.conv",                         "", tensor_condition::any, {.products = 1}, {}, "", "jit_handles.py, conv_flop_jit"},
    {"F.conv_transpose",               "", tensor_condition::any, {.products = 1}, {}, "", "jit_handles.py, conv_flop_jit"},
    {"F.layer_norm",                   "", tensor_condition::any, {.inputs = 4, .affine_inputs = 1}, {}, "5 for each element, 4 without a weight", "jit_handles.py, norm_flop_counter"},
    {"F.group_norm",                   "", tensor_condition::any, {.inputs = 4, .affine_inputs = 1}, {}, "5 for each element, 4 without a weight", "jit_handles.py, norm_flop_counter"},
    {"F.batch_norm",                   "", tensor_condition::any, {.inputs = 2}, {}, "2 for each element", "jit_handles.py, batchnorm_flop_jit"},
    {"F.batch_norm of a batch",        "", tensor_condition::any, {.inputs = 4}, {}, "4 for each element, with batch statistics and without a weight", "jit_handles.py, batchnorm_flop_jit"},
    {"F.interpolate",                  "", tensor_condition::any, {.outputs = 4}, {}, "4 for each result", "flop_count.py, _DEFAULT_SUPPORTED_OPS"},
    {"mean",                           "AdaptiveAvgPool2d", tensor_condition::any, {.inputs = 1}, {}, "1 for each element", "flop_count.py, _DEFAULT_SUPPORTED_OPS"},
};

inline constexpr counter_rule thop_rules[]{
    {"F.linear",                       "Linear", tensor_condition::any, {.products = 1}, {}, "", "vision/basic_hooks.py, count_linear"},
    {"F.softmax",                      "Softmax", tensor_condition::any, {.inputs = 3, .rows = -1}, {}, "an exponential, an addition and a division for each element, less one addition per reduction", "vision/basic_hooks.py, count_softmax"},
    {"F.conv",                         "Conv1d", tensor_condition::any, {.products = 1}, {}, "", "vision/basic_hooks.py, count_convNd"},
    {"F.conv",                         "Conv2d", tensor_condition::any, {.products = 1}, {}, "", "vision/basic_hooks.py, count_convNd"},
    {"F.conv",                         "Conv3d", tensor_condition::any, {.products = 1}, {}, "", "vision/basic_hooks.py, count_convNd"},
    {"F.layer_norm",                   "LayerNorm", tensor_condition::any, {.inputs = 2, .affine_inputs = 2}, {}, "4 for each element, 2 without a weight", "vision/basic_hooks.py, count_normalization"},
    {"F.batch_norm",                   "BatchNorm1d", tensor_condition::any, {.inputs = 2, .affine_inputs = 2}, {}, "4 for each element, 2 without a weight", "vision/basic_hooks.py, count_normalization"},
    {"F.batch_norm",                   "BatchNorm2d", tensor_condition::any, {.inputs = 2, .affine_inputs = 2}, {}, "4 for each element, 2 without a weight", "vision/basic_hooks.py, count_normalization"},
    {"F.avg_pool",                     "AvgPool2d", tensor_condition::any, {.outputs = 1}, {}, "1 for each result", "vision/basic_hooks.py, count_avgpool"},
    {"mean",                           "AdaptiveAvgPool2d", tensor_condition::any, {.inputs = 1, .outputs = 1}, {}, "1 for each element and 1 for each result", "vision/basic_hooks.py, count_adap_avgpool"},
    {"mean",                           "AdaptiveAvgPool1d", tensor_condition::any, {.inputs = 1, .outputs = 1}, {}, "1 for each element and 1 for each result", "vision/basic_hooks.py, count_adap_avgpool"},
};

inline constexpr counter_figure_spec flops_alone[]{{"flops", figure_source::first_prices}};
inline constexpr counter_figure_spec flops_macs_params[]{
    {"flops", figure_source::first_prices}, {"macs", figure_source::second_prices}, {"params", figure_source::parameters}};
inline constexpr counter_figure_spec flops_macs_trainable[]{
    {"flops", figure_source::first_prices}, {"macs", figure_source::second_prices}, {"params", figure_source::trainable}};
inline constexpr counter_figure_spec macs_trainable[]{{"macs", figure_source::first_prices}, {"params", figure_source::trainable}};
inline constexpr counter_figure_spec macs_hooked[]{{"macs", figure_source::first_prices}, {"params", figure_source::hooked_parameters}};
inline constexpr counter_figure_spec torchinfo_figures[]{{"mult_adds", figure_source::module_products},
                                                {"params", figure_source::listed_parameters},
                                                {"trainable", figure_source::listed_trainable},
                                                {"output_bytes", figure_source::twice_outputs},
                                                {"param_bytes", figure_source::listed_bytes}};
inline constexpr counter_figure_spec formula_alone[]{{"flops", figure_source::formula_flops}};
inline constexpr counter_figure_spec llm_profiler_figures[]{
    {"flops", figure_source::formula_flops}, {"add", figure_source::formula_part},    {"mult", figure_source::formula_part},
    {"div", figure_source::formula_part},    {"sqrt", figure_source::formula_part},   {"params", figure_source::formula_part},
    {"cache", figure_source::formula_part},  {"act", figure_source::formula_part}};

inline constexpr flop_counter all_tools[]{
    {"flop_counter", "torch FlopCounterMode", "torch 2.15.0", "FLOPs of ATen's matrix products and convolutions, 2 per multiply-add; other operations are not counted",
     reference_metric::flops, flops_alone, flop_counter_rules, "the operation is not in its table", "torch/utils/flop_counter.py, flop_registry"},
    {"deepspeed", "DeepSpeed flops profiler", "deepspeed 0.19.8", "FLOPs and MACs of the PyTorch functions that it patches while the model runs",
     reference_metric::flops, flops_macs_params, deepspeed_rules, "not a function that the tool patches", "profiler.py, _patch_functionals and _patch_tensor_methods"},
    {"calflops", "calflops", "calflops 0.3.2", "FLOPs and MACs of the functions that it patches: those of DeepSpeed, except attention, bmm, mm and the operator @",
     reference_metric::flops, flops_macs_trainable, calflops_rules, "not a function that the tool patches", "pytorch_ops.py, _patch_functionals and _patch_tensor_methods"},
    {"ptflops", "ptflops, backend pytorch", "ptflops 0.7.5", "MACs of modules that it hooks and functions that it patches, plus elements of softmax, norms and activations",
     reference_metric::macs, macs_trainable, ptflops_pytorch_rules, "neither a module that it hooks nor a function that it patches", "pytorch_ops.py, MODULES_MAPPING and FUNCTIONAL_MAPPING"},
    {"ptflops-aten", "ptflops, backend aten", "ptflops 0.7.5", "MACs of ATen's matrix products and convolutions, with biases",
     reference_metric::macs, macs_trainable, ptflops_aten_rules, "the operation is not in its table", "aten_ops.py, ATEN_OPS_MAPPING"},
    {"fvcore", "fvcore FlopCountAnalysis", "fvcore 0.1.5.post20221221", "its flops are MACs of matrix products, convolutions and norms in a torch.jit trace",
     reference_metric::macs, flops_alone, fvcore_rules, "the operation has no handle", "flop_count.py, _DEFAULT_SUPPORTED_OPS"},
    {"thop", "thop", "thop 0.1.1.post2209072238", "MACs of nn.Linear, convolutions and norms by hooks; functions are not counted",
     reference_metric::macs, macs_hooked, thop_rules, "no module with a hook executes it", "profile.py, register_hooks"},
    {"torchinfo", "torchinfo", "torchinfo 1.8.0", "mult-adds: parameters of a layer times the batch, independent of the sequence length; functions are not counted",
     reference_metric::macs, torchinfo_figures, {}, "no layer with parameters executes it", "layer_info.py, calculate_macs"},
    {"llm-profiler", "LLM Profiler", "llm-profiler 9fedab7", "additions and multiplications by formulas for a LlamaConfig, without the head; linear layers omit the sequence length",
     reference_metric::flops, llm_profiler_figures, {}, "", "src/llama_hook.py", closed_formula::llm_profiler},
    {"6nd", "6 N D", "arXiv 2001.08361", "FLOPs of a training step: 6 for each parameter and token",
     reference_metric::step_flops, formula_alone, {}, "", "section 2.1", closed_formula::six_n_d},
    {"palm", "PaLM's count", "arXiv 2204.02311", "FLOPs of a training step: 6 N + 12 L H Q T for each token, the definition for MFU",
     reference_metric::step_flops, formula_alone, {}, "", "appendix B", closed_formula::palm},
};
// clang-format on

}  // namespace detail

/// All counters, in the order of the output.
inline constexpr std::span<const flop_counter> flop_counters = detail::all_tools;

/// The counter with this name, or null.
[[nodiscard]] constexpr const flop_counter* find_counter(std::string_view name) noexcept {
    for (const flop_counter& c : flop_counters)
        if (c.name == name) return &c;
    return nullptr;
}

}  // namespace llmcost
