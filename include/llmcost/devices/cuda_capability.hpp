// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>

namespace llmcost {

/// The compute capability of a device, for example 90 for 9.0.
struct cuda_capability_row {
    string_ref name{};  ///< first name in `devices`
    std::int32_t capability = 0;
};

// Source: developer.nvidia.com/cuda-gpus
inline constexpr cuda_capability_row cuda_capabilities[]{
    {"h100_sxm", 90},
    {"h100_pcie", 90},
    {"h100_nvl", 90},
    {"h200_sxm", 90},
    {"h20", 90},
    {"h800_sxm", 90},
    {"b200_sxm", 100},
    {"gb200", 100},
    {"b300_sxm", 103},
    {"gb300", 103},
    {"a100_sxm_80gb", 80},
    {"a100_sxm_40gb", 80},
    {"a100_pcie_80gb", 80},
    {"a100_pcie_40gb", 80},
    {"a30", 80},
    {"a10g", 86},
    {"a10", 86},
    {"l4", 89},
    {"l40s", 89},
    {"l40", 89},
    {"rtx_3090", 86},
    {"rtx_3080", 86},
    {"rtx_3060", 86},
    {"rtx_a6000", 86},
    {"rtx_4090", 89},
    {"rtx_4080", 89},
    {"rtx_4070", 89},
    {"rtx_4060", 89},
    {"rtx_6000_ada", 89},
    {"rtx_5090", 120},
    {"rtx_5080", 120},
    {"rtx_5070", 120},
    {"rtx_pro_6000_blackwell_server", 120},
    {"gb10", 121},
    {"v100_sxm2", 70},
    {"t4", 75},
    {"rtx_2060", 75},
    {"rtx_2070", 75},
    {"rtx_2080", 75},
    {"rtx_2080_ti", 75},
    {"rtx_3050", 86},
    {"rtx_3060_ti", 86},
    {"rtx_3070", 86},
    {"rtx_3070_ti", 86},
    {"rtx_3080_ti", 86},
    {"rtx_3090_ti", 86},
    {"rtx_4060_ti_16gb", 89},
    {"rtx_4060_ti", 89},
    {"rtx_4070_super", 89},
    {"rtx_4070_ti", 89},
    {"rtx_4070_ti_super", 89},
    {"rtx_4080_super", 89},
    {"rtx_5060", 120},
    {"rtx_5060_ti", 120},
    {"rtx_5070_ti", 120},
    {"rtx_a2000", 86},
    {"rtx_a4000", 86},
    {"rtx_a5000", 86},
    {"a40", 86},
    {"rtx_4000_ada", 89},
    {"rtx_5000_ada", 89},
    {"jetson_agx_orin_64gb", 87},
    {"jetson_orin_nano_super", 87},
};

/// The compute capability of a device; 0 if it is not a CUDA device or unknown.
[[nodiscard]] constexpr std::int32_t cuda_capability_of(const device& d) noexcept {
    for (const cuda_capability_row& row : cuda_capabilities)
        if (row.name == d.names[0]) return row.capability;
    return 0;
}

}  // namespace llmcost
