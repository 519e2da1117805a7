// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/dual_encoder.hpp>

// CLIP: pooled states of images and texts, and their similarities (arXiv 2103.00020).
namespace llmcost::contrastive {

/// Vision encoder: class token, patches, learned positions and layers. The pooled output is the class token after a
/// norm.
constexpr tensor_pair states_and_pool(const layer_context& ctx, trace& t, bool reads_pool,
                                      literal encoder = "Encoder") {
    const std::int64_t width = ctx.config.hidden_size;
    const tensor pixels = pixel_values(ctx, t);
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    t.enter(embeddings);
    const tensor token = t.param("class_embedding", {width});
    const tensor patches = embed_patches(ctx, t, "patch_embedding", false, pixels);
    const tensor tokens = t.cat({token.view({1, 1, width}).expand({pixels.dim(0), 1, width}), patches}, 1);
    const tensor places = learned_positions(t, "position_embedding", patches_of(ctx.config.vision) + 1, width);
    tensor x = t.leave(embeddings, t.add(tokens, places));
    const norm_module layer_norm{norm_kind::layer, width};
    x = encode(ctx, t, t.call("pre_layrnorm", layer_norm, x), encoder);
    const recorder::detach_guard unread{t, !reads_pool};
    return {x, t.call("post_layernorm", layer_norm, t.select(x, 1))};
}

enum family_config_index : std::uint8_t { projection };

/// Similarity logits of every text and image from the normalized pooled outputs. `pool` computes the pooled texts.
template <class Pool>
constexpr tensor score_with(const layer_context& ctx, trace& t, const Pool& pool, literal encoder = "Encoder") {
    const module_info model_info{.class_of_module = ctx.class_of("Model")};
    const layer_context tower = ctx.component(0);
    const std::int64_t width = ctx.model.family[projection];
    t.enter(model_info);
    const tensor scale = t.param("logit_scale", {});
    const tensor end = pool();
    const tensor image = forward_pooled_images(ctx, t, [&] { return states_and_pool(tower, t, true, encoder).second; });
    const tensor features = t.call("visual_projection", projector_linear{tower.config.hidden_size, width}, image);
    const tensor read = t.call("text_projection", projector_linear{end.dim(1), width}, end);
    const tensor image_embeds = normalize_l2_by_power(t, features), text_embeds = normalize_l2_by_power(t, read);
    return t.leave(model_info, similarity_logits(t, text_embeds, image_embeds, scale));
}

}  // namespace llmcost::contrastive
