// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/layers/convolution.hpp>
#include <llmcost/walks/encoder_model.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace yolos_detail {

enum own : std::uint8_t { detected, between };
inline constexpr own_key keys[]{{"num_detection_tokens", 100},
                                {"use_mid_position_embeddings", 1, own_value::boolean}};  // positions between layers, too

/// Positions of the configuration's patches resampled to the images', between a class token's and those of detections:
/// (depth, 1, positions, width), or of embeddings (1, positions, width).
constexpr value resample(const site& here, trace& t, const value& places, std::int64_t depth) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t high = image.image_height / image.patch_size, wide = image.image_width / image.patch_size;
    const std::int64_t width = here.dims.hidden_size, n = here.dims.own[detected];
    const int along = places.rank - 2;
    const value first = t.slice(places, along, 1), last = t.slice(places, along, n);
    const value grid = t.slice(places, along, high * wide).view({depth, high, wide, width}).permute({0, 3, 1, 2});
    const value others = as_tokens(t.resample(op::bicubic, grid, patch_grid(here, t)));
    const value middle = places.rank == 3 ? others : others.unsqueeze(1);
    return t.cat({first, middle, last}, along);
}

/// Those of embeddings.
struct initial_positions {
    const site& here;
    const value& places;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "InterpolateInitialPositionEmbeddings"}; }
    constexpr value describe(trace& t) const { return resample(here, t, places, 1); }
};

/// Those that are added behind every layer but the last.
struct positions_between {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "InterpolateMidPositionEmbeddings"}; }
    constexpr value describe(trace& t) const {
        const vision_sizes& image = here.dims.vision;
        const std::int64_t depth = here.dims.num_hidden_layers - 1;
        const std::int64_t patches = (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
        const extents all{depth, 1, 1 + patches + here.dims.own[detected], here.dims.hidden_size};
        return resample(here, t, t.param("mid_position_embeddings", all), depth);
    }
};

/// A class token, patches, tokens of what is detected.
constexpr value embed(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size, n = here.dims.own[detected];
    const std::int64_t patches = (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
    const value pixels = images_of(here, t);
    const value token = t.param("cls_token", {1, 1, width}), found = t.param("detection_tokens", {1, n, width});
    const value places = t.param("position_embeddings", {1, patches + n + 1, width});
    const module_info patch_embeddings{.name = "patch_embeddings", .type = here.type("PatchEmbeddings")};
    t.enter(patch_embeddings);
    const value tokens = t.leave(patch_embeddings, as_tokens(t.call("projection", patch_convolution{image, width}, pixels)));
    const std::int64_t batch = pixels.dim(0);
    const value x = t.cat({token.expand({batch, 1, width}), tokens, found.expand({batch, n, width})}, 1);
    return dropout(t, "dropout", t.add(x, t.call("interpolation", initial_positions{here, places})));
}

/// A linear layer and dropout.
constexpr value call_output(const site& here, trace& t, literal type, const value& x) {
    const module_info output{.name = "output", .type = here.type(type)};
    t.enter(output);
    return t.leave(output, dropout(t, "dropout", t.call("dense", linear{x.dim(-1), here.dims.hidden_size, true}, x)));
}

struct layer {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const norm<norm_kind::layer> layer_norm{width};
        const module_info attention{.name = "attention", .type = here.type("Attention"), .what = role::attn};
        const module_info self{.name = "attention", .type = here.type("SelfAttention")};
        const value normed = t.call("layernorm_before", layer_norm, x);
        t.enter(attention);
        t.enter(self);
        const value mixed = attend_within(t, normed, width, here.dims.num_attention_heads, here.dims.attention_bias, {},
                                          false, all_positions(x.dim(1)));
        t.leave(self);
        value h = t.leave(attention, call_output(here, t, "SelfOutput", mixed));
        const value middle = t.add(h, x);
        h = t.call("intermediate", bert_layers::intermediate_block{here}, t.call("layernorm_after", layer_norm, middle));
        const module_info output{.name = "output", .type = here.type("Output")};
        t.enter(output);
        h = dropout(t, "dropout", t.call("dense", linear{here.dims.intermediate_size, width, true}, h));
        return t.leave(output, t.add(h, middle));
    }
};

constexpr value base(const site& here, trace& t) {
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    const std::int64_t last = here.dims.num_hidden_layers - 1;
    t.enter(embeddings);
    value x = t.leave(embeddings, embed(here, t));
    t.enter(encoder);
    const bool adds = here.dims.own[between] != 0;
    value places;
    if (adds) places = t.call("interpolation", positions_between{here});
    for (repetition each = t.repeat(last, x); each.next();) {
        x = t.call({"layer", each.index()}, layer{here}, x);
        if (adds) x = t.add(x, t.select(places, 0));
    }
    x = t.leave(encoder, t.call({"layer", last}, layer{here}, x));
    x = t.call("layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
    if (here.dims.head != head_kind::none) return x;
    const recorder::off_loss_guard unread{t};
    (void)pool_first(here, t, x);
    return x;
}

/// Three linear layers.
struct prediction_head {
    const site& here;
    std::int64_t out;

    static constexpr role what = role::head;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MLPPredictionHead"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const linear inner{width, width, true};
        const value h = t.unary(op::relu, t.call({"layers", 0}, inner, x));
        return t.call({"layers", 2}, linear{width, out, true}, t.unary(op::relu, t.call({"layers", 1}, inner, h)));
    }
};

/// Labels of what is detected, with one for nothing, and beside them boxes.
constexpr value detect(const site& here, trace& t, const value& x) {
    const value found = t.slice(x, 1, here.dims.own[detected]);
    const value labels = t.call("class_labels_classifier", prediction_head{here, here.dims.num_labels + 1}, found);
    const recorder::off_loss_guard boxes_are_unread{t};
    (void)t.sigmoid(t.call("bbox_predictor", prediction_head{here, 4}, found));
    return labels;
}

constexpr void read(config_view config, sizes& s) {
    read_vit(config, s);
    if (!config.contains("image_size")) s.vision.image_height = 512, s.vision.image_width = 864;
    const vision_sizes& image = s.vision;
    if (s.own[between] != 0 && (image.image_height % image.patch_size != 0 || image.image_width % image.patch_size != 0))
        fail_value(config, "image_size", "a multiple of patch_size where positions stand between layers");
    if (config.non_negative("chunk_size_feed_forward", 0) != 0)
        fail_unsupported(config, "chunk_size_feed_forward", "no row describes a feed-forward block in chunks");
}

}  // namespace yolos_detail

// transformers/models/yolos: configuration_yolos.py, modeling_yolos.py, a vision transformer whose last tokens are
// detections
inline constexpr architecture yolos = [](architecture a) {
    a.model_type = "yolos", a.prefix = "Yolos", a.read = yolos_detail::read, a.own = yolos_detail::keys;
    a.describe = [](const site& here, trace& t) {
        return describe_image_model(here, t, "vit", yolos_detail::base, yolos_detail::detect);
    };
    a.heads = {head_kind::none, head_kind::object_detection}, a.any_image = true;
    a.defaults.head = head_kind::object_detection;
    return a;
}(vit);

}  // namespace llmcost::arch
