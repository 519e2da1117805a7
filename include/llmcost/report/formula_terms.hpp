// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/polynomial.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/trace_totals.hpp>

// The terms of a metric by name: leaf modules, and operations of other modules.
namespace llmcost {

/// A term of a metric: the contribution of equal modules, or of equal operations of modules with children.
struct formula_term {
    std::string name;        ///< path, then the operation; `*` for the layer index, or its values if layers differ
    std::int64_t times = 1;  ///< number of modules
    polynomial sum;          ///< of one module
};

namespace detail {

/// Attributes a metric to modules and operations of a trace.
class term_listener final : public listener {
public:
    term_listener(std::vector<std::string>& names, std::unordered_map<std::string, std::size_t>& places,
                  const storage_types& types, count (*metric)(const model_metrics&))
        : names_(names), term_indices_(places), types_(types), metric_(metric) {}

    void on_module_enter(const recorder& r, const module_info& m) override;
    void on_module_leave(const recorder& r, const module_info&) override;
    void on_op(const recorder& r, const operation& o) override;
    /// The term of each name, after the trace.
    [[nodiscard]] std::vector<polynomial::int128> take(const recorder& r);

private:
    void share(const recorder& r);
    void add(const std::string& name, const trace_totals& sums);

    std::vector<std::string>& names_;
    std::unordered_map<std::string, std::size_t>& term_indices_;
    storage_types types_;
    count (*metric_)(const model_metrics&);
    std::vector<polynomial::int128> parts_;
    std::vector<std::size_t> parent_path_lengths_;  ///< length of the parent path of each open module
    std::vector<bool> is_leaf_;
    std::string path_;
    trace_totals previous_sums_{};
};

}  // namespace detail

/// The terms of a metric of a model or scope at any workload. Caches traces.
class term_samples {
public:
    term_samples(const model& m, scope_query query, count (*metric)(const model_metrics&))
        : model_(m), query_(query), metric_(metric) {}

    /// Paths in the order of their first appearance.
    [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
    /// The terms of all names at a workload. Missing terms at the end are 0.
    const std::vector<polynomial::int128>& at(const workload& load);
    [[nodiscard]] polynomial::int128 part(const workload& load, std::size_t name);

private:
    const model& model_;
    scope_query query_;
    count (*metric_)(const model_metrics&);
    std::vector<std::string> names_;
    std::unordered_map<std::string, std::size_t> term_indices_;
    std::vector<std::pair<workload, std::vector<polynomial::int128>>> samples_;
};

/// Merges equal terms of different layers.
[[nodiscard]] std::vector<formula_term> folded_terms(const std::vector<std::string>& names,
                                                     const std::vector<polynomial>& parts);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/formula_terms.ipp>  // IWYU pragma: export
#endif
