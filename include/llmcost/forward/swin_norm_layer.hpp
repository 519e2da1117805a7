// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/multimodal.hpp>

// Chameleon: decoder layers whose norms follow attention and MLP.
namespace llmcost::swin_norm_layer {

enum family_config_index : std::uint8_t { norms_after };

/// Decoder layer. Depending on the configuration, the same norms come before or after both blocks.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.config.family[norms_after] == 0) return pre_norm_layer(ctx, t, x);
    const decoder_module_names& n = ctx.spec.names;
    const tensor middle = t.add(x, apply_norm(ctx, t, n.pre_attention_norm, mix_tokens(ctx, t, x)));
    return t.add(middle, apply_norm(ctx, t, n.pre_mlp_norm, ctx.spec.mlp(ctx, t, middle)));
}

}  // namespace llmcost::swin_norm_layer
