// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/json/builder.hpp>

namespace llmcost::detail {

/// Containers inside each other, the outermost included.
std::size_t nesting(const std::vector<config_node>& nodes);

/// A value as JSON, or else the text itself as a string; what begins like an array, object or string must be JSON.
parsed_json parse_override(std::string_view text, std::string_view name, const config_limits& limits);

/// Writes a value at a dotted path; `path` must live as long as the nodes, which take new keys from it.
///
/// Objects that are missing or null are made. Throws `config_error` where the path goes through a scalar or past an
/// array.
void override_node(std::vector<config_node>& nodes, std::string_view path, std::vector<config_node> value);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/json/impl/override.ipp>  // IWYU pragma: export
#endif
