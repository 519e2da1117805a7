// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/unispeech.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost::arch {

// transformers/models/unispeech_sat
inline constexpr model_spec unispeech_sat = [](model_spec spec) {
    spec.model_type = "unispeech-sat";
    spec.class_prefix = "UniSpeechSat";
    spec.names.base_model = "unispeech_sat";
    return spec;
}(unispeech);

}  // namespace llmcost::arch
