// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/einsum.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/reading/images.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace cvt_detail {

inline constexpr std::int64_t most = 5;  // stages: four words for each

enum own : std::uint8_t { stages, words };
inline constexpr own_key keys[]{{.value = own_value::computed}};

/// A stage: what shrinks images in front of it, and its layers.
struct stage_sizes {
    std::int64_t width, heads, depth, inner;
    std::int64_t patch, stride, padding;
    std::int64_t kernel, stride_q, padding_q, stride_kv, padding_kv;
    bool bias, token, drops;

    /// Four words of a family's sizes.
    constexpr void write(own_sizes& to, std::int64_t stage) const {
        const auto at = words + 4 * static_cast<std::size_t>(stage);
        to[at] = width << 31 | heads;
        to[at + 1] = depth << 31 | inner;
        to[at + 2] = (patch << 16 | stride) << 16 | padding;
        to[at + 3] = (((((kernel << 10 | stride_q) << 10 | padding_q) << 10 | stride_kv) << 10 | padding_kv) << 3) |
                     (bias ? 4 : 0) | (token ? 2 : 0) | (drops ? 1 : 0);
    }
    [[nodiscard]] static constexpr stage_sizes read(const sizes& dims, std::int64_t stage) {
        const auto at = words + 4 * static_cast<std::size_t>(stage);
        const std::int64_t a = dims.own[at], b = dims.own[at + 1], c = dims.own[at + 2], d = dims.own[at + 3];
        const std::int64_t word = 0x7fffffff, half = 0xffff, ten_bits = 0x3ff;
        return {a >> 31,
                a & word,
                b >> 31,
                b & word,
                c >> 32,
                c >> 16 & half,
                c & half,
                d >> 43 & ten_bits,
                d >> 33 & ten_bits,
                d >> 23 & ten_bits,
                d >> 13 & ten_bits,
                d >> 3 & ten_bits,
                (d & 4) != 0,
                (d & 2) != 0,
                (d & 1) != 0};
    }
};

/// The way back, a view of what `as_tokens` has made or a copy.
constexpr value as_image(const value& x, std::int64_t rows, std::int64_t columns) {
    return x.permute({0, 2, 1}).view({x.dim(0), x.dim(2), rows, columns});
}

/// A convolution for each channel with a batch norm, then places as tokens.
struct projection {
    const site& here;
    convolution_2d dims;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("SelfAttentionProjection"); }
    constexpr value describe(trace& t, const value& x) const {
        const module_info inner{.name = "convolution_projection", .type = here.type("SelfAttentionConvProjection")};
        const module_info last{
            .name = "linear_projection", .type = here.type("SelfAttentionLinearProjection"), .leaf = true};
        t.enter(inner);
        const value h = t.call("normalization", batch_norm_2d{dims.out}, t.call("convolution", dims, x));
        t.leave(inner);
        t.enter(last);
        return t.leave(last, as_tokens(h));
    }
};

struct self_attention {
    const site& here;
    const stage_sizes& dims;
    std::int64_t rows, columns;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("SelfAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = dims.width, d = width / dims.heads, batch = x.dim(0), places = rows * columns;
        const value token = dims.token ? x.slice(1, 1) : value{};
        const value image = as_image(dims.token ? t.slice(x, 1, places) : x, rows, columns);
        const auto project = [&](literal name, std::int64_t stride, std::int64_t padding) {
            const convolution_2d each{width, width, dims.kernel, stride, padding, width, false};
            return t.call(name, projection{here, each}, image);
        };
        value k = project("convolution_projection_key", dims.stride_kv, dims.padding_kv);
        value q = project("convolution_projection_query", dims.stride_q, dims.padding_q);
        value v = project("convolution_projection_value", dims.stride_kv, dims.padding_kv);
        if (dims.token) q = t.cat({token, q}, 1), k = t.cat({token, k}, 1), v = t.cat({token, v}, 1);
        const auto split = [&](literal name, const value& h) {
            const value all = t.call(name, linear{width, width, dims.bias}, h);
            return all.view({batch, h.dim(1), dims.heads, d}).permute({0, 2, 1, 3});
        };
        q = split("projection_query", q), k = split("projection_key", k), v = split("projection_value", v);
        value mixed;
        {
            const context where{.sequence = q.dim(2), .causal = false};
            const recorder::fused_guard fused{t, fused_attention(q, dims.heads, where, k.dim(2))};
            const value scores = t.mul(einsum(t, "bhlk,bhtk->bhlt", q, k));
            mixed = einsum(t, "bhlt,bhtv->bhlv", dropout(t, "dropout", t.softmax(scores), dropout_of::attention), v);
        }
        return t.contiguous(mixed.permute({0, 2, 1, 3})).view({batch, q.dim(2), width});
    }
};

struct attention {
    const site& here;
    const stage_sizes& dims;
    std::int64_t rows, columns;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const module_info output{.name = "output", .type = here.type("SelfOutput")};
        const value h = t.call("attention", self_attention{here, dims, rows, columns}, x);
        t.enter(output);
        return t.leave(output, dropout(t, "dropout", t.call("dense", linear{dims.width, dims.width, true}, h)));
    }
};

/// `nn.GELU`.
struct plain_gelu : activation_module {
    constexpr plain_gelu() noexcept : activation_module{activation::gelu} {}
    [[nodiscard]] constexpr class_name type() const { return {"", "GELU"}; }
};

struct layer {
    const site& here;
    const stage_sizes& dims;
    std::int64_t rows, columns;
    bool drops_path;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> layer_norm{dims.width};
        const drop_path_module path{here.row.prefix, drops_path};
        const module_info intermediate{.name = "intermediate", .type = here.type("Intermediate"), .what = role::mlp};
        const module_info output{.name = "output", .type = here.type("Output"), .what = role::mlp};
        const attention attends{here, dims, rows, columns};
        value h = t.call("attention", attends, t.call("layernorm_before", layer_norm, x));
        const value middle = t.add(t.call("drop_path", path, h), x);
        h = t.call("layernorm_after", layer_norm, middle);
        t.enter(intermediate);
        h = t.call("activation", plain_gelu{}, t.call("dense", linear{dims.width, dims.inner, true}, h));
        t.leave(intermediate);
        t.enter(output);
        h = dropout(t, "dropout", t.call("dense", linear{dims.inner, dims.width, true}, h));
        h = t.leave(output, t.add(h, middle));
        return t.call("drop_path", path, h);
    }
};

/// A convolution that shrinks images, with a norm over channels.
constexpr value embed(const site& here, trace& t, const stage_sizes& dims, const value& x) {
    const module_info embedding{.name = "embedding", .type = here.type("Embeddings")};
    const module_info inner{.name = "convolution_embeddings", .type = here.type("ConvEmbeddings")};
    t.enter(embedding);
    t.enter(inner);
    const convolution_2d shrinks{x.dim(1), dims.width, dims.patch, dims.stride, dims.padding};
    const value h = t.call("projection", shrinks, x);
    const value normed = t.call("normalization", norm<norm_kind::layer>{dims.width}, as_tokens(h));
    const value image = t.leave(inner, as_image(normed, h.dim(2), h.dim(3)));
    return t.leave(embedding, dropout(t, "dropout", image));
}

/// Its last tokens, the class token with them where it has one.
constexpr value stage(const site& here, trace& t, std::int64_t i, const value& x) {
    const stage_sizes dims = stage_sizes::read(here.dims, i);
    const module_info module{.name = "stages", .index = i, .type = here.type("Stage")};
    const module_info layers{.name = "layers", .type = {"", "Sequential"}};
    t.enter(module);
    const value token = dims.token ? t.param("cls_token", {1, 1, dims.width}) : value{};
    const value image = embed(here, t, dims, x);
    const std::int64_t rows = image.dim(2), columns = image.dim(3);
    value h = as_tokens(image);
    if (dims.token) h = t.cat({token.expand({x.dim(0), 1, dims.width}), h}, 1);
    t.enter(layers);
    // the first layer may read transposed tokens; all have the rate of the stage's number in a list that grows from zero
    h = t.call(module_place::item(0), layer{here, dims, rows, columns, dims.drops}, h);
    for (repetition each = t.repeat(dims.depth - 1, h, 1); each.next();)
        h = t.call(module_place::item(each.index()), layer{here, dims, rows, columns, dims.drops}, h);
    t.leave(layers);
    t.leave(module);
    const bool read_by_class = dims.token && i + 1 == here.dims.own[stages] && here.dims.head != head_kind::none;
    if (read_by_class) return t.slice(h, 1, 1);
    return as_image(dims.token ? t.slice(h, 1, rows * columns) : h, rows, columns);
}

constexpr value base(const site& here, trace& t) {
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    value x = images_of(here, t);
    for (std::int64_t i = 0; i < here.dims.own[stages]; ++i) x = stage(here, t, i, x);
    return t.leave(encoder, x);
}

/// A classifier of the class token, or of the mean over all places.
constexpr value classify(const site& here, trace& t, const value& x) {
    const stage_sizes last = stage_sizes::read(here.dims, here.dims.own[stages] - 1);
    const value tokens = last.token ? x : as_tokens(x);
    const value h = t.call("layernorm", norm<norm_kind::layer>{last.width}, tokens);
    return classify_linear(here, t, t.mean(h, 1));
}

/// What stands in a list for a stage, or in the class's own one.
constexpr maybe<config_view> listed(config_view config, literal key, std::int64_t stage) {
    const auto found = config.find(key);
    if (!found || found->is_null()) {
        if (stage >= 3) fail_value(config, key, "a list with an entry for each stage");
        return {};
    }
    if (!found->is_array() || static_cast<std::int64_t>(found->size()) <= stage)
        fail_value(config, key, "a list with an entry for each stage");
    return (*found)[static_cast<std::size_t>(stage)];
}

constexpr stage_sizes read_stage(config_view config, std::int64_t i) {
    constexpr std::int64_t ones[]{1, 1, 1}, twos[]{2, 2, 2}, threes[]{3, 3, 3};
    constexpr std::int64_t patches[]{7, 3, 3}, strides[]{4, 2, 2}, paddings[]{2, 1, 1};
    constexpr std::int64_t widths[]{64, 192, 384}, heads[]{1, 3, 6}, depths[]{1, 2, 10};
    const auto number = [&](literal key, const std::int64_t(&otherwise)[3], std::int64_t least, std::int64_t largest) {
        const auto found = listed(config, key, i);
        const std::int64_t n = found ? found->as_non_negative() : otherwise[i];
        if (n < least || n > largest) fail_value(config, key, "numbers in the range that a row describes");
        return n;
    };
    const auto flag = [&](literal key, bool otherwise) {
        const auto found = listed(config, key, i);
        return found ? found->as_boolean() : otherwise;
    };
    const auto real = [&](literal key, double otherwise) {
        const auto found = listed(config, key, i);
        return found ? found->as_real() : otherwise;
    };
    const auto method = listed(config, "qkv_projection_method", i);
    if (method && method->as_string() != "dw_bn")
        fail_unsupported(config, "qkv_projection_method", "only dw_bn is described");
    stage_sizes s{};
    s.width = number("embed_dim", widths, 1, 0x7fffffff), s.heads = number("num_heads", heads, 1, 0x7fffffff);
    s.depth = number("depth", depths, 1, 0xffff);
    const double inner = static_cast<double>(s.width) * real("mlp_ratio", 4.0);
    if (!(inner >= 1 && inner <= largest_input)) fail_value(config, "mlp_ratio", "ratios that leave a feature");
    s.inner = static_cast<std::int64_t>(inner);
    s.patch = number("patch_sizes", patches, 1, 0x7fff), s.stride = number("patch_stride", strides, 1, 0x7fff);
    s.padding = number("patch_padding", paddings, 0, 0x7fff), s.kernel = number("kernel_qkv", threes, 1, 0x3ff);
    s.stride_q = number("stride_q", ones, 1, 0x3ff), s.padding_q = number("padding_q", ones, 0, 0x3ff);
    s.stride_kv = number("stride_kv", twos, 1, 0x3ff), s.padding_kv = number("padding_kv", ones, 0, 0x3ff);
    s.bias = flag("qkv_bias", true), s.token = flag("cls_token", i == 2);
    // `CvtStage` picks the stage's number from rates that grow from zero over its layers
    s.drops = real("drop_path_rate", i == 2 ? 0.1 : 0.0) > 0.0 && i > 0;
    if (s.width % s.heads != 0) fail_value(config, "num_heads", "divisors of embed_dim");
    if (s.drops && i >= s.depth) fail_value(config, "depth", "more layers than stages lie before them");
    return s;
}

}  // namespace cvt_detail

/// Attention over places that convolutions project, in stages.
///
/// Source: transformers/models/cvt/modeling_cvt.py.
constexpr value describe_cvt(const site& here, trace& t) {
    return describe_image_model(here, t, "cvt", cvt_detail::base, cvt_detail::classify);
}

constexpr void read_cvt(config_view config, sizes& s) {
    using namespace cvt_detail;
    s.vision = read_images(config, 224);
    const auto found = config.optional_array("depth");
    const std::int64_t n = s.own[stages] = found ? static_cast<std::int64_t>(found->size()) : 3;
    if (n < 1 || n > most) fail_unsupported(config, "depth", "no row describes so many stages");
    const std::int64_t last = read_stage(config, n - 1).width;
    for (std::int64_t i = 0; i < n; ++i) {
        const stage_sizes stage = read_stage(config, i);
        if (stage.token && stage.width != last)
            fail_value(config, "cls_token", "only where embed_dim is that of the last stage");
        stage.write(s.own, i);
    }
}

// transformers/models/cvt: configuration_cvt.py, modeling_cvt.py
inline constexpr architecture cvt{
    .model_type = "cvt",
    .prefix = "Cvt",
    .describe = describe_cvt,
    .read = read_cvt,
    .own = cvt_detail::keys,
    .rotated = rotation::none,
    .any_image = true,
    .heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::gelu),
};

}  // namespace llmcost::arch
