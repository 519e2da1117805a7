// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/similar_models.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/config/model_registry.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE void used_keys::on_key_read(const config_view& object, string_ref key) {
    for (const std::string_view suffix : {"_token_id", "dropout", "_pdrop", "_eps", "_epsilon", "rope_theta"})
        if (std::string_view(key).ends_with(suffix)) return;  // read by some types only, and unrelated to structure
    for (const config_view child : object)
        if (child.key() == key) {
            is_found_[child.index()] = true;
            return;
        }
    missing_keys_.push_back(std::hash<std::string_view>{}(key) + object.index());
}

LLMCOST_INLINE std::size_t used_keys::missed() {
    std::sort(missing_keys_.begin(), missing_keys_.end());
    return static_cast<std::size_t>(std::unique(missing_keys_.begin(), missing_keys_.end()) - missing_keys_.begin());
}

LLMCOST_INLINE const llmcost::detail::head_name* head_from_class_name(config_view root) {
    const auto classes = root.find("architectures");
    if (!classes || !classes->is_array() || classes->size() == 0 || !(*classes)[0].is_string()) return nullptr;
    const std::string_view name = (*classes)[0].as_string();
    const llmcost::detail::head_name* best = nullptr;
    for (const llmcost::detail::head_name& h : llmcost::detail::head_names)
        if (name.ends_with(h.suffix) &&
            (best == nullptr || std::string_view(h.suffix).size() > std::string_view(best->suffix).size()))
            best = &h;
    return best;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::vector<const model_spec*> similar_models_of(config_view root, const model_registry& models,
                                                                std::span<const bundled_config> bundled) {
    constexpr std::size_t min_found = 6;  // fewer keys than any decoder has
    constexpr std::size_t max_named = 3;
    constexpr std::size_t spare_keys = 2;  // optional keys that nearly every spec reads
    const llmcost::detail::head_name* const head = detail::head_from_class_name(root);
    std::vector<bool> structural(root.node().end);
    std::vector<detail::reading_row> near;
    for (const model_spec* row : models) {
        if (row->draft != draft_kind::none) continue;  // selected by its class, not by its keys
        if (head != nullptr && is_empty(row->text_model.key) && !row->supported_heads.has(head->head)) continue;
        detail::used_keys marks(root.node().end);
        try {
            (void)models.parse_with(*row, root.with_observer(marks));
        } catch (const std::exception&) {
            continue;
        }
        detail::reading_row r{row, marks.missed()};
        for (std::size_t i = 0; i < structural.size(); ++i)
            if (marks.found()[i]) {
                ++r.found;
                structural[i] = true;
            }
        for (const bundled_config& b : bundled)
            if (type_of(b) == std::string_view(row->model_type)) ++r.bundled;
        near.push_back(r);
    }
    std::stable_sort(near.begin(), near.end(), [](const detail::reading_row& a, const detail::reading_row& b) {
        return a.found != b.found ? a.found > b.found : a.bundled > b.bundled;
    });
    const auto all = static_cast<std::size_t>(std::count(structural.begin(), structural.end(), true));
    // among equal numbers of keys read, those with few missing keys
    std::size_t min_missed = SIZE_MAX;
    for (const detail::reading_row& r : near)
        if (r.found == near.front().found) min_missed = std::min(min_missed, r.missed);
    std::vector<const model_spec*> out;
    for (const detail::reading_row& r : near) {
        const bool reads = r.found == near.front().found && r.found >= min_found && (all - r.found) * 2 <= all;
        if (reads && r.missed <= min_missed + spare_keys && out.size() < max_named) out.push_back(r.row);
    }
    return out;
}

}  // namespace llmcost::cli
