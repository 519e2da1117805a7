// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/audio.hpp>
#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/bundled/causal.hpp>
#include <llmcost/bundled/dense.hpp>
#include <llmcost/bundled/diffusers.hpp>
#include <llmcost/bundled/encoder.hpp>
#include <llmcost/bundled/gemma.hpp>
#include <llmcost/bundled/gpt.hpp>
#include <llmcost/bundled/image_text_from_q.hpp>
#include <llmcost/bundled/image_text_to_p.hpp>
#include <llmcost/bundled/llama.hpp>
#include <llmcost/bundled/mistral.hpp>
#include <llmcost/bundled/moe.hpp>
#include <llmcost/bundled/qwen.hpp>
#include <llmcost/bundled/state_space.hpp>
#include <llmcost/bundled/text.hpp>
#include <llmcost/bundled/timm.hpp>
#include <llmcost/bundled/torchvision.hpp>
#include <llmcost/bundled/vision.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace llmcost {

namespace detail {

/// Whether the names ascend strictly, regardless of case, so that no name occurs twice.
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
        std::span<const bundled_config>* minimum = nullptr;
        for (auto& table : rest) {
            if (table.empty()) continue;
            if (minimum == nullptr || compare_ignoring_case(table.front().name, minimum->front().name) < 0)
                minimum = &table;
        }
        slot = minimum->front();
        *minimum = minimum->subspan(1);
    }
    return merged;
}

}  // namespace detail

/// Every bundled configuration, sorted by name without regard to case.
inline constexpr auto bundled_configs = detail::merge_bundled(
    bundled_causal, bundled_dense, bundled_diffusers, bundled_encoder, bundled_gemma, bundled_gpt,
    bundled_image_text_from_q, bundled_image_text_to_p, bundled_llama, bundled_mistral, bundled_mixture, bundled_qwen,
    bundled_sound, bundled_state_space, bundled_text, bundled_timm, bundled_torchvision, bundled_vision);

static_assert(detail::names_ascend(bundled_configs), "tables stand in the order of their names, each name once");

/// The bundled configuration of a repository, or null; the case of letters does not count, and nothing else is guessed.
[[nodiscard]] constexpr const bundled_config* find_bundled(std::string_view name) noexcept {
    return find_bundled(bundled_configs, name);
}

}  // namespace llmcost
