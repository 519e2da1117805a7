// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/question.hpp>

// Answers to queries in words: the block of llm-profiler, and tables.
namespace llmcost::cli {

namespace detail {

/// llm-profiler's name of a metric.
inline std::string profiler_title(const metric& m) { return m.name == "flops" ? "FLOPs (ADD and MULT)" : title_of(m); }

inline std::string name_of_scope(const question& q) { return q.asked.scope ? q.asked.scope->word : "all"; }

/// Names of a job's columns: its phases and their sum, or the sum alone where there is one phase.
inline std::vector<std::string> column_names(const job_reading& r) {
    std::vector<std::string> names;
    if (r.phases.size() > 1)
        for (const phase& p : r.phases) names.push_back(p.name);
    names.emplace_back("total");
    return names;
}
/// The reading of a column of `column_names`.
inline const reading& column(const job_reading& r, std::size_t i) {
    return r.phases.size() > 1 && i < r.by_phase.size() ? r.by_phase[i] : r.total;
}

}  // namespace detail

/// A scope in exact numbers: one row, or one per phase and their sum.
[[nodiscard]] inline table query_table(const question& q) {
    const auto list = metrics_of(q.asked, q.work.training, q.work.base.has_media());
    const job_reading r = read_scope(q, list);
    const auto names = detail::column_names(r);
    table t;
    t.columns.push_back({"scope"});
    if (names.size() > 1) t.columns.push_back({"phase"});
    for (const metric* m : list) t.columns.push_back({std::string(m->name), true});
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::vector<std::string> row{printable(detail::name_of_scope(q))};
        if (names.size() > 1) row.push_back(names[i]);
        for (const metric* m : list) row.push_back(digits(m->of(detail::column(r, i).front())));
        t.rows.push_back(std::move(row));
    }
    return t;
}

/// A scope as llm-profiler prints it: a line that names scope and workload, then `    MULT:\t45.22\t(10^9)`.
///
/// A whole request has columns for its phases and their sum.
[[nodiscard]] inline std::string query_block(const question& q) {
    const auto list = metrics_of(q.asked, q.work.training, q.work.base.has_media());
    const job_reading r = read_scope(q, list);
    std::string out = printable(detail::name_of_scope(q)) + ' ' + workload_sentence(q) + ":\n";
    const auto names = detail::column_names(r);
    if (names.size() == 1) {
        for (const metric* m : list)
            out += "    " + detail::profiler_title(*m) + ":\t" + profiler_number(m->of(r.total.front())) + '\n';
        return out;
    }
    constexpr std::size_t first = 24, wide = 12;
    out += std::string(first, ' ');
    for (const std::string& name : names) out += right(name, wide);
    out += '\n';
    for (const metric* m : list) {
        out += left("    " + detail::profiler_title(*m) + ':', first);
        for (std::size_t i = 0; i < names.size(); ++i) out += right(scaled(m->of(detail::column(r, i).front())), wide);
        out += '\n';
    }
    return out;
}

/// The columns of lists of modules: the metrics that were asked for, else a few.
[[nodiscard]] inline std::vector<const metric*> listed_metrics(const query& q) {
    if (!q.asked.empty()) return q.asked;
    return {find_metric("params"), find_metric("flops")};
}

/// Every module by its path.
[[nodiscard]] inline table scopes_table(const question& q) {
    const scopes_read r = read_scopes(q);
    const auto list = listed_metrics(q.asked);
    if (asks_for_saved(list)) refuse("saved_bytes", "is not known module by module; ask it of a scope");
    table t{{{"path"}, {"class"}, {"role"}}, {}};
    for (const metric* m : list) t.columns.push_back({std::string(m->name), true});
    for (std::size_t i = 0; i < r.seen.scopes.size(); ++i) {
        const scope_figures& s = r.seen.scopes[i];
        if (s.path.empty() || !is_asked(q, r.seen, i)) continue;
        std::vector<std::string> row{s.path, s.type, s.what == role::none ? "" : std::string(name_of(s.what))};
        for (const metric* m : list) row.push_back(digits(m->of(r.figures.total[i])));
        t.rows.push_back(std::move(row));
    }
    return t;
}

/// Every parameter: its name, its shape, its elements; a tied name has the shape of nothing new.
[[nodiscard]] inline table tensors_table(const question& q) {
    const workload& load = q.phases.front().parts.front().load;
    check_size(q.subject, load);
    const model_listing listing = list_model(q.subject, load);
    const std::string type(name_of(types_of(q.subject, load).weights));
    table t{{{"tensor"}, {"shape"}, {"dtype"}, {"params", true}}, {}};
    for (const tensor_shape& tensor : listing.tensors) {
        std::string sizes;
        count elements(1);
        for (const std::int64_t n : tensor.sizes)
            sizes.append(sizes.empty() ? "" : "x").append(std::to_string(n)), elements *= count(n);
        t.rows.push_back(
            {tensor.name, sizes, q.stored.applied ? q.stored.bytes.type_of(tensor.name) : type, digits(elements)});
    }
    for (const std::string& name : listing.tied) t.rows.push_back({name, "tied", type, "0"});
    return t;
}

}  // namespace llmcost::cli
