// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace llmcost {

/// How a model type is held against the reference.
struct verified_type {
    std::string_view model_type;
    std::string_view configurations;  ///< whose reference runs it is exact in; empty: it was held against none
    std::string_view runs;            ///< kinds of forward passes among them
    std::string_view training;
    std::string_view exceptions;
    std::string_view modalities{};  ///< what its towers were shown in such runs: images, videos, sound
};

/// What a page says of a type that was held against none.
inline constexpr std::string_view not_verified = "not held against a reference run";

/// All types and the reference that they are held against.
struct verified_type_table {
    std::string_view reference;
    std::span<const verified_type> types;
};

/// How a type is held; null where the table does not have it.
[[nodiscard]] constexpr const verified_type* find_verified(const verified_type_table& all,
                                                           std::string_view model_type) noexcept {
    for (const verified_type& v : all.types)
        if (v.model_type == model_type) return &v;
    return nullptr;
}

}  // namespace llmcost
