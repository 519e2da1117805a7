// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace pixtral_detail {

/// Returns the image size: the longest side is limited to `longest`, and both sides are rounded up to multiples of
/// `step`.
///
/// Source: transformers/models/pixtral/image_processing_pixtral.py, `get_resize_output_image_size`.
[[nodiscard]] constexpr image_size resized(image_size image, std::int64_t longest, std::int64_t step) {
    const auto share = [](std::int64_t side, std::int64_t maximum) {
        return static_cast<double>(side) / static_cast<double>(maximum);
    };
    const double by_height = share(image.height, longest), by_width = share(image.width, longest);
    const double ratio = by_height > by_width ? by_height : by_width;
    const auto round_to_patch = [&](std::int64_t side) {
        const auto scaled = ratio > 1 ? static_cast<std::int64_t>(static_cast<double>(side) / ratio) : side;
        if (scaled < 1)
            throw_description_error("the aspect ratio of the image is too large: a side is rounded to zero");
        return (scaled - 1) / step * step + step;
    };
    return {round_to_patch(image.height), round_to_patch(image.width)};
}

/// Encodes the patches of all images in one sequence with a block-diagonal mask.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor patches = embed_patches(ctx, t, "patch_conv", false, image_input(ctx, t));
    const std::int64_t images = patches.dim(0), patches_per_image = patches.dim(1), n = images * patches_per_image,
                       width = ctx.config.hidden_size;
    const norm_module pre_norm{norm_kind::rms, width, ctx.class_of("RMSNorm")};
    const tensor x = t.call("ln_pre", pre_norm, t.copy(patches).view({1, n, width}));
    const tensor_pair tables =
        t.call("patch_positional_embedding",
               axial_position_table{ctx.config.head_dim, ctx.class_of("VisionRotaryEmbedding")}, n);
    decoder_inputs shared;
    shared.full.pattern = {.query_length = n, .is_causal = false};
    shared.full.mask = t.full({1, 1, n, n}, x.type);
    shared.full.cos = tables.first;
    shared.full.sin = tables.second;
    const module_info transformer{.name = "transformer", .class_of_module = ctx.class_of("Transformer")};
    t.enter(transformer);
    return t.leave(transformer, forward_layers(ctx, t, shared, x));
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_square_image(json, config, 1024, 16);
    divide_by_heads(json, config, {"num_attention_heads"});
    config.attention_bias = config.output_bias = false;
    config.rotary_dim = config.head_dim;
}

}  // namespace pixtral_detail

// transformers/models/pixtral: Mistral's layers over patches of all images at once
inline constexpr model_spec pixtral = [](model_spec spec) {
    spec.model_type = "pixtral";
    spec.class_prefix = "Pixtral";
    spec.base_model = pixtral_detail::base;
    spec.parse_config = pixtral_detail::parse_config;
    spec.rotary = rotary_style::rotate_half;
    spec.accepts_any_image_size = true;
    spec.decoder_layer = pre_norm_layer;
    spec.token_mixer = attention_token_mixer;
    spec.attention = rotary_patch_attention;
    spec.mlp = default_mlp;
    spec.add_residual = add_residual;
    spec.names.layer_class = "AttentionLayer";
    spec.names.attention = "attention";
    spec.names.mlp = "feed_forward";
    spec.names.pre_attention_norm = "attention_norm";
    spec.names.pre_mlp_norm = "ffn_norm";
    spec.names.o_proj = "o_proj";
    spec.defaults.attention_bias = false;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::gelu;
    return spec;
}(shared_tower);

}  // namespace llmcost::arch
