// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>

// The files of `llmcost plan --save`: launch script, Kubernetes manifest, Dynamo deployment.
//
// Source: NVIDIA Dynamo 1.3 (examples/backends/*/deploy), llm-d (guides/pd-disaggregation), and the engines of
// `engine_command.hpp`.
namespace llmcost::cli {

/// The replicas of a deployment, and the launch command of each.
struct saved_deployment {
    std::string command;        ///< of one engine, as `launch_command` returns it
    std::int64_t replicas = 1;  ///< engines; prefill workers if there are decode workers
    std::int64_t decode_workers = 0;
    std::int64_t devices = 1;  ///< of one engine
    std::int64_t nodes = 1;    ///< of one engine

    [[nodiscard]] bool is_disaggregated() const noexcept { return decode_workers > 0; }
};

/// The files `launch.sh`, `kubernetes.yaml` and `dynamo.yaml` of a deployment, in a directory.
///
/// There is no `kubernetes.yaml` for engines on several nodes, and for disaggregated TensorRT-LLM.
[[nodiscard]] std::vector<output_file> deployment_files(const std::string& directory, const deployment& p,
                                                        const saved_deployment& saved);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/deployment_files.ipp>  // IWYU pragma: export
#endif
