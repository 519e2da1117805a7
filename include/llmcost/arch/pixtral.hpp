// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/pixtral_images.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace pixtral_detail {

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

}  // namespace pixtral_detail

// transformers/models/pixtral: Mistral's layers over patches of all images at once
inline constexpr model_spec pixtral = [](model_spec spec) {
    spec.model_type = "pixtral";
    spec.class_prefix = "Pixtral";
    spec.base_model = pixtral_detail::base;
    spec.parse_config = pixtral_images::parse_config;
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
