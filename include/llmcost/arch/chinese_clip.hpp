// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>
#include <llmcost/arch/clip.hpp>
#include <llmcost/forward/bert_text_encoder.hpp>
#include <llmcost/forward/contrastive.hpp>

// Chinese CLIP. Derived from CLIP, with BERT as the text encoder; the state of the first token is the pooled text.
//
// Source: transformers/models/chinese_clip

namespace llmcost::arch {

namespace chinese_clip_detail {

/// Sums word, segment and position embeddings; the position embeddings are added in place.
constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    register_position_buffers(ctx, t);
    const tensor tokens = word_embeddings(ctx, t);
    tensor x = t.add(tokens, segment_embeddings(ctx, t));
    t.add_(x, position_embeddings(ctx, t));
    return norm_embeddings(ctx, t, x);
}

constexpr tensor embed(const layer_context& ctx, trace& t) { return embed_in_module(ctx, t, sum_embeddings); }

}  // namespace chinese_clip_detail

/// Returns a BERT text encoder whose class names begin with `prefix`.
constexpr model_spec bert_text_encoder_of(literal prefix) {
    model_spec spec = bert;
    spec.class_prefix = prefix;
    spec.embed_tokens = chinese_clip_detail::embed;
    spec.attention = bert_text_encoder::attend_in_float;
    spec.parse_config = parse_encoder_only;
    spec.dropout_keys = {};
    return spec;
}

namespace chinese_clip_detail {

inline constexpr submodel_spec texts = bert_text_encoder_of("ChineseCLIPText");

inline constexpr submodel_spec images = [](model_spec spec) {
    spec.class_prefix = "ChineseCLIP";
    spec.names.layer_class = "VisionLayer";
    spec.names.attention_class = "VisionAttention";
    spec.names.mlp_class = "VisionMLP";
    spec.base_model = [](const layer_context& ctx, trace& t) {
        return contrastive::states_and_pool(ctx, t, false, "VisionEncoder").first;
    };
    return spec;
}(clip_vision_model);

constexpr tensor forward(const layer_context& ctx, trace& t) {
    const layer_context text = ctx.text_model();
    const auto first = [&] {
        return t.select(forward_pooled_text(ctx, t, [&] { return text.spec.base_model(text, t); }), 1);
    };
    return contrastive::score_with(ctx, t, first, "VisionEncoder");
}

}  // namespace chinese_clip_detail

inline constexpr model_spec chinese_clip = [](model_spec spec) {
    spec.model_type = "chinese_clip";
    spec.class_prefix = "ChineseCLIP";
    spec.supported_heads = {head_kind::none};
    spec.forward = chinese_clip_detail::forward;
    spec.text_model.default_spec = &chinese_clip_detail::texts;
    spec.components[0].default_spec = &chinese_clip_detail::images;
    return spec;
}(clip);

}  // namespace llmcost::arch
