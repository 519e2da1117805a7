// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/clip.hpp>
#include <llmcost/arch/llama.hpp>
#include <llmcost/arch/pixtral.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/media.hpp>

namespace llmcost::arch {

namespace llava_detail {

enum own : std::uint8_t { projector_bias, projector_act, feature_layers, all_states, layers_read, longest_side };
inline constexpr own_key keys[]{
    {"multimodal_projector_bias", 1, own_value::boolean},
    {.otherwise = static_cast<std::int64_t>(activation::gelu), .value = own_value::computed},
    {.otherwise = 1, .value = own_value::computed},  // layers of the tower whose states are read side by side
    {.value = own_value::computed},                  // of a tower: its class token's among them
    {.value = own_value::computed},                  // a bit for each number of layers in front of them
    {.value = own_value::computed},                  // of an image in front of Pixtral; 0: as long as the tower's own
};

constexpr void read(config_view config, model& m) {
    if (const auto name = config.optional_string("projector_hidden_act"))
        m.own[projector_act] = static_cast<std::int64_t>(activation_named(config, "projector_hidden_act", *name));
    m.own[feature_layers] = count_layers(config, "vision_feature_layer");
    m.own[layers_read] = picked_layers(config, "vision_feature_layer", m.beside[0].dims.num_hidden_layers, {-2});
    const string_ref strategy = config.string("vision_feature_select_strategy", "default");
    if (strategy != "default" && strategy != "full") fail_value(config, "vision_feature_select_strategy", "default or full");
    m.own[all_states] = strategy == "full" ? 1 : 0;
}

/// Whether what sees is Pixtral, which takes images of any shape as its own processor hands them on.
[[nodiscard]] constexpr bool sees_any_shape(const model& m) noexcept { return m.beside[0].kind == &pixtral; }

/// A tower of this name, of which the states behind some layers are read; of one that does not tell them apart, the last.
constexpr states_read look(const site& here, trace& t, literal name) {
    const std::int64_t layers = here.whole.own[layers_read];
    states_read read{.behind = static_cast<std::uint64_t>(layers)};
    shared_values asked;
    asked.read = &read;
    site tower = here.component(0);
    tower.shared = &asked;
    const module_info m{.name = name, .type = tower.type(tower.row.names.model_type), .what = role::vision};
    const value last = describe_within(m, tower.row.base, tower, t);
    if (read.count > 0) return read;
    if (!t.idle() && layers == 0)
        report_description("vision_feature_layer: not a layer of the tower, or one more than once");
    if (!t.idle() && t.training() && layers != std::int64_t{1} << tower.dims.num_hidden_layers)
        report_description("vision_feature_layer: which layers of this tower reach a loss is not described");
    read.states[read.count++] = last;
    return read;
}

/// States of some layers side by side, without those in front of patches where they are left out.
constexpr value side_by_side(const site& here, trace& t, const states_read& read, bool all) {
    value each[trace::most_joined];
    const std::int64_t layers = here.whole.own[feature_layers];
    for (std::int64_t i = 0; i < layers; ++i) {
        const value& states = read.states[i < read.count ? i : read.count - 1];
        each[i] = all ? states : t.slice(states, 1, states.dim(1) - 1);
    }
    return layers == 1 ? each[0] : t.cat(each, static_cast<int>(layers), -1);
}

/// The same, brought to the width of the text.
constexpr value project(const site& here, trace& t, const value& states) {
    const std::int64_t width = here.dims.hidden_size;
    const projector both{here.type("MultiModalProjector"),
                         states.dim(-1),
                         width,
                         width,
                         here.whole.own[projector_bias] != 0,
                         static_cast<activation>(here.whole.own[projector_act])};
    return t.call("multi_modal_projector", both, states);
}

/// Images in front of Pixtral, in whole patches (transformers/models/pixtral/processing_pixtral.py).
constexpr media_shapes show_any_shape(const model& m, const workload& load) {
    const vision_sizes& image = m.beside[0].dims.vision;
    if (m.own[all_states] == 0 && load.images > 0)
        report_description(
            "vision_feature_select_strategy leaves out a patch, which the features of images are not cut without");
    const std::int64_t longest = m.own[longest_side] != 0 ? m.own[longest_side] : image.image_height;
    const image_sides to = pixtral_detail::resized(sides_of_images(load, image), longest, image.patch_size);
    const std::int64_t tokens = (to.height / image.patch_size) * (to.width / image.patch_size);
    return {.image = {.tokens = tokens, .height = to.height, .width = to.width}};
}

/// Every image is made as large as the tower's own, but in front of Pixtral.
constexpr media_shapes show(const model& m, const workload& load) {
    if (sees_any_shape(m)) return show_any_shape(m, load);
    const vision_sizes& image = m.beside[0].dims.vision;
    const std::int64_t tokens = patches_of(image) + m.beside[0].kind->tokens_ahead - (m.own[all_states] != 0 ? 0 : 1);
    return {.image = {.tokens = tokens, .height = image.image_height, .width = image.image_width}};
}

constexpr void read_processor(config_view told, model& m) {
    expect_resized(told);
    if (!sees_any_shape(m)) return expect_picture(told, m.beside[0].dims.vision.image_height);
    if (const auto size = told.optional_object("size")) m.own[longest_side] = size->positive("longest_edge");
}

/// A tower, a projector, a text model; a text alone runs neither of the first two.
constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const bool any_shape = sees_any_shape(here.whole) && sees_images(t);
        const media_shape each = any_shape ? show(here.whole, t.load()).image : media_shape{};
        const recorder::workload_guard shown{t, pictures(t.load(), images_in(t), each.height, each.width)};
        const value some = side_by_side(here, t, look(here, t, "vision_tower"), here.whole.own[all_states] != 0);
        return t.masked_scatter(words, t.cat({project(here, t, some)}, 0));
    });
}

/// The same with a norm in front of the projections (`VipLlavaMultiModalProjector`).
struct normed_projector {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiModalProjector"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const activation act = static_cast<activation>(here.whole.own[projector_act]);
        const value normed = t.call("projector_layernorm", norm<norm_kind::layer>{x.dim(-1)}, x);
        return projector{type(), x.dim(-1), width, width, true, act}.describe(t, normed);
    }
};

constexpr value base_of_layers(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const recorder::workload_guard shown{t, pictures(t.load(), images_in(t), 0, 0)};
        const value some = side_by_side(here, t, look(here, t, "vision_tower"), false);
        return t.masked_scatter(words, t.call("multi_modal_projector", normed_projector{here}, some));
    });
}

/// Five layers, unless a key says which.
constexpr void read_layers(config_view config, model& m) {
    if (const auto name = config.optional_string("projector_hidden_act"))
        m.own[projector_act] = static_cast<std::int64_t>(activation_named(config, "projector_hidden_act", *name));
    const literal key = config.contains("vision_feature_layer") ? "vision_feature_layer" : "vision_feature_layers";
    m.own[feature_layers] = config.contains(key) ? count_layers(config, key) : 5;
    m.own[layers_read] = picked_layers(config, key, m.beside[0].dims.num_hidden_layers, {-2, -5, -8, -11, 6});
    if (m.own[feature_layers] > trace::most_joined) fail_value(config, key, "at most 64 layers");
}

/// Frames are images; all their states are read, the class token's among them.
constexpr media_shapes show_videos(const model& m, const workload& load) {
    media_shapes all = show(m, load);
    const std::int64_t tokens = patches_of(m.beside[0].dims.vision) + m.beside[0].kind->tokens_ahead;
    all.video = {.tokens = load.video_frames * tokens, .tiles = load.video_frames};
    return all;
}

/// Two towers by one configuration, for videos and for images, and one projector.
constexpr value base_video(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const workload load = t.load();
        const bool has_images = sees_images(t), has_videos = sees_videos(t);
        value x = words;
        {
            const recorder::idle_guard no_pixels{t, !has_images};
            const recorder::workload_guard shown{t, pictures(load, images_in(t), 0, 0)};
            const states_read read = look(here, t, "image_tower");
            x = t.masked_scatter(x, project(here, t, side_by_side(here, t, read, here.whole.own[all_states] != 0)));
        }
        const recorder::idle_guard no_frames{t, !has_videos};
        const std::int64_t frames = has_videos ? load.batch * load.videos * load.video_frames : load.batch;
        const recorder::workload_guard shown{t, pictures(load, frames, 0, 0)};
        const value states = side_by_side(here, t, look(here, t, "video_tower"), true);
        const recorder::called_again_guard twice{t};
        const value features = t.masked_scatter(x, project(here, t, states));
        return has_videos ? features : x;
    });
}

/// SigLIP at 384 pixels without its pool, where LLaVA-OneVision and Aya Vision name no tower.
constexpr architecture siglip_of(std::int64_t heads) {
    architecture a = siglip_vision_model;
    a.read = [](config_view config, sizes& s) {
        read_square_image(config, s, 384, 14);
        s.own[siglip_detail::uses_head] = 0;
        share_among_heads(config, s, {"num_attention_heads"});
    };
    a.defaults.hidden_size = 1152, a.defaults.intermediate_size = 4304, a.defaults.num_hidden_layers = 26;
    a.defaults.num_attention_heads = heads;
    return a;
}
inline constexpr architecture clip_of_video = [](architecture a) {
    a.read = [](config_view config, sizes& s) {
        read_square_image(config, s, 224, 14);
        share_among_heads(config, s, {"num_attention_heads"});
    };
    return a;
}(clip_of_llava);

}  // namespace llava_detail

// transformers/models/llava: CLIP in front of a text model
inline constexpr architecture llava = [](architecture a) {
    a.model_type = "llava", a.prefix = "Llava", a.base = llava_detail::base, a.read_whole = llava_detail::read;
    a.own = llava_detail::keys, a.media = llava_detail::show, a.read_processor = llava_detail::read_processor,
    a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &llama, .ties = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &clip_vision_model, .missing = &clip_of_llava};
    return a;
}(shared_composite);

// transformers/models/vipllava: several layers of the tower, a norm in front of the projections
inline constexpr architecture vipllava = [](architecture a) {
    a.model_type = "vipllava", a.prefix = "VipLlava", a.base = llava_detail::base_of_layers;
    a.read_whole = llava_detail::read_layers;
    return a;
}(llava);

// transformers/models/video_llava: a tower for videos and one for images
inline constexpr architecture video_llava = [](architecture a) {
    a.model_type = "video_llava", a.prefix = "VideoLlava", a.base = llava_detail::base_video;
    a.media = llava_detail::show_videos, a.reads.videos = true;
    a.text.ties = false, a.beside[0].missing = &llava_detail::clip_of_video;
    return a;
}(llava);

}  // namespace llmcost::arch
