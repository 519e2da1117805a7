// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mamba.hpp>
#include <llmcost/forward/state_space_model.hpp>

namespace llmcost::arch {

// transformers/models/falcon_mamba: norms without weights over time steps, B and C
inline constexpr model_spec falcon_mamba = [](model_spec spec) {
    spec.model_type = "falcon_mamba";
    spec.class_prefix = "FalconMamba";
    spec.forward = forward_state_space_model<state_space_mixer::selective_normed>;
    return spec;
}(mamba);

}  // namespace llmcost::arch
