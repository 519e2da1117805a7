// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/keys.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// EVA of timm: sizes that its configuration names.
namespace llmcost::timm_eva_config {

enum family_config_index : std::uint8_t { tokens_ahead, norms_last, pools };

}  // namespace llmcost::timm_eva_config
