// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/serve_request.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/files/benchmark_results.hpp>
#include <llmcost/serving/calibration_fit.hpp>
#include <llmcost/serving/engine_calibration.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/server.hpp>

// Rows of benchmark results with the kernel costs of their deployments, for `llmcost calibrate`.
namespace llmcost::cli::detail {

/// Measured loads of an engine on a device, ready for a fit.
struct calibration_rows {
    const engine* shipped = nullptr;
    std::string device;  ///< its first name
    std::string device_title;
    std::vector<std::string> models;  ///< distinct, in the order of the rows
    std::vector<measured_load> rows{};
    prediction_interval shipped_interval{};
    /// Calls `visit` with each of these rows and its server, whose kernel times have these factors.
    std::function<void(const kernel_time_factors& factors, const std::vector<std::size_t>& rows,
                       const std::function<void(std::size_t, server&)>& visit)>
        for_each_server{};
};

/// The rows of results, with the deployment of the command line. Sizes of a result replace those of options.
///
/// Throws: `does_not_fit`; `usage` if a result has another engine or device, or lacks a length.
[[nodiscard]] calibration_rows read_deployed_rows(const arguments& args, const program& io,
                                                  std::vector<benchmark_result> results);

/// The rows of CSV files with models (`serve --configs`). Rows that cannot be predicted are left out, with a warning.
///
/// Throws: `io`; `usage` if a row has another engine or device.
[[nodiscard]] calibration_rows read_table_rows(const arguments& args, const program& io,
                                               const std::vector<std::string>& files);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/calibration_rows.ipp>  // IWYU pragma: export
#endif
