// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

/// A network between nodes: the datasheet bandwidth of a port or machine, divided by the devices that share it.
struct network_spec {
    string_ref name{};
    string_ref title{};
    double gigabytes_per_second = 0;  ///< per device and direction
};

// Ports: NVIDIA's product pages of Quantum, Quantum-2, Quantum-X800 and ConnectX-6, -7, -8, in bits per second.
// Machines of eight devices: AWS instance pages: p4d 400, p5 and p5e 3,200 Gbit/s.
// clang-format off
inline constexpr network_spec networks[]{
    {"ib_hdr",   "InfiniBand HDR, a port of 200 Gbit/s for each device", 25},
    {"ib_ndr",   "InfiniBand NDR, a port of 400 Gbit/s for each device", 50},
    {"ib_xdr",   "InfiniBand XDR, a port of 800 Gbit/s for each device", 100},
    {"roce_100", "Ethernet with RDMA, 100 Gbit/s for each device",       12.5},
    {"roce_200", "Ethernet with RDMA, 200 Gbit/s for each device",       25},
    {"roce_400", "Ethernet with RDMA, 400 Gbit/s for each device",       50},
    {"efa_p4d",  "AWS EFA of p4d, 400 Gbit/s for eight devices",         6.25},
    {"efa_p5",   "AWS EFA of p5, 3,200 Gbit/s for eight devices",        50},
};
// clang-format on

/// The network with this name. Returns null if there is none.
[[nodiscard]] constexpr const network_spec* find_network(string_ref name) noexcept {
    for (const network_spec& n : networks)
        if (n.name == name) return &n;
    return nullptr;
}

}  // namespace llmcost
