// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/kernels/kernel_database.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/devices/device_file.hpp>
#include <llmcost/files/user_files.hpp>
#include <llmcost/json.hpp>
#include <llmcost/kernels/calibration_file.hpp>
#include <llmcost/kernels/kernel_names.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/correction_factors.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/latency/roofline.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost {

LLMCOST_INLINE std::string kernel_label(const operator_type& family, const operand_type& operand, string_ref variant) {
    const bool has_variant = !variant.empty() && !(variant == operand.name);
    return std::string(family.name) + ' ' + std::string(operand.name) + (has_variant ? ' ' + printable(variant) : "");
}

LLMCOST_INLINE std::string fallback_warning(std::string_view name, const device& device, const std::string& labels,
                                            std::string_view replacement) {
    return "no measurements of " + quote(name) + " on " + printable(device.names[0]) + " for " + labels +
           "; using those of " + printable(replacement);
}

LLMCOST_INLINE const device& kernel_database::resolve_device(const std::string& name, std::string_view source,
                                                             device_lookup may_name) {
    if (const auto known = devices_.find(name); known != devices_.end()) return *known->second;
    return *devices_.emplace(name, &find_or_load_device(name, source, may_name)).first->second;
}

LLMCOST_INLINE kernel_match kernel_database::find_kernel(const kernel_query& name, std::string_view type_by) {
    kernel_match found;
    found.target_device = &resolve_device(name.device);
    found.operand = &require_operand_type(type_by, name.operand);
    found.variant = variant_of(name, *found.operand);
    operator_shape probe_shape;
    probe_shape.type = &family_;
    probe_shape.operand = found.operand;
    probe_shape.variant = found.variant;
    for (std::size_t i = 0; i < family_.size_count; ++i)
        probe_shape.sizes[i] = family_.sizes[i].role == size_role::work_only ? family_.sizes[i].default_value : 1;
    validate_operand(*found.target_device, probe_shape, type_by);
    const auto best_at = [&](const std::string& path) -> const kernel_calibration* {
        const calibration_document* file = calibration_at(path, *found.target_device);
        return file == nullptr ? nullptr : best_match(*file, found, name);
    };
    if (name.software.empty() && !name.kernel.empty())  // a kernel name without software selects the software
        for (const std::string& path : known_files_for(found, name)) {
            const kernel_calibration* candidate = best_at(path);
            if (candidate == nullptr || !(candidate->kernel == name.kernel)) continue;
            found.calibration = candidate;
            return found;
        }
    for (const std::string& path : known_files_for(found, name)) {
        const kernel_calibration* candidate = best_at(path);
        if (candidate == nullptr) continue;
        const bool is_exact = candidate->operand == found.operand->name;
        const bool is_previous_exact =
            found.calibration != nullptr && found.calibration->operand == found.operand->name;
        if (found.calibration != nullptr &&
            (!is_exact ||
             (is_previous_exact && candidate->roofline_model.launch >= found.calibration->roofline_model.launch)))
            continue;
        found.calibration = candidate;
        // the requested software is preferred over an exact operand type
        if (!name.software.empty() && candidate->software == name.software) break;
        if (is_exact && !includes_host_time(*candidate, probe_shape)) break;
    }
    return found;
}

LLMCOST_INLINE void kernel_database::validate_operand(const device& device, const operator_shape& shape,
                                                      std::string_view type_by) {
    const kernel_work work = shape.work();
    if (has_peak(device, work)) return;
    const bool peak = work.compute_unit != nullptr && !(device.*work.compute_unit > 0);
    throw_usage(
        std::string(device.names[0]),
        peak ? "no peak for " + std::string(shape.operand->name) + " in its datasheet; " + operands_of(device, type_by)
        : work.additions > 0 && !(device.fp32 > 0) ? "no peak of its vector units (float32) in its datasheet"
        : work.uses_network                        ? "no bandwidth between nodes in its file (links.network_gbps)"
                                                   : "no bandwidth of links in its datasheet");
}

LLMCOST_INLINE kernel_match kernel_database::find_nearest_kernel(kernel_query requested, std::string_view type_by) {
    kernel_match found = find_kernel(requested, type_by);
    if (found.calibration != nullptr) return found;
    for (const string_ref text : fallback_variants(family_, found.variant)) {
        requested.variant = text;
        found.calibration = find_kernel(requested).calibration;
        if (found.calibration != nullptr) break;
    }
    return found;
}

LLMCOST_INLINE const kernel_calibration* kernel_database::find_without_host_time(const kernel_query& name,
                                                                                 const kernel_calibration& own) {
    constexpr double max_farther_octaves = 0.5;
    kernel_query any = name;
    any.software.clear();
    any.version.clear();
    kernel_match found = find_kernel(any);
    const device& d = *found.target_device;
    operator_shape largest{.type = &family_, .operand = found.operand, .variant = found.variant};
    for (std::size_t i = 0; i < family_.size_count; ++i) largest.sizes[i] = family_.sizes[i].default_value;
    for (std::size_t i = 0; i < family_.num_axes; ++i)
        largest.sizes[i] = own.correction.length[i] > 0 ? own.correction.axis[i][own.correction.length[i] - 1] : 1;
    std::copy_n(name.layer_shape.begin(), family_.num_layer_shape_sizes, largest.sizes + family_.num_axes);
    const auto seconds_of = [&](const kernel_calibration& c) { return estimate(d, largest, &c).seconds; };
    const double own_distance = own.correction.distance(name.layer_shape.data()), own_seconds = seconds_of(own);
    const kernel_calibration* nearest = nullptr;
    double minimum = 0;
    for (const std::string& path : known_files_for(found, any)) {
        const calibration_document* file = calibration_at(path, d);
        const kernel_calibration* candidate = file == nullptr ? nullptr : best_match(*file, found, any);
        if (candidate == nullptr || candidate->software == own.software || !candidate->replaces_engines ||
            !(candidate->operand == found.operand->name) || includes_host_time(*candidate, largest) ||
            candidate->correction.distance(name.layer_shape.data()) > own_distance + max_farther_octaves)
            continue;
        const double difference = std::fabs(std::log(seconds_of(*candidate) / own_seconds));
        if (nearest != nullptr && difference >= minimum) continue;
        nearest = candidate;
        minimum = difference;
    }
    return nearest;
}

LLMCOST_INLINE std::set<string_ref> kernel_database::fallback_kernels(const kernel_query& name, kernel_match found) {
    const kernel_calibration& known = *found.calibration;
    found.variant = known.variant;
    std::set<string_ref> names;
    for (const std::string& path : known_files_for(found, name))
        if (const calibration_document* file = calibration_at(path, *found.target_device))
            for (const kernel_calibration& c : file->kernels()) {
                const bool fits = c.family == known.family && c.variant == known.variant && c.operand == known.operand;
                const bool open = name.software.empty() || (c.software == known.software && c.version == known.version);
                if (fits && open) names.insert(c.kernel);
            }
    return names;
}

LLMCOST_INLINE std::string kernel_database::operands_of(const device& device, std::string_view type_by) {
    std::string all;
    for (const operand_type& row : operand_types)
        if (device.*row.unit > 0) all += (all.empty() ? "supported: " : ", ") + std::string(row.name);
    if (all.empty()) return "supported: none";
    const operand_type& usual = *default_operand_type(device);
    return type_by.empty() || device.*usual.unit == 0
               ? all
               : all + "; use " + std::string(type_by) + ' ' + std::string(usual.name);
}

LLMCOST_INLINE bool kernel_database::can_replace(const operand_type& measured, const operand_type& name,
                                                 const device& device) {
    return &measured == &name ||
           (name.weight_bytes == name.activation_bytes && measured.weight_bytes == name.weight_bytes &&
            measured.activation_bytes == name.activation_bytes && device.*measured.unit == device.*name.unit);
}

LLMCOST_INLINE const kernel_calibration* kernel_database::best_match(const calibration_document& file,
                                                                     const kernel_match& found,
                                                                     const kernel_query& name) const {
    const kernel_calibration* best = nullptr;
    int maximum = -1;
    for (const kernel_calibration& c : file.kernels()) {
        if (!(c.family == family_.name) || !(c.variant == found.variant) ||
            !can_replace(*find_operand_type(c.operand), *found.operand, *found.target_device))
            continue;
        const int shared = (c.operand == found.operand->name ? 8 : 0) + (c.software == name.software ? 4 : 0) +
                           (c.version == name.version ? 2 : 0) + (c.kernel == name.kernel ? 1 : 0);
        const auto is_better = [&] {
            if (best == nullptr || shared != maximum) return shared > maximum;
            const double distance = c.correction.distance(name.layer_shape.data()),
                         best_distance = best->correction.distance(name.layer_shape.data());
            if (distance != best_distance) return distance < best_distance;
            if (c.correction.num_layer_shapes != best->correction.num_layer_shapes)
                return c.correction.num_layer_shapes > best->correction.num_layer_shapes;
            return c.roofline_model.launch < best->roofline_model.launch;
        };
        if (is_better()) {
            maximum = shared;
            best = &c;
        }
    }
    return best;
}

LLMCOST_INLINE string_ref kernel_database::variant_of(const kernel_query& name, const operand_type& operand) {
    if (family_.variant_column.empty()) return {};
    if (name.variant.empty()) return family_.default_variant.empty() ? operand.name : family_.default_variant;
    if (const operand_type* type = find_operand_type(name.variant)) return type->name;
    return *variants_.insert(name.variant).first;
}

LLMCOST_INLINE const device& kernel_database::find_or_load_device(const std::string& requested, std::string_view source,
                                                                  device_lookup may_name) {
    const std::string name = requested == "here" ? local_device() : requested;
    if (name.empty() && !requested.empty())
        throw_usage(source,
                    "no measurements of this machine; run llmcost-calibrate, or use a device of llmcost devices");
    if (const device* known = find_device(name)) return *known;
    if (const auto read = files_.find(name); read != files_.end()) return read->second.second;
    const bool files = may_name == device_lookup::name_or_file;
    const std::string user_file = user_device_file(name), path = user_file.empty() && files ? name : user_file;
    if (path.empty() || !exists_at(path)) {
        name_suggestions near(name);
        for (const device& d : devices)
            for (const string_ref known : d.names)
                if (!known.empty()) near.add_candidate(known);
        throw_usage(source, (files ? "no device or file " : "no device ") + quote(name) + near.suggestion_text("") +
                                " (see llmcost devices)");
    }
    config_document file = read_regular_file(path);
    const string_ref key = user_file.empty() ? string_ref() : string_ref(*variants_.insert(name).first);
    const device read = file.read_with([&](config_view root) { return parse_device(root, key); });
    return files_.emplace(name, std::pair{std::move(file), read}).first->second.second;
}

LLMCOST_INLINE const std::vector<std::string>& kernel_database::known_files_for(const kernel_match& found,
                                                                                const kernel_query& name) {
    std::string key = name.software + '\n' + name.version;
    for (const string_ref part :
         {string_ref(found.target_device->names[0]), string_ref(found.operand->name), found.variant})
        (key += '\n').append(part.data(), part.size());
    if (const auto known = paths_.find(key); known != paths_.end()) return known->second;
    return paths_.emplace(std::move(key), files_for(found, name)).first->second;
}

LLMCOST_INLINE std::vector<std::string> kernel_database::files_for(const kernel_match& found,
                                                                   const kernel_query& requested) const {
    if (is_one_file_) return {calibration_paths_.front()};
    struct measured_version {
        int shared;            ///< with the query
        std::size_t priority;  ///< number of folders after its own
        std::string name;
        std::string folder;
    };
    std::vector<measured_version> versions;
    std::vector<std::string> all;
    const auto shared = [&](const std::string& name) {
        const bool software = name.substr(0, name.find('-')) == requested.software;
        return (software ? 2 : 0) + (name == requested.software + '-' + requested.version ? 1 : 0);
    };
    std::size_t priority = calibration_paths_.size();
    for (const std::string& root : calibration_paths_) {
        const std::string folder =
            root + '/' + std::string(found.target_device->names[0]) + '/' + std::string(family_.name);
        --priority;
        for (const std::string& name : list_directory(folder))
            versions.push_back({shared(name), priority, name, folder + '/' + name});
    }
    std::sort(versions.begin(), versions.end(), [](const auto& a, const auto& b) {
        return std::tie(a.shared, a.priority, a.name) > std::tie(b.shared, b.priority, b.name);
    });
    const std::string variant = found.variant.empty() ? "" : '-' + std::string(found.variant);
    for (const measured_version& version : versions)
        for (const bool is_exact : {true, false})
            for (const operand_type& row : operand_types) {
                if ((&row == found.operand) != is_exact || !can_replace(row, *found.operand, *found.target_device))
                    continue;
                std::string file = version.folder + '/' + std::string(row.name) + variant + ".json";
                if (exists_at(file)) all.push_back(std::move(file));
            }
    return all;
}

LLMCOST_INLINE const calibration_document* kernel_database::calibration_at(const std::string& path, const device& d) {
    const calibration_document& read = document_at(path);
    if (has_name(d, read.device_name())) return &read;
    if (!is_one_file_) throw_usage(path, "is a calibration of another device: " + quote(read.device_name()));
    return nullptr;  // a calibration file for one device does not apply to rows of others
}

LLMCOST_INLINE const calibration_document& kernel_database::document_at(const std::string& path) {
    if (const auto known = calibrations_.find(path); known != calibrations_.end()) return known->second;
    return calibrations_.try_emplace(path, read_regular_file(path)).first->second;
}

}  // namespace llmcost
