// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <llmcost/analysis/counts.hpp>

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

/// The KV cache of one layer.
struct kv_cache_entry {
    std::string path;
    std::vector<std::vector<std::int64_t>> tensors;
};

/// The metrics of a model by module. `scopes` are in the order of the forward pass, parents first.
struct model_listing {
    std::vector<scope_figures> scopes;
    std::vector<tensor_shape> tensors;
    std::vector<std::string> tied;
    std::vector<kv_cache_entry> cache;
    model_metrics total;

    /// The scope with a path; nullptr if there is none.
    [[nodiscard]] const scope_figures* find(std::string_view path) const {
        for (const auto& s : scopes)
            if (s.path == path) return &s;
        return nullptr;
    }
};

namespace detail {

class listing_listener final : public listener {
public:
    explicit listing_listener(model_listing& out) : out_(out) {}

    void on_module_enter(const recorder& r, const module_info& m) override {
        std::ptrdiff_t parent = open_.empty() ? -1 : open_.back().scope;
        if (m.index >= 0 && !is_empty(m.name)) parent = container_of(parent, m.name);
        const std::string segment = m.index >= 0 ? std::to_string(m.index) : std::string(m.name);
        const std::ptrdiff_t at =
            scope_at(parent, segment, std::string(m.class_of_module.prefix) + std::string(m.class_of_module.suffix),
                     m.module_role);
        open_.push_back({at, parent, r.totals(), m.index >= 0});
        lists_ += m.index >= 0 ? 1 : 0;
    }
    void on_module_leave(const recorder& r, const module_info&) override {
        const open_scope top = open_.back();
        open_.pop_back();
        const trace_totals scope_sums = r.totals().difference_from(top.start_sums);
        scope(top.scope).sums += scope_sums;
        if (top.in_list && --lists_ == 0) in_layer_ = false;
        const std::ptrdiff_t outer = open_.empty() ? -1 : open_.back().scope;
        if (top.parent != outer) scope(top.parent).sums += scope_sums;  // a list counts its items
    }
    void on_parameter(const recorder&, literal name, const tensor& v, bool tied) override {
        const std::string& path = scope(open_.back().scope).path;
        std::string full = path.empty() ? std::string(name) : path + "." + std::string(name);
        if (tied)
            out_.tied.push_back(std::move(full));
        else
            out_.tensors.push_back({std::move(full), {v.size, v.size + v.rank}});
    }
    void on_cache_append(const recorder&, const tensor& v) override {
        begin_kv_cache_entry();
        out_.cache.back().tensors.emplace_back(v.size, v.size + v.rank);
    }
    void on_cache_entry_empty(const recorder&) override { begin_kv_cache_entry(); }
    void on_cache_entry_begin(const recorder&) override { in_layer_ = false; }

private:
    void begin_kv_cache_entry() {
        std::string path;
        for (const open_scope& s : open_)
            if (path.empty() && s.in_list) path = scope(s.scope).path;
        if (!in_layer_ || out_.cache.empty() || out_.cache.back().path != path) out_.cache.push_back({path, {}});
        in_layer_ = true;
    }
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
    std::ptrdiff_t scope_at(std::ptrdiff_t parent, const std::string& segment, std::string type, role module_role) {
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

    model_listing& out_;
    std::vector<open_scope> open_;
    int lists_ = 0;
    bool in_layer_ = false;  ///< this call of a layer already has a cache entry
    std::unordered_map<std::string, std::ptrdiff_t> index_;
};

/// Records only the KV cache. A path is that of the outermost module of a list.
class cache_listener final : public listener {
public:
    explicit cache_listener(std::vector<kv_cache_entry>& out) : out_(out) {}

    void on_module_enter(const recorder&, const module_info& m) override {
        open_.push_back({path_.size(), m.index >= 0});
        const std::string_view name = m.name;
        if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
        if (m.index >= 0) path_ += '.' + std::to_string(m.index);
        if (m.index >= 0 && lists_++ == 0) in_list_ = path_;
    }
    void on_module_leave(const recorder&, const module_info&) override {
        if (open_.back().in_list && --lists_ == 0) {
            in_list_.clear();
            in_layer_ = false;
        }
        path_.resize(open_.back().parent_path_length);
        open_.pop_back();
    }
    void on_cache_append(const recorder& r, const tensor& v) override {
        on_cache_entry_empty(r);
        out_.back().tensors.emplace_back(v.size, v.size + v.rank);
    }
    void on_cache_entry_empty(const recorder&) override {
        if (!in_layer_ || out_.empty() || out_.back().path != in_list_) out_.push_back({in_list_, {}});
        in_layer_ = true;
    }
    void on_cache_entry_begin(const recorder&) override { in_layer_ = false; }

private:
    struct open_module {
        std::size_t parent_path_length;  ///< length of the parent path
        bool in_list;
    };
    std::vector<kv_cache_entry>& out_;
    std::vector<open_module> open_;
    std::string path_;
    std::string in_list_;
    int lists_ = 0;
    bool in_layer_ = false;  ///< this call of a layer already has a cache entry
};

}  // namespace detail

/// The KV cache after a run, by layer. Takes a tenth of the time of `list_model`.
[[nodiscard]] inline std::vector<kv_cache_entry> list_kv_cache(const model& m, const workload& load) {
    std::vector<kv_cache_entry> out;
    detail::cache_listener listener{out};
    trace t{with_storage_types(load, storage_types_of(m, load)), &listener};
    m.trace_with_loss(t);
    return out;
}

/// Traces each layer of a model and lists scopes, tensors and KV cache.
///
/// Throws: `overflow_error` if a metric exceeds 128 bits, or for too many modules.
[[nodiscard]] inline model_listing list_model(const model& m, const workload& load) {
    model_listing out;
    detail::listing_listener listener{out};
    const storage_types types = storage_types_of(m, load);
    trace t{with_storage_types(load, types), &listener};
    m.trace_with_loss(t);
    out.total = full_model_metrics_of(t.totals(), types);
    return out;
}

}  // namespace llmcost
