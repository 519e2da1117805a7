// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <llmcost/base/config_view.hpp>
#include <llmcost/json.hpp>

// Variants of custom models: other values of their sizes.
namespace llmcost::cli {

namespace detail {

/// A size as JSON: a number, true, false, an expression, or a list of these.
std::string size_text(config_view size);

}  // namespace detail

/// Whether a configuration is a custom model with variants.
[[nodiscard]] bool has_variants(const config_document& document);

/// Sets the sizes of a custom model to the values of a variant. Throws: `bad_value` for an unknown variant.
void use_variant(config_document& document, std::string_view name);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/variant.ipp>  // IWYU pragma: export
#endif
