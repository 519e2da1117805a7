// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/vllm_kernels.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>

namespace llmcost::detail {

/// Architectures by the beginning of a device name.
struct architecture_prefix {
    std::string_view prefix;
    gpu_architecture architecture;
};
inline constexpr architecture_prefix architecture_prefixes[]{
    {"h100", gpu_architecture::hopper},     {"h200", gpu_architecture::hopper},  {"h20", gpu_architecture::hopper},
    {"h800", gpu_architecture::hopper},     {"gh200", gpu_architecture::hopper}, {"b200", gpu_architecture::blackwell},
    {"gb200", gpu_architecture::blackwell}, {"mi", gpu_architecture::rocm},
};

/// Mebibytes of the largest tensor of the fused all-reduce with 2, 4 and 8 devices.
struct fused_all_reduce_limit {
    std::int64_t num_devices;
    double hopper;
    double blackwell;
};
inline constexpr fused_all_reduce_limit fused_all_reduce_limits[]{{2, 64, 64}, {4, 2, 32}, {8, 0.5, 1}};

[[nodiscard]] LLMCOST_INLINE expert_kernel float8_block_kernel_of(const engine_version& version,
                                                                  gpu_architecture architecture,
                                                                  std::int64_t tensor_parallel_size,
                                                                  std::int64_t expert_parallel_size) {
    constexpr engine_version deep_gemm{0, 11, 1}, limited_deep_gemm{0, 12, 0}, modular{0, 14, 0}, oracle{0, 16, 0},
        triton_on_hopper{0, 17, 0};
    const bool is_hopper = architecture == gpu_architecture::hopper;
    if (!is_hopper && architecture != gpu_architecture::blackwell)
        return version < modular ? expert_kernel::temporary_workspace : expert_kernel::persistent_workspace;
    if (version < deep_gemm) return expert_kernel::temporary_workspace;
    if (version < limited_deep_gemm) return expert_kernel::deep_gemm;
    if (version < oracle && tensor_parallel_size < 8) return expert_kernel::deep_gemm;
    if (version < modular) return expert_kernel::temporary_workspace;
    if (version < oracle) return expert_kernel::persistent_workspace;
    return is_hopper && version >= triton_on_hopper && expert_parallel_size == 1 ? expert_kernel::persistent_workspace
                                                                                 : expert_kernel::flashinfer;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE engine_version parse_engine_version(std::string_view text) {
    if (text.empty()) return latest_engine_version;
    if (text.front() == 'v') text.remove_prefix(1);
    engine_version numbers{};
    const char* next = text.data();
    const char* const end = text.data() + text.size();
    for (int& number : numbers) {
        const auto [rest, problem] = std::from_chars(next, end, number);
        if (problem != std::errc{}) break;
        next = rest != end && *rest == '.' ? rest + 1 : end;
    }
    return numbers;
}

LLMCOST_INLINE gpu_architecture architecture_of_device(std::string_view device_name) {
    if (device_name.empty()) return gpu_architecture::hopper;
    for (const detail::architecture_prefix& entry : detail::architecture_prefixes)
        if (device_name.starts_with(entry.prefix)) return entry.architecture;
    return gpu_architecture::other;
}

LLMCOST_INLINE expert_kernel expert_kernel_of(const engine_version& version, expert_weight_format format,
                                              gpu_architecture architecture, std::int64_t tensor_parallel_size,
                                              std::int64_t expert_parallel_size) {
    constexpr engine_version modular{0, 14, 0}, oracle{0, 16, 0};
    const bool has_flashinfer = architecture == gpu_architecture::hopper || architecture == gpu_architecture::blackwell;
    switch (format) {
        case expert_weight_format::mxfp4:
        case expert_weight_format::other: return expert_kernel::temporary_workspace;
        case expert_weight_format::float8_blocks:
            return detail::float8_block_kernel_of(version, architecture, tensor_parallel_size, expert_parallel_size);
        case expert_weight_format::float8_per_tensor:
            if (version >= oracle && has_flashinfer) return expert_kernel::flashinfer;
            break;
        case expert_weight_format::unquantized:
        case expert_weight_format::float8_per_channel: break;
    }
    return version < modular ? expert_kernel::temporary_workspace : expert_kernel::persistent_workspace;
}

LLMCOST_INLINE expert_size_multiples mxfp4_multiples_of(gpu_architecture architecture) noexcept {
    switch (architecture) {
        case gpu_architecture::hopper: return {.hidden_size = 1, .intermediate_size = 64};
        case gpu_architecture::blackwell:
        case gpu_architecture::rocm: return {.hidden_size = 256, .intermediate_size = 256};
        case gpu_architecture::other: break;
    }
    return {.hidden_size = 256, .intermediate_size = 128};
}

LLMCOST_INLINE count expert_workspace_elements(expert_kernel kernel, const engine_version& version,
                                               const expert_step& step) {
    const std::int64_t first_width = step.is_gated ? 2 * step.intermediate_size : step.intermediate_size;
    const count second(std::max(step.intermediate_size, step.hidden_size)),
        first(std::max(first_width, step.hidden_size));
    const count rows = count(step.num_tokens) * count(step.num_experts_per_tok);
    switch (kernel) {
        case expert_kernel::flashinfer: return {};
        case expert_kernel::temporary_workspace:
        case expert_kernel::persistent_workspace: return rows * (second + first);
        case expert_kernel::deep_gemm: break;
    }
    constexpr std::uint64_t alignment = 128;
    constexpr engine_version equal_widths{0, 13, 0};
    const count aligned_rows = (rows + count(step.num_experts) * count(alignment - 1) + count(alignment - 1)) /
                               count(alignment) * count(alignment);
    return aligned_rows * (second + (version < equal_widths ? count(first_width) : first));
}

LLMCOST_INLINE count fused_all_reduce_bytes(const engine_version& version, gpu_architecture architecture,
                                            std::int64_t tensor_parallel_size) {
    constexpr engine_version first{0, 17, 0};
    constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20, granularity = 512 * mebibyte, num_flags = 256;
    const bool is_blackwell = architecture == gpu_architecture::blackwell;
    if (version < first || (!is_blackwell && architecture != gpu_architecture::hopper)) return {};
    for (const detail::fused_all_reduce_limit& limit : detail::fused_all_reduce_limits) {
        if (limit.num_devices != tensor_parallel_size) continue;
        const double tensor_bytes = static_cast<double>(mebibyte) * (is_blackwell ? limit.blackwell : limit.hopper);
        const auto ranks = static_cast<std::uint64_t>(tensor_parallel_size);
        const std::uint64_t buffer = ranks * static_cast<std::uint64_t>(tensor_bytes);
        count bytes;
        for (const std::uint64_t size : {buffer, ranks * num_flags * 4, 3 * buffer})
            bytes += count((size + granularity - 1) / granularity * granularity);
        return bytes;
    }
    return {};
}

}  // namespace llmcost
