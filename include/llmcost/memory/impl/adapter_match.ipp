// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/adapter_match.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/adapter_policy.hpp>
#include <llmcost/memory/adapter_targets.hpp>
#include <llmcost/memory/module_names.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::detail {

LLMCOST_INLINE void path_listener::on_module_enter(const recorder&, const module_info& m) {
    parent_path_lengths_.push_back(path_.size());
    const std::string_view name = m.name;
    if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
    if (m.index >= 0) path_.append(path_.empty() ? "" : ".").append(std::to_string(m.index));
    paths.push_back(path_);
    roles[static_cast<std::size_t>(m.module_role)] = true;
}

LLMCOST_INLINE void path_listener::on_module_leave(const recorder&, const module_info&) {
    path_.resize(parent_path_lengths_.back());
    parent_path_lengths_.pop_back();
}

LLMCOST_INLINE void path_listener::on_parameter(const recorder&, literal name, const tensor& v, bool) {
    paths.push_back(path_ + '.' + std::string(name));
    const std::string last = path_.substr(path_.rfind('.') + 1);
    if (v.rank >= 2 && std::ranges::find(names, last) == names.end()) names.push_back(last);
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE adapter_match_result find_adapter_targets(const adapter& adapter_config, const model& m) {
    adapter_match_result out;
    const auto trace_model = [](const model& traced_model, listener* listener) {
        const workload one{.sequence = 1, .training = true};
        trace t{with_storage_types(one, storage_types_of(traced_model, one)), listener};
        traced_model.trace_with_loss(t);
    };
    detail::path_listener listener;
    trace_model(m, &listener);
    const auto miss = [&](const std::vector<std::string>& names, bool dot) {
        for (const std::string& name : names)
            if (std::ranges::none_of(listener.paths, [&](const std::string& path) {
                    return dot ? module_names::is_end(path, name) : std::string_view(path).ends_with(name);
                }))
                out.unmatched.push_back(name);
    };
    miss(adapter_config.targets.endings, true);
    miss(adapter_config.parameters, true);
    std::vector<std::string> frozen = adapter_config.frozen;
    std::erase_if(frozen, [&](const std::string& name) {
        const role module_role = role_from(string_ref(name.data(), name.size()));
        return module_role != role::none && listener.roles[static_cast<std::size_t>(module_role)];
    });
    miss(frozen, true);
    if (!frozen.empty())
        for (std::size_t i = 1; i < std::size(role_names); ++i)
            if (listener.roles[i]) listener.names.emplace_back(role_names[i]);
    std::vector<std::string> tables;
    for (const trained_tokens& rows : adapter_config.rows) tables.push_back(rows.table);
    miss(tables, false);
    out.names = std::move(listener.names);
    adapter_policy policy{adapter_config, m};
    model adapted = m;
    adapted.policy = &policy;
    trace_model(adapted, nullptr);
    out.adapted = policy.adapted_modules();
    out.problem = policy.problem();
    return out;
}

}  // namespace llmcost
