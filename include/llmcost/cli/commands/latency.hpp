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
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/device_comparison.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/deployment.hpp>
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

/// A parsed `llmcost latency` command line.
struct latency_request {
    workload_request work{};
    bool is_training = false;
    training_schedule schedule{};  ///< optimizer and activation checkpointing; used by a training step
    output_format format = output_format::text;
};

/// The time of one forward pass.
struct latency_response {
    timed_step step{};
    std::string step_description{};  ///< `step of 16 x 1 token after 1,000 cached tokens`
    count needed{};                  ///< bytes of memory per device
    double watts = 0;                ///< mean power per device
};

/// The time of one training step.
struct latency_training_response {
    training_plan plan{};
    training_cost cost{};
    double watts = 0;  ///< mean power per device
};

namespace detail {

/// The last two parts of a module path, e.g. `self_attn.q_proj+k_proj+v_proj`.
std::string short_name(const model_kernel& k);
/// The operator type and the sizes of a kernel, e.g. `gemm m 16 n 1,280 k 8,192`; long type names are shortened.
std::string kernel_label(const operator_shape& shape);

/// The inputs of a step and the tokens in the KV cache, e.g. `16 x 1 token after 1,000 cached tokens`.
std::string step_label(const model& m, const workload& load);

/// Writes the memory that each device needs, and whether it fits.
void write_memory(json_writer& json, const deployment& p, count needed, std::int64_t pipeline = 1);

/// The name of an engine as its project writes it.
std::string engine_title(const engine& engine);

/// `meta-llama/Llama-3.1-70B, 4 x H200 SXM (tp 4), vLLM, weights fp8, KV cache fp8`.
std::string deployment_title(const deployment& p, std::int64_t pipeline = 1);

/// What the prediction interval is based on.
std::string_view evidence_label(serving_evidence evidence);

/// Checks that the deployment supports the request. Throws: `usage`.
void validate(const latency_request& request, const deployment& deployment);

/// The time, memory and power of a forward pass.
latency_response compute(const latency_request& request, const deployment& deployment);

/// The time, memory and power of a training step.
latency_training_response compute_training(const latency_request& request, const deployment& deployment);

/// The inputs of a step over all data-parallel ranks: tokens, images, recordings or samples.
double inputs_of(const deployment& p, const workload& load);

}  // namespace detail

namespace option {

inline constexpr option_spec recompute_layers{.name = "--recompute",
                                              .value = "TYPE",
                                              .type = value_type::choice,
                                              .choices = "none|full",
                                              .help = "activation checkpointing: none or full (default none)"};

}  // namespace option

inline constexpr std::array latency_options = concatenate(
    with_section(
        "Workload",
        std::array{option::batch,
                   with_help(option::sequence, "new tokens per sequence (default 1; 1024 with --training)"),
                   option::past, option::encoder_sequence, option::ragged_batch,
                   with_help(option::logits,
                             "positions for which the head computes logits: all, last or none (default last)")}),
    with_section("Multimodal inputs", multimodal_options),
    with_section("Training", std::array{option::training, option::optimizer, option::adapter, option::lora,
                                        option::qlora, option::recompute_layers}),
    with_section("Parallelism", parallel_options),
    with_section("Hardware and engine", concatenate(std::array{option::device_list}, engine_options)),
    with_section("Precision", concatenate(precision_options, std::array{option::quantization, option::routing})),
    with_section("Cost", cost_options), with_section("Model", model_options),
    with_section("Output", std::array{option::format}), help_option);

/// Runs `llmcost latency`.
[[nodiscard]] command_output run_latency(const arguments& args, const program& io);

inline constexpr std::array<command_example, 2> latency_examples{{
    {"llmcost latency --model Qwen/Qwen3-8B --device h200 --engine vllm --batch 16 --past 1000",
     "a decode step of 16 sequences"},
    {"llmcost latency --model Qwen/Qwen3-8B --device h200 --training --batch 4", "a training step"},
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
