// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>

namespace llmcost {

/// What a kernel must do, whatever runs it: the least that any device gets away with.
struct kernel_work {
    double flops = 0;
    double bytes = 0;                        ///< to and from memory, each tensor once; or sent over links
    double device::*compute_unit = nullptr;  ///< whose peak bounds it; null: nothing is computed
    bool uses_links = false;                 ///< bytes go over links
    double min_fraction = 1;    ///< the share that no kernel gets away without, where the sizes leave it open
    double additions = 0;       ///< what vector units do, as so many additions (`additions_per_operation`)
    double num_tiles = 0;       ///< each of which one of the device's units computes by itself
    double max_tile_flops = 0;  ///< FLOPs
    double min_tile_flops = 0;  ///< FLOPs
    bool uses_network = false;  ///< bytes go over a network
};

/// Element types as engines name them: what an operator reads its weights and its activations in.
struct operand_type {
    string_ref name;
    string_ref aliases[2];
    double weight_bytes;      ///< per element, scales of blocks included
    double activation_bytes;  ///< as they arrive: quantised inside of the operator where the weights are smaller
    double device::*unit;
    bool has_per_tensor_scale = false;  ///< one scale for all activations, which a checkpoint may bring along
    string_ref unpacked_type{};  ///< what its weights are run as where a device does not multiply it; empty: not at all
};

// nvfp4: 4 bits and a scale of 8 bits per 16 elements; w4a16_mxfp4: 4 bits and 8 per 32, unpacked to bfloat16 as
// int4_wo, 4 bits and 16 per 128. fp8_wo and nvfp4_wo are weights alone, as Marlin unpacks them
// (vllm/model_executor/layers/quantization/utils/marlin_utils_fp8.py, marlin_utils_fp4.py)
// clang-format off
inline constexpr operand_type operand_types[]{
    {"float32",     {"fp32", "float"}, 4,      4, &device::fp32},
    {"bfloat16",    {"bf16", ""},     2,       2, &device::bf16},
    {"float16",     {"fp16", "half"}, 2,       2, &device::fp16},
    {"fp8",         {"", ""},         1,       2, &device::fp8, true,  "fp8_wo"},
    {"fp8_block",   {"", ""},         1,       2, &device::fp8, false, "fp8_wo"},
    {"int8",        {"", ""},         1,       2, &device::int8},
    {"nvfp4",       {"", ""},         0.5625,  2, &device::fp4, false, "nvfp4_wo"},
    {"w4a16_mxfp4", {"mxfp4", ""},    0.53125, 2, &device::bf16},
    {"int4_wo",     {"int4", ""},     0.515625, 2, &device::bf16},
    {"fp8_wo",      {"w8a16_fp8", ""},   1,       2, &device::bf16},
    {"nvfp4_wo",    {"w4a16_nvfp4", ""}, 0.5625,  2, &device::bf16},
};
// clang-format on

/// What a kernel of prompts does with the sequences of its step that have one new token.
enum class mixed_decode_kind : std::uint8_t {
    separate_kernel,  ///< another kernel computes them
    same_launch,      ///< computes them as if they were alone, in its own launch
    as_prefill_tiles  ///< computes them as prompts of one token, a tile for each head
};

/// The row of an operand by one of its names; nullptr where there is none.
[[nodiscard]] constexpr const operand_type* find_operand_type(string_ref name) noexcept {
    if (name.empty()) return nullptr;
    for (const operand_type& row : operand_types)
        if (row.name == name || row.aliases[0] == name || row.aliases[1] == name) return &row;
    return nullptr;
}

/// GB/s between which a kernel's bytes go: of memory, of links, of PCIe where there are no links.
[[nodiscard]] constexpr double bandwidth_of(const device& d, const kernel_work& work) noexcept {
    if (work.uses_network) return d.network_bandwidth;
    if (!work.uses_links) return d.memory_bandwidth;
    return d.link_bandwidth > 0 ? d.link_bandwidth : d.pcie_bandwidth;
}
/// Whether the datasheet has the peaks and the bandwidth that some work asks for; additions are done at the peak of
/// float32.
[[nodiscard]] constexpr bool has_peak(const device& d, const kernel_work& work) noexcept {
    return (work.compute_unit == nullptr || d.*work.compute_unit > 0) && (work.additions == 0 || d.fp32 > 0) &&
           bandwidth_of(d, work) > 0;
}

/// Seconds that some work needs at a datasheet's peak, and at its bandwidth.
struct datasheet_seconds {
    double compute = 0;
    double memory = 0;
};
/// FLOPs that keep the unit busy which computes longest, times all units: those of all work, of its largest part, or of
/// the parts that one unit gets at least where there are more of them than units (Graham, SIAM Journal on Applied
/// Mathematics 17, 1969).
[[nodiscard]] constexpr double flops_with_occupancy(const device& d, const kernel_work& work) noexcept {
    const auto units = static_cast<double>(d.num_compute_units);
    if (units == 0 || work.num_tiles == 0) return work.flops;
    constexpr double max_exact_integer = 9007199254740992;  // 2^53: from here on every double is one
    double waves = work.num_tiles / units;
    if (waves < max_exact_integer) waves = static_cast<double>(static_cast<std::uint64_t>(waves));
    if (waves * units < work.num_tiles) ++waves;
    const double of_one =
        work.max_tile_flops > waves * work.min_tile_flops ? work.max_tile_flops : waves * work.min_tile_flops;
    return of_one * units > work.flops ? of_one * units : work.flops;
}
/// An addition takes the place of two FLOPs of a vector unit's peak, which counts fused products and sums; a step on a
/// device whose datasheet has no such peak has them for nothing beside its bytes.
[[nodiscard]] constexpr datasheet_seconds roofline_terms(const device& d, const kernel_work& work) noexcept {
    const double flops = flops_with_occupancy(d, work);
    const double of_unit = work.compute_unit == nullptr ? 0 : flops / (d.*work.compute_unit * 1e12);
    const double of_vectors = work.additions == 0 || d.fp32 == 0 ? 0 : 2 * work.additions / (d.fp32 * 1e12);
    return {of_unit + of_vectors, work.bytes / (bandwidth_of(d, work) * 1e9)};
}

/// The least time of some work: at the peak of its unit, and at the bandwidth of memory for what its cache cannot hold.
[[nodiscard]] constexpr double roofline_seconds(const device& d, kernel_work work) noexcept {
    const double bytes = work.bytes * work.min_fraction - (work.uses_links ? 0 : d.cache_megabytes * 1e6);
    work.flops *= work.min_fraction;
    work.num_tiles = 0;  // a kernel may divide it
    work.additions = 0;  // units differ in what an exponential costs
    work.bytes = bytes > 0 ? bytes : 0;
    const datasheet_seconds s = roofline_terms(d, work);
    return s.compute > s.memory ? s.compute : s.memory;
}

}  // namespace llmcost
