// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/count.hpp>
#include <llmcost/scope.hpp>
#include <llmcost/string_ref.hpp>

namespace llmcost {

/// Follows a walk through modules and says when it is inside of the scope that was asked for.
class scope_selection {
public:
    constexpr explicit scope_selection(scope_query asked) noexcept : query_(asked) {
        active_ = !selecting() || query_.what() == role::transformer;
    }

    [[nodiscard]] constexpr bool selecting() const noexcept { return query_.by_path() || query_.what() != role::all; }
    [[nodiscard]] constexpr bool active() const noexcept { return active_; }
    [[nodiscard]] constexpr bool found() const noexcept { return found_ || !selecting(); }
    [[nodiscard]] constexpr bool names_a_layer() const noexcept { return query_.names_a_layer(); }

    constexpr void enter(const module_info& m) {
        ++depth_;
        if (query_.what() == role::transformer) {
            if (m.what == role::head && active_) active_ = false, switched_at_ = depth_;
            found_ = true;
            return;
        }
        bool hit = m.what == query_.what();
        if (query_.by_path()) {
            step_into(m.name);
            hit = at_the_end();
            if (m.index >= 0) step_into(count_text{count(m.index)}.view());
            hit = hit || at_the_end();  // a list is the sum of its items
        }
        if (hit && !active_) active_ = found_ = true, switched_at_ = depth_;
    }
    constexpr void leave(const module_info& m) {
        if (switched_at_ == depth_) active_ = !active_, switched_at_ = 0;
        --depth_;
        if (query_.by_path() && !is_empty(m.name)) {
            segments_ -= m.index >= 0 ? 2 : 1;
            if (matched_ > segments_) matched_ = segments_;
        }
    }

private:
    [[nodiscard]] constexpr bool at_the_end() const noexcept {
        return segments_ == query_.segments() && matched_ == segments_;
    }
    constexpr void step_into(string_ref segment) {
        if (segment.empty()) return;  // the root has no name
        if (matched_ == segments_ && segments_ < query_.segments()) {
            const string_ref wanted = query_.segment(segments_);
            if (wanted == segment || wanted == "*") ++matched_;
        }
        ++segments_;
    }

    scope_query query_;
    int depth_ = 0;
    int switched_at_ = 0;
    int segments_ = 0;
    int matched_ = 0;
    bool active_ = true;
    bool found_ = false;
};

}  // namespace llmcost
