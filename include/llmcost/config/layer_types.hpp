// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/model/model_spec.hpp>

// Layer plans, from `layer_types` or from a rule.
namespace llmcost {

/// A token mixer and its name in `layer_types`.
///
/// Source: transformers/configuration_utils.py, `ALLOWED_LAYER_TYPES`, and older names.
struct layer_type_name {
    literal name;
    token_mixer_kind mixer;
};
inline constexpr layer_type_name layer_type_names[]{
    {"full_attention", token_mixer_kind::full_attention},
    {"attention", token_mixer_kind::full_attention},
    {"sliding_attention", token_mixer_kind::sliding_attention},
    {"chunked_attention", token_mixer_kind::chunked_attention},
    {"linear_attention", token_mixer_kind::recurrent},
    {"conv", token_mixer_kind::recurrent},
    {"mamba", token_mixer_kind::recurrent},
};

/// Sets the layer plan from `layer_types`. Returns false if the key is absent.
///
/// Layers can be full attention or `alternative_token_mixer`.
constexpr bool parse_layer_types(config_view json, model_config& config,
                                 token_mixer_kind alternative_token_mixer = token_mixer_kind::sliding_attention) {
    const auto types = json.find("layer_types");
    if (!types || types->is_null()) return false;
    if (!types->is_array() || static_cast<std::int64_t>(types->size()) != config.num_hidden_layers)
        throw_invalid_value(json, "layer_types", "a list with one kind per hidden layer");
    if (config.num_hidden_layers > layer_plan::max_layers)
        throw_invalid_value(json, "layer_types", "at most 512 layers of mixed kinds");
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
        const string_ref name = (*types)[static_cast<std::uint32_t>(i)].as_string();
        const layer_type_name* known = nullptr;
        for (const layer_type_name& one : layer_type_names)
            if (one.name == name) known = &one;
        if (known == nullptr) throw_unsupported(json, "layer_types", "unsupported layer type");
        if (known->mixer != token_mixer_kind::full_attention && known->mixer != alternative_token_mixer)
            throw_unsupported(json, "layer_types", "layer type not supported by this model type");
        if (!config.layers.set(i, {known->mixer}))
            throw_invalid_value(json, "layer_types", "layers of at most 32 kinds");
    }
    return true;
}

/// A set of layers, given by a list of indices.
class layer_set {
public:
    constexpr layer_set() noexcept = default;
    constexpr explicit layer_set(config_view list) {
        for (const config_view entry : list) {
            const std::int64_t i = entry.as_integer();
            if (i >= 0 && i < layer_plan::max_layers) named_[i] = true;
        }
    }
    [[nodiscard]] constexpr bool has(std::int64_t layer) const noexcept {
        return layer >= 0 && layer < layer_plan::max_layers && named_[layer];
    }

private:
    bool named_[layer_plan::max_layers]{};
};

/// Checks that the number of layers does not exceed the capacity of a heterogeneous plan.
constexpr void validate_layers(config_view json, const model_config& config) {
    if (config.num_hidden_layers > layer_plan::max_layers) {
        if (!json.contains("num_hidden_layers"))
            throw_unsupported(json, "more than 512 layers whose kinds follow a rule are not supported");
        throw_invalid_value(json, "num_hidden_layers", "at most 512 layers whose kinds follow a rule");
    }
}

/// Number of layers that a rule selects.
template <class Picks>
constexpr std::int64_t count_layers(config_view json, const model_config& config, const Picks& picks) {
    validate_layers(json, config);
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) n += picks(i) ? 1 : 0;
    return n;
}

/// Sets layer i of the plan. Layers must be set in order.
constexpr void set_layer(config_view json, model_config& config, std::int64_t i, const layer_spec& kind) {
    validate_layers(json, config);
    if (!config.layers.set(i, kind)) throw_invalid_value(json, "num_hidden_layers", "layers of at most 32 kinds");
}

/// Sets the layer plan from a rule, a function from the layer index to `layer_spec`.
template <class KindOf>
constexpr void set_layers(config_view json, model_config& config, const KindOf& layer_spec_of) {
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) set_layer(json, config, i, layer_spec_of(i));
}

/// Sets a plan of equal layers, which share one mask.
///
/// Layers are sliding if there is a window or if `layer_types` lists them as sliding, otherwise full.
/// Source: transformers/cache_utils.py, `get_layer_types_and_kwargs`, which is independent of `model_type`.
constexpr void set_single_mask(config_view json, model_config& config, bool has_windows = true) {
    const auto window = json.find("sliding_window");
    if (has_windows && config.sliding_window == 0 && window && !window->is_null())
        throw_invalid_value(json, "sliding_window", "at least 2 tokens, or null");
    token_mixer_kind mixer =
        config.sliding_window > 0 ? token_mixer_kind::sliding_attention : token_mixer_kind::full_attention;
    if (parse_layer_types(json, config) && config.num_hidden_layers > 0) {
        if (config.layers.is_heterogeneous())
            throw_unsupported(json, "layer_types", "this model type supports one layer type for all layers");
        mixer = config.layers[0].token_mixer;
    }
    if (mixer == token_mixer_kind::full_attention) config.sliding_window = 0;
    config.layers.fill({mixer});
}

/// Checks that sliding layers have a window of at least 2 tokens. With 1, the reference's cache would not be limited.
constexpr void validate_sliding_window(config_view json, const model_config& config) {
    if (config.sliding_window >= 2 ||
        !config.layers.contains(token_mixer_kind::sliding_attention, config.num_hidden_layers))
        return;
    if (json.contains("use_sliding_window") && !json.boolean("use_sliding_window", false))
        throw_invalid_value(json, "use_sliding_window", "true, because the model has sliding layers");
    throw_invalid_value(json, "sliding_window", "at least 2 tokens, because the model has sliding layers");
}

/// Checks that `sliding_window` is not null, for types that always create a sliding window mask.
///
/// Source: transformers/masking_utils.py, `create_sliding_window_causal_mask`.
constexpr void require_sliding_window(config_view json) {
    const auto window = json.find("sliding_window");
    if (window && window->is_null())
        throw_invalid_value(json, "sliding_window",
                            "a number of tokens, because this type creates a sliding window mask");
}

/// Checks that there is no window, for types without sliding layers: the reference's cache would still apply it.
constexpr void reject_sliding_window(config_view json) {
    if (const auto window = json.find("sliding_window"); window && !window->is_null())
        throw_unsupported(json, "sliding_window", "sliding windows are not supported for this model type");
}

/// Sets the layer plan of Qwen: with `use_sliding_window`, layers from `max_window_layers` on are sliding.
constexpr void set_qwen_sliding_window(config_view json, model_config& config, std::int64_t default_value) {
    if (!json.boolean("use_sliding_window", false)) config.sliding_window = 0;
    const std::int64_t full = json.non_negative("max_window_layers", default_value);
    if (!parse_layer_types(json, config))
        set_layers(json, config, [&](std::int64_t i) {
            const bool slides = config.sliding_window > 0 && i >= full;
            return layer_spec{slides ? token_mixer_kind::sliding_attention : token_mixer_kind::full_attention};
        });
}

/// Every layer slides where the configuration has a window, or those that a list names (Mistral, Phi-3, StarCoder2).
constexpr void parse_window(config_view json, model_config& config) {
    if (!parse_layer_types(json, config) || !config.layers.is_heterogeneous()) set_single_mask(json, config);
}

}  // namespace llmcost
