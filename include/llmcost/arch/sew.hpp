// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/wav2vec2.hpp>

namespace llmcost::arch {

namespace sew_detail {

using namespace wav2vec2_detail;

struct config_key_table {
    family_key family_keys[adapter_width + 1];

    constexpr config_key_table() {
        for (std::size_t i = 0; i <= adapter_width; ++i) family_keys[i] = wav2vec2_detail::family_keys[i];
        family_keys[extra_size] = {"squeeze_factor", 2};
        family_keys[adapter_kernel] = family_keys[adapter_stride] = {.type = family_key_type::computed};
    }
};
inline constexpr config_key_table table{};

/// `nn.AvgPool1d`.
struct squeeze {
    std::int64_t stride;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "AvgPool1d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.pool(op::average_pool, x, stride, stride); }
};

/// Downsamples by averaging positions, and adds a convolution of equal stride: (B, S, width) -> (B, S / squeeze_factor,
/// width).
constexpr tensor pool_features(const layer_context& ctx, trace& t, const tensor& features) {
    const std::int64_t squeeze_factor = ctx.config.family[extra_size];
    const tensor x = features.transpose(1, 2),
                 position_embeddings = conv_position_embeddings(ctx, t, x, squeeze_factor),
                 pooled = t.call("pool", squeeze{squeeze_factor}, x);
    const std::int64_t minimum =
        position_embeddings.dim(-1) < pooled.dim(-1) ? position_embeddings.dim(-1) : pooled.dim(-1);
    return t.add(t.slice(pooled, -1, minimum), t.slice(position_embeddings, -1, minimum)).transpose(1, 2);
}

/// As many places as before: each of the fewer becomes so many, and zeros fill up the rest.
constexpr tensor more_places(const layer_context& ctx, trace& t, const tensor& x, std::int64_t places) {
    const std::int64_t squeeze_factor = ctx.config.family[extra_size], width = ctx.config.hidden_size;
    const module_info up{.name = "upsample", .class_of_module = ctx.class_of("Upsampling")};
    t.enter(up);
    tensor h = t.call("projection", linear{width, width * squeeze_factor, true}, x);
    h = t.call("activation", activation_module{act_of(ctx)}, h);
    if (squeeze_factor > 1)
        h = t.leave(up, h.view({x.dim(0), x.dim(1) * squeeze_factor, width}));
    else
        h = t.leave(up, h);
    return h.dim(1) < places ? t.pad(h, 1, places - h.dim(1)) : h;
}

constexpr tensor encode(const layer_context& ctx, trace& t, const tensor& features) {
    const module_info encoder{
        .name = "encoder", .class_of_module = ctx.class_of("Encoder"), .module_role = role::encoder};
    t.enter(encoder);
    tensor x = dropout(t, "dropout", layer_norm(ctx, t, "layer_norm", pool_features(ctx, t, features)));
    const attention_inputs no_inputs;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();) {
        const layer_context at = ctx.for_layer(layer_loop, no_inputs);
        x = t.call({"layers", layer_loop.index()}, layer_with<attention_module>{at, {at}}, x);
    }
    return t.leave(encoder, more_places(ctx, t, x, features.dim(1)));
}

/// Normalizes features and projects them to the width of the layers.
constexpr tensor base(const layer_context& ctx, trace& t) {
    declare_mask(ctx, t);
    const std::int64_t in_features = features_of(ctx), to = ctx.config.hidden_size;
    tensor x = t.call("layer_norm", norm_module{norm_kind::layer, in_features}, extract(ctx, t));
    if (in_features != to) x = t.call("feature_projection", linear{in_features, to, true}, x);
    return ctx.spec.decoder_layer(ctx, t, dropout(t, "feature_dropout", x));
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_shared(json, config, max_convolutions);
    config.family[switches] &= ~stable;
}

}  // namespace sew_detail

// transformers/models/sew: layers over fewer places than there are features
inline constexpr model_spec sew = [](model_spec spec) {
    spec.model_type = "sew";
    spec.class_prefix = "SEW";
    spec.names.base_model = "sew";
    spec.base_model = sew_detail::base;
    spec.parse_config = sew_detail::parse_config;
    spec.decoder_layer = sew_detail::encode;
    spec.family_keys = sew_detail::table.family_keys;
    return spec;
}(wav2vec2);

}  // namespace llmcost::arch
