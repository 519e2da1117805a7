// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Calibrates the GPU at hand, or measures one model on it:
//
//     llmcost-calibrate [FOLDER] [--full] [--device NAME]
//     llmcost-calibrate --model NAME [--batch B] [--sequence S] [--execution eager|graph]
//
// FOLDER (~/.local/share/llmcost) gets measured/*.csv, calibrations/, the name of the device for `--device ctx`, and
// its datasheet where none is known. A run that was cut goes on where it was. Clocks are read, never changed.
#include "calibration_run.hpp"
#include "gpu.hpp"

#include <llmcost/cli/commands/main.hpp>
#include <llmcost/cli/commands/measurement_comparison.hpp>
#include <llmcost/devices/device_file.hpp>
#include <llmcost/files/user_files.hpp>
#include <llmcost/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parts.hpp"

namespace {

using namespace llmcost;

enum exit_code { done = 0, failed = 1, usage = 2, no_gpu = 6 };

struct settings {
    std::filesystem::path folder = user_directory();
    std::string device;
    bool full = false;
};

/// The options that the arguments set; nothing where they are none of llmcost-calibrate's.
std::optional<settings> read(const std::vector<std::string_view>& args) {
    settings s;
    bool named = false;
    for (std::size_t i = 0; i < args.size(); ++i) {
        if (args[i] == "--full") {
            s.full = true;
        } else if (args[i] == "--device" && i + 1 < args.size()) {
            s.device = args[++i];
        } else if (!args[i].starts_with("-") && !named) {
            s.folder = args[i];
            named = true;
        } else {
            return std::nullopt;
        }
    }
    return s.folder.empty() ? std::nullopt : std::optional(s);
}

void write(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream out(path);
    if (!(out << text).flush()) throw std::runtime_error(path.string() + ": cannot be written");
}

/// Calibrates the device that was named, that has the GPU's datasheet, or that its driver describes.
void calibrate(const settings& s) {
    const cuda::gpu_properties gpu = bench::gpu_at_hand();
    const device* target_device = s.device.empty() ? cuda::datasheet_of(gpu) : find_device(s.device);
    if (target_device == nullptr && !s.device.empty())
        throw std::runtime_error("--device: no datasheet of '" + s.device +
                                 "': one of llmcost devices, or leave it out");
    std::optional<config_document> file;
    device custom_device;
    const std::string name =
        target_device != nullptr ? std::string(target_device->names[0]) : cuda::file_name_of(gpu.name);
    if (target_device == nullptr) {
        const auto path = s.folder / "devices" / (name + ".json");
        write(path, cuda::device_file_of(gpu));
        std::printf("no datasheet of %s: the values of its driver are in %s\n", gpu.name.c_str(), path.c_str());
        file = read_config_file(path.string());
        custom_device = file->read_with([&](config_view root) { return parse_device(root, name); });
        target_device = &custom_device;
    }
    write(s.folder / "here", name + '\n');
    bench::calibrate(*target_device, s.folder, s.full);
    const bool usual = s.folder == user_directory();
    std::printf(
        "\nllmcost serve --device %s%s --model meta-llama/Llama-3.1-8B --input 1000 --output 200 --concurrency 8\n",
        usual ? "here" : name.c_str(), usual ? "" : (" --calibration " + (s.folder / "calibrations").string()).c_str());
}

/// Whether a model is given, whose operators are measured one by one.
bool names_model(const std::vector<std::string_view>& args) {
    return std::any_of(args.begin(), args.end(), [](std::string_view a) {
        const std::string_view name = a.substr(0, a.find('='));
        return name == "--model" || name == "--config";
    });
}

void measure_model(std::vector<std::string_view> args) {
    constexpr std::size_t memory_of_one = std::size_t{1800}
                                          << 20;  // models of any size, in addition to the driver's own memory
    constexpr int copies = 4;
    bench::operator_runner run(memory_of_one);
    const auto timer = [&](const operator_shape& shape) -> std::optional<cli::timed_operator> {
        bench::outcome o = run(shape, {}, copies);
        if (!o.refused.empty()) return std::nullopt;
        return cli::timed_operator{o.seconds, std::move(o.kernel), o.memory_bytes};
    };
    const bool named =
        std::any_of(args.begin(), args.end(), [](std::string_view a) { return a.starts_with("--device"); });
    const device* sheet = cuda::datasheet_of(bench::gpu_at_hand());
    const std::string device_name = sheet != nullptr ? std::string(sheet->names[0]) : "here";
    if (!named) args.insert(args.end(), {"--device", device_name});
    std::cout << cli::run_measured(args, timer, parts::full_program(cli::process_streams()));
}

}  // namespace

int main(int count, char** values) {
    built_calibrations = LLMCOST_CALIBRATIONS;
    const std::vector<std::string_view> args(values + 1, values + count);
    const std::optional<settings> options = names_model(args) ? settings{} : read(args);
    if (!options) {
        std::fprintf(
            stderr,
            "usage: llmcost-calibrate [FOLDER] [--full] [--device NAME]\n"
            "       llmcost-calibrate --model NAME [--batch B] [--sequence S] [option of llmcost latency]...\n");
        return usage;
    }
    if (const std::string reason = bench::no_gpu(); !reason.empty()) {
        std::fprintf(stderr, "llmcost-calibrate: no GPU to measure: %s\n", reason.c_str());
        return no_gpu;
    }
    try {
        if (names_model(args))
            measure_model(args);
        else
            calibrate(*options);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "\nllmcost-calibrate: %s\n", e.what());
        return failed;
    }
    return done;
}
