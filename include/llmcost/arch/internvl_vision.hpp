// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/layers/convolution.hpp>
#include <llmcost/walks/images.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace internvl_vision_detail {

enum own : std::uint8_t { mask_token, absolute, mean_pooling, norms_heads, rms, drops_projection };
inline constexpr own_key keys[]{
    {"use_mask_token", 0, own_value::boolean},
    {"use_absolute_position_embeddings", 1, own_value::boolean},
    {"use_mean_pooling", 1, own_value::boolean},
    {"use_qk_norm", 0, own_value::boolean},
    {.value = own_value::computed},
    {.value = own_value::computed},
};

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout_prob"},
                                             {dropout_of::attention, "attention_dropout"}};

struct attention {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
        const linear projection{width, width, here.dims.attention_bias};
        const auto split = [&](const value& all) {
            return t.reshape(all, {x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
        };
        value q = t.call("q_proj", projection, x), k = t.call("k_proj", projection, x);
        const value v = t.call("v_proj", projection, x);
        q = normed(t, "q_norm", q), k = normed(t, "k_norm", k);
        const context everything = all_positions(x.dim(1)).where;
        const value mixed = eager_attention(t, split(q), split(k), split(v), everything, {.float_softmax = false});
        const value joined = t.reshape(mixed, {x.dim(0), x.dim(1), width});
        const value out = t.call("projection_layer", linear{width, width, true}, joined);
        if (here.dims.own[drops_projection] != 0) return dropout(t, "projection_dropout", out, dropout_of::always);
        return t.call("projection_dropout", identity{"Identity"}, out);
    }
    constexpr value normed(trace& t, literal name, const value& x) const {
        if (here.dims.own[norms_heads] == 0) return t.call(name, identity{"Identity"}, x);
        return t.call(name, norm<norm_kind::rms>{x.dim(-1), here.type("RMSNorm")}, x);
    }
};

/// Each block's sum is scaled by a learned factor for each feature.
struct layer {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const norm_kind kind = here.dims.own[rms] != 0 ? norm_kind::rms : norm_kind::layer;
        const auto normed = [&](literal name, const value& h) {
            return call_norm(t, name, kind, width, here.type("RMSNorm"), h);
        };
        const value first = t.param("lambda_1", {width}), second = t.param("lambda_2", {width});
        value h = t.call("attention", attention{here}, normed("layernorm_before", x));
        const value middle = t.add(t.mul(first, h), x);
        h = t.call("mlp", tower_layer::feed_forward_of(here), normed("layernorm_after", middle));
        return t.add(t.mul(second, dropout(t, "dropout", h)), middle);
    }
};

/// Patches behind a class token, with positions that fit the images.
constexpr value embed(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size;
    const std::int64_t patches = (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
    const value pixels = images_of(here, t);
    const value token = t.param("cls_token", {1, 1, width});
    if (here.dims.own[mask_token] != 0) {
        const recorder::idle_guard nothing_is_masked{t};
        (void)t.param("mask_token", {1, 1, width});
    }
    value places;
    if (here.dims.own[absolute] != 0) places = t.param("position_embeddings", {1, patches + 1, width});
    const module_info patch_embeddings{.name = "patch_embeddings", .type = here.type("PatchEmbeddings")};
    t.enter(patch_embeddings);
    const value tokens = t.leave(patch_embeddings, as_tokens(t.call("projection", patch_convolution{image, width}, pixels)));
    value x = t.cat({token.expand({pixels.dim(0), 1, width}), tokens}, 1);
    if (here.dims.own[absolute] != 0) x = t.add(x, resampled_places(here, t, places, 1));
    return dropout(t, "dropout", x);
}

constexpr value base(const site& here, trace& t) {
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(embeddings);
    value x = t.leave(embeddings, embed(here, t));
    t.enter(encoder);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layer", each.index()}, layer{here}, x);
    t.leave(encoder);
    if (here.dims.own[mean_pooling] != 0) return t.call("layernorm", identity{"Identity"}, x);
    return t.call("layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
}

constexpr void read(config_view config, sizes& s) {
    read_vit(config, s);
    if (!config.contains("image_size")) s.vision.image_height = s.vision.image_width = 448;
    if (!config.contains("patch_size")) s.vision.patch_size = 14;
    if (s.own[absolute] != 0 && s.vision.image_height != s.vision.image_width)
        fail_unsupported(config, "image_size", "no row describes positions that are interpolated for oblong images");
    s.attention_bias = config.boolean("attention_bias", false);
    const string_ref kind = config.string("norm_type", "layer_norm");
    if (kind != "layer_norm" && kind != "rms_norm") fail_value(config, "norm_type", "layer_norm or rms_norm");
    s.own[rms] = kind == "rms_norm", s.own[drops_projection] = config.real("projection_dropout", 0.0) > 0.0;
}

}  // namespace internvl_vision_detail

// transformers/models/internvl: `InternVLVisionModel`, BEiT's scaled blocks
inline constexpr architecture internvl_vision = [](architecture a) {
    a.model_type = "internvl_vision", a.prefix = "InternVLVision", a.read = internvl_vision_detail::read;
    a.describe = describe_bare, a.base = internvl_vision_detail::base, a.own = internvl_vision_detail::keys;
    a.heads = {head_kind::none}, a.drops = internvl_vision_detail::dropout_rates, a.any_image = true, a.tokens_ahead = 1;
    a.defaults.head = head_kind::none, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 16;
    return a;
}(vit);

}  // namespace llmcost::arch
