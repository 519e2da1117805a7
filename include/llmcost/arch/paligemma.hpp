// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/linear_image_projector.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/siglip_heads.hpp>

namespace llmcost::arch {

namespace paligemma_detail {

using linear_image_projector::projection_dim, linear_image_projector::projector;

inline constexpr family_key family_keys[]{{"projection_dim", 2048}};

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_masked_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t), 0, 0)};
        const tensor states = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
        return t.masked_scatter(token_embeddings, t.call("multi_modal_projector", projector{ctx}, states));
    });
}

constexpr void parse_processor_config(config_view json, model& m) {
    expect_resized(json);
    expect_picture(json, m.components[0].config.vision.image_height);
    expect_side(json, "image_seq_length", patches_of(m.components[0].config.vision),
                "the number of the tower's patches");
}

constexpr void parse_config(config_view json, model& m) {
    if (m.family[projection_dim] != m.config.hidden_size)
        throw_invalid_value(json, "projection_dim", "the width of the text, into which patches are put");
}

}  // namespace paligemma_detail

// what it takes where it names no text model or tower (configuration_paligemma.py, `sub_configs_defaults`)
inline constexpr submodel_spec paligemma_text_decoder = [](model_spec spec) {
    spec.defaults.vocab_size = 257152;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 16384;
    spec.defaults.num_hidden_layers = 18;
    spec.defaults.num_attention_heads = 8;
    spec.defaults.num_key_value_heads = 1;
    return spec;
}(gemma);

inline constexpr submodel_spec paligemma_vision_encoder = [](model_spec spec) {
    spec.parse_config = [](config_view json, model_config& config) {
        parse_square_image(json, config, 224, 14);
        config.family[siglip_heads::uses_head] = 0;
        divide_by_heads(json, config, {"num_attention_heads"});
    };
    spec.defaults.hidden_size = 1152;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 27;
    spec.defaults.num_attention_heads = 16;
    return spec;
}(siglip_vision_model);

// transformers/models/paligemma: SigLIP and Gemma with bidirectional attention among image tokens; the multimodal model
// builds the masks
inline constexpr model_spec paligemma = [](model_spec spec) {
    spec.model_type = "paligemma";
    spec.class_prefix = "PaliGemma";
    spec.base_model = paligemma_detail::base;
    spec.family_keys = paligemma_detail::family_keys;
    spec.parse_composite_config = paligemma_detail::parse_config;
    spec.compute_media_shapes = count_patch_tokens;
    spec.parse_image_processor = paligemma_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config",
                       .default_spec = &gemma,
                       .spec_if_absent = &paligemma_text_decoder,
                       .ties_embeddings = true};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &siglip_vision_model, .spec_if_absent = &paligemma_vision_encoder};
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
