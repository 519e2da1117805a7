// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/memory/parallel_config.hpp>

// How tokens reach routed experts on other devices.
namespace llmcost {

/// A communication backend of expert parallelism with data-parallel attention.
///
/// An empty mode: all tokens are gathered on all devices, and the results are reduced. Otherwise, the mode of the
/// operators `deepep` and `network_all_to_all`: each token is sent to its experts.
struct all_to_all_backend {
    string_ref name{};
    string_ref alias{};
    string_ref prefill_mode{};
    string_ref decode_mode{};

    [[nodiscard]] constexpr bool gathers() const noexcept { return decode_mode.empty(); }
};

// `deepep` is SGLang's default mode of DeepEP: normal kernels in prefill, low-latency kernels in decode. NVLink
// backends send one copy of a token to each device, as DeepEP's normal kernels do. Source: vllm/config/parallel.py,
// `All2AllBackend`; sglang/srt/server_args.py, `moe_a2a_backend` and `deepep_mode`.
inline constexpr all_to_all_backend all_to_all_backends[]{
    {.name = "allgather_reducescatter"},
    {.name = "deepep", .prefill_mode = "high_throughput", .decode_mode = "low_latency"},
    {.name = "deepep_high_throughput", .prefill_mode = "high_throughput", .decode_mode = "high_throughput"},
    {.name = "deepep_low_latency", .prefill_mode = "low_latency", .decode_mode = "low_latency"},
    {.name = "flashinfer_nvlink_one_sided", .prefill_mode = "high_throughput", .decode_mode = "high_throughput"},
    {.name = "flashinfer_nvlink_two_sided",
     .alias = "flashinfer_all2allv",
     .prefill_mode = "high_throughput",
     .decode_mode = "high_throughput"},
};

/// The backend with a name or alias; nullptr if there is none.
[[nodiscard]] constexpr const all_to_all_backend* find_all_to_all_backend(string_ref name) noexcept {
    for (const all_to_all_backend& b : all_to_all_backends)
        if (!name.empty() && (b.name == name || b.alias == name)) return &b;
    return nullptr;
}

/// The backend without `--all-to-all-backend`: experts over several nodes use DeepEP, those of one node gather.
///
/// Source: the guides of vLLM (docs/serving/expert_parallel_deployment.md) and SGLang for several nodes.
[[nodiscard]] constexpr const all_to_all_backend& default_all_to_all_backend(const parallel_config& parallel,
                                                                             std::int64_t devices_per_node) noexcept {
    const bool is_wide = parallel.expert_parallel_size > 1 && parallel.world_size() > devices_per_node;
    return *find_all_to_all_backend(is_wide ? "deepep" : "allgather_reducescatter");
}

}  // namespace llmcost
