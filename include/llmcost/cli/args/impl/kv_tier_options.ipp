// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/kv_tier_options.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/simulation/prefix_tiers.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// An option of host memory, and the engine that has it.
struct host_memory_option {
    std::string_view engine;
    const option_spec* row = nullptr;
};

inline constexpr host_memory_option host_memory_options[]{{"vllm", &option::kv_offloading_size},
                                                          {"sglang", &option::hierarchical_cache},
                                                          {"sglang", &option::hicache_ratio},
                                                          {"sglang", &option::hicache_size},
                                                          {"trtllm", &option::host_cache_size}};

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::vector<kv_cache_tier_size> parse_kv_tiers(const arguments& args, std::string_view engine,
                                                              const device& target, std::int64_t num_devices) {
    constexpr double max_gigabytes = 1e9, gibibyte = 1024.0 * 1024 * 1024;
    const option_spec* used = nullptr;
    for (const detail::host_memory_option& o : detail::host_memory_options) {
        if (!args.has(*o.row)) continue;
        if (o.engine != engine)
            throw_usage(o.row->name, "not supported by --engine " + std::string(engine) + ": it is an option of " +
                                         std::string(o.engine));
        used = o.row;
    }
    std::vector<kv_cache_tier_size> tiers;
    if (used != nullptr) {
        kv_cache_tier_size host;
        host.bytes_per_second = 1e9 * args.real(option::host_bandwidth, target.pcie_bandwidth, 0, 1e6);
        if (host.bytes_per_second == 0)
            throw_usage("--host-bandwidth",
                        "required: the PCIe bandwidth of " + printable(target.names[0]) + " is not known");
        const auto devices = static_cast<double>(std::max<std::int64_t>(1, num_devices));
        if (args.has(option::kv_offloading_size))
            host.bytes = args.real(option::kv_offloading_size, 0, 0, max_gigabytes) * gibibyte / devices;
        else if (args.has(option::hicache_size))
            host.bytes = 1e9 * args.real(option::hicache_size, 0, 0, max_gigabytes);
        else if (args.has(option::host_cache_size))
            host.bytes = args.real(option::host_cache_size, 0, 0, 1e9 * max_gigabytes);
        else
            host.kv_cache_ratio = args.real(option::hicache_ratio, 2, 0, 1e6);
        tiers.push_back(host);
    } else if (args.has(option::host_bandwidth))
        throw_usage("--host-bandwidth",
                    "requires host memory: --kv-offloading-size (vllm), "
                    "--enable-hierarchical-cache (sglang) or --host_cache_size (trtllm)");
    if (args.has(option::storage_size) != args.has(option::storage_bandwidth))
        throw_usage(args.has(option::storage_size) ? "--kv-storage-bandwidth" : "--kv-storage-size",
                    args.has(option::storage_size) ? "required with --kv-storage-size"
                                                   : "required with --kv-storage-bandwidth");
    if (args.has(option::storage_size)) {
        kv_cache_tier_size storage;
        storage.bytes = 1e9 * args.real(option::storage_size, 0, 0, 1e12);
        storage.bytes_per_second = 1e9 * args.real(option::storage_bandwidth, 1, 1e-6, 1e6);
        tiers.push_back(storage);
    }
    return tiers;
}

}  // namespace llmcost::cli
