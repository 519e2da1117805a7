// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace llmcost::testing {

/// Changes that stand for themselves where all of them together are not silent: half of them, and half of those, until
/// one is left. Most changes of a row and of sizes reach no walk, and are done with at once.
inline void by_halves(std::span<const std::size_t> changes,
                      const std::function<bool(std::span<const std::size_t>)>& silent,
                      const std::function<void(std::size_t)>& check_single) {
    if (changes.empty()) return;
    if (changes.size() == 1) return check_single(changes.front());
    if (silent(changes)) return;
    by_halves(changes.first(changes.size() / 2), silent, check_single);
    by_halves(changes.subspan(changes.size() / 2), silent, check_single);
}
/// Changes in rounds that can be made together: each of another field.
class rounds_of_changes {
public:
    void add(std::size_t change, const std::string& text) {
        const std::size_t round = of_field_[text.substr(0, text.find('='))]++;
        if (round == rounds_.size()) rounds_.emplace_back();
        rounds_[round].push_back(change);
    }
    [[nodiscard]] const std::vector<std::vector<std::size_t>>& all() const { return rounds_; }

private:
    std::map<std::string, std::size_t> of_field_{};
    std::vector<std::vector<std::size_t>> rounds_{};
};

}  // namespace llmcost::testing
