// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/failing_module.hpp>

#include <exception>
#include <string>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::detail {

/// The path of the modules that are open; an exception leaves them open.
class open_module_listener final : public listener {
public:
    void on_module_enter(const recorder&, const module_info& m) override {
        lengths_.push_back(path_.size());
        const auto append = [&](const std::string& part) { path_ += (path_.empty() ? "" : ".") + part; };
        if (!is_empty(m.name)) append(m.name);
        if (m.index >= 0) append(std::to_string(m.index));
    }
    void on_module_leave(const recorder&, const module_info&) override {
        path_.resize(lengths_.back());
        lengths_.pop_back();
    }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
    std::vector<std::size_t> lengths_;
};

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::string failing_module(const model& m, const workload& load) {
    detail::open_module_listener listener;
    try {
        trace t{with_storage_types(load, storage_types_of(m, load)), &listener};
        m.trace_with_loss(t);
    } catch (const std::exception&) {
        return listener.path();
    }
    return {};
}

}  // namespace llmcost
