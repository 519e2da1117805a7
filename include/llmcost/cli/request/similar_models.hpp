// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/config/model_registry.hpp>
#include <llmcost/config/reader.hpp>

// Which known types read a configuration of an unknown one: its relatives by structure.
namespace llmcost::cli {

namespace detail {

/// Marks the values of a configuration that a reader finds.
class used_keys final : public config_observer {
public:
    explicit used_keys(std::size_t nodes) : found_(nodes) {}

    void on_key_read(const config_view& object, string_ref key) override {
        for (const std::string_view suffix : {"_token_id", "dropout", "_pdrop", "_eps", "_epsilon", "rope_theta"})
            if (std::string_view(key).ends_with(suffix))
                return;  // some readers ask for it: it says nothing of structure
        for (const config_view child : object)
            if (child.key() == key) {
                found_[child.index()] = true;
                return;
            }
        missed_.push_back(std::hash<std::string_view>{}(key) + object.index());
    }
    /// By the index of the value.
    [[nodiscard]] const std::vector<bool>& found() const noexcept { return found_; }
    /// How many keys it asks for that are not there.
    [[nodiscard]] std::size_t missed() {
        std::sort(missed_.begin(), missed_.end());
        return static_cast<std::size_t>(std::unique(missed_.begin(), missed_.end()) - missed_.begin());
    }

private:
    std::vector<bool> found_;
    std::vector<std::size_t> missed_;
};

/// How one row reads a configuration.
struct reading_row {
    const model_spec* row;
    std::size_t missed = 0;   ///< keys that it asks for and the file has not
    std::size_t found = 0;    ///< values that it reads
    std::size_t bundled = 0;  ///< configurations of its type that are compiled in
};

/// The known ending of the class that a configuration names: `ForCausalLM`; null where it names none.
inline const llmcost::detail::head_name* head_from_class_name(config_view root) {
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

}  // namespace detail

/// The rows that read a configuration without an error, leave the fewest of its keys unread and miss few: at most
/// three, the type with most bundled configurations first.
///
/// A key that no row reads tells nothing of structure. A file with hardly any other, or whose best reader leaves more
/// than half of them, has no relatives.
[[nodiscard]] inline std::vector<const model_spec*> similar_models_of(config_view root, const model_registry& models,
                                                                      std::span<const bundled_config> bundled) {
    constexpr std::size_t min_found = 6;  // a decoder's sizes are more
    constexpr std::size_t max_named = 3;
    constexpr std::size_t spare_keys = 2;  // optional ones, that nearly every row asks for
    const llmcost::detail::head_name* const head = detail::head_from_class_name(root);
    std::vector<bool> structural(root.node().end);
    std::vector<detail::reading_row> near;
    for (const model_spec* row : models) {
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
    // of those that read as much, the ones that ask for little else
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
