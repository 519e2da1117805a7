// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <llmcost/cli/pages/sweep_plot.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/simulation/cluster.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/simulate.hpp>
#include <llmcost/simulation/summary.hpp>

// The output of `llmcost simulate`: text, JSON, CSV of requests, a Chrome trace of engine steps, and a chart.
namespace llmcost::cli {

/// The results of `llmcost simulate`.
struct simulation_response {
    const deployment& deployment_of_server;
    const llmcost::simulated_engine& simulated_engine;
    const simulation_config& config;
    const simulation_result& result;
    simulation_summary summary{};
    request_slo bounds{};
    std::string load;                               ///< description of the workload
    double devices = 1;                             ///< number of devices of all engines
    double joules = 0;                              ///< energy of all devices
    const deployment* decode_deployment = nullptr;  ///< of decode workers that differ from prefill workers
    double decode_devices = 0;                      ///< number of their devices
    std::int64_t engines = 1;
    std::int64_t num_media_tokens = 0;  ///< multimodal input tokens of each request
};

namespace detail {

std::string simulated_text(const simulation_response& a);

std::string simulated_json(const simulation_response& a);

/// One CSV row per request.
std::string simulated_csv(const simulation_response& a);

/// A Chrome trace of the engine steps; consecutive equal steps are one span.
std::string simulated_timeline(const simulation_response& a);

/// Running requests, waiting requests and KV cache utilization over time: means over 240 equal intervals.
swept_chart simulated_chart(const simulation_response& a);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/simulate_page.ipp>  // IWYU pragma: export
#endif
