// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <llmcost/calibration_file.hpp>
#include <llmcost/cli/arguments.hpp>
#include <llmcost/cli/nearest.hpp>
#include <llmcost/device_file.hpp>
#include <llmcost/devices.hpp>
#include <llmcost/json.hpp>

// Which device and which kernel a command line or a row of a table asks for.
namespace llmcost::cli {

/// What is asked for, in words; an empty one leaves it open.
struct kernel_choice {
    std::string device, software, version, kernel, operand, variant;
    friend auto operator<=>(const kernel_choice&, const kernel_choice&) = default;
};

/// What was found: without a kernel the datasheet must do.
struct chosen_kernel {
    const device* on = nullptr;
    const operand_row* operand = nullptr;
    string_ref variant{};
    const kernel_calibration* kernel = nullptr;
};

/// What the program was built or installed with; a person's own folder goes before it.
inline std::string default_calibrations() {
    if (const char* own = std::getenv("LLMCOST_CALIBRATIONS"); own != nullptr && *own != '\0') return own;
    std::error_code none;
#ifdef __linux__
    const auto program = std::filesystem::read_symlink("/proc/self/exe", none);
    const auto installed = program.parent_path().parent_path() / "share" / "llmcost" / "calibrations";
    if (!none && std::filesystem::is_directory(installed, none)) return installed.string();
#endif
#ifdef LLMCOST_CALIBRATIONS
    if (std::filesystem::is_directory(LLMCOST_CALIBRATIONS, none)) return LLMCOST_CALIBRATIONS;
#endif
    return "";
}

/// Devices and calibrations that have been read, each once.
class kernel_shelf {
public:
    /// `calibration`: a file, or a folder with DEVICE/FAMILY.json; empty: the program's own; `none`: none.
    kernel_shelf(const operator_family& family, std::string calibration)
        : family_(family), calibration_(calibration.empty() ? default_calibrations() : std::move(calibration)) {
        if (calibration_ == "none") calibration_.clear();
    }

    [[nodiscard]] const operator_family& family() const noexcept { return family_; }

    /// The device, operand and kernel of a choice.
    ///
    /// Of the kernels for the operand and the variant the one that shares most with the choice: its software, then its
    /// version, then its name; of equals the one that was measured at most sites. Throws for a device or an operand that
    /// nobody knows, or that has no unit there.
    [[nodiscard]] chosen_kernel choose(const kernel_choice& asked) {
        chosen_kernel found;
        found.on = &device_of(asked.device);
        found.operand = find_operand(asked.operand);
        if (found.operand == nullptr) {
            nearest_names near(asked.operand);
            for (const operand_row& row : operand_table) near.offer(row.name);
            refuse("dtype", "no operand " + in_quotes(asked.operand) + "; nearest: " + near.text());
        }
        found.variant = variant_of(asked, *found.operand);
        operator_shape any;
        any.family = &family_, any.operand = found.operand, any.variant = found.variant;
        for (std::int64_t& size : any.sizes) size = 1;
        const kernel_work work = any.work();
        if (!can_price(*found.on, work))
            refuse(std::string(found.on->names[0]),
                   work.between_devices ? "no bandwidth of links in its datasheet"
                                        : "no peak for " + std::string(found.operand->name) + " in its datasheet");
        int best = -1;
        if (const calibration_document* known = calibration_of(*found.on))
            for (const kernel_calibration& c : known->kernels()) {
                if (!(c.family == family_.name) || !(c.variant == found.variant) ||
                    !stands_for(c, *found.operand, *found.on))
                    continue;
                const int shared = (c.operand == found.operand->name ? 8 : 0) + (c.software == asked.software ? 4 : 0) +
                                   (c.version == asked.version ? 2 : 0) + (c.kernel == asked.kernel ? 1 : 0);
                if (shared > best || (shared == best && c.residual.site_count > found.kernel->residual.site_count))
                    best = shared, found.kernel = &c;
            }
        return found;
    }

private:
    /// Whether a kernel's operand costs the same: its own type, or another as wide and as fast whose elements arrive as they
    /// are read (bfloat16 and float16).
    static bool stands_for(const kernel_calibration& c, const operand_row& asked, const device& on) {
        if (c.operand == asked.name) return true;
        const operand_row* measured = find_operand(c.operand);
        return asked.weight_bytes == asked.activation_bytes && measured->weight_bytes == asked.weight_bytes &&
               measured->activation_bytes == asked.activation_bytes && on.*measured->unit == on.*asked.unit;
    }
    /// The word that is asked for, by the name that calibrations use; kept here, as the caller's may go.
    string_ref variant_of(const kernel_choice& asked, const operand_row& operand) {
        if (family_.variant_column.empty()) return {};
        if (asked.variant.empty()) return family_.otherwise_variant.empty() ? operand.name : family_.otherwise_variant;
        if (const operand_row* type = find_operand(asked.variant)) return type->name;
        return *variants_.insert(asked.variant).first;
    }
    const device& device_of(const std::string& name) {
        if (const device* known = find_device(name)) return *known;
        if (const auto read = files_.find(name); read != files_.end()) return read->second.second;
        std::error_code none;
        if (name.empty() || !std::filesystem::exists(name, none)) {
            nearest_names near(name);
            for (const device& d : devices)
                for (const string_ref known : d.names)
                    if (!known.empty()) near.offer(known);
            refuse("device", "no device or file " + in_quotes(name) + "; nearest: " + near.text());
        }
        config_document file = read_config_file(name);
        const device read = file.read_with([](config_view root) { return read_device(root); });
        return files_.emplace(name, std::pair{std::move(file), read}).first->second.second;
    }
    const calibration_document* calibration_of(const device& d) {
        if (calibration_.empty()) return nullptr;
        const std::string key(d.names[0]);
        if (const auto read = calibrations_.find(key); read != calibrations_.end()) return read->second.get();
        std::error_code none;
        std::filesystem::path path = calibration_;
        const bool folder = std::filesystem::is_directory(path, none);
        if (folder) path /= key, path /= std::string(family_.name) + ".json";
        std::unique_ptr<calibration_document> file;
        if (!folder || std::filesystem::exists(path, none))
            file = std::make_unique<calibration_document>(read_config_file(path.string()));
        if (file && !answers_to(d, file->device_name())) {
            if (folder) refuse(path.string(), "is of another device: " + in_quotes(file->device_name()));
            file.reset();  // rows of other devices have no calibration
        }
        return calibrations_.emplace(key, std::move(file)).first->second.get();
    }

    const operator_family& family_;
    std::string calibration_;
    std::set<std::string> variants_;
    std::map<std::string, std::pair<config_document, device>> files_;
    std::map<std::string, std::unique_ptr<calibration_document>> calibrations_;
};

}  // namespace llmcost::cli
