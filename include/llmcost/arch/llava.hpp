// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/clip.hpp>
#include <llmcost/arch/llama.hpp>
#include <llmcost/arch/qwen2.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/walks/media.hpp>

namespace llmcost::arch {

namespace llava_detail {

enum own : std::uint8_t { projector_bias, projector_act, feature_layers, pool_mode, pool_stride, pool_channels, all_states };
inline constexpr own_key keys[]{
    {"multimodal_projector_bias", 1, own_value::boolean},
    {.otherwise = static_cast<std::int64_t>(activation::gelu), .value = own_value::computed},
    {.otherwise = 1, .value = own_value::computed},  // layers of the tower whose states are read side by side
    {.value = own_value::computed},
    {"spatial_pool_stride", 2},
    {.value = own_value::computed},
    {.value = own_value::computed},  // of a tower: its class token's among them
};

constexpr void read(config_view config, model& m) {
    if (const auto name = config.optional_string("projector_hidden_act"))
        m.own[projector_act] = static_cast<std::int64_t>(activation_named(config, "projector_hidden_act", *name));
    m.own[feature_layers] = count_layers(config, "vision_feature_layer");
    const string_ref strategy = config.string("vision_feature_select_strategy", "default");
    if (strategy != "default" && strategy != "full") fail_value(config, "vision_feature_select_strategy", "default or full");
    m.own[all_states] = strategy == "full" ? 1 : 0;
}

/// The tower's states of some layers side by side, brought to the width of the text.
constexpr value project(const site& here, trace& t, const value& states) {
    const std::int64_t layers = here.whole.own[feature_layers], width = here.dims.hidden_size;
    const projector both{here.type("MultiModalProjector"),
                         states.dim(-1) * layers,
                         width,
                         width,
                         here.whole.own[projector_bias] != 0,
                         static_cast<activation>(here.whole.own[projector_act])};
    const value some = here.whole.own[all_states] != 0 ? states : t.slice(states, 1, states.dim(1) - 1);
    if (layers == 1) return t.call("multi_modal_projector", both, some);
    value each[trace::most_joined];
    for (std::int64_t i = 0; i < layers; ++i) each[i] = some;
    return t.call("multi_modal_projector", both, t.cat(each, static_cast<int>(layers), -1));
}

/// Every image is made as large as the tower's own.
constexpr media_shapes show(const model& m, const workload&) {
    const vision_sizes& image = m.beside[0].dims.vision;
    const std::int64_t tokens = patches_of(image) + m.beside[0].kind->tokens_ahead - (m.own[all_states] != 0 ? 0 : 1);
    return {.image = {.tokens = tokens, .height = image.image_height, .width = image.image_width}};
}

/// A tower, a projector, a text model; a text alone runs neither of the first two.
constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const workload& load = t.load();
        const recorder::workload_guard shown{t, pictures(load, images_in(t), 0, 0)};
        const value states = describe_tower(here, t, 0, "vision_tower", role::vision);
        const value features = t.cat({project(here, t, states)}, 0);
        return t.masked_scatter(words, features);
    });
}

/// The same with a token that ends a row of patches.
constexpr value base_with_newline(const site& here, trace& t) {
    {
        const recorder::idle_guard no_pixels{t};
        (void)t.param("image_newline", {here.dims.hidden_size});
    }
    return base(here, t);
}

// how frames of a video are made smaller
enum pooling : std::uint8_t { average, maximum, convolved };
struct pool_module {
    pooling mode;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", mode == average ? "AvgPool2d" : "MaxPool2d"}; }
    constexpr value describe(trace&, const value& x) const { return x; }
};

constexpr value base_next_video(const site& here, trace& t) {
    const value x = base_with_newline(here, t);
    const recorder::idle_guard no_pixels{t};
    const module_info pooler{.name = "vision_resampler", .type = here.type("Pooler")};
    const auto mode = static_cast<pooling>(here.whole.own[pool_mode]);
    const vision_sizes& image = here.whole.beside[0].dims.vision;
    const std::int64_t side = image.image_height / image.patch_size, width = here.whole.beside[0].dims.hidden_size;
    const value frames = t.constant({t.load().batch, width, side, side});
    const std::int64_t stride = here.whole.own[pool_stride];
    t.enter(pooler);
    if (mode == convolved)
        (void)t.call("pool", convolution_2d{width, here.whole.own[pool_channels], stride, stride}, frames);
    else
        (void)t.call("pool", pool_module{mode}, frames);
    t.leave(pooler);
    return x;
}

constexpr void read_next_video(config_view config, model& m) {
    read(config, m);
    const string_ref mode = config.string("spatial_pool_mode", "average");
    if (mode == "average")
        m.own[pool_mode] = average;
    else if (mode == "max")
        m.own[pool_mode] = maximum;
    else if (mode == "conv")
        m.own[pool_mode] = convolved;
    else
        fail_value(config, "spatial_pool_mode", "average, max or conv");
    const vision_sizes& image = m.beside[0].dims.vision;
    if (m.own[pool_mode] == convolved && m.own[pool_stride] > image.image_height / image.patch_size)
        fail_value(config, "spatial_pool_stride", "at most the patches along a side");
    m.own[pool_channels] = config.positive("spatial_pool_out_channels", m.beside[0].dims.hidden_size);
}

/// Two towers by one configuration, for videos and for images.
constexpr value base_video(const site& here, trace& t) {
    {
        const recorder::idle_guard no_pixels{t};
        (void)describe_tower(here, t, 0, "video_tower", role::vision);
        (void)project(here, t, describe_tower(here, t, 0, "image_tower", role::vision));
    }
    return describe_text(here, t, "language_model");
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
inline constexpr architecture siglip_of_onevision = siglip_of(16);

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
    a.own = llava_detail::keys, a.media = llava_detail::show, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &llama, .ties = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &clip_vision_model, .missing = &clip_of_llava};
    return a;
}(shared_composite);

// transformers/models/llava_next_video: a token that ends rows, frames made smaller
inline constexpr architecture llava_next_video = [](architecture a) {
    a.model_type = "llava_next_video", a.prefix = "LlavaNextVideo", a.base = llava_detail::base_next_video;
    a.read_whole = llava_detail::read_next_video;
    return a;
}(llava);

// transformers/models/llava_onevision: SigLIP and Qwen2, a token that ends rows
inline constexpr architecture llava_onevision = [](architecture a) {
    a.model_type = "llava_onevision", a.prefix = "LlavaOnevision", a.base = llava_detail::base_with_newline;
    a.text.otherwise = &qwen2;
    a.beside[0].otherwise = &siglip_vision_model, a.beside[0].missing = &llava_detail::siglip_of_onevision;
    return a;
}(llava);

// transformers/models/video_llava: a tower for videos and one for images
inline constexpr architecture video_llava = [](architecture a) {
    a.model_type = "video_llava", a.prefix = "VideoLlava", a.base = llava_detail::base_video;
    a.text.ties = false, a.beside[0].missing = &llava_detail::clip_of_video;
    return a;
}(llava);

}  // namespace llmcost::arch
