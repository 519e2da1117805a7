// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/wav2vec2.hpp>
#include <llmcost/forward/wav2vec2_encoder.hpp>

// Data2Vec Audio (`Data2VecAudioConfig`). Derived from wav2vec 2.0, with these differences:
//  - norms after all convolutions;
//  - several position convolutions.
//
// Source: transformers/models/data2vec

namespace llmcost::arch {

namespace data2vec_audio_detail {

using namespace wav2vec2_encoder;

/// The configuration keys of wav2vec 2.0, with other keys for the position convolutions.
struct config_key_table {
    family_key family_keys[adapter_width + 1];

    constexpr config_key_table() {
        for (std::size_t i = 0; i <= adapter_width; ++i) family_keys[i] = wav2vec2_encoder::family_keys[i];
        family_keys[position_kernel] = {"conv_pos_kernel_size", 19};
        family_keys[extra_size] = {"num_conv_pos_embeddings", 5};
    }
};

inline constexpr config_key_table table{};

/// One of several position convolutions. Each has a norm without weights.
struct position_layer {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("PositionalConvLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, kernel = ctx.config.family[position_kernel];
        const convolution_1d conv{width, width, kernel, 1, kernel / 2, ctx.config.family[position_groups]};
        const tensor h = t.call("padding", same_places{ctx.class_of("PadLayer"), kernel}, t.call("conv", conv, x));
        const norm_module plain{norm_kind::layer, width, {}, false, false};
        return t.call("activation", activation_module{act_of(ctx)},
                      t.call("layer_norm", plain, h.transpose(1, 2)).transpose(1, 2));
    }
};

constexpr tensor positions(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info places{.name = "pos_conv_embed", .class_of_module = ctx.class_of("PositionalConvEmbedding")};
    tensor h = x.transpose(1, 2);
    t.enter(places);
    for (std::int64_t i = 0; i < ctx.config.family[extra_size]; ++i) h = t.call({"layers", i}, position_layer{ctx}, h);
    return t.leave(places, h.transpose(1, 2));
}

constexpr tensor encode(const layer_context& ctx, trace& t, const tensor& x) {
    return encode_with(ctx, t, x, positions);
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_shared(json, config);
    parse_adapter_layers(json, config);
    config.family[switches] &= ~(groups_norm | stable);
    set_flag(config, always_norms, true);
    if (config.family[extra_size] > 64)
        throw_unsupported(json, "num_conv_pos_embeddings", "more than 64 are not supported");
}

}  // namespace data2vec_audio_detail

inline constexpr model_spec data2vec_audio = [](model_spec spec) {
    spec.model_type = "data2vec-audio";
    spec.class_prefix = "Data2VecAudio";
    spec.names.base_model = "data2vec_audio";
    spec.parse_config = data2vec_audio_detail::parse_config;
    spec.decoder_layer = data2vec_audio_detail::encode;
    spec.family_keys = data2vec_audio_detail::table.family_keys;
    return spec;
}(wav2vec2);

}  // namespace llmcost::arch
