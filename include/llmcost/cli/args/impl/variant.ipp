// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/variant.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/json.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::string size_text(config_view size) {
    if (size.is_boolean()) return size.as_boolean() ? "true" : "false";
    if (size.is_integer()) return std::to_string(size.as_integer());
    if (!size.is_array()) return '"' + std::string(size.as_string().data(), size.as_string().size()) + '"';
    std::string out;
    for (const config_view item : size) out.append(out.empty() ? "[" : ",").append(size_text(item));
    return out.empty() ? "[]" : out + ']';
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE bool has_variants(const config_document& document) {
    const config_view root = document.root();
    return root.is_object() && root.find("variants").has_value();
}

LLMCOST_INLINE void use_variant(config_document& document, std::string_view name) {
    std::vector<std::pair<std::string, std::string>> sizes;
    document.read_with([&](config_view root) {
        name_suggestions near(name);
        for (const config_view variant : root.object("variants")) {
            const std::string_view known{variant.key().data(), variant.key().size()};
            near.add_candidate(known);
            if (known != name) continue;
            for (const config_view size : variant.as_object())
                sizes.emplace_back("sizes." + std::string(size.key().data(), size.key().size()),
                                   detail::size_text(size));
            return;
        }
        throw error(errc::bad_value, document.name(),
                    "/variants: no variant \"" + std::string(name) + "\"" + near.suggestion_or_list());
    });
    for (const auto& [key, value] : sizes) document.set(key, value);
}

}  // namespace llmcost::cli
