// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/granitemoe.hpp>

namespace llmcost::arch {

namespace granitemoeshared_detail {

constexpr void parse_config(config_view json, model_config& config) {
    granitemoe.parse_config(json, config);
    config.moe.shared_intermediate_size = json.non_negative("shared_intermediate_size", 0);
}

}  // namespace granitemoeshared_detail

// Granite MoE Shared. Derived from Granite MoE, with a shared expert.
//
// Source: transformers/models/granitemoeshared
inline constexpr model_spec granitemoeshared = [](model_spec spec) {
    spec.model_type = "granitemoeshared";
    spec.class_prefix = "GraniteMoeShared";
    spec.parse_config = granitemoeshared_detail::parse_config;
    spec.dense_mlp = mlp_kind::fused_gated;
    spec.names.mlp_modules = {.gate = "input_linear", .up = "", .down = "output_linear", .act = "activation"};
    return spec;
}(granitemoe);

}  // namespace llmcost::arch
