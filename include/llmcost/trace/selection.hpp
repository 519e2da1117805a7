// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/count.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost {

/// Follows a trace through modules and reports whether the current module is in the queried scope.
class scope_selection {
public:
    constexpr explicit scope_selection(scope_query query) noexcept : query_(query) {
        is_active_ = !has_query() || query_.queried_role() == role::transformer;
    }

    [[nodiscard]] constexpr bool has_query() const noexcept {
        return query_.kind() != scope_kind::role || query_.queried_role() != role::all;
    }
    [[nodiscard]] constexpr bool is_in_scope() const noexcept { return is_active_; }
    [[nodiscard]] constexpr bool has_match() const noexcept { return is_found_ || !has_query(); }
    /// Whether all matches are parameters whose tensors are counted under other names.
    [[nodiscard]] constexpr bool has_only_tied_parameters() const noexcept {
        return is_found_ && has_tied_ && !has_untied_;
    }
    [[nodiscard]] constexpr bool selects_layer() const noexcept { return query_.selects_layer(); }

    constexpr void enter(const module_info& m) {
        ++depth_;
        if (query_.queried_role() == role::transformer) {
            if (m.module_role == role::head && is_active_) {
                is_active_ = false;
                activation_depth_ = depth_;
            }
            is_found_ = true;
            return;
        }
        bool hit = false;
        switch (query_.kind()) {
            case scope_kind::role: hit = m.module_role != role::none && m.module_role == query_.queried_role(); break;
            case scope_kind::module_class: hit = is_type(m); break;
            case scope_kind::path: hit = match_segment(m); break;
            case scope_kind::parameter: (void)match_segment(m); break;
        }
        if (hit && !is_active_) {
            is_active_ = is_found_ = true;
            activation_depth_ = depth_;
        }
    }
    constexpr void leave(const module_info& m) {
        if (activation_depth_ == depth_) {
            is_active_ = !is_active_;
            activation_depth_ = 0;
        }
        --depth_;
        if (follows_paths()) {
            segments_ -= (is_empty(m.name) ? 0 : 1) + (m.index >= 0 ? 1 : 0);
            if (num_matched_ > segments_) num_matched_ = segments_;
        }
    }
    /// Whether a parameter of the current module matches and counts by itself.
    constexpr bool match_parameter(literal name, bool tied) {
        if (query_.kind() != scope_kind::parameter || segments_ + 1 != query_.segments() || num_matched_ != segments_)
            return false;
        if (!matches_pattern(query_.segment(segments_), name)) return false;
        is_found_ = true;
        (tied ? has_tied_ : has_untied_) = true;
        return !tied;
    }

private:
    [[nodiscard]] constexpr bool follows_paths() const noexcept {
        return query_.kind() == scope_kind::path || query_.kind() == scope_kind::parameter;
    }
    [[nodiscard]] constexpr bool is_type(const module_info& m) const noexcept {
        const string_ref type = class_name_in(query_.text()), prefix = m.class_of_module.prefix,
                         base = m.class_of_module.suffix;
        if (type.size() == prefix.size() + base.size() && type.starts_with(prefix) &&
            type.substr(prefix.size()) == base)
            return !type.empty();
        return m.index >= 0 && !is_empty(m.name) &&
               type == "ModuleList";  // lists have no module of their own: their items match
    }
    [[nodiscard]] constexpr bool at_the_end() const noexcept {
        return segments_ == query_.segments() && num_matched_ == segments_;
    }
    /// Advances by one module. Returns whether the path ends there.
    constexpr bool match_segment(const module_info& m) {
        if (is_empty(m.name) && m.index < 0) return false;  // the root has no name
        bool hit = false;
        if (!is_empty(m.name)) {
            match_segment(string_ref(m.name));
            hit = at_the_end();  // a list is the sum of its items
        }
        if (m.index >= 0) match_segment(count_text{count(m.index)}.view());
        return hit || at_the_end();
    }
    constexpr void match_segment(string_ref segment) {
        if (num_matched_ == segments_ && segments_ < query_.segments() &&
            matches_pattern(query_.segment(segments_), segment))
            ++num_matched_;
        ++segments_;
    }

    scope_query query_;
    int depth_ = 0;
    int activation_depth_ = 0;
    int segments_ = 0;
    int num_matched_ = 0;
    bool is_active_ = true;
    bool is_found_ = false;
    bool has_tied_ = false;
    bool has_untied_ = false;
};

}  // namespace llmcost
