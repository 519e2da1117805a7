// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/files/user_files.hpp>
#include <llmcost/kernels/calibration_file.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

// The names that select kernels.
namespace llmcost {

/// Folders of kernel calibrations, or one file, of a value of `--calibration` (`split_calibration`). Empty: the user's
/// and the bundled ones. `none`: no calibrations.
[[nodiscard]] std::vector<std::string> calibration_paths(const std::string& calibration);

/// The operand type with a name. Throws: `usage` with `source`.
[[nodiscard]] const operand_type& require_operand_type(std::string_view source, std::string_view name);

/// The variants of an operator type. Element types among them are those of a KV cache, which are never weight-only.
[[nodiscard]] std::set<string_ref> variants_of(const operator_type& family);

/// `expected one of a, b; found 'c'`; empty if the name is one of them, or if there are none.
[[nodiscard]] std::string unknown_name_message(const std::set<string_ref>& known, std::string_view text);

/// A name with a number at its end, as `power_law_1.2`, split into both.
struct version_number {
    std::string_view stem;
    double number = 0;
};

/// The variants whose kernels replace those of an unmeasured variant: nearest number first, then `fallback_variant`.
[[nodiscard]] std::vector<string_ref> fallback_variants(const operator_type& family, std::string_view name);

/// The available calibrations, by the names of their folders and files.
class available_kernels {
public:
    explicit available_kernels(const std::string& calibration) : calibration_paths_(calibration_paths(calibration)) {}

    /// An error message for the name of a software; empty if it is valid, or if no calibrations are available.
    [[nodiscard]] std::string unknown_software_message(std::string_view name);
    /// An error message for a version: expects those measured on the device for the operator type, otherwise anywhere.
    [[nodiscard]] std::string unknown_version_message(std::string_view software, std::string_view version,
                                                      const operator_type* family, const device* device);
    /// An error message for a variant: expects the known variants, with any number at the end, and the measured ones.
    [[nodiscard]] std::string unknown_variant_message(const operator_type& family, std::string_view name);

private:
    struct place {
        std::string device, family, software, version, variant;
    };
    static std::pair<std::string, std::string> parted(const std::string& name);
    const std::vector<place>& all();

    std::vector<std::string> calibration_paths_;
    std::vector<place> kernel_places_;
    bool is_read_ = false;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/kernels/impl/kernel_names.ipp>  // IWYU pragma: export
#endif
