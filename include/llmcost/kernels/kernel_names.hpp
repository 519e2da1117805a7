// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <llmcost/devices/all.hpp>
#include <llmcost/files/user_files.hpp>
#include <llmcost/kernels/calibration_file.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

// The names that select kernels.
namespace llmcost {

/// Calibration folders or one file. Empty: the user's and the bundled ones. `none`: no calibrations.
[[nodiscard]] inline std::vector<std::string> calibration_paths(const std::string& calibration) {
    if (calibration.empty()) return default_calibration_paths();
    return calibration == "none" ? std::vector<std::string>{} : std::vector<std::string>{calibration};
}

/// The operand type with a name. Throws: `usage` with `source`.
[[nodiscard]] inline const operand_type& require_operand_type(std::string_view source, std::string_view name) {
    if (const operand_type* row = find_operand_type(name)) return *row;
    name_suggestions near(name);
    for (const operand_type& row : operand_types) near.add_candidate(row.name);
    throw_usage(source, "no type " + quote(name) + near.suggestion_or_list());
}

/// Whether a type is weight-only: unpacked to 16 bits before the product.
[[nodiscard]] constexpr bool is_weight_only(const operand_type& row) noexcept {
    return row.weight_bytes < row.activation_bytes && row.unit == &device::bf16;
}

/// The variants of an operator type. Element types among them are those of a KV cache, which are never weight-only.
[[nodiscard]] inline std::set<string_ref> variants_of(const operator_type& family) {
    std::set<string_ref> variants;
    for (std::size_t i = 0; family.variants.get != nullptr && !family.variants.get(i).empty(); ++i) {
        const operand_type* const type = find_operand_type(family.variants.get(i));
        if (type == nullptr || !is_weight_only(*type)) variants.insert(family.variants.get(i));
    }
    return variants;
}

/// `expected one of a, b; found 'c'`; empty if the name is one of them, or if there are none.
[[nodiscard]] inline std::string unknown_name_message(const std::set<string_ref>& known, std::string_view text) {
    if (known.empty() || known.contains(text)) return {};
    std::string names;
    for (const string_ref name : known) names += (names.empty() ? "" : ", ") + printable(name);
    return "expected one of " + names + "; found " + quote(text);
}

/// A name with a number at its end, as `power_law_1.2`, split into both.
struct version_number {
    std::string_view stem;
    double number = 0;
};
[[nodiscard]] inline std::optional<version_number> numbered(std::string_view name) {
    const std::size_t at = name.find_last_not_of("0123456789.") + 1;
    version_number n{name.substr(0, at)};
    const char* const end = name.data() + name.size();
    const auto [stop, problem] = std::from_chars(name.data() + at, end, n.number);
    return problem == std::errc{} && stop == end && n.stem.ends_with('_') ? std::optional(n) : std::nullopt;
}

/// The variants whose kernels replace those of an unmeasured variant: nearest number first, then `fallback_variant`.
[[nodiscard]] inline std::vector<string_ref> fallback_variants(const operator_type& family, std::string_view name) {
    std::vector<string_ref> variants;
    if (const auto requested = numbered(name)) {
        for (const string_ref known : variants_of(family))
            if (const auto candidate = numbered(known); candidate && candidate->stem == requested->stem)
                variants.push_back(known);
        std::stable_sort(variants.begin(), variants.end(), [&](std::string_view a, std::string_view b) {
            return std::fabs(numbered(a)->number - requested->number) <
                   std::fabs(numbered(b)->number - requested->number);
        });
    }
    if (!family.fallback_variant.empty()) variants.push_back(family.fallback_variant);
    std::erase(variants, name);
    return variants;
}

/// The available calibrations, by the names of their folders and files.
class available_kernels {
public:
    explicit available_kernels(const std::string& calibration) : at_(calibration_paths(calibration)) {}

    /// An error message for the name of a software; empty if it is valid, or if no calibrations are available.
    [[nodiscard]] std::string unknown_software_message(std::string_view name) {
        std::set<string_ref> known;
        for (const place& p : all()) known.insert(p.software);
        if (!known.empty())
            for (const engine& e : engines) known.insert(e.kernel_software);
        return unknown_name_message(known, name);
    }
    /// An error message for a version: expects those measured on the device for the operator type, otherwise anywhere.
    [[nodiscard]] std::string unknown_version_message(std::string_view software, std::string_view version,
                                                      const operator_type* family, const device* device) {
        std::set<string_ref> device_versions, anywhere;
        for (const place& p : all()) {
            if (p.software != software) continue;
            anywhere.insert(p.version);
            const bool fits =
                (family == nullptr || p.family == family->name) && (device == nullptr || has_name(*device, p.device));
            if (fits) device_versions.insert(p.version);
        }
        return unknown_name_message(device_versions.empty() ? anywhere : device_versions, version);
    }
    /// An error message for a variant: expects the known variants, with any number at the end, and the measured ones.
    [[nodiscard]] std::string unknown_variant_message(const operator_type& family, std::string_view name) {
        std::set<string_ref> known = variants_of(family);
        const auto requested = numbered(name);
        for (const string_ref k : known)
            if (const auto candidate = numbered(k); requested && candidate && requested->stem == candidate->stem)
                return {};
        if (const operand_type* type = find_operand_type(name); type != nullptr && known.contains(type->name))
            return {};
        if (known.contains(name)) return {};
        for (const place& p : all())
            if (p.family == family.name && !p.variant.empty()) known.insert(p.variant);
        return unknown_name_message(known, name);
    }

private:
    struct place {
        std::string device, family, software, version, variant;
    };
    static std::pair<std::string, std::string> parted(const std::string& name) {
        const std::size_t dash = name.find('-');
        return {name.substr(0, dash), dash == std::string::npos ? std::string{} : name.substr(dash + 1)};
    }
    const std::vector<place>& all() {
        if (read_) return places_;
        for (const std::string& root : at_) {
            if (!is_folder_at(root)) {
                const calibration_document file(read_regular_file(root));
                for (const kernel_calibration& k : file.kernels())
                    places_.push_back({std::string(file.device_name()), std::string(k.family), std::string(k.software),
                                       std::string(k.version), std::string(k.variant)});
                continue;
            }
            for (const std::string& of_device : list_directory(root))
                for (const std::string& of_family : list_directory(root + '/' + of_device)) {
                    const std::string versions = root + '/' + of_device + '/' + of_family;
                    for (const std::string& of_version : list_directory(versions))
                        for (const std::string& file : list_directory(versions + '/' + of_version)) {
                            const auto [software, version] = parted(of_version);
                            places_.push_back({of_device, of_family, software, version,
                                               parted(file.substr(0, file.rfind('.'))).second});
                        }
                }
        }
        read_ = true;
        return places_;
    }

    std::vector<std::string> at_;
    std::vector<place> places_;
    bool read_ = false;
};

}  // namespace llmcost
