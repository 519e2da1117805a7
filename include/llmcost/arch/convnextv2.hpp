// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/convnext.hpp>
#include <llmcost/forward/convnext_stages.hpp>
#include <llmcost/layers/family_config.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost::arch {

namespace convnextv2_detail {

using convnext_stages::family_keys;

inline constexpr family_key keys_v2[]{
    {.default_value = 1, .type = family_key_type::computed}, family_keys[1], family_keys[2], family_keys[3]};

}  // namespace convnextv2_detail

// ConvNeXt V2. Derived from ConvNeXt, with global response normalization and without layer scale.
//
// Source: transformers/models/convnextv2
inline constexpr model_spec convnextv2 = [](model_spec spec) {
    spec.model_type = "convnextv2";
    spec.class_prefix = "ConvNextV2";
    spec.family_keys = convnextv2_detail::keys_v2;
    spec.names.base_model = "convnextv2";
    return spec;
}(convnext);

}  // namespace llmcost::arch
