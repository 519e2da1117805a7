// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/parallelism_options.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/commands/device_comparison.hpp>
#include <llmcost/cli/commands/step_estimate.hpp>
#include <llmcost/cli/pages/train_page.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/torch_options.hpp>
#include <llmcost/memory/training_step.hpp>

// `llmcost train`: the memory of a training step. `train_page.hpp` has the output.
//
// The steps of the command are those of `serve.hpp`: parse, validate, compute, print.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec loss{.name = "--loss",
                                  .value = "TYPE",
                                  .type = value_type::choice,
                                  .choices = "labels|sum|fused",
                                  .help =
                                      "labels: the model's loss; sum: sum of the outputs; fused: fused linear "
                                      "cross-entropy (default labels)"};
inline constexpr option_spec dropout{.name = "--dropout",
                                     .value = "0|keep",
                                     .type = value_type::choice,
                                     .choices = "0|keep",
                                     .help = "keep: use the dropout rates of the configuration (default 0)"};
inline constexpr option_spec torch_device{.name = "--on",
                                          .value = "cpu|cuda",
                                          .type = value_type::choice,
                                          .choices = "cpu|cuda",
                                          .help =
                                              "device that runs PyTorch: cpu, or cuda with its kernels and its caching "
                                              "allocator (default cpu)"};
inline constexpr option_spec json{.name = "--json", .help = "print JSON: --format json"};
inline constexpr option_spec step_seconds{.name = "--step-seconds",
                                          .value = "S",
                                          .type = value_type::text,
                                          .help = "measured step time; reports MFU and HFU for --device"};

inline constexpr option_spec micro_batch = [] {
    option_spec row = batch;
    row.aliases[1] = "--micro-batch-size";
    row.aliases[2] = "--micro-batch";
    return row;
}();

}  // namespace option

/// The options of a training step that accept lists.
inline constexpr std::array training_lists{accepts_list(option::micro_batch), accepts_list(option::sequence),
                                           accepts_list(option::encoder_sequence)};

namespace detail {

/// Parses schedule and loss of a training step. Throws: `usage`.
training_plan parse_training_plan(const arguments& args);
/// The type of the products of a training step: of `--precision`, or of the weights.
dtype products_of(const arguments& args, const workload& load);
/// The workload of a training step. Throws: `usage`.
workload training_workload(const arguments& args);

/// The precision of a training step; without `--precision` that of the configuration (`dtype="auto"`).
int precision_of(const arguments& args, const model& m);
/// Completes a workload with the model: its sizes, the precision and the attention implementation.
///
/// Source: transformers/modeling_utils.py, `from_pretrained` (`dtype="auto"`) and
/// `_check_and_adjust_attn_implementation`.
void complete_training_workload(const arguments& args, const model& m, workload& load);

/// With mixed precision of FSDP, the pass has the type in which parameters are gathered.
///
/// Source: torch/distributed/fsdp/_fully_shard/_fsdp_api.py, `MixedPrecisionPolicy`.
void set_fsdp_types(training_schedule& schedule, workload& load);

/// Completes a plan with the model: workload, adapter and quantized base weights. Throws: `usage`.
void finish_training_plan(training_plan& plan, requested_adapter& adapter, const arguments& args, const streams& io,
                          const parsed_model& read, workload& load);

/// Throws: `usage` for sizes of a job that contradict each other or the model.
void check_parallelism(const training_parallelism& parallel, const model& m);

/// The memory of a training step. `read` must outlive the result. Throws: `usage`.
training_response compute_training(const arguments& args, const parsed_model& read, const workload& load,
                                   const training_plan& plan, const requested_adapter& adapter,
                                   const memory_limit& limit);

}  // namespace detail

/// Runs `llmcost train`.
[[nodiscard]] command_output run_train(const arguments& args, const program& io);

/// The options of a training step: section "Training", then "Parallelism".
inline constexpr std::array training_options = concatenate(
    with_section("Training", concatenate(std::array{option::optimizer, option::adapter, option::lora, option::qlora,
                                                    option::freeze, option::precision, option::implementation,
                                                    option::loss, option::dropout, option::torch_device},
                                         schedule_options)),
    with_section("Parallelism", sharding_options));

inline constexpr std::array train_options = concatenate(
    with_section("Model", model_options), with_section("Workload", training_lists),
    with_section("Multimodal inputs", multimodal_options), training_options, training_parallelism_options,
    with_section("Hardware",
                 concatenate(device_list_options, std::array{option::compile, option::compile_mode, option::torch_host,
                                                             option::tf32, option::network, option::step_seconds})),
    with_section("Cost", std::array{option::tokens, option::price}),
    with_section("Output", std::array{option::format, option::json, option::plot}), help_option);

inline constexpr std::array<command_example, 6> train_examples{{
    {"llmcost train --model meta-llama/Llama-3.2-1B --batch 4 --sequence 512", "full fine-tuning with AdamW"},
    {"llmcost train --model mistralai/Mistral-7B-v0.1 --adapter lora:r=16 --precision bf16 --memory 24GB",
     "LoRA fine-tuning in 24 GB"},
    {"llmcost train --model Qwen/Qwen3-8B --recompute full --optimizer adamw8bit --device h100_sxm",
     "activation checkpointing and an 8-bit optimizer"},
    {"llmcost train --model Qwen/Qwen3-0.6B --batch 1,2,4,8 --memory 24GB",
     "a table of batch sizes, with those that fit"},
    {"llmcost train --model Qwen/Qwen3-0.6B --plot step.svg", "memory over time as a chart"},
    {"llmcost train --model Qwen/Qwen3-0.6B --precision bf16-mixed --format json", "the memory timeline as JSON"},
}};

inline constexpr command train_command{
    .name = "train",
    .summary = "Compute the memory of a training step",
    .usage = "(--model NAME | --config FILE) [options]",
    .description =
        "Computes the memory of a training step: peak memory by category, memory per layer, and memory\n"
        "after the forward pass, the backward pass and the optimizer step. The categories are those of\n"
        "PyTorch's memory tracker. Reference: eager PyTorch on the CPU or, with --on cuda, on a GPU;\n"
        "adapters as in PEFT.\n"
        "LIST: 1,8,64..512:x2. A list prints a table.\n"
        "With --device, also estimates time, energy and price; a list of devices prints a table.\n"
        "Exit code 8: the step does not fit into --memory or --device.\n",
    .options = train_options,
    .run = run_train,
    .examples = train_examples};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/train.ipp>  // IWYU pragma: export
#endif
