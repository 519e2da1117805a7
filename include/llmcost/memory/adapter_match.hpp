// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iterator>
#include <string>
#include <vector>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost {

/// The modules of a model that match an adapter.
struct adapter_match_result {
    std::vector<std::string> adapted{};    ///< paths of modules, and of parameters that are adapted themselves
    std::vector<std::string> unmatched{};  ///< names of the adapter that match no module
    std::vector<std::string> names{};      ///< names of modules that can be targets, each once
    std::string problem{};                 ///< the reason why a targeted module cannot have the adapter
};

namespace detail {

/// Collects the paths of modules and parameters.
class path_listener final : public listener {
public:
    void on_module_enter(const recorder&, const module_info& m) override;
    void on_module_leave(const recorder&, const module_info&) override;
    void on_parameter(const recorder&, literal name, const tensor& v, bool) override;
    std::vector<std::string> paths;
    std::vector<std::string> names;
    bool roles[std::size(role_names)]{};

private:
    std::string path_;
    std::vector<std::size_t> parent_path_lengths_;
};

}  // namespace detail

/// Finds the modules of a model that an adapter targets. Traces the model twice with one token.
[[nodiscard]] adapter_match_result find_adapter_targets(const adapter& adapter_config, const model& m);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/adapter_match.ipp>  // IWYU pragma: export
#endif
