// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/schedule.hpp>

// The launch of a training job in each framework.
//
// Source: torchtitan 0.3.0rc4, torchtitan/config/configs.py; Megatron-LM (core 0.13), megatron/training/arguments.py
// and docs of Megatron-FSDP ("Required Configurations"); Megatron Bridge 167ba2ad,
// docs/megatron-lm-to-megatron-bridge.md; DeepSpeed 18e7227e, deepspeed/runtime/tensor_parallel/config.py,
// deepspeed/runtime/zero/config.py.
namespace llmcost::cli {

/// A training job that a framework launches.
struct launched_job {
    training_parallelism parallel{};
    sharding_strategy sharding = sharding_strategy::zero1;
    bool reshards_after_forward = true;
    recompute_mode recompute = recompute_mode::none;
    std::int64_t batch = 1;  ///< sequences of a microbatch
    std::int64_t global_batch = 1;
    std::int64_t sequence = 1;
    std::int64_t num_layers = 1;
    std::int64_t devices_per_node = 8;
};

/// How a framework launches a job.
struct framework_launch {
    std::string framework{};
    std::string command{};
    std::string remark{};  ///< what the framework does otherwise; empty: nothing
};

/// The launches of a job in torchtitan, Megatron-LM, NeMo (Megatron Bridge) and DeepSpeed.
[[nodiscard]] std::vector<framework_launch> framework_launches(const launched_job& job);

/// The argument of `--pipeline-model-parallel-layout` of Megatron-LM: layers of each stage.
///
/// `Et*3|t*3|t*2L`: embedding and 3 layers, 3 layers, 2 layers and the loss.
[[nodiscard]] std::string pipeline_layout(std::int64_t num_layers, std::int64_t num_stages);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/training_launch.ipp>  // IWYU pragma: export
#endif
