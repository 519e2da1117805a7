// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <llmcost/devices/device.hpp>
#include <llmcost/serving/engine_calibration.hpp>
#include <llmcost/serving/engines.hpp>

// Files of engine calibrations: one JSON object (docs/calibrate-engine.md).
namespace llmcost {

/// Whether a path is a file of an `engine_calibration`: a JSON object with a member `engine`.
[[nodiscard]] bool is_engine_calibration(const std::string& path);

/// The parts of the value of `--calibration`: `ENGINE.json`, `KERNELS` or `ENGINE.json,KERNELS`.
struct calibration_sources {
    std::string engine;   ///< the file of an `engine_calibration`; empty: in the folders of `kernels`, if there
    std::string kernels;  ///< a folder or file of kernel calibrations, or `none`; empty: the default folders
};
[[nodiscard]] calibration_sources split_calibration(const std::string& calibration);

/// Reads an engine calibration. Throws: `error` with the file and a JSON pointer.
[[nodiscard]] engine_calibration read_engine_calibration(const std::string& path);

/// The engine calibration that applies to a device and an engine.
///
/// `calibration`: the value of `--calibration` (`split_calibration`). A file must be of this device and engine. Folders
/// have DEVICE/engine/ENGINE-VERSION/engine.json or DEVICE/engine/ENGINE/engine.json; the requested version is
/// preferred, then the last name. Returns nothing if there is none. Throws: `usage` with `source` for a file of another
/// device or engine.
[[nodiscard]] std::optional<engine_calibration> find_engine_calibration(const std::string& calibration,
                                                                        const engine& target_engine,
                                                                        const std::string& version,
                                                                        const device& target_device);

/// Whether a calibration is of this device and engine; otherwise the difference as an error message.
[[nodiscard]] std::string calibration_mismatch(const engine_calibration& c, const engine& target_engine,
                                               const device& target_device);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/kernels/impl/engine_calibration_file.ipp>  // IWYU pragma: export
#endif
