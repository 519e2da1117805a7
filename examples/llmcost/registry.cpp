// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/bundled/all.hpp>
#include <llmcost/compiled_registry.hpp>
#include <llmcost/generated/verified_types.hpp>
#include <llmcost/registry.hpp>

namespace llmcost::compiled {

const model_registry registry = all_models;
const std::span<const bundled_config> configurations = bundled_configs;
const verified_type_table verified = every_verified;

}  // namespace llmcost::compiled
