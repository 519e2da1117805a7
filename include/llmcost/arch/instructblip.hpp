// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/blip_2.hpp>

namespace llmcost::arch {

namespace instructblip_detail {

/// Instruction tokens of the Q-Former in addition to the image, where the workload gives no number.
inline constexpr std::int64_t instruction = 32;

/// Frames that the processor samples from a video.
///
/// Source: transformers/models/instructblipvideo/video_processing_instructblipvideo.py,
/// processing_instructblipvideo.py.
inline constexpr std::int64_t frames = 4;

constexpr media_shapes show_frames(const model& m, const workload& load) {
    media_shapes shapes = blip_2_detail::show(m, load);
    shapes.image.num_tokens *= frames;
    return shapes;
}

/// Q-Former: learned queries followed by instruction tokens, with a norm over both. Returns only the queries.

constexpr tensor query(const layer_context& ctx, trace& t, const tensor& features) {
    const layer_context qformer_ctx = ctx.component(1);
    const family_config& family = qformer_ctx.config.family;
    const std::int64_t n = ctx.model.family[blip_2_detail::queries], width = qformer_ctx.config.hidden_size,
                       pictures = features.dim(0);
    if (instruction > family[blip_2_detail::positions])
        throw_description_error("the instruction has more tokens than the model has positions");
    const tensor learned = t.param("query_tokens", {1, n, width}).expand({pictures, n, width});
    const module_info model{.name = "qformer", .class_of_module = qformer_ctx.class_of("QFormerModel")};
    const module_info embeddings{.name = "embeddings",
                                 .class_of_module = qformer_ctx.class_of("QFormerEmbeddings"),
                                 .module_role = role::embedding};
    t.enter(model);
    t.enter(embeddings);
    const tensor token_embeddings =
        t.call("word_embeddings", embedding{family[blip_2_detail::vocab_size], width}, shape{pictures, instruction});
    const tensor places =
        t.call("position_embeddings", embedding{family[blip_2_detail::positions], width}, shape{1, instruction});
    const tensor all = t.cat({learned, t.add(token_embeddings, places)}, 1);
    const tensor first = dropout(t, "dropout", t.call("layernorm", norm_module{norm_kind::layer, width}, all));
    const tensor out = blip_2_detail::forward_qformer_encoder(qformer_ctx, t, t.leave(embeddings, first), features, n);
    return t.slice(t.leave(model, out), 1, n);
}

inline constexpr family_key former_keys[]{blip_2_detail::former_keys[0],
                                          {.default_value = 1, .type = family_key_type::computed},
                                          blip_2_detail::former_keys[2],
                                          blip_2_detail::former_keys[3]};

/// Parts of BLIP-2 with names of these.
constexpr model_spec tower_of(model_spec spec, literal prefix) {
    spec.class_prefix = prefix;
    return spec;
}
constexpr model_spec former_of(model_spec spec, literal prefix) {
    spec.class_prefix = prefix;
    spec.family_keys = former_keys;
    return spec;
}
inline constexpr submodel_spec tower = tower_of(blip_2_detail::tower, "InstructBlip");
inline constexpr submodel_spec former = former_of(blip_2_detail::former, "InstructBlip");
inline constexpr submodel_spec video_tower = tower_of(blip_2_detail::tower, "InstructBlipVideo");
inline constexpr submodel_spec video_former = former_of(blip_2_detail::former, "InstructBlipVideo");

}  // namespace instructblip_detail

// transformers/models/instructblip: BLIP-2 whose queries read an instruction, too
inline constexpr model_spec instructblip = [](model_spec spec) {
    spec.model_type = "instructblip";
    spec.class_prefix = "InstructBlip";
    spec.forward = blip_2_detail::forward<instructblip_detail::query>;
    spec.components[0].default_spec = &instructblip_detail::tower;
    spec.components[1].default_spec = &instructblip_detail::former;
    return spec;
}(blip_2);

// transformers/models/instructblipvideo: the same for four frames of a clip
inline constexpr model_spec instructblipvideo = [](model_spec spec) {
    spec.model_type = "instructblipvideo";
    spec.class_prefix = "InstructBlipVideo";
    spec.compute_media_shapes = instructblip_detail::show_frames;
    spec.forward = blip_2_detail::forward<instructblip_detail::query, instructblip_detail::frames>;
    spec.components[0].default_spec = &instructblip_detail::video_tower;
    spec.components[1].default_spec = &instructblip_detail::video_former;
    return spec;
}(instructblip);

}  // namespace llmcost::arch
