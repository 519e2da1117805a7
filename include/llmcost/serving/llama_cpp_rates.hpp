// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <llmcost/devices/device.hpp>

// The rates that llama.cpp's backends reach.
namespace llmcost {

/// A backend of llama.cpp.
enum class llama_cpp_backend : std::uint8_t { cuda, rocm, vulkan, metal, cpu };
inline constexpr std::string_view llama_cpp_backend_names[]{"cuda", "rocm", "vulkan", "metal", "cpu"};

/// Classes of GGUF types that share kernels.
enum class ggml_type_class : std::uint8_t {
    half,      ///< F16
    bfloat,    ///< BF16
    single,    ///< F32
    quantized  ///< blocks of integers
};

/// The rates of a backend on one generation of devices, as fractions of the datasheet.
struct llama_cpp_rates {
    llama_cpp_backend backend{};
    std::int32_t min_capability = 0;      ///< CUDA: lowest compute capability of the generation, e.g. 89
    std::string_view title_prefix{};      ///< of devices of the generation; empty: all
    double half_bandwidth = 1;            ///< share of the memory bandwidth that products with one token reach: F16
    double bfloat_bandwidth = 1;          ///< BF16
    double quantized_bandwidth = 1;       ///< quantized types
    double unit_bandwidth = 0;            ///< GB/s that one compute unit reads at most; 0: no limit
    double quantized_unit_bandwidth = 0;  ///< GB/s of quantized weights that one compute unit decodes; 0: no limit
    double half_peak = 1;                 ///< share of the 16-bit peak that products of prompts reach: F16
    double bfloat_peak = 1;               ///< BF16
    double quantized_peak = 1;            ///< quantized types
    double token_peak = 0;                ///< share of the peak at which weights are decoded for one token; 0: no limit
    double half_per_watt = 0;             ///< TFLOP/s per watt of the board at most: F16; 0: no limit
    double quantized_per_watt = 0;        ///< quantized types
    double dequantization_passes = 0;     ///< part of writing and reading weights as F16 that products do not hide
    double cache_bandwidth = 1;           ///< share of the memory bandwidth that flash attention reaches with one token
    double eager_cache_bandwidth = 1;     ///< without flash attention
    double attention_peak = 1;            ///< share of the 16-bit peak that flash attention of prompts reaches
    double score_passes = 7;              ///< without flash attention: reads and writes of float32 scores of a prompt
    double activation_passes = 2;         ///< reads and writes of float32 results between products
    double launch_seconds = 0;            ///< of an operation
    double launch_seconds_per_unit = 0;   ///< of an operation, for each compute unit: a barrier of threads
    double crossing_seconds = 0;          ///< of a change of the device
    double generation_interval =
        0.2;                       ///< nine of ten measured generation speeds differ by at most this factor, minus 1
    double prompt_interval = 0.3;  ///< nine of ten measured prompt speeds differ by at most this factor, minus 1
};

// Fitted on llama-bench tables (docs/local-machines.md), except where a comment has another source. Generations
// without measurements have the values of the nearest one, with wider intervals. The first entry that matches counts.
//
// CUDA: XiongjieDai/GPU-Benchmarks-on-LLM-Inference, builds of May 2024, without flash attention; all cards except A100
// SXM. A fit of generation without RTX A6000, RTX 3080, RTX 4080 and H100 PCIe has a median error of 5.7 % on them (p90
// 11.3 %). Prompts are limited by power: TFLOP/s per watt agree within a generation, shares of the peak do not.
// `cache_bandwidth` and `attention_peak` are assumed to be near those of Vulkan and ROCm.
// ROCm, Vulkan: kyuz0/amd-strix-halo-toolboxes, one device, with flash attention; Vulkan with RADV.
// Metal: the tables of May 2024, M1 Max and M3 Max. CPU: geerlingguy/ai-benchmarks, generation only: five CPUs. The
// barrier of threads is that of AmpereOne with 192 cores. Arm cores of Raspberry Pi and CIX decode slower than their
// memory.
// clang-format off
inline constexpr llama_cpp_rates llama_cpp_rate_table[]{
    {.backend = llama_cpp_backend::cuda, .min_capability = 100, .half_bandwidth = 0.93, .bfloat_bandwidth = 0.93, .quantized_bandwidth = 0.949, .unit_bandwidth = 10.2,
     .half_peak = 0.85, .bfloat_peak = 0.85, .quantized_peak = 0.85, .half_per_watt = 0.481, .quantized_per_watt = 0.478, .dequantization_passes = 0.5,
     .cache_bandwidth = 0.67, .eager_cache_bandwidth = 0.349, .attention_peak = 0.25, .launch_seconds = 3.6e-6, .crossing_seconds = 2.6e-4, .generation_interval = 0.2, .prompt_interval = 0.5},
    {.backend = llama_cpp_backend::cuda, .min_capability = 90, .half_bandwidth = 0.93, .bfloat_bandwidth = 0.93, .quantized_bandwidth = 0.949, .unit_bandwidth = 10.2,
     .half_peak = 0.85, .bfloat_peak = 0.85, .quantized_peak = 0.85, .half_per_watt = 0.562, .quantized_per_watt = 0.505, .dequantization_passes = 0.5,
     .cache_bandwidth = 0.67, .eager_cache_bandwidth = 0.349, .attention_peak = 0.25, .launch_seconds = 3.6e-6, .crossing_seconds = 2.6e-4, .generation_interval = 0.13, .prompt_interval = 0.3},
    {.backend = llama_cpp_backend::cuda, .min_capability = 89, .half_bandwidth = 0.93, .bfloat_bandwidth = 0.93, .quantized_bandwidth = 0.949, .unit_bandwidth = 10.2,
     .half_peak = 0.85, .bfloat_peak = 0.85, .quantized_peak = 0.85, .half_per_watt = 0.481, .quantized_per_watt = 0.478, .dequantization_passes = 0.5,
     .cache_bandwidth = 0.67, .eager_cache_bandwidth = 0.349, .attention_peak = 0.25, .launch_seconds = 3.6e-6, .crossing_seconds = 2.6e-4, .generation_interval = 0.13, .prompt_interval = 0.3},
    {.backend = llama_cpp_backend::cuda, .min_capability = 86, .half_bandwidth = 0.93, .bfloat_bandwidth = 0.93, .quantized_bandwidth = 0.949, .unit_bandwidth = 10.2,
     .half_peak = 0.85, .bfloat_peak = 0.85, .quantized_peak = 0.85, .half_per_watt = 0.216, .quantized_per_watt = 0.243, .dequantization_passes = 0.5,
     .cache_bandwidth = 0.67, .eager_cache_bandwidth = 0.349, .attention_peak = 0.25, .launch_seconds = 3.6e-6, .crossing_seconds = 2.6e-4, .generation_interval = 0.13, .prompt_interval = 0.3},
    {.backend = llama_cpp_backend::cuda, .min_capability = 80, .half_bandwidth = 0.93, .bfloat_bandwidth = 0.93, .quantized_bandwidth = 0.949, .unit_bandwidth = 10.2,
     .half_peak = 0.85, .bfloat_peak = 0.85, .quantized_peak = 0.85, .half_per_watt = 0.435, .quantized_per_watt = 0.404, .dequantization_passes = 0.5,
     .cache_bandwidth = 0.67, .eager_cache_bandwidth = 0.349, .attention_peak = 0.25, .launch_seconds = 3.6e-6, .crossing_seconds = 2.6e-4, .generation_interval = 0.13, .prompt_interval = 0.3},
    {.backend = llama_cpp_backend::cuda, .half_bandwidth = 0.93, .bfloat_bandwidth = 0.6, .quantized_bandwidth = 0.949, .unit_bandwidth = 10.2,
     .half_peak = 0.85, .bfloat_peak = 0.3, .quantized_peak = 0.85, .half_per_watt = 0.216, .quantized_per_watt = 0.243, .dequantization_passes = 0.5,
     .cache_bandwidth = 0.67, .eager_cache_bandwidth = 0.349, .attention_peak = 0.25, .launch_seconds = 3.6e-6, .crossing_seconds = 2.6e-4, .generation_interval = 0.25, .prompt_interval = 0.6},
    {.backend = llama_cpp_backend::rocm, .half_bandwidth = 0.85, .bfloat_bandwidth = 0.83, .quantized_bandwidth = 0.9,
     .half_peak = 0.3, .bfloat_peak = 0.146, .quantized_peak = 0.275,
     .cache_bandwidth = 0.55, .eager_cache_bandwidth = 0.35, .attention_peak = 0.15, .launch_seconds = 3.7e-6, .crossing_seconds = 2.6e-4, .generation_interval = 0.2, .prompt_interval = 0.6},
    {.backend = llama_cpp_backend::vulkan, .half_bandwidth = 0.85, .bfloat_bandwidth = 0.6, .quantized_bandwidth = 0.9,
     .half_peak = 0.3, .bfloat_peak = 0.095, .quantized_peak = 0.27,
     .cache_bandwidth = 0.67, .eager_cache_bandwidth = 0.35, .attention_peak = 0.125, .launch_seconds = 2.5e-6, .crossing_seconds = 2.6e-4, .generation_interval = 0.3, .prompt_interval = 0.8},
    {.backend = llama_cpp_backend::metal, .title_prefix = "Apple M1", .half_bandwidth = 0.742, .bfloat_bandwidth = 0.742, .quantized_bandwidth = 0.8, .quantized_unit_bandwidth = 6,
     .half_peak = 0.612, .bfloat_peak = 0.5, .quantized_peak = 0.468,
     .cache_bandwidth = 0.6, .eager_cache_bandwidth = 0.148, .attention_peak = 0.3, .launch_seconds = 4.5e-6, .generation_interval = 0.25, .prompt_interval = 0.3},
    {.backend = llama_cpp_backend::metal, .title_prefix = "Apple M2", .half_bandwidth = 0.742, .bfloat_bandwidth = 0.742, .quantized_bandwidth = 0.8, .quantized_unit_bandwidth = 6,
     .half_peak = 0.612, .bfloat_peak = 0.5, .quantized_peak = 0.468,
     .cache_bandwidth = 0.6, .eager_cache_bandwidth = 0.148, .attention_peak = 0.3, .launch_seconds = 4.5e-6, .generation_interval = 0.35, .prompt_interval = 0.4},
    {.backend = llama_cpp_backend::metal, .half_bandwidth = 0.918, .bfloat_bandwidth = 0.918, .quantized_bandwidth = 0.8,
     .half_peak = 0.808, .bfloat_peak = 0.7, .quantized_peak = 0.702,
     .cache_bandwidth = 0.6, .eager_cache_bandwidth = 0.141, .attention_peak = 0.3, .launch_seconds = 4.5e-6, .generation_interval = 0.25, .prompt_interval = 0.3},
    {.backend = llama_cpp_backend::cpu, .title_prefix = "Raspberry Pi", .half_bandwidth = 0.65, .bfloat_bandwidth = 0.5, .quantized_bandwidth = 0.7,
     .half_peak = 0.4, .bfloat_peak = 0.3, .quantized_peak = 0.4, .token_peak = 0.19,
     .cache_bandwidth = 0.5, .eager_cache_bandwidth = 0.4, .attention_peak = 0.2, .launch_seconds_per_unit = 2.5e-7, .generation_interval = 0.4, .prompt_interval = 1},
    {.backend = llama_cpp_backend::cpu, .title_prefix = "CIX", .half_bandwidth = 0.65, .bfloat_bandwidth = 0.5, .quantized_bandwidth = 0.7,
     .half_peak = 0.4, .bfloat_peak = 0.3, .quantized_peak = 0.4, .token_peak = 0.19,
     .cache_bandwidth = 0.5, .eager_cache_bandwidth = 0.4, .attention_peak = 0.2, .launch_seconds_per_unit = 2.5e-7, .generation_interval = 0.4, .prompt_interval = 1},
    {.backend = llama_cpp_backend::cpu, .half_bandwidth = 0.65, .bfloat_bandwidth = 0.5, .quantized_bandwidth = 0.7,
     .half_peak = 0.4, .bfloat_peak = 0.3, .quantized_peak = 0.4,
     .cache_bandwidth = 0.5, .eager_cache_bandwidth = 0.4, .attention_peak = 0.2, .launch_seconds_per_unit = 2.5e-7, .generation_interval = 0.4, .prompt_interval = 1},
};
// clang-format on

/// The rates of a backend on a device.
[[nodiscard]] const llama_cpp_rates& rates_of(llama_cpp_backend backend, const device& d) noexcept;

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/llama_cpp_rates.ipp>  // IWYU pragma: export
#endif
