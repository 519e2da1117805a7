// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/commands/calibration_rows.hpp>
#include <llmcost/cli/commands/serve_request.hpp>
#include <llmcost/serving/calibration_fit.hpp>
#include <llmcost/serving/engine_calibration.hpp>
#include <llmcost/serving/prediction_intervals.hpp>

// Text, JSON and file of `llmcost calibrate`.
namespace llmcost::cli::detail {

/// The result of `llmcost calibrate`.
struct calibrate_response {
    calibration_rows data{};
    engine_calibration calibration{};
    double prior_scale = 1;
    log_errors shipped{};    ///< of the shipped constants
    log_errors held_out{};   ///< of constants that were fitted without the row
    log_errors simulated{};  ///< of simulations with such constants
};

/// The file of a calibration: `read_engine_calibration` reads it.
[[nodiscard]] std::string calibration_json(const engine_calibration& c);

/// The constants as a table: shipped, fitted, distance, reason.
[[nodiscard]] table constants_table(const calibrate_response& r);

/// The text output. `out_file`: the written file, or empty.
[[nodiscard]] std::string calibrate_text(const calibrate_response& r, std::string_view out_file);

[[nodiscard]] std::string calibrate_json(const calibrate_response& r);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/calibrate_text.ipp>  // IWYU pragma: export
#endif
