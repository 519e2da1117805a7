// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/clip.hpp>
#include <llmcost/arch/llama.hpp>
#include <llmcost/arch/pixtral.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/pixtral_images.hpp>
#include <llmcost/forward/siglip_heads.hpp>
#include <llmcost/forward/vision_features.hpp>

namespace llmcost::arch {

namespace llava_detail {

using vision_features::all_states, vision_features::longest_side;

/// Whether what sees is Pixtral, which takes images of any shape as its own processor hands them on.
[[nodiscard]] constexpr bool accepts_any_resolution(const model& m) noexcept {
    return m.components[0].spec == &pixtral;
}

/// Returns the shape of an image for Pixtral, in complete patches.
///
/// Source: transformers/models/pixtral/processing_pixtral.py.
constexpr media_shapes compute_any_size_shapes(const model& m, const workload& load) {
    const vision_config& image = m.components[0].config.vision;
    if (m.family[all_states] == 0 && load.images > 0)
        throw_description_error(
            "vision_feature_select_strategy removes a patch; image features cannot be split without it");
    const std::int64_t longest = m.family[longest_side] != 0 ? m.family[longest_side] : image.image_height;
    const image_size to = pixtral_images::resized(image_size_of(load, image), longest, image.patch_size);
    const std::int64_t tokens = (to.height / image.patch_size) * (to.width / image.patch_size);
    return {.image = {.num_tokens = tokens, .height = to.height, .width = to.width}};
}

}  // namespace llava_detail

/// Every image is made as large as the tower's own, but before Pixtral.
constexpr media_shapes compute_llava_media_shapes(const model& m, const workload& load) {
    if (llava_detail::accepts_any_resolution(m)) return llava_detail::compute_any_size_shapes(m, load);
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t tokens = patches_of(image) + m.components[0].spec->num_prefix_tokens -
                                (m.family[vision_features::all_states] != 0 ? 0 : 1);
    return {.image = {.num_tokens = tokens, .height = image.image_height, .width = image.image_width}};
}

namespace llava_detail {

using vision_features::all_states, vision_features::encode_images, vision_features::project,
    vision_features::side_by_side;

/// A tower, a projector, a text model; a text alone runs neither of the first two.
constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const bool any_shape = accepts_any_resolution(ctx.model) && has_images(t);
        const media_shape shape = any_shape ? compute_llava_media_shapes(ctx.model, t.load()).image : media_shape{};
        const recorder::workload_guard encoder_workload{
            t, image_workload(t.load(), images_in(t), shape.height, shape.width)};
        const tensor selected_states =
            side_by_side(ctx, t, encode_images(ctx, t, "vision_tower"), ctx.model.family[all_states] != 0);
        return t.masked_scatter(token_embeddings, t.cat({project(ctx, t, selected_states)}, 0));
    });
}

}  // namespace llava_detail

namespace llava_detail {

/// Parses files of the original code, with the sizes of the text model at the top level. Their vision encoder has no
/// sizes; the default one is CLIP ViT-L/14 at 336 pixels.
///
/// Source: github.com/haotian-liu/LLaVA, llava/model/multimodal_encoder/builder.py, multimodal_projector/builder.py.
constexpr void parse_original_keys(config_view json) {
    for (const literal key : {"mm_vision_tower", "vision_tower"}) {
        const string_ref tower = json.string(key, "openai/clip-vit-large-patch14-336");
        if (!tower.ends_with("clip-vit-large-patch14-336") && !tower.ends_with("clip-large-336"))
            throw_invalid_value(json, key, "openai/clip-vit-large-patch14-336 without vision_config");
    }
    if (json.string("mm_projector_type", "mlp2x_gelu") != "mlp2x_gelu")
        throw_invalid_value(json, "mm_projector_type", "mlp2x_gelu");
    if (json.string("mm_patch_merge_type", "flat") != "flat")
        throw_invalid_value(json, "mm_patch_merge_type", "flat; other types are those of llava_next");
    if (json.positive("mm_hidden_size", 1024) != 1024)
        throw_invalid_value(json, "mm_hidden_size", "1024 without vision_config");
}

constexpr void parse_config(config_view json, model& m) {
    if (!json.optional_object("text_config") && json.contains("hidden_size")) parse_original_keys(json);
    vision_features::parse_config(json, m);
}

}  // namespace llava_detail

constexpr void parse_llava_image_processor(config_view json, model& m) {
    expect_resized(json);
    if (!llava_detail::accepts_any_resolution(m))
        return expect_picture(json, m.components[0].config.vision.image_height);
    if (const auto size = json.optional_object("size"))
        m.family[vision_features::longest_side] = size->positive("longest_edge");
}

/// SigLIP at 384 pixels without its pool, where LLaVA-OneVision and Aya Vision name no tower.
constexpr model_spec siglip_at_384_pixels(std::int64_t heads) {
    model_spec spec = siglip_vision_model;
    spec.parse_config = [](config_view json, model_config& config) {
        parse_square_image(json, config, 384, 14);
        config.family[siglip_heads::uses_head] = 0;
        divide_by_heads(json, config, {"num_attention_heads"});
    };
    spec.defaults.hidden_size = 1152;
    spec.defaults.intermediate_size = 4304;
    spec.defaults.num_hidden_layers = 26;
    spec.defaults.num_attention_heads = heads;
    return spec;
}

// transformers/models/llava: CLIP before a text model
inline constexpr model_spec llava = [](model_spec spec) {
    spec.model_type = "llava";
    spec.class_prefix = "Llava";
    spec.base_model = llava_detail::base;
    spec.parse_composite_config = llava_detail::parse_config;
    spec.family_keys = vision_features::family_keys;
    spec.compute_media_shapes = compute_llava_media_shapes;
    spec.parse_image_processor = parse_llava_image_processor;
    spec.modalities.has_images = true;
    spec.text_model = {
        .key = "text_config", .default_spec = &llama, .ties_embeddings = true, .flat_class = "LlavaLlamaForCausalLM"};
    spec.components[0] = {.key = "vision_config", .default_spec = &clip_vision_model, .spec_if_absent = &clip_of_llava};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
