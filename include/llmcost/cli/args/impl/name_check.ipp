// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/name_check.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/kernels/kernel_database.hpp>
#include <llmcost/kernels/kernel_names.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/correction_factors.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli {

/// A note that several nodes are estimated with the links of one node; empty if one node is enough.
LLMCOST_INLINE std::string note_on_nodes(std::int64_t devices) {
    if (devices <= execution::default_devices_per_node) return {};
    return "no bandwidth between nodes is known; using the links of one node for all " + std::to_string(devices) +
           " devices, although a network is slower";
}

LLMCOST_INLINE void name_check::options(const kernel_query& requested, const device* target_device) {
    if (!requested.software.empty()) throw_usage_if("--kernels", kernels_.unknown_software_message(requested.software));
    if (!requested.version.empty()) {
        if (requested.software.empty()) throw_usage("--engine-version", "requires --kernels");
        throw_usage_if("--engine-version", kernels_.unknown_version_message(requested.software, requested.version,
                                                                            &family_, target_device));
    }
    variant("", "--" + std::string(family_.variant_column), requested.variant);
}

LLMCOST_INLINE void name_check::row(const std::string& location, const kernel_query& requested,
                                    const device& target_device) {
    // millions of rows repeat few names
    const auto key = std::tie(requested.software, requested.version, requested.variant, requested.device);
    if (rows_.contains(key)) return;
    if (!requested.version.empty())
        warn_ignored(location, "version",
                     requested.software.empty() ? "requires a column 'backend', or --kernels"
                                                : kernels_.unknown_version_message(
                                                      requested.software, requested.version, &family_, &target_device));
    variant(location + ": ", std::string(family_.variant_column), requested.variant);
    rows_.insert(key);  // an unknown name throws in every row
}

LLMCOST_INLINE bool name_check::software(const std::string& location, const std::string& name) {
    const auto [known, fresh] = software_.try_emplace(name, false);
    if (!fresh) return known->second;
    const std::string problem = name.empty() ? std::string{} : kernels_.unknown_software_message(name);
    warn_ignored(location, "backend", problem);
    return known->second = problem.empty();
}

LLMCOST_INLINE void name_check::found(const std::string& location, const kernel_query& requested, const kernel_match& c,
                                      std::string_view of_software) {
    if (c.calibration == nullptr) return;
    if (is_fallback(family_, requested.software, c.calibration))
        note(location + std::string(of_software),
             fallback_warning(requested.software, *c.target_device, kernel_label(family_, *c.operand, c.variant),
                              c.calibration->software));
    if (!(c.calibration->variant == c.variant))
        note(location + std::string(family_.variant_column),
             "no measurements of " + quote(c.variant) + "; using those of " + printable(c.calibration->variant));
}

LLMCOST_INLINE void name_check::nodes(const std::string& location, const operator_shape& shape, const kernel_match& c) {
    constexpr literal column = "num_gpus";
    if (!shape.work().uses_links || (c.calibration != nullptr && c.calibration->correction.has(shape.layer_shape())))
        return;
    const std::string problem = note_on_nodes(shape.size(column));
    if (!problem.empty()) note(location + column, problem);
}

LLMCOST_INLINE void name_check::variant(const std::string& location, const std::string& name, const std::string& text) {
    if (text.empty()) return;
    const std::string problem = kernels_.unknown_variant_message(family_, text);
    if (!family_.variants.accepts_other_names)
        throw_usage_if(name, problem);
    else if (!problem.empty())
        note(location + name, problem + "; using the default");
}

}  // namespace llmcost::cli
