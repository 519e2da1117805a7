// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/serving/engines.hpp>

// The options of commands that estimate times: the device and the kernel measurements.
namespace llmcost::cli {

namespace detail {

template <class Rows>
std::vector<std::string_view> names_in(const Rows& rows) {
    std::vector<std::string_view> names;
    for (const auto& row : rows) names.emplace_back(row.name);
    return names;
}
std::vector<std::string_view> device_names(const program&);
inline std::vector<std::string_view> operand_names(const program&) { return names_in(operand_types); }
inline std::vector<std::string_view> engine_names(const program&) { return names_in(engines); }

}  // namespace detail

namespace option {

inline constexpr option_spec device{.name = "--device",
                                    .aliases = {"-d"},
                                    .value = "NAME|FILE",
                                    .type = value_type::file,
                                    .help =
                                        "device from llmcost devices, a datasheet file, or here (the calibrated local "
                                        "GPU)",
                                    .completions = detail::device_names};
inline constexpr option_spec calibration{.name = "--calibration",
                                         .value = "FILE|DIR",
                                         .type = value_type::file,
                                         .help =
                                             "kernel measurements, a directory of them, the file of llmcost "
                                             "calibrate (FILE,DIR: both), or none"};
inline constexpr option_spec fit_devices{.name = "--devices",
                                         .value = "N",
                                         .type = value_type::number,
                                         .help = "tensor-parallel devices; results are per device (default 1)"};

}  // namespace option

/// Throws: `usage` for a number of devices in `--device`, e.g. `4xH100`; the message names the option for the number.
void reject_device_count(const arguments& args);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/device_options.ipp>  // IWYU pragma: export
#endif
