// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include <llmcost/kernels/kernel_database.hpp>
#include <llmcost/kernels/kernel_names.hpp>

namespace llmcost::cli {

/// A note that several nodes are estimated with the links of one node; empty if one node is enough.
inline std::string note_on_nodes(std::int64_t devices) {
    if (devices <= execution::default_devices_per_node) return {};
    return "no bandwidth between nodes is known; using the links of one node for all " + std::to_string(devices) +
           " devices, although a network is slower";
}

/// Checks the names in kernel queries: throws for unknown names, and warns once about each substitution.
class name_check {
public:
    name_check(const operator_type& family, const std::string& calibration, std::ostream& notes)
        : family_(family), known_(calibration), notes_(notes) {}

    /// Checks the names in options; `target_device` is null if the rows name the devices. Throws: `usage`.
    void options(const kernel_query& requested, const device* target_device) {
        if (!requested.software.empty())
            throw_usage_if("--kernels", known_.unknown_software_message(requested.software));
        if (!requested.version.empty()) {
            if (requested.software.empty()) throw_usage("--engine-version", "requires --kernels");
            throw_usage_if("--engine-version", known_.unknown_version_message(requested.software, requested.version,
                                                                              &family_, target_device));
        }
        variant("", "--" + std::string(family_.variant_column), requested.variant);
    }
    /// Checks the names in a row of a table; warns about an unknown software or version, which is ignored.
    void row(const std::string& location, const kernel_query& requested, const device& target_device) {
        // millions of rows repeat few names
        const auto key = std::tie(requested.software, requested.version, requested.variant, requested.device);
        if (rows_.contains(key)) return;
        if (!requested.version.empty())
            warn_ignored(
                location, "version",
                requested.software.empty()
                    ? "requires a column 'backend', or --kernels"
                    : known_.unknown_version_message(requested.software, requested.version, &family_, &target_device));
        variant(location + ": ", std::string(family_.variant_column), requested.variant);
        rows_.insert(key);  // an unknown name throws in every row
    }
    /// Whether the `backend` of a row is a known software; warns once about each unknown one.
    bool software(const std::string& location, const std::string& name) {
        const auto [known, fresh] = software_.try_emplace(name, false);
        if (!fresh) return known->second;
        const std::string problem = name.empty() ? std::string{} : known_.unknown_software_message(name);
        warn_ignored(location, "backend", problem);
        return known->second = problem.empty();
    }
    /// Warns if a found kernel differs from the query; `of_software` is the option or column of the software.
    void found(const std::string& location, const kernel_query& requested, const kernel_match& c,
               std::string_view of_software = "--kernels") {
        if (c.calibration == nullptr) return;
        if (is_fallback(family_, requested.software, c.calibration))
            note(location + std::string(of_software),
                 fallback_warning(requested.software, *c.target_device, kernel_label(family_, *c.operand, c.variant),
                                  c.calibration->software));
        if (!(c.calibration->variant == c.variant))
            note(location + std::string(family_.variant_column),
                 "no measurements of " + quote(c.variant) + "; using those of " + printable(c.calibration->variant));
    }

    /// Warns if the GPUs exceed a node and were not measured together.
    void nodes(const std::string& location, const operator_shape& shape, const kernel_match& c) {
        constexpr literal column = "num_gpus";
        if (!shape.work().uses_links ||
            (c.calibration != nullptr && c.calibration->correction.has(shape.layer_shape())))
            return;
        const std::string problem = note_on_nodes(shape.size(column));
        if (!problem.empty()) note(location + column, problem);
    }
    /// Warns if the name of a kernel is not among the available ones.
    void kernel(const std::string& location, const std::string& name, const std::set<string_ref>& known) {
        warn_ignored(location, "kernel_source", unknown_name_message(known, name));
    }

private:
    void variant(const std::string& location, const std::string& name, const std::string& text) {
        if (text.empty()) return;
        const std::string problem = known_.unknown_variant_message(family_, text);
        if (!family_.variants.accepts_other_names)
            throw_usage_if(name, problem);
        else if (!problem.empty())
            note(location + name, problem + "; using the default");
    }
    void warn_ignored(const std::string& location, const char* column, const std::string& problem) {
        if (!problem.empty()) note(location + ": " + column, problem + "; ignored");
    }
    void note(const std::string& location, const std::string& message) {
        if (printed_.insert(message).second) notes_ << "llmcost: warning: " << location << ": " << message << '\n';
    }

    const operator_type& family_;
    available_kernels known_;
    std::ostream& notes_;
    std::set<std::tuple<std::string, std::string, std::string, std::string>, std::less<>> rows_;
    std::map<std::string, bool> software_;
    std::set<std::string> printed_;
};

}  // namespace llmcost::cli
