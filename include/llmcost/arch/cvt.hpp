// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/einsum.hpp>
#include <llmcost/layers/norm.hpp>

namespace llmcost::arch {

namespace cvt_detail {

inline constexpr std::int64_t maximum = 5;  // maximum number of stages; each takes four integers

enum family_config_index : std::uint8_t { stages, packed_stages };
inline constexpr family_key family_keys[]{{.type = family_key_type::computed}};

/// Sizes of one stage: its convolutional embedding and its layers.
struct stage_sizes {
    std::int64_t width, heads, depth, inner;
    std::int64_t patch, stride, padding;
    std::int64_t kernel, stride_q, padding_q, stride_kv, padding_kv;
    bool bias, token, drops;

    /// Packs the sizes into four integers of `family_config`.
    constexpr void write(family_config& to, std::int64_t stage) const {
        const auto offset = packed_stages + 4 * static_cast<std::size_t>(stage);
        to[offset] = width << 31 | heads;
        to[offset + 1] = depth << 31 | inner;
        to[offset + 2] = (patch << 16 | stride) << 16 | padding;
        to[offset + 3] = (((((kernel << 10 | stride_q) << 10 | padding_q) << 10 | stride_kv) << 10 | padding_kv) << 3) |
                         (bias ? 4 : 0) | (token ? 2 : 0) | (drops ? 1 : 0);
    }
    [[nodiscard]] static constexpr stage_sizes parse_config(const model_config& config, std::int64_t stage) {
        const auto offset = packed_stages + 4 * static_cast<std::size_t>(stage);
        const std::int64_t a = config.family[offset], b = config.family[offset + 1], c = config.family[offset + 2],
                           d = config.family[offset + 3];
        const std::int64_t low_31_bits = 0x7fffffff, half = 0xffff, ten_bits = 0x3ff;
        return {a >> 31,
                a & low_31_bits,
                b >> 31,
                b & low_31_bits,
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

/// Converts tokens to an image. Depending on the layout, the result is a view or a copy.
constexpr tensor as_image(const tensor& x, std::int64_t rows, std::int64_t columns) {
    return x.permute({0, 2, 1}).view({x.dim(0), x.dim(2), rows, columns});
}

/// Depthwise convolution with batch norm; returns the positions as tokens.
struct projection {
    const layer_context& ctx;
    convolution_2d conv;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("SelfAttentionProjection"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const module_info inner{.name = "convolution_projection",
                                .class_of_module = ctx.class_of("SelfAttentionConvProjection")};
        const module_info last{.name = "linear_projection",
                               .class_of_module = ctx.class_of("SelfAttentionLinearProjection"),
                               .is_leaf = true};
        t.enter(inner);
        const tensor h = t.call("normalization", batch_norm_2d{conv.out}, t.call("convolution", conv, x));
        t.leave(inner);
        t.enter(last);
        return t.leave(last, as_tokens(h));
    }
};

struct self_attention {
    const layer_context& ctx;
    const stage_sizes& stage;
    std::int64_t rows, columns;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("SelfAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = stage.width, d = width / stage.heads, batch = x.dim(0), places = rows * columns;
        const tensor token = stage.token ? x.slice(1, 1) : tensor{};
        const tensor image = as_image(stage.token ? t.slice(x, 1, places) : x, rows, columns);
        const auto project = [&](literal name, std::int64_t stride, std::int64_t padding) {
            const convolution_2d conv{width, width, stage.kernel, stride, padding, width, false};
            return t.call(name, projection{ctx, conv}, image);
        };
        tensor k = project("convolution_projection_key", stage.stride_kv, stage.padding_kv);
        tensor q = project("convolution_projection_query", stage.stride_q, stage.padding_q);
        tensor v = project("convolution_projection_value", stage.stride_kv, stage.padding_kv);
        if (stage.token) {
            q = t.cat({token, q}, 1);
            k = t.cat({token, k}, 1);
            v = t.cat({token, v}, 1);
        }
        const auto split = [&](literal name, const tensor& h) {
            const tensor all = t.call(name, linear{width, width, stage.bias}, h);
            return all.view({batch, h.dim(1), stage.heads, d}).permute({0, 2, 1, 3});
        };
        q = split("projection_query", q);
        k = split("projection_key", k);
        v = split("projection_value", v);
        tensor mixed;
        {
            const attention_pattern pattern{.query_length = q.dim(2), .is_causal = false};
            const recorder::fused_kernel_guard fused{t, fused_attention_kernel(q, stage.heads, pattern, k.dim(2))};
            const tensor scores = t.mul_scalar(einsum(t, "bhlk,bhtk->bhlt", q, k));
            mixed =
                einsum(t, "bhlt,bhtv->bhlv", dropout(t, "dropout", t.softmax(scores), dropout_position::attention), v);
        }
        return t.contiguous(mixed.permute({0, 2, 1, 3})).view({batch, q.dim(2), width});
    }
};

struct attention {
    const layer_context& ctx;
    const stage_sizes& stage;
    std::int64_t rows, columns;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const module_info output{.name = "output", .class_of_module = ctx.class_of("SelfOutput")};
        const tensor h = t.call("attention", self_attention{ctx, stage, rows, columns}, x);
        t.enter(output);
        return t.leave(output, dropout(t, "dropout", t.call("dense", linear{stage.width, stage.width, true}, h)));
    }
};

/// `nn.GELU`.
struct plain_gelu : activation_module {
    constexpr plain_gelu() noexcept : activation_module{activation::gelu} {}
    [[nodiscard]] constexpr class_name type_name() const { return {"", "GELU"}; }
};

struct layer {
    const layer_context& ctx;
    const stage_sizes& stage;
    std::int64_t rows, columns;
    bool drops_path;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module layer_norm{norm_kind::layer, stage.width};
        const drop_path_module path{ctx.spec.class_prefix, drops_path};
        const module_info intermediate{.name = "intermediate",
                                       .class_of_module = ctx.class_of("Intermediate"),
                                       .module_role = role::mlp,
                                       .continues_block = true};
        const module_info output{.name = "output", .class_of_module = ctx.class_of("Output"), .module_role = role::mlp};
        const attention attends{ctx, stage, rows, columns};
        tensor h = t.call("attention", attends, t.call("layernorm_before", layer_norm, x));
        const tensor middle = t.add(t.call("drop_path", path, h), x);
        h = t.call("layernorm_after", layer_norm, middle);
        t.enter(intermediate);
        h = t.call("activation", plain_gelu{}, t.call("dense", linear{stage.width, stage.inner, true}, h));
        t.leave(intermediate);
        t.enter(output);
        h = dropout(t, "dropout", t.call("dense", linear{stage.inner, stage.width, true}, h));
        h = t.leave(output, t.add(h, middle));
        return t.call("drop_path", path, h);
    }
};

/// Convolutional embedding: a strided convolution with a layer norm over channels.
constexpr tensor embed(const layer_context& ctx, trace& t, const stage_sizes& stage, const tensor& x) {
    const module_info embedding{.name = "embedding", .class_of_module = ctx.class_of("Embeddings")};
    const module_info inner{.name = "convolution_embeddings", .class_of_module = ctx.class_of("ConvEmbeddings")};
    t.enter(embedding);
    t.enter(inner);
    const convolution_2d shrinks{x.dim(1), stage.width, stage.patch, stage.stride, stage.padding};
    const tensor h = t.call("projection", shrinks, x);
    const tensor normed = t.call("normalization", norm_module{norm_kind::layer, stage.width}, as_tokens(h));
    const tensor image = t.leave(inner, as_image(normed, h.dim(2), h.dim(3)));
    return t.leave(embedding, dropout(t, "dropout", image));
}

/// Traces one stage. The last stage returns the class token if a classifier reads it.
constexpr tensor stage(const layer_context& ctx, trace& t, std::int64_t i, const tensor& x) {
    const stage_sizes stage = stage_sizes::parse_config(ctx.config, i);
    const module_info module{.name = "stages", .index = i, .class_of_module = ctx.class_of("Stage")};
    const module_info layers{.name = "layers", .class_of_module = {"", "Sequential"}};
    t.enter(module);
    const tensor token = stage.token ? t.param("cls_token", {1, 1, stage.width}) : tensor{};
    const tensor image = embed(ctx, t, stage, x);
    const std::int64_t rows = image.dim(2), columns = image.dim(3);
    tensor h = as_tokens(image);
    if (stage.token) h = t.cat({token.expand({x.dim(0), 1, stage.width}), h}, 1);
    t.enter(layers);
    // layer 0 can read transposed tokens; every layer has the drop rate of the entry `stage` of a list that grows from
    // zero
    h = t.call(child_name::indexed(0), layer{ctx, stage, rows, columns, stage.drops}, h);
    for (loop layer_loop = t.loop_modules(stage.depth - 1, h, 1); layer_loop.next();)
        h = t.call(child_name::indexed(layer_loop.index()), layer{ctx, stage, rows, columns, stage.drops}, h);
    t.leave(layers);
    t.leave(module);
    const bool read_by_class = stage.token && i + 1 == ctx.config.family[stages] && ctx.config.head != head_kind::none;
    if (read_by_class) return t.slice(h, 1, 1);
    return as_image(stage.token ? t.slice(h, 1, rows * columns) : h, rows, columns);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    tensor x = image_input(ctx, t);
    for (std::int64_t i = 0; i < ctx.config.family[stages]; ++i) x = stage(ctx, t, i, x);
    return t.leave(encoder, x);
}

/// Classifies the class token, or the mean over all positions.
constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    const stage_sizes last = stage_sizes::parse_config(ctx.config, ctx.config.family[stages] - 1);
    const tensor tokens = last.token ? x : as_tokens(x);
    const tensor h = t.call("layernorm", norm_module{norm_kind::layer, last.width}, tokens);
    return classify_linear(ctx, t, t.mean(h, 1));
}

/// The entry of a list for a stage, or the default of the class.
constexpr maybe<config_view> listed(config_view json, literal key, std::int64_t stage) {
    const auto found = json.find(key);
    if (!found || found->is_null()) {
        if (stage >= 3) throw_invalid_value(json, key, "a list with an entry for each stage");
        return {};
    }
    if (!found->is_array() || static_cast<std::int64_t>(found->size()) <= stage)
        throw_invalid_value(json, key, "a list with an entry for each stage");
    return (*found)[static_cast<std::size_t>(stage)];
}

constexpr stage_sizes parse_stage(config_view json, std::int64_t i) {
    constexpr std::int64_t ones[]{1, 1, 1}, twos[]{2, 2, 2}, threes[]{3, 3, 3};
    constexpr std::int64_t patches[]{7, 3, 3}, strides[]{4, 2, 2}, paddings[]{2, 1, 1};
    constexpr std::int64_t widths[]{64, 192, 384}, heads[]{1, 3, 6}, depths[]{1, 2, 10};
    const auto number = [&](literal key, const std::int64_t(&defaults)[3], std::int64_t minimum, std::int64_t largest) {
        const auto found = listed(json, key, i);
        const std::int64_t n = found ? found->as_non_negative() : defaults[i];
        if (n < minimum || n > largest) throw_invalid_value(json, key, "numbers in the supported range");
        return n;
    };
    const auto flag = [&](literal key, bool defaults) {
        const auto found = listed(json, key, i);
        return found ? found->as_boolean() : defaults;
    };
    const auto real = [&](literal key, double defaults) {
        const auto found = listed(json, key, i);
        return found ? found->as_real() : defaults;
    };
    const auto method = listed(json, "qkv_projection_method", i);
    if (method && method->as_string() != "dw_bn")
        throw_unsupported(json, "qkv_projection_method", "unsupported projection method; expected dw_bn");
    stage_sizes s{};
    s.width = number("embed_dim", widths, 1, 0x7fffffff);
    s.heads = number("num_heads", heads, 1, 0x7fffffff);
    s.depth = number("depth", depths, 1, 0xffff);
    const double inner = static_cast<double>(s.width) * real("mlp_ratio", 4.0);
    if (!(inner >= 1 && inner <= max_input)) throw_invalid_value(json, "mlp_ratio", "ratios with at least one feature");
    s.inner = static_cast<std::int64_t>(inner);
    s.patch = number("patch_sizes", patches, 1, 0x7fff);
    s.stride = number("patch_stride", strides, 1, 0x7fff);
    s.padding = number("patch_padding", paddings, 0, 0x7fff);
    s.kernel = number("kernel_qkv", threes, 1, 0x3ff);
    s.stride_q = number("stride_q", ones, 1, 0x3ff);
    s.padding_q = number("padding_q", ones, 0, 0x3ff);
    s.stride_kv = number("stride_kv", twos, 1, 0x3ff);
    s.padding_kv = number("padding_kv", ones, 0, 0x3ff);
    s.bias = flag("qkv_bias", true);
    s.token = flag("cls_token", i == 2);
    // `CvtStage` takes the entry of the stage from drop rates that grow from zero over its layers
    s.drops = real("drop_path_rate", i == 2 ? 0.1 : 0.0) > 0.0 && i > 0;
    if (s.width % s.heads != 0) throw_invalid_value(json, "num_heads", "divisors of embed_dim");
    if (s.drops && i >= s.depth) throw_invalid_value(json, "depth", "more layers than the index of the stage");
    return s;
}

}  // namespace cvt_detail

/// Traces CvT: stages of attention with convolutional projections.
///
/// Source: transformers/models/cvt/modeling_cvt.py.
constexpr tensor forward_cvt(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "cvt", cvt_detail::base, cvt_detail::classify);
}

constexpr void parse_cvt(config_view json, model_config& config) {
    using namespace cvt_detail;
    config.vision = parse_image_size(json, 224);
    const auto found = json.optional_array("depth");
    const std::int64_t n = config.family[stages] = found ? static_cast<std::int64_t>(found->size()) : 3;
    if (n < 1 || n > maximum) throw_unsupported(json, "depth", "unsupported number of stages");
    const std::int64_t last = parse_stage(json, n - 1).width;
    for (std::int64_t i = 0; i < n; ++i) {
        const stage_sizes stage = parse_stage(json, i);
        if (stage.token && stage.width != last)
            throw_invalid_value(json, "cls_token", "true only if embed_dim is that of the last stage");
        stage.write(config.family, i);
    }
}

// Source: transformers/models/cvt: configuration_cvt.py, modeling_cvt.py
inline constexpr model_spec cvt{
    .model_type = "cvt",
    .class_prefix = "Cvt",
    .forward = forward_cvt,
    .parse_config = parse_cvt,
    .family_keys = cvt_detail::family_keys,
    .rotary = rotary_style::none,
    .accepts_any_image_size = true,
    .supported_heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::gelu),
};

}  // namespace llmcost::arch
