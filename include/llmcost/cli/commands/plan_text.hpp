// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/commands/serve_request.hpp>
#include <llmcost/cli/commands/simulate_request.hpp>
#include <llmcost/cli/pages/sweep_plot.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/multimodal_step.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/simulation/deployment_search.hpp>
#include <llmcost/simulation/request.hpp>

// The output of `llmcost plan`.
namespace llmcost::cli {

/// A parsed `llmcost plan` command line, without the workload and the candidates.
struct plan_request {
    request_slo targets{};
    std::string targets_text{};  ///< value of `--slo`
    double slo_quantile = 0.95;  ///< quantile of the prediction interval that must meet the targets
    std::int64_t devices = 8;    ///< maximum number of devices
    search_config search{};
    output_format format = output_format::text;
};

namespace detail {

/// A deployment and its server.
struct deployed_server {
    deployment deployment_of_server;
    std::optional<llmcost::server> server{};
    multimodal_cost multimodal_inputs{};  ///< cost of the multimodal inputs of each request
    bool quantizes_checkpoint = false;    ///< its weight type differs from that of the checkpoint
};
/// A candidate of the search: a server with a pipeline-parallel size.
struct deployed_engine {
    deployed_server* server = nullptr;
    std::int64_t pipeline_parallel_size = 1;

    [[nodiscard]] const deployment& deployment_of_server() const noexcept { return server->deployment_of_server; }
    [[nodiscard]] std::string launch_command(const evaluated_deployment& t) const;
    /// What the launch command does not contain: the number of nodes, and the type of the checkpoint.
    [[nodiscard]] std::string launch_remark() const;
    /// The number of nodes of an engine.
    [[nodiscard]] std::int64_t num_nodes() const noexcept;
};

/// The deployments that meet the targets, with their launch commands.
[[nodiscard]] std::string plan_text(const std::vector<deployed_engine>& candidates, const search_result& found,
                                    const std::string& title);

/// The deployments as a table with exact numbers: those that meet the targets, otherwise the closest ones.
[[nodiscard]] table deployment_table(const std::vector<deployed_engine>& candidates, const search_result& found);

/// The result of the search as JSON.
[[nodiscard]] std::string plan_json(const std::vector<deployed_engine>& candidates, const search_result& found);

/// Output throughput per device over output speed per user of all simulated deployments.
///
/// Each engine has points; the line is the Pareto front.
[[nodiscard]] swept_chart plan_chart(const std::vector<deployed_engine>& kinds, const search_result& found);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/plan_text.ipp>  // IWYU pragma: export
#endif
