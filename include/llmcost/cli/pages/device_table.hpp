// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/request/memory_fit.hpp>

// A table of devices: whether a workload fits, headroom, time, energy and price.
namespace llmcost::cli {

/// The unit of a figure; the text output rounds it accordingly.
enum class figure_unit : std::uint8_t { seconds, per_second, joules, price, number, hours };

/// A column of a device table.
struct device_figure {
    std::string name;   ///< column of CSV and member of JSON: `step_seconds`
    std::string title;  ///< column of the other formats: `step time`
    figure_unit unit = figure_unit::number;
};

/// The results of one device.
struct device_row {
    std::string device;             ///< printable: `h100_sxm`
    memory_limit limit{};           ///< not set if the datasheet has no memory size
    count needed{};                 ///< bytes per device
    std::vector<double> figures{};  ///< in the order of the columns; 0: unknown
    std::string problem{};          ///< why figures are missing; empty: none is missing
    bool is_out_of_memory = false;  ///< does not fit, as the engine reserves a part of the memory

    [[nodiscard]] bool fits() const { return limit.is_set() && !is_out_of_memory && limit.fits(needed); }
};

/// Metrics of one workload on several devices.
struct device_comparison {
    std::string model;
    std::string title;  ///< lines above the table, without the model
    std::vector<device_figure> figures;
    std::vector<device_row> rows{};
    std::string assumptions{};  ///< lines below the table
};

/// A number with the digits that identify it.
[[nodiscard]] std::string exact_number(double x);

/// Prints the table. CSV and JSON have exact numbers.
[[nodiscard]] std::string print(const device_comparison& comparison, output_format format);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/device_table.ipp>  // IWYU pragma: export
#endif
