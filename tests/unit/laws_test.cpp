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
trace_totals outermost(const model_listing& listing, Wanted wanted) {
    trace_totals sum;
    for (const scope_figures& s : listing.scopes) {
        bool is_nested = false;
        for (auto p = s.parent; p >= 0 && !is_nested; p = listing.scopes[static_cast<std::size_t>(p)].parent)
            is_nested = wanted(listing.scopes[static_cast<std::size_t>(p)]);
        if (!is_nested && wanted(s)) sum += s.sums;
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
        const auto end = pattern.find('.'), segment_end = path.find('.');
        if (pattern.substr(0, end) != "*" && pattern.substr(0, end) != path.substr(0, segment_end)) return false;
        if (end == std::string_view::npos || segment_end == std::string_view::npos) return end == segment_end;
        pattern.remove_prefix(end + 1);
        path.remove_prefix(segment_end + 1);
    }
}

bool is_found(const model& m, const workload& load, scope_query query) {
    trace t{load, nullptr, query};
    m.trace_with_loss(t);
    return t.has_match();
}

}  // namespace

TEST_CASE("a walk by kinds of layers counts what a walk by layers counts") {
    for_all(all_workloads(), [](const model& m, const workload& load) {
        CHECK(unequal(count_model(m, load), list_model(m, load).total) == "");
    });
}

TEST_CASE("a module does its own work and that of its children") {
    for_all(sample_workloads(), [](const model& m, const workload& load) {
        const model_listing listing = list_model(m, load);
        REQUIRE(!listing.scopes.empty());
        std::vector<trace_totals> children(listing.scopes.size());
        for (const scope_figures& s : listing.scopes)
            if (s.parent >= 0) children[static_cast<std::size_t>(s.parent)] += s.sums;
        std::string problems;
        for (std::size_t i = 0; i < children.size(); ++i) {
            const scope_figures& s = listing.scopes[i];
            try {
                trace_totals self_totals =
                    s.sums.difference_from(children[i]);  // throws where the children have more of anything
                if (s.type == "ModuleList") problems += unequal(model_metrics_of(self_totals), {});
                self_totals += children[i];
                problems += unequal(model_metrics_of(self_totals), model_metrics_of(s.sums));
            } catch (const overflow_error&) {
                problems += s.path + " has less than its children; ";
            }
        }
        CHECK(problems == "");
        CHECK(unequal(additive(model_metrics_of(listing.scopes.front().sums, storage_types_of(m, load))),
                      additive(listing.total)) == "");
    });
}

TEST_CASE("a role is the sum of its outermost modules") {
    for_all(sample_workloads(), [](const model& m, const workload& load) {
        const model_listing listing = list_model(m, load);
        const storage_types types = storage_types_of(m, load);
        for (std::size_t i = 1; i < std::size(role_names); ++i) {
            const role r = static_cast<role>(i);
            if (r == role::transformer || r == role::all) continue;
            INFO(role_names[i]);
            const llmcost::model_metrics part = count_model(m, load, scope_query{r});
            const auto plays = [r](const scope_figures& s) { return s.module_role == r; };
            CHECK(unequal(additive(part), additive(model_metrics_of(outermost(listing, plays), types))) == "");
            CHECK(is_found(m, load, scope_query{r}) ==
                  std::any_of(listing.scopes.begin(), listing.scopes.end(), plays));
        }
        const trace_totals roles =
            outermost(listing, [](const scope_figures& s) { return s.module_role != role::none; });
        CHECK(find_exceeding(model_metrics_of(roles, types), listing.total) == "");
    });
}

TEST_CASE("the transformer and the head are everything") {
    for_all(all_workloads(), [](const model& m, const workload& load) {
        const storage_types types = storage_types_of(m, load);
        trace_totals sum;
        for (const role r : {role::transformer, role::head}) {
            trace t{with_storage_types(load, types), nullptr, scope_query{r}};
            m.trace_with_loss(t);
            sum += t.totals();
        }
        const llmcost::model_metrics total = count_model(m, load);
        CHECK(unequal(additive(model_metrics_of(sum, types)), additive(total)) == "");
        CHECK(unequal(count_model(m, load, scope_query{role::all}), total) == "");
        CHECK(is_found(m, load, scope_query{role::transformer}));
    });
}

TEST_CASE("a path or a pattern counts what the listing has under it") {
    for_all({sample_workloads()[1], sample_workloads()[2]}, [](const model& m, const workload& load) {
        const model_listing listing = list_model(m, load);
        const storage_types types = storage_types_of(m, load);
        std::map<std::string, trace_totals> patterns;
        std::string problems;
        const auto compare = [&](const std::string& path, const trace_totals& sums) {
            const llmcost::model_metrics f = count_model(m, load, scope_query{path});
            const std::string difference = unequal(additive(f), additive(model_metrics_of(sums, types)));
            if (!difference.empty()) problems += path + ": " + difference;
        };
        for (const scope_figures& s : listing.scopes) {
            // the name of a role selects the role, and a list of modules is never entered
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
            for (const std::string& unknown_path :
                 {path + ".nothing", path + "x", path.substr(1), path + ".", "*." + path})
                if (!is_known(unknown_path) && role_from(unknown_path) == role::none) unknown.insert(unknown_path);
        std::string problems;
        for (const std::string& path : unknown)
            if (is_found(m, load, scope_query{scope_kind::path, path})) problems += path + " is found; ";
        CHECK(problems == "");
    });
}
