// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace llmcost {

/// What a decoder layer mixes tokens with.
enum class mixer_kind : std::uint8_t { full_attention, sliding_attention, chunked_attention, linear };

/// One layer's place in a plan: its mixer, whether its feed-forward block has experts, whether its attention knows of no
/// rotary positions that other layers have.
struct layer_kind {
    mixer_kind mixer = mixer_kind::full_attention;
    bool experts = false;
    bool unrotated = false;

    [[nodiscard]] constexpr std::uint8_t code() const noexcept {
        return static_cast<std::uint8_t>(static_cast<int>(mixer) + (experts ? 4 : 0) + (unrotated ? 8 : 0));
    }
    static constexpr layer_kind from(std::uint8_t code) noexcept {
        return {static_cast<mixer_kind>(code & 3U), (code & 4U) != 0, (code & 8U) != 0};
    }
    static constexpr int codes = 16;
};

/// The kinds of all layers in order; one kind for every layer needs no list, so that its length has no bound.
struct layer_plan {
    static constexpr std::int64_t longest = 512;
    std::uint8_t kinds[longest]{};
    std::uint8_t common = 0;
    bool mixed = false;

    [[nodiscard]] constexpr std::uint8_t operator[](std::int64_t i) const noexcept { return mixed ? kinds[i] : common; }
    [[nodiscard]] constexpr bool has(mixer_kind mixer, std::int64_t layers) const noexcept {
        if (!mixed) return layers > 0 && layer_kind::from(common).mixer == mixer;
        for (std::int64_t i = 0; i < layers; ++i)
            if (layer_kind::from(kinds[i]).mixer == mixer) return true;
        return false;
    }
    [[nodiscard]] constexpr std::int64_t with_experts(std::int64_t layers) const noexcept {
        if (!mixed) return layer_kind::from(common).experts ? layers : 0;
        std::int64_t n = 0;
        for (std::int64_t i = 0; i < layers; ++i) n += layer_kind::from(kinds[i]).experts ? 1 : 0;
        return n;
    }
    friend constexpr bool operator==(const layer_plan&, const layer_plan&) = default;
};

}  // namespace llmcost
