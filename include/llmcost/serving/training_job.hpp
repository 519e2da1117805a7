// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/serving/training_attention.hpp>

// How a training job is divided and communicates, for the time of its step.
namespace llmcost {

/// Which communication runs at the same time as computation.
struct training_overlap {
    bool data = true;       ///< gradient reduction under backward, parameter gathering under forward
    bool tensor = false;    ///< collectives of tensor parallelism under products
    bool expert = false;    ///< all-to-all of experts under other computation of the layer
    bool pipeline = false;  ///< messages between stages
};

/// How a job is trained, in addition to `training_plan`.
struct training_job {
    training_parallelism parallel{};
    sharding_strategy sharding = sharding_strategy::ddp;
    bool reshards_after_forward = true;    ///< FSDP, ZeRO-3: gathers parameters again in backward
    bool reduces_each_microbatch = false;  ///< FSDP, ZeRO-2, ZeRO-3: reduces the gradients of each microbatch
    double gathered_bytes = 2;             ///< of a gathered parameter
    double reduced_bytes = 4;              ///< of a reduced gradient
    training_overlap overlap{};
    const attention_kernel_spec* attention = nullptr;  ///< null: the calibration of prefill attention
    std::vector<std::string> recomputed_modules{};     ///< of selective recomputation; empty: core_attn
    std::int64_t recomputed_layers = -1;               ///< first layers that full recomputation repeats; −1: all
    double host_seconds_per_launch = -1;               ///< of eager kernels; −1: by the execution
};

}  // namespace llmcost
