// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/edit_distance.hpp>

namespace llmcost {

/// Letters A to Z small.
[[nodiscard]] inline std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

/// Collects names and returns those nearest to an unknown name.
class name_suggestions {
public:
    explicit name_suggestions(std::string_view name) : query_(lower(name)) {}

    /// Offers a name that is compared completely.
    void add_candidate(std::string_view name) { add_candidate(name, distance(name)); }
    /// Offers a name with a distance that was found otherwise.
    void add_candidate(std::string_view name, int distance) {
        for (const found& f : found_)
            if (f.name == name) return;
        found_.push_back({std::string(name), distance});
    }
    /// Edit distance of a name to the word, whatever the case.
    [[nodiscard]] int distance(std::string_view name) const { return detail::edit_distance(query_, lower(name)); }
    [[nodiscard]] const std::string& query() const noexcept { return query_; }

    /// Whether any name is within a quarter of the word's letters and one.
    [[nodiscard]] bool is_near() const {
        return std::any_of(found_.begin(), found_.end(), [&](const found& f) { return f.distance <= max_distance(); });
    }
    /// `; nearest: first, second, third`, at most three that are near; where none is, `otherwise`.
    [[nodiscard]] std::string suggestion_text(std::string_view otherwise, std::string_view begin = "; nearest: ") {
        if (!is_near()) return std::string(otherwise);
        std::stable_sort(found_.begin(), found_.end(),
                         [](const found& a, const found& b) { return a.distance < b.distance; });
        std::string out(begin);
        for (std::size_t i = 0; i < found_.size() && i < 3 && found_[i].distance <= max_distance(); ++i)
            out += (i == 0 ? "" : ", ") + found_[i].name;
        return out;
    }
    /// The nearest names as text; where none is near, `; expected one of` all that were offered.
    [[nodiscard]] std::string suggestion_or_list() {
        std::string all;
        for (const found& f : found_) all += (all.empty() ? "; expected one of " : ", ") + f.name;
        return suggestion_text(all);
    }

private:
    struct found {
        std::string name;
        int distance;
    };
    [[nodiscard]] int max_distance() const {
        const std::size_t letters = query_.size() - std::min(query_.find_first_not_of('-'), query_.size());
        return 1 + static_cast<int>(std::min<std::size_t>(letters, 64) / 4);
    }

    std::string query_;
    std::vector<found> found_;
};

}  // namespace llmcost
