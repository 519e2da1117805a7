// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/wav2vec2.hpp>
#include <llmcost/forward/squeezed_frames.hpp>
#include <llmcost/forward/wav2vec2_encoder.hpp>

namespace llmcost::arch {

namespace sew_detail {

using squeezed_frames::upsample, squeezed_frames::pool_features;

using namespace wav2vec2_encoder;

constexpr tensor encode(const layer_context& ctx, trace& t, const tensor& features) {
    const module_info encoder{
        .name = "encoder", .class_of_module = ctx.class_of("Encoder"), .module_role = role::encoder};
    t.enter(encoder);
    tensor x = dropout(t, "dropout", layer_norm(ctx, t, "layer_norm", pool_features(ctx, t, features)));
    const attention_inputs no_inputs;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();) {
        const layer_context layer_ctx = ctx.for_layer(layer_loop, no_inputs);
        x = t.call({"layers", layer_loop.index()}, layer_with<attention_module>{layer_ctx, {layer_ctx}}, x);
    }
    return t.leave(encoder, upsample(ctx, t, x, features.dim(1)));
}

/// Normalizes features and projects them to the width of the layers.
constexpr tensor base(const layer_context& ctx, trace& t) {
    declare_mask(ctx, t);
    const std::int64_t in_features = features_of(ctx), to = ctx.config.hidden_size;
    tensor x = t.call("layer_norm", norm_module{norm_kind::layer, in_features}, extract(ctx, t));
    if (in_features != to) x = t.call("feature_projection", linear{in_features, to, true}, x);
    return ctx.spec.decoder_layer(ctx, t, dropout(t, "feature_dropout", x));
}

}  // namespace sew_detail

// transformers/models/sew: layers over fewer places than there are features
inline constexpr model_spec sew = [](model_spec spec) {
    spec.model_type = "sew";
    spec.class_prefix = "SEW";
    spec.names.base_model = "sew";
    spec.base_model = sew_detail::base;
    spec.parse_config = squeezed_frames::parse_config;
    spec.decoder_layer = sew_detail::encode;
    spec.family_keys = squeezed_frames::table.family_keys;
    return spec;
}(wav2vec2);

}  // namespace llmcost::arch
