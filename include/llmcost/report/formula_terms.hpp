// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/polynomial.hpp>
#include <llmcost/graph/folded_path.hpp>

// A figure's parts by name: modules without children, operations of the others.
namespace llmcost {

/// A term of a figure: what like modules have of it, or like operations of modules with children.
struct formula_term {
    std::string name;        ///< a path, the operation behind it; `*` for layers, their numbers where like ones differ
    std::int64_t times = 1;  ///< modules that it stands for
    polynomial sum;          ///< of one of them
};

namespace detail {

/// Shares a figure out among modules and operations while it listens to a walk.
class term_listener final : public listener {
public:
    term_listener(std::vector<std::string>& names, std::unordered_map<std::string, std::size_t>& places,
                  const storage_types& types, count (*of)(const figures&))
        : names_(names), places_(places), types_(types), of_(of) {}

    void enter(const recorder& r, const module_info& m) override {
        share(r);
        outside_.push_back(path_.size());
        const std::string_view name = m.name;
        if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
        if (m.index >= 0) path_.append(path_.empty() ? "" : ".").append(std::to_string(m.index));
        leaf_.push_back(m.leaf);
    }
    void leave(const recorder& r, const module_info&) override {
        share(r);
        path_.resize(outside_.back());
        outside_.pop_back(), leaf_.pop_back();
    }
    void executed(const recorder& r, const operation& o) override {
        if (leaf_.empty() || leaf_.back()) return;  // a module without children is one term
        const ledger now = r.sums(), told = now.since(before_);
        before_ = now;
        ledger held{};  // what modules own and hold is no operation's
        held.parameters = told.parameters, held.active_parameters = told.active_parameters;
        held.cache = told.cache, held.encoder_cache = told.encoder_cache, held.out = told.out;
        add(path_, held);
        const std::string_view kind = price_of(o.kind).name;
        add(path_.empty() ? std::string(kind) : path_ + '.' + std::string(kind), told.since(held));
    }
    /// When the walk is over: each name's part.
    [[nodiscard]] std::vector<polynomial::wide> take(const recorder& r) {
        share(r);
        return std::move(parts_);
    }

private:
    void share(const recorder& r) {
        const ledger now = r.sums();
        add(path_, now.since(before_));
        before_ = now;
    }
    void add(const std::string& name, const ledger& told) {
        const auto n = static_cast<polynomial::wide>(of_(figures_of(told, types_)).to_wide());
        if (n == 0) return;
        const auto [found, fresh] = places_.try_emplace(name, names_.size());
        if (fresh) names_.push_back(name);
        if (found->second >= parts_.size()) parts_.resize(found->second + 1);
        parts_[found->second] += n;
    }

    std::vector<std::string>& names_;
    std::unordered_map<std::string, std::size_t>& places_;
    storage_types types_;
    count (*of_)(const figures&);
    std::vector<polynomial::wide> parts_;
    std::vector<std::size_t> outside_;  ///< letters of the path around each open module
    std::vector<bool> leaf_;
    std::string path_;
    ledger before_{};
};

}  // namespace detail

/// A figure of a model, or of a part of it, name by name at any workload; walks are remembered.
class term_samples {
public:
    term_samples(const model& m, scope_query asked, count (*of)(const figures&)) : model_(m), asked_(asked), of_(of) {}

    /// Paths in the order of their first appearance.
    [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
    /// The parts of all names at a workload; those behind its end are 0.
    const std::vector<polynomial::wide>& at(const workload& load) {
        for (const auto& [known, parts] : walked_)
            if (known == load) return parts;
        const storage_types types = types_of(model_, load);
        for (scope_query asked = asked_;;) {
            detail::term_listener ear{names_, places_, types, of_};
            trace t{resolved(load, types), &ear, asked};
            model_.describe(t);
            if (t.found() || !asked.by_word() || !asked.understood_otherwise())
                return walked_.emplace_back(load, ear.take(t)).second;
        }
    }
    [[nodiscard]] polynomial::wide part(const workload& load, std::size_t name) {
        const std::vector<polynomial::wide>& parts = at(load);
        return name < parts.size() ? parts[name] : 0;
    }

private:
    const model& model_;
    scope_query asked_;
    count (*of_)(const figures&);
    std::vector<std::string> names_;
    std::unordered_map<std::string, std::size_t> places_;
    std::vector<std::pair<workload, std::vector<polynomial::wide>>> walked_;
};

/// The terms of parts by name, like ones of like layers as one.
[[nodiscard]] inline std::vector<formula_term> folded_terms(const std::vector<std::string>& names,
                                                            const std::vector<polynomial>& parts) {
    struct group {
        formula_term term;
        std::string first;                   ///< path of the first of them
        std::vector<std::string> numbers{};  ///< of their layers, where a path has one number
    };
    const auto number_in = [](const std::string& path, const std::string& folded) {
        const std::size_t star = folded.find('*');
        if (star == std::string::npos || folded.find('*', star + 1) != std::string::npos) return std::string();
        return path.substr(star, path.find('.', star) - star);
    };
    std::vector<group> groups;
    std::unordered_map<std::string, std::vector<std::size_t>> alike;  // by folded path
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i] == polynomial{}) continue;
        std::string folded = fold_indices(names[i]);
        std::vector<std::size_t>& same = alike[folded];
        std::size_t k = 0;
        while (k < same.size() && !(groups[same[k]].term.sum == parts[i])) ++k;
        if (k == same.size()) {
            same.push_back(groups.size());
            groups.push_back({{folded, 0, parts[i]}, names[i]});
        }
        group& into = groups[same[k]];
        ++into.term.times;
        if (std::string number = number_in(names[i], folded); !number.empty()) into.numbers.push_back(std::move(number));
    }
    std::vector<formula_term> out;
    for (group& g : groups) {
        const bool differ = alike[g.term.name].size() > 1;
        if (differ && !g.numbers.empty()) g.term.name.replace(g.term.name.find('*'), 1, number_ranges(g.numbers));
        if (g.term.times == 1) g.term.name = g.first;
        out.push_back(std::move(g.term));
    }
    return out;
}

}  // namespace llmcost
