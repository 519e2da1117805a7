// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/role_totals.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/totals.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/trace.hpp>
#include <llmcost/trace/trace_totals.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE void role_listener::on_module_enter(const recorder& r, const module_info& m) {
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

LLMCOST_INLINE void role_listener::on_module_leave(const recorder& r, const module_info& m) {
    if (!open_.empty() && open_.back().depth == depth()) {
        sums_[open_.back().row] += r.totals().difference_from(open_.back().initial_totals);
        open_.pop_back();
        chain_.pop_back();
    }
    bounded_listener::on_module_leave(r, m);
}

/// Appends the lines of the children of `parent`, which begin with chain `i`, and `other`.
///
/// Returns the first chain after them. The model is a parent without a path.
LLMCOST_INLINE std::size_t append_lines(const role_results& read, const metric_list& r, std::size_t i,
                                        const role_line& parent, std::vector<role_line>& out) {
    const std::size_t first = i, depth = parent.path.empty() ? 0 : parent.depth + 1;
    model_metrics rest = parent.metrics;
    while (i < read.chains.size() && read.depth(i) == depth) {
        const role_line line{read.path(i), read.name(i), depth, read.at(r, i)};
        for (const auto f : work_figures) rest.*f -= line.metrics.*f;
        for (const auto f : state_figures) rest.*f -= line.metrics.*f;
        out.push_back(line);
        i = append_lines(read, r, i + 1, line, out);
    }
    if (i > first) out.push_back({parent.path + (depth == 0 ? "other" : "/other"), "other", depth, rest});
    return i;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE metric_list role_accumulator::operator()(const workload& load) {
    const storage_types types = storage_types_of(model_, load);
    std::vector<trace_totals> sums(chains_.size());
    detail::role_listener listener(chains_, sums);
    trace t{with_storage_types(load, types), &listener};
    model_.trace_with_loss(t);
    metric_list out{model_metrics_of(t.totals(), types)};
    for (const trace_totals& sum : sums) out.push_back(model_metrics_of(sum, types));
    if (root_.empty()) root_ = listener.root();
    is_tied_ = is_tied_ || listener.tied();
    return out;
}

LLMCOST_INLINE std::string role_results::path(std::size_t line) const {
    std::string out;
    for (const role module_role : chains[line]) out += (out.empty() ? "" : "/") + std::string(name_of(module_role));
    return out;
}

LLMCOST_INLINE bool role_results::has_attention() const {
    return std::any_of(chains.begin(), chains.end(), [](const role_chain& chain) {
        return chain.back() == role::attn || chain.back() == role::cross_attn;
    });
}

LLMCOST_INLINE std::vector<role_line> role_results::lines(const metric_list& r) const {
    std::vector<role_line> out;
    (void)detail::append_lines(*this, r, 0, {.path = {}, .name = {}, .metrics = r.front()}, out);
    return out;
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

/// The stored bytes of weights by chain of roles: the model first, then in the order of `chains`.
LLMCOST_INLINE std::vector<count> bytes_by_chain(const request& q, const std::vector<role_chain>& chains) {
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

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE role_results compute_role_totals(const request& q) {
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
