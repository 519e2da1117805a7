// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vivit.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/videos.hpp>
#include <llmcost/forward/vision_encoder.hpp>
#include <llmcost/layers/attention.hpp>

namespace llmcost::arch {

namespace videoprism_detail {

enum family_config_index : std::uint8_t { unit_length, caps, frames, spatial, temporal, auxiliary, tubelet };
inline constexpr family_key family_keys[]{
    {"apply_l2norm", 1, family_key_type::boolean},
    {.type = family_key_type::computed},
    {"num_frames", 16},
    {"num_spatial_layers", 12, family_key_type::non_negative},
    {"num_temporal_layers", 4, family_key_type::non_negative},
    {"num_auxiliary_layers", 2, family_key_type::non_negative},
    {.type = family_key_type::computed}};  // rows and columns of a patch, after one frame
inline constexpr family_key text_keys[]{family_keys[0], family_keys[1]};

[[nodiscard]] constexpr video_sizes make_video_sizes(const model_config& config) noexcept {
    return {config.family[frames], config.vision.image_height, config.vision.image_width};
}
constexpr media_shapes compute_shapes_without_text(const model& m, const workload& load) {
    return validate_single_video(load, make_video_sizes(m.config), false);
}
constexpr media_shapes compute_shapes_with_text(const model& m, const workload& load) {
    return validate_single_video(load, make_video_sizes(m.components[0].config), false);
}

constexpr norm_module norm_of(const layer_context& ctx) {
    return {norm_kind::layer_plus_one, ctx.config.hidden_size, ctx.class_of("LayerNorm")};
}

struct attention {
    const layer_context& ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
        const auto project = [&](literal name) {
            const tensor all = t.call(name, linear{width, width, ctx.config.attention_bias}, x);
            return all.view({x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
        };
        const tensor q = project("q_proj"), k = project("k_proj"), v = project("v_proj");
        const tensor mixed = attention_forward(t, q, k, v, full_pattern(x.dim(1)).pattern,
                                               {.has_soft_cap = ctx.config.family[caps] != 0});
        const tensor attention_output = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), width}));
        return t.call("o_proj", linear{width, width, true}, attention_output);
    }
};

struct layer {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module norm = norm_of(ctx);
        const tensor h = t.call("attention", attention{ctx}, t.call("layernorm_before", norm, x));
        const tensor middle = t.add(dropout(t, "dropout", h), x);
        const mlp_module layer_mlp{mlp_kind::plain,
                                   ctx.config.hidden_size,
                                   ctx.config.intermediate_size,
                                   ctx.config.hidden_act,
                                   ctx.class_of("MLP"),
                                   true,
                                   {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        const tensor fed = t.call("mlp", layer_mlp, t.call("layernorm_after", norm, middle));
        return t.add(dropout(t, "dropout", fed), middle);
    }
};
constexpr tensor layers_of(const layer_context& ctx, trace& t, literal name, std::int64_t n, tensor x) {
    for (loop layer_loop = t.loop_modules(n, x); layer_loop.next();)
        x = t.call({name, layer_loop.index()}, layer{ctx}, x);
    return x;
}

/// Layers within frames, then within the places of all frames: (B, frames · places, width).
constexpr tensor base(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size, n = ctx.config.family[frames];
    const std::size_t offset = tubelet;
    const std::int64_t rows = ctx.config.family[offset + 1], columns = ctx.config.family[offset + 2];
    const std::int64_t places = ctx.config.vision.image_height / rows * (ctx.config.vision.image_width / columns);
    const module_info space{.name = "spatial_embeddings",
                            .class_of_module = ctx.class_of("SpatialEmbeddings"),
                            .module_role = role::embedding};
    const module_info patches{.name = "patch_embeddings", .class_of_module = ctx.class_of("TubeletEmbeddings")};
    const module_info time{.name = "temporal_embeddings",
                           .class_of_module = ctx.class_of("TemporalEmbeddings"),
                           .module_role = role::embedding};
    const tensor pixels = channels_first(pixels_of_videos(ctx, t, make_video_sizes(ctx.config)));
    const std::int64_t batch = pixels.dim(0);
    t.enter(space);
    const tensor positions = t.param("position_embeddings", {1, places, width});
    t.enter(patches);
    tensor x = t.call("projection", tubelet_convolution{pixels.dim(1), width, 1, rows, columns}, pixels);
    x = x.view({batch, width, n, places}).permute({0, 2, 3, 1});
    x = t.leave(patches, t.reshape(x, {batch * n, places, width}));
    x = t.leave(space, dropout(t, "dropout", t.add(x, positions)));
    x = t.call("layernorm1", norm_of(ctx), layers_of(ctx, t, "spatial_layers", ctx.config.family[spatial], x));
    t.enter(time);
    const tensor times = t.param("position_embeddings", {1, n, width});
    x = t.reshape(x.view({batch, n, places, width}).transpose(2, 1), {batch * places, n, width});
    x = t.leave(time, dropout(t, "dropout", t.add(x, times)));
    x = t.call("layernorm2", norm_of(ctx), layers_of(ctx, t, "temporal_layers", ctx.config.family[temporal], x));
    return t.contiguous(x.view({batch, places, n, width}).transpose(1, 2)).view({batch, n * places, width});
}

/// One learned query, scaled by dimensions, that looks at all places through wide heads.
constexpr tensor pool(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, expanded_width = ctx.config.intermediate_size;
    const std::int64_t heads = ctx.config.num_attention_heads, d = expanded_width / heads, batch = x.dim(0);
    const module_info head{
        .name = "head", .class_of_module = ctx.class_of("MultiheadAttentionPoolingHead"), .module_role = role::attn};
    t.enter(head);
    const tensor scale = t.param("per_dim_scale", {d});
    const tensor query = t.param("pooling_attention_query", {1, 1, width}).expand({batch, 1, width});
    const auto project = [&](literal name, const tensor& h) {
        const tensor all = t.call(name, linear{width, heads * d, ctx.config.attention_bias}, h);
        return all.view({batch, h.dim(1), heads, d}).transpose(1, 2);
    };
    const tensor scaled = t.mul_scalar(project("q_proj", query));
    const tensor q = t.mul(scaled, t.softplus(scale));
    const tensor k = project("k_proj", x), v = project("v_proj", x);
    const tensor mixed = attention_forward(t, q, k, v, {.query_length = 1, .is_causal = false}, {});
    const tensor attention_output = t.contiguous(t.reshape(mixed, {batch, 1, heads * d}));
    const tensor pooled = t.leave(head, t.call("o_proj", linear{heads * d, width, true}, attention_output));
    return t.call("head_layernorm", norm_of(ctx), pooled);
}
constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    return classify_linear(ctx, t, pool(ctx, t, x));
}

/// Rows over their length (`l2norm`).
constexpr tensor normalize(trace& t, const tensor& x) {
    return t.mul(x, t.rsqrt(t.add_scalar(t.sum(t.mul(x, x), -1, true))));
}

/// Embeds tokens with sinusoidal positions, followed by a class token.
constexpr tensor embed_text(const layer_context& ctx, trace& t) {
    const std::int64_t batch = t.load().batch, sequence = t.load().sequence, width = ctx.config.hidden_size;
    if (sequence > ctx.config.max_position_embeddings)
        throw_description_error("the text has more tokens than the model has positions");
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("TextEmbeddings"), .module_role = role::embedding};
    t.enter(embeddings);
    t.register_buffer({ctx.config.max_position_embeddings, width}, dtype::float32);  // `position_embedding`
    t.register_integer_buffer(ctx.config.max_position_embeddings);                   // `position_ids`
    const tensor token = t.param("cls_emb", {1, 1, width});
    const tensor token_embeddings =
        t.mul_scalar(t.call("token_embedding", embedding{ctx.config.vocab_size, width}, shape{batch, sequence}));
    const tensor positions = t.gather(trace::buffer({1, width}), {1, sequence, width});
    const tensor x = t.add(token_embeddings, t.to(positions, token_embeddings.type));
    return t.leave(embeddings, t.cat({x, t.mul_scalar(token).expand({batch, 1, width})}, 1));
}
constexpr tensor text_base(const layer_context& ctx, trace& t) {
    const tensor x = layers_of(ctx, t, "layers", ctx.config.num_hidden_layers, embed_text(ctx, t));
    const tensor normed = t.call("layernorm", norm_of(ctx), x);
    const recorder::detach_guard unread{t, ctx.model.spec->text_model.default_spec == nullptr};
    const tensor last = t.select(normed, 1);
    const tensor pooled = ctx.config.family[unit_length] != 0 ? normalize(t, last) : last;
    return ctx.model.spec->text_model.default_spec == nullptr ? normed : pooled;
}

/// Videos through further layers and a pooling head.
constexpr tensor video_base(const layer_context& ctx, trace& t) {
    const module_info inner{
        .name = "vision_model", .class_of_module = ctx.class_of("VisionModel"), .module_role = role::vision};
    const tensor x = forward_in_module(inner, base, ctx, t);
    const tensor pooled = pool(ctx, t, layers_of(ctx, t, "auxiliary_layers", ctx.config.family[auxiliary], x));
    return ctx.config.family[unit_length] != 0 ? normalize(t, pooled) : pooled;
}

constexpr void parse_caps(config_view json, model_config& config) {
    const auto cap = json.find("attn_logit_softcapping");
    config.family[caps] = !cap || !cap->is_null();
    if (cap && !cap->is_null()) (void)cap->as_real();
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    config.attention_bias = json.boolean("qkv_bias", true);
}
constexpr void parse_vision_config(config_view json, model_config& config) {
    config.vision = parse_image_size(json, 288);
    parse_tubelet(json, config, {1, 18, 18}, tubelet, config.family[frames]);
    if (config.family[tubelet] != 1)
        throw_unsupported(json, "tubelet_size",
                          "unsupported tubelet size: the reference uses every frame, so the first number is 1");
    parse_caps(json, config);
}

}  // namespace videoprism_detail

/// Videos encoded within frames and over time, bare or with a pooling head and a classifier.
///
/// Source: transformers/models/videoprism/modeling_videoprism.py.
constexpr tensor forward_videoprism_vision(const layer_context& ctx, trace& t) {
    return forward_video_model(ctx, t, videoprism_detail::base, videoprism_detail::classify);
}

/// How alike videos and texts are: shares of every text for a video, and of every video for a text.
constexpr tensor forward_videoprism(const layer_context& ctx, trace& t) {
    using namespace videoprism_detail;
    const layer_context video = ctx.component(0), text = ctx.text_model();
    const module_info model_info{.class_of_module = ctx.class_of("Model")};
    const module_info video_info{
        .name = "video_model", .class_of_module = video.class_of("VideoModel"), .module_role = role::vision};
    const module_info read{.name = "text_model", .class_of_module = text.class_of("TextModel")};
    t.enter(model_info);
    const tensor pictures =
        t.reshape(forward_in_module(video_info, video_base, video, t), {-1, video.config.hidden_size});
    const tensor token_embeddings =
        t.reshape(forward_in_module(read, text_base, text, t), {-1, text.config.hidden_size});
    const tensor similarity = t.exp(t.matmul(pictures, token_embeddings.transpose(0, 1))),
                 transposed = similarity.transpose(0, 1);
    const tensor of_videos = t.div(similarity, t.sum(similarity, 0, true));
    const recorder::detach_guard unread{t};
    (void)t.div(transposed, t.sum(transposed, 0, true));
    return t.leave(model_info, of_videos);
}

// transformers/models/videoprism: configuration_videoprism.py, modeling_videoprism.py
inline constexpr model_spec videoprism_vision_model{
    .model_type = "videoprism_vision_model",
    .class_prefix = "VideoPrism",
    .forward = forward_videoprism_vision,
    .base_model = videoprism_detail::base,
    .parse_config = videoprism_detail::parse_vision_config,
    .family_keys = videoprism_detail::family_keys,
    .compute_media_shapes = videoprism_detail::compute_shapes_without_text,
    .modalities = {.has_text = false, .has_videos = true},
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::none, head_kind::video_classification},
    .names = {.base_model = "vision_model", .model_class = "VisionModel"},
    .config_keys = {{"num_hidden_layers", "", key_rule::absent}},
    .defaults = video_defaults(activation::gelu_python),
};

// the text model, a separate model type
inline constexpr model_spec videoprism_text_model{
    .model_type = "videoprism_text_model",
    .class_prefix = "VideoPrism",
    .forward = forward_without_head,
    .base_model = videoprism_detail::text_base,
    .parse_config = videoprism_detail::parse_caps,
    .family_keys = videoprism_detail::text_keys,
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::none},
    .names = {.model_class = "TextModel"},
    .defaults =
        [] {
            model_config config;
            config.vocab_size = 32000;
            config.hidden_size = 768;
            config.intermediate_size = 3072;
            config.max_position_embeddings = 64;
            config.num_hidden_layers = config.num_attention_heads = 12;
            config.hidden_act = activation::relu;
            config.head = head_kind::none;
            return config;
        }(),
};

// both
inline constexpr model_spec videoprism = [](model_spec spec) {
    spec.model_type = "videoprism";
    spec.class_prefix = "VideoPrismClip";
    spec.forward = forward_videoprism;
    spec.compute_media_shapes = videoprism_detail::compute_shapes_with_text;
    spec.modalities.has_videos = true;
    spec.supported_heads = {head_kind::none};
    spec.text_model = {.key = "text_config", .default_spec = &videoprism_text_model};
    spec.components[0] = {.key = "vision_config", .default_spec = &videoprism_vision_model};
    spec.defaults.head = head_kind::none;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
