// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

/// The version of the library and the program, `major.minor.patch`. Every build system reads it from this line.
inline constexpr string_ref version = "0.1.0";

}  // namespace llmcost
