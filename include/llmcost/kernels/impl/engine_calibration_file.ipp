// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/kernels/engine_calibration_file.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/files/user_files.hpp>
#include <llmcost/json.hpp>
#include <llmcost/serving/engine_calibration.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost {

LLMCOST_INLINE bool is_engine_calibration(const std::string& path) {
    if (path == "none" || is_folder_at(path) || !exists_at(path)) return false;
    try {
        return read_regular_file(path).read_with([](config_view root) { return root.contains("engine"); });
    } catch (const error&) {  // reported by the reader of kernel calibrations
        return false;
    }
}

}  // namespace llmcost

namespace llmcost::detail {

/// Parses the error of a metric, `{"rows", "median", "low", "high"}`; `low` and `high` as in kernel calibrations.
[[nodiscard]] LLMCOST_INLINE held_out_error parse_held_out_error(config_view json) {
    constexpr double maximum = 64;  // octaves
    held_out_error e{json.non_negative("rows"), json.real("median"), {json.real("low"), json.real("high")}};
    if (!(e.median >= 0)) throw_invalid_value(json, "median", "a number that is not negative");
    if (!(e.interval.low >= -maximum && e.interval.low <= 0)) throw_invalid_value(json, "low", "from -64 to 0");
    if (!(e.interval.high >= 0 && e.interval.high <= maximum)) throw_invalid_value(json, "high", "from 0 to 64");
    return e;
}

[[nodiscard]] LLMCOST_INLINE engine_calibration parse_engine_calibration(config_view root) {
    engine_calibration c;
    for (const config_view member : root) {
        bool is_known = false;
        for (const literal key : {"engine", "version", "device", "source", "models", "rows", "constants", "held_out"})
            is_known = is_known || member.key() == key;
        if (!is_known)
            throw_unsupported(member,
                              "expected one of engine, version, device, source, models, rows, constants, held_out");
    }
    c.engine = std::string(root.string("engine"));
    if (find_engine(c.engine) == nullptr) throw_invalid_value(root, "engine", "one of trtllm, vllm, sglang");
    c.version = std::string(root.string("version", ""));
    c.device = std::string(root.string("device"));
    c.source = std::string(root.string("source"));
    if (const auto models = root.optional_array("models"))
        for (const config_view model : *models) c.models.emplace_back(model.as_string());
    c.rows = root.positive("rows");
    const config_view constants = root.object("constants");
    for (const config_view member : constants) {
        bool is_known = false;
        std::string names;
        for (const calibrated_constant& constant : calibrated_constants) {
            is_known = is_known || member.key() == constant.name;
            names += (names.empty() ? "expected one of " : ", ") + std::string(constant.name);
        }
        if (!is_known) throw_unsupported(member, names.c_str());
    }
    c.constants = shipped_constants(*find_engine(c.engine));
    for (std::size_t i = 0; i < calibrated_constant_count; ++i) {
        const calibrated_constant& constant = calibrated_constants[i];
        const auto found = constants.find(constant.name);
        if (!found) continue;
        const double value = found->as_real();
        if (!(constant.is_logarithmic ? value >= 1e-3 && value <= 1e3 : value >= 0 && value <= 1e3))
            throw_invalid_value(*found, constant.is_logarithmic ? "from 0.001 to 1000" : "seconds from 0 to 1000");
        c.constants[i] = value;
    }
    const config_view errors = root.object("held_out");
    c.tpot = parse_held_out_error(errors.object("tpot"));
    c.ttft = parse_held_out_error(errors.object("ttft"));
    if (const auto simulated = errors.optional_object("simulated_tpot"))
        c.simulated_tpot = parse_held_out_error(*simulated);
    if (const auto simulated = errors.optional_object("simulated_ttft"))
        c.simulated_ttft = parse_held_out_error(*simulated);
    return c;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE calibration_sources split_calibration(const std::string& calibration) {
    if (is_engine_calibration(calibration)) return {calibration, {}};
    const std::size_t comma = calibration.find(',');
    if (comma == std::string::npos || !is_engine_calibration(calibration.substr(0, comma))) return {{}, calibration};
    return {calibration.substr(0, comma), calibration.substr(comma + 1)};
}

LLMCOST_INLINE engine_calibration read_engine_calibration(const std::string& path) {
    engine_calibration c =
        read_regular_file(path).read_with([](config_view root) { return detail::parse_engine_calibration(root); });
    c.path = path;
    return c;
}

LLMCOST_INLINE std::string calibration_mismatch(const engine_calibration& c, const engine& target_engine,
                                                const device& target_device) {
    if (target_engine.name.empty()) return "is a calibration of " + c.engine + "; use --engine " + c.engine;
    if (c.engine != std::string_view(target_engine.name))
        return "is a calibration of " + c.engine + ", not of " + std::string(target_engine.name);
    if (!has_name(target_device, c.device))
        return "is a calibration of " + quote(c.device) + ", not of " + printable(target_device.names[0]);
    return {};
}

LLMCOST_INLINE std::optional<engine_calibration> find_engine_calibration(const std::string& calibration,
                                                                         const engine& target_engine,
                                                                         const std::string& version,
                                                                         const device& target_device) {
    const calibration_sources sources = split_calibration(calibration);
    if (!sources.engine.empty()) {
        engine_calibration c = read_engine_calibration(sources.engine);
        throw_usage_if(sources.engine, calibration_mismatch(c, target_engine, target_device));
        return c;
    }
    if (calibration == "none" || target_engine.name.empty()) return std::nullopt;
    const std::string name(target_engine.name), exact = version.empty() ? name : name + '-' + version;
    for (const std::string& root : calibration.empty() ? default_calibration_paths() : std::vector{calibration}) {
        const std::string folder = root + '/' + std::string(target_device.names[0]) + "/engine";
        std::string found;
        for (const std::string& entry : list_directory(folder)) {
            const bool is_engine = entry == name || entry.starts_with(name + '-');
            if (is_engine && found != exact && exists_at(folder + '/' + entry + "/engine.json")) found = entry;
        }
        if (found.empty()) continue;
        engine_calibration c = read_engine_calibration(folder + '/' + found + "/engine.json");
        throw_usage_if(c.path, calibration_mismatch(c, target_engine, target_device));
        return c;
    }
    return std::nullopt;
}

}  // namespace llmcost
