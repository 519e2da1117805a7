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

#include <llmcost/detail/messages.hpp>
#include <llmcost/detail/nearest.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device_file.hpp>
#include <llmcost/files/own_files.hpp>
#include <llmcost/json.hpp>
#include <llmcost/kernels/calibration_file.hpp>
#include <llmcost/kernels/words.hpp>
#include <llmcost/serving/execution_of.hpp>

// The device and the measured kernel of a choice in words.
namespace llmcost {

/// What is asked for, in words, and where it is to run; an empty word leaves it open.
struct kernel_choice {
    std::string device, software, version, kernel, operand, variant;
    std::array<std::int64_t, most_operator_sizes> site{};  ///< sizes of the family's site
    friend auto operator<=>(const kernel_choice&, const kernel_choice&) = default;
};

/// What was found: without a kernel the datasheet must do.
struct chosen_kernel {
    const device* on = nullptr;
    const operand_row* operand = nullptr;
    string_ref variant{};
    const kernel_calibration* kernel = nullptr;
};

/// Whether a kernel that was found is another software's than the one that is asked for. A family's own library (NCCL) is
/// everybody's.
[[nodiscard]] inline bool stands_in(const operator_family& family, std::string_view software, const kernel_calibration* k) {
    return k != nullptr && !software.empty() && !(k->software == software) && !(k->software == family.name);
}
/// `generation_attention bfloat16 fp8`: what calibrations tell apart.
[[nodiscard]] inline std::string measured_words(const operator_family& family, const operand_row& operand,
                                                string_ref variant) {
    const bool says = !variant.empty() && !(variant == operand.name);
    return std::string(family.name) + ' ' + std::string(operand.name) + (says ? ' ' + printable(variant) : "");
}
/// That one software's kernels answer for another's.
[[nodiscard]] inline std::string stand_in_note(std::string_view asked, const device& on, const std::string& words,
                                               std::string_view other) {
    return in_quotes(asked) + " was not measured on " + printable(on.names[0]) + " for " + words + ": " + printable(other) +
           " stands in for it";
}

/// What a word for a device may name: a row of a table opens no files, an option does.
enum class device_word { name, name_or_file };

/// Devices and calibrations that have been read, each once.
class kernel_shelf {
public:
    /// `calibrations` (`calibrations_at`): a file, or folders with DEVICE/FAMILY/SOFTWARE-VERSION/OPERAND-VARIANT.json.
    kernel_shelf(const operator_family& family, std::vector<std::string> calibrations)
        : family_(family), calibrations_at_(std::move(calibrations)) {
        is_one_file_ = calibrations_at_.size() == 1 && !is_folder_at(calibrations_at_.front());
    }

    [[nodiscard]] const operator_family& family() const noexcept { return family_; }

    /// Reads the one file of measurements that an option names, before rows ask for it.
    void read_ahead() {
        if (is_one_file_) (void)document_at(calibrations_at_.front());
    }
    /// The device of a name or file, which `by` says; throws where there is none.
    [[nodiscard]] const device& device_of(const std::string& asked, std::string_view by = "device",
                                          device_word may_name = device_word::name_or_file) {
        if (const auto known = devices_.find(asked); known != devices_.end()) return *known->second;
        return *devices_.emplace(asked, &looked_up(asked, by, may_name)).first->second;
    }
    /// The device, operand and kernel of a choice.
    ///
    /// Of the kernels for the operand and the variant the one that shares most with the choice: its software, then its
    /// version, then its name; of equals the one that was measured nearest to its site, then at most sites,
    /// then with the shortest launch: in a CUDA graph. Software and
    /// version are those of files, which are read only as far as they are needed; of equals the last by name, which is the
    /// newest. Of those that are not the software's own, one that was measured with its host's launch gives way to
    /// one that was not. Throws
    /// for a device or an operand that nobody knows, or that has no unit there; `type_by` is what says the operand.
    [[nodiscard]] chosen_kernel choose(const kernel_choice& asked, std::string_view type_by = "dtype") {
        chosen_kernel found;
        found.on = &device_of(asked.device);
        found.operand = &operand_of(type_by, asked.operand);
        found.variant = variant_of(asked, *found.operand);
        operator_shape any;
        any.family = &family_, any.operand = found.operand, any.variant = found.variant;
        for (std::size_t i = 0; i < family_.size_count; ++i)
            any.sizes[i] = family_.sizes[i].role == size_role::given ? family_.sizes[i].otherwise : 1;
        check_priced(*found.on, any, type_by);
        const auto best_at = [&](const std::string& path) -> const kernel_calibration* {
            const calibration_document* file = calibration_at(path, *found.on);
            return file == nullptr ? nullptr : best_of(*file, found, asked);
        };
        if (asked.software.empty() && !asked.kernel.empty())  // who names a kernel means no other software's
            for (const std::string& path : known_files_for(found, asked)) {
                const kernel_calibration* here = best_at(path);
                if (here == nullptr || !(here->kernel == asked.kernel)) continue;
                found.kernel = here;
                return found;
            }
        for (const std::string& path : known_files_for(found, asked)) {
            const kernel_calibration* here = best_at(path);
            if (here == nullptr) continue;
            const bool own = here->operand == found.operand->name;
            const bool before_own = found.kernel != nullptr && found.kernel->operand == found.operand->name;
            if (found.kernel != nullptr && (!own || (before_own && here->base.launch >= found.kernel->base.launch)))
                continue;
            found.kernel = here;
            // an engine's own kernel goes before another's in the very operand
            if (!asked.software.empty() && here->software == asked.software) break;
            if (own && !includes_host(*here, any)) break;
        }
        return found;
    }
    /// Throws where the device's datasheet lacks what an operator of these sizes asks for.
    static void check_priced(const device& on, const operator_shape& shape, std::string_view type_by = "dtype") {
        const kernel_work work = shape.work();
        if (can_price(on, work)) return;
        const bool peak = work.unit != nullptr && !(on.*work.unit > 0);
        refuse(std::string(on.names[0]),
               peak ? "no peak for " + std::string(shape.operand->name) + " in its datasheet; " + operands_of(on, type_by)
               : work.additions > 0 && !(on.fp32 > 0) ? "no peak of its vector units (float32) in its datasheet"
               : work.between_nodes                   ? "no bandwidth between nodes in its file (links.network_gbps)"
                                                      : "no bandwidth of links in its datasheet");
    }
    /// The same where another word's kernel may stand in (`stand_ins`).
    [[nodiscard]] chosen_kernel choose_near(kernel_choice asked, std::string_view type_by = "dtype") {
        chosen_kernel found = choose(asked, type_by);
        if (found.kernel != nullptr) return found;
        for (const string_ref word : stand_ins(family_, found.variant)) {
            asked.variant = word;
            found.kernel = choose(asked).kernel;
            if (found.kernel != nullptr) break;
        }
        return found;
    }
    /// The names of kernels that a choice could have had in place of the one that was found for it.
    [[nodiscard]] std::set<string_ref> kernels_beside(const kernel_choice& asked, chosen_kernel found) {
        const kernel_calibration& known = *found.kernel;
        found.variant = known.variant;
        std::set<string_ref> names;
        for (const std::string& path : known_files_for(found, asked))
            if (const calibration_document* file = calibration_at(path, *found.on))
                for (const kernel_calibration& c : file->kernels()) {
                    const bool fits = c.family == known.family && c.variant == known.variant && c.operand == known.operand;
                    const bool open = asked.software.empty() || (c.software == known.software && c.version == known.version);
                    if (fits && open) names.insert(c.kernel);
                }
        return names;
    }

private:
    /// Whether what was measured is a host's launch rather than the kernel's: far longer than its family's anywhere.
    static bool includes_host(const kernel_calibration& c, const operator_shape& shape) noexcept {
        return c.base.launch > 2 * detail::typical_of(shape).base.launch;
    }
    /// The operands that a device multiplies, and how to ask for the usual one of them.
    static std::string operands_of(const device& on, std::string_view type_by) {
        std::string all;
        for (const operand_row& row : operand_table)
            if (on.*row.unit > 0) all += (all.empty() ? "it has " : ", ") + std::string(row.name);
        if (all.empty()) return "it has none of any type";
        const operand_row& usual = *usual_operand(on);
        return type_by.empty() || on.*usual.unit == 0
                   ? all
                   : all + ": say " + std::string(type_by) + ' ' + std::string(usual.name);
    }
    /// Whether a measured operand costs the same: its own type, or another as wide and as fast whose elements arrive as they
    /// are read (bfloat16 and float16).
    static bool stands_for(const operand_row& measured, const operand_row& asked, const device& on) {
        return &measured == &asked ||
               (asked.weight_bytes == asked.activation_bytes && measured.weight_bytes == asked.weight_bytes &&
                measured.activation_bytes == asked.activation_bytes && on.*measured.unit == on.*asked.unit);
    }
    /// The kernel of a file for a choice; null where none was measured.
    const kernel_calibration* best_of(const calibration_document& file, const chosen_kernel& found,
                                      const kernel_choice& asked) const {
        const kernel_calibration* best = nullptr;
        int most = -1;
        for (const kernel_calibration& c : file.kernels()) {
            if (!(c.family == family_.name) || !(c.variant == found.variant) ||
                !stands_for(*find_operand(c.operand), *found.operand, *found.on))
                continue;
            const int shared = (c.operand == found.operand->name ? 8 : 0) + (c.software == asked.software ? 4 : 0) +
                               (c.version == asked.version ? 2 : 0) + (c.kernel == asked.kernel ? 1 : 0);
            const auto is_better = [&] {
                if (best == nullptr || shared != most) return shared > most;
                const double here = c.residual.distance(asked.site.data()),
                             there = best->residual.distance(asked.site.data());
                if (here != there) return here < there;
                if (c.residual.site_count != best->residual.site_count)
                    return c.residual.site_count > best->residual.site_count;
                return c.base.launch < best->base.launch;
            };
            if (is_better()) most = shared, best = &c;
        }
        return best;
    }
    /// The word that is asked for, by the name that calibrations use; kept here, as the caller's may go.
    string_ref variant_of(const kernel_choice& asked, const operand_row& operand) {
        if (family_.variant_column.empty()) return {};
        if (asked.variant.empty()) return family_.otherwise_variant.empty() ? operand.name : family_.otherwise_variant;
        if (const operand_row* type = find_operand(asked.variant)) return type->name;
        return *variants_.insert(asked.variant).first;
    }
    const device& looked_up(const std::string& asked, std::string_view by, device_word may_name) {
        const std::string name = asked == "here" ? device_here() : asked;
        if (name.empty() && !asked.empty())
            refuse(by, "nothing was measured here yet: run llmcost-calibrate, or name a device of llmcost devices");
        if (const device* known = find_device(name)) return *known;
        if (const auto read = files_.find(name); read != files_.end()) return read->second.second;
        const bool files = may_name == device_word::name_or_file;
        const std::string own = own_device_file(name), path = own.empty() && files ? name : own;
        if (path.empty() || !is_anything_at(path)) {
            nearest_names near(name);
            for (const device& d : devices)
                for (const string_ref known : d.names)
                    if (!known.empty()) near.offer(known);
            refuse(by, (files ? "no device or file " : "no device ") + in_quotes(name) + near.hint("") +
                           " (see llmcost devices)");
        }
        config_document file = read_regular_file(path);
        const string_ref key = own.empty() ? string_ref() : string_ref(*variants_.insert(name).first);
        const device read = file.read_with([&](config_view root) { return read_device(root, key); });
        return files_.emplace(name, std::pair{std::move(file), read}).first->second.second;
    }
    const std::vector<std::string>& known_files_for(const chosen_kernel& found, const kernel_choice& asked) {
        std::string key = asked.software + '\n' + asked.version;
        for (const string_ref part : {string_ref(found.on->names[0]), string_ref(found.operand->name), found.variant})
            (key += '\n').append(part.data(), part.size());
        if (const auto known = paths_.find(key); known != paths_.end()) return known->second;
        return paths_.emplace(std::move(key), files_for(found, asked)).first->second;
    }
    /// Files that may have a kernel: DEVICE/FAMILY/SOFTWARE-VERSION/OPERAND-VARIANT.json, those of the software and version
    /// that are asked for first, in each the operand's own before what stands for it.
    [[nodiscard]] std::vector<std::string> files_for(const chosen_kernel& found, const kernel_choice& asked) const {
        if (is_one_file_) return {calibrations_at_.front()};
        struct measured_version {
            int shared;          ///< with what is asked for
            std::size_t before;  ///< folders behind its own
            std::string name;
            std::string folder;
        };
        std::vector<measured_version> versions;
        std::vector<std::string> all;
        const auto shared = [&](const std::string& name) {
            const bool software = name.substr(0, name.find('-')) == asked.software;
            return (software ? 2 : 0) + (name == asked.software + '-' + asked.version ? 1 : 0);
        };
        std::size_t before = calibrations_at_.size();
        for (const std::string& root : calibrations_at_) {
            const std::string folder = root + '/' + std::string(found.on->names[0]) + '/' + std::string(family_.name);
            --before;
            for (const std::string& name : names_in_folder(folder))
                versions.push_back({shared(name), before, name, folder + '/' + name});
        }
        std::sort(versions.begin(), versions.end(), [](const auto& a, const auto& b) {
            return std::tie(a.shared, a.before, a.name) > std::tie(b.shared, b.before, b.name);
        });
        const std::string variant = found.variant.empty() ? "" : '-' + std::string(found.variant);
        for (const measured_version& version : versions)
            for (const bool own : {true, false})
                for (const operand_row& row : operand_table) {
                    if ((&row == found.operand) != own || !stands_for(row, *found.operand, *found.on)) continue;
                    std::string file = version.folder + '/' + std::string(row.name) + variant + ".json";
                    if (is_anything_at(file)) all.push_back(std::move(file));
                }
        return all;
    }
    const calibration_document* calibration_at(const std::string& path, const device& d) {
        const calibration_document& read = document_at(path);
        if (answers_to(d, read.device_name())) return &read;
        if (!is_one_file_) refuse(path, "is of another device: " + in_quotes(read.device_name()));
        return nullptr;  // rows of other devices have no calibration
    }
    const calibration_document& document_at(const std::string& path) {
        if (const auto known = calibrations_.find(path); known != calibrations_.end()) return known->second;
        return calibrations_.try_emplace(path, read_regular_file(path)).first->second;
    }

    const operator_family& family_;
    std::vector<std::string> calibrations_at_;
    bool is_one_file_ = false;
    std::set<std::string> variants_;
    std::unordered_map<std::string, std::pair<config_document, device>> files_;
    std::unordered_map<std::string, const device*> devices_;
    std::unordered_map<std::string, std::vector<std::string>> paths_;  ///< of what is asked for in words, line by line
    std::unordered_map<std::string, calibration_document> calibrations_;
};

}  // namespace llmcost
