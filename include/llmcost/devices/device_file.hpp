// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>

namespace llmcost {

namespace detail {

/// A figure in a device file: its object, its key and its member of `device`.
struct device_figure {
    literal group;
    literal key;
    double device::*member;
};

// clang-format off
inline constexpr device_figure device_figures[]{
    {"peak_tflops", "fp64",            &device::fp64},
    {"peak_tflops", "fp64_tensor",     &device::fp64_tensor},
    {"peak_tflops", "fp32",            &device::fp32},
    {"peak_tflops", "tf32",            &device::tf32},
    {"peak_tflops", "bf16",            &device::bf16},
    {"peak_tflops", "fp16",            &device::fp16},
    {"peak_tflops", "fp8",             &device::fp8},
    {"peak_tflops", "int8",            &device::int8},
    {"peak_tflops", "fp4",             &device::fp4},
    {"memory",      "gigabytes",       &device::memory_gigabytes},
    {"memory",      "visible_gibibytes", &device::visible_gibibytes},
    {"memory",      "bandwidth_gbps",  &device::memory_bandwidth},
    {"memory",      "cache_megabytes", &device::cache_megabytes},
    {"links",       "bandwidth_gbps",  &device::link_bandwidth},
    {"links",       "pcie_gbps",       &device::pcie_bandwidth},
    {"links",       "node_devices",    &device::devices_per_node},
    {"links",       "network_gbps",    &device::network_bandwidth},
    {"",            "units",           &device::num_compute_units},
    {"",            "fp32_lanes",      &device::fp32_lanes},
    {"",            "watts",           &device::thermal_design_watts},
    {"",            "price_per_hour",  &device::price_per_hour},
};
// clang-format on

/// Keys without figures: metadata for readers.
inline constexpr device_figure device_metadata_keys[]{
    {"memory", "type", nullptr},  {"links", "type", nullptr}, {"", "name", nullptr},       {"", "aliases", nullptr},
    {"", "vendor", nullptr},      {"", "sources", nullptr},   {"", "unverified", nullptr}, {"", "notes", nullptr},
    {"", "peak_tflops", nullptr}, {"", "memory", nullptr},    {"", "links", nullptr},
};

/// Rejects unknown keys, so that a misspelled key does not count as a missing figure.
///
/// Throws: `config_error`.
constexpr void check_device_keys(config_view object, string_ref group) {
    for (const config_view member : object) {
        bool known = false;
        for (const device_figure& f : device_figures) known = known || (group == f.group && member.key() == f.key);
        for (const device_figure& f : device_metadata_keys)
            known = known || (group == f.group && member.key() == f.key);
        if (known) continue;
        if (group == "peak_tflops")
            throw_unsupported(member, "expected fp64, fp64_tensor, fp32, tf32, bf16, fp16, fp8, int8 or fp4");
        if (group == "memory")
            throw_unsupported(member, "expected gigabytes, visible_gibibytes, bandwidth_gbps, cache_megabytes or type");
        if (group == "links")
            throw_unsupported(member, "expected bandwidth_gbps, pcie_gbps, node_devices, network_gbps or type");
        throw_unsupported(member,
                          "expected name, aliases, vendor, peak_tflops, memory, units, fp32_lanes, links, watts, "
                          "price_per_hour, sources, unverified or notes");
    }
}

}  // namespace detail

/// Reads a device file (docs/devices.md). Output uses the name `key`, or the name in the file if `key` is empty.
///
/// The device refers to the characters of the document, which must outlive it.
///
/// Throws: `config_error` with a JSON pointer if there is no name or memory bandwidth, a key is unknown, or a figure is
/// not positive.
[[nodiscard]] constexpr device parse_device(config_view file, string_ref key = {}) {
    device d;
    d.title = file.string("name");
    d.vendor = file.string("vendor", "");
    d.names[0] = key.empty() ? d.title : key;
    for (const char c : d.title)  // the title names a folder of calibrations
        if (static_cast<unsigned char>(c) < 0x20 || c == '/' || c == 0x7f)
            throw_invalid_value(file, "name", "a name without '/' and control characters");
    if (d.title.empty() || d.title == "." || d.title == "..") throw_invalid_value(file, "name", "a name");
    detail::check_device_keys(file, "");
    if (const auto aliases = file.optional_array("aliases")) {
        if (aliases->size() >= device::max_names) throw_invalid_value(*aliases, "at most two aliases");
        std::size_t n = 1;
        for (const config_view alias : *aliases) d.names[n++] = alias.as_string();
    }
    for (const detail::device_figure& f : detail::device_figures) {
        config_view group = file;
        if (!is_empty(f.group)) {
            const auto found = file.optional_object(f.group);
            if (!found) continue;
            group = *found;
            detail::check_device_keys(group, f.group);
        }
        const auto found = group.find(f.key);
        if (!found || found->is_null()) continue;
        const double figure = found->as_real();
        if (!(figure >= 1e-6 && figure <= 1e9)) throw_invalid_value(*found, "a positive number from 1e-6 to 1e9");
        d.*f.member = figure;
    }
    if (d.memory_bandwidth == 0) {
        const auto memory = file.optional_object("memory");
        throw_missing_key(memory ? *memory : file, memory ? "bandwidth_gbps" : "memory",
                          "the memory bandwidth in GB/s");
    }
    return d;
}

}  // namespace llmcost
