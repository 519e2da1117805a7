// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/bundled/verified_type.hpp>
#include <llmcost/config/model_registry.hpp>

// All model specs and bundled configurations, for programs that link the CMake target `llmcost::registry`. They are
// compiled once there, and this header only declares them. `registry.hpp` defines the same registry in each source
// file.
namespace llmcost::compiled {

/// The registry of all model types: `registry.read(json)` builds the model of a `config.json`.
extern const model_registry registry;
/// The configurations of published models that are part of the library.
extern const std::span<const bundled_config> configurations;
/// How each model type was verified.
extern const verified_type_table verified;

}  // namespace llmcost::compiled
