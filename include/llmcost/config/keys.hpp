// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

/// The activation function with this name. `key` is reported in the error message.
///
/// Throws: `config_error` if it is not supported.
constexpr activation activation_named(config_view json, literal key, string_ref name) {
    for (const activation_row& a : activation_table)
        if (a.name == name) return a.kind;
    throw_unsupported(json, key, "unsupported activation function");
}

/// Reads a configuration by standard keys, which the model spec maps to the family's keys.
class config_keys_reader {
public:
    constexpr config_keys_reader(const model_spec& row, config_view json) noexcept : row_(row), config_(json) {}

    [[nodiscard]] constexpr config_view view() const noexcept { return config_; }
    /// The key in this configuration for a standard key.
    [[nodiscard]] constexpr literal family_key_name(literal standard) const {
        for (const key_name& k : row_.config_keys) {
            if (is_empty(k.family_name) || string_ref(standard) != k.standard) continue;
            if (k.rule == key_rule::family_name_only) return k.family_name;
            const bool is_family_key_present = config_.contains(k.family_name),
                       is_standard_key_present = config_.contains(standard);
            if (is_family_key_present ? k.rule == key_rule::family_name_first || !is_standard_key_present
                                      : !is_standard_key_present)
                return k.family_name;
        }
        return standard;
    }
    /// True if this model type has the standard key.
    [[nodiscard]] constexpr bool has_standard_key(literal standard) const {
        for (const key_name& k : row_.config_keys)
            if (k.rule == key_rule::absent && string_ref(standard) == k.standard) return false;
        return true;
    }
    [[nodiscard]] constexpr bool is_present(literal standard) const {
        const auto found = config_.find(family_key_name(standard));
        return found && !found->is_null() && has_standard_key(standard);
    }
    /// A positive size. Without a default (0), the key is required.
    [[nodiscard]] constexpr std::int64_t positive(literal standard, std::int64_t default_value) const {
        return default_value > 0 ? config_.positive(family_key_name(standard), default_value)
                                 : config_.positive(family_key_name(standard));
    }
    [[nodiscard]] constexpr std::int64_t non_negative(literal standard, std::int64_t default_value) const {
        return config_.non_negative(family_key_name(standard), default_value);
    }
    [[nodiscard]] constexpr bool boolean(literal standard, bool default_value) const {
        return has_standard_key(standard) ? config_.boolean(family_key_name(standard), default_value) : default_value;
    }
    /// A positive size, or the default if the key is absent or null.
    [[nodiscard]] constexpr std::int64_t positive_or(literal standard, std::int64_t default_value) const {
        return is_present(standard) ? config_.positive(family_key_name(standard)) : default_value;
    }
    /// An activation function, or the default if the key is absent or null.
    [[nodiscard]] constexpr activation act(literal standard, activation default_value) const {
        const literal key = family_key_name(standard);
        return is_present(standard) ? activation_named(config_, key, config_.string(key)) : default_value;
    }

private:
    const model_spec& row_;
    config_view config_;
};

/// times · features, limited so that layers can add and double sizes without overflow.
///
/// Throws: `config_error` if the product exceeds the limit.
constexpr std::int64_t checked_size(config_view json, literal key, std::int64_t times, std::int64_t features) {
    if (times > 0 && features > max_input / times)
        throw_unsupported(json, key, "the resulting size exceeds 2147483647");
    return times * features;
}

/// Sets head_dim = hidden_size / num_attention_heads, independent of the key `head_dim`.
///
/// `written`: possible keys of the number of heads, for the error message.
constexpr void divide_by_heads(config_view json, model_config& config, std::initializer_list<literal> written) {
    config.head_dim = config.hidden_size / config.num_attention_heads;
    if (config.head_dim * config.num_attention_heads == config.hidden_size) return;
    for (const literal key : written)
        if (json.contains(key)) throw_invalid_value(json, key, "a divisor of hidden_size");
    throw_unsupported(json, "hidden_size", "the default number of attention heads does not divide it");
}

}  // namespace llmcost
