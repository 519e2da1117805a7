// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/dual_encoder.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/contrastive.hpp>
#include <llmcost/forward/dual_encoder.hpp>

namespace llmcost::arch {

namespace clip_detail {

using contrastive::score_with, contrastive::states_and_pool;

constexpr tensor base(const layer_context& ctx, trace& t) { return states_and_pool(ctx, t, false).first; }

constexpr void parse_config(config_view json, model_config& config) {
    parse_square_image(json, config, 224, 32);
    divide_by_heads(json, config, {"num_attention_heads"});
}

constexpr void parse_text_config(config_view json, model_config& config) {
    divide_by_heads(json, config, {"num_attention_heads"});
}

inline constexpr family_key family_keys[]{{"projection_dim", 512}};

/// Text encoder with a causal mask. The state of the last token is the pooled text.
constexpr tensor_pair read_text_half(const layer_context& ctx, trace& t, bool reads_pool) {
    const tensor x = forward_text_encoder(ctx, t, text_mask::causal);
    const recorder::detach_guard unread{t, !reads_pool};
    return {x, t.gather(x, {x.dim(0), x.dim(2)})};
}

constexpr tensor text_base(const layer_context& ctx, trace& t) { return read_text_half(ctx, t, false).first; }

/// Parses both encoders. Older files contain a second copy of each encoder's configuration, which takes precedence.
///
/// Source: transformers, configuration_clip.py, `text_config_dict`.
constexpr void parse_pair(config_view json, model& m) {
    parse_written_twice(json, m, "text_config_dict", "vision_config_dict");
    select_image_encoder(m);
}

constexpr tensor classify_patches(const layer_context& ctx, trace& t, const tensor& x) {
    return classify_linear(ctx, t, t.mean(t.slice(x, 1, x.dim(1) - 1), 1));
}

constexpr tensor forward_image_text_model(const layer_context& ctx, trace& t) {
    if (ctx.config.head == head_kind::image_classification) return forward_image_encoder(ctx, t, classify_patches);
    const layer_context text = ctx.text_model();
    return score_with(
        ctx, t, [&] { return forward_pooled_text(ctx, t, [&] { return read_text_half(text, t, true).second; }); });
}

}  // namespace clip_detail

// The vision encoder (`CLIPVisionModel`).
//
// Source: transformers/models/clip
inline constexpr model_spec clip_vision_model = [](model_spec spec) {
    spec.model_type = "clip_vision_model";
    spec.class_prefix = "CLIP";
    spec.base_model = clip_detail::base;
    spec.parse_config = clip_detail::parse_config;
    spec.num_prefix_tokens = 1;
    spec.defaults.hidden_act = activation::quick_gelu;
    spec.dropout_keys = tower_dropout;
    return spec;
}(shared_tower);

// `CLIPVisionModel` of ViT-L/14 at 336 pixels, the default vision encoder of LLaVA and related models.
inline constexpr submodel_spec clip_of_llava = [](model_spec spec) {
    spec.parse_config = [](config_view json, model_config& config) {
        parse_square_image(json, config, 336, 14);
        divide_by_heads(json, config, {"num_attention_heads"});
    };
    spec.defaults.intermediate_size = 4096;
    spec.defaults.hidden_size = 1024;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    return spec;
}(clip_vision_model);

// The text encoder (`CLIPTextModel`).
//
// Source: transformers/models/clip
inline constexpr submodel_spec clip_text_model = [](model_spec spec) {
    spec.model_type = "clip_text_model";
    spec.class_prefix = "CLIP";
    spec.base_model = clip_detail::text_base;
    spec.parse_config = clip_detail::parse_text_config;
    spec.defaults.vocab_size = 49408;
    spec.defaults.hidden_size = 512;
    spec.defaults.intermediate_size = 2048;
    spec.defaults.num_attention_heads = 8;
    spec.defaults.max_position_embeddings = 77;
    spec.defaults.hidden_act = activation::quick_gelu;
    return spec;
}(text_tower);

// CLIP. A dual encoder for texts and images, or the vision encoder with a classifier.
//
// Source: transformers/models/clip/modeling_clip.py
inline constexpr model_spec clip = [](model_spec spec) {
    spec.model_type = "clip";
    spec.class_prefix = "CLIP";
    spec.forward = clip_detail::forward_image_text_model;
    spec.parse_composite_config = clip_detail::parse_pair;
    spec.family_keys = clip_detail::family_keys;
    spec.text_model.default_spec = &clip_text_model;
    spec.components[0].default_spec = &clip_vision_model;
    return spec;
}(shared_pair);

}  // namespace llmcost::arch
