// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace llmcost {

/// Replaces a value while the guard lives, then restores it.
template <class T>
class scoped_value {
public:
    constexpr scoped_value(T& target, const T& temporary_value) noexcept : target_(target), previous_(target) {
        target_ = temporary_value;
    }
    constexpr ~scoped_value() { target_ = previous_; }
    scoped_value(const scoped_value&) = delete;
    scoped_value& operator=(const scoped_value&) = delete;

private:
    T& target_;
    T previous_;
};

}  // namespace llmcost
