// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/bundled/verified_type.hpp>
#include <llmcost/config/model_registry.hpp>

// Model specs and bundled configurations of the program, compiled once for the program and its tests.
namespace parts {

extern const llmcost::model_registry registry;
extern const std::span<const llmcost::bundled_config> configurations;
extern const llmcost::verified_type_table verified;

}  // namespace parts
