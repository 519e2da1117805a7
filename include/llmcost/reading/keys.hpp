// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/model/architecture.hpp>
#include <llmcost/reading/config.hpp>

namespace llmcost {

/// The activation function of this name, which stands under a key.
constexpr activation activation_named(config_view config, literal key, string_ref name) {
    for (const activation_row& a : activation_table)
        if (a.name == name) return a.kind;
    fail_unsupported(config, key, "no layer describes this activation function");
}

/// A configuration seen through a row: keys by their standard names, whatever the file calls them.
class keys {
public:
    constexpr keys(const architecture& row, config_view config) noexcept : row_(row), config_(config) {}

    [[nodiscard]] constexpr config_view view() const noexcept { return config_; }
    /// The name that this configuration uses for a standard key, by the row's rule.
    [[nodiscard]] constexpr literal written(literal standard) const {
        for (const key_name& k : row_.keys) {
            if (is_empty(k.written) || string_ref(standard) != k.standard) continue;
            if (k.rule == key_rule::written_only) return k.written;
            const bool here = config_.contains(k.written), there = config_.contains(standard);
            if (here ? k.rule == key_rule::written_first || !there : !there) return k.written;
        }
        return standard;
    }
    /// Whether this type has such a key.
    [[nodiscard]] constexpr bool known(literal standard) const {
        for (const key_name& k : row_.keys)
            if (k.rule == key_rule::absent && string_ref(standard) == k.standard) return false;
        return true;
    }
    [[nodiscard]] constexpr bool present(literal standard) const {
        const auto found = config_.find(written(standard));
        return found && !found->is_null() && known(standard);
    }
    /// A size: the file's, else the default; 0 as a default means that the key has none.
    [[nodiscard]] constexpr std::int64_t positive(literal standard, std::int64_t otherwise) const {
        return otherwise > 0 ? config_.positive(written(standard), otherwise) : config_.positive(written(standard));
    }
    [[nodiscard]] constexpr std::int64_t non_negative(literal standard, std::int64_t otherwise) const {
        return config_.non_negative(written(standard), otherwise);
    }
    [[nodiscard]] constexpr bool boolean(literal standard, bool otherwise) const {
        return known(standard) ? config_.boolean(written(standard), otherwise) : otherwise;
    }
    /// A size that may be absent or null.
    [[nodiscard]] constexpr std::int64_t positive_or(literal standard, std::int64_t otherwise) const {
        return present(standard) ? config_.positive(written(standard)) : otherwise;
    }
    /// An activation function by its name in the file.
    [[nodiscard]] constexpr activation act(literal standard, activation otherwise) const {
        const literal key = written(standard);
        return present(standard) ? activation_named(config_, key, config_.string(key)) : otherwise;
    }

private:
    const architecture& row_;
    config_view config_;
};

/// A width of so many times so many features, within what layers may add and double without a check.
constexpr std::int64_t checked_width(config_view config, literal key, std::int64_t times, std::int64_t features) {
    if (times > 0 && features > largest_input / times)
        fail_unsupported(config, key, "makes a width beyond 2147483647 features");
    return times * features;
}

/// Heads that share hidden_size evenly, whatever `head_dim` says; `written` are the names that their number may have.
constexpr void share_among_heads(config_view config, sizes& s, std::initializer_list<literal> written) {
    s.head_dim = s.hidden_size / s.num_attention_heads;
    if (s.head_dim * s.num_attention_heads == s.hidden_size) return;
    for (const literal key : written)
        if (config.contains(key)) fail_value(config, key, "a divisor of hidden_size");
    fail_unsupported(config, "hidden_size", "the default number of attention heads does not divide it");
}

}  // namespace llmcost
