// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image.hpp>
#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/encoder.hpp>
#include <llmcost/forward/videos.hpp>
#include <llmcost/forward/vision_transformer.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/norm.hpp>

namespace llmcost::arch {

namespace videomae_detail {

enum family_config_index : std::uint8_t { frames, tubelet, mean_pooling };

inline constexpr family_key family_keys[]{
    {"num_frames", 16}, {"tubelet_size", 2}, {"use_mean_pooling", 1, family_key_type::boolean}};

[[nodiscard]] constexpr video_sizes make_video_sizes(const model_config& config) noexcept {
    return {config.family[frames], config.vision.image_height, config.vision.image_width};
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    return validate_single_video(load, make_video_sizes(m.config), false);
}

/// Tubelets as tokens with positions of fixed waves, which every pass copies to where the tokens are.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size;
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const module_info patches{.name = "patch_embeddings", .class_of_module = ctx.class_of("PatchEmbeddings")};
    const tensor pixels = channels_first(pixels_of_videos(ctx, t, make_video_sizes(ctx.config)));
    const tubelet_convolution tubelets{image.num_channels, width, ctx.config.family[tubelet], image.patch_size,
                                       image.patch_size};
    t.enter(embeddings);
    t.enter(patches);
    const tensor tokens = t.leave(patches, tubelets_as_tokens(t.call("projection", tubelets, pixels)));
    const tensor table = trace::buffer({1, tokens.dim(1), width});
    return t.leave(embeddings, t.add(tokens, t.copy(t.to(table, tokens.type))));
}

struct self_attention {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("SelfAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
        const auto project = [&](literal name, bool bias) {
            const tensor all = t.call(name, linear{width, width, bias}, x);
            return all.view({x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
        };
        const bool bias = ctx.config.attention_bias;
        const tensor k = project("key", false), v = project("value", bias), q = project("query", bias);
        const tensor mixed =
            attention_forward(t, q, k, v, full_pattern(x.dim(1)).pattern, {.has_float32_softmax = false});
        return t.reshape(mixed, {x.dim(0), x.dim(1), width});
    }
};

struct layer {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const norm_module layer_norm{norm_kind::layer, width};
        const module_info intermediate{.name = "intermediate",
                                       .class_of_module = ctx.class_of("Intermediate"),
                                       .module_role = role::mlp,
                                       .continues_block = true};
        const module_info output{.name = "output", .class_of_module = ctx.class_of("Output"), .module_role = role::mlp};
        const tensor middle =
            t.add(t.call("attention", attention_with_output<self_attention>{ctx, ctx.class_of("Attention")},
                         t.call("layernorm_before", layer_norm, x)),
                  x);
        tensor h = t.call("layernorm_after", layer_norm, middle);
        t.enter(intermediate);
        h = t.call("dense", linear{width, inner, true}, h);
        h = t.leave(intermediate, t.call("intermediate_act_fn", activation_module{ctx.config.hidden_act}, h));
        t.enter(output);
        h = dropout(t, "dropout", t.call("dense", linear{inner, width, true}, h));
        return t.leave(output, t.add(h, middle));
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    tensor x = embed(ctx, t);
    t.enter(encoder);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layer", layer_loop.index()}, layer{ctx}, x);
    t.leave(encoder);
    if (ctx.config.family[mean_pooling] != 0) return x;
    return t.call("layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
}

/// A classifier of the normed mean, or of the first token.
constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.config.family[mean_pooling] == 0) return classify_linear(ctx, t, t.select(x, 1));
    return classify_linear(ctx, t,
                           t.call("fc_norm", norm_module{norm_kind::layer, ctx.config.hidden_size}, t.mean(x, 1)));
}

}  // namespace videomae_detail

/// A vision transformer over tubelets of videos.
///
/// Source: transformers/models/videomae/modeling_videomae.py.
constexpr tensor forward_videomae(const layer_context& ctx, trace& t) {
    return forward_video_model(ctx, t, videomae_detail::base, videomae_detail::classify);
}

constexpr void parse_videomae(config_view json, model_config& config) {
    using namespace videomae_detail;
    config.vision = parse_image_size(json, 224);
    config.vision.patch_size = json.positive("patch_size", 16);
    const std::int64_t side =
        config.vision.image_height < config.vision.image_width ? config.vision.image_height : config.vision.image_width;
    if (side < config.vision.patch_size) throw_invalid_value(json, "patch_size", "at most the image's size");
    if (config.family[frames] < config.family[tubelet]) throw_invalid_value(json, "tubelet_size", "at most num_frames");
    divide_by_heads(json, config, {"num_attention_heads"});
    config.attention_bias = json.boolean("qkv_bias", json.boolean("qv_bias", true));
}

// transformers/models/videomae: configuration_videomae.py, modeling_videomae.py
inline constexpr model_spec videomae = [](model_spec spec) {
    spec.model_type = "videomae";
    spec.class_prefix = "VideoMAE";
    spec.forward = forward_videomae;
    spec.parse_config = parse_videomae;
    spec.family_keys = videomae_detail::family_keys;
    spec.compute_media_shapes = videomae_detail::compute_media_shapes;
    spec.names.base_model = "videomae";
    return spec;
}(video_classifier(activation::gelu));

}  // namespace llmcost::arch
