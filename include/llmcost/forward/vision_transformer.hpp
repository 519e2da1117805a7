// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/encoder.hpp>
#include <llmcost/forward/images.hpp>

// Vision transformers: layers over the patches of an image (ViT, arXiv 2010.11929).
namespace llmcost {

// Keys of the configurations of ViT and of the encoders derived from it.
namespace vit_config {

enum family_config_index : std::uint8_t { pooler_act, encoder_stride, tokens };

inline constexpr family_key family_keys[]{
    {.default_value = static_cast<std::int64_t>(activation::tanh), .type = family_key_type::computed},
    {"encoder_stride", 16},                                   // pixels that a head makes of a patch, along each side
    {.default_value = 1, .type = family_key_type::computed},  // before the patches: none, a class, and one to distill
};

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "hidden_dropout_prob"},
                                             {dropout_position::attention, "attention_probs_dropout_prob"}};

}  // namespace vit_config

/// `nn.Conv2d` over patches: (B, channels, height, width) -> (B, width, rows, columns).
struct patch_convolution {
    const vision_config& image;
    std::int64_t width;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Conv2d"}; }
    constexpr tensor forward(trace& t, const tensor& pixels) const {
        const tensor weight = t.param("weight", {width, image.num_channels, image.patch_size, image.patch_size});
        t.read_parameter_in_next_op(t.param("bias", {width}));
        return t.conv(pixels, weight, true, 1, image.patch_size);
    }
};

/// Embeds patches after optional class and distillation tokens, with learned positions.
struct vit_embeddings {
    const model_config& config;
    literal prefix;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "Embeddings"}; }
    constexpr tensor forward(trace& t, const tensor& pixels) const {
        const vision_config& image = config.vision;
        const std::int64_t width = config.hidden_size, batch = pixels.dim(0);
        const std::int64_t patches = (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
        const std::int64_t ahead = config.family[vit_config::tokens];
        const shape all{batch, 1, width};
        const tensor token = ahead > 0 ? t.param("cls_token", {1, 1, width}) : tensor{};
        const tensor places = t.param("position_embeddings", {1, patches + ahead, width});
        const tensor distilled = ahead > 1 ? t.param("distillation_token", {1, 1, width}) : tensor{};
        if (config.head == head_kind::masked_image) {
            const recorder::not_executed_guard unused_mask_token{t};
            (void)t.param("mask_token", {1, 1, width});
        }
        const module_info patch_embeddings{.name = "patch_embeddings", .class_of_module = {prefix, "PatchEmbeddings"}};
        t.enter(patch_embeddings);
        const tensor projected = t.call("projection", patch_convolution{image, width}, pixels);
        const tensor tokens = t.leave(patch_embeddings, projected.view({batch, width, patches}).transpose(1, 2));
        tensor x = tokens;
        if (ahead == 1) x = t.cat({token.expand(all), tokens}, 1);
        if (ahead == 2) x = t.cat({token.expand(all), distilled.expand(all), tokens}, 1);
        x = t.add(x, places);
        return dropout(t, "dropout", x);
    }
};

/// Class token, patches and optional position embeddings.
constexpr tensor embed_with_class_token(const layer_context& ctx, trace& t, bool has_mask_token, bool has_positions) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size;
    const std::int64_t patches = (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
    const tensor pixels = image_input(ctx, t);
    const tensor token = t.param("cls_token", {1, 1, width});
    if (has_mask_token) {
        const recorder::not_executed_guard mask_token_not_executed{t};
        (void)t.param("mask_token", {1, 1, width});
    }
    tensor places;
    if (has_positions) places = t.param("position_embeddings", {1, patches + 1, width});
    const module_info patch_embeddings{.name = "patch_embeddings", .class_of_module = ctx.class_of("PatchEmbeddings")};
    t.enter(patch_embeddings);
    const tensor tokens =
        t.leave(patch_embeddings, as_tokens(t.call("projection", patch_convolution{image, width}, pixels)));
    tensor x = t.cat({token.expand({pixels.dim(0), 1, width}), tokens}, 1);
    if (has_positions) x = t.add(x, resample_position_embeddings(ctx, t, places, 1));
    return dropout(t, "dropout", x);
}

/// Attention over all patches with its output projection.
struct vit_attention {
    const model_config& config;
    literal prefix;
    bool has_float32_softmax = true;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "Attention"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor mixed =
            bidirectional_attention(t, x, config.hidden_size, config.num_attention_heads, config.attention_bias,
                                    {"q_proj", "k_proj", "v_proj"}, has_float32_softmax, full_pattern(x.dim(1)));
        return t.call("o_proj", linear{config.hidden_size, config.hidden_size, true}, mixed);
    }
};

/// Attention whose output projection is in a module of its own.
template <class SelfAttention>
struct attention_with_output {
    const layer_context& ctx;
    class_name named;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        return project_in_output(ctx, t, "SelfOutput", width, width, t.call("attention", SelfAttention{ctx}, x));
    }
};

[[nodiscard]] constexpr mlp_module vit_mlp(const model_config& config, literal prefix) {
    return {mlp_kind::plain,
            config.hidden_size,
            config.intermediate_size,
            config.hidden_act,
            {prefix, "MLP"},
            true,
            {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
}

/// A pre-norm encoder layer.
struct vit_layer {
    const model_config& config;
    literal prefix;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "Layer"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module layer_norm{norm_kind::layer, config.hidden_size};
        tensor h = t.call("attention", vit_attention{config, prefix}, t.call("layernorm_before", layer_norm, x));
        const tensor middle = t.add(dropout(t, "dropout", h), x);
        h = t.call("mlp", vit_mlp(config, prefix), t.call("layernorm_after", layer_norm, middle));
        return t.add(dropout(t, "dropout", h), middle);
    }
};

/// Pixels from patches: a convolution to stride² values per channel, copied to their places by `nn.PixelShuffle`.
constexpr tensor forward_pixel_decoder(const model_config& config, trace& t, const tensor& x) {
    const vision_config& image = config.vision;
    const std::int64_t batch = x.dim(0), tokens = x.dim(1) - config.family[vit_config::tokens],
                       stride = config.family[vit_config::encoder_stride];
    const std::int64_t rows = image.image_height / image.patch_size;
    const tensor patches = t.reshape(t.slice(x, 1, tokens).permute({0, 2, 1}), {batch, config.hidden_size, rows, rows});
    const module_info decoder{.name = "decoder", .class_of_module = {"", "Sequential"}, .module_role = role::head};
    const module_info convolution{.name = "0", .class_of_module = {"", "Conv2d"}, .is_leaf = true};
    const module_info shuffle{.name = "1", .class_of_module = {"", "PixelShuffle"}, .is_leaf = true};
    const std::int64_t values = stride * stride * image.num_channels;
    t.enter(decoder);
    t.enter(convolution);
    const tensor weight = t.param("weight", {values, config.hidden_size, 1, 1});
    t.read_parameter_in_next_op(t.param("bias", {values}));
    const tensor of_patches = t.leave(convolution, t.conv(patches, weight, true));
    t.enter(shuffle);
    const tensor spread =
        of_patches.view({batch, image.num_channels, stride, stride, rows, rows}).permute({0, 1, 4, 2, 5, 3});
    const tensor pixels = t.copy(spread).view({batch, image.num_channels, rows * stride, rows * stride});
    return t.leave(decoder, t.leave(shuffle, pixels));
}

/// Layers over embeddings, and a norm.
constexpr tensor forward_vit_layers(const layer_context& ctx, trace& t, tensor x) {
    for (loop layer = t.loop_modules(ctx.config.num_hidden_layers, x); layer.next();)
        x = t.call({"layers", layer.index()}, vit_layer{ctx.config, ctx.spec.class_prefix}, x);
    return t.call("layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
}

/// Embeddings, layers, a norm.
constexpr tensor forward_vit_states(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const tensor pixels = t.input({t.load().batch, image.num_channels, image.image_height, image.image_width});
    return forward_vit_layers(ctx, t, t.call("embeddings", vit_embeddings{ctx.config, ctx.spec.class_prefix}, pixels));
}

/// Runs the base model. A bare model also has a pooler over the first token, which no loss reads.
constexpr tensor forward_vit_base(const layer_context& ctx, trace& t) {
    const tensor x = forward_vit_states(ctx, t);
    if (ctx.config.head != head_kind::none || ctx.config.family[vit_config::tokens] == 0) return x;
    const recorder::detach_guard unread{t};
    const module_info pooler{.name = "pooler", .class_of_module = ctx.class_of("Pooler")};
    t.enter(pooler);
    const tensor first =
        t.call("dense", linear{ctx.config.hidden_size, ctx.config.embedding_size, true}, t.select(x, 1));
    t.leave(pooler,
            t.call("activation", activation_module{static_cast<activation>(ctx.config.family[vit_config::pooler_act])},
                   first));
    return x;
}

constexpr tensor forward_vit_head(const model_config& config, trace& t, const tensor& x) {
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    if (config.head == head_kind::masked_image) return forward_pixel_decoder(config, t, x);
    if (config.num_labels == 0) return t.call("classifier", identity{"Identity"}, t.select(x, 1));
    return t.call("classifier", head_linear{{config.hidden_size, config.num_labels, true}}, t.select(x, 1));
}

/// A vision transformer, bare (with its pooler), under an image classifier or making pixels; one batch entry is one
/// image.
///
/// Source: transformers/models/vit/modeling_vit.py.
constexpr tensor forward_vit(const layer_context& ctx, trace& t) {
    const class_name type = ctx.class_of("Model");
    if (ctx.config.head == head_kind::none)
        return forward_in_module({.class_of_module = type}, forward_vit_base, ctx, t);
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    t.enter(model_info);
    const tensor x =
        forward_in_module({.name = ctx.spec.names.base_model, .class_of_module = type}, forward_vit_base, ctx, t);
    return t.leave(model_info, t.select_model_output(x, forward_vit_head(ctx.config, t, x)));
}

constexpr void parse_vit(config_view json, model_config& config) {
    const auto side = [&](literal key, std::int64_t default_value, std::uint32_t index) {
        const auto found = json.find(key);
        if (!found || found->is_null()) return default_value;
        if (!found->is_array()) return found->as_positive();
        if (found->size() != 2) throw_invalid_value(json, key, "a size or a pair of sizes");
        return (*found)[index].as_positive();
    };
    config.vision = {side("image_size", 224, 0), side("image_size", 224, 1), side("patch_size", 16, 0),
                     json.positive("num_channels", 3)};
    if (config.head == head_kind::masked_image) {
        const std::int64_t stride = config.family[vit_config::encoder_stride];
        (void)checked_size(json, "encoder_stride", checked_size(json, "encoder_stride", stride, stride),
                           config.vision.num_channels);
    }
    if (side("patch_size", 16, 1) != config.vision.patch_size)
        throw_unsupported(json, "patch_size", "patches with different sides are not supported");
    if (config.vision.image_height < config.vision.patch_size || config.vision.image_width < config.vision.patch_size)
        throw_invalid_value(json, "patch_size", "at most the image's size");
    const std::int64_t rows = config.vision.image_height / config.vision.patch_size,
                       columns = config.vision.image_width / config.vision.patch_size;
    if (config.head == head_kind::masked_image && rows != columns)
        throw_invalid_value(json, "image_size", "a square grid of patches with this head");
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    config.attention_bias = json.boolean("qkv_bias", true);
    config.embedding_size = json.positive("pooler_output_size", config.hidden_size);
    if (const auto name = json.optional_string("pooler_act"))
        config.family[vit_config::pooler_act] = static_cast<std::int64_t>(activation_named(json, "pooler_act", *name));
}

}  // namespace llmcost
