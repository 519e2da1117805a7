// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/forward/encoder_model.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/vision_transformer.hpp>
#include <llmcost/layers/convolution.hpp>

namespace llmcost::arch {

namespace yolos_detail {

enum family_config_index : std::uint8_t { detected, use_mid_position_embeddings };
inline constexpr family_key family_keys[]{
    {"num_detection_tokens", 100},
    {"use_mid_position_embeddings", 1, family_key_type::boolean}};  // positions between layers, too

/// Positions of the configuration's patches resampled to the images', between a class token's and those of detections:
/// (depth, 1, positions, width), or of embeddings (1, positions, width).
constexpr tensor resample(const layer_context& ctx, trace& t, const tensor& places, std::int64_t depth) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t high = image.image_height / image.patch_size,
                       expanded_width = image.image_width / image.patch_size;
    const std::int64_t width = ctx.config.hidden_size, n = ctx.config.family[detected];
    const int dim = places.rank - 2;
    const tensor first = t.slice(places, dim, 1), last = t.slice(places, dim, n);
    const tensor grid =
        t.slice(places, dim, high * expanded_width).view({depth, high, expanded_width, width}).permute({0, 3, 1, 2});
    const tensor others = as_tokens(t.resample(op::bicubic, grid, patch_grid(ctx, t)));
    const tensor middle = places.rank == 3 ? others : others.unsqueeze(1);
    return t.cat({first, middle, last}, dim);
}

/// Those of embeddings.
struct initial_positions {
    const layer_context& ctx;
    const tensor& places;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "InterpolateInitialPositionEmbeddings"}; }
    constexpr tensor forward(trace& t) const { return resample(ctx, t, places, 1); }
};

/// Position embeddings added after every layer except the last.
struct positions_between {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "InterpolateMidPositionEmbeddings"}; }
    constexpr tensor forward(trace& t) const {
        const vision_config& image = ctx.config.vision;
        const std::int64_t depth = ctx.config.num_hidden_layers - 1;
        const std::int64_t patches = (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
        const shape all{depth, 1, 1 + patches + ctx.config.family[detected], ctx.config.hidden_size};
        return resample(ctx, t, t.param("mid_position_embeddings", all), depth);
    }
};

/// A class token, patches, tokens of what is detected.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size, n = ctx.config.family[detected];
    const std::int64_t patches = (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
    const tensor pixels = image_input(ctx, t);
    const tensor token = t.param("cls_token", {1, 1, width}), found = t.param("detection_tokens", {1, n, width});
    const tensor places = t.param("position_embeddings", {1, patches + n + 1, width});
    const module_info patch_embeddings{.name = "patch_embeddings", .class_of_module = ctx.class_of("PatchEmbeddings")};
    t.enter(patch_embeddings);
    const tensor tokens =
        t.leave(patch_embeddings, as_tokens(t.call("projection", patch_convolution{image, width}, pixels)));
    const std::int64_t batch = pixels.dim(0);
    const tensor x = t.cat({token.expand({batch, 1, width}), tokens, found.expand({batch, n, width})}, 1);
    return dropout(t, "dropout", t.add(x, t.call("interpolation", initial_positions{ctx, places})));
}

/// A linear layer and dropout.
constexpr tensor call_output(const layer_context& ctx, trace& t, literal type, const tensor& x) {
    const module_info output{.name = "output", .class_of_module = ctx.class_of(type)};
    t.enter(output);
    return t.leave(output, dropout(t, "dropout", t.call("dense", linear{x.dim(-1), ctx.config.hidden_size, true}, x)));
}

struct layer {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const norm_module layer_norm{norm_kind::layer, width};
        const module_info attention{
            .name = "attention", .class_of_module = ctx.class_of("Attention"), .module_role = role::attn};
        const module_info self{.name = "attention", .class_of_module = ctx.class_of("SelfAttention")};
        const tensor normed = t.call("layernorm_before", layer_norm, x);
        t.enter(attention);
        t.enter(self);
        const tensor mixed = bidirectional_attention(t, normed, width, ctx.config.num_attention_heads,
                                                     ctx.config.attention_bias, {}, false, full_pattern(x.dim(1)));
        t.leave(self);
        tensor h = t.leave(attention, call_output(ctx, t, "SelfOutput", mixed));
        const tensor middle = t.add(h, x);
        h = t.call("intermediate", bert_layers::intermediate_block{ctx}, t.call("layernorm_after", layer_norm, middle));
        const module_info output{.name = "output", .class_of_module = ctx.class_of("Output"), .module_role = role::mlp};
        t.enter(output);
        h = dropout(t, "dropout", t.call("dense", linear{ctx.config.intermediate_size, width, true}, h));
        return t.leave(output, t.add(h, middle));
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    const std::int64_t last = ctx.config.num_hidden_layers - 1;
    t.enter(embeddings);
    tensor x = t.leave(embeddings, embed(ctx, t));
    t.enter(encoder);
    const bool adds = ctx.config.family[use_mid_position_embeddings] != 0;
    tensor places;
    if (adds) places = t.call("interpolation", positions_between{ctx});
    for (loop layer_loop = t.loop_modules(last, x); layer_loop.next();) {
        x = t.call({"layer", layer_loop.index()}, layer{ctx}, x);
        if (adds) x = t.add(x, t.select(places, 0));
    }
    x = t.leave(encoder, t.call({"layer", last}, layer{ctx}, x));
    x = t.call("layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
    if (ctx.config.head != head_kind::none) return x;
    const recorder::detach_guard unread{t};
    (void)pool_first_token(ctx, t, x);
    return x;
}

/// Three linear layers.
struct prediction_head {
    const layer_context& ctx;
    std::int64_t out;

    static constexpr role module_role = role::head;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MLPPredictionHead"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const linear inner{width, width, true};
        const tensor h = t.relu(t.call({"layers", 0}, inner, x));
        return t.call({"layers", 2}, linear{width, out, true}, t.relu(t.call({"layers", 1}, inner, h)));
    }
};

/// Returns the class logits of detections, with one class for no object; also computes the boxes.
constexpr tensor detect(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor found = t.slice(x, 1, ctx.config.family[detected]);
    const tensor labels = t.call("class_labels_classifier", prediction_head{ctx, ctx.config.num_labels + 1}, found);
    const recorder::detach_guard boxes_are_unread{t};
    (void)t.sigmoid(t.call("bbox_predictor", prediction_head{ctx, 4}, found));
    return labels;
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_vit(json, config);
    if (!json.contains("image_size")) {
        config.vision.image_height = 512;
        config.vision.image_width = 864;
    }
    const vision_config& image = config.vision;
    if (config.family[use_mid_position_embeddings] != 0 &&
        (image.image_height % image.patch_size != 0 || image.image_width % image.patch_size != 0))
        throw_invalid_value(json, "image_size", "a multiple of patch_size if positions are added between layers");
    if (json.non_negative("chunk_size_feed_forward", 0) != 0)
        throw_unsupported(json, "chunk_size_feed_forward", "a chunked feed-forward block is not supported");
}

}  // namespace yolos_detail

// transformers/models/yolos: configuration_yolos.py, modeling_yolos.py, a vision transformer whose last tokens are
// detections
inline constexpr model_spec yolos = [](model_spec spec) {
    spec.model_type = "yolos";
    spec.class_prefix = "Yolos";
    spec.parse_config = yolos_detail::parse_config;
    spec.family_keys = yolos_detail::family_keys;
    spec.forward = [](const layer_context& ctx, trace& t) {
        return forward_image_model(ctx, t, "vit", yolos_detail::base, yolos_detail::detect);
    };
    spec.supported_heads = {head_kind::none, head_kind::object_detection};
    spec.accepts_any_image_size = true;
    spec.defaults.head = head_kind::object_detection;
    return spec;
}(vit);

}  // namespace llmcost::arch
