// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/wav2vec2.hpp>
#include <llmcost/forward/conformer.hpp>
#include <llmcost/forward/wav2vec2_encoder.hpp>

namespace llmcost::arch {

namespace wav2vec2_conformer_detail {

using namespace wav2vec2_encoder;

constexpr std::size_t max_frames = adapter_width + 1;

struct config_key_table {
    family_key family_keys[max_frames + 1];

    constexpr config_key_table() {
        for (std::size_t i = 0; i <= adapter_width; ++i) family_keys[i] = wav2vec2_encoder::family_keys[i];
        family_keys[max_frames] = {"max_source_positions", 5000};
        family_keys[extra_size] = {"conv_depthwise_kernel_size", 31};
    }
};

inline constexpr config_key_table table{};

/// Runs the encoder with positions from a table; the convolutional positions are declared and never called.
constexpr tensor encode(const layer_context& ctx, trace& t, const tensor& features) {
    const module_info encoder{
        .name = "encoder", .class_of_module = ctx.class_of("Encoder"), .module_role = role::encoder};
    const distance_rule rule = is(ctx, relative) ? distance_rule::relative : distance_rule::none;
    const conformer_sizes s{ctx.config.hidden_size,
                            ctx.config.num_attention_heads,
                            ctx.config.intermediate_size,
                            ctx.config.hidden_act,
                            ctx.config.family[extra_size],
                            rule,
                            0,
                            false,
                            ctx.spec.class_prefix};
    t.enter(encoder);
    {
        const recorder::not_executed_guard uncalled{t};
        (void)positions(ctx, t, features);
    }
    tensor x = dropout(t, "dropout", features);
    tensor distances;
    if (is(ctx, relative))
        distances =
            t.call("embed_positions",
                   sines_of_distances{s.width, ctx.class_of("RelPositionalEmbedding"), ctx.config.family[max_frames]},
                   x.dim(1));
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, conformer_layer{s, distances}, x);
    return t.leave(encoder, layer_norm(ctx, t, "layer_norm", x));
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_shared(json, config);
    parse_adapter_layers(json, config);
    config.family[switches] &= ~stable;
    if (config.family[extra_size] % 2 == 0) throw_invalid_value(json, "conv_depthwise_kernel_size", "an odd number");
    const auto kind = json.find("position_embeddings_type");
    if (kind && kind->is_null()) return;
    const string_ref name = kind ? kind->as_string() : string_ref("relative");
    if (name == "rotary")
        throw_unsupported(json, "position_embeddings_type", "rotary positions of a conformer are not supported");
    set_flag(config, relative, name == "relative");
}

}  // namespace wav2vec2_conformer_detail

// transformers/models/wav2vec2_conformer: features of wav2vec 2.0, layers of a conformer
inline constexpr model_spec wav2vec2_conformer = [](model_spec spec) {
    spec.model_type = "wav2vec2-conformer";
    spec.class_prefix = "Wav2Vec2Conformer";
    spec.names.base_model = "wav2vec2_conformer";
    spec.parse_config = wav2vec2_conformer_detail::parse_config;
    spec.decoder_layer = wav2vec2_conformer_detail::encode;
    spec.attention = nullptr;
    spec.family_keys = wav2vec2_conformer_detail::table.family_keys;
    return spec;
}(wav2vec2);

}  // namespace llmcost::arch
