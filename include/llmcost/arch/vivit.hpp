// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/reading/images.hpp>
#include <llmcost/walks/videos.hpp>

namespace llmcost::arch {

namespace vivit_detail {

enum own : std::uint8_t { pooler_act, frames, tubelet };
inline constexpr own_key keys[]{
    {.otherwise = static_cast<std::int64_t>(activation::tanh), .value = own_value::computed},
    {"num_frames", 32},
    {.value = own_value::computed}  // frames, rows, columns
};

[[nodiscard]] constexpr video_sizes own_video(const sizes& dims) noexcept {
    return {dims.own[frames], dims.vision.image_height, dims.vision.image_width};
}
constexpr media_shapes show(const model& m, const workload& load) { return show_one_video(load, own_video(m.dims), false); }

/// Tubelets as tokens behind a class token, with learned positions.
constexpr value embed(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size;
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    const module_info patches{.name = "patch_embeddings", .type = here.type("TubeletEmbeddings")};
    const std::size_t at = tubelet;
    const own_sizes& own = here.dims.own;
    const tubelet_convolution tubelets{here.dims.vision.num_channels, width, own[at], own[at + 1], own[at + 2]};
    const video_sizes video = own_video(here.dims);
    const std::int64_t places =
        video.frames / tubelets.frames * (video.height / tubelets.rows) * (video.width / tubelets.columns);
    const value pixels = channels_first(pixels_of_videos(here, t, video));
    t.enter(embeddings);
    const value token = t.param("cls_token", {1, 1, width});
    t.enter(patches);
    const value tokens = t.leave(patches, tubelets_as_tokens(t.call("projection", tubelets, pixels)));
    const value positions = t.param("position_embeddings", {1, places + 1, width});
    const value x = t.add(t.cat({token.expand({tokens.dim(0), 1, width}), tokens}, 1), positions);
    return t.leave(embeddings, dropout(t, "dropout", x));
}

constexpr value base(const site& here, trace& t) {
    value x = embed(here, t);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, vit_layer{here.dims, here.row.prefix}, x);
    x = t.call("layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
    if (here.dims.head != head_kind::none) return x;
    const recorder::off_loss_guard unread{t};
    const module_info pooler{.name = "pooler", .type = here.type("Pooler")};
    t.enter(pooler);
    const value first = t.call("dense", linear{here.dims.hidden_size, here.dims.embedding_size, true}, t.select(x, 1));
    t.leave(pooler, t.call("activation", activation_module{static_cast<activation>(here.dims.own[pooler_act])}, first));
    return x;
}
constexpr value classify(const site& here, trace& t, const value& x) { return classify_linear(here, t, t.select(x, 1)); }

}  // namespace vivit_detail

/// A vision transformer over tubelets of videos, with a class token.
///
/// Source: transformers/models/vivit/modeling_vivit.py.
constexpr value describe_vivit(const site& here, trace& t) {
    return describe_video_model(here, t, vivit_detail::base, vivit_detail::classify);
}

/// Frames, rows and columns of a tubelet.
constexpr void read_tubelet(config_view config, sizes& s, std::initializer_list<std::int64_t> otherwise, std::size_t at,
                            std::int64_t frames) {
    read_stages_of(config, "tubelet_size", otherwise, s.own, at, 3, 3);
    if (s.own[at] > frames || s.own[at + 1] > s.vision.image_height || s.own[at + 2] > s.vision.image_width)
        fail_value(config, "tubelet_size", "at most the video's frames and sides");
}

constexpr void read_vivit(config_view config, sizes& s) {
    s.vision = read_images(config, 224);
    read_tubelet(config, s, {2, 16, 16}, vivit_detail::tubelet, s.own[vivit_detail::frames]);
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    s.attention_bias = config.boolean("qkv_bias", true);
    s.embedding_size = config.positive("pooler_output_size", s.hidden_size);
    if (const auto name = config.optional_string("pooler_act"))
        s.own[vivit_detail::pooler_act] = static_cast<std::int64_t>(activation_named(config, "pooler_act", *name));
}

// transformers/models/vivit: configuration_vivit.py, modeling_vivit.py
inline constexpr architecture vivit{
    .model_type = "vivit",
    .prefix = "Vivit",
    .describe = describe_vivit,
    .read = read_vivit,
    .own = vivit_detail::keys,
    .drops = vit_detail::dropout_rates,
    .media = vivit_detail::show,
    .reads = {.text = false, .videos = true},
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::video_classification},
    .names = {.base = "vivit"},
    .defaults = video_defaults(activation::gelu_fast),
};

}  // namespace llmcost::arch
