// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/chinese_clip.hpp>
#include <llmcost/arch/efficientnet.hpp>
#include <llmcost/forward/compound_scaling.hpp>

// ALIGN. A dual encoder: BERT for texts, EfficientNet for images.
//
// Source: transformers/models/align/modeling_align.py

namespace llmcost::arch {

namespace align_detail {

enum family_config_index : std::uint8_t { projection };

inline constexpr family_key family_keys[]{{"projection_dim", 640}};

inline constexpr submodel_spec texts = bert_text_encoder_of("AlignText");

/// EfficientNet blocks without the top convolution. Returns the states and their mean over all positions.
constexpr tensor_pair states_and_pool(const layer_context& ctx, trace& t, bool reads_pool) {
    using namespace compound_scaling;
    const tensor embedded = embed(ctx, t);
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    const tensor x = t.leave(encoder, call_blocks(ctx, t, embedded));
    const recorder::detach_guard unread{t, !reads_pool};
    const tensor pooled =
        t.call("pooler", global_pool{ctx.config.family[top], ctx.config.family[pools_maximum] != 0}, x);
    return {x, t.reshape(pooled, {x.dim(0), x.dim(1)})};
}

inline constexpr submodel_spec images = [](model_spec spec) {
    spec.class_prefix = "AlignVision";
    spec.names.model_class = "Model";
    spec.parse_config = parse_efficientnet_blocks;
    spec.base_model = [](const layer_context& ctx, trace& t) { return states_and_pool(ctx, t, false).first; };
    return spec;
}(efficientnet);

/// Similarity logits of every text and image, divided by a learned temperature. The state of the first token represents
/// a text.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    const module_info model_info{.class_of_module = ctx.class_of("Model")};
    const layer_context text = ctx.text_model(), tower = ctx.component(0);
    t.enter(model_info);
    const tensor temperature = t.param("temperature", {});
    const tensor token_embeddings = forward_pooled_text(ctx, t, [&] {
        make_padding_mask(t);
        const tensor x = text.spec.base_model(text, t);
        const recorder::detach_guard unread{t};
        (void)pool_first_token(text, t, x);
        return x;
    });
    const tensor features = forward_pooled_images(ctx, t, [&] { return states_and_pool(tower, t, true).second; });
    const projector_linear to_images{text.config.hidden_size, ctx.model.family[projection], true};
    const tensor read = t.call("text_projection", to_images, t.select(token_embeddings, 1));
    const tensor image_embeds = normalize_l2(t, features), text_embeds = normalize_l2(t, read);
    const tensor scores = t.matmul(text_embeds, image_embeds.transpose(0, 1));
    return t.leave(model_info, t.div(scores, temperature));
}

constexpr void parse_config(config_view json, model& m) {
    const model_config& images = m.components[0].config;
    const std::int64_t last = images.family[compound_scaling::stages] - 1;
    const std::int64_t width = compound_scaling::stage_sizes::parse_config(images, last).out;
    if (m.family[projection] != width)
        throw_invalid_value(json, "projection_dim", "the number of output channels of the last image blocks");
}

}  // namespace align_detail

inline constexpr model_spec align = [](model_spec spec) {
    spec.model_type = "align";
    spec.has_eager_attention_only = true;
    spec.class_prefix = "Align";
    spec.forward = align_detail::forward;
    spec.parse_composite_config = align_detail::parse_config;
    spec.family_keys = align_detail::family_keys;
    spec.supported_heads = {head_kind::none};
    spec.text_model.default_spec = &align_detail::texts;
    spec.components[0].default_spec = &align_detail::images;
    return spec;
}(shared_pair);

}  // namespace llmcost::arch
