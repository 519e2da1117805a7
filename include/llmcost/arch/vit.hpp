// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/encoder.hpp>

namespace llmcost::arch {

namespace vit_detail {

enum own : std::uint8_t { pooler_act, encoder_stride, tokens };
inline constexpr own_key keys[]{
    {.otherwise = static_cast<std::int64_t>(activation::tanh), .value = own_value::computed},
    {"encoder_stride", 16},                          // pixels that a head makes of a patch, along each side
    {.otherwise = 1, .value = own_value::computed},  // in front of the patches: none, a class, and one to distill
};

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout_prob"},
                                             {dropout_of::attention, "attention_probs_dropout_prob"}};

}  // namespace vit_detail

/// `nn.Conv2d` over patches: (B, channels, height, width) -> (B, width, rows, columns).
struct patch_convolution {
    const vision_sizes& image;
    std::int64_t width;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "Conv2d"}; }
    constexpr value describe(trace& t, const value& pixels) const {
        const value weight = t.param("weight", {width, image.num_channels, image.patch_size, image.patch_size});
        t.beside(t.param("bias", {width}));
        return t.convolution(pixels, weight, true, 1, image.patch_size);
    }
};

/// Patches as tokens, behind a class token and one to distill where there are such, with learned positions.
struct vit_embeddings {
    const sizes& dims;
    literal prefix;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "Embeddings"}; }
    constexpr value describe(trace& t, const value& pixels) const {
        const vision_sizes& image = dims.vision;
        const std::int64_t width = dims.hidden_size, batch = pixels.dim(0);
        const std::int64_t patches = (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
        const std::int64_t ahead = dims.own[vit_detail::tokens];
        const extents all{batch, 1, width};
        const value token = ahead > 0 ? t.param("cls_token", {1, 1, width}) : value{};
        const value places = t.param("position_embeddings", {1, patches + ahead, width});
        const value distilled = ahead > 1 ? t.param("distillation_token", {1, 1, width}) : value{};
        if (dims.head == head_kind::masked_image) {
            const recorder::idle_guard nothing_is_masked{t};
            (void)t.param("mask_token", {1, 1, width});
        }
        const module_info patch_embeddings{.name = "patch_embeddings", .type = {prefix, "PatchEmbeddings"}};
        t.enter(patch_embeddings);
        const value projected = t.call("projection", patch_convolution{image, width}, pixels);
        const value tokens = t.leave(patch_embeddings, projected.view({batch, width, patches}).transpose(1, 2));
        value x = tokens;
        if (ahead == 1) x = t.cat({token.expand(all), tokens}, 1);
        if (ahead == 2) x = t.cat({token.expand(all), distilled.expand(all), tokens}, 1);
        x = t.add(x, places);
        return dropout(t, "dropout", x);
    }
};

/// Attention over all patches with its output projection.
struct vit_attention {
    const sizes& dims;
    literal prefix;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "Attention"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value mixed = attend_within(t, x, dims.hidden_size, dims.num_attention_heads, dims.attention_bias,
                                          {"q_proj", "k_proj", "v_proj"}, true, all_positions(x.dim(1)));
        return t.call("o_proj", linear{dims.hidden_size, dims.hidden_size, true}, mixed);
    }
};

/// A pre-norm encoder layer.
struct vit_layer {
    const sizes& dims;
    literal prefix;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "Layer"}; }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> layer_norm{dims.hidden_size};
        value h = t.call("attention", vit_attention{dims, prefix}, t.call("layernorm_before", layer_norm, x));
        const value middle = t.add(dropout(t, "dropout", h), x);
        const mlp<mlp_kind::plain> block{dims.hidden_size,
                                         dims.intermediate_size,
                                         dims.hidden_act,
                                         {prefix, "MLP"},
                                         true,
                                         {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        h = t.call("mlp", block, t.call("layernorm_after", layer_norm, middle));
        return t.add(dropout(t, "dropout", h), middle);
    }
};

/// Pixels from patches: a convolution to stride² values per channel, copied to their places by `nn.PixelShuffle`.
constexpr value describe_pixel_decoder(const sizes& dims, trace& t, const value& x) {
    const vision_sizes& image = dims.vision;
    const std::int64_t batch = x.dim(0), tokens = x.dim(1) - dims.own[vit_detail::tokens],
                       stride = dims.own[vit_detail::encoder_stride];
    const std::int64_t rows = image.image_height / image.patch_size;
    const value patches = t.reshape(t.slice(x, 1, tokens).permute({0, 2, 1}), {batch, dims.hidden_size, rows, rows});
    const module_info decoder{.name = "decoder", .type = {"", "Sequential"}, .what = role::head};
    const module_info convolution{.name = "0", .type = {"", "Conv2d"}, .leaf = true};
    const module_info shuffle{.name = "1", .type = {"", "PixelShuffle"}, .leaf = true};
    const std::int64_t values = stride * stride * image.num_channels;
    t.enter(decoder);
    t.enter(convolution);
    const value weight = t.param("weight", {values, dims.hidden_size, 1, 1});
    t.beside(t.param("bias", {values}));
    const value of_patches = t.leave(convolution, t.convolution(patches, weight, true));
    t.enter(shuffle);
    const value spread =
        of_patches.view({batch, image.num_channels, stride, stride, rows, rows}).permute({0, 1, 4, 2, 5, 3});
    const value pixels = t.copy(spread).view({batch, image.num_channels, rows * stride, rows * stride});
    return t.leave(decoder, t.leave(shuffle, pixels));
}

/// Layers over embeddings, and a norm.
constexpr value describe_vit_layers(const site& here, trace& t, value x) {
    for (repetition layer = t.repeat(here.dims.num_hidden_layers, x); layer.next();)
        x = t.call({"layers", layer.index()}, vit_layer{here.dims, here.row.prefix}, x);
    return t.call("layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
}
/// Embeddings, layers, a norm.
constexpr value describe_vit_states(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const value pixels = t.input({t.load().batch, image.num_channels, image.image_height, image.image_width});
    return describe_vit_layers(here, t, t.call("embeddings", vit_embeddings{here.dims, here.row.prefix}, pixels));
}

/// The same; the bare model has a pooler over the first token, which no loss reads.
constexpr value describe_vit_base(const site& here, trace& t) {
    const value x = describe_vit_states(here, t);
    if (here.dims.head != head_kind::none || here.dims.own[vit_detail::tokens] == 0) return x;
    const recorder::off_loss_guard unread{t};
    const module_info pooler{.name = "pooler", .type = here.type("Pooler")};
    t.enter(pooler);
    const value first = t.call("dense", linear{here.dims.hidden_size, here.dims.embedding_size, true}, t.select(x, 1));
    t.leave(pooler,
            t.call("activation", activation_module{static_cast<activation>(here.dims.own[vit_detail::pooler_act])}, first));
    return x;
}

constexpr value describe_vit_head(const sizes& dims, trace& t, const value& x) {
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    if (dims.head == head_kind::masked_image) return describe_pixel_decoder(dims, t, x);
    if (dims.num_labels == 0) return t.call("classifier", identity{"Identity"}, t.select(x, 1));
    return t.call("classifier", head_linear{{dims.hidden_size, dims.num_labels, true}}, t.select(x, 1));
}

/// A vision transformer, bare (with its pooler), under an image classifier or making pixels; one batch entry is one image.
///
/// Source: transformers/models/vit/modeling_vit.py.
constexpr value describe_vit(const site& here, trace& t) {
    const class_name type = here.type("Model");
    if (here.dims.head == head_kind::none) return describe_within({.type = type}, describe_vit_base, here, t);
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    t.enter(whole);
    const value x = describe_within({.name = here.row.names.base, .type = type}, describe_vit_base, here, t);
    return t.leave(whole, t.returns(x, describe_vit_head(here.dims, t, x)));
}

constexpr void read_vit(config_view config, sizes& s) {
    const auto side = [&](literal key, std::int64_t otherwise, std::uint32_t which) {
        const auto found = config.find(key);
        if (!found || found->is_null()) return otherwise;
        if (!found->is_array()) return found->as_positive();
        if (found->size() != 2) fail_value(config, key, "a size or a pair of sizes");
        return (*found)[which].as_positive();
    };
    s.vision = {side("image_size", 224, 0), side("image_size", 224, 1), side("patch_size", 16, 0),
                config.positive("num_channels", 3)};
    if (s.head == head_kind::masked_image) {
        const std::int64_t stride = s.own[vit_detail::encoder_stride];
        (void)checked_width(config, "encoder_stride", checked_width(config, "encoder_stride", stride, stride),
                            s.vision.num_channels);
    }
    if (side("patch_size", 16, 1) != s.vision.patch_size)
        fail_unsupported(config, "patch_size", "no row describes oblong patches");
    if (s.vision.image_height < s.vision.patch_size || s.vision.image_width < s.vision.patch_size)
        fail_value(config, "patch_size", "at most the image's size");
    const std::int64_t rows = s.vision.image_height / s.vision.patch_size,
                       columns = s.vision.image_width / s.vision.patch_size;
    if (s.head == head_kind::masked_image && rows != columns)
        fail_value(config, "image_size", "as many patches in a row as in a column under this head");
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    s.attention_bias = config.boolean("qkv_bias", true);
    s.embedding_size = config.positive("pooler_output_size", s.hidden_size);
    if (const auto name = config.optional_string("pooler_act"))
        s.own[vit_detail::pooler_act] = static_cast<std::int64_t>(activation_named(config, "pooler_act", *name));
}

// transformers/models/vit: configuration_vit.py, modeling_vit.py
inline constexpr architecture vit{
    .model_type = "vit",
    .prefix = "ViT",
    .describe = describe_vit,
    .base = describe_vit_base,
    .read = read_vit,
    .own = vit_detail::keys,
    .drops = vit_detail::dropout_rates,
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::image_classification, head_kind::masked_image},
    .names = {.base = "vit"},
    .defaults = {.hidden_size = 768,
                 .intermediate_size = 3072,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 12,
                 .hidden_act = activation::gelu,
                 .head = head_kind::image_classification},
};

}  // namespace llmcost::arch
