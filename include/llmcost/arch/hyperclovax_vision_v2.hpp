// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/hyperclovax.hpp>
#include <llmcost/arch/qwen2_5_vl.hpp>
#include <llmcost/forward/qwen_vision.hpp>

namespace llmcost::arch {

namespace hyperclovax_vision_v2_detail {

struct projector : linear {
    static constexpr role module_role = role::projector;
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        return insert_image_features(ctx, t, token_embeddings, [&] {
            const tensor merged = forward_encoder_component(ctx, t, 0, "vision_model", role::vision);
            return t.call("projector", projector{{merged.dim(-1), ctx.config.hidden_size, true}}, merged);
        });
    });
}

}  // namespace hyperclovax_vision_v2_detail

// transformers/models/hyperclovax_vision_v2: Qwen2.5-VL's tower and a projection before HyperCLOVA X
inline constexpr model_spec hyperclovax_vision_v2 = [](model_spec spec) {
    spec.model_type = "hyperclovax_vision_v2";
    spec.class_prefix = "HyperCLOVAXVisionV2";
    spec.base_model = hyperclovax_vision_v2_detail::base;
    spec.family_keys = qwen_vision::bound_keys;
    spec.compute_media_shapes = qwen_vision::compute_media_shapes;
    spec.parse_image_processor = qwen_vision::parse_processor_config;
    spec.modalities.has_images = true;
    spec.process_logits = scale_logits;
    spec.text_model = {.key = "text_config", .default_spec = &hyperclovax, .ignores_model_type = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &qwen2_5_vl_vision, .ignores_model_type = true};
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
