// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/memory/category.hpp>
#include <llmcost/memory/optimizer.hpp>

// What is asked of training over some steps, and what comes of it.
namespace llmcost {

/// Which layers forget what they made and make it again in backward.
enum class recomputation : std::uint8_t { none, full };

/// A training step beside the pass itself.
struct training_schedule {
    const optimizer_row* optimizer = find_optimizer("adamw");
    recomputation recompute = recomputation::none;
    std::uint64_t inputs = 0;  ///< bytes of ids and labels
    int steps = 2;             ///< state exists from the first step on
};

/// Where the most memory is needed.
struct memory_peak {
    memory_bytes bytes{};
    int step = 0;
    std::string_view phase{};
    std::string_view at{};  ///< the operation whose forward, backward or update reaches it
};

/// What memory holds at a moment of the last step: where each outermost layer ends, forwards and backwards.
struct memory_moment {
    std::string_view phase{};
    std::string path{};  ///< the layer; empty: in front of, between or behind layers
    memory_bytes bytes{};
    std::uint64_t most = 0;  ///< the largest total since the moment before
};

/// Memory of training over its steps.
struct memory_timeline {
    std::uint64_t trainable = 0;         ///< elements
    std::uint64_t recomputed_flops = 0;  ///< what FlopCounterMode adds to backward
    std::uint64_t saved_bytes = 0;       ///< floating tensors that the graph holds when forward ends
    memory_peak peak{};
    memory_bytes own_peaks{};  ///< each category's own, at different moments
    std::vector<memory_moment> moments{};
    memory_bytes after_forward{}, after_backward{}, after_step{};  ///< of the last step
};

}  // namespace llmcost
