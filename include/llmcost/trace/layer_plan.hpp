// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace llmcost {

/// What a layer mixes tokens with.
enum class mixer_kind : std::uint8_t { full_attention, sliding_attention, chunked_attention, recurrent };

/// What tells one layer of a model from another.
struct layer_kind {
    mixer_kind mixer = mixer_kind::full_attention;
    bool experts = false;    ///< its feed-forward block has experts
    std::uint8_t own = 0;    ///< what the family's file says of it; 0: nothing
    std::int32_t inner = 0;  ///< features inside of its feed-forward block, where layers differ; 0: `intermediate_size`

    friend constexpr bool operator==(const layer_kind&, const layer_kind&) = default;
};

/// Which mixers, and how many words of its own, a walk understands in the kinds of its layers.
struct understood_kinds {
    std::uint8_t mixers = 1;  ///< bit by bit; full attention always
    bool experts = false;
    std::uint8_t own = 0;  ///< the largest word
    bool inner = false;

    [[nodiscard]] constexpr understood_kinds operator|(mixer_kind more) const noexcept {
        understood_kinds all = *this;
        all.mixers = static_cast<std::uint8_t>(all.mixers | 1U << static_cast<unsigned>(more));
        return all;
    }
    [[nodiscard]] constexpr bool has(const layer_kind& k) const noexcept {
        return (mixers >> static_cast<unsigned>(k.mixer) & 1U) != 0 && (experts || !k.experts) && k.own <= own &&
               (inner || k.inner == 0);
    }
};

/// The kinds of all layers: a table of kinds in order of first appearance, and each layer's number in it.
///
/// One kind for every layer needs no numbers, so that their count has no bound.
struct layer_plan {
    static constexpr std::int64_t longest = 512;
    static constexpr int most_kinds = 32;

    layer_kind kinds[most_kinds]{};
    std::uint8_t numbers[longest]{};
    std::uint8_t count = 1;  ///< of kinds

    [[nodiscard]] constexpr bool mixed() const noexcept { return count > 1; }
    [[nodiscard]] constexpr std::uint8_t number(std::int64_t layer) const noexcept { return mixed() ? numbers[layer] : 0; }
    [[nodiscard]] constexpr const layer_kind& operator[](std::int64_t layer) const noexcept { return kinds[number(layer)]; }

    /// Writes a plan of one kind.
    constexpr void set_all(const layer_kind& kind) noexcept { *this = layer_plan{}, kinds[0] = kind; }
    /// Writes a layer of a plan that is written in order; false where the table has no room for another kind.
    constexpr bool set(std::int64_t layer, const layer_kind& kind) noexcept {
        if (layer == 0) return set_all(kind), true;
        int n = 0;
        while (n < count && !(kinds[n] == kind)) ++n;
        if (n == most_kinds) return false;
        if (n == count) kinds[count++] = kind;
        numbers[layer] = static_cast<std::uint8_t>(n);
        return true;
    }
    [[nodiscard]] constexpr bool has(mixer_kind mixer, std::int64_t layers) const noexcept {
        for (std::int64_t i = 0; i < (mixed() ? layers : layers > 0); ++i)
            if ((*this)[i].mixer == mixer) return true;
        return false;
    }
    [[nodiscard]] constexpr std::int64_t with_experts(std::int64_t layers) const noexcept {
        if (!mixed()) return kinds[0].experts ? layers : 0;
        std::int64_t n = 0;
        for (std::int64_t i = 0; i < layers; ++i) n += (*this)[i].experts ? 1 : 0;
        return n;
    }
    friend constexpr bool operator==(const layer_plan&, const layer_plan&) = default;
};

}  // namespace llmcost
