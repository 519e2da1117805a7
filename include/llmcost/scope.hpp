// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/string_ref.hpp>

namespace llmcost {

// clang-format off
/// What a module is for, so that people can ask without knowing paths; a module has at most one role.
enum class role : std::uint8_t {
    none, embedding, attn, cross_attn, mlp, experts, router, norm, rotary, mixer, head, encoder, decoder, vision, audio,
    transformer,  ///< everything but the head
    all           ///< everything
};
// clang-format on

/// Names of the roles, as people type them.
inline constexpr literal role_names[]{"none",    "embedding", "attn",   "cross_attn",  "mlp",  "experts",
                                      "router",  "norm",      "rotary", "mixer",       "head", "encoder",
                                      "decoder", "vision",    "audio",  "transformer", "all"};

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
    literal base = "";
};

/// What a module is called in its parent: its name, and its number where it stands in a list.
struct module_place {
    literal name = "";
    std::int64_t index = -1;

    constexpr module_place(literal own) noexcept : name(own) {}
    constexpr module_place(literal own, std::int64_t number) noexcept : name(own), index(number) {}
};

/// A module at the moment it is entered: its name in its parent, its place in a list (or -1), its class and role.
struct module_info {
    literal name = "";
    std::int64_t index = -1;
    class_name type{};
    role what = role::none;
    bool leaf = false;
};

/// Which part of a model is asked for: a role, or a module path in which `*` stands for one segment.
///
/// A path that names a layer by its number (`model.layers.12.mlp`) is found only by a walk that lists every layer.
class scope_query {
public:
    constexpr scope_query() noexcept = default;
    constexpr explicit scope_query(role what) noexcept : role_(what) {}
    constexpr explicit scope_query(string_ref path) noexcept
        : role_(role_from(path)), path_(role_ == role::none ? path : string_ref{}) {
        if (!path_.empty()) segments_ = 1;
        for (const char c : path_) segments_ += c == '.' ? 1 : 0;
    }

    [[nodiscard]] constexpr role what() const noexcept { return role_; }
    [[nodiscard]] constexpr bool by_path() const noexcept { return segments_ != 0; }
    [[nodiscard]] constexpr int segments() const noexcept { return segments_; }
    /// Whether a segment is a number, so that layers must be told apart.
    [[nodiscard]] constexpr bool names_a_layer() const noexcept {
        for (int i = 0; i < segments_; ++i) {
            const string_ref s = segment(i);
            if (!s.empty() && s.front() >= '0' && s.front() <= '9') return true;
        }
        return false;
    }
    [[nodiscard]] constexpr string_ref segment(int i) const noexcept {
        string_ref rest = path_;
        for (;; --i) {
            const auto dot = rest.find('.');
            if (i == 0) return rest.substr(0, dot);
            rest.remove_prefix(dot + 1);
        }
    }

private:
    role role_ = role::all;
    string_ref path_{};
    int segments_ = 0;
};

}  // namespace llmcost
