// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/request/request.hpp>

namespace llmcost::cli {

/// Nested roles from the outermost inwards. Norms of a layer and norms inside of attention are two chains.
using role_chain = std::vector<role>;

namespace detail {

/// Sums the metrics of modules by their chain of roles, without a list of modules.
class role_listener final : public bounded_listener {
public:
    role_listener(std::vector<role_chain>& chains, std::vector<trace_totals>& sums) : chains_(chains), sums_(sums) {}

    void on_module_enter(const recorder& r, const module_info& m) override {
        bounded_listener::on_module_enter(r, m);
        if (depth() == 1) root_ = std::string(m.class_of_module.prefix) + std::string(m.class_of_module.suffix);
        if (m.module_role == role::none || (!chain_.empty() && chain_.back() == m.module_role)) return;
        chain_.push_back(m.module_role);
        const auto known = std::find(chains_.begin(), chains_.end(), chain_);
        const auto row = static_cast<std::size_t>(known - chains_.begin());
        if (known == chains_.end()) chains_.push_back(chain_);
        if (sums_.size() < chains_.size()) sums_.resize(chains_.size());
        open_.push_back({depth(), row, r.totals()});
    }
    void on_module_leave(const recorder& r, const module_info& m) override {
        if (!open_.empty() && open_.back().depth == depth()) {
            sums_[open_.back().row] += r.totals().difference_from(open_.back().initial_totals);
            open_.pop_back();
            chain_.pop_back();
        }
        bounded_listener::on_module_leave(r, m);
    }
    void on_parameter(const recorder&, literal, const tensor&, bool tied) override { tied_ = tied_ || tied; }

    [[nodiscard]] const std::string& root() const noexcept { return root_; }
    [[nodiscard]] bool tied() const noexcept { return tied_; }

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
    bool tied_ = false;
};

}  // namespace detail

/// The metrics of a model by role: the model first, then one line per chain in the order of execution.
class role_accumulator {
public:
    explicit role_accumulator(const model& m) : model_(m) {}

    metric_list operator()(const workload& load) {
        const storage_types types = storage_types_of(model_, load);
        std::vector<trace_totals> sums(chains_.size());
        detail::role_listener listener(chains_, sums);
        trace t{with_storage_types(load, types), &listener};
        model_.trace_with_loss(t);
        metric_list out{model_metrics_of(t.totals(), types)};
        for (const trace_totals& sum : sums) out.push_back(model_metrics_of(sum, types));
        if (root_.empty()) root_ = listener.root();
        tied_ = tied_ || listener.tied();
        return out;
    }
    [[nodiscard]] const std::vector<role_chain>& chains() const noexcept { return chains_; }
    [[nodiscard]] const std::string& root() const noexcept { return root_; }
    [[nodiscard]] bool tied() const noexcept { return tied_; }

private:
    const model& model_;
    std::vector<role_chain> chains_;
    std::string root_;
    bool tied_ = false;
};

/// The metrics of a model by role. A line includes the deeper lines below it.
///
/// No module is in two lines of one depth.
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
    [[nodiscard]] std::string path(std::size_t line) const {
        std::string out;
        for (const role module_role : chains[line]) out += (out.empty() ? "" : "/") + std::string(name_of(module_role));
        return out;
    }
    /// The metrics outside of all roles: residual additions, masks, operations of modules without a role.
    [[nodiscard]] model_metrics rest(const metric_list& r) const {
        model_metrics rest = r.front();
        for (std::size_t i = 0; i < chains.size(); ++i) {
            if (depth(i) > 0) continue;
            for (const auto f : detail::work_figures) rest.*f -= at(r, i).*f;
            for (const auto f : detail::state_figures) rest.*f -= at(r, i).*f;
        }
        return rest;
    }
};

namespace detail {

/// The stored bytes of weights by chain of roles: the model first, then in the order of `chains`.
inline std::vector<count> bytes_by_chain(const request& q, const std::vector<role_chain>& chains) {
    const model_listing listing = list_model(q.model, q.phases.front().parts.front().load);
    const std::vector<count> bytes = bytes_by_scope(q.stored_weights.bytes, listing);
    std::vector<count> out(1 + chains.size());
    out.front() = q.stored_weights.bytes.total;
    std::vector<role_chain> chain_of(listing.scopes.size());
    for (std::size_t i = 0; i < listing.scopes.size(); ++i) {
        const scope_figures& s = listing.scopes[i];
        if (s.parent >= 0) chain_of[i] = chain_of[static_cast<std::size_t>(s.parent)];
        if (s.module_role == role::none || (!chain_of[i].empty() && chain_of[i].back() == s.module_role)) continue;
        chain_of[i].push_back(s.module_role);
        const auto known = std::find(chains.begin(), chains.end(), chain_of[i]);
        if (known != chains.end()) out[1 + static_cast<std::size_t>(known - chains.begin())] += bytes[i];
    }
    return out;
}

}  // namespace detail

/// The metrics of a request by role, in the order of the list of roles.
[[nodiscard]] inline role_results compute_role_totals(const request& q) {
    role_accumulator reader(q.model);
    const metric_function compute_metrics = [&](const workload& load) { return reader(load); };
    role_results out;
    out.sums = compute_phases(q.phases, compute_metrics);
    if (q.stored_weights.is_applied) {
        const std::vector<count> bytes = detail::bytes_by_chain(q, reader.chains());
        for (std::size_t i = 0; i < bytes.size(); ++i) detail::replace_weight_bytes(out.sums, i, bytes[i]);
    }
    out.root = reader.root();
    out.tied = reader.tied();
    out.places.resize(reader.chains().size());
    std::iota(out.places.begin(), out.places.end(), std::size_t{0});
    std::sort(out.places.begin(), out.places.end(),
              [&](std::size_t a, std::size_t b) { return reader.chains()[a] < reader.chains()[b]; });
    for (std::size_t& place : out.places) out.chains.push_back(reader.chains()[place++]);
    return out;
}

}  // namespace llmcost::cli
