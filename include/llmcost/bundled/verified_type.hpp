// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace llmcost {

/// How a model type is verified against the reference.
struct verified_type {
    std::string_view model_type;
    std::string_view configurations;  ///< whose reference runs it reproduces exactly; empty: not compared with any
    std::string_view runs;            ///< kinds of forward passes among them
    std::string_view training;
    std::string_view exceptions;
    std::string_view modalities{};  ///< multimodal inputs in such runs: images, videos, sound
};

/// The text for a type that was not compared with a reference.
inline constexpr std::string_view not_verified = "not verified with a reference run";

/// All types and the reference that they are verified against.
struct verified_type_table {
    std::string_view reference;
    std::span<const verified_type> types;
};

/// How a type is verified; null where the table does not have it.
[[nodiscard]] constexpr const verified_type* find_verified(const verified_type_table& all,
                                                           std::string_view model_type) noexcept {
    for (const verified_type& v : all.types)
        if (v.model_type == model_type) return &v;
    return nullptr;
}

}  // namespace llmcost
