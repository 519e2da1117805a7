// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/glm46v.hpp>
#include <llmcost/layers/family_config.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost::arch {

namespace glmga_detail {

inline constexpr family_key keys_of_glmga[]{
    {.default_value = 112 * 112, .type = family_key_type::computed},
    {.default_value = 28 * 28 * 15000, .type = family_key_type::computed},
    {.default_value = 112 * 112, .type = family_key_type::computed},
    {.default_value = 28 * 28 * 2 * 55790, .type = family_key_type::computed},
    {.type = family_key_type::computed},
};

}  // namespace glmga_detail

// GLM-GA. The classes of GLM-4.6V, with larger videos.
//
// Source: transformers/models/glmga
inline constexpr model_spec glmga = [](model_spec spec) {
    spec.model_type = "glmga";
    spec.family_keys = glmga_detail::keys_of_glmga;
    return spec;
}(glm46v);

}  // namespace llmcost::arch
