// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <llmcost/json.hpp>

// Where calibrations lie, what is in their folders, and what llmcost-calibrate left of the GPU at hand.
namespace llmcost {

/// Whether a path leads to a folder, or to anything.
[[nodiscard]] bool is_folder_at(const std::string& path);
[[nodiscard]] bool exists_at(const std::string& path);

/// The names of what lies in a folder, in their order; none where there is no folder.
[[nodiscard]] std::vector<std::string> list_directory(const std::string& folder);

/// Reads a file that an option names or that lies in a folder of measurements; a pipe would be waited for, and is
/// refused.
[[nodiscard]] config_document read_regular_file(const std::string& path);

/// The folder of the user's own measurements: `$XDG_DATA_HOME/llmcost`, else `~/.local/share/llmcost`; empty where
/// there is no home (XDG Base Directory Specification).
[[nodiscard]] std::string user_directory();

/// The device that `ctx` names: the one that llmcost-calibrate measured last; empty where it has not run.
[[nodiscard]] std::string local_device();

/// The file of a device that has no datasheet but was measured; empty where there is none.
[[nodiscard]] std::string user_device_file(const std::string& name);

/// The folder that a program that is not installed was built with; its `main` sets it.
inline const char* built_calibrations = nullptr;

/// Folders of calibrations, in the order of lookup: only the one that a variable names, if any. Otherwise the user's
/// own folder, and the one that the program was installed or built with.
[[nodiscard]] std::vector<std::string> default_calibration_paths();

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/files/impl/user_files.ipp>  // IWYU pragma: export
#endif
