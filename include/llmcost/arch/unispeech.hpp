// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/wav2vec2.hpp>
#include <llmcost/forward/wav2vec2_encoder.hpp>

namespace llmcost::arch {

namespace unispeech_detail {

using wav2vec2_encoder::parse_shared;

constexpr void parse_without_adapters(config_view json, model_config& config) { parse_shared(json, config); }

}  // namespace unispeech_detail

// transformers/models/unispeech
inline constexpr model_spec unispeech = [](model_spec spec) {
    spec.model_type = "unispeech";
    spec.class_prefix = "UniSpeech";
    spec.names.base_model = "unispeech";
    spec.parse_config = unispeech_detail::parse_without_adapters;
    return spec;
}(wav2vec2);

}  // namespace llmcost::arch
