// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace llmcost {

/// Something that has another value while a guard lives.
template <class T>
class value_guard {
public:
    constexpr value_guard(T& place, const T& now) noexcept : place_(place), before_(place) { place_ = now; }
    constexpr ~value_guard() { place_ = before_; }
    value_guard(const value_guard&) = delete;
    value_guard& operator=(const value_guard&) = delete;

private:
    T& place_;
    T before_;
};

}  // namespace llmcost
