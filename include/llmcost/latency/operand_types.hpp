// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>

namespace llmcost {

/// The work of a kernel, independent of its implementation: a lower bound for all devices.
struct kernel_work {
    double flops = 0;
    double bytes = 0;                        ///< to and from memory, each tensor once; or over links
    double device::*compute_unit = nullptr;  ///< member with its peak; null: no arithmetic
    bool uses_links = false;                 ///< `bytes` go over links
    double min_fraction = 1;  ///< fraction that every kernel needs, if the sizes do not determine the work
    double additions = 0;     ///< work of vector units in additions (`additions_per_operation`)
    double num_tiles = 0;     ///< each is computed by one unit
    double max_tile_flops = 0;
    double min_tile_flops = 0;
    bool uses_network = false;       ///< `bytes` go over a network
    double dependent_additions = 0;  ///< additions of the critical path, each waits for the one before
    double sequential_seconds = 0;   ///< time of the critical path outside of the compute units
    double aligned_fraction = 1;     ///< of the peak of NVIDIA's matrix units that the alignment of operands permits
    /// Whether times are those of a critical path. Its rates are typical ones, which a device can exceed.
    [[nodiscard]] constexpr bool has_critical_path() const noexcept {
        return dependent_additions > 0 || sequential_seconds > 0;
    }
};

/// The element types of weights and activations of an operator, with the names of engines.
struct operand_type {
    string_ref name;
    string_ref aliases[4];  ///< tables list all four, as nvcc does not accept fewer in a constant expression
    double weight_bytes;    ///< per element, including block scales
    double
        activation_bytes;  ///< per element of the input, which is quantized inside the operator if weights are narrower
    double device::*unit;
    bool has_per_tensor_scale = false;  ///< one scale for all activations, which may be static
    string_ref unpacked_type{};         ///< type for devices that do not multiply this one; empty: none
    bool is_cache_type = true;          ///< false: only weights have this type
};

// Weights of nvfp4 have 4 bits, and an 8-bit scale per 16 elements. Those of mxfp4 and mxfp8 have an 8-bit scale per 32
// elements, those of 4-bit integers a 16-bit scale per 128 elements. Source: OCP Microscaling Formats 1.0, section 5.2.
//
// `w4a16_mxfp4`, `int8_wo` and `int4_wo` are unpacked to bfloat16. fp8_wo and nvfp4_wo are weight-only types, as Marlin
// unpacks them. Source: vllm/model_executor/layers/quantization/utils/marlin_utils_fp8.py, marlin_utils_fp4.py.
//
// `w4a8_mxfp4_mxfp8` and `w4afp8` multiply 4-bit weights with 8-bit activations in the 8-bit unit. Names and aliases
// are those of: aiconfigurator/sdk/common.py, `GEMMQuantMode` and `MoEQuantMode`; tensorrt_llm/quantization/mode.py,
// `QuantAlgo`; vLLM and SGLang, `--quantization`.
inline constexpr operand_type operand_types[]{
    {.name = "float32",
     .aliases = {"fp32", "float", "", ""},
     .weight_bytes = 4,
     .activation_bytes = 4,
     .unit = &device::fp32},
    {.name = "bfloat16",
     .aliases = {"bf16", "", "", ""},
     .weight_bytes = 2,
     .activation_bytes = 2,
     .unit = &device::bf16},
    {.name = "float16",
     .aliases = {"fp16", "half", "", ""},
     .weight_bytes = 2,
     .activation_bytes = 2,
     .unit = &device::fp16},
    {.name = "fp8",
     .aliases = {"fp8_static", "fp8_ootb", "w8a8_fp8", "float8_e4m3fn"},
     .weight_bytes = 1,
     .activation_bytes = 2,
     .unit = &device::fp8,
     .has_per_tensor_scale = true,
     .unpacked_type = "fp8_wo"},
    {.name = "fp8_block",
     .aliases = {"fp8_block_scales", "", "", ""},
     .weight_bytes = 1,
     .activation_bytes = 2,
     .unit = &device::fp8,
     .unpacked_type = "fp8_wo"},
    {.name = "mxfp8",
     .aliases = {"", "", "", ""},
     .weight_bytes = 1.03125,
     .activation_bytes = 2,
     .unit = &device::fp8,
     .unpacked_type = "fp8_wo",
     .is_cache_type = false},
    {.name = "int8",
     .aliases = {"w8a8", "w8a8_int8", "smoothquant", "sq"},
     .weight_bytes = 1,
     .activation_bytes = 2,
     .unit = &device::int8},
    {.name = "nvfp4",
     .aliases = {"modelopt_fp4", "", "", ""},
     .weight_bytes = 0.5625,
     .activation_bytes = 2,
     .unit = &device::fp4,
     .unpacked_type = "nvfp4_wo"},
    {.name = "w4a8_mxfp4_mxfp8",
     .aliases = {"w4a8_mxfp4", "", "", ""},
     .weight_bytes = 0.53125,
     .activation_bytes = 2,
     .unit = &device::fp8,
     .unpacked_type = "w4a16_mxfp4",
     .is_cache_type = false},
    {.name = "w4afp8",
     .aliases = {"w4a8_awq", "", "", ""},
     .weight_bytes = 0.515625,
     .activation_bytes = 2,
     .unit = &device::fp8,
     .unpacked_type = "int4_wo",
     .is_cache_type = false},
    {.name = "w4a16_mxfp4",
     .aliases = {"mxfp4", "", "", ""},
     .weight_bytes = 0.53125,
     .activation_bytes = 2,
     .unit = &device::bf16},
    {.name = "int8_wo",
     .aliases = {"w8a16", "", "", ""},
     .weight_bytes = 1,
     .activation_bytes = 2,
     .unit = &device::bf16},
    {.name = "int4_wo",
     .aliases = {"int4", "w4a16", "awq", "gptq"},
     .weight_bytes = 0.515625,
     .activation_bytes = 2,
     .unit = &device::bf16},
    {.name = "fp8_wo",
     .aliases = {"w8a16_fp8", "", "", ""},
     .weight_bytes = 1,
     .activation_bytes = 2,
     .unit = &device::bf16},
    {.name = "nvfp4_wo",
     .aliases = {"w4a16_nvfp4", "", "", ""},
     .weight_bytes = 0.5625,
     .activation_bytes = 2,
     .unit = &device::bf16},
};

/// Whether a type is weight-only: unpacked to 16 bits before the product.
[[nodiscard]] constexpr bool is_weight_only(const operand_type& row) noexcept {
    return row.weight_bytes < row.activation_bytes && row.unit == &device::bf16;
}

/// Convolutions of float32 tensors, whose products are in TF32. It is no type of weights.
///
/// Source: torch/backends/cudnn/__init__.py, `allow_tf32`, which is initially True (aten/src/ATen/Context.h).
inline constexpr operand_type tf32_operands{
    .name = "tf32", .aliases = {"", "", "", ""}, .weight_bytes = 4, .activation_bytes = 4, .unit = &device::tf32};

/// How a prefill kernel treats the decodes of its step.
enum class mixed_decode_kind : std::uint8_t {
    separate_kernel,  ///< decodes have a kernel of their own
    same_launch,      ///< as in a kernel of their own, but in the same launch
    as_prefill_tiles  ///< as prompts of one token: one tile per head
};

/// The operand type with a name or alias; nullptr if there is none.
[[nodiscard]] constexpr const operand_type* find_operand_type(string_ref name) noexcept {
    if (name.empty()) return nullptr;
    for (const operand_type& row : operand_types) {
        if (row.name == name) return &row;
        for (const string_ref alias : row.aliases)
            if (alias == name) return &row;
    }
    return nullptr;
}

/// The bandwidth for a kernel's bytes in GB/s: memory, links (PCIe without links), or network.
[[nodiscard]] constexpr double bandwidth_of(const device& d, const kernel_work& work) noexcept {
    if (work.uses_network) return d.network_bandwidth;
    if (!work.uses_links) return d.memory_bandwidth;
    return d.link_bandwidth > 0 ? d.link_bandwidth : d.pcie_bandwidth;
}
/// Whether the datasheet has the peak and the bandwidth for some work. Additions use the float32 peak.
[[nodiscard]] constexpr bool has_peak(const device& d, const kernel_work& work) noexcept {
    return (work.compute_unit == nullptr || d.*work.compute_unit > 0) && (work.additions == 0 || d.fp32 > 0) &&
           bandwidth_of(d, work) > 0;
}

/// Seconds of some work at the peak and at the bandwidth of the datasheet.
struct datasheet_seconds {
    double compute = 0;
    double memory = 0;
};
/// FLOPs of the busiest unit, times all units.
///
/// The maximum of all work, of the largest tile on every unit, and of full waves of the smallest tiles.
/// Source: Graham, SIAM Journal on Applied Mathematics 17, 1969.
[[nodiscard]] constexpr double flops_with_occupancy(const device& d, const kernel_work& work) noexcept {
    const auto units = static_cast<double>(d.num_compute_units);
    if (units == 0 || work.num_tiles == 0) return work.flops;
    constexpr double max_exact_integer = 9007199254740992;  // 2^53: from here on, all doubles are integers
    double waves = work.num_tiles / units;
    if (waves < max_exact_integer) waves = static_cast<double>(static_cast<std::uint64_t>(waves));
    if (waves * units < work.num_tiles) ++waves;
    const double of_one =
        work.max_tile_flops > waves * work.min_tile_flops ? work.max_tile_flops : waves * work.min_tile_flops;
    return of_one * units > work.flops ? of_one * units : work.flops;
}
/// Cycles after which a vector unit can use the result of an addition.
///
/// Source: Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, arXiv 1804.06826, table 4.1.
inline constexpr double cycles_of_dependent_addition = 4;

/// Seconds of some work at peak and bandwidth.
///
/// An addition counts as two FLOPs of the float32 peak, which counts fused multiply-adds. Additions are free if the
/// datasheet has no such peak. A chain of dependent additions takes `cycles_of_dependent_addition` each, whatever the
/// number of threads.
[[nodiscard]] constexpr datasheet_seconds roofline_terms(const device& d, const kernel_work& work) noexcept {
    const double flops = flops_with_occupancy(d, work);
    const double fraction = d.vendor == "NVIDIA" ? work.aligned_fraction : 1;
    const double of_unit = work.compute_unit == nullptr ? 0 : flops / (d.*work.compute_unit * 1e12 * fraction);
    const double of_vectors = work.additions == 0 || d.fp32 == 0 ? 0 : 2 * work.additions / (d.fp32 * 1e12);
    const double clock = work.dependent_additions == 0 ? 0 : d.clock_hertz();
    const double of_chain = clock == 0 ? 0 : work.dependent_additions * cycles_of_dependent_addition / clock;
    return {of_unit + (of_chain > of_vectors ? of_chain : of_vectors) + work.sequential_seconds,
            work.bytes / (bandwidth_of(d, work) * 1e9)};
}

/// The minimum seconds of some work: at peak, and at bandwidth for bytes that exceed the cache.
[[nodiscard]] constexpr double roofline_seconds(const device& d, kernel_work work) noexcept {
    const double bytes = work.bytes * work.min_fraction - (work.uses_links ? 0 : d.cache_megabytes * 1e6);
    work.flops *= work.min_fraction;
    work.num_tiles = 0;  // a kernel may use smaller tiles
    work.additions = 0;  // devices differ in the cost of an exponential
    work.dependent_additions = 0;
    work.sequential_seconds = 0;
    work.aligned_fraction = 1;  // a library may pad
    work.bytes = bytes > 0 ? bytes : 0;
    const datasheet_seconds s = roofline_terms(d, work);
    return s.compute > s.memory ? s.compute : s.memory;
}

}  // namespace llmcost
