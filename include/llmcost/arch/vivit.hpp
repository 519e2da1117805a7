// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/videos.hpp>
#include <llmcost/forward/vision_transformer.hpp>

namespace llmcost::arch {

namespace vivit_detail {

enum family_config_index : std::uint8_t { pooler_act, frames, tubelet };

inline constexpr family_key family_keys[]{
    {.default_value = static_cast<std::int64_t>(activation::tanh), .type = family_key_type::computed},
    {"num_frames", 32},
    {.type = family_key_type::computed}  // frames, rows, columns
};

[[nodiscard]] constexpr video_sizes make_video_sizes(const model_config& config) noexcept {
    return {config.family[frames], config.vision.image_height, config.vision.image_width};
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    return validate_single_video(load, make_video_sizes(m.config), false);
}

/// Embeds tubelets after a class token, with learned positions.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size;
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const module_info patches{.name = "patch_embeddings", .class_of_module = ctx.class_of("TubeletEmbeddings")};
    const std::size_t offset = tubelet;
    const family_config& family = ctx.config.family;
    const tubelet_convolution tubelets{ctx.config.vision.num_channels, width, family[offset], family[offset + 1],
                                       family[offset + 2]};
    const video_sizes video = make_video_sizes(ctx.config);
    const std::int64_t places =
        video.frames / tubelets.frames * (video.height / tubelets.rows) * (video.width / tubelets.columns);
    const tensor pixels = channels_first(pixels_of_videos(ctx, t, video));
    t.enter(embeddings);
    const tensor token = t.param("cls_token", {1, 1, width});
    t.enter(patches);
    const tensor tokens = t.leave(patches, tubelets_as_tokens(t.call("projection", tubelets, pixels)));
    const tensor positions = t.param("position_embeddings", {1, places + 1, width});
    const tensor x = t.add(t.cat({token.expand({tokens.dim(0), 1, width}), tokens}, 1), positions);
    return t.leave(embeddings, dropout(t, "dropout", x));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    tensor x = embed(ctx, t);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, vit_layer{ctx.config, ctx.spec.class_prefix}, x);
    x = t.call("layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
    if (ctx.config.head != head_kind::none) return x;
    const recorder::detach_guard unread{t};
    const module_info pooler{.name = "pooler", .class_of_module = ctx.class_of("Pooler")};
    t.enter(pooler);
    const tensor first =
        t.call("dense", linear{ctx.config.hidden_size, ctx.config.embedding_size, true}, t.select(x, 1));
    t.leave(pooler,
            t.call("activation", activation_module{static_cast<activation>(ctx.config.family[pooler_act])}, first));
    return x;
}

constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    return classify_linear(ctx, t, t.select(x, 1));
}

}  // namespace vivit_detail

/// A vision transformer over tubelets of videos, with a class token.
///
/// Source: transformers/models/vivit/modeling_vivit.py.
constexpr tensor forward_vivit(const layer_context& ctx, trace& t) {
    return forward_video_model(ctx, t, vivit_detail::base, vivit_detail::classify);
}

/// Frames, rows and columns of a tubelet.
constexpr void parse_tubelet(config_view json, model_config& config, std::initializer_list<std::int64_t> defaults,
                             std::size_t offset, std::int64_t frames) {
    parse_stages_of(json, "tubelet_size", defaults, config.family, offset, 3, 3);
    if (config.family[offset] > frames || config.family[offset + 1] > config.vision.image_height ||
        config.family[offset + 2] > config.vision.image_width)
        throw_invalid_value(json, "tubelet_size", "at most the video's frames and sides");
}

constexpr void parse_vivit(config_view json, model_config& config) {
    config.vision = parse_image_size(json, 224);
    parse_tubelet(json, config, {2, 16, 16}, vivit_detail::tubelet, config.family[vivit_detail::frames]);
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    config.attention_bias = json.boolean("qkv_bias", true);
    config.embedding_size = json.positive("pooler_output_size", config.hidden_size);
    if (const auto name = json.optional_string("pooler_act"))
        config.family[vivit_detail::pooler_act] =
            static_cast<std::int64_t>(activation_named(json, "pooler_act", *name));
}

// transformers/models/vivit: configuration_vivit.py, modeling_vivit.py
inline constexpr model_spec vivit = [](model_spec spec) {
    spec.model_type = "vivit";
    spec.class_prefix = "Vivit";
    spec.forward = forward_vivit;
    spec.parse_config = parse_vivit;
    spec.family_keys = vivit_detail::family_keys;
    spec.compute_media_shapes = vivit_detail::compute_media_shapes;
    spec.names.base_model = "vivit";
    return spec;
}(video_classifier(activation::gelu_fast));

}  // namespace llmcost::arch
