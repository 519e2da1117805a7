// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
#include <llmcost/cli/commands/faster_step.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/parallel_training.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/timed_step.hpp>
#include <llmcost/serving/training.hpp>
#include <llmcost/torch/step.hpp>

// The output of `llmcost latency`, and labels that other commands use.
namespace llmcost::cli {

/// A parsed `llmcost latency` command line.
struct latency_request {
    workload_request work{};
    bool is_training = false;
    /// of a complete training plan and workload of PyTorch, which `llmcost train` has
    const training_plan* plan = nullptr;
    training_schedule schedule{};  ///< optimizer and activation checkpointing; used by a training step
    bool has_job = false;          ///< a training step on many devices
    training_job job{};
    output_format format = output_format::text;
};

/// The time of one forward pass.
struct latency_response {
    timed_step step{};
    std::string step_description{};             ///< `step of 16 x 1 token after 1,000 cached tokens`
    count needed{};                             ///< bytes of memory per device
    double watts = 0;                           ///< mean power per device
    std::optional<torch_step> torch{};          ///< with `--engine torch`
    std::vector<detail::faster_step> faster{};  ///< without an engine
};

/// The time of one training step.
struct latency_training_response {
    training_plan plan{};
    training_cost cost{};
    double watts = 0;                                  ///< mean power per device
    std::optional<torch_step> torch{};                 ///< with `--engine torch`
    std::vector<detail::faster_step> faster{};         ///< changes of the program
    std::optional<parallel_training_cost> parallel{};  ///< of a job on many devices
    training_job job{};
    std::vector<std::string> assumptions{};
    bool has_memory = true;  ///< whether `cost.memory` is that of the job
};

namespace detail {

/// The last two parts of a module path, e.g. `self_attn.q_proj+k_proj+v_proj`.
std::string short_name(const model_kernel& k);
/// The operator type and the sizes of a kernel, e.g. `gemm m 16 n 1,280 k 8,192`; long type names are shortened.
std::string kernel_label(const operator_shape& shape);

/// The inputs of a step and the tokens in the KV cache, e.g. `16 x 1 token after 1,000 cached tokens`.
std::string step_label(const model& m, const workload& load);

/// The phases of a training step: time, FLOP/s and memory bandwidth.
std::string training_phase_lines(const training_cost& t, const optimizer_spec& optimizer);

/// Writes the memory that each device needs, and whether it fits.
void write_memory(json_writer& json, const deployment& p, count needed, std::int64_t pipeline = 1);

/// The name of an engine as its project writes it.
std::string engine_title(const engine& engine);

/// `meta-llama/Llama-3.1-70B, 4 x H200 SXM (tp 4), vLLM, weights fp8, KV cache fp8`.
std::string deployment_title(const deployment& p, std::int64_t pipeline = 1);

/// What the prediction interval is based on.
std::string_view evidence_label(serving_evidence evidence);

/// The inputs of a step over all data-parallel ranks: tokens, images, recordings or samples.
double inputs_of(const deployment& p, const workload& load);

/// A suffix of a batch that each data-parallel rank has; empty for one rank.
[[nodiscard]] std::string group_text(const parallel_config& s);

[[nodiscard]] std::string latency_json(const deployment& p, const workload_request& work,
                                       const latency_response& response);

[[nodiscard]] table latency_table(const timed_step& step);

[[nodiscard]] std::string latency_text(const deployment& p, const latency_response& response);

/// Inputs per second of all devices of a training step.
[[nodiscard]] double inputs_per_second(const deployment& p, const workload& load,
                                       const latency_training_response& response);

/// Model FLOPs utilization of a training step.
[[nodiscard]] double model_flops_utilization(const deployment& p, const latency_training_response& response);

[[nodiscard]] std::string training_json(const deployment& p, const workload& load,
                                        const latency_training_response& response);

/// The phases of a training step as a table; each row is one device.
[[nodiscard]] table training_phase_table(const latency_training_response& response);

[[nodiscard]] std::string training_text(const deployment& p, const workload& load,
                                        const latency_training_response& response);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/latency_text.ipp>  // IWYU pragma: export
#endif
