// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/config/state_space.hpp>
#include <llmcost/forward/state_space_model.hpp>

namespace llmcost::arch {

/// Mamba-1: an inner width that the file states goes before `expand`; the rank of time steps may be "auto".
constexpr void parse_mamba(config_view json, model_config& config) {
    parse_state_space(json, config);
    if (config.intermediate_size > 0) config.ssm.intermediate_size = config.intermediate_size;
    config.ssm.time_step_rank = (config.hidden_size + 15) / 16;
    const auto rank = json.find("time_step_rank");
    if (rank && !(rank->is_string() && rank->as_string() == "auto")) config.ssm.time_step_rank = rank->as_positive();
}

// transformers/models/mamba: configuration_mamba.py, modeling_mamba.py
inline constexpr model_spec mamba{
    .model_type = "mamba",
    .class_prefix = "Mamba",
    .forward = forward_state_space_model<state_space_mixer::selective>,
    .parse_config = parse_mamba,
    .dropout_keys = dropout_key_table::none(),
    .supported_layers = supported_layer_set{} | token_mixer_kind::recurrent,
    .defaults = {.vocab_size = 50280,
                 .hidden_size = 768,
                 .num_hidden_layers = 32,
                 .tie_word_embeddings = true,
                 .ssm = {.state_size = 16}},
};

}  // namespace llmcost::arch
