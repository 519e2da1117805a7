// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/model/architecture.hpp>
#include <llmcost/reading/config.hpp>

// Plans of layers: which kinds a configuration says, or a rule.
namespace llmcost {

/// What `layer_types` calls the mixers of layers (transformers/configuration_utils.py, `ALLOWED_LAYER_TYPES` and older
/// names).
struct layer_word {
    literal word;
    mixer_kind mixer;
};
inline constexpr layer_word layer_words[]{
    {"full_attention", mixer_kind::full_attention},
    {"attention", mixer_kind::full_attention},
    {"sliding_attention", mixer_kind::sliding_attention},
    {"chunked_attention", mixer_kind::chunked_attention},
    {"linear_attention", mixer_kind::recurrent},
    {"conv", mixer_kind::recurrent},
    {"mamba", mixer_kind::recurrent},
};

/// Writes a plan from `layer_types`, where the file has it; says whether it did. `other` may stand beside full attention.
constexpr bool read_layer_types(config_view config, sizes& s, mixer_kind other = mixer_kind::sliding_attention) {
    const auto types = config.find("layer_types");
    if (!types || types->is_null()) return false;
    if (!types->is_array() || static_cast<std::int64_t>(types->size()) != s.num_hidden_layers)
        fail_value(config, "layer_types", "a list with one kind per hidden layer");
    if (s.num_hidden_layers > layer_plan::longest) fail_value(config, "layer_types", "at most 512 layers of mixed kinds");
    for (std::int64_t i = 0; i < s.num_hidden_layers; ++i) {
        const string_ref name = (*types)[static_cast<std::uint32_t>(i)].as_string();
        const layer_word* known = nullptr;
        for (const layer_word& one : layer_words)
            if (one.word == name) known = &one;
        if (known == nullptr) fail_unsupported(config, "layer_types", "no layer describes one of these kinds");
        if (known->mixer != mixer_kind::full_attention && known->mixer != other)
            fail_unsupported(config, "layer_types", "no layer of this type is of one of these kinds");
        (void)s.layers.set(i, {known->mixer});
    }
    return true;
}

/// Layers that a list names by their numbers.
class layer_set {
public:
    constexpr layer_set() noexcept = default;
    constexpr explicit layer_set(config_view list) {
        for (const config_view entry : list) {
            const std::int64_t i = entry.as_integer();
            if (i >= 0 && i < layer_plan::longest) named_[i] = true;
        }
    }
    [[nodiscard]] constexpr bool has(std::int64_t layer) const noexcept { return named_[layer]; }

private:
    bool named_[layer_plan::longest]{};
};

/// Refuses more layers than a plan of several kinds has room for.
constexpr void check_planned(config_view config, const sizes& s) {
    if (s.num_hidden_layers > layer_plan::longest)
        fail_value(config, "num_hidden_layers", "at most 512 layers whose kinds follow a rule");
}

/// How many layers a rule picks that a plan will follow.
template <class Picks>
constexpr std::int64_t count_layers(config_view config, const sizes& s, const Picks& picks) {
    check_planned(config, s);
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < s.num_hidden_layers; ++i) n += picks(i) ? 1 : 0;
    return n;
}

/// Writes one layer of a plan that is written in order.
constexpr void plan_layer(config_view config, sizes& s, std::int64_t i, const layer_kind& kind) {
    check_planned(config, s);
    if (!s.layers.set(i, kind)) fail_value(config, "num_hidden_layers", "layers of at most 32 kinds");
}

/// Writes a plan from a rule: `kind_of(i)` for every layer.
template <class KindOf>
constexpr void plan_layers(config_view config, sizes& s, const KindOf& kind_of) {
    for (std::int64_t i = 0; i < s.num_hidden_layers; ++i) plan_layer(config, s, i, kind_of(i));
}

/// All layers alike, as where one mask serves them: sliding where the file has a window or says so, else full.
///
/// Source: transformers/cache_utils.py, `get_layer_types_and_kwargs`, which looks at no `model_type`.
constexpr void plan_one_mask(config_view config, sizes& s, bool has_windows = true) {
    const auto given = config.find("sliding_window");
    if (has_windows && s.sliding_window == 0 && given && !given->is_null())
        fail_value(config, "sliding_window", "at least 2 tokens, or null");
    mixer_kind mixer = s.sliding_window > 0 ? mixer_kind::sliding_attention : mixer_kind::full_attention;
    if (read_layer_types(config, s) && s.num_hidden_layers > 0) {
        if (s.layers.mixed())
            fail_unsupported(config, "layer_types", "layers of this type share one mask and are all of one kind");
        mixer = s.layers[0].mixer;
    }
    if (mixer == mixer_kind::full_attention) s.sliding_window = 0;
    s.layers.set_all({mixer});
}

/// Layers that slide do so through a window; of one token the reference's cache would keep everything.
constexpr void check_window(config_view config, const sizes& s) {
    if (s.sliding_window >= 2 || !s.layers.has(mixer_kind::sliding_attention, s.num_hidden_layers)) return;
    if (config.contains("use_sliding_window") && !config.boolean("use_sliding_window", false))
        fail_value(config, "use_sliding_window", "true, as layers slide");
    fail_value(config, "sliding_window", "at least 2 tokens, as layers slide");
}

/// Types that make a mask of a window whatever their layers are: the reference has none to make of null.
///
/// Source: transformers/masking_utils.py, `create_sliding_window_causal_mask`.
constexpr void check_window_is_given(config_view config) {
    const auto given = config.find("sliding_window");
    if (given && given->is_null()) fail_value(config, "sliding_window", "a number of tokens, as a mask is made of it");
}

/// Types that say nothing of windows: in a file that has one, the reference's cache forgets all the same.
constexpr void refuse_window(config_view config) {
    if (const auto given = config.find("sliding_window"); given && !given->is_null())
        fail_unsupported(config, "sliding_window", "no row describes layers of this type that forget");
}

/// Qwen: a window only where `use_sliding_window` says so, for layers from `max_window_layers` on.
constexpr void plan_qwen_window(config_view config, sizes& s, std::int64_t otherwise) {
    if (!config.boolean("use_sliding_window", false)) s.sliding_window = 0;
    const std::int64_t full = config.non_negative("max_window_layers", otherwise);
    if (!read_layer_types(config, s))
        plan_layers(config, s, [&](std::int64_t i) {
            const bool slides = s.sliding_window > 0 && i >= full;
            return layer_kind{slides ? mixer_kind::sliding_attention : mixer_kind::full_attention};
        });
}

}  // namespace llmcost
