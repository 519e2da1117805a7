// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/forward/encoder.hpp>

// BERT as the text encoder of a contrastive model.
namespace llmcost::bert_text_encoder {

/// BERT's attention with a softmax in float32.
constexpr tensor attend_in_float(const layer_context& ctx, trace& t, const tensor& x) {
    return bidirectional_attention(t, x, ctx.config.hidden_size, ctx.config.num_attention_heads, true, {}, true,
                                   bert_layers::bidirectional_pattern_of(ctx));
}

}  // namespace llmcost::bert_text_encoder
