// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <string>
#include <utility>

#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/report/json_writer.hpp>

namespace llmcost::cli {

namespace detail {

struct device_column {
    std::string_view name;   ///< key in a datasheet file
    std::string_view title;  ///< column title in the text output; empty: not included
    double device::*figure;
};

// clang-format off
inline constexpr std::array<device_column, 17> device_columns{{
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
    {"memory_bandwidth", "GB/s",   &device::memory_bandwidth},
    {"cache_megabytes",  "",       &device::cache_megabytes},
    {"units",            "",       &device::num_compute_units},
    {"link_bandwidth",   "link",   &device::link_bandwidth},
    {"pcie_bandwidth",   "",       &device::pcie_bandwidth},
    {"watts",            "W",      &device::thermal_design_watts},
    {"node_devices",     "",       &device::devices_per_node},
}};
// clang-format on

/// A datasheet value with the fewest digits; `none` if there is no value.
inline std::string datasheet_number(double n, std::string_view none) {
    if (n == 0) return std::string(none);
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), n).ptr;
    return {buffer.data(), end};
}

}  // namespace detail

/// Runs `llmcost devices`: prints the bundled datasheets. A missing value is not a number.
[[nodiscard]] inline command_output devices_answer(const arguments& args, const program&) {
    const auto format = static_cast<output_format>(args.choice(option::format));
    if (format == output_format::json) {
        json_writer json;
        json.object().key("devices").array();
        for (const device& d : devices) {
            json.object().member("name", d.names[0]).member("title", d.title).member("vendor", d.vendor);
            for (const detail::device_column& c : detail::device_columns)
                if (d.*c.figure != 0) json.member(c.name, d.*c.figure);
            json.end_object();
        }
        json.end_array().end_object();
        return json.text() + "\n";
    }
    const bool text = format == output_format::text;
    table t;
    t.columns = {{"name"}};
    if (!text) t.columns.insert(t.columns.end(), {{"title"}, {"vendor"}});
    for (const detail::device_column& c : detail::device_columns)
        if (!text || !c.title.empty()) t.columns.push_back({std::string(text ? c.title : c.name), true});
    for (const device& d : devices) {
        std::vector<std::string> row{std::string(d.names[0])};
        if (!text) row.insert(row.end(), {std::string(d.title), std::string(d.vendor)});
        for (const detail::device_column& c : detail::device_columns)
            if (!text || !c.title.empty()) row.push_back(detail::datasheet_number(d.*c.figure, text ? "-" : ""));
        t.rows.push_back(std::move(row));
    }
    if (!text) return written(t, format);
    return plain(t) + "Dense TFLOP/s (int8: TOP/s); GB/s: memory bandwidth; link: GB/s per direction between devices\n";
}

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
