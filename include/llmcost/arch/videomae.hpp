// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/reading/images.hpp>
#include <llmcost/walks/encoder.hpp>
#include <llmcost/walks/videos.hpp>

namespace llmcost::arch {

namespace videomae_detail {

enum own : std::uint8_t { frames, tubelet, mean_pooling };
inline constexpr own_key keys[]{{"num_frames", 16}, {"tubelet_size", 2}, {"use_mean_pooling", 1, own_value::boolean}};

[[nodiscard]] constexpr video_sizes own_video(const sizes& dims) noexcept {
    return {dims.own[frames], dims.vision.image_height, dims.vision.image_width};
}
constexpr media_shapes show(const model& m, const workload& load) { return show_one_video(load, own_video(m.dims), false); }

/// Tubelets as tokens with positions of fixed waves, which every pass copies to where the tokens are.
constexpr value embed(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size;
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    const module_info patches{.name = "patch_embeddings", .type = here.type("PatchEmbeddings")};
    const value pixels = channels_first(pixels_of_videos(here, t, own_video(here.dims)));
    const tubelet_convolution tubelets{image.num_channels, width, here.dims.own[tubelet], image.patch_size,
                                       image.patch_size};
    t.enter(embeddings);
    t.enter(patches);
    const value tokens = t.leave(patches, tubelets_as_tokens(t.call("projection", tubelets, pixels)));
    const value table = trace::buffer({1, tokens.dim(1), width});
    return t.leave(embeddings, t.add(tokens, t.copy(t.to(table, tokens.type))));
}

struct self_attention {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("SelfAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
        const auto project = [&](literal name, bool bias) {
            const value all = t.call(name, linear{width, width, bias}, x);
            return all.view({x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
        };
        const bool bias = here.dims.attention_bias;
        const value k = project("key", false), v = project("value", bias), q = project("query", bias);
        const value mixed = eager_attention(t, q, k, v, all_positions(x.dim(1)).where, {.float_softmax = false});
        return t.reshape(mixed, {x.dim(0), x.dim(1), width});
    }
};

struct attention {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const module_info output{.name = "output", .type = here.type("SelfOutput")};
        const std::int64_t width = here.dims.hidden_size;
        const value h = t.call("attention", self_attention{here}, x);
        t.enter(output);
        return t.leave(output, dropout(t, "dropout", t.call("dense", linear{width, width, true}, h)));
    }
};

struct layer {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const norm<norm_kind::layer> layer_norm{width};
        const module_info intermediate{.name = "intermediate", .type = here.type("Intermediate"), .what = role::mlp};
        const module_info output{.name = "output", .type = here.type("Output"), .what = role::mlp};
        const value middle = t.add(t.call("attention", attention{here}, t.call("layernorm_before", layer_norm, x)), x);
        value h = t.call("layernorm_after", layer_norm, middle);
        t.enter(intermediate);
        h = t.call("dense", linear{width, inner, true}, h);
        h = t.leave(intermediate, t.call("intermediate_act_fn", activation_module{here.dims.hidden_act}, h));
        t.enter(output);
        h = dropout(t, "dropout", t.call("dense", linear{inner, width, true}, h));
        return t.leave(output, t.add(h, middle));
    }
};

constexpr value base(const site& here, trace& t) {
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    value x = embed(here, t);
    t.enter(encoder);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layer", each.index()}, layer{here}, x);
    t.leave(encoder);
    if (here.dims.own[mean_pooling] != 0) return x;
    return t.call("layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
}

/// A classifier of the normed mean, or of the first token.
constexpr value classify(const site& here, trace& t, const value& x) {
    if (here.dims.own[mean_pooling] == 0) return classify_linear(here, t, t.select(x, 1));
    return classify_linear(here, t, t.call("fc_norm", norm<norm_kind::layer>{here.dims.hidden_size}, t.mean(x, 1)));
}

}  // namespace videomae_detail

/// A vision transformer over tubelets of videos.
///
/// Source: transformers/models/videomae/modeling_videomae.py.
constexpr value describe_videomae(const site& here, trace& t) {
    return describe_video_model(here, t, videomae_detail::base, videomae_detail::classify);
}

constexpr void read_videomae(config_view config, sizes& s) {
    using namespace videomae_detail;
    s.vision = read_images(config, 224);
    s.vision.patch_size = config.positive("patch_size", 16);
    const std::int64_t side = s.vision.image_height < s.vision.image_width ? s.vision.image_height : s.vision.image_width;
    if (side < s.vision.patch_size) fail_value(config, "patch_size", "at most the image's size");
    if (s.own[frames] < s.own[tubelet]) fail_value(config, "tubelet_size", "at most num_frames");
    share_among_heads(config, s, {"num_attention_heads"});
    s.attention_bias = config.boolean("qkv_bias", config.boolean("qv_bias", true));
}

// transformers/models/videomae: configuration_videomae.py, modeling_videomae.py
inline constexpr architecture videomae{
    .model_type = "videomae",
    .prefix = "VideoMAE",
    .describe = describe_videomae,
    .read = read_videomae,
    .own = videomae_detail::keys,
    .drops = vit_detail::dropout_rates,
    .media = videomae_detail::show,
    .reads = {.text = false, .videos = true},
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::video_classification},
    .names = {.base = "videomae"},
    .defaults = video_defaults(activation::gelu),
};

}  // namespace llmcost::arch
