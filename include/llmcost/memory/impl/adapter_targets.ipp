// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/adapter_targets.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/module_names.hpp>

namespace llmcost::detail {

/// The four modules of a model type that have become parameters. Returns null if there are none.
[[nodiscard]] LLMCOST_INLINE const former_module* former_modules_of(std::string_view model_type) {
    const auto has = [&](const auto& types) { return std::ranges::find(types, model_type) != std::end(types); };
    if (has(types_with_numbered_experts)) return numbered_experts;
    return has(types_with_named_experts) ? named_experts : nullptr;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE adapter with_usual_targets(adapter a, std::string_view model_type) {
    if (!a.needs_targets()) return a;
    if (a.kind == adapter_kind::norms) {
        for (const usual_norms& t : usual_norms_of_types)
            if (t.model_type == model_type) a.targets.endings = split_list(t.norms, ' ');
        return a;
    }
    for (const usual_targets& t : usual_targets_of_types) {
        if (t.model_type != model_type) continue;
        a.targets.endings = split_list(a.kind == adapter_kind::ia3 ? t.ia3 : t.lora, ' ');
        if (a.kind == adapter_kind::ia3 && a.feedforward.empty())
            a.feedforward.endings = split_list(t.feedforward, ' ');
    }
    return a;
}

LLMCOST_INLINE adapter with_fused_experts(adapter a, std::string_view model_type, std::string& missing) {
    const former_module* const former = detail::former_modules_of(model_type);
    if (former == nullptr || !a.is_low_rank() || a.targets.expression) return a;
    std::vector<std::string> remaining_targets;
    std::size_t fused = 0;
    const auto rename = [&](std::string_view target) {
        for (std::size_t i = 0; i < detail::former_module_kinds; ++i) {
            if (!module_names::is_end(target, former[i].name)) continue;
            fused += former[i].fused ? 1 : 0;
            const std::string parameter(former[i].parameter);
            if (std::ranges::find(a.parameters, parameter) == a.parameters.end()) a.parameters.push_back(parameter);
            return true;
        }
        return false;
    };
    if (a.all_linear) {
        for (std::size_t i = 0; i < detail::former_module_kinds; ++i) {
            (void)rename(former[i].name);
            a.excluded.endings.emplace_back(former[i].name);
        }
    }
    for (std::string& target : a.targets.endings)
        if (!rename(target)) remaining_targets.push_back(std::move(target));
    a.targets.endings = std::move(remaining_targets);
    if (fused == 1) missing = "gate_up_proj";
    if (fused > 1) a.ranks.push_back({*path_expression::parse(".*\\.gate_up_proj"), 2 * a.rank});
    return a;
}

}  // namespace llmcost
