// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/minicpm3.hpp>

namespace llmcost::arch {

/// Refuses what some of its files have besides: experts, and attention that skips blocks of a long text.
constexpr void read_minicpm(config_view config, sizes& s) {
    plan_one_mask(config, s);
    if (config.non_negative("num_experts", 0) > 0) fail_unsupported(config, "num_experts", "no row describes these experts");
    if (config.optional_object("sparse_config"))
        fail_unsupported(config, "sparse_config", "no row describes attention that skips blocks");
}

// modeling_minicpm.py of openbmb/MiniCPM-2B-sft-bf16, MiniCPM4-8B: Llama, constants on embeddings, residuals, last states
inline constexpr architecture minicpm = [](architecture a) {
    a.model_type = "minicpm", a.prefix = "MiniCPM", a.remote_code = true, a.read = read_minicpm, a.drops = {};
    a.heads = classifying_decoder_heads;
    a.describe = minicpm3_detail::describe, a.embed = embed_words_scaled, a.residual = add_scaled_residual;
    a.keys[0] = no_mlp_bias;
    a.defaults.tie_word_embeddings = true;
    return a;
}(llama);

}  // namespace llmcost::arch
