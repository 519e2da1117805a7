// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/config/model_registry.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/model/model_spec.hpp>

// Finds supported model types that can read the configuration of an unknown type.
namespace llmcost::cli {

namespace detail {

/// Records which values of a configuration a model spec reads.
class used_keys final : public config_observer {
public:
    explicit used_keys(std::size_t nodes) : is_found_(nodes) {}

    void on_key_read(const config_view& object, string_ref key) override;
    /// Whether each value was read, by the index of the value.
    [[nodiscard]] const std::vector<bool>& found() const noexcept { return is_found_; }
    /// The number of missing keys that were read.
    [[nodiscard]] std::size_t missed();

private:
    std::vector<bool> is_found_;
    std::vector<std::size_t> missing_keys_;
};

/// How a model spec reads a configuration.
struct reading_row {
    const model_spec* row;
    std::size_t missed = 0;   ///< keys that it reads and that are missing
    std::size_t found = 0;    ///< values that it reads
    std::size_t bundled = 0;  ///< bundled configurations of its type
};

/// The head of the class name in a configuration, e.g. `ForCausalLM`; null if there is none.
const llmcost::detail::head_name* head_from_class_name(config_view root);

}  // namespace detail

/// At most three model specs that read a configuration with the fewest unused and missing keys.
///
/// The type with the most bundled configurations is first. Keys that no spec reads do not count. There is no result if
/// fewer than six keys are read, or less than half of those that any spec reads.
[[nodiscard]] std::vector<const model_spec*> similar_models_of(config_view root, const model_registry& models,
                                                               std::span<const bundled_config> bundled);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/similar_models.ipp>  // IWYU pragma: export
#endif
