// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/kernels/kernel_names.hpp>

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

#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/files/user_files.hpp>
#include <llmcost/kernels/calibration_file.hpp>
#include <llmcost/kernels/engine_calibration_file.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost {

LLMCOST_INLINE std::vector<std::string> calibration_paths(const std::string& calibration) {
    const std::string kernels = split_calibration(calibration).kernels;
    if (kernels.empty()) return default_calibration_paths();
    return kernels == "none" ? std::vector<std::string>{} : std::vector<std::string>{kernels};
}

LLMCOST_INLINE const operand_type& require_operand_type(std::string_view source, std::string_view name) {
    std::string spelled = lower(name);
    if (constexpr std::string_view prefix = "torch."; spelled.starts_with(prefix)) spelled.erase(0, prefix.size());
    if (const operand_type* row = find_operand_type(string_ref(spelled))) return *row;
    name_suggestions near(name);
    for (const operand_type& row : operand_types) near.add_candidate(row.name);
    throw_usage(source, "no type " + quote(name) + near.suggestion_or_list());
}

LLMCOST_INLINE std::set<string_ref> variants_of(const operator_type& family) {
    std::set<string_ref> variants;
    for (std::size_t i = 0; family.variants.get != nullptr && !family.variants.get(i).empty(); ++i) {
        const operand_type* const type = find_operand_type(family.variants.get(i));
        if (type == nullptr || (type->is_cache_type && !is_weight_only(*type))) variants.insert(family.variants.get(i));
    }
    return variants;
}

LLMCOST_INLINE std::string unknown_name_message(const std::set<string_ref>& known, std::string_view text) {
    if (known.empty() || known.contains(text)) return {};
    std::string names;
    for (const string_ref name : known) names += (names.empty() ? "" : ", ") + printable(name);
    return "expected one of " + names + "; found " + quote(text);
}

[[nodiscard]] LLMCOST_INLINE std::optional<version_number> numbered(std::string_view name) {
    const std::size_t digits_begin = name.find_last_not_of("0123456789.") + 1;
    version_number n{name.substr(0, digits_begin)};
    const char* const end = name.data() + name.size();
    const auto [stop, problem] = std::from_chars(name.data() + digits_begin, end, n.number);
    return problem == std::errc{} && stop == end && n.stem.ends_with('_') ? std::optional(n) : std::nullopt;
}

LLMCOST_INLINE std::vector<string_ref> fallback_variants(const operator_type& family, std::string_view name) {
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

LLMCOST_INLINE std::string available_kernels::unknown_software_message(std::string_view name) {
    std::set<string_ref> known;
    for (const place& p : all()) known.insert(p.software);
    if (!known.empty())
        for (const engine& e : engines) known.insert(e.kernel_software);
    return unknown_name_message(known, name);
}

LLMCOST_INLINE std::string available_kernels::unknown_version_message(std::string_view software,
                                                                      std::string_view version,
                                                                      const operator_type* family,
                                                                      const device* device) {
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

LLMCOST_INLINE std::string available_kernels::unknown_variant_message(const operator_type& family,
                                                                      std::string_view name) {
    std::set<string_ref> known = variants_of(family);
    const auto requested = numbered(name);
    for (const string_ref k : known)
        if (const auto candidate = numbered(k); requested && candidate && requested->stem == candidate->stem) return {};
    if (const operand_type* type = find_operand_type(name); type != nullptr && known.contains(type->name)) return {};
    if (known.contains(name)) return {};
    for (const place& p : all())
        if (p.family == family.name && !p.variant.empty()) known.insert(p.variant);
    return unknown_name_message(known, name);
}

LLMCOST_INLINE std::pair<std::string, std::string> available_kernels::parted(const std::string& name) {
    const std::size_t dash = name.find('-');
    return {name.substr(0, dash), dash == std::string::npos ? std::string{} : name.substr(dash + 1)};
}

LLMCOST_INLINE const std::vector<available_kernels::place>& available_kernels::all() {
    if (is_read_) return kernel_places_;
    for (const std::string& root : calibration_paths_) {
        if (!is_folder_at(root)) {
            const calibration_document file(read_regular_file(root));
            for (const kernel_calibration& k : file.kernels())
                kernel_places_.push_back({std::string(file.device_name()), std::string(k.family),
                                          std::string(k.software), std::string(k.version), std::string(k.variant)});
            continue;
        }
        for (const std::string& of_device : list_directory(root))
            for (const std::string& of_family : list_directory(root + '/' + of_device)) {
                const std::string versions = root + '/' + of_device + '/' + of_family;
                for (const std::string& of_version : list_directory(versions))
                    for (const std::string& file : list_directory(versions + '/' + of_version)) {
                        const auto [software, version] = parted(of_version);
                        kernel_places_.push_back(
                            {of_device, of_family, software, version, parted(file.substr(0, file.rfind('.'))).second});
                    }
            }
    }
    is_read_ = true;
    return kernel_places_;
}

}  // namespace llmcost
