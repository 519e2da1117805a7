// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/totals.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace_totals.hpp>

namespace llmcost::cli {

/// Nested roles from the outermost inwards. Norms of a layer and norms inside of attention are two chains.
using role_chain = std::vector<role>;

namespace detail {

/// Sums the metrics of modules by their chain of roles, without a list of modules.
class role_listener final : public bounded_listener {
public:
    role_listener(std::vector<role_chain>& chains, std::vector<trace_totals>& sums) : chains_(chains), sums_(sums) {}

    void on_module_enter(const recorder& r, const module_info& m) override;
    void on_module_leave(const recorder& r, const module_info& m) override;
    void on_parameter(const recorder&, literal, const tensor&, bool tied) override { is_tied_ = is_tied_ || tied; }

    [[nodiscard]] const std::string& root() const noexcept { return root_; }
    [[nodiscard]] bool tied() const noexcept { return is_tied_; }

private:
    struct open_role {
        std::size_t depth;
        std::size_t row;
        trace_totals initial_totals;
    };
    std::vector<role_chain>& chains_;
    std::vector<trace_totals>& sums_;
    role_chain chain_;
    std::vector<open_role> open_;
    std::string root_;
    bool is_tied_ = false;
};

}  // namespace detail

/// The metrics of a model by role: the model first, then one line per chain in the order of execution.
class role_accumulator {
public:
    explicit role_accumulator(const model& m) : model_(m) {}

    metric_list operator()(const workload& load);
    [[nodiscard]] const std::vector<role_chain>& chains() const noexcept { return chains_; }
    [[nodiscard]] const std::string& root() const noexcept { return root_; }
    [[nodiscard]] bool tied() const noexcept { return is_tied_; }

private:
    const model& model_;
    std::vector<role_chain> chains_;
    std::string root_;
    bool is_tied_ = false;
};

/// A line of a table by role: a chain of roles, or what is outside of the chains below its parent (`other`).
struct role_line {
    std::string path;  ///< roles from the outermost inwards: `encoder/attn`, `encoder/other`
    std::string name;
    std::size_t depth = 0;
    model_metrics metrics{};
};

/// The metrics of a model by role. A chain includes the deeper chains below it.
///
/// No module is in two chains of one depth.
struct role_results {
    workload_totals sums;            ///< the model at index 0, line i at `places[i]`
    std::vector<role_chain> chains;  ///< chains in the order of the lines
    std::vector<std::size_t> places;
    std::string root;   ///< class of the model
    bool tied = false;  ///< a tensor has two names

    [[nodiscard]] const model_metrics& at(const metric_list& r, std::size_t line) const { return r[places[line]]; }
    [[nodiscard]] std::string name(std::size_t line) const { return std::string(name_of(chains[line].back())); }
    [[nodiscard]] std::size_t depth(std::size_t line) const { return chains[line].size() - 1; }
    /// The roles of a line from the outermost inwards, e.g. `encoder/attn`.
    [[nodiscard]] std::string path(std::size_t line) const;
    /// Whether a module is self-attention or cross-attention.
    [[nodiscard]] bool has_attention() const;
    /// All lines of a table. The lines of one parent add up to it: the last one is `other`.
    ///
    /// `other` has the residual additions, masks and operations of modules without a role.
    [[nodiscard]] std::vector<role_line> lines(const metric_list& r) const;
};

/// The metrics of a request by role, in the order of the list of roles.
[[nodiscard]] role_results compute_role_totals(const request& q);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/role_totals.ipp>  // IWYU pragma: export
#endif
