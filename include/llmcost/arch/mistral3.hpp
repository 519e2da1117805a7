// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mistral.hpp>
#include <llmcost/arch/pixtral.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/multimodal.hpp>

namespace llmcost::arch {

namespace mistral3_detail {

enum family_config_index : std::uint8_t { projector_bias, projector_act, feature_layers, merged_side, longest, step };
inline constexpr family_key family_keys[]{
    {"multimodal_projector_bias", 0, family_key_type::boolean},
    {.default_value = static_cast<std::int64_t>(activation::gelu), .type = family_key_type::computed},
    {.default_value = 1, .type = family_key_type::computed},  // layers of the tower whose states are read side by side
    {"spatial_merge_size", 2},                                // patches along a side that become one
    {.type = family_key_type::computed},                      // side of an image; 0: the tower's
    {.type = family_key_type::computed},                      // that sides are multiples of; 0: a square of patches
};

/// Squares of patches become one: (patches of all images, width) -> (squares of all images, width).
struct patch_merger {
    layer_context ctx;
    std::int64_t side;
    std::int64_t images;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("PatchMerger"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = x.dim(-1), n = side * side * width;
        const std::int64_t step = side * ctx.model.components[0].config.vision.patch_size;
        const std::int64_t places = (t.load().image_height / step) * (t.load().image_width / step);
        const tensor unfolded =
            t.gather(x, {images, n, places});  // `F.unfold`, image by image, which leaves a rest out
        const tensor squares = t.copy(unfolded.transpose(1, 2)).view({-1, n});
        return t.call("merging_layer", linear{n, width}, squares);
    }
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
constexpr media_shapes show(const model& m, const workload& load) {
    const vision_config& vision = m.components[0].config.vision;
    const std::int64_t square = vision.patch_size * m.family[merged_side];
    const image_size to = pixtral_detail::resized(image_size_of(load, vision),
                                                  m.family[longest] != 0 ? m.family[longest] : vision.image_height,
                                                  m.family[step] != 0 ? m.family[step] : square);
    const std::int64_t tokens = (to.height / square) * (to.width / square);
    if (tokens == 0) throw_description_error("the image is too small for one merged square of patches");
    return {.image = {.num_tokens = tokens, .height = to.height, .width = to.width}};
}

/// Parses the processor configuration; `PixtralProcessor` merges squares of patches, whatever patch size the file
/// contains.
constexpr void parse_processor_config(config_view json, model& m) {
    expect_resized(json);
    if (const auto size = json.optional_object("size")) m.family[longest] = size->positive("longest_edge");
}

/// The tower over all images, then what brings their states to the width of the text; each under a name of its own.
template <class Projector>
constexpr tensor base_with(const layer_context& ctx, trace& t, literal tower, literal name) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const bool has_image_inputs = has_images(t);
        const recorder::not_executed_guard no_pixels{t, !has_image_inputs};
        const std::int64_t images = has_image_inputs ? images_in(t) : 1, side = ctx.model.family[merged_side];
        const vision_config& vision = ctx.model.components[0].config.vision;
        const media_shape shape =
            has_image_inputs ? ctx.spec.compute_media_shapes(ctx.model, t.load()).image
                             : media_shape{.height = side * vision.patch_size, .width = side * vision.patch_size};
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images, shape.height, shape.width)};
        const tensor states = forward_encoder_component(ctx, t, 0, tower, role::vision);
        const tensor features = t.call(name, Projector{ctx, images}, states.squeeze(0));
        return t.masked_scatter(token_embeddings, t.cat({features}, 0));
    });
}
constexpr tensor base(const layer_context& ctx, trace& t) {
    if (ctx.model.family[feature_layers] != 1 && has_images(t))
        throw_description_error(
            "several vision layers are not supported: the norm before the merger has the width of one layer");
    return base_with<merging_projector>(ctx, t, "vision_tower", "multi_modal_projector");
}

/// The norm and the merger are as wide as one layer's states, so that the reference cannot run several, only hold them.
constexpr void parse_config(config_view json, model& m) {
    if (const auto name = json.optional_string("projector_hidden_act"))
        m.family[projector_act] = static_cast<std::int64_t>(activation_named(json, "projector_hidden_act", *name));
    m.family[feature_layers] = count_layers(json, "vision_feature_layer");
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
inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.parse_config = [](config_view json, model_config& config) {
        pixtral_detail::parse_config(json, config);
        config.vision.image_height = config.vision.image_width = 1540;
        config.vision.patch_size = 14;
    };
    return spec;
}(pixtral);

}  // namespace mistral3_detail

// transformers/models/mistral3: Pixtral before a text model, squares of patches merged
inline constexpr model_spec mistral3 = [](model_spec spec) {
    spec.model_type = "mistral3";
    spec.class_prefix = "Mistral3";
    spec.base_model = mistral3_detail::base;
    spec.parse_composite_config = mistral3_detail::parse_config;
    spec.family_keys = mistral3_detail::family_keys;
    spec.compute_media_shapes = mistral3_detail::show;
    spec.parse_image_processor = mistral3_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &mistral, .spec_if_absent = &mistral3_detail::text};
    spec.components[0] = {.key = "vision_config", .default_spec = &pixtral, .spec_if_absent = &mistral3_detail::tower};
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
