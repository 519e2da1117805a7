// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/compiled_registry.hpp>

// Model specs and bundled configurations of the program, compiled once for the program and its tests.
namespace parts {

using llmcost::compiled::configurations;
using llmcost::compiled::registry;
using llmcost::compiled::verified;

}  // namespace parts
