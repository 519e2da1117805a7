// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/reading/images.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace data2vec_vision_detail {

enum own : std::uint8_t { mask_token, absolute, biased, shared, mean_pooling, scaled, drops };
inline constexpr own_key keys[]{
    {"use_mask_token", 0, own_value::boolean},
    {"use_absolute_position_embeddings", 0, own_value::boolean},
    {"use_relative_position_bias", 0, own_value::boolean},
    {"use_shared_relative_position_bias", 0, own_value::boolean},
    {"use_mean_pooling", 1, own_value::boolean},
    {.value = own_value::computed},
    {.value = own_value::computed},
};

/// A bias for each distance of two patches, and three for those of the class token; (1, H, tokens, tokens).
///
/// The table is resampled to the image's distances, be they as many as it has.
struct relative_bias {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("RelativePositionBias"); }
    constexpr value describe(trace& t) const {
        const vision_sizes& image = here.dims.vision;
        const std::int64_t heads = here.dims.num_attention_heads;
        const std::int64_t high = image.image_height / image.patch_size, wide = image.image_width / image.patch_size;
        const extents grid = patch_grid(here, t);
        const std::int64_t old_rows = 2 * high - 1, old_columns = 2 * wide - 1, tokens = grid.size[0] * grid.size[1] + 1;
        const std::int64_t rows = 2 * grid.size[0] - 1, columns = 2 * grid.size[1] - 1, old = old_rows * old_columns;
        const value table = t.param("relative_position_bias_table", {old + 3, heads});
        const value places = t.slice(table, 0, old).view({1, old_columns, old_rows, heads}).permute({0, 3, 1, 2});
        const value resampled = t.reshape(t.bilinear(places, rows, columns).permute({0, 2, 3, 1}), {rows * columns, heads});
        const value all = t.cat({resampled, t.slice(table, 0, 3)}, 0);
        const value picked = t.gather(all, {tokens * tokens, heads}).view({tokens, tokens, heads});
        return t.contiguous(picked.permute({2, 0, 1})).unsqueeze(0);
    }
};

struct self_attention {
    const site& here;
    const value* of_all;  ///< a bias that all layers share; none: there is none

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("SelfAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
        const auto project = [&](literal name, bool bias) {
            const value all = t.call(name, linear{width, width, bias}, x);
            return all.view({x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
        };
        const value q = project("query", true), k = project("key", false), v = project("value", true);
        const recorder::fused_guard fused{t, fused_attention(q, heads, all_positions(x.dim(1)).where, x.dim(1))};
        value scores = t.div(t.matmul(q, k.transpose(-1, -2)));
        if (here.dims.own[biased] != 0) {
            const module_info bias{
                .name = "relative_position_bias", .type = here.type("RelativePositionBias"), .leaf = true};
            t.enter(bias);
            scores = t.add(scores, t.leave(bias, relative_bias{here}.describe(t)));
        }
        if (of_all != nullptr) scores = t.add(scores, *of_all);
        const value mixed =
            t.matmul(dropout(t, "dropout", t.softmax(scores), dropout_of::attention), v).permute({0, 2, 1, 3});
        return t.contiguous(mixed).view({x.dim(0), x.dim(1), width});
    }
};

/// A linear layer and dropout.
constexpr value call_output(const site& here, trace& t, literal type, std::int64_t in, const value& x) {
    const module_info output{.name = "output", .type = here.type(type)};
    t.enter(output);
    return t.leave(output, dropout(t, "dropout", t.call("dense", linear{in, here.dims.hidden_size, true}, x)));
}

struct layer {
    const site& here;
    bool drops_path;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x, const value* of_all) const {
        const std::int64_t width = here.dims.hidden_size;
        const bool scales = here.dims.own[scaled] != 0;
        const norm<norm_kind::layer> layer_norm{width};
        const drop_path_module path{here.row.prefix, drops_path};
        const module_info attention{.name = "attention", .type = here.type("Attention"), .what = role::attn};
        const value first = scales ? t.param("lambda_1", {width}) : value{};
        const value second = scales ? t.param("lambda_2", {width}) : value{};
        value h = t.call("layernorm_before", layer_norm, x);
        t.enter(attention);
        h = call_output(here, t, "SelfOutput", width, t.call("attention", self_attention{here, of_all}, h));
        t.leave(attention);
        if (scales) h = t.mul(first, h);
        const value middle = t.add(t.call("drop_path", path, h), x);
        h = t.call("intermediate", bert_layers::intermediate_block{here}, t.call("layernorm_after", layer_norm, middle));
        h = call_output(here, t, "Output", here.dims.intermediate_size, h);
        if (scales) h = t.mul(second, h);
        return t.add(t.call("drop_path", path, h), middle);
    }
};

/// Patches behind a class token, with positions of their own where there are such.
constexpr value embed(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size, batch = t.load().batch;
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
    value x = t.cat({token.expand({batch, 1, width}), tokens}, 1);
    if (here.dims.own[absolute] != 0) x = t.add(x, resampled_places(here, t, places, 1));
    return dropout(t, "dropout", x);
}

constexpr value call_layer(const site& here, trace& t, std::int64_t index, const value& x) {
    const module_info m{.name = "layer", .index = index, .type = here.type("Layer")};
    value of_all;
    const bool shares = here.dims.own[shared] != 0;
    if (shares) {
        const recorder::called_again_guard again{t, index > 0};
        const module_info bias{.name = "relative_position_bias", .type = here.type("RelativePositionBias"), .leaf = true};
        t.enter(bias);
        of_all = t.leave(bias, relative_bias{here}.describe(t));
    }
    t.enter(m);
    return t.leave(m, layer{here, index > 0 && here.dims.own[drops] != 0}.describe(t, x, shares ? &of_all : nullptr));
}

constexpr value base(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size;
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    const norm<norm_kind::layer> layer_norm{width};
    t.enter(embeddings);
    value x = t.leave(embeddings, embed(here, t));
    t.enter(encoder);
    x = call_layer(here, t, 0, x);
    for (repetition each = t.repeat(here.dims.num_hidden_layers - 1, x, 1); each.next();)
        x = call_layer(here, t, each.index(), x);
    t.leave(encoder);
    const bool means = here.dims.own[mean_pooling] != 0;
    x = means ? t.call("layernorm", identity{"Identity"}, x) : t.call("layernorm", layer_norm, x);
    if (here.dims.head == head_kind::none) return x;
    const module_info pooler{.name = "pooler", .type = here.type("Pooler"), .leaf = !means};
    t.enter(pooler);
    return t.leave(pooler, means ? t.call("layernorm", layer_norm, t.mean(t.slice(x, 1, x.dim(1) - 1), 1)) : t.select(x, 1));
}

}  // namespace data2vec_vision_detail

/// A vision transformer with scaled blocks and a bias for each distance of patches.
///
/// Source: transformers/models/data2vec/modeling_data2vec_vision.py.
constexpr value describe_data2vec_vision(const site& here, trace& t) {
    return describe_image_model(here, t, "data2vec_vision", data2vec_vision_detail::base, classify_linear);
}

constexpr void read_data2vec_vision(config_view config, sizes& s) {
    using namespace data2vec_vision_detail;
    s.vision = read_images(config, 224);
    s.vision.patch_size = config.positive("patch_size", 16);
    const bool square = s.vision.image_height == s.vision.image_width;
    if (s.vision.image_height < s.vision.patch_size || s.vision.image_width < s.vision.patch_size)
        fail_value(config, "patch_size", "at most the image's size");
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    if (s.own[absolute] != 0 && !square)
        fail_unsupported(config, "image_size", "no row describes positions that are resampled to oblong images");
    s.own[scaled] = config.real("layer_scale_init_value", 0.1) > 0.0;
    s.own[drops] = config.real("drop_path_rate", 0.1) > 0.0;
}

// transformers/models/data2vec: configuration_data2vec_vision.py, modeling_data2vec_vision.py
inline constexpr architecture data2vec_vision = [](architecture a) {
    a.model_type = "data2vec-vision", a.prefix = "Data2VecVision", a.describe = describe_data2vec_vision;
    a.read = read_data2vec_vision, a.own = data2vec_vision_detail::keys, a.any_image = true;
    a.base = data2vec_vision_detail::base;
    a.heads = {head_kind::none, head_kind::image_classification}, a.names = {};
    return a;
}(vit);

}  // namespace llmcost::arch
