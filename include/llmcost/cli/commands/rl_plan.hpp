// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/serving/rl_iteration.hpp>
#include <llmcost/serving/training_search.hpp>

// Request and result of `llmcost plan --rl`.
namespace llmcost::cli::detail {

/// Memory of a device in a phase, in bytes.
struct rl_memory {
    double rollout_bytes = 0;   ///< engine, and what the trainer keeps on colocated devices
    double trainer_bytes = 0;   ///< peak of a training step, with reference, critic and reward model
    double resident_bytes = 0;  ///< of the trainer in the rollout phase of colocated devices
    double memory_share = 0;    ///< of the device that the rollout engine uses
};

/// Trainer and rollout engine on devices.
struct rl_configuration {
    bool is_colocated = true;
    std::int64_t trainer_devices = 0;
    std::int64_t rollout_devices = 0;
    std::int64_t rollout_tp = 1;
    evaluated_training training{};
    std::string trainer_label{};  ///< `FSDP, tp 2, pp 1, dp 4`
    std::string train_command{};
    std::string simulate_command{};
    rl_parts parts{};
    rl_iteration iteration{};
    rl_memory memory{};
    double transfer_bytes = 0;  ///< that a rollout device receives
};

/// The command line of `llmcost plan --rl`.
struct rl_plan_request {
    rl_workload load{};
    std::int64_t devices = 8;
    std::int64_t iterations = 0;
    std::size_t num_results = 5;
    bool offloads = false;
    std::string response_length{};  ///< a number or a range
    output_format format = output_format::text;
};

struct rl_plan_response {
    rl_plan_request request{};
    std::string model_name{};
    std::string device_title{};
    std::string engine{};
    memory_limit limit{};
    double price_per_hour = 0;                       ///< of a device
    double weight_bytes = 0;                         ///< of the model in 16 bits
    std::vector<rl_configuration> configurations{};  ///< by the time of an iteration
    std::string problem{};                           ///< of the last configuration that does not fit
};

}  // namespace llmcost::cli::detail
