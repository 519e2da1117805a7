// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/dinov2.hpp>
#include <llmcost/forward/dinov2_layers.hpp>

// DINOv2 with registers. Derived from DINOv2.
//
// Source: transformers/models/dinov2_with_registers: configuration_dinov2_with_registers.py,
// modeling_dinov2_with_registers.py

namespace llmcost::arch {

constexpr void parse_dinov2_with_registers(config_view json, model_config& config) {
    using namespace dinov2_layers;
    parse_config(json, config);
    config.family[registers] = json.non_negative("num_register_tokens", 4);
    config.family[registered] = config.family[masked] = 1;
}

inline constexpr model_spec dinov2_with_registers = [](model_spec spec) {
    spec.model_type = "dinov2_with_registers";
    spec.class_prefix = "Dinov2WithRegisters";
    spec.dropout_keys = vit.dropout_keys;
    spec.parse_config = parse_dinov2_with_registers;
    spec.names.base_model = "dinov2_with_registers";
    return spec;
}(dinov2);

}  // namespace llmcost::arch
