// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace llmcost {

/// Categories of memory in a training step, as in PyTorch's memory tracker.
///
/// Source: torch/distributed/_tools/mem_tracker.py, `_RefType`.
enum class memory_category : std::uint8_t {
    parameters,
    buffers,
    gradients,    ///< gradients of parameters, from the moment they exist
    activations,  ///< tensors created by forward, including recomputation in backward
    temporaries,  ///< all other tensors created by backward
    optimizer,    ///< optimizer state, and temporaries of a step
    others        ///< inputs
};
inline constexpr std::size_t num_memory_categories = 7;
inline constexpr std::string_view memory_category_names[num_memory_categories]{"PARAM", "BUFFER", "GRAD", "ACT",
                                                                               "TEMP",  "OPT",    "OTH"};

/// Bytes of each category at one moment, or the maximum of each.
struct memory_bytes {
    std::uint64_t category_bytes[num_memory_categories]{};
    std::uint64_t total = 0;

    [[nodiscard]] constexpr std::uint64_t& operator[](memory_category c) noexcept {
        return category_bytes[static_cast<std::size_t>(c)];
    }
    [[nodiscard]] constexpr std::uint64_t operator[](memory_category c) const noexcept {
        return category_bytes[static_cast<std::size_t>(c)];
    }
    constexpr void add(memory_category c, std::uint64_t bytes) noexcept {
        (*this)[c] += bytes;
        total += bytes;
    }
    constexpr void subtract(memory_category c, std::uint64_t bytes) noexcept {
        (*this)[c] -= bytes;
        total -= bytes;
    }
    /// Raises each category to the value of another moment if that is larger.
    constexpr void set_maximum(const memory_bytes& now) noexcept {
        for (std::size_t i = 0; i < num_memory_categories; ++i)
            if (now.category_bytes[i] > category_bytes[i]) category_bytes[i] = now.category_bytes[i];
        if (now.total > total) total = now.total;
    }
    friend constexpr bool operator==(const memory_bytes&, const memory_bytes&) = default;
};

}  // namespace llmcost
