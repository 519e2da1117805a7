// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/config_view.hpp>
#include <llmcost/config/keys.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

/// Parses the Mamba-2 keys of IBM's hybrid models. The heads have `mamba_expand` times the hidden size together.
constexpr void parse_mamba2_mixers(config_view json, model_config& config) {
    state_space_config& m = config.ssm;
    m.state_size = json.positive("mamba_d_state", 256);
    m.conv_kernel = json.positive("mamba_d_conv", 4);
    m.intermediate_size = checked_size(json, "mamba_expand", json.positive("mamba_expand", 2), config.hidden_size);
    m.num_heads = json.positive("mamba_n_heads", 128);
    m.n_groups = json.positive("mamba_n_groups", 1);
    m.chunk_size = json.positive("mamba_chunk_size", 256);
    m.use_bias = json.boolean("mamba_proj_bias", false);
    m.use_conv_bias = json.boolean("mamba_conv_bias", true);
    if (m.intermediate_size % m.num_heads != 0)
        throw_invalid_value(json, "mamba_n_heads", "a divisor of mamba_expand * hidden_size");
    m.head_dim = m.intermediate_size / m.num_heads;
    const auto width = json.find("mamba_d_head");
    if (width && !(width->is_string() && width->as_string() == "auto") && width->as_positive() != m.head_dim)
        throw_invalid_value(json, "mamba_d_head", "mamba_expand * hidden_size / mamba_n_heads, or \"auto\"");
    if (m.num_heads % m.n_groups != 0) throw_invalid_value(json, "mamba_n_groups", "a divisor of mamba_n_heads");
    (void)checked_size(json, "mamba_d_state", m.n_groups, m.state_size);
}

/// Keys that state space models have in common.
constexpr void parse_state_space(config_view json, model_config& config) {
    state_space_config& m = config.ssm;
    m.state_size = json.positive("state_size", m.state_size);
    m.conv_kernel = json.positive("conv_kernel", 4);
    m.use_bias = json.boolean("use_bias", false);
    m.use_conv_bias = json.boolean("use_conv_bias", true);
    m.residual_in_fp32 = json.boolean("residual_in_fp32", true);
    m.intermediate_size = json.positive("expand", 2) * config.hidden_size;
    if (m.intermediate_size > max_input) throw_unsupported(json, "hidden_size", "hidden_size * expand is too large");
    config.layers.fill({token_mixer_kind::recurrent});
}

}  // namespace llmcost
