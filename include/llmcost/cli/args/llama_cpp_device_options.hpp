// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <llmcost/cli/args/llama_cpp_options.hpp>
#include <llmcost/cli/args/options.hpp>

// The options of llama.cpp that affect the time of a step, with its names.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec backend{
    .name = "--backend",
    .value = "NAME",
    .type = value_type::choice,
    .choices = "cuda|rocm|vulkan|metal|cpu",
    .help = "llama.cpp's backend (default: cuda, rocm or metal by vendor, else vulkan or cpu)"};
inline constexpr option_spec host_device{
    .name = "--cpu",
    .value = "NAME",
    .type = value_type::text,
    .help = "CPU with layers or experts that are not on devices (default: desktop_ddr5_5600)"};

inline constexpr option_spec ram{
    .name = "--ram",
    .value = "SIZE",
    .type = value_type::text,
    .help = "memory of the CPU, for layers or experts that do not fit into the device (default: none is used)"};
inline constexpr option_spec local_context{.name = "--context",
                                           .aliases = {"-c", "--ctx-size"},
                                           .value = "N",
                                           .type = value_type::number,
                                           .help = "tokens that must fit (default 4096)"};

inline constexpr option_spec parallel{.name = "--parallel",
                                      .aliases = {"-np"},
                                      .value = "N",
                                      .type = value_type::number,
                                      .help = "slots of llama-server (default: as many as users)"};

}  // namespace option

/// The options of the time of a step with `--engine llama.cpp`.
inline constexpr std::array llama_cpp_time_options{
    option::backend,     option::gpu_layers,   option::tensor_split, option::cpu_moe,    option::override_tensor,
    option::ubatch_size, option::cache_type_k, option::cache_type_v, option::flash_attn, option::host_device};

/// The options of `llmcost fit` with `--engine llama.cpp`.
inline constexpr std::array llama_cpp_fit_options{
    option::local_context,
    option::backend,
    option::host_device,
    with_help(option::ram,
              "memory of the CPU, for layers or experts that do not fit into the device (default: no limit)"),
    with_help(option::gpu_layers, "layers on devices, the output is one of them (default: as many as fit)"),
    with_help(option::tensor_split, "share of the layers on each device (default: by the memory of each device)"),
    with_help(option::cpu_moe, "first layers, whose experts stay on the CPU (default: as few as possible)"),
    option::override_tensor,
    option::mmproj,
    option::no_mmproj_offload,
    option::ubatch_size,
    with_help(option::cache_type_k, "type of cached keys (default: f16, q8_0 and q4_0)"),
    with_help(option::cache_type_v, "type of cached values (default: f16, q8_0 and q4_0)"),
    option::flash_attn,
    option::swa_full};

/// The options of `llmcost serve` with `--engine llama.cpp`.
inline constexpr std::array llama_cpp_serve_options = concatenate(std::array{option::parallel}, llama_cpp_time_options);

}  // namespace llmcost::cli
