// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/layers/convolution.hpp>
#include <llmcost/reading/images.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace dinov2_detail {

enum own : std::uint8_t { registers, ratio, gated, drops, registered, masked };
inline constexpr own_key keys[]{
    {.value = own_value::computed},           {"mlp_ratio", 4}, {"use_swiglu_ffn", 0, own_value::boolean},
    {.value = own_value::computed},  // a module that drops paths in training
    {.value = own_value::computed},  // whether there is a tensor of registers, be it empty
    {"use_mask_token", 1, own_value::boolean}};

/// A class token and learned positions, resampled to an image's patches, and registers between the two where there are such.
struct embeddings {
    const site& here;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Embeddings"); }
    constexpr value describe(trace& t, const value& pixels) const {
        const vision_sizes& image = here.dims.vision;
        const std::int64_t width = here.dims.hidden_size, batch = pixels.dim(0), more = here.dims.own[registers];
        const std::int64_t side = image.image_height / image.patch_size;
        const value token = t.param("cls_token", {1, 1, width});
        if (here.dims.own[masked] != 0) {
            const recorder::idle_guard nothing_is_masked{t};
            (void)t.param("mask_token", {1, width});
        }
        value places = t.param("position_embeddings", {1, side * side + 1, width});
        const bool holds_registers = here.dims.own[registered] != 0;
        const value register_tokens = holds_registers ? t.param("register_tokens", {1, more, width}) : value{};
        const module_info patch_embeddings{.name = "patch_embeddings", .type = here.type("PatchEmbeddings")};
        t.enter(patch_embeddings);
        const value projected = t.call("projection", patch_convolution{image, width}, pixels);
        const value tokens = t.leave(patch_embeddings, as_tokens(projected));
        places = resampled_places(here, t, places, 1);
        const value x = t.add(t.cat({token.expand({batch, 1, width}), tokens}, 1), places);
        if (!holds_registers) return dropout(t, "dropout", x);
        const value joined =
            t.cat({t.slice(x, 1, 1), register_tokens.expand({batch, more, width}), t.slice(x, 1, tokens.dim(1))}, 1);
        return dropout(t, "dropout", joined);
    }
};

struct attention {
    const sizes& dims;
    literal prefix;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "Attention"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value mixed = attend_within(t, x, dims.hidden_size, dims.num_attention_heads, dims.attention_bias,
                                          {"q_proj", "k_proj", "v_proj"}, false, all_positions(x.dim(1)));
        return t.call("o_proj", linear{dims.hidden_size, dims.hidden_size, true}, mixed);
    }
};

/// A factor for each feature of what a block adds.
struct layer_scale {
    std::int64_t width;
    literal prefix;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "LayerScale"}; }
    constexpr value describe(trace& t, const value& x) const { return t.mul(x, t.param("lambda1", {width})); }
};

struct layer {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const literal prefix = here.row.prefix;
        const std::int64_t width = here.dims.hidden_size;
        const norm<norm_kind::layer> layer_norm{width};
        const drop_path_module path{prefix, here.dims.own[drops] != 0};
        const auto drop = [&](const value& h) { return t.call("drop_path", path, h); };
        value h = t.call("attention", attention{here.dims, prefix}, t.call("norm1", layer_norm, x));
        const value middle = t.add(drop(t.call("layer_scale1", layer_scale{width, prefix}, h)), x);
        h = feed(t, t.call("norm2", layer_norm, middle));
        return t.add(drop(t.call("layer_scale2", layer_scale{width, prefix}, h)), middle);
    }
    constexpr value feed(trace& t, const value& h) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        if (here.dims.own[gated]) {
            const mlp<mlp_kind::gated> block{width, inner, activation::silu, here.type("SwiGLUFFN"), true};
            return t.call("mlp", block, h);
        }
        const mlp<mlp_kind::plain> block{width,
                                         inner,
                                         here.dims.hidden_act,
                                         here.type("MLP"),
                                         true,
                                         {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        return t.call("mlp", block, h);
    }
};

constexpr value base(const site& here, trace& t) {
    value x = t.call("embeddings", embeddings{here}, images_of(here, t));
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layer", each.index()}, layer{here}, x);
    t.leave(encoder);
    return t.call("layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
}

/// A linear layer over the class token beside the patches' mean.
constexpr value classify(const site& here, trace& t, const value& x) {
    const value first = t.select(x, 1);
    const value patches = t.slice(x, 1, x.dim(1) - 1 - here.dims.own[registers]);
    return classify_linear(here, t, t.cat({first, t.mean(patches, 1)}, 1));
}

constexpr value describe(const site& here, trace& t) {
    return describe_image_model(here, t, here.row.names.base, base, classify);
}

constexpr void read(config_view config, sizes& s) {
    read_vit(config, s);
    if (s.vision.image_height != s.vision.image_width)
        fail_unsupported(config, "image_size", "no row describes positions that are interpolated for oblong images");
    s.own[drops] = config.real("drop_path_rate", 0.0) > 0.0;
    s.intermediate_size = checked_width(config, "mlp_ratio", s.hidden_size, s.own[ratio]);
    if (s.own[gated]) s.intermediate_size = (s.intermediate_size * 2 / 3 + 7) / 8 * 8;
}

}  // namespace dinov2_detail

// transformers/models/dinov2: configuration_dinov2.py, modeling_dinov2.py, a vision transformer with scaled blocks
inline constexpr architecture dinov2 = [](architecture a) {
    a.model_type = "dinov2", a.prefix = "Dinov2", a.describe = dinov2_detail::describe;
    a.read = [](config_view config, sizes& s) {
        dinov2_detail::read(config, s);
        if (!config.contains("patch_size")) s.vision.patch_size = 14;
    };
    a.base = dinov2_detail::base, a.own = dinov2_detail::keys, a.tokens_ahead = 1, a.any_image = true;
    a.heads = {head_kind::none, head_kind::image_classification}, a.names.base = "dinov2";
    return a;
}(vit);

}  // namespace llmcost::arch
