// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/bundled/dense.hpp>
#include <llmcost/bundled/encoder.hpp>
#include <llmcost/bundled/gemma.hpp>
#include <llmcost/bundled/gpt.hpp>
#include <llmcost/bundled/llama.hpp>
#include <llmcost/bundled/mistral.hpp>
#include <llmcost/bundled/mixture.hpp>
#include <llmcost/bundled/qwen.hpp>
#include <llmcost/bundled/state_space.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace llmcost {

namespace detail {

constexpr char ascii_lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Negative, zero or positive, as `a` stands before, with or behind `b` when the case of ASCII letters does not count.
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

/// Whether the names ascend strictly, the case of letters apart; so none stands twice.
constexpr bool names_ascend(std::span<const bundled_config> configs) noexcept {
    for (std::size_t i = 1; i < configs.size(); ++i)
        if (compare_ignoring_case(configs[i - 1].name, configs[i].name) >= 0) return false;
    return true;
}

/// Merges tables, each sorted by name, into one.
template <std::size_t... Sizes>
constexpr auto merge_bundled(const bundled_config (&... tables)[Sizes]) noexcept {
    std::array<bundled_config, (Sizes + ...)> merged{};
    std::array<std::span<const bundled_config>, sizeof...(Sizes)> rest{std::span<const bundled_config>(tables)...};
    for (bundled_config& slot : merged) {
        std::span<const bundled_config>* least = nullptr;
        for (auto& table : rest) {
            if (table.empty()) continue;
            if (least == nullptr || compare_ignoring_case(table.front().name, least->front().name) < 0) least = &table;
        }
        slot = least->front();
        *least = least->subspan(1);
    }
    return merged;
}

}  // namespace detail

/// Every bundled configuration, sorted by name without regard to case.
inline constexpr auto bundled_configs =
    detail::merge_bundled(bundled_dense, bundled_encoder, bundled_gemma, bundled_gpt, bundled_llama, bundled_mistral,
                          bundled_mixture, bundled_qwen, bundled_state_space);

static_assert(detail::names_ascend(bundled_configs), "tables stand in the order of their names, each name once");

/// The bundled configuration of a repository, or null; the case of letters does not count, and nothing else is guessed.
[[nodiscard]] constexpr const bundled_config* find_bundled(std::string_view name) noexcept {
    std::size_t first = 0;
    std::size_t last = bundled_configs.size();
    while (first < last) {
        const std::size_t middle = first + (last - first) / 2;
        const int order = detail::compare_ignoring_case(bundled_configs[middle].name, name);
        if (order == 0) return &bundled_configs[middle];
        if (order < 0)
            first = middle + 1;
        else
            last = middle;
    }
    return nullptr;
}

}  // namespace llmcost
