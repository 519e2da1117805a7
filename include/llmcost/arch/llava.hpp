// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/clip.hpp>
#include <llmcost/arch/llama.hpp>
#include <llmcost/arch/pixtral.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/multimodal.hpp>

namespace llmcost::arch {

namespace llava_detail {

enum family_config_index : std::uint8_t {
    projector_bias,
    projector_act,
    feature_layers,
    all_states,
    layers_read,
    longest_side
};
inline constexpr family_key family_keys[]{
    {"multimodal_projector_bias", 1, family_key_type::boolean},
    {.default_value = static_cast<std::int64_t>(activation::gelu), .type = family_key_type::computed},
    {.default_value = 1, .type = family_key_type::computed},  // layers of the tower whose states are read side by side
    {.type = family_key_type::computed},                      // of a tower: its class token's among them
    {.type = family_key_type::computed},                      // a bit for each number of layers before them
    {.type = family_key_type::computed},  // of an image before Pixtral; 0: as long as the tower's own
};

constexpr void parse_config(config_view json, model& m) {
    if (const auto name = json.optional_string("projector_hidden_act"))
        m.family[projector_act] = static_cast<std::int64_t>(activation_named(json, "projector_hidden_act", *name));
    m.family[feature_layers] = count_layers(json, "vision_feature_layer");
    m.family[layers_read] =
        parse_selected_layers(json, "vision_feature_layer", m.components[0].config.num_hidden_layers, {-2});
    const string_ref strategy = json.string("vision_feature_select_strategy", "default");
    if (strategy != "default" && strategy != "full")
        throw_invalid_value(json, "vision_feature_select_strategy", "default or full");
    m.family[all_states] = strategy == "full" ? 1 : 0;
}

/// Whether what sees is Pixtral, which takes images of any shape as its own processor hands them on.
[[nodiscard]] constexpr bool accepts_any_resolution(const model& m) noexcept {
    return m.components[0].spec == &pixtral;
}

/// Runs the vision encoder with this name and returns the hidden states of the selected layers. An encoder without
/// per-layer outputs returns the last states.
constexpr hidden_state_outputs encode_images(const layer_context& ctx, trace& t, literal name) {
    const std::int64_t layers = ctx.model.family[layers_read];
    hidden_state_outputs read{.layer_mask = static_cast<std::uint64_t>(layers)};
    attention_inputs tower_inputs;
    tower_inputs.hidden_states = &read;
    layer_context tower = ctx.component(0);
    tower.inputs = &tower_inputs;
    const module_info m{
        .name = name, .class_of_module = tower.class_of(tower.spec.names.model_class), .module_role = role::vision};
    const tensor last = forward_in_module(m, tower.spec.base_model, tower, t);
    if (read.count > 0) return read;
    if (!t.is_not_executed() && layers == 0)
        throw_description_error("vision_feature_layer: not a layer of the vision encoder, or a layer listed twice");
    if (!t.is_not_executed() && t.is_training() && layers != std::int64_t{1} << tower.config.num_hidden_layers)
        throw_description_error("vision_feature_layer: training is not supported with this vision encoder");
    read.states[read.count++] = last;
    return read;
}

/// States of some layers side by side, without those before patches where they are left out.
constexpr tensor side_by_side(const layer_context& ctx, trace& t, const hidden_state_outputs& read, bool all) {
    tensor layer_states[trace::max_cat_inputs];
    const std::int64_t layers = ctx.model.family[feature_layers];
    for (std::int64_t i = 0; i < layers; ++i) {
        const tensor& states = read.states[i < read.count ? i : read.count - 1];
        layer_states[i] = all ? states : t.slice(states, 1, states.dim(1) - 1);
    }
    return layers == 1 ? layer_states[0] : t.cat(layer_states, static_cast<int>(layers), -1);
}

/// Projects vision states to the hidden size of the text model.
constexpr tensor project(const layer_context& ctx, trace& t, const tensor& states) {
    const std::int64_t width = ctx.config.hidden_size;
    const projector mlp_projector{ctx.class_of("MultiModalProjector"),
                                  states.dim(-1),
                                  width,
                                  width,
                                  ctx.model.family[projector_bias] != 0,
                                  static_cast<activation>(ctx.model.family[projector_act])};
    return t.call("multi_modal_projector", mlp_projector, states);
}

/// Returns the shape of an image for Pixtral, in complete patches.
///
/// Source: transformers/models/pixtral/processing_pixtral.py.
constexpr media_shapes show_any_shape(const model& m, const workload& load) {
    const vision_config& image = m.components[0].config.vision;
    if (m.family[all_states] == 0 && load.images > 0)
        throw_description_error(
            "vision_feature_select_strategy removes a patch; image features cannot be split without it");
    const std::int64_t longest = m.family[longest_side] != 0 ? m.family[longest_side] : image.image_height;
    const image_size to = pixtral_detail::resized(image_size_of(load, image), longest, image.patch_size);
    const std::int64_t tokens = (to.height / image.patch_size) * (to.width / image.patch_size);
    return {.image = {.num_tokens = tokens, .height = to.height, .width = to.width}};
}

/// Every image is made as large as the tower's own, but before Pixtral.
constexpr media_shapes show(const model& m, const workload& load) {
    if (accepts_any_resolution(m)) return show_any_shape(m, load);
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t tokens =
        patches_of(image) + m.components[0].spec->num_prefix_tokens - (m.family[all_states] != 0 ? 0 : 1);
    return {.image = {.num_tokens = tokens, .height = image.image_height, .width = image.image_width}};
}

constexpr void parse_processor_config(config_view json, model& m) {
    expect_resized(json);
    if (!accepts_any_resolution(m)) return expect_picture(json, m.components[0].config.vision.image_height);
    if (const auto size = json.optional_object("size")) m.family[longest_side] = size->positive("longest_edge");
}

/// A tower, a projector, a text model; a text alone runs neither of the first two.
constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const bool any_shape = accepts_any_resolution(ctx.model) && has_images(t);
        const media_shape shape = any_shape ? show(ctx.model, t.load()).image : media_shape{};
        const recorder::workload_guard encoder_workload{
            t, image_workload(t.load(), images_in(t), shape.height, shape.width)};
        const tensor selected_states =
            side_by_side(ctx, t, encode_images(ctx, t, "vision_tower"), ctx.model.family[all_states] != 0);
        return t.masked_scatter(token_embeddings, t.cat({project(ctx, t, selected_states)}, 0));
    });
}

/// A norm followed by two projections with an activation between them (`VipLlavaMultiModalProjector`).
struct normed_projector {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultiModalProjector"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const activation act = static_cast<activation>(ctx.model.family[projector_act]);
        const tensor normed = t.call("projector_layernorm", norm_module{norm_kind::layer, x.dim(-1)}, x);
        return projector{type_name(), x.dim(-1), width, width, true, act}.forward(t, normed);
    }
};

constexpr tensor base_of_layers(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t), 0, 0)};
        const tensor selected_states = side_by_side(ctx, t, encode_images(ctx, t, "vision_tower"), false);
        return t.masked_scatter(token_embeddings,
                                t.call("multi_modal_projector", normed_projector{ctx}, selected_states));
    });
}

/// Parses the vision layers to read; the default is a list of five layers.
constexpr void parse_layers(config_view json, model& m) {
    if (const auto name = json.optional_string("projector_hidden_act"))
        m.family[projector_act] = static_cast<std::int64_t>(activation_named(json, "projector_hidden_act", *name));
    const literal key = json.contains("vision_feature_layer") ? "vision_feature_layer" : "vision_feature_layers";
    m.family[feature_layers] = json.contains(key) ? count_layers(json, key) : 5;
    m.family[layers_read] =
        parse_selected_layers(json, key, m.components[0].config.num_hidden_layers, {-2, -5, -8, -11, 6});
    if (m.family[feature_layers] > trace::max_cat_inputs) throw_invalid_value(json, key, "at most 64 layers");
}

/// Frames are images; all their states are read, the class token's among them.
constexpr media_shapes show_videos(const model& m, const workload& load) {
    media_shapes all = show(m, load);
    const std::int64_t tokens = patches_of(m.components[0].config.vision) + m.components[0].spec->num_prefix_tokens;
    all.video = {.num_tokens = load.video_frames * tokens, .num_tiles = load.video_frames};
    return all;
}

/// Two towers by one configuration, for videos and for images, and one projector.
constexpr tensor base_video(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const workload load = t.load();
        const bool with_images = has_images(t), with_videos = has_videos(t);
        tensor x = token_embeddings;
        {
            const recorder::not_executed_guard no_pixels{t, !with_images};
            const recorder::workload_guard encoder_workload{t, image_workload(load, images_in(t), 0, 0)};
            const hidden_state_outputs read = encode_images(ctx, t, "image_tower");
            x = t.masked_scatter(x, project(ctx, t, side_by_side(ctx, t, read, ctx.model.family[all_states] != 0)));
        }
        const recorder::not_executed_guard no_frames{t, !with_videos};
        const std::int64_t frames = with_videos ? load.batch * load.videos * load.video_frames : load.batch;
        const recorder::workload_guard encoder_workload{t, image_workload(load, frames, 0, 0)};
        const tensor states = side_by_side(ctx, t, encode_images(ctx, t, "video_tower"), true);
        const recorder::shared_parameters_guard twice{t};
        const tensor features = t.masked_scatter(x, project(ctx, t, states));
        return with_videos ? features : x;
    });
}

/// SigLIP at 384 pixels without its pool, where LLaVA-OneVision and Aya Vision name no tower.
constexpr model_spec siglip_of(std::int64_t heads) {
    model_spec spec = siglip_vision_model;
    spec.parse_config = [](config_view json, model_config& config) {
        parse_square_image(json, config, 384, 14);
        config.family[siglip_detail::uses_head] = 0;
        divide_by_heads(json, config, {"num_attention_heads"});
    };
    spec.defaults.hidden_size = 1152;
    spec.defaults.intermediate_size = 4304;
    spec.defaults.num_hidden_layers = 26;
    spec.defaults.num_attention_heads = heads;
    return spec;
}
inline constexpr submodel_spec clip_of_video = [](model_spec spec) {
    spec.parse_config = [](config_view json, model_config& config) {
        parse_square_image(json, config, 224, 14);
        divide_by_heads(json, config, {"num_attention_heads"});
    };
    return spec;
}(clip_of_llava);

}  // namespace llava_detail

// transformers/models/llava: CLIP before a text model
inline constexpr model_spec llava = [](model_spec spec) {
    spec.model_type = "llava";
    spec.class_prefix = "Llava";
    spec.base_model = llava_detail::base;
    spec.parse_composite_config = llava_detail::parse_config;
    spec.family_keys = llava_detail::family_keys;
    spec.compute_media_shapes = llava_detail::show;
    spec.parse_image_processor = llava_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &llama, .ties_embeddings = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &clip_vision_model, .spec_if_absent = &clip_of_llava};
    return spec;
}(shared_composite);

// transformers/models/vipllava: several layers of the tower, a norm before the projections
inline constexpr model_spec vipllava = [](model_spec spec) {
    spec.model_type = "vipllava";
    spec.class_prefix = "VipLlava";
    spec.base_model = llava_detail::base_of_layers;
    spec.parse_composite_config = llava_detail::parse_layers;
    return spec;
}(llava);

// transformers/models/video_llava: a tower for videos and one for images
inline constexpr model_spec video_llava = [](model_spec spec) {
    spec.model_type = "video_llava";
    spec.class_prefix = "VideoLlava";
    spec.base_model = llava_detail::base_video;
    spec.compute_media_shapes = llava_detail::show_videos;
    spec.modalities.has_videos = true;
    spec.text_model.ties_embeddings = false;
    spec.components[0].spec_if_absent = &llava_detail::clip_of_video;
    return spec;
}(llava);

}  // namespace llmcost::arch
