// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/listing.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>
#include <llmcost/trace/trace_totals.hpp>

namespace llmcost {

LLMCOST_INLINE const scope_figures* model_listing::find(std::string_view path) const {
    for (const auto& s : scopes)
        if (s.path == path) return &s;
    return nullptr;
}

}  // namespace llmcost

namespace llmcost::detail {

LLMCOST_INLINE void listing_listener::on_module_enter(const recorder& r, const module_info& m) {
    std::ptrdiff_t parent = open_.empty() ? -1 : open_.back().scope;
    if (m.index >= 0 && !is_empty(m.name)) parent = container_of(parent, m.name);
    const std::string segment = m.index >= 0 ? std::to_string(m.index) : std::string(m.name);
    const std::ptrdiff_t scope = scope_at(
        parent, segment, std::string(m.class_of_module.prefix) + std::string(m.class_of_module.suffix), m.module_role);
    open_.push_back({scope, parent, r.totals(), m.index >= 0});
    list_depth_ += m.index >= 0 ? 1 : 0;
}

LLMCOST_INLINE void listing_listener::on_module_leave(const recorder& r, const module_info&) {
    const open_scope top = open_.back();
    open_.pop_back();
    const trace_totals scope_sums = r.totals().difference_from(top.start_sums);
    scope(top.scope).sums += scope_sums;
    if (top.in_list && --list_depth_ == 0) is_in_layer_ = false;
    const std::ptrdiff_t outer = open_.empty() ? -1 : open_.back().scope;
    if (top.parent != outer) scope(top.parent).sums += scope_sums;  // a list counts its items
}

LLMCOST_INLINE void listing_listener::on_parameter(const recorder&, literal name, const tensor& v, bool tied) {
    const std::string& path = scope(open_.back().scope).path;
    std::string full = path.empty() ? std::string(name) : path + "." + std::string(name);
    if (tied)
        out_.tied.push_back(std::move(full));
    else
        out_.tensors.push_back({std::move(full), {v.size, v.size + v.rank}});
}

LLMCOST_INLINE void listing_listener::on_cache_append(const recorder&, const tensor& v) {
    begin_kv_cache_entry();
    out_.cache.back().tensors.emplace_back(v.size, v.size + v.rank);
}

LLMCOST_INLINE void listing_listener::begin_kv_cache_entry() {
    std::string path;
    for (const open_scope& s : open_)
        if (path.empty() && s.in_list) path = scope(s.scope).path;
    if (!is_in_layer_ || out_.cache.empty() || out_.cache.back().path != path) out_.cache.push_back({path, {}, {}});
    is_in_layer_ = true;
}

LLMCOST_INLINE std::ptrdiff_t listing_listener::scope_at(std::ptrdiff_t parent, const std::string& segment,
                                                         std::string type, role module_role) {
    std::string path = segment;
    if (parent >= 0 && !scope(parent).path.empty()) path = scope(parent).path + "." + segment;
    const auto [found, fresh] = index_.try_emplace(path, static_cast<std::ptrdiff_t>(out_.scopes.size()));
    if (fresh) {
        if (out_.scopes.size() == max_scopes) throw_overflow_error();
        const int depth = parent < 0 ? 0 : scope(parent).depth + 1;
        out_.scopes.push_back({std::move(path), std::move(type), module_role, parent, depth, {}});
    }
    return found->second;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE model_listing list_model(const model& m, const workload& load) {
    model_listing out;
    detail::listing_listener listener{out};
    const storage_types types = storage_types_of(m, load);
    trace t{with_storage_types(load, types), &listener};
    m.trace_with_loss(t);
    out.total = full_model_metrics_of(t.totals(), types);
    return out;
}

}  // namespace llmcost
