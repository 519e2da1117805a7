// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/serving/training_search.hpp>

// Request and result of `llmcost plan --training`.
namespace llmcost::cli::detail {

/// The command line of a plan with `--training`.
struct training_plan_request {
    std::vector<std::int64_t> devices{};  ///< numbers of devices
    std::int64_t sequence = 0;            ///< 0: default
    std::int64_t global_batch = 0;        ///< sequences; 0: `global_batch_tokens`
    std::int64_t global_batch_tokens = 0;
    double tokens = 0;  ///< of the training; 0: not given
    training_search_space space{};
    memory_limit limit{};
    output_format format = output_format::text;
};

/// What is searched of a program: its sharding and recomputation.
struct training_strategy {
    split_rules rules = split_rules::megatron;
    bool is_sharded = true;  ///< distributed optimizer, or FSDP
    bool reshards_after_forward = true;
    recompute_mode recompute = recompute_mode::none;
};

/// The result of a plan: a search for each number of devices.
struct training_plan_response {
    deployment placed{};
    std::string model_name{};
    std::vector<std::string> model_options{};  ///< of the command line, for `llmcost train`
    std::string network{};                     ///< value of `--network`; empty: not given
    std::vector<training_strategy> strategies{};
    std::vector<training_search_result> results{};
    std::int64_t num_layers = 1;
    std::int64_t num_experts = 0;
    bool has_cuda = true;
    training_plan_request request{};
};

}  // namespace llmcost::cli::detail
