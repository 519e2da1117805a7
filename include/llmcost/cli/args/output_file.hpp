// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace llmcost {

/// Writes a file completely, or leaves it as it was: a full disk destroys no former content.
///
/// The text is written next to the file and then takes its place. A link stays a link. Devices, pipes and files in a
/// directory that cannot be written are written directly. Throws: `output`.
void write_output_file(const std::string& path, std::string_view text);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/output_file.ipp>  // IWYU pragma: export
#endif
