// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace llmcost {

/// The token mixer of a layer.
enum class token_mixer_kind : std::uint8_t { full_attention, sliding_attention, chunked_attention, recurrent };

/// The properties in which the layers of a model differ.
struct layer_spec {
    token_mixer_kind token_mixer = token_mixer_kind::full_attention;
    bool has_experts = false;     ///< the MLP of the layer is a mixture of experts
    std::uint8_t family_tag = 0;  ///< a distinction that the model family defines; 0: none
    std::int32_t intermediate_size =
        0;  ///< MLP width of this layer, if layers differ; 0: `model_config::intermediate_size`

    friend constexpr bool operator==(const layer_spec&, const layer_spec&) = default;
};

/// The token mixers and other layer properties that a model spec supports.
struct supported_layer_set {
    std::uint8_t token_mixers = 1;  ///< one bit per `token_mixer_kind`; full attention is always supported
    bool experts = false;
    std::uint8_t max_family_tag = 0;  ///< largest supported `layer_spec::family_tag`
    bool has_intermediate_size = false;

    [[nodiscard]] constexpr supported_layer_set operator|(token_mixer_kind token_mixer) const noexcept {
        supported_layer_set all = *this;
        all.token_mixers = static_cast<std::uint8_t>(all.token_mixers | 1U << static_cast<unsigned>(token_mixer));
        return all;
    }
    [[nodiscard]] constexpr bool contains(const layer_spec& k) const noexcept {
        return (token_mixers >> static_cast<unsigned>(k.token_mixer) & 1U) != 0 && (experts || !k.has_experts) &&
               k.family_tag <= max_family_tag && (has_intermediate_size || k.intermediate_size == 0);
    }
};

/// The layer specs of a model: the distinct specs in order of first appearance, and the index of each layer's spec.
///
/// A plan with one spec stores no indices, so that the number of its layers is not limited. A plan with several specs
/// has at most `max_layers` layers.
struct layer_plan {
    static constexpr std::int64_t max_layers = 512;
    static constexpr int max_layer_specs = 32;

    layer_spec specs[max_layer_specs]{};
    std::uint8_t spec_indices[max_layers]{};
    std::uint8_t num_specs = 1;  ///< number of distinct specs

    [[nodiscard]] constexpr bool is_heterogeneous() const noexcept { return num_specs > 1; }
    [[nodiscard]] constexpr std::uint8_t spec_index(std::int64_t layer) const noexcept {
        return is_heterogeneous() && layer >= 0 && layer < max_layers ? spec_indices[layer] : 0;
    }
    [[nodiscard]] constexpr const layer_spec& operator[](std::int64_t layer) const noexcept {
        return specs[spec_index(layer)];
    }

    /// Makes all layers use one spec.
    constexpr void fill(const layer_spec& kind) noexcept {
        *this = layer_plan{};
        specs[0] = kind;
    }
    /// Sets the spec of the next layer. Returns false if the table of specs or the table of indices is full.
    constexpr bool set(std::int64_t layer, const layer_spec& kind) noexcept {
        if (layer == 0) {
            fill(kind);
            return true;
        }
        int n = 0;
        while (n < num_specs && !(specs[n] == kind)) ++n;
        if (n == max_layer_specs) return false;
        if (layer >= max_layers) return n == 0 && !is_heterogeneous();
        if (n == num_specs) specs[num_specs++] = kind;
        spec_indices[layer] = static_cast<std::uint8_t>(n);
        return true;
    }
    [[nodiscard]] constexpr bool contains(token_mixer_kind mixer, std::int64_t layers) const noexcept {
        for (std::int64_t i = 0; i < (is_heterogeneous() ? layers : layers > 0); ++i)
            if ((*this)[i].token_mixer == mixer) return true;
        return false;
    }
    [[nodiscard]] constexpr std::int64_t num_layers_with_experts(std::int64_t layers) const noexcept {
        if (!is_heterogeneous()) return specs[0].has_experts ? layers : 0;
        std::int64_t n = 0;
        for (std::int64_t i = 0; i < layers; ++i) n += (*this)[i].has_experts ? 1 : 0;
        return n;
    }
    friend constexpr bool operator==(const layer_plan&, const layer_plan&) = default;
};

}  // namespace llmcost
