// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/kernels/kernel_database.hpp>
#include <llmcost/kernels/kernel_names.hpp>
#include <llmcost/latency/operator_types.hpp>

namespace llmcost::cli {

/// Checks the names in kernel queries: throws for unknown names, and warns once about each substitution.
class name_check {
public:
    name_check(const operator_type& family, const std::string& calibration, std::ostream& notes)
        : family_(family), kernels_(calibration), notes_(notes) {}

    /// Checks the names in options; `target_device` is null if the rows name the devices. Throws: `usage`.
    void options(const kernel_query& requested, const device* target_device);
    /// Checks the names in a row of a table; warns about an unknown software or version, which is ignored.
    void row(const std::string& location, const kernel_query& requested, const device& target_device);
    /// Whether the `backend` of a row is a known software; warns once about each unknown one.
    bool software(const std::string& location, const std::string& name);
    /// Warns if a found kernel differs from the query; `of_software` is the option or column of the software.
    void found(const std::string& location, const kernel_query& requested, const kernel_match& c,
               std::string_view of_software = "--kernels");

    /// Warns if the GPUs exceed a node and were not measured together.
    void nodes(const std::string& location, const operator_shape& shape, const kernel_match& c);
    /// Warns if the name of a kernel is not among the available ones.
    void kernel(const std::string& location, const std::string& name, const std::set<string_ref>& known) {
        warn_ignored(location, "kernel_source", unknown_name_message(known, name));
    }

private:
    void variant(const std::string& location, const std::string& name, const std::string& text);
    void warn_ignored(const std::string& location, const char* column, const std::string& problem) {
        if (!problem.empty()) note(location + ": " + column, problem + "; ignored");
    }
    void note(const std::string& location, const std::string& message) {
        if (printed_.insert(message).second) notes_ << "llmcost: warning: " << location << ": " << message << '\n';
    }

    const operator_type& family_;
    available_kernels kernels_;
    std::ostream& notes_;
    std::set<std::tuple<std::string, std::string, std::string, std::string>, std::less<>> rows_;
    std::map<std::string, bool> software_;
    std::set<std::string> printed_;
};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/name_check.ipp>  // IWYU pragma: export
#endif
