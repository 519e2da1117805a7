// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/simulation/prefix_tiers.hpp>

// Options of memory for KV cache blocks below that of the device, with the names that the engines use.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec kv_offloading_size{
    .name = "--kv-offloading-size",
    .value = "GIB",
    .type = value_type::number,
    .help = "vllm: host memory for KV cache blocks of all devices of an engine, in GiB"};
inline constexpr option_spec hierarchical_cache{.name = "--enable-hierarchical-cache",
                                                .help = "sglang: host memory for KV cache pages (HiCache)"};
inline constexpr option_spec hicache_ratio{
    .name = "--hicache-ratio",
    .value = "X",
    .type = value_type::number,
    .help = "sglang: size of the host memory, relative to the KV cache of the device (default 2)"};
inline constexpr option_spec hicache_size{.name = "--hicache-size",
                                          .value = "GB",
                                          .type = value_type::number,
                                          .help = "sglang: size of the host memory of each device, in GB"};
inline constexpr option_spec host_cache_size{
    .name = "--host_cache_size",
    .value = "BYTES",
    .type = value_type::number,
    .help = "trtllm: host memory for KV cache blocks of each device, in bytes"};
inline constexpr option_spec host_bandwidth{.name = "--host-bandwidth",
                                            .value = "GBPS",
                                            .type = value_type::number,
                                            .help = "GB/s from host memory to a device (default: PCIe of the device)"};
inline constexpr option_spec storage_size{
    .name = "--kv-storage-size",
    .value = "GB",
    .type = value_type::number,
    .help = "storage for KV cache blocks of each device below host memory, in GB"};
inline constexpr option_spec storage_bandwidth{.name = "--kv-storage-bandwidth",
                                               .value = "GBPS",
                                               .type = value_type::number,
                                               .help = "GB/s from --kv-storage-size to a device"};

}  // namespace option

inline constexpr std::array kv_tier_options{
    option::kv_offloading_size, option::hierarchical_cache, option::hicache_ratio, option::hicache_size,
    option::host_cache_size,    option::host_bandwidth,     option::storage_size,  option::storage_bandwidth};

/// The tiers of each device of an engine that runs on `num_devices` devices: host memory, then storage.
///
/// Throws: `usage` for an option of another engine, and without a bandwidth.
[[nodiscard]] std::vector<kv_cache_tier_size> parse_kv_tiers(const arguments& args, std::string_view engine,
                                                             const device& target, std::int64_t num_devices);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/kv_tier_options.ipp>  // IWYU pragma: export
#endif
