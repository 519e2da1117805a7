// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/llama_cpp_request.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/memory/llama_cpp_memory.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/llama_cpp_step.hpp>

// `llmcost latency --engine llama.cpp`: the speed of a GGUF file on a local machine.
namespace llmcost::cli {

namespace detail {

inline constexpr std::string_view llama_cpp_engine_name = "llama.cpp";

/// A model and the tensors of its GGUF file.
struct llama_cpp_model {
    parsed_model read;
    std::vector<llama_cpp_tensor> tensors{};
    bool is_approximate = false;  ///< the types of its tensors are not known; all matrices have the type of the mix
    std::string label{};          ///< `weights as in q4_k_m checkpoints`

    /// The size of the file without the encoder of images or audio, which is a file of its own.
    [[nodiscard]] count file_bytes() const;
};

/// A device with the CPU next to it.
struct llama_cpp_machine {
    std::shared_ptr<kernel_library> library{};  ///< owner of the device
    llama_cpp_processors processors{};

    /// The device, or the CPU without one.
    [[nodiscard]] const device& main_device() const noexcept {
        return processors.gpu != nullptr ? *processors.gpu : *processors.host;
    }
};

/// The speed of prompts and of generation.
struct llama_cpp_speed {
    llama_cpp_step_time step{};  ///< of the workload
    llama_cpp_step_time prompt{};
    llama_cpp_step_time generation{};
    std::int64_t prompt_tokens = 512;
    std::int64_t depth = 0;  ///< tokens in the cache during generation
    llama_cpp_memory memory{};
};

/// Reads the model and gives each tensor its GGUF type.
///
/// If the rules of its conversion are not known, all matrices have the type of the mix. Throws: as `program::read`.
[[nodiscard]] llama_cpp_model read_llama_cpp_model(const arguments& args, const program& io);

/// Divides the tensors of a model into those of its GGUF file, and sets the devices of those that a rule matches.
///
/// Throws: `unsupported` if the GGUF names of its tensors are not known.
void override_tensors(llama_cpp_model& m, const std::vector<tensor_override>& overrides);

/// The device of `--device`, and the CPU of `--cpu`. Throws: `usage`.
[[nodiscard]] llama_cpp_machine parse_llama_cpp_machine(const arguments& args, std::string_view device_name);

/// The speed of a model with `tokens` on a machine.
[[nodiscard]] llama_cpp_speed llama_cpp_speed_of(const llama_cpp_model& m, const llama_cpp_step_tokens& tokens,
                                                 const llama_cpp_options& options, const llama_cpp_machine& machine);

/// `123.4 tokens/s (110 to 135)`.
[[nodiscard]] std::string tokens_per_second(const llama_cpp_step_time& time, std::int64_t tokens);

/// Writes a speed in tokens per second, with its interval.
void write_speed(json_writer& json, std::string_view key, const llama_cpp_step_time& time, std::int64_t tokens);

/// Runs `llmcost latency --engine llama.cpp`.
[[nodiscard]] command_output run_llama_cpp_latency(const arguments& args, const program& io);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/llama_cpp_latency.ipp>  // IWYU pragma: export
#endif
