// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/spatial_reduction.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/norm.hpp>

namespace llmcost::arch {

namespace pvt_detail {

using spatial_reduction::depths, spatial_reduction::drops, spatial_reduction::heads, spatial_reduction::inners,
    spatial_reduction::patch, spatial_reduction::reduction, spatial_reduction::stride, spatial_reduction::widths;

inline constexpr family_key family_keys[]{{.type = family_key_type::computed}};

/// Patches along each side of a stage's table of positions.
[[nodiscard]] constexpr std::int64_t places_of(const model_config& config, std::int64_t i) {
    return (i == 0 ? config.vision.image_height : config.vision.image_height >> (i + 1)) / patch(config, i);
}

/// Those that its convolution makes of so many pixels: kernel and stride change roles (`PvtPatchEmbeddings`).
[[nodiscard]] constexpr std::int64_t made_of(const model_config& config, std::int64_t i, std::int64_t pixels) {
    if (patch(config, i) == 0) throw_description_error("pvt: more stages than sizes");
    return (pixels - stride(config, i)) / patch(config, i) + 1;
}

/// Patches with positions that are interpolated in every pass, a class token before the last stage's.
constexpr tensor embed(const layer_context& ctx, trace& t, std::int64_t i, const tensor& x) {
    const std::int64_t width = stage_entry(ctx.config, widths, i), side = places_of(ctx.config, i), batch = x.dim(0);
    const bool last = i + 1 == ctx.config.num_hidden_layers;
    const module_info module{.name = "patch_embeddings",
                             .index = i,
                             .class_of_module = ctx.class_of("PatchEmbeddings"),
                             .module_role = role::embedding};
    t.enter(module);
    tensor places = t.param("position_embeddings", {1, side * side + (last ? 1 : 0), width});
    const tensor token = last ? t.param("cls_token", {1, 1, width}) : tensor{};
    const tensor h =
        t.call("projection", convolution_2d{x.dim(1), width, stride(ctx.config, i), patch(ctx.config, i)}, x);
    tensor tokens =
        t.call("layer_norm", norm_module{norm_kind::layer, width}, h.view({batch, width, -1}).transpose(1, 2));
    const tensor first = last ? t.slice(places, 1, 1) : tensor{};
    if (last) {
        tokens = t.cat({token.expand({batch, 1, width}), tokens}, 1);
        places = t.slice(places, 1, side * side);
    }
    const tensor image = t.reshape(places, {1, side, side, width}).permute({0, 3, 1, 2});
    places = t.bilinear(image, side, side).view({1, width, side * side}).permute({0, 2, 1});
    if (last) places = t.cat({first, places}, 1);
    return t.leave(module, dropout(t, "dropout", t.add(tokens, places)));
}

/// Attention of all places over fewer of them.
struct self_attention {
    const layer_context& ctx;
    std::int64_t stage, rows, columns;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EfficientSelfAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = x.dim(2), count = stage_entry(ctx.config, heads, stage), d = width / count,
                           batch = x.dim(0);
        const std::int64_t sr_ratio = reduction(ctx.config, stage);
        const auto split = [&](literal name, const tensor& h) {
            const tensor all = t.call(name, linear{width, width, ctx.config.attention_bias}, h);
            return all.view({batch, h.dim(1), count, d}).permute({0, 2, 1, 3});
        };
        const tensor q = split("query", x);
        tensor source = x;
        if (sr_ratio > 1) {
            const tensor image = t.reshape(x.permute({0, 2, 1}), {batch, width, rows, columns});
            const tensor h = t.call("sequence_reduction", convolution_2d{width, width, sr_ratio, sr_ratio}, image);
            source = t.call("layer_norm", norm_module{norm_kind::layer, width},
                            h.view({batch, width, -1}).permute({0, 2, 1}));
        }
        const tensor k = split("key", source), v = split("value", source);
        const attention_pattern pattern{.query_length = q.dim(2), .is_causal = false};
        const recorder::fused_kernel_guard fused{t, fused_attention_kernel(q, count, pattern, k.dim(2))};
        const tensor scores = t.div_scalar(t.matmul(q, k.transpose(-1, -2)));
        const tensor mixed = t.matmul(dropout(t, "dropout", t.softmax(scores), dropout_position::attention), v);
        return t.contiguous(mixed.permute({0, 2, 1, 3})).view({batch, x.dim(1), width});
    }
};

struct attention {
    const layer_context& ctx;
    std::int64_t stage, rows, columns;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor h = t.call("self", self_attention{ctx, stage, rows, columns}, x);
        return project_in_output(ctx, t, "SelfOutput", h.dim(2), h.dim(2), h);
    }
};

struct layer {
    const layer_context& ctx;
    std::int64_t stage, rows, columns;
    bool drops_path;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const auto same = [](const tensor& h) { return h; };
        return spatial_reduction::pvt_layer(ctx, t, attention{ctx, stage, rows, columns}, "FFN", drops_path,
                                            stage_entry(ctx.config, inners, stage), same, x);
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    tensor x = image_input(ctx, t);
    const std::int64_t last = ctx.config.num_hidden_layers - 1;
    for (std::int64_t i = 0; i <= last; ++i) {
        const std::int64_t rows = made_of(ctx.config, i, x.dim(2)), columns = made_of(ctx.config, i, x.dim(3));
        x = embed(ctx, t, i, x);
        const module_info block{.name = "block", .index = i, .class_of_module = {"", "ModuleList"}};
        t.enter(block);
        // rates grow from zero in the first layer of all to `drop_path_rate` in the last; it may read a transposed
        // tensor
        const bool drops_path = ctx.config.family[drops] != 0;
        x = t.call(child_name::indexed(0), layer{ctx, i, rows, columns, drops_path && i > 0}, x);
        for (loop layer_loop = t.loop_modules(stage_entry(ctx.config, depths, i) - 1, x, 1); layer_loop.next();)
            x = t.call(child_name::indexed(layer_loop.index()), layer{ctx, i, rows, columns, drops_path}, x);
        t.leave(block);
        if (i != last) x = t.contiguous(t.reshape(x, {x.dim(0), rows, columns, -1}).permute({0, 3, 1, 2}));
    }
    return t.leave(encoder, t.call("layer_norm", norm_module{norm_kind::layer, x.dim(2)}, x));
}

constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    return classify_linear(ctx, t, t.select(x, 1));
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "hidden_dropout_prob"},
                                             {dropout_position::attention, "attention_probs_dropout_prob"}};

}  // namespace pvt_detail

/// Vision transformers in stages, whose attention reads fewer places than it writes.
///
/// Source: transformers/models/pvt/modeling_pvt.py.
constexpr tensor forward_pvt(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "pvt", pvt_detail::base, pvt_detail::classify);
}

constexpr void parse_pvt(config_view json, model_config& config) {
    using namespace pvt_detail;
    using namespace spatial_reduction;
    config.vision = parse_image_size(json, 224);
    if (config.vision.image_height != config.vision.image_width)
        throw_unsupported(json, "image_size", "non-square images are not supported");
    parse_stage_sizes(json, config, "sequence_reduction_ratios", {64, 128, 320, 512}, {8, 8, 4, 4}, {4, 2, 2, 2});
    std::int64_t pixels = config.vision.image_height;
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
        if (pixels < stride(config, i)) throw_invalid_value(json, "strides", "no more than there are pixels");
        pixels = made_of(config, i, pixels);
        if (pixels != places_of(config, i))
            throw_invalid_value(json, "patch_sizes", "what makes as many patches as positions");
        if (reduction(config, i) > pixels)
            throw_invalid_value(json, "sequence_reduction_ratios", "at most the number of positions");
    }
    if (reduction(config, config.num_hidden_layers - 1) != 1)
        throw_invalid_value(json, "sequence_reduction_ratios", "1 in the last stage, whose class token is no place");
    config.attention_bias = json.boolean("qkv_bias", true);
    config.family[drops] = json.real("drop_path_rate", 0.0) > 0.0;
}

// transformers/models/pvt: configuration_pvt.py, modeling_pvt.py
inline constexpr model_spec pvt{
    .model_type = "pvt",
    .class_prefix = "Pvt",
    .forward = forward_pvt,
    .parse_config = parse_pvt,
    .family_keys = pvt_detail::family_keys,
    .dropout_keys = pvt_detail::dropout_rates,
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::none, head_kind::image_classification},
    .config_keys = {{"num_attention_heads", "", key_rule::absent}},
    .defaults =
        [] {
            model_config config = image_defaults(activation::gelu);
            config.num_labels = 1000;
            return config;
        }(),
};

}  // namespace llmcost::arch
