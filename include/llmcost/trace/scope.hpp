// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

// clang-format off
/// What a module is for, so that people can ask without knowing paths; a module has at most one role.
enum class role : std::uint8_t {
    none, embedding, attn, cross_attn, mlp, experts, router, norm, rotary, mixer, head, encoder, decoder, vision, audio, projector,
    transformer,  ///< everything but the head
    all           ///< everything
};
// clang-format on

/// Names of the roles, as people type them.
inline constexpr literal role_names[]{"none",    "embedding", "attn",   "cross_attn", "mlp",         "experts",
                                      "router",  "norm",      "rotary", "mixer",      "head",        "encoder",
                                      "decoder", "vision",    "audio",  "projector",  "transformer", "all"};

[[nodiscard]] constexpr literal name_of(role r) noexcept { return role_names[static_cast<std::size_t>(r)]; }

/// The role of a name; `none` where there is no such role.
[[nodiscard]] constexpr role role_from(string_ref name) noexcept {
    for (std::size_t i = 1; i <= static_cast<std::size_t>(role::all); ++i)
        if (role_names[i] == name) return static_cast<role>(i);
    return role::none;
}

/// A class of the reference, in the two halves that rows are written in: `Llama` + `RMSNorm`.
struct class_name {
    literal prefix = "";
    literal suffix = "";
};

/// What a module is called in its parent: its name, and its number where it stands in a list.
struct child_name {
    literal name = "";
    std::int64_t index = -1;

    constexpr child_name(literal child) noexcept : name(child) {}
    constexpr child_name(literal child, std::int64_t number) noexcept : name(child), index(number) {}
    /// A numbered child of the module that the walk is in (`nn.Sequential`), of no list with a name of its own.
    [[nodiscard]] static constexpr child_name indexed(std::int64_t number) noexcept { return {"", number}; }
};

/// A module at the moment it is entered: its name in its parent, its place in a list (or -1), its class and role.
struct module_info {
    literal name = "";
    std::int64_t index = -1;
    class_name class_of_module{};
    role module_role = role::none;
    bool is_leaf = false;
};

/// Whether a path is one that a pattern means; `*` stands for any letters within one segment.
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

/// The class in a word such as `torch.nn.Linear`, `nn.Linear`, `Linear`; empty for a word that is a path.
[[nodiscard]] constexpr string_ref class_name_in(string_ref name) noexcept {
    for (const string_ref module : {string_ref("torch.nn."), string_ref("nn."), string_ref("transformers.")})
        if (name.starts_with(module)) {
            name.remove_prefix(module.size());
            break;
        }
    return name.find('.') == string_ref::npos ? name : string_ref{};
}

/// What a word names.
enum class scope_kind : std::uint8_t {
    role,          ///< every outermost module with this purpose
    module_class,  ///< every outermost module of this class
    path,          ///< the module with this path, or the outermost ones of a pattern
    parameter,     ///< the parameter with this name, or those of a pattern
};

/// Which part of a model is asked for: a role, or a word that is understood as the command does: a role, else a class,
/// else a path or pattern, else a parameter.
///
/// A role that a model lacks is nothing, a word that names nothing is an error. The word is not copied: it must live
/// on.
class scope_query {
public:
    constexpr scope_query() noexcept = default;
    constexpr explicit scope_query(role module_role) noexcept : role_(module_role) {}
    constexpr explicit scope_query(string_ref name) noexcept : scope_query(scope_kind::role, name) {
        if (role_ == role::none) kind_ = class_name_in(name).empty() ? scope_kind::path : scope_kind::module_class;
    }
    /// A word that is understood in this one way.
    constexpr scope_query(scope_kind kind, string_ref name) noexcept
        : role_(kind == scope_kind::role ? role_from(name) : role::none), kind_(kind), is_text_(true), text_(name) {
        segments_ = 1;
        for (const char c : name) segments_ += c == '.' ? 1 : 0;
    }
    /// A string that ends with the expression would leave a query into nothing.
    template <string_like S>
    requires(!__is_trivially_copyable(S)) explicit scope_query(const S&& temporary) = delete;

    [[nodiscard]] constexpr role queried_role() const noexcept { return role_; }
    [[nodiscard]] constexpr scope_kind kind() const noexcept { return kind_; }
    [[nodiscard]] constexpr string_ref text() const noexcept { return text_; }
    /// Whether it was asked for by a word, which must name something.
    [[nodiscard]] constexpr bool is_text() const noexcept { return is_text_; }
    /// The next way to understand the word, after one in which it named nothing; false after the last.
    [[nodiscard]] constexpr bool try_next_kind() noexcept {
        if (kind_ == scope_kind::role || kind_ == scope_kind::parameter) return false;
        kind_ = kind_ == scope_kind::module_class ? scope_kind::path : scope_kind::parameter;
        return true;
    }
    [[nodiscard]] constexpr int segments() const noexcept { return segments_; }
    /// Whether a segment is a number or may be a part of one, so that layers must be told apart.
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
