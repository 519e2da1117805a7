// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/memory/optimizer.hpp>

namespace llmcost::testing {

/// A trainable parameter, in a layer or outside.
inline tape_parameter parameter(std::vector<std::int64_t> sizes, bool is_in_layer, std::uint64_t element_bytes) {
    tape_parameter p;
    p.sizes = std::move(sizes);
    p.is_trainable = true;
    p.region_id = is_in_layer ? 0 : -1;
    p.elements = 1;
    for (const std::int64_t size : p.sizes) p.elements *= static_cast<std::uint64_t>(size);
    p.bytes = p.elements * element_bytes;
    return p;
}

/// The parameters of the recorded optimizer steps.
inline std::vector<tape_parameter> recorded_parameters(std::uint64_t element_bytes) {
    return {parameter({100, 32}, false, element_bytes), parameter({64, 40}, true, element_bytes),
            parameter({300}, false, element_bytes), parameter({20, 30}, true, element_bytes)};
}

}  // namespace llmcost::testing
