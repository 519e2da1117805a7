// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma2.hpp>

namespace llmcost::arch {

// VaultGemma. Derived from Gemma 2, with norms only before each block.
//
// Source: transformers/models/vaultgemma
inline constexpr model_spec vaultgemma = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "vaultgemma";
    spec.class_prefix = "VaultGemma";
    spec.decoder_layer = pre_norm_layer;
    return spec;
}(gemma2);

}  // namespace llmcost::arch
