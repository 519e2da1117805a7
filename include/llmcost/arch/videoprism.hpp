// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vivit.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tower.hpp>
#include <llmcost/walks/videos.hpp>

namespace llmcost::arch {

namespace videoprism_detail {

enum own : std::uint8_t { unit_length, caps, frames, spatial, temporal, auxiliary, tubelet };
inline constexpr own_key keys[]{{"apply_l2norm", 1, own_value::boolean},
                                {.value = own_value::computed},
                                {"num_frames", 16},
                                {"num_spatial_layers", 12, own_value::non_negative},
                                {"num_temporal_layers", 4, own_value::non_negative},
                                {"num_auxiliary_layers", 2, own_value::non_negative},
                                {.value = own_value::computed}};  // rows and columns of a patch behind one frame
inline constexpr own_key text_keys[]{keys[0], keys[1]};

[[nodiscard]] constexpr video_sizes own_video(const sizes& dims) noexcept {
    return {dims.own[frames], dims.vision.image_height, dims.vision.image_width};
}
constexpr media_shapes show_alone(const model& m, const workload& load) {
    return show_one_video(load, own_video(m.dims), false);
}
constexpr media_shapes show_beside_text(const model& m, const workload& load) {
    return show_one_video(load, own_video(m.beside[0].dims), false);
}

constexpr any_norm norm_of(const site& here) {
    return {norm_kind::layer_plus_one, here.dims.hidden_size, here.type("LayerNorm")};
}

struct attention {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
        const auto project = [&](literal name) {
            const value all = t.call(name, linear{width, width, here.dims.attention_bias}, x);
            return all.view({x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
        };
        const value q = project("q_proj"), k = project("k_proj"), v = project("v_proj");
        const value mixed =
            eager_attention(t, q, k, v, all_positions(x.dim(1)).where, {.soft_cap = here.dims.own[caps] != 0});
        const value joined = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), width}));
        return t.call("o_proj", linear{width, width, true}, joined);
    }
};

struct layer {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const any_norm norm = norm_of(here);
        const value h = t.call("attention", attention{here}, t.call("layernorm_before", norm, x));
        const value middle = t.add(dropout(t, "dropout", h), x);
        const mlp<mlp_kind::plain> feed{here.dims.hidden_size,
                                        here.dims.intermediate_size,
                                        here.dims.hidden_act,
                                        here.type("MLP"),
                                        true,
                                        {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        const value fed = t.call("mlp", feed, t.call("layernorm_after", norm, middle));
        return t.add(dropout(t, "dropout", fed), middle);
    }
};
constexpr value layers_of(const site& here, trace& t, literal name, std::int64_t n, value x) {
    for (repetition each = t.repeat(n, x); each.next();) x = t.call({name, each.index()}, layer{here}, x);
    return x;
}

/// Layers within frames, then within the places of all frames: (B, frames · places, width).
constexpr value base(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size, n = here.dims.own[frames];
    const std::size_t at = tubelet;
    const std::int64_t rows = here.dims.own[at + 1], columns = here.dims.own[at + 2];
    const std::int64_t places = here.dims.vision.image_height / rows * (here.dims.vision.image_width / columns);
    const module_info space{.name = "spatial_embeddings", .type = here.type("SpatialEmbeddings"), .what = role::embedding};
    const module_info patches{.name = "patch_embeddings", .type = here.type("TubeletEmbeddings")};
    const module_info time{.name = "temporal_embeddings", .type = here.type("TemporalEmbeddings"), .what = role::embedding};
    const value pixels = channels_first(pixels_of_videos(here, t, own_video(here.dims)));
    const std::int64_t batch = pixels.dim(0);
    t.enter(space);
    const value positions = t.param("position_embeddings", {1, places, width});
    t.enter(patches);
    value x = t.call("projection", tubelet_convolution{pixels.dim(1), width, 1, rows, columns}, pixels);
    x = x.view({batch, width, n, places}).permute({0, 2, 3, 1});
    x = t.leave(patches, t.reshape(x, {batch * n, places, width}));
    x = t.leave(space, dropout(t, "dropout", t.add(x, positions)));
    x = t.call("layernorm1", norm_of(here), layers_of(here, t, "spatial_layers", here.dims.own[spatial], x));
    t.enter(time);
    const value times = t.param("position_embeddings", {1, n, width});
    x = t.reshape(x.view({batch, n, places, width}).transpose(2, 1), {batch * places, n, width});
    x = t.leave(time, dropout(t, "dropout", t.add(x, times)));
    x = t.call("layernorm2", norm_of(here), layers_of(here, t, "temporal_layers", here.dims.own[temporal], x));
    return t.contiguous(x.view({batch, places, n, width}).transpose(1, 2)).view({batch, n * places, width});
}

/// One learned query, scaled by dimensions, that looks at all places through wide heads.
constexpr value pool(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, wide = here.dims.intermediate_size;
    const std::int64_t heads = here.dims.num_attention_heads, d = wide / heads, batch = x.dim(0);
    const module_info head{.name = "head", .type = here.type("MultiheadAttentionPoolingHead"), .what = role::attn};
    t.enter(head);
    const value scale = t.param("per_dim_scale", {d});
    const value query = t.param("pooling_attention_query", {1, 1, width}).expand({batch, 1, width});
    const auto project = [&](literal name, const value& h) {
        const value all = t.call(name, linear{width, heads * d, here.dims.attention_bias}, h);
        return all.view({batch, h.dim(1), heads, d}).transpose(1, 2);
    };
    const value unscaled = project("q_proj", query);
    const value q = t.mul(t.mul(unscaled), t.softplus(scale));
    const value k = project("k_proj", x), v = project("v_proj", x);
    const value mixed = eager_attention(t, q, k, v, {.sequence = 1, .causal = false}, {});
    const value joined = t.contiguous(t.reshape(mixed, {batch, 1, heads * d}));
    const value pooled = t.leave(head, t.call("o_proj", linear{heads * d, width, true}, joined));
    return t.call("head_layernorm", norm_of(here), pooled);
}
constexpr value classify(const site& here, trace& t, const value& x) {
    return classify_linear(here, t, pool(here, t, x));
}

/// Rows over their length (`l2norm`).
constexpr value normalize(trace& t, const value& x) {
    return t.mul(x, t.rsqrt(t.add(t.sum(t.mul(x, x), -1, true))));
}

/// Words with positions of fixed waves, and a class token behind them.
constexpr value embed_text(const site& here, trace& t) {
    const std::int64_t batch = t.load().batch, sequence = t.load().sequence, width = here.dims.hidden_size;
    if (sequence > here.dims.max_position_embeddings)
        report_description("the text is longer than the positions that this model has");
    const module_info embeddings{.name = "embeddings", .type = here.type("TextEmbeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value token = t.param("cls_emb", {1, 1, width});
    const value words = t.mul(t.call("token_embedding", embedding{here.dims.vocab_size, width}, extents{batch, sequence}));
    const value positions = t.gather(trace::buffer({1, width}), {1, sequence, width});
    const value x = t.add(words, t.to(positions, words.type));
    return t.leave(embeddings, t.cat({x, t.mul(token).expand({batch, 1, width})}, 1));
}
constexpr value text_base(const site& here, trace& t) {
    const value x = layers_of(here, t, "layers", here.dims.num_hidden_layers, embed_text(here, t));
    const value normed = t.call("layernorm", norm_of(here), x);
    const recorder::off_loss_guard unread{t, here.whole.kind->text.otherwise == nullptr};
    const value last = t.select(normed, 1);
    const value pooled = here.dims.own[unit_length] != 0 ? normalize(t, last) : last;
    return here.whole.kind->text.otherwise == nullptr ? normed : pooled;
}

/// Videos through further layers and a pooling head.
constexpr value video_base(const site& here, trace& t) {
    const module_info inner{.name = "vision_model", .type = here.type("VisionModel"), .what = role::vision};
    const value x = describe_within(inner, base, here, t);
    const value pooled = pool(here, t, layers_of(here, t, "auxiliary_layers", here.dims.own[auxiliary], x));
    return here.dims.own[unit_length] != 0 ? normalize(t, pooled) : pooled;
}

constexpr void read_caps(config_view config, sizes& s) {
    const auto cap = config.find("attn_logit_softcapping");
    s.own[caps] = !cap || !cap->is_null();
    if (cap && !cap->is_null()) (void)cap->as_real();
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    s.attention_bias = config.boolean("qkv_bias", true);
}
constexpr void read_vision(config_view config, sizes& s) {
    s.vision = read_images(config, 288);
    read_tubelet(config, s, {1, 18, 18}, tubelet, s.own[frames]);
    if (s.own[tubelet] != 1) fail_unsupported(config, "tubelet_size", "the reference keeps every frame: 1 in front");
    read_caps(config, s);
}

}  // namespace videoprism_detail

/// Videos within frames and over time, bare or under a classifier behind a pooling head.
///
/// Source: transformers/models/videoprism/modeling_videoprism.py.
constexpr value describe_videoprism_vision(const site& here, trace& t) {
    return describe_video_model(here, t, videoprism_detail::base, videoprism_detail::classify);
}

/// How alike videos and texts are: shares of every text for a video, and of every video for a text.
constexpr value describe_videoprism(const site& here, trace& t) {
    using namespace videoprism_detail;
    const site video = here.component(0), text = here.text();
    const module_info whole{.type = here.type("Model")};
    const module_info seen{.name = "video_model", .type = video.type("VideoModel"), .what = role::vision};
    const module_info read{.name = "text_model", .type = text.type("TextModel")};
    t.enter(whole);
    const value pictures = t.reshape(describe_within(seen, video_base, video, t), {-1, video.dims.hidden_size});
    const value words = t.reshape(describe_within(read, text_base, text, t), {-1, text.dims.hidden_size});
    const value alike = t.exp(t.matmul(pictures, words.transpose(0, 1))), turned = alike.transpose(0, 1);
    const value of_videos = t.div(alike, t.sum(alike, 0, true));
    const recorder::off_loss_guard unread{t};
    (void)t.div(turned, t.sum(turned, 0, true));
    return t.leave(whole, of_videos);
}

// transformers/models/videoprism: configuration_videoprism.py, modeling_videoprism.py
inline constexpr architecture videoprism_vision_model{
    .model_type = "videoprism_vision_model",
    .prefix = "VideoPrism",
    .describe = describe_videoprism_vision,
    .base = videoprism_detail::base,
    .read = videoprism_detail::read_vision,
    .own = videoprism_detail::keys,
    .media = videoprism_detail::show_alone,
    .reads = {.text = false, .videos = true},
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::video_classification},
    .names = {.base = "vision_model", .model_type = "VisionModel"},
    .keys = {{"num_hidden_layers", "", key_rule::absent}},
    .defaults = video_defaults(activation::gelu_python),
};

// the text model beside it
inline constexpr architecture videoprism_text_model{
    .model_type = "videoprism_text_model",
    .prefix = "VideoPrism",
    .describe = describe_bare,
    .base = videoprism_detail::text_base,
    .read = videoprism_detail::read_caps,
    .own = videoprism_detail::text_keys,
    .rotated = rotation::none,
    .heads = {head_kind::none},
    .names = {.model_type = "TextModel"},
    .defaults =
        [] {
            sizes s;
            s.vocab_size = 32000, s.hidden_size = 768, s.intermediate_size = 3072, s.max_position_embeddings = 64;
            s.num_hidden_layers = s.num_attention_heads = 12;
            s.hidden_act = activation::relu, s.head = head_kind::none;
            return s;
        }(),
};

// both
inline constexpr architecture videoprism = [](architecture a) {
    a.model_type = "videoprism", a.prefix = "VideoPrismClip", a.describe = describe_videoprism;
    a.media = videoprism_detail::show_beside_text, a.reads.videos = true, a.heads = {head_kind::none};
    a.text = {.key = "text_config", .otherwise = &videoprism_text_model};
    a.beside[0] = {.key = "vision_config", .otherwise = &videoprism_vision_model};
    a.defaults.head = head_kind::none;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
