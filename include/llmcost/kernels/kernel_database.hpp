// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device_file.hpp>
#include <llmcost/files/user_files.hpp>
#include <llmcost/json.hpp>
#include <llmcost/kernels/calibration_file.hpp>
#include <llmcost/kernels/kernel_names.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

// Devices, and measured kernels for a query.
namespace llmcost {

/// A query for a kernel. An empty string matches everything.
struct kernel_query {
    std::string device, software, version, kernel, operand, variant;
    std::array<std::int64_t, max_operator_sizes> layer_shape{};  ///< of the operator type
    friend auto operator<=>(const kernel_query&, const kernel_query&) = default;
};

/// The result of a query. Without a calibration, default efficiencies apply.
struct kernel_match {
    const device* target_device = nullptr;
    const operand_type* operand = nullptr;
    string_ref variant{};
    const kernel_calibration* calibration = nullptr;
};

/// Whether a kernel belongs to another software than the requested one. A library of the operator type (NCCL) does not.
[[nodiscard]] inline bool is_fallback(const operator_type& family, std::string_view software,
                                      const kernel_calibration* k) {
    return k != nullptr && !software.empty() && !(k->software == software) && !(k->software == family.name);
}
/// The properties of a calibrated kernel, as `generation_attention bfloat16 fp8`.
[[nodiscard]] inline std::string kernel_label(const operator_type& family, const operand_type& operand,
                                              string_ref variant) {
    const bool has_variant = !variant.empty() && !(variant == operand.name);
    return std::string(family.name) + ' ' + std::string(operand.name) + (has_variant ? ' ' + printable(variant) : "");
}
/// The warning for kernels of another software.
[[nodiscard]] inline std::string fallback_warning(std::string_view name, const device& device,
                                                  const std::string& labels, std::string_view replacement) {
    return "no measurements of " + quote(name) + " on " + printable(device.names[0]) + " for " + labels +
           "; using those of " + printable(replacement);
}

/// What a device string may be. Only options may name files, rows of tables may not.
enum class device_lookup { name, name_or_file };

/// A cache of devices and calibrations.
class kernel_database {
public:
    /// `calibrations` (`calibration_paths`): a file, or folders with
    /// DEVICE/OPERATOR_TYPE/SOFTWARE-VERSION/OPERAND-VARIANT.json.
    kernel_database(const operator_type& family, std::vector<std::string> calibrations)
        : family_(family), calibrations_at_(std::move(calibrations)) {
        is_one_file_ = calibrations_at_.size() == 1 && !is_folder_at(calibrations_at_.front());
    }

    [[nodiscard]] const operator_type& family() const noexcept { return family_; }

    /// Reads a calibration file that an option names, before rows need it.
    void preload() {
        if (is_one_file_) (void)document_at(calibrations_at_.front());
    }
    /// The device with a name or in a file. Throws: `usage` with `source` if there is none.
    [[nodiscard]] const device& resolve_device(const std::string& name, std::string_view source = "device",
                                               device_lookup may_name = device_lookup::name_or_file) {
        if (const auto known = devices_.find(name); known != devices_.end()) return *known->second;
        return *devices_.emplace(name, &find_or_load_device(name, source, may_name)).first->second;
    }
    /// The device, operand type and kernel for a query.
    ///
    /// The kernel has the requested operand and variant. Preferred are, in this order:
    /// - the same software, then version, then kernel name;
    /// - the nearest layer shape, then the most layer shapes;
    /// - the shortest launch, as in a CUDA graph.
    ///
    /// Software and version are those of files, which are read lazily. The last name in order is the newest version.
    /// Among kernels of other software, those measured without host time are preferred.
    /// Throws: `usage` for an unknown device or operand type, or without a peak. `type_by`: the source of the operand
    /// type.
    [[nodiscard]] kernel_match find_kernel(const kernel_query& name, std::string_view type_by = "dtype") {
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
    /// Throws: `usage` if the datasheet does not have the peak or bandwidth of an operator.
    static void validate_operand(const device& device, const operator_shape& shape,
                                 std::string_view type_by = "dtype") {
        const kernel_work work = shape.work();
        if (has_peak(device, work)) return;
        const bool peak = work.compute_unit != nullptr && !(device.*work.compute_unit > 0);
        throw_usage(std::string(device.names[0]), peak ? "no peak for " + std::string(shape.operand->name) +
                                                             " in its datasheet; " + operands_of(device, type_by)
                                                  : work.additions > 0 && !(device.fp32 > 0)
                                                      ? "no peak of its vector units (float32) in its datasheet"
                                                  : work.uses_network
                                                      ? "no bandwidth between nodes in its file (links.network_gbps)"
                                                      : "no bandwidth of links in its datasheet");
    }
    /// The device, operand type and kernel for a query, with a fallback to other variants (`fallback_variants`).
    [[nodiscard]] kernel_match find_nearest_kernel(kernel_query requested, std::string_view type_by = "dtype") {
        kernel_match found = find_kernel(requested, type_by);
        if (found.calibration != nullptr) return found;
        for (const string_ref text : fallback_variants(family_, found.variant)) {
            requested.variant = text;
            found.calibration = find_kernel(requested).calibration;
            if (found.calibration != nullptr) break;
        }
        return found;
    }
    /// The names of other kernels that match a query, for the kernel that was found.
    [[nodiscard]] std::set<string_ref> fallback_kernels(const kernel_query& name, kernel_match found) {
        const kernel_calibration& known = *found.calibration;
        found.variant = known.variant;
        std::set<string_ref> names;
        for (const std::string& path : known_files_for(found, name))
            if (const calibration_document* file = calibration_at(path, *found.target_device))
                for (const kernel_calibration& c : file->kernels()) {
                    const bool fits =
                        c.family == known.family && c.variant == known.variant && c.operand == known.operand;
                    const bool open =
                        name.software.empty() || (c.software == known.software && c.version == known.version);
                    if (fits && open) names.insert(c.kernel);
                }
        return names;
    }

private:
    /// Whether a measurement includes the host's launch: far longer than the default launch of the operator type.
    static bool includes_host_time(const kernel_calibration& c, const operator_shape& shape) noexcept {
        return c.roofline_model.launch > 2 * detail::typical_of(shape).roofline_model.launch;
    }
    /// The operand types of a device, and how to select the default one.
    static std::string operands_of(const device& device, std::string_view type_by) {
        std::string all;
        for (const operand_type& row : operand_types)
            if (device.*row.unit > 0) all += (all.empty() ? "supported: " : ", ") + std::string(row.name);
        if (all.empty()) return "supported: none";
        const operand_type& usual = *default_operand_type(device);
        return type_by.empty() || device.*usual.unit == 0
                   ? all
                   : all + "; use " + std::string(type_by) + ' ' + std::string(usual.name);
    }
    /// Whether a measured operand type has the same cost: equal widths and peak, without quantization (bfloat16,
    /// float16).
    static bool can_replace(const operand_type& measured, const operand_type& name, const device& device) {
        return &measured == &name ||
               (name.weight_bytes == name.activation_bytes && measured.weight_bytes == name.weight_bytes &&
                measured.activation_bytes == name.activation_bytes && device.*measured.unit == device.*name.unit);
    }
    /// The best kernel of a file for a query; null if there is none.
    const kernel_calibration* best_match(const calibration_document& file, const kernel_match& found,
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
    /// The canonical name of the requested variant. Stored here, as the caller's string may end its lifetime.
    string_ref variant_of(const kernel_query& name, const operand_type& operand) {
        if (family_.variant_column.empty()) return {};
        if (name.variant.empty()) return family_.default_variant.empty() ? operand.name : family_.default_variant;
        if (const operand_type* type = find_operand_type(name.variant)) return type->name;
        return *variants_.insert(name.variant).first;
    }
    const device& find_or_load_device(const std::string& requested, std::string_view source, device_lookup may_name) {
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
    const std::vector<std::string>& known_files_for(const kernel_match& found, const kernel_query& name) {
        std::string key = name.software + '\n' + name.version;
        for (const string_ref part :
             {string_ref(found.target_device->names[0]), string_ref(found.operand->name), found.variant})
            (key += '\n').append(part.data(), part.size());
        if (const auto known = paths_.find(key); known != paths_.end()) return known->second;
        return paths_.emplace(std::move(key), files_for(found, name)).first->second;
    }
    /// Files that may contain a kernel: DEVICE/OPERATOR_TYPE/SOFTWARE-VERSION/OPERAND-VARIANT.json.
    ///
    /// The requested software and version first, then the exact operand type.
    [[nodiscard]] std::vector<std::string> files_for(const kernel_match& found, const kernel_query& requested) const {
        if (is_one_file_) return {calibrations_at_.front()};
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
        std::size_t priority = calibrations_at_.size();
        for (const std::string& root : calibrations_at_) {
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
    const calibration_document* calibration_at(const std::string& path, const device& d) {
        const calibration_document& read = document_at(path);
        if (has_name(d, read.device_name())) return &read;
        if (!is_one_file_) throw_usage(path, "is a calibration of another device: " + quote(read.device_name()));
        return nullptr;  // a calibration file for one device does not apply to rows of others
    }
    const calibration_document& document_at(const std::string& path) {
        if (const auto known = calibrations_.find(path); known != calibrations_.end()) return known->second;
        return calibrations_.try_emplace(path, read_regular_file(path)).first->second;
    }

    const operator_type& family_;
    std::vector<std::string> calibrations_at_;
    bool is_one_file_ = false;
    std::set<std::string> variants_;
    std::unordered_map<std::string, std::pair<config_document, device>> files_;
    std::unordered_map<std::string, const device*> devices_;
    std::unordered_map<std::string, std::vector<std::string>> paths_;  ///< files by query
    std::unordered_map<std::string, calibration_document> calibrations_;
};

}  // namespace llmcost
