// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>

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
    void on_module_enter(const recorder&, const module_info&) override;
    void on_module_leave(const recorder&, const module_info&) override { --depth_; }

protected:
    [[nodiscard]] std::size_t depth() const noexcept { return depth_; }

private:
    std::int64_t modules_ = 0;
    std::size_t depth_ = 0;
};

}  // namespace detail

/// Throws: `overflow` if a listing of the model would have more than `max_modules` modules.
void check_size(const model& m, const workload& load);

/// Computes the metrics of a scope in one forward pass; `found` is false if the model has no such scope.
[[nodiscard]] found_scope find_scope(const model& m, const workload& load, const scope_selector& scope);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/selection.ipp>  // IWYU pragma: export
#endif
