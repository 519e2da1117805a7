// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device.hpp>

// Makes a datasheet from the properties that a driver reports, for a GPU without one.
namespace llmcost::cuda {

/// The properties that cudaGetDeviceProperties and cudaDeviceGetAttribute return.
struct gpu_properties {
    std::string name;
    int major = 0;  ///< of the compute capability
    int minor = 0;
    int multiprocessors = 0;
    double clock_megahertz = 0;         ///< the highest
    double memory_clock_megahertz = 0;  ///< transfers at both edges
    int memory_bus_bits = 0;
    double memory_bytes = 0;
    double cache_bytes = 0;
};

namespace detail {

/// FLOPs per clock of a multiprocessor.
struct rates_of_capability {
    int capability;  ///< 10 · major + minor
    double fp32, half, bf16, fp8, int8, fp4;
};

// NVIDIA's architecture whitepapers (V100, Turing, A100, GA102, Ada, H100, Blackwell): multiply-adds of the tensor
// units of a multiprocessor and clock, dense, twice; vector units: CUDA C++ Programming Guide, "Arithmetic
// Instructions".
// clang-format off
inline constexpr rates_of_capability rates_table[]{
    // cc   fp32  half  bf16   fp8   int8   fp4
    { 70,   128, 1024,    0,     0,     0,     0},
    { 75,   128, 1024,    0,     0,  2048,     0},
    { 80,   128, 2048, 2048,     0,  4096,     0},
    { 86,   256, 1024, 1024,     0,  2048,     0},
    { 89,   256, 1024, 1024,  2048,  2048,     0},
    { 90,   256, 4096, 4096,  8192,  8192,     0},
    {100,   256, 8192, 8192, 16384, 16384, 32768},
    {120,   256, 1024, 1024,  2048,  2048,  4096},
};
// clang-format on

}  // namespace detail

/// The datasheet whose name the GPU's own name contains: `NVIDIA H200` is `h200_sxm`'s `H200`; null where none is.
[[nodiscard]] inline const device* datasheet_of(std::string name) {
    for (const char* prefix : {"NVIDIA ", "Tesla ", "GeForce "})
        if (const std::size_t position = name.find(prefix); position != std::string::npos)
            name.erase(position, std::string(prefix).size());
    for (const auto& [driver_name, ours] : {std::pair("SXM4-", "SXM-"), std::pair("80GB PCIe", "PCIe 80GB")})
        if (const std::size_t position = name.find(driver_name); position != std::string::npos)
            name.replace(position, std::strlen(driver_name), ours);
    for (; !name.empty(); name.resize(name.find_last_of(" -") == std::string::npos ? 0 : name.find_last_of(" -")))
        if (const device* known = find_device(name)) return known;
    return nullptr;
}

/// The datasheet of a GPU; null where its multiprocessors or memory differ from the datasheet: a slice of a GPU, a
/// laptop's.
[[nodiscard]] inline const device* datasheet_of(const gpu_properties& gpu) {
    const device* known = datasheet_of(gpu.name);
    if (known == nullptr || (known->num_compute_units != 0 && known->num_compute_units != gpu.multiprocessors))
        return nullptr;
    const double share = known->memory_bytes() > 0 ? gpu.memory_bytes / known->memory_bytes() : 1;
    return share > 0.85 && share < 1.15 ? known : nullptr;
}

/// A GPU's name as files have it: `NVIDIA RTX A2000 12GB` is `nvidia_rtx_a2000_12gb`.
[[nodiscard]] inline std::string file_name_of(const std::string& name) {
    std::string out;
    for (const char c : name) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (letter || (c >= 'A' && c <= 'Z'))
            out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        else if (!out.empty() && out.back() != '_')
            out += '_';
    }
    while (!out.empty() && out.back() == '_') out.pop_back();
    return out;
}

/// A device's file (docs/devices.md) from the properties that a driver reports.
///
/// Peaks: multiprocessors · clock · FLOPs of one per clock, of the nearest older capability that is known; GeForce
/// boards sum products of 16 bits in 32 bits at half the rate. Bandwidth: two transfers per memory clock over the bus.
[[nodiscard]] inline std::string device_file_of(const gpu_properties& gpu) {
    if (gpu.memory_clock_megahertz <= 0 || gpu.memory_bus_bits <= 0)
        throw std::runtime_error("the driver reports no memory clock of " + gpu.name +
                                 "; expected a datasheet by --device");
    const detail::rates_of_capability* rates = &detail::rates_table[0];
    for (const detail::rates_of_capability& r : detail::rates_table)
        if (r.capability <= 10 * gpu.major + gpu.minor) rates = &r;
    const double clock = gpu.multiprocessors * gpu.clock_megahertz * 1e-6;  // TFLOP/s of one FLOP per clock
    const bool halved = gpu.name.find("GeForce") != std::string::npos && gpu.major >= 8;
    std::string peaks;
    const auto peak = [&](const char* type, double rate) {
        char text[64];
        if (rate > 0) std::snprintf(text, sizeof text, "\"%s\": %.6g", type, rate * clock);
        if (rate > 0) peaks += (peaks.empty() ? "" : ", ") + std::string(text);
    };
    const double of_half = halved ? 0.5 : 1;
    peak("fp32", rates->fp32);
    peak("bf16", rates->bf16 * of_half);
    peak("fp16", rates->half * of_half);
    peak("fp8", rates->fp8 * of_half);
    peak("int8", rates->int8);
    peak("fp4", rates->fp4 * of_half);
    std::string title;
    for (const char c : gpu.name)
        if (c != '"' && c != '\\' && c >= ' ') title += c;
    char text[512];
    std::snprintf(
        text, sizeof text,
        "\"memory\": {\"gigabytes\": %.6g, \"bandwidth_gbps\": %.6g, \"cache_megabytes\": %.6g},\n \"units\": %d",
        gpu.memory_bytes * 1e-9, 2 * gpu.memory_clock_megahertz * gpu.memory_bus_bits / 8 * 1e-3,
        gpu.cache_bytes * 1e-6, gpu.multiprocessors);
    return "{\"name\": \"" + title + "\", \"vendor\": \"NVIDIA\",\n \"peak_tflops\": {" + peaks + "},\n " + text +
           (rates->fp32 == 2 * 64 ? ",\n \"fp32_lanes\": 64" : "") +
           ",\n \"sources\": [\"the driver: clocks, bus and multiprocessors; FLOPs per clock of compute capability " +
           std::to_string(gpu.major) + "." + std::to_string(gpu.minor) + "\"]}\n";
}

}  // namespace llmcost::cuda
