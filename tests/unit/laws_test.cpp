// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "laws.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace llmcost;
using namespace llmcost::testing;

namespace {

/// Outermost scopes for which `wanted` holds: no scope around them is wanted, too.
template <class Wanted>
ledger outermost(const model_listing& listing, Wanted wanted) {
    ledger sum;
    for (const scope_figures& s : listing.scopes) {
        bool inside = false;
        for (auto p = s.parent; p >= 0 && !inside; p = listing.scopes[static_cast<std::size_t>(p)].parent)
            inside = wanted(listing.scopes[static_cast<std::size_t>(p)]);
        if (!inside && wanted(s)) sum += s.sums;
    }
    return sum;
}

/// The path with `*` for every number.
std::string pattern_of(std::string_view path) {
    std::string pattern;
    while (true) {
        const auto dot = path.find('.');
        const std::string_view segment = path.substr(0, dot);
        const bool number = !segment.empty() && segment.find_first_not_of("0123456789") == std::string_view::npos;
        pattern += number ? "*" : segment;
        if (dot == std::string_view::npos) return pattern;
        pattern += '.';
        path.remove_prefix(dot + 1);
    }
}

/// Whether a pattern names this path, segment by segment; `*` stands for any.
bool matches(std::string_view pattern, std::string_view path) {
    while (true) {
        const auto end = pattern.find('.'), other = path.find('.');
        if (pattern.substr(0, end) != "*" && pattern.substr(0, end) != path.substr(0, other)) return false;
        if (end == std::string_view::npos || other == std::string_view::npos) return end == other;
        pattern.remove_prefix(end + 1), path.remove_prefix(other + 1);
    }
}

bool is_found(const model& m, const workload& load, scope_query asked) {
    trace t{load, nullptr, asked};
    m.describe(t);
    return t.found();
}

}  // namespace

TEST_CASE("a walk by kinds of layers counts what a walk by layers counts") {
    for_all(all_workloads(), [](const model& m, const workload& load) {
        CHECK(unequal(count_model(m, load), list_model(m, load).total) == "");
    });
}

TEST_CASE("a module does its own work and that of its children") {
    for_all(few_workloads(), [](const model& m, const workload& load) {
        const model_listing listing = list_model(m, load);
        REQUIRE(!listing.scopes.empty());
        std::vector<ledger> children(listing.scopes.size());
        for (const scope_figures& s : listing.scopes)
            if (s.parent >= 0) children[static_cast<std::size_t>(s.parent)] += s.sums;
        std::string problems;
        for (std::size_t i = 0; i < children.size(); ++i) {
            const scope_figures& s = listing.scopes[i];
            try {
                ledger own = s.sums.since(children[i]);  // throws where the children have more of anything
                if (s.type == "ModuleList") problems += unequal(figures_of(own), {});
                own += children[i];
                problems += unequal(figures_of(own), figures_of(s.sums));
            } catch (const overflow_error&) {
                problems += s.path + " has less than its children; ";
            }
        }
        CHECK(problems == "");
        CHECK(unequal(additive(figures_of(listing.scopes.front().sums, types_of(m, load))), additive(listing.total)) == "");
    });
}

TEST_CASE("a role is the sum of its outermost modules") {
    for_all(few_workloads(), [](const model& m, const workload& load) {
        const model_listing listing = list_model(m, load);
        const storage_types types = types_of(m, load);
        for (std::size_t i = 1; i < std::size(role_names); ++i) {
            const role r = static_cast<role>(i);
            if (r == role::transformer || r == role::all) continue;
            INFO(role_names[i]);
            const llmcost::figures part = count_model(m, load, scope_query{r});
            const auto plays = [r](const scope_figures& s) { return s.what == r; };
            CHECK(unequal(additive(part), additive(figures_of(outermost(listing, plays), types))) == "");
            CHECK(is_found(m, load, scope_query{r}) == std::any_of(listing.scopes.begin(), listing.scopes.end(), plays));
        }
        const ledger roles = outermost(listing, [](const scope_figures& s) { return s.what != role::none; });
        CHECK(beyond(figures_of(roles, types), listing.total) == "");
    });
}

TEST_CASE("the transformer and the head are everything") {
    for_all(all_workloads(), [](const model& m, const workload& load) {
        const storage_types types = types_of(m, load);
        ledger sum;
        for (const role r : {role::transformer, role::head}) {
            trace t{resolved(load, types), nullptr, scope_query{r}};
            m.describe(t);
            sum += t.sums();
        }
        const llmcost::figures whole = count_model(m, load);
        CHECK(unequal(additive(figures_of(sum, types)), additive(whole)) == "");
        CHECK(unequal(count_model(m, load, scope_query{role::all}), whole) == "");
        CHECK(is_found(m, load, scope_query{role::transformer}));
    });
}

TEST_CASE("a path or a pattern counts what the listing has under it") {
    for_all({few_workloads()[1], few_workloads()[2]}, [](const model& m, const workload& load) {
        const model_listing listing = list_model(m, load);
        const storage_types types = types_of(m, load);
        std::map<std::string, ledger> patterns;
        std::string problems;
        const auto compare = [&](const std::string& path, const ledger& sums) {
            const llmcost::figures f = count_model(m, load, scope_query{path});
            const std::string difference = unequal(additive(f), additive(figures_of(sums, types)));
            if (!difference.empty()) problems += path + ": " + difference;
        };
        for (const scope_figures& s : listing.scopes) {
            // a name of a role asks for the role, and a list of modules is entered by nobody
            if (s.path.empty() || role_from(s.path) != role::none || s.type == "ModuleList") continue;
            const auto [pattern, fresh] = patterns.try_emplace(pattern_of(s.path));
            pattern->second += s.sums;
            // the first one of its kind and the second layer stand for the others
            if (fresh || s.path.find(".1.") != std::string::npos) compare(s.path, s.sums);
        }
        for (const auto& [pattern, sums] : patterns) {
            compare(pattern, sums);
            if (!is_found(m, load, scope_query{scope_kind::path, pattern})) problems += pattern + " is not found; ";
        }
        CHECK(problems == "");
    });
}

TEST_CASE("a path that no module has is not found") {
    for_all({{.batch = 1, .sequence = 3, .weights = dtype::float32}}, [](const model& m, const workload& load) {
        const model_listing listing = list_model(m, load);
        std::set<std::string> known, unknown{"nothing", "nothing.0", ".", "..", "model.", ".model"};
        std::size_t deepest = 0;
        for (const scope_figures& s : listing.scopes) {
            known.insert(pattern_of(s.path));
            deepest = std::max(deepest, static_cast<std::size_t>(std::ranges::count(s.path, '.')));
        }
        known.erase("");
        std::string deeper = "*";
        for (std::size_t i = 0; i <= deepest; ++i) deeper += ".*";
        unknown.insert(deeper);
        const auto is_known = [&](const std::string& made_up) {
            return std::ranges::any_of(known, [&](const std::string& path) { return matches(made_up, path); });
        };
        for (const std::string& path : known)
            for (const std::string& other : {path + ".nothing", path + "x", path.substr(1), path + ".", "*." + path})
                if (!is_known(other) && role_from(other) == role::none) unknown.insert(other);
        std::string problems;
        for (const std::string& path : unknown)
            if (is_found(m, load, scope_query{scope_kind::path, path})) problems += path + " is found; ";
        CHECK(problems == "");
    });
}
