// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/tree.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/metric_query.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/pages/response.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/totals.hpp>
#include <llmcost/graph/folded_path.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE tree_builder::tree_builder(const request& q, const scope_results& read, std::vector<const metric*> list)
    : request_(q),
      results_(read),
      list_(std::move(list)),
      children_(read.listing.scopes.size()),
      kinds_(read.listing.scopes.size()) {
    const auto& scopes = read.listing.scopes;
    for (std::size_t i = 0; i < scopes.size(); ++i)
        if (scopes[i].parent >= 0) children_[static_cast<std::size_t>(scopes[i].parent)].push_back(i);
    for (std::size_t i = scopes.size(); i-- > 0;) kinds_[i] = kind_of(i);  // parents precede their children
}

LLMCOST_INLINE std::vector<tree_line> tree_builder::build() {
    const auto& scopes = results_.listing.scopes;
    const bool is_full_model = !request_.metrics.scope || request_.metrics.scope->is_all();
    std::vector<std::size_t> tops;
    for (std::size_t i = 0; i < scopes.size(); ++i) {
        const std::ptrdiff_t parent = scopes[i].parent;
        if (is_requested(request_, results_.listing, i) &&
            (parent < 0 || !is_requested(request_, results_.listing, static_cast<std::size_t>(parent))))
            tops.push_back(i);
    }
    std::vector<bool> done(tops.size());
    for (std::size_t t = 0; t < tops.size(); ++t) {
        if (done[t]) continue;
        const std::string& first = scopes[tops[t]].path;
        const std::string folded = fold_indices(first);
        const std::size_t star = folded.find('*');
        std::vector<std::string> numbers{number_at(first, star)};
        for (std::size_t u = t + 1; !request_.lists_scopes && u < tops.size(); ++u) {
            if (done[u] || kinds_[tops[u]] != kinds_[tops[t]] || fold_indices(scopes[tops[u]].path) != folded) continue;
            done[u] = true;
            numbers.push_back(number_at(scopes[tops[u]].path, star));
        }
        std::string name = is_full_model ? segment(tops[t]) : numbers.size() > 1 ? folded : first;
        const bool one_list = star != std::string::npos && folded.find('*', star + 1) == std::string::npos;
        if (numbers.size() > 1 && one_list) name.replace(star, 1, number_ranges(numbers));
        add(tops[t], std::move(name), 0, static_cast<std::int64_t>(numbers.size()), 1);
    }
    return std::move(lines_);
}

LLMCOST_INLINE std::string tree_builder::segment(std::size_t i) const {
    const std::string& path = results_.listing.scopes[i].path;
    return path.substr(path.rfind('.') + 1);
}

LLMCOST_INLINE std::vector<count> tree_builder::figures_of(std::size_t i) const {
    std::vector<count> out;
    for (const metric* m : list_) out.push_back(m->value_of(results_.figures.total[i]));
    return out;
}

LLMCOST_INLINE std::size_t tree_builder::kind_of(std::size_t i) {
    const scope_figures& s = results_.listing.scopes[i];
    std::string key = s.type + '/' + std::string(name_of(s.module_role));
    for (const count n : figures_of(i)) key += '/' + digits(n);
    for (const std::size_t child : children_[i]) key += '/' + segment(child) + ':' + std::to_string(kinds_[child]);
    return key_ids_.try_emplace(std::move(key), key_ids_.size()).first->second;
}

LLMCOST_INLINE void tree_builder::add(std::size_t i, std::string name, int depth, std::int64_t times,
                                      std::int64_t parents) {
    const scope_figures& s = results_.listing.scopes[i];
    const std::int64_t modules = times * parents;
    lines_.push_back({std::move(name), s.path, s.type, s.module_role, depth, times, modules, figures_of(i)});
    if (request_.tree_depth >= 0 && depth >= request_.tree_depth) return;
    std::vector<bool> done(children_[i].size());
    for (std::size_t c = 0; c < children_[i].size(); ++c) {
        if (done[c]) continue;
        const std::size_t first = children_[i][c];
        std::vector<std::string> merged_segments{segment(first)};
        const bool number =
            merged_segments[0].find_first_not_of("0123456789") == std::string::npos && merged_segments[0].size() < 19;
        for (std::size_t d = c + 1; number && !request_.lists_scopes && d < children_[i].size(); ++d) {
            if (kinds_[children_[i][d]] != kinds_[first]) continue;
            merged_segments.push_back(segment(children_[i][d]));
            done[d] = true;
        }
        add(first, number ? number_ranges(merged_segments) : merged_segments[0], depth + 1,
            static_cast<std::int64_t>(merged_segments.size()), modules);
    }
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

/// The lines of the module tree of a request.
[[nodiscard]] LLMCOST_INLINE std::vector<tree_line> tree_lines(const request& q) {
    const auto list = listed_metrics(q.metrics);
    if (needs_saved_bytes(list)) throw_usage("saved_bytes", "not available per module; use it with a scope");
    const scope_results read = compute_scopes(q);
    return detail::tree_builder(q, read, list).build();
}

LLMCOST_INLINE table tree_table(const request& q) {
    const bool text = q.format == output_format::text;
    table t;
    if (text)
        t.columns.push_back({"module"});
    else
        t.columns = {{"path"}, {"class"}, {"role"}, {"depth", true}, {"modules", true}};
    for (const metric* m : listed_metrics(q.metrics))
        t.columns.push_back({text ? title_of(*m) : std::string(m->name), true});
    for (const tree_line& line : tree_lines(q)) {
        std::vector<std::string> row;
        if (text) {
            std::string module = line.name + (line.name.empty() ? "" : "  ");
            if (line.times > 1) module += std::to_string(line.times) + " × ";
            row.push_back(std::string(static_cast<std::size_t>(line.depth) * 2, ' ') + module + line.type);
        } else {
            const std::string parent = line.path.substr(0, line.path.rfind('.') + 1);
            const std::string several = line.depth == 0 ? line.name : parent + line.name;
            row = {line.times > 1 ? several : line.path, line.type,
                   line.module_role == role::none ? "" : std::string(name_of(line.module_role)),
                   std::to_string(line.depth), std::to_string(line.modules)};
        }
        for (const count n : line.figures) row.push_back(digits(n));
        t.rows.push_back(std::move(row));
    }
    return t;
}

}  // namespace llmcost::cli
