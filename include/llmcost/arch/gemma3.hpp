// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma2.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/pooled_image_tokens.hpp>

// The multimodal model: SigLIP before Gemma 3, with patches averaged to fewer tokens.
//
// Source: transformers/models/gemma3

namespace llmcost::arch {

constexpr void parse_gemma3(config_view json, model_config& config) {
    parse_gemma_layers(json, config, false, false, json.positive("sliding_window_pattern", 6));
    const auto bidirectional = json.find("use_bidirectional_attention");
    config.is_bidirectional = bidirectional && !bidirectional->is_null() && bidirectional->as_boolean();
    if (config.is_bidirectional) config.sliding_window = config.sliding_window / 2 + 1;  // equal in both directions
    config.attention_soft_cap = false;  // its attention receives this key but does not pass it on
}

// Gemma 3. Derived from Gemma 2, with these differences:
//  - norms of queries and keys;
//  - five sliding-window layers per full-attention layer, with separate rotary tables.
//
// Source: transformers/models/gemma3
inline constexpr model_spec gemma3_text = [](model_spec spec) {
    spec.supported_heads = classifying_decoder_heads;
    spec.model_type = "gemma3_text";
    spec.class_prefix = "Gemma3";
    spec.parse_config = parse_gemma3;
    spec.qk_norm = qk_norm_kind::per_head_transposed;
    spec.has_rotary_per_token_mixer = true;
    spec.context_includes_scaling = true;
    spec.names.model_class = "TextModel";
    spec.defaults.vocab_size = 262208;
    spec.defaults.max_position_embeddings = 131072;
    return spec;
}(gemma2);

namespace gemma3_detail {

using pooled_image_tokens::projector_of_pools;

inline constexpr family_key family_keys[]{{"mm_tokens_per_image", 256}};

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_masked_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t), 0, 0)};
        const tensor states = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
        return t.masked_scatter(token_embeddings, t.call("multi_modal_projector", projector_of_pools{ctx}, states));
    });
}

/// The text model inside the multimodal model, which creates only the masks that layers use.
inline constexpr submodel_spec text = [](model_spec spec) {
    spec.mask_policy = mask_kind::present;
    return spec;
}(gemma3_text);

}  // namespace gemma3_detail

inline constexpr model_spec gemma3 = [](model_spec spec) {
    spec.model_type = "gemma3";
    spec.class_prefix = "Gemma3";
    spec.base_model = gemma3_detail::base;
    spec.family_keys = gemma3_detail::family_keys;
    spec.supported_heads = {head_kind::none, head_kind::conditional_generation, head_kind::sequence_classification};
    spec.compute_media_shapes = pooled_image_tokens::compute_media_shapes;
    spec.parse_image_processor = pooled_image_tokens::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &gemma3_detail::text, .ignores_model_type = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &siglip_vision_model};
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
