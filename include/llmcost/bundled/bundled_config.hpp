// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace llmcost {

// with its length at hand, a literal is read in half the time that a search for its end takes
using std::string_view_literals::operator""sv;

/// One bundled configuration: the keys of a model's `json.json` that its cost depends on, values unchanged, labels by
/// their number; or a description, of which it is a variant.
struct bundled_config {
    std::string_view name;    ///< repository on the hub, "org/name"
    std::string_view source;  ///< public files that the keys were read from; "its own config.json" is the repository's
    std::string_view json;    ///< one JSON object
    std::int64_t parameters;  ///< parameters of the published checkpoint; tied tensors count once
    std::string_view variant{};
};

/// The `model_type` of a bundled configuration: it is the first key of all; a description has that of its model spec.
[[nodiscard]] constexpr std::string_view type_of(const bundled_config& c) noexcept {
    if (!c.variant.empty()) return "described";
    constexpr std::string_view begin = R"({"model_type":")";
    const std::string_view text = c.json.starts_with(begin) ? c.json.substr(begin.size()) : std::string_view{};
    return text.substr(0, text.find('"'));
}

namespace detail {

constexpr char ascii_lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Negative, zero or positive, as `a` sorts before, with or after `b` regardless of the case of ASCII letters.
constexpr int compare_ignoring_case(std::string_view a, std::string_view b) noexcept {
    const std::size_t common = a.size() < b.size() ? a.size() : b.size();
    for (std::size_t i = 0; i < common; ++i) {
        const char x = ascii_lower(a[i]);
        const char y = ascii_lower(b[i]);
        if (x != y) return x < y ? -1 : 1;
    }
    if (a.size() == b.size()) return 0;
    return a.size() < b.size() ? -1 : 1;
}

}  // namespace detail

/// The configuration of a repository in a table that is sorted by name, or null; regardless of case.
[[nodiscard]] constexpr const bundled_config* find_bundled(std::span<const bundled_config> known,
                                                           std::string_view name) noexcept {
    const auto* const found = std::lower_bound(
        known.data(), known.data() + known.size(), name,
        [](const bundled_config& c, std::string_view n) { return detail::compare_ignoring_case(c.name, n) < 0; });
    const bool is_match = found != known.data() + known.size() && detail::compare_ignoring_case(found->name, name) == 0;
    return is_match ? found : nullptr;
}

}  // namespace llmcost
