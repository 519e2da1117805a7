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

/// That devices of several nodes are priced by the links of one; empty where they fit into one.
inline std::string note_on_nodes(std::int64_t devices) {
    if (devices <= execution::default_devices_per_node) return {};
    return "links between nodes are not known: between the " + std::to_string(devices) +
           " devices are taken the links of one node, and a network of several is slower";
}

/// Holds the words of a choice against those that there are: refuses what means nothing, and notes once what is priced
/// by something else.
class name_check {
public:
    name_check(const operator_type& family, const std::string& calibration, std::ostream& notes)
        : family_(family), known_(calibration), notes_(notes) {}

    /// Of options; `on` is null where rows say the device.
    void options(const kernel_query& requested, const device* target_device) {
        if (!requested.software.empty())
            throw_usage_if("--kernels", known_.unknown_software_message(requested.software));
        if (!requested.version.empty()) {
            if (requested.software.empty()) throw_usage("--version", "needs --kernels: whose it is");
            throw_usage_if("--version", known_.unknown_version_message(requested.software, requested.version, &family_,
                                                                       target_device));
        }
        variant("", "--" + std::string(family_.variant_column), requested.variant);
    }
    /// Of a row of a table, whose columns of software and version may mean something else: what they say is only noted.
    void row(const std::string& location, const kernel_query& requested, const device& target_device) {
        // a million rows say the same few words over and over
        const auto key = std::tie(requested.software, requested.version, requested.variant, requested.device);
        if (rows_.contains(key)) return;
        if (!requested.version.empty())
            warn_ignored(
                location, "version",
                requested.software.empty()
                    ? "needs a column 'backend', or --kernels: whose it is"
                    : known_.unknown_version_message(requested.software, requested.version, &family_, &target_device));
        variant(location + ": ", std::string(family_.variant_column), requested.variant);
        rows_.insert(key);  // what is refused is refused in every row
    }
    /// Whether a row's `backend` names a software; noted once where it does not.
    bool software(const std::string& location, const std::string& name) {
        const auto [known, fresh] = software_.try_emplace(name, false);
        if (!fresh) return known->second;
        const std::string problem = name.empty() ? std::string{} : known_.unknown_software_message(name);
        warn_ignored(location, "backend", problem);
        return known->second = problem.empty();
    }
    /// Of what was found for it; `of_software` is the option or column that named the software.
    void found(const std::string& location, const kernel_query& requested, const kernel_match& c,
               std::string_view of_software = "--kernels") {
        if (c.calibration == nullptr) return;
        if (is_fallback(family_, requested.software, c.calibration))
            note(location + std::string(of_software),
                 fallback_warning(requested.software, *c.target_device, kernel_label(family_, *c.operand, c.variant),
                                  c.calibration->software));
        if (!(c.calibration->variant == c.variant))
            note(location + std::string(family_.variant_column),
                 quote(c.variant) + " was not measured: " + printable(c.calibration->variant) + " stands in for it");
    }

    /// Of GPUs that no node has and nobody measured together.
    void nodes(const std::string& location, const operator_shape& shape, const kernel_match& c) {
        constexpr literal column = "num_gpus";
        if (!shape.work().uses_links ||
            (c.calibration != nullptr && c.calibration->correction.has(shape.layer_shape())))
            return;
        const std::string problem = note_on_nodes(shape.size(column));
        if (!problem.empty()) note(location + column, problem);
    }
    /// Of the name of a kernel, where it is none of those that it could have chosen.
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
            note(location + name, problem + "; priced as any other");
    }
    void warn_ignored(const std::string& location, const char* column, const std::string& problem) {
        if (!problem.empty()) note(location + ": " + column, problem + "; it chooses nothing");
    }
    void note(const std::string& location, const std::string& message) {
        if (printed_.insert(message).second) notes_ << "llmcost: " << location << ": " << message << '\n';
    }

    const operator_type& family_;
    available_kernels known_;
    std::ostream& notes_;
    std::set<std::tuple<std::string, std::string, std::string, std::string>, std::less<>> rows_;
    std::map<std::string, bool> software_;
    std::set<std::string> printed_;
};

}  // namespace llmcost::cli
