// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
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
    std::string device, software, version, kernel, operand;
    friend auto operator<=>(const kernel_choice&, const kernel_choice&) = default;
};

/// What was found: without a kernel the datasheet must do.
struct chosen_kernel {
    const device* on = nullptr;
    const operand_row* operand = nullptr;
    const kernel_calibration* kernel = nullptr;
};

/// Devices and calibrations that have been read, each once.
class kernel_shelf {
public:
    /// `calibration`: a file, or a folder with one per device; empty: none.
    explicit kernel_shelf(std::string calibration) : calibration_(std::move(calibration)) {}

    /// The device, operand and kernel of a choice.
    ///
    /// Of the kernels for the operand the one that shares most with the choice: its software, then its version, then its
    /// name; of equals the last of the file. Throws for a device or an operand that nobody knows, or that has no unit there.
    [[nodiscard]] chosen_kernel choose(const kernel_choice& asked) {
        chosen_kernel found;
        found.on = &device_of(asked.device);
        found.operand = find_operand(asked.operand);
        if (found.operand == nullptr) {
            nearest_names near(asked.operand);
            for (const operand_row& row : operand_table) near.offer(row.name);
            refuse("dtype", "no operand " + in_quotes(asked.operand) + "; nearest: " + near.text());
        }
        if (found.on->*found.operand->unit == 0)
            refuse(std::string(found.on->names[0]), "no peak for " + std::string(found.operand->name) + " in its datasheet");
        int best = -1;
        if (const calibration_document* known = calibration_of(*found.on))
            for (const kernel_calibration& c : known->kernels()) {
                if (!(c.operand == found.operand->name)) continue;
                const int shared = (c.software == asked.software ? 4 : 0) + (c.version == asked.version ? 2 : 0) +
                                   (c.kernel == asked.kernel ? 1 : 0);
                if (shared >= best) best = shared, found.kernel = &c;
            }
        return found;
    }

private:
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
        if (folder) path /= key + ".json";
        std::unique_ptr<calibration_document> file;
        if (!folder || std::filesystem::exists(path, none))
            file = std::make_unique<calibration_document>(read_config_file(path.string()));
        if (file && !answers_to(d, file->device_name())) {
            if (folder) refuse(path.string(), "is of another device: " + in_quotes(file->device_name()));
            file.reset();  // rows of other devices have no calibration
        }
        return calibrations_.emplace(key, std::move(file)).first->second.get();
    }

    std::string calibration_;
    std::map<std::string, std::pair<config_document, device>> files_;
    std::map<std::string, std::unique_ptr<calibration_document>> calibrations_;
};

}  // namespace llmcost::cli
