// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/processor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/packed_sequences.hpp>
#include <llmcost/forward/qwen_vision.hpp>

// GLM-4.5V: the load-balancing loss of its experts.
namespace llmcost::router_balance {

// options of the text model for the load-balancing loss
enum model_config_index : std::uint8_t { weighs_balance = pixel_bounds };

constexpr void parse_config(config_view json, model& m) {
    weigh_balance_of_text(json, m);
    m.family[weighs_balance] = m.config.moe.has_load_balancing_loss ? 1 : 0;
    m.config.moe.has_load_balancing_loss = false;
}

/// Adds the load-balancing loss, computed from router logits in float32.
constexpr tensor process_logits(const layer_context& ctx, trace& t, const tensor& logits) {
    const model_config& config = ctx.config;
    const recorder::detach_guard unread{t};  // added to a loss over labels
    if (ctx.model.family[weighs_balance] != 0)
        load_balancing_loss(t, config.layers.num_layers_with_experts(config.num_hidden_layers),
                            t.load().batch * t.load().sequence, config.moe, dtype::float32);
    return logits;
}

}  // namespace llmcost::router_balance
