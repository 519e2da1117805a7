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

}  // namespace option

/// The options of the time of a step with `--engine llama.cpp`.
inline constexpr std::array llama_cpp_time_options{
    option::backend,     option::gpu_layers,   option::tensor_split, option::cpu_moe,    option::override_tensor,
    option::ubatch_size, option::cache_type_k, option::cache_type_v, option::flash_attn, option::host_device};

}  // namespace llmcost::cli
