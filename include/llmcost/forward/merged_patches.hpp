// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/pixtral_images.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// Mistral 3: neighboring patches merged into a token.
namespace llmcost::merged_patches {

enum family_config_index : std::uint8_t { projector_bias, projector_act, feature_layers, merged_side, longest, step };

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

/// The norm and the merger are as wide as one layer's states, so that the reference cannot run several, only hold them.
constexpr void parse_config(config_view json, model& m) {
    if (const auto name = json.optional_string("projector_hidden_act"))
        m.family[projector_act] = static_cast<std::int64_t>(activation_named(json, "projector_hidden_act", *name));
    m.family[feature_layers] = count_layers(json, "vision_feature_layer");
}

}  // namespace llmcost::merged_patches
