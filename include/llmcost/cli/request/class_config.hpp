// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/config_error.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/json.hpp>

#include <span>

// Configurations with a class name (`_class_name`, written by diffusers). The custom model of that class defines their
// keys, and the sizes that they set.
namespace llmcost::cli {

namespace detail {

/// Converts the keys of a configuration to sizes of a custom model.
class class_config_reader {
public:
    class_config_reader(config_view description, config_view configuration)
        : sizes_(description.object("sizes")),
          rules_(description.object("configuration")),
          configuration_(configuration) {}

    [[nodiscard]] std::vector<std::pair<std::string, std::string>> read() const;

private:
    [[nodiscard]] maybe<config_view> part(const char* name, std::string_view key) const;
    [[nodiscard]] bool contains(const char* list, std::string_view key) const;
    /// A value as JSON text.
    [[nodiscard]] static std::string format_value(config_view v);
    static void check_accepted(config_view entry, config_view accepted);
    /// A number, true, false, or the number of a named value.
    [[nodiscard]] static std::string number_of(config_view v, const maybe<config_view>& value_names);
    /// A number, repeated as often as another list has items.
    [[nodiscard]] std::string repeated(config_view entry, const std::string& value) const;
    [[noreturn]] void refuse_key(config_view entry) const;
    [[noreturn]] static void fail_at(config_view node, const std::string& message) {
        llmcost::detail::fail_at(config_problem::bad_value, node, {}, message);
    }

    config_view sizes_, rules_, configuration_;
};

}  // namespace detail

/// The custom model of a configuration's `_class_name`, with the sizes of the configuration; empty without a class.
///
/// Throws: `unknown_model_type` for an unknown class.
[[nodiscard]] std::optional<config_document> description_from_class(const config_document& configuration,
                                                                    std::span<const bundled_config> bundled);

/// The custom model of a timm `architecture`; empty without one. Throws: `unknown_model_type` for an unknown one.
[[nodiscard]] std::optional<config_document> description_from_architecture(const config_document& configuration,
                                                                           std::span<const bundled_config> bundled);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/class_config.ipp>  // IWYU pragma: export
#endif
