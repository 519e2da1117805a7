// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gpt2.hpp>

namespace llmcost::arch {

// GPT-SW3. GPT-2 under another model type.
//
// Source: transformers/models/auto/configuration_auto.py
inline constexpr model_spec gpt_sw3 = [](model_spec spec) {
    spec.model_type = "gpt-sw3";
    return spec;
}(gpt2);

}  // namespace llmcost::arch
