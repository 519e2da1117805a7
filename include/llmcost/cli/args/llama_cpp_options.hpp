// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <llmcost/cli/args/options.hpp>

// The options of llama.cpp that affect memory, with its names.
namespace llmcost::cli {

namespace option {

inline constexpr std::string_view ggml_cache_types = "f32|f16|bf16|q8_0|q4_0|q4_1|iq4_nl|q5_0|q5_1";

inline constexpr option_spec gpu_layers{.name = "--gpu-layers",
                                        .aliases = {"-ngl", "--n-gpu-layers"},
                                        .value = "N",
                                        .type = value_type::number,
                                        .help = "layers on devices, the output is one of them (default: all)"};
inline constexpr option_spec tensor_split{.name = "--tensor-split",
                                          .aliases = {"-ts"},
                                          .value = "LIST",
                                          .type = value_type::text,
                                          .help = "share of the layers on each device, e.g. 3,1 (default: one device)"};
inline constexpr option_spec cpu_moe{.name = "--n-cpu-moe",
                                     .aliases = {"-ncmoe"},
                                     .value = "N",
                                     .type = value_type::number,
                                     .help = "first layers, whose experts stay on the CPU (default 0)"};
inline constexpr option_spec override_tensor{
    .name = "--override-tensor",
    .aliases = {"-ot"},
    .value = "REGEX=DEVICE,...",
    .type = value_type::text,
    .help = "device of tensors whose GGUF name matches: CPU, GPU0, CUDA0; e.g. exps=CPU; repeatable",
    .is_repeatable = true};
inline constexpr option_spec mmproj{.name = "--mmproj",
                                    .value = "FILE",
                                    .type = value_type::file,
                                    .help = "GGUF file of the encoder of images or audio"};
inline constexpr option_spec no_mmproj_offload{.name = "--no-mmproj-offload",
                                               .help = "the encoder of --mmproj stays on the CPU"};
inline constexpr option_spec memory_draft_model{
    .name = "--draft-model",
    .aliases = {"-md", "--model-draft"},
    .value = "NAME|FILE",
    .type = value_type::file,
    .help = "draft model, with all layers on the devices; also of vllm and sglang"};
inline constexpr option_spec ubatch_size{.name = "--ubatch-size",
                                         .aliases = {"-ub"},
                                         .value = "N",
                                         .type = value_type::number,
                                         .help = "tokens of a physical batch (default 512)"};
inline constexpr option_spec cache_type_k{.name = "--cache-type-k",
                                          .aliases = {"-ctk"},
                                          .value = "TYPE",
                                          .type = value_type::choice,
                                          .choices = ggml_cache_types,
                                          .help = "type of cached keys (default f16)"};
inline constexpr option_spec cache_type_v{.name = "--cache-type-v",
                                          .aliases = {"-ctv"},
                                          .value = "TYPE",
                                          .type = value_type::choice,
                                          .choices = ggml_cache_types,
                                          .help = "type of cached values (default f16)"};
inline constexpr option_spec flash_attn{.name = "--flash-attn",
                                        .aliases = {"-fa"},
                                        .value = "MODE",
                                        .type = value_type::choice,
                                        .choices = "on|off|auto",
                                        .help = "flash attention: on, off or auto (default auto: on)"};
inline constexpr option_spec swa_full{.name = "--swa-full", .help = "layers with sliding windows store all tokens"};

}  // namespace option

/// The options of `--engine llama.cpp`.
inline constexpr std::array llama_cpp_option_specs{
    option::gpu_layers,         option::tensor_split, option::cpu_moe,
    option::override_tensor,    option::mmproj,       option::no_mmproj_offload,
    option::memory_draft_model, option::ubatch_size,  option::cache_type_k,
    option::cache_type_v,       option::flash_attn,   option::swa_full};

}  // namespace llmcost::cli
