// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/config/state_space.hpp>
#include <llmcost/forward/state_space_model.hpp>

namespace llmcost::arch {

/// Mamba-2: heads that make up the inner width, groups that share B and C.
constexpr void parse_mamba2(config_view json, model_config& config) {
    parse_state_space(json, config);
    state_space_config& m = config.ssm;
    m.num_heads = json.positive("num_heads", 128);
    m.head_dim = json.positive("head_dim", 64);
    m.n_groups = json.positive("n_groups", 8);
    m.chunk_size = json.positive("chunk_size", 256);
    if (m.num_heads * m.head_dim != m.intermediate_size)
        throw_invalid_value(json, "num_heads", "hidden_size * expand / head_dim heads");
    if (m.num_heads % m.n_groups != 0) throw_invalid_value(json, "n_groups", "a divisor of num_heads");
    if (m.n_groups * m.state_size > max_input)
        throw_unsupported(json, "state_size", "n_groups * state_size is too large");
}

// transformers/models/mamba2: a scan by chunks over heads, one projection, a gated norm
inline constexpr model_spec mamba2{
    .model_type = "mamba2",
    .class_prefix = "Mamba2",
    .forward = forward_state_space_model<state_space_mixer::dual>,
    .parse_config = parse_mamba2,
    .dropout_keys = dropout_key_table::none(),
    .supported_layers = supported_layer_set{} | token_mixer_kind::recurrent,
    .defaults = {.vocab_size = 32768, .hidden_size = 4096, .num_hidden_layers = 64, .ssm = {.state_size = 128}},
};

}  // namespace llmcost::arch
