// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "registry.hpp"

#include <llmcost/bundled/all.hpp>
#include <llmcost/generated/verified_types.hpp>
#include <llmcost/registry.hpp>

const llmcost::model_registry parts::registry = llmcost::all_models;
const std::span<const llmcost::bundled_config> parts::configurations = llmcost::bundled_configs;
const llmcost::verified_type_table parts::verified = llmcost::every_verified;
