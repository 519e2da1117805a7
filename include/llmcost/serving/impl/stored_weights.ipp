// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/stored_weights.hpp>

#include <string>
#include <string_view>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/memory/quantized_weights.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

LLMCOST_INLINE stored_bytes to_weight_parts(const stored_weights& weights) {
    stored_bytes out;
    for (const weight_bytes_row& row : weights.rows) out.add(row.parameter, count(row.bytes), row.format);
    return out;
}

}  // namespace llmcost

namespace llmcost::detail {

LLMCOST_INLINE void part_listener::on_module_enter(const recorder&, const module_info& m) {
    open_.push_back({path_.size(), m.module_role});
    const std::string_view name = m.name;
    if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
    if (m.index >= 0) path_.append(path_.empty() ? "" : ".").append(std::to_string(m.index));
}

LLMCOST_INLINE void part_listener::on_module_leave(const recorder&, const module_info&) {
    path_.resize(open_.back().parent_path_length);
    open_.pop_back();
}

LLMCOST_INLINE void part_listener::on_parameter(const recorder&, literal name, const tensor&, bool tied) {
    if (tied) return;
    const auto bytes =
        static_cast<double>(stored_.parameter_bytes(path_.empty() ? std::string(name) : path_ + '.' + name).to_64());
    if (is_inside(role::experts))
        out_.routed += bytes;
    else if (is_inside(role::embedding) || is_inside(role::head))
        out_.unquantized += bytes;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE weight_parts stored_weight_parts_of(const model& m, const stored_bytes& stored) {
    weight_parts out;
    detail::part_listener listener{stored, out};
    const workload sample_load = minimal_workload(m);
    trace t{with_storage_types(sample_load, storage_types_of(m, sample_load)), &listener};
    m.trace_with_loss(t);
    out.others = static_cast<double>(stored.total.to_64()) - out.unquantized - out.routed;
    return out;
}

}  // namespace llmcost
