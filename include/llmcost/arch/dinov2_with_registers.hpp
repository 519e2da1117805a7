// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/dinov2.hpp>

namespace llmcost::arch {

constexpr void read_dinov2_with_registers(config_view config, sizes& s) {
    using namespace dinov2_detail;
    read(config, s);
    s.own[registers] = config.non_negative("num_register_tokens", 4), s.own[registered] = s.own[masked] = 1;
}

// transformers/models/dinov2_with_registers: configuration_dinov2_with_registers.py, modeling_dinov2_with_registers.py
inline constexpr architecture dinov2_with_registers = [](architecture a) {
    a.model_type = "dinov2_with_registers", a.prefix = "Dinov2WithRegisters", a.drops = vit.drops;
    a.read = read_dinov2_with_registers, a.names.base = "dinov2_with_registers";
    return a;
}(dinov2);

}  // namespace llmcost::arch
