// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/devices/device.hpp>

namespace llmcost::cli {

namespace detail {

struct device_column {
    std::string_view name;   ///< key in a datasheet file
    std::string_view title;  ///< column title in the text output; empty: not included
    double device::*figure;
};

// clang-format off
inline constexpr std::array<device_column, 18> device_columns{{
    {"fp64",             "",       &device::fp64},
    {"fp64_tensor",      "",       &device::fp64_tensor},
    {"fp32",             "",       &device::fp32},
    {"tf32",             "",       &device::tf32},
    {"bf16",             "bf16",   &device::bf16},
    {"fp16",             "",       &device::fp16},
    {"fp8",              "fp8",    &device::fp8},
    {"int8",             "int8",   &device::int8},
    {"fp4",              "fp4",    &device::fp4},
    {"memory_gigabytes", "GB",     &device::memory_gigabytes},
    {"visible_gibibytes", "GiB",   &device::visible_gibibytes},
    {"memory_bandwidth", "GB/s",   &device::memory_bandwidth},
    {"cache_megabytes",  "",       &device::cache_megabytes},
    {"units",            "",       &device::num_compute_units},
    {"link_bandwidth",   "link",   &device::link_bandwidth},
    {"pcie_bandwidth",   "",       &device::pcie_bandwidth},
    {"watts",            "W",      &device::thermal_design_watts},
    {"node_devices",     "",       &device::devices_per_node},
}};
// clang-format on

}  // namespace detail

/// Runs `llmcost devices`: prints the bundled datasheets. A missing value is not a number.
[[nodiscard]] command_output devices_answer(const arguments& args, const program&);

inline constexpr std::array devices_options =
    concatenate(with_section("Output", std::array{option::format}), help_option);

inline constexpr command devices_command{
    .name = "devices",
    .summary = "List the bundled device datasheets",
    .usage = "[options]",
    .description = "Lists the bundled device datasheets: compute throughput, memory and links.\n",
    .options = devices_options,
    .run = devices_answer};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/devices.ipp>  // IWYU pragma: export
#endif
