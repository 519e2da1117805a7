// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/minicpm3.hpp>

namespace llmcost::arch {

/// Refuses what some of its files have besides: experts, and attention that skips blocks of a long text.
constexpr void parse_minicpm(config_view json, model_config& config) {
    set_single_mask(json, config);
    if (json.non_negative("num_experts", 0) > 0)
        throw_unsupported(json, "num_experts", "experts are not supported by this model type");
    if (json.optional_object("sparse_config"))
        throw_unsupported(json, "sparse_config", "block-sparse attention is not supported");
}

// modeling_minicpm.py of openbmb/MiniCPM-2B-sft-bf16, MiniCPM4-8B: Llama, constants on embeddings, residuals, last
// states
inline constexpr model_spec minicpm = [](model_spec spec) {
    spec.model_type = "minicpm";
    spec.class_prefix = "MiniCPM";
    spec.is_remote_code = true;
    spec.parse_config = parse_minicpm;
    spec.dropout_keys = {};
    spec.supported_heads = classifying_decoder_heads;
    spec.forward = minicpm3.forward;
    spec.embed_tokens = embed_tokens_scaled;
    spec.add_residual = add_scaled_residual;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(llama);

}  // namespace llmcost::arch
