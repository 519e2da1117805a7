// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/llama_cpp_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/llama_cpp_graph.hpp>
#include <llmcost/memory/llama_cpp_memory.hpp>
#include <llmcost/memory/name_pattern.hpp>
#include <llmcost/report/json_writer.hpp>

// The memory of `--engine llama.cpp`: options, buffers and their text.
namespace llmcost::cli::detail {

/// Parses the options of llama.cpp. Throws: `usage` for an invalid value, or if the engine is another one.
[[nodiscard]] llama_cpp_options parse_llama_cpp_options(const arguments& args, const engine_memory_profile& profile);

/// The block of a type of the KV cache, by its place in `option::ggml_cache_types`.
[[nodiscard]] ggml_block cache_block(int choice);

/// The bytes of `--ram`, or a default. Throws: `usage`.
[[nodiscard]] std::uint64_t parse_ram(const arguments& args, std::uint64_t default_bytes);

/// A rule of `--override-tensor`.
struct tensor_override {
    name_pattern pattern;                              ///< anywhere in the GGUF name of a tensor
    std::int32_t device = llama_cpp_weight::by_layer;  ///< as `llama_cpp_weight::device`
};

/// Parses `--override-tensor`. Throws: `usage` for an invalid expression, or a device that does not exist.
///
/// Source: llama.cpp, common/arg.cpp, `parse_tensor_buffer_overrides`.
[[nodiscard]] std::vector<tensor_override> parse_tensor_overrides(const arguments& args,
                                                                  const llama_cpp_options& options);

/// Divides weights into the tensors of a GGUF file, and sets the device of those that a rule matches.
///
/// The first rule that matches counts. Source: src/llama-model-loader.cpp, `create_tensor` (`tensor_buft_overrides`).
[[nodiscard]] std::vector<llama_cpp_weight> with_overrides(const parsed_model& read,
                                                           const std::vector<llama_cpp_weight>& weights,
                                                           const std::vector<tensor_override>& overrides);

/// The tensors that a file has in addition to the parameters of its model: rotary frequencies, router corrections.
///
/// `assigned`: the bytes of the parameters.
[[nodiscard]] std::vector<llama_cpp_weight> additional_weights(const parsed_model& read, count assigned);

/// The buffers of a model in its stored types.
///
/// Throws: `unsupported` with overrides, if the GGUF names of the model's tensors are not known.
[[nodiscard]] llama_cpp_memory llama_cpp_buffers_of(const parsed_model& read, const workload& load,
                                                    const llama_cpp_options& options,
                                                    const std::vector<tensor_override>& overrides = {});

/// The largest `--gpu-layers` with which the buffers of each device have at most `device_bytes`.
///
/// 0 if no layer fits.
[[nodiscard]] std::int64_t max_gpu_layers(const parsed_model& read, const workload& load, llama_cpp_options options,
                                          const std::vector<tensor_override>& overrides, std::uint64_t device_bytes);

/// Reads the model of `--draft-model`; nothing without the option.
[[nodiscard]] std::optional<parsed_model> read_draft_model(arguments args, const program& io);

/// Adds the buffers of a draft model to those of its target model.
///
/// It has a context of the same length per sequence, and float16 caches. Source: llama.cpp,
/// tools/server/server-context.cpp, `load_model` (`params_dft`); common/common.h, `common_params_speculative`.
void add_draft_model(const parsed_model& draft, const workload& load, const llama_cpp_options& options,
                     llama_cpp_memory& memory, inference_memory& sums);

/// The bytes that a memory limit applies to: those of the largest device; without devices, those of the host.
[[nodiscard]] count largest_device_bytes(const llama_cpp_memory& memory);

/// The sums of all buffers, as the parts of `inference_memory`: the output buffer is `runtime_bytes`.
[[nodiscard]] inference_memory summed_buffers(const llama_cpp_memory& memory, count kv_cache_bytes);

/// The length of the cache of a sequence: `8,192 cells`, with a sliding cache `131,072 + 768 sliding cells`.
[[nodiscard]] std::string llama_cpp_cells(const llama_cpp_memory& memory);

/// The buffers as the log of llama.cpp lists them, in MiB.
///
///     GPU0 model buffer size = 4403.49 MiB
[[nodiscard]] std::string llama_cpp_log(const llama_cpp_memory& memory);

/// Writes the member `devices`: the buffers of each device, in bytes.
void write_llama_cpp_buffers(json_writer& json, const llama_cpp_memory& memory);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/llama_cpp_request.ipp>  // IWYU pragma: export
#endif
