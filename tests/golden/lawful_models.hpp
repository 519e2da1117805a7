// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "golden_models.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace llmcost::testing {

/// Types whose laws are held. Of the others recorded passes alone are held: forms by blocks (longt5, deepseek_v4, xlstm,
/// minimax), heads that logits do not reach (distilbert, cvt) and doubled names (encoder-decoder) bend one law or another.
inline constexpr std::string_view lawful_types[]{"bart",         "bert",
                                                 "bloom",        "cohere",
                                                 "deepseek_v2",  "deepseek_v3",
                                                 "falcon",       "falcon_mamba",
                                                 "gemma",        "gemma2",
                                                 "gemma3_text",  "gpt-sw3",
                                                 "gpt2",         "gpt_neox",
                                                 "gpt_oss",      "gptj",
                                                 "granite",      "jamba",
                                                 "lfm2",         "llama",
                                                 "llama4_text",  "mamba",
                                                 "mamba2",       "mistral",
                                                 "mixtral",      "olmo2",
                                                 "olmoe",        "opt",
                                                 "phi3",         "qwen2",
                                                 "qwen2_moe",    "qwen2_vl_text",
                                                 "qwen3",        "qwen3_5_moe_text",
                                                 "qwen3_5_text", "qwen3_moe",
                                                 "qwen3_next",   "roberta",
                                                 "stablelm",     "starcoder2",
                                                 "t5",           "vit"};

/// The models of those goldens; plans that mix masks refuse an extension, which laws ask for.
[[nodiscard]] inline const std::vector<golden_model>& lawful_models() {
    static const std::vector<golden_model> models = [] {
        std::vector<golden_model> kept = golden_models();
        std::erase_if(kept, [](const golden_model& g) {
            return g.golden.name.ends_with("_mixed") ||
                   std::ranges::find(lawful_types, g.golden.model_type) == std::end(lawful_types);
        });
        return kept;
    }();
    return models;
}

}  // namespace llmcost::testing
