// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/wav2vec2_encoder.hpp>

// SEW: an encoder that runs on fewer frames than the convolutions produce (arXiv 2109.06870).
namespace llmcost::squeezed_frames {
struct config_key_table {
    family_key family_keys[wav2vec2_encoder::adapter_width + 1];

    constexpr config_key_table() {
        for (std::size_t i = 0; i <= wav2vec2_encoder::adapter_width; ++i)
            family_keys[i] = wav2vec2_encoder::family_keys[i];
        family_keys[wav2vec2_encoder::extra_size] = {"squeeze_factor", 2};
        family_keys[wav2vec2_encoder::adapter_kernel] =
            family_keys[wav2vec2_encoder::adapter_stride] = {.type = family_key_type::computed};
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
    const std::int64_t squeeze_factor = ctx.config.family[wav2vec2_encoder::extra_size];
    const tensor x = features.transpose(1, 2),
                 position_embeddings = wav2vec2_encoder::conv_position_embeddings(ctx, t, x, squeeze_factor),
                 pooled = t.call("pool", squeeze{squeeze_factor}, x);
    const std::int64_t minimum =
        position_embeddings.dim(-1) < pooled.dim(-1) ? position_embeddings.dim(-1) : pooled.dim(-1);
    const tensor shortened = t.slice(pooled, -1, minimum);
    return t.add(shortened, t.slice(position_embeddings, -1, minimum)).transpose(1, 2);
}

/// As many places as before: each of the fewer becomes so many, and zeros fill up the rest.
constexpr tensor upsample(const layer_context& ctx, trace& t, const tensor& x, std::int64_t places) {
    const std::int64_t squeeze_factor = ctx.config.family[wav2vec2_encoder::extra_size], width = ctx.config.hidden_size;
    const module_info up{.name = "upsample", .class_of_module = ctx.class_of("Upsampling")};
    t.enter(up);
    tensor h = t.call("projection", linear{width, width * squeeze_factor, true}, x);
    h = t.call("activation", activation_module{wav2vec2_encoder::act_of(ctx)}, h);
    if (squeeze_factor > 1)
        h = t.leave(up, h.view({x.dim(0), x.dim(1) * squeeze_factor, width}));
    else
        h = t.leave(up, h);
    return h.dim(1) < places ? t.pad(h, 1, places - h.dim(1)) : h;
}

constexpr void parse_config(config_view json, model_config& config) {
    wav2vec2_encoder::parse_shared(json, config, wav2vec2_encoder::max_convolutions);
    config.family[wav2vec2_encoder::switches] &= ~wav2vec2_encoder::stable;
}

}  // namespace llmcost::squeezed_frames
