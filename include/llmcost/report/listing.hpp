// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/graph/kv_cache_entries.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace_totals.hpp>

namespace llmcost {

/// The metrics of a module, including its children.
struct scope_figures {
    std::string path;  ///< empty: the model
    std::string type;  ///< class name
    role module_role = role::none;
    std::ptrdiff_t parent = -1;
    int depth = 0;
    trace_totals sums{};
};

/// A parameter with its full name.
struct tensor_shape {
    std::string name;
    std::vector<std::int64_t> sizes;
};

/// The metrics of a model by module. `scopes` are in the order of the forward pass, parents first.
struct model_listing {
    std::vector<scope_figures> scopes;
    std::vector<tensor_shape> tensors;
    std::vector<std::string> tied;
    std::vector<kv_cache_entry> cache;
    model_metrics total;

    /// The scope with a path; nullptr if there is none.
    [[nodiscard]] const scope_figures* find(std::string_view path) const;
};

namespace detail {

class listing_listener final : public listener {
public:
    explicit listing_listener(model_listing& out) : out_(out) {}

    void on_module_enter(const recorder& r, const module_info& m) override;
    void on_module_leave(const recorder& r, const module_info&) override;
    void on_parameter(const recorder&, literal name, const tensor& v, bool tied) override;
    void on_cache_append(const recorder&, const tensor& v) override;
    void on_cache_entry_empty(const recorder&) override { begin_kv_cache_entry(); }
    void on_cache_entry_begin(const recorder&) override { is_in_layer_ = false; }

private:
    void begin_kv_cache_entry();
    static constexpr std::size_t max_scopes = 131072;  // a quarter of a GiB

    struct open_scope {
        std::ptrdiff_t scope;
        std::ptrdiff_t parent;
        trace_totals start_sums;
        bool in_list;
    };

    scope_figures& scope(std::ptrdiff_t i) { return out_.scopes[static_cast<std::size_t>(i)]; }
    std::ptrdiff_t container_of(std::ptrdiff_t parent, std::string_view name) {
        return scope_at(parent, std::string(name), "ModuleList", role::none);
    }
    std::ptrdiff_t scope_at(std::ptrdiff_t parent, const std::string& segment, std::string type, role module_role);

    model_listing& out_;
    std::vector<open_scope> open_;
    int list_depth_ = 0;
    bool is_in_layer_ = false;  ///< this call of a layer already has a cache entry
    std::unordered_map<std::string, std::ptrdiff_t> index_;
};

}  // namespace detail

/// Traces each layer of a model and lists scopes, tensors and KV cache.
///
/// Throws: `overflow_error` if a metric exceeds 128 bits, or for too many modules.
[[nodiscard]] model_listing list_model(const model& m, const workload& load);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/listing.ipp>  // IWYU pragma: export
#endif
