// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace llmcost {

/// Writes a file completely, or leaves it as it was: a full disk destroys no former content.
///
/// The text is written next to the file and then takes its place. A link stays a link. Devices, pipes, files with
/// several hard links and files in a directory that cannot be written are written directly. If that fails, a file gets
/// its former content back. Throws: `output`, also beyond a limit on the size of files (RLIMIT_FSIZE).
void write_output_file(const std::string& path, std::string_view text);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/output_file.ipp>  // IWYU pragma: export
#endif
