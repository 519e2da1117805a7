// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mistral.hpp>
#include <llmcost/arch/pixtral.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/media.hpp>

namespace llmcost::arch {

namespace mistral3_detail {

enum own : std::uint8_t { projector_bias, projector_act, feature_layers, merged_side, longest, step };
inline constexpr own_key keys[]{
    {"multimodal_projector_bias", 0, own_value::boolean},
    {.otherwise = static_cast<std::int64_t>(activation::gelu), .value = own_value::computed},
    {.otherwise = 1, .value = own_value::computed},  // layers of the tower whose states are read side by side
    {"spatial_merge_size", 2},                       // patches along a side that become one
    {.value = own_value::computed},                  // side of an image; 0: the tower's
    {.value = own_value::computed},                  // that sides are multiples of; 0: a square of patches
};

/// Squares of patches become one: (patches of all images, width) -> (squares of all images, width).
struct patch_merger {
    site here;
    std::int64_t side;
    std::int64_t images;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("PatchMerger"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = x.dim(-1), n = side * side * width;
        const std::int64_t step = side * here.whole.beside[0].dims.vision.patch_size;
        const std::int64_t places = (t.load().image_height / step) * (t.load().image_width / step);
        const value unfolded = t.gather(x, {images, n, places});  // `F.unfold`, image by image, which leaves a rest out
        const value squares = t.copy(unfolded.transpose(1, 2)).view({-1, n});
        return t.call("merging_layer", linear{n, width}, squares);
    }
};

/// A norm, the merger, two projections.
struct merging_projector {
    site here;
    std::int64_t images;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiModalProjector"); }
    constexpr value describe(trace& t, const value& states) const {
        const own_sizes& own = here.whole.own;
        const norm<norm_kind::rms> scale{states.dim(-1), here.type("RMSNorm")};
        const value merged = t.call("patch_merger", patch_merger{here, own[merged_side], images}, t.call("norm", scale, states));
        const std::int64_t in = states.dim(-1) * own[feature_layers];
        const projector both{type(),
                             in,
                             here.dims.hidden_size,
                             here.dims.hidden_size,
                             own[projector_bias] != 0,
                             static_cast<activation>(own[projector_act])};
        return both.describe(t, own[feature_layers] == 1 ? merged : t.constant({merged.dim(0), in}, merged.type));
    }
};

/// Pixtral's own processor, whose steps are squares of patches.
constexpr media_shapes show(const model& m, const workload& load) {
    const vision_sizes& own = m.beside[0].dims.vision;
    const std::int64_t square = own.patch_size * m.own[merged_side];
    const image_sides to =
        pixtral_detail::resized(sides_of_images(load, own), m.own[longest] != 0 ? m.own[longest] : own.image_height,
                                m.own[step] != 0 ? m.own[step] : square);
    const std::int64_t tokens = (to.height / square) * (to.width / square);
    if (tokens == 0) report_description("an image of these sides has no square of patches");
    return {.image = {.tokens = tokens, .height = to.height, .width = to.width}};
}

/// `PixtralProcessor` hands on squares of patches, whatever the file says of a patch.
constexpr void read_processor(config_view told, model& m) {
    expect_resized(told);
    if (const auto size = told.optional_object("size")) m.own[longest] = size->positive("longest_edge");
}

/// The tower over all images, then what brings their states to the width of the text; each under a name of its own.
template <class Projector>
constexpr value base_with(const site& here, trace& t, literal tower, literal name) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const bool sees = sees_images(t);
        const recorder::idle_guard no_pixels{t, !sees};
        const std::int64_t images = sees ? images_in(t) : 1, side = here.whole.own[merged_side];
        const vision_sizes& own = here.whole.beside[0].dims.vision;
        const media_shape each = sees ? here.row.media(here.whole, t.load()).image
                                      : media_shape{.height = side * own.patch_size, .width = side * own.patch_size};
        const recorder::workload_guard shown{t, pictures(t.load(), images, each.height, each.width)};
        const value states = describe_tower(here, t, 0, tower, role::vision);
        const value features = t.call(name, Projector{here, images}, states.squeeze(0));
        return t.masked_scatter(words, t.cat({features}, 0));
    });
}
constexpr value base(const site& here, trace& t) {
    if (here.whole.own[feature_layers] != 1 && sees_images(t))
        report_description("the norm in front of the merger is as wide as the states of one layer");
    return base_with<merging_projector>(here, t, "vision_tower", "multi_modal_projector");
}

/// The norm and the merger are as wide as one layer's states, so that the reference cannot run several, only hold them.
constexpr void read_whole(config_view config, model& m) {
    if (const auto name = config.optional_string("projector_hidden_act"))
        m.own[projector_act] = static_cast<std::int64_t>(activation_named(config, "projector_hidden_act", *name));
    m.own[feature_layers] = count_layers(config, "vision_feature_layer");
}

// what it takes where it names no text model and no tower (configuration_mistral3.py, `sub_configs_defaults`)
inline constexpr architecture text = [](architecture a) {
    a.defaults.vocab_size = 131072, a.defaults.hidden_size = 5120, a.defaults.intermediate_size = 32768;
    a.defaults.num_hidden_layers = 40, a.defaults.head_dim = 128, a.defaults.sliding_window = 0;
    return a;
}(mistral);
inline constexpr architecture tower = [](architecture a) {
    a.read = [](config_view config, sizes& s) {
        pixtral_detail::read(config, s);
        s.vision.image_height = s.vision.image_width = 1540, s.vision.patch_size = 14;
    };
    return a;
}(pixtral);

}  // namespace mistral3_detail

// transformers/models/mistral3: Pixtral in front of a text model, squares of patches merged
inline constexpr architecture mistral3 = [](architecture a) {
    a.model_type = "mistral3", a.prefix = "Mistral3", a.base = mistral3_detail::base;
    a.read_whole = mistral3_detail::read_whole, a.own = mistral3_detail::keys;
    a.media = mistral3_detail::show, a.read_processor = mistral3_detail::read_processor, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &mistral, .missing = &mistral3_detail::text};
    a.beside[0] = {.key = "vision_config", .otherwise = &pixtral, .missing = &mistral3_detail::tower};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
