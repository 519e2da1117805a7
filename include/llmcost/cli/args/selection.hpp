// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/text/error.hpp>

// Finds the scope of a model that a name selects, and computes its metrics.
namespace llmcost::cli {

/// A name and the kind of scope that it selects.
struct scope_selector {
    scope_kind kind = scope_kind::role;
    std::string name = "all";

    [[nodiscard]] bool is_all() const noexcept { return kind == scope_kind::role && name == "all"; }
};

/// A scope that was found in a model, and its metrics.
struct found_scope {
    model_metrics sum{};
    bool found = false;
    bool only_tied = false;  ///< the parameter is tied to a tensor with an earlier name
};

/// The maximum number of modules in a listing; a configuration can have billions.
inline constexpr std::int64_t max_modules = 65536;

namespace detail {

/// Tracks the module depth of a trace. Throws: `overflow` above `max_modules` modules.
class bounded_listener : public listener {
public:
    void on_module_enter(const recorder&, const module_info&) override {
        if (++modules_ > max_modules)
            throw error(errc::overflow, {}, "more than 65536 modules to list; use a role, e.g. attn or all");
        ++depth_;
    }
    void on_module_leave(const recorder&, const module_info&) override { --depth_; }

protected:
    [[nodiscard]] std::size_t depth() const noexcept { return depth_; }

private:
    std::int64_t modules_ = 0;
    std::size_t depth_ = 0;
};

}  // namespace detail

/// Throws: `overflow` if a listing of the model would have more than `max_modules` modules.
inline void check_size(const model& m, const workload& load) {
    detail::bounded_listener listener;
    trace t{with_storage_types(load, storage_types_of(m, load)), &listener};
    m.trace_with_loss(t);
}

/// Computes the metrics of a scope in one forward pass; `found` is false if the model has no such scope.
[[nodiscard]] inline found_scope find_scope(const model& m, const workload& load, const scope_selector& scope) {
    const storage_types types = storage_types_of(m, load);
    trace t{with_storage_types(load, types), nullptr, scope_query(scope.kind, scope.name)};
    m.trace_with_loss(t);
    return {model_metrics_of(t.totals(), types), t.has_match(), t.only_tied()};
}

}  // namespace llmcost::cli
