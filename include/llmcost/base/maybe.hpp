// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace llmcost {

/// A value, or none: what the core needs of `std::optional`, which costs an including file twenty-five templates per type.
template <class T>
struct maybe {
    T held{};
    bool present = false;

    constexpr maybe() noexcept = default;
    constexpr maybe(const T& value) noexcept : held(value), present(true) {}
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return present; }
    [[nodiscard]] constexpr bool has_value() const noexcept { return present; }
    [[nodiscard]] constexpr const T& operator*() const noexcept { return held; }
    [[nodiscard]] constexpr const T* operator->() const noexcept { return &held; }
    [[nodiscard]] constexpr T value_or(T otherwise) const noexcept { return present ? held : otherwise; }
    /// Equal where both hold equal values, or neither holds one.
    friend constexpr bool operator==(const maybe& a, const maybe& b) noexcept requires requires(const T& x) { x == x; }
    { return a.present == b.present && (!a.present || a.held == b.held); }
};

}  // namespace llmcost
