// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace llmcost {

/// An optional value: the part of `std::optional` that the library needs.
///
/// `std::optional` costs an including file 25 template instantiations per type.
template <class T>
struct maybe {
    T stored_value{};
    bool present = false;

    constexpr maybe() noexcept = default;
    constexpr maybe(const T& value) noexcept : stored_value(value), present(true) {}
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return present; }
    [[nodiscard]] constexpr bool has_value() const noexcept { return present; }
    [[nodiscard]] constexpr const T& operator*() const noexcept { return stored_value; }
    [[nodiscard]] constexpr const T* operator->() const noexcept { return &stored_value; }
    [[nodiscard]] constexpr T value_or(T default_value) const noexcept {
        return present ? stored_value : default_value;
    }
    /// Whether both contain equal values, or neither contains one.
    friend constexpr bool operator==(const maybe& a, const maybe& b) noexcept requires requires(const T& x) { x == x; }
    { return a.present == b.present && (!a.present || a.stored_value == b.stored_value); }
};

}  // namespace llmcost
