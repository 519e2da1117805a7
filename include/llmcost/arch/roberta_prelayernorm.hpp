// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/roberta.hpp>

namespace llmcost::arch {

namespace roberta_prelayernorm_detail {

constexpr tensor encoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    return bert_layer_with_norms(ctx, t, x, {.attention = "LayerNorm", .intermediate = "LayerNorm"});
}

/// Runs the encoder layers, then the final norm, which belongs to the base model.
constexpr tensor encode(const layer_context& ctx, trace& t) {
    return bert_layers::apply_norm_if_named(ctx, t, "LayerNorm", forward_encoder(ctx, t));
}

}  // namespace roberta_prelayernorm_detail

// transformers/models/roberta_prelayernorm: norms before blocks, and a final norm after the layers
inline constexpr model_spec roberta_prelayernorm = [](model_spec spec) {
    spec.model_type = "roberta-prelayernorm";
    spec.class_prefix = "RobertaPreLayerNorm";
    spec.base_model = roberta_prelayernorm_detail::encode;
    spec.decoder_layer = roberta_prelayernorm_detail::encoder_layer;
    spec.names.base_model = "roberta_prelayernorm";
    return spec;
}(roberta);

}  // namespace llmcost::arch
