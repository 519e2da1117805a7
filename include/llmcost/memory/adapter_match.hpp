// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/memory/adapter_policy.hpp>
#include <llmcost/memory/adapter_targets.hpp>

namespace llmcost {

/// What an adapter finds in a model.
struct adapter_match {
    std::vector<std::string> adapted{};    ///< paths of modules, and of parameters that are adapted themselves
    std::vector<std::string> unmatched{};  ///< names of the adapter that no module has
    std::vector<std::string> names{};      ///< what modules are called that could be named, each once
    std::string problem{};                 ///< why a module that is named cannot have it
};

namespace detail {

/// Hears what modules and parameters of a model are called.
class path_listener final : public listener {
public:
    void enter(const recorder&, const module_info& m) override {
        outside_.push_back(path_.size());
        const std::string_view name = m.name;
        if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
        if (m.index >= 0) path_.append(path_.empty() ? "" : ".").append(std::to_string(m.index));
        paths.push_back(path_);
        roles[static_cast<std::size_t>(m.what)] = true;
    }
    void leave(const recorder&, const module_info&) override { path_.resize(outside_.back()), outside_.pop_back(); }
    void parameter(const recorder&, literal name, const value& v, bool) override {
        paths.push_back(path_ + '.' + std::string(name));
        const std::string last = path_.substr(path_.rfind('.') + 1);
        if (v.rank >= 2 && std::ranges::find(names, last) == names.end()) names.push_back(last);
    }
    std::vector<std::string> paths;
    std::vector<std::string> names;
    bool roles[std::size(role_names)]{};

private:
    std::string path_;
    std::vector<std::size_t> outside_;
};

}  // namespace detail

/// What an adapter with names of its own finds in a model: two walks of one token.
[[nodiscard]] inline adapter_match match_adapter(const adapter& of, const model& m) {
    adapter_match out;
    const auto walk = [](const model& walked, listener* ear) {
        const workload one{.sequence = 1, .training = true};
        trace t{resolved(one, types_of(walked, one)), ear};
        walked.describe(t);
    };
    detail::path_listener ear;
    walk(m, &ear);
    const auto miss = [&](const std::vector<std::string>& names, bool dot) {
        for (const std::string& name : names)
            if (std::ranges::none_of(ear.paths, [&](const std::string& path) {
                    return dot ? module_names::is_end(path, name) : std::string_view(path).ends_with(name);
                }))
                out.unmatched.push_back(name);
    };
    miss(of.targets.endings, true), miss(of.parameters, true);
    std::vector<std::string> frozen = of.frozen;
    std::erase_if(frozen, [&](const std::string& name) {
        const role what = role_from(string_ref(name.data(), name.size()));
        return what != role::none && ear.roles[static_cast<std::size_t>(what)];
    });
    miss(frozen, true);
    if (!frozen.empty())
        for (std::size_t i = 1; i < std::size(role_names); ++i)
            if (ear.roles[i]) ear.names.emplace_back(role_names[i]);
    std::vector<std::string> tables;
    for (const trained_tokens& rows : of.rows) tables.push_back(rows.table);
    miss(tables, false);
    out.names = std::move(ear.names);
    adapter_policy policy{of, m};
    model adapted = m;
    adapted.policy = &policy;
    walk(adapted, nullptr);
    out.adapted = policy.adapted(), out.problem = policy.problem();
    return out;
}

}  // namespace llmcost
