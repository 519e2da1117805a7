// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

// clang-format off
/// The purpose of a module, for queries without a path. A module has at most one role.
enum class role : std::uint8_t {
    none, embedding, attn, cross_attn, mlp, experts, router, norm, rotary, mixer, head, encoder, decoder, vision, audio, projector,
    transformer,  ///< everything except the head
    all           ///< everything
};
// clang-format on

/// Names of the roles in queries.
inline constexpr literal role_names[]{"none",    "embedding", "attn",   "cross_attn", "mlp",         "experts",
                                      "router",  "norm",      "rotary", "mixer",      "head",        "encoder",
                                      "decoder", "vision",    "audio",  "projector",  "transformer", "all"};

[[nodiscard]] constexpr literal name_of(role r) noexcept { return role_names[static_cast<std::size_t>(r)]; }

/// The role of a name. Returns `none` if there is no such role.
[[nodiscard]] constexpr role role_from(string_ref name) noexcept {
    for (std::size_t i = 1; i <= static_cast<std::size_t>(role::all); ++i)
        if (role_names[i] == name) return static_cast<role>(i);
    return role::none;
}

/// A class of the reference in two parts, as in model specs: `Llama` + `RMSNorm`.
struct class_name {
    literal prefix = "";
    literal suffix = "";
};

/// The name of a module in its parent, and its index if it is in a list.
struct child_name {
    literal name = "";
    std::int64_t index = -1;

    constexpr child_name(literal child) noexcept : name(child) {}
    constexpr child_name(literal child, std::int64_t number) noexcept : name(child), index(number) {}
    /// A child of the current module with an index only (`nn.Sequential`), not in a named list.
    [[nodiscard]] static constexpr child_name indexed(std::int64_t number) noexcept { return {"", number}; }
};

/// A module when it is entered: its name, its index in a list (or -1), its class and its role.
struct module_info {
    literal name = "";
    std::int64_t index = -1;
    class_name class_of_module{};
    role module_role = role::none;
    bool is_leaf = false;
    bool continues_block = false;  ///< the next sibling continues the block of this role, such as `fc1` before `fc2`
};

/// Whether a path matches a pattern; `*` matches any characters within one segment.
[[nodiscard]] constexpr bool matches_pattern(string_ref pattern, string_ref path) noexcept {
    std::size_t p = 0, s = 0, star = string_ref::npos, resume = 0;
    while (s < path.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = s;
        } else if (p < pattern.size() && pattern[p] == path[s]) {
            ++p;
            ++s;
        } else if (star != string_ref::npos && path[resume] != '.') {
            p = star + 1;
            s = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

/// The class in a name such as `torch.nn.Linear`, `nn.Linear` or `Linear`. Returns an empty text for a path.
[[nodiscard]] constexpr string_ref class_name_in(string_ref name) noexcept {
    for (const string_ref module : {string_ref("torch.nn."), string_ref("nn."), string_ref("transformers.")})
        if (name.starts_with(module)) {
            name.remove_prefix(module.size());
            break;
        }
    return name.find('.') == string_ref::npos ? name : string_ref{};
}

/// The kinds of scopes that a name can select.
enum class scope_kind : std::uint8_t {
    role,          ///< each outermost module with this role
    module_class,  ///< each outermost module of this class
    path,          ///< the module with this path, or the outermost modules that match a pattern
    parameter,     ///< the parameter with this name, or those that match a pattern
};

/// The part of a model to measure: a role, or a name.
///
/// A name is tried as a role, class, path or pattern, and parameter, in this order. A role that the model lacks has
/// cost 0; a name without a match is an error. The text is not copied and must outlive the query.
class scope_query {
public:
    constexpr scope_query() noexcept = default;
    constexpr explicit scope_query(role module_role) noexcept : role_(module_role) {}
    constexpr explicit scope_query(string_ref name) noexcept : scope_query(scope_kind::role, name) {
        if (role_ == role::none) kind_ = class_name_in(name).empty() ? scope_kind::path : scope_kind::module_class;
    }
    /// A name that is tried as this kind only.
    constexpr scope_query(scope_kind kind, string_ref name) noexcept
        : role_(kind == scope_kind::role ? role_from(name) : role::none), kind_(kind), is_text_(true), text_(name) {
        segments_ = 1;
        for (const char c : name) segments_ += c == '.' ? 1 : 0;
    }
    /// Deleted: a temporary string would leave the query with a dangling view.
    template <string_like S>
    requires(!__is_trivially_copyable(S)) explicit scope_query(const S&& temporary) = delete;

    [[nodiscard]] constexpr role queried_role() const noexcept { return role_; }
    [[nodiscard]] constexpr scope_kind kind() const noexcept { return kind_; }
    [[nodiscard]] constexpr string_ref text() const noexcept { return text_; }
    /// Whether the query is a name, which must match something.
    [[nodiscard]] constexpr bool is_text() const noexcept { return is_text_; }
    /// Advances to the next kind after one without a match. Returns false after the last.
    [[nodiscard]] constexpr bool try_next_kind() noexcept {
        if (kind_ == scope_kind::role || kind_ == scope_kind::parameter) return false;
        kind_ = kind_ == scope_kind::module_class ? scope_kind::path : scope_kind::parameter;
        return true;
    }
    [[nodiscard]] constexpr int segments() const noexcept { return segments_; }
    /// Whether a segment is a layer index or may match one, so that layers are traced separately.
    [[nodiscard]] constexpr bool selects_layer() const noexcept {
        if (kind_ != scope_kind::path && kind_ != scope_kind::parameter) return false;
        for (int i = 0; i < segments_; ++i) {
            const string_ref s = segment(i);
            const bool part = s.size() > 1 && s.find('*') != string_ref::npos;
            if (!s.empty() && (part || (s.front() >= '0' && s.front() <= '9'))) return true;
        }
        return false;
    }
    [[nodiscard]] constexpr string_ref segment(int i) const noexcept {
        string_ref rest = text_;
        for (;; --i) {
            const auto dot = rest.find('.');
            if (i == 0) return rest.substr(0, dot);
            rest.remove_prefix(dot + 1);
        }
    }

private:
    role role_ = role::all;
    scope_kind kind_ = scope_kind::role;
    bool is_text_ = false;
    string_ref text_{};
    int segments_ = 0;
};

}  // namespace llmcost
