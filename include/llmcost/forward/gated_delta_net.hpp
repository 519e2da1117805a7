// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/gated_delta_net.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

/// A gated delta net; `Apart`: a projection for each of its parts (Qwen3.5).
template <bool Apart>
constexpr tensor gated_delta_net_block(const layer_context& ctx, trace& t, const tensor& x) {
    const gated_delta_net_config& d = ctx.config.delta;
    const gated_delta_net_dims rule{ctx.config.hidden_size, d.num_key_heads, d.num_value_heads,    d.key_head_dim,
                                    d.value_head_dim,       d.conv_kernel,   ctx.config.hidden_act};
    return t.call(ctx.spec.names.recurrent_block, gated_delta_net{rule, ctx.spec.class_prefix, Apart}, x);
}

}  // namespace llmcost
