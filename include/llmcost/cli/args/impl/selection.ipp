// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/selection.hpp>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE void bounded_listener::on_module_enter(const recorder&, const module_info&) {
    if (++modules_ > max_modules)
        throw error(errc::overflow, {}, "more than 65536 modules to list; use a role, e.g. attn or all");
    ++depth_;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE void check_size(const model& m, const workload& load) {
    detail::bounded_listener listener;
    trace t{with_storage_types(load, storage_types_of(m, load)), &listener};
    m.trace_with_loss(t);
}

LLMCOST_INLINE found_scope find_scope(const model& m, const workload& load, const scope_selector& scope) {
    const storage_types types = storage_types_of(m, load);
    trace t{with_storage_types(load, types), nullptr, scope_query(scope.kind, scope.name)};
    m.trace_with_loss(t);
    return {model_metrics_of(t.totals(), types), t.has_match(), t.only_tied()};
}

}  // namespace llmcost::cli
