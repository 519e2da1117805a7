// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/config/model_registry.hpp>
#include <llmcost/config/published_head.hpp>  // IWYU pragma: export
#include <llmcost/config/read_model.hpp>
#include <llmcost/generated/model_specs.hpp>

namespace llmcost {

inline constexpr std::size_t num_model_specs = sizeof model_specs / sizeof *model_specs;

namespace detail {
consteval bool model_specs_are_sorted() {
    for (std::size_t i = 1; i < num_model_specs; ++i)
        if (__builtin_strcmp(model_specs[i - 1].model_type, model_specs[i].model_type) >= 0) return false;  // folded
    return true;
}
static_assert(model_specs_are_sorted(), "model specs are sorted by model_type, without duplicates");
}  // namespace detail

/// The registry of all model types.
inline constexpr model_registry all_models{model_specs, num_model_specs, parse_model_among, parse_model_of};

/// The spec of a `model_type`; null if it is not registered.
[[nodiscard]] constexpr const model_spec* find_model_spec(string_ref model_type) noexcept {
    return all_models.find(model_type);
}

/// Builds the model of a `config.json`. Throws: `config_error` if the configuration is not supported.
[[nodiscard]] constexpr model parse_model(config_view json) { return parse_model_among(all_models, json); }

}  // namespace llmcost
