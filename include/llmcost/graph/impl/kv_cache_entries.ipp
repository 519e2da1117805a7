// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/graph/kv_cache_entries.hpp>

#include <string>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::detail {

LLMCOST_INLINE void cache_listener::on_module_enter(const recorder&, const module_info& m) {
    open_.push_back({path_.size(), m.index >= 0});
    const std::string_view name = m.name;
    if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
    if (m.index >= 0) path_ += '.' + std::to_string(m.index);
    if (m.index >= 0 && list_depth_++ == 0) list_path_ = path_;
}

LLMCOST_INLINE void cache_listener::on_module_leave(const recorder&, const module_info&) {
    if (open_.back().in_list && --list_depth_ == 0) {
        list_path_.clear();
        is_in_layer_ = false;
    }
    path_.resize(open_.back().parent_path_length);
    open_.pop_back();
}

LLMCOST_INLINE void cache_listener::on_cache_append(const recorder& r, const tensor& v) {
    on_cache_entry_empty(r);
    out_.back().tensors.emplace_back(v.size, v.size + v.rank);
    out_.back().is_index_key.push_back(is_index_key_);
}

LLMCOST_INLINE void cache_listener::on_cache_entry_empty(const recorder&) {
    if (!is_in_layer_ || out_.empty() || out_.back().path != list_path_) out_.push_back({list_path_, {}, {}});
    is_in_layer_ = true;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::vector<kv_cache_entry> list_kv_cache(const model& m, const workload& load) {
    std::vector<kv_cache_entry> out;
    detail::cache_listener listener{out};
    trace t{with_storage_types(load, storage_types_of(m, load)), &listener};
    m.trace_with_loss(t);
    return out;
}

}  // namespace llmcost
