// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mistral.hpp>
#include <llmcost/arch/pixtral.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/merged_patches.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/pixtral_images.hpp>

namespace llmcost::arch {

namespace mistral3_detail {

using merged_patches::base_with, merged_patches::feature_layers, merged_patches::longest, merged_patches::merged_side,
    merged_patches::patch_merger, merged_patches::projector_act, merged_patches::projector_bias, merged_patches::step;

inline constexpr family_key family_keys[]{
    {"multimodal_projector_bias", 0, family_key_type::boolean},
    {.default_value = static_cast<std::int64_t>(activation::gelu), .type = family_key_type::computed},
    {.default_value = 1, .type = family_key_type::computed},  // layers of the tower whose states are read side by side
    {"spatial_merge_size", 2},                                // patches along a side that become one
    {.type = family_key_type::computed},                      // side of an image; 0: the tower's
    {.type = family_key_type::computed},                      // that sides are multiples of; 0: a square of patches
};

/// A norm, the merger, two projections.
struct merging_projector {
    layer_context ctx;
    std::int64_t images;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultiModalProjector"); }
    constexpr tensor forward(trace& t, const tensor& states) const {
        const family_config& family = ctx.model.family;
        const norm_module scale{norm_kind::rms, states.dim(-1), ctx.class_of("RMSNorm")};
        const tensor merged =
            t.call("patch_merger", patch_merger{ctx, family[merged_side], images}, t.call("norm", scale, states));
        const std::int64_t in = states.dim(-1) * family[feature_layers];
        const projector mlp_projector{type_name(),
                                      in,
                                      ctx.config.hidden_size,
                                      ctx.config.hidden_size,
                                      family[projector_bias] != 0,
                                      static_cast<activation>(family[projector_act])};
        return mlp_projector.forward(t,
                                     family[feature_layers] == 1 ? merged : t.full({merged.dim(0), in}, merged.type));
    }
};

/// Pixtral's own processor, whose steps are squares of patches.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const vision_config& vision = m.components[0].config.vision;
    const std::int64_t square = vision.patch_size * m.family[merged_side];
    const image_size to = pixtral_images::resized(image_size_of(load, vision),
                                                  m.family[longest] != 0 ? m.family[longest] : vision.image_height,
                                                  m.family[step] != 0 ? m.family[step] : square);
    const std::int64_t tokens = (to.height / square) * (to.width / square);
    if (tokens == 0) throw_description_error("the image is too small for one merged square of patches");
    return {.image = {.num_tokens = tokens, .height = to.height, .width = to.width}};
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    if (ctx.model.family[feature_layers] != 1 && has_images(t))
        throw_description_error(
            "several vision layers are not supported: the norm before the merger has the width of one layer");
    return base_with<merging_projector>(ctx, t, "vision_tower", "multi_modal_projector");
}

// what it takes where it names no text model and no tower (configuration_mistral3.py, `sub_configs_defaults`)
inline constexpr submodel_spec text = [](model_spec spec) {
    spec.defaults.vocab_size = 131072;
    spec.defaults.hidden_size = 5120;
    spec.defaults.intermediate_size = 32768;
    spec.defaults.num_hidden_layers = 40;
    spec.defaults.head_dim = 128;
    spec.defaults.sliding_window = 0;
    return spec;
}(mistral);

}  // namespace mistral3_detail

inline constexpr submodel_spec mistral3_vision_encoder = [](model_spec spec) {
    spec.parse_config = [](config_view json, model_config& config) {
        pixtral_images::parse_config(json, config);
        config.vision.image_height = config.vision.image_width = 1540;
        config.vision.patch_size = 14;
    };
    return spec;
}(pixtral);

// transformers/models/mistral3: Pixtral before a text model, squares of patches merged
inline constexpr model_spec mistral3 = [](model_spec spec) {
    spec.model_type = "mistral3";
    spec.class_prefix = "Mistral3";
    spec.alternative_classes = "LightOnOCRForConditionalGeneration";  // of vLLM
    spec.base_model = mistral3_detail::base;
    spec.parse_composite_config = merged_patches::parse_config;
    spec.family_keys = mistral3_detail::family_keys;
    spec.compute_media_shapes = mistral3_detail::compute_media_shapes;
    spec.parse_image_processor = merged_patches::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &mistral, .spec_if_absent = &mistral3_detail::text};
    spec.components[0] = {.key = "vision_config", .default_spec = &pixtral, .spec_if_absent = &mistral3_vision_encoder};
    spec.defaults.tie_word_embeddings = true;
    spec.published_head = published_head_kind::untied_by_text_model;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
