// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/xlm.hpp>

namespace llmcost::arch {

namespace flaubert_detail {

/// Keys of XLM; positions are looked up for each sequence.
inline constexpr family_key family_keys[]{{.type = family_key_type::computed},
                                          {.type = family_key_type::computed},
                                          {.default_value = 1, .type = family_key_type::computed}};

constexpr void parse_config(config_view json, model_config& config) {
    xlm.parse_config(json, config);
    if (json.boolean("pre_norm", false))
        throw_unsupported(json, "pre_norm", "norms before blocks are not supported by the reference");
}

}  // namespace flaubert_detail

// transformers/models/flaubert: XLM that looks up positions for every sequence
inline constexpr model_spec flaubert = [](model_spec spec) {
    spec.model_type = "flaubert";
    spec.class_prefix = "Flaubert";
    spec.parse_config = flaubert_detail::parse_config;
    spec.family_keys = flaubert_detail::family_keys;
    return spec;
}(xlm);

}  // namespace llmcost::arch
