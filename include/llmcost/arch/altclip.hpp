// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/clip.hpp>
#include <llmcost/arch/roberta.hpp>
#include <llmcost/forward/bert_text_encoder.hpp>
#include <llmcost/forward/contrastive.hpp>

// AltCLIP. Derived from CLIP, with RoBERTa as the text encoder.
//
// Source: transformers/models/altclip

namespace llmcost::arch {

namespace altclip_detail {

enum text_config_index : std::uint8_t { projection };

inline constexpr family_key text_keys[]{{"project_dim", 768}}, family_keys[]{{"projection_dim", 768}};

inline constexpr submodel_spec texts = [](model_spec spec) {
    spec.class_prefix = "AltRoberta";
    spec.names.layers = "layers";
    spec.attention = bert_text_encoder::attend_in_float;
    spec.dropout_keys = {};
    spec.family_keys = text_keys;
    spec.defaults.vocab_size = 250002;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 514;
    spec.defaults.type_vocab_size = 1;
    return spec;
}(roberta);

inline constexpr submodel_spec images = [](model_spec spec) {
    spec.class_prefix = "AltCLIP";
    return spec;
}(clip_vision_model);

/// Normalizes and projects the states of all tokens. The state of the first token is the pooled text.
constexpr tensor pool(const layer_context& ctx, trace& t) {
    const layer_context text = ctx.text_model();
    const std::int64_t width = text.config.hidden_size;
    const module_info half{
        .name = "text_model", .class_of_module = ctx.class_of("TextModel"), .module_role = role::encoder};
    const module_info roberta{.name = "roberta", .class_of_module = text.class_of("Model")};
    t.enter(half);
    const tensor x = t.call("pre_LN", norm_module{norm_kind::layer, width},
                            forward_in_module(roberta, text.spec.base_model, text, t));
    return t.leave(half, t.select(t.call("transformation", linear{width, text.config.family[projection], true}, x), 1));
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    return contrastive::score_with(ctx, t, [&] { return pool(ctx, t); });
}

}  // namespace altclip_detail

inline constexpr model_spec altclip = [](model_spec spec) {
    spec.model_type = "altclip";
    spec.class_prefix = "AltCLIP";
    spec.supported_heads = {head_kind::none};
    spec.forward = altclip_detail::forward;
    spec.family_keys = altclip_detail::family_keys;
    spec.text_model.default_spec = &altclip_detail::texts;
    spec.components[0].default_spec = &altclip_detail::images;
    return spec;
}(clip);

}  // namespace llmcost::arch
