// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/edit_distance.hpp>

namespace llmcost {

/// Letters A to Z small.
[[nodiscard]] std::string lower(std::string_view text);

/// Collects names and returns those nearest to an unknown name.
class name_suggestions {
public:
    explicit name_suggestions(std::string_view name) : query_(lower(name)) {}

    /// Offers a name that is compared completely.
    void add_candidate(std::string_view name) { add_candidate(name, distance(name)); }
    /// Offers a name with a distance that was found otherwise.
    void add_candidate(std::string_view name, int distance);
    /// Edit distance of a name to the word, whatever the case.
    [[nodiscard]] int distance(std::string_view name) const { return detail::edit_distance(query_, lower(name)); }
    [[nodiscard]] const std::string& query() const noexcept { return query_; }

    /// Whether any name is within a quarter of the word's letters and one.
    [[nodiscard]] bool is_near() const {
        return std::any_of(candidates_.begin(), candidates_.end(),
                           [&](const found& f) { return f.distance <= max_distance(); });
    }
    /// `; nearest: first, second, third`, at most three that are near; if there is none, `fallback`.
    [[nodiscard]] std::string suggestion_text(std::string_view fallback, std::string_view begin = "; nearest: ");
    /// The nearest names as text; where none is near, `; expected one of` all that were offered.
    [[nodiscard]] std::string suggestion_or_list();

private:
    struct found {
        std::string name;
        int distance;
    };
    [[nodiscard]] int max_distance() const;

    std::string query_;
    std::vector<found> candidates_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/text/impl/nearest_name.ipp>  // IWYU pragma: export
#endif
