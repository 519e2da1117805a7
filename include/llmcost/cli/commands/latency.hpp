// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/llama_cpp_device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/device_comparison.hpp>
#include <llmcost/cli/commands/latency_text.hpp>
#include <llmcost/cli/pages/step_time.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/torch_options.hpp>
#include <llmcost/cli/request/training_job_options.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/timed_step.hpp>
#include <llmcost/serving/training.hpp>

// `llmcost latency`: the time of one step of a model, kernel by kernel.
//
// The steps of the command are those of `serve.hpp`: parse, validate, compute, print.
namespace llmcost::cli {

namespace detail {

/// Parses the options of a step. Throws: `usage`.
latency_request parse_latency_request(const arguments& args);

/// Completes the workload with the defaults of the model. Throws: `usage` if the model does not support it.
void complete_latency_workload(latency_request& request, const arguments& args, const deployment& deployment);

/// Checks that the deployment supports the request. Throws: `usage`.
void validate(const latency_request& request, const deployment& deployment);

/// The time, memory and power of a forward pass.
latency_response compute(const latency_request& request, const deployment& deployment);

/// Replaces the values of an estimate that depend on the number of devices and microbatches by those of a job.
void set_job_estimate(step_estimate& estimate, const deployment& placed, const workload& load,
                      const latency_training_response& response);

/// The time, memory and power of a training step.
latency_training_response compute_training(const latency_request& request, const deployment& deployment);

}  // namespace detail

inline constexpr std::array latency_options = concatenate(
    with_section(
        "Workload",
        std::array{option::batch,
                   with_help(option::sequence, "new tokens per sequence (default 1; 1024 with --training)"),
                   option::past, option::encoder_sequence, option::ragged_batch,
                   with_help(option::logits,
                             "positions for which the head computes logits: all, last or none (default last)")}),
    with_section("Multimodal inputs", multimodal_options),
    with_section("Training",
                 std::array{option::training, option::optimizer, option::adapter, option::lora, option::qlora,
                            option::recomputation, option::precision, option::implementation}),
    with_section("Parallelism", parallel_options), with_section("Training on many devices", training_job_options),
    with_section("Hardware and engine",
                 std::array{option::device_list,
                            with_help(option::engine,
                                      "trtllm, vllm or sglang: its kernels and host overhead; torch: "
                                      "PyTorch; llama.cpp: GGUF files (default: fused kernels, no host overhead)"),
                            option::engine_version, option::calibration, option::torch_execution, option::network,
                            option::torch_host, option::tf32}),
    with_section("llama.cpp", llama_cpp_time_options),
    with_section("Precision", concatenate(precision_options, std::array{option::quantization, option::routing})),
    with_section("Cost", cost_options), with_section("Model", model_options),
    with_section("Output", std::array{option::format}), help_option);

/// Runs `llmcost latency`.
[[nodiscard]] command_output run_latency(const arguments& args, const program& io);

inline constexpr std::array<command_example, 3> latency_examples{{
    {"llmcost latency --model Qwen/Qwen3-8B --device h200 --engine vllm --batch 16 --past 1000",
     "a decode step of 16 sequences"},
    {"llmcost latency --model Qwen/Qwen3-8B --device h200 --training --batch 4", "a training step"},
    {"llmcost latency --model Qwen/Qwen3-0.6B --device h200 --engine torch --training --batch 4",
     "a training step of eager PyTorch, operator by operator"},
}};

inline constexpr command latency_command{
    .name = "latency",
    .summary = "Estimate the time of one step, kernel by kernel",
    .usage = "(--model NAME | --config FILE) --device NAME [options]",
    .description =
        "Estimates the time of one step, kernel by kernel, with the fused kernels of an inference engine.\n"
        "The default is a decode step: one new token per sequence. --sequence N is a prefill, --ragged a\n"
        "mixed prefill/decode batch, and --training a training step. Each data-parallel rank has this\n"
        "workload.\n"
        "Exit code 8: the step does not fit into the memory of the device.\n",
    .options = latency_options,
    .run = run_latency,
    .examples = latency_examples};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/latency.ipp>  // IWYU pragma: export
#endif
