// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/reading/images.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace pvt_detail {

inline constexpr std::int64_t most = 4;  // stages: five lists of numbers, two of them in one

enum own : std::uint8_t {
    drops,
    widths,
    depths = widths + most,
    heads = depths + most,
    inners = heads + most,
    reductions = inners + most,  ///< with the stage's patch size and stride: three numbers of 20 bits
};
inline constexpr own_key keys[]{{.value = own_value::computed}};

[[nodiscard]] constexpr std::int64_t reduction(const sizes& dims, std::int64_t i) {
    return of_stage(dims, reductions, i) >> 40;
}
[[nodiscard]] constexpr std::int64_t patch(const sizes& dims, std::int64_t i) {
    return of_stage(dims, reductions, i) >> 20 & 0xfffff;
}
[[nodiscard]] constexpr std::int64_t stride(const sizes& dims, std::int64_t i) {
    return of_stage(dims, reductions, i) & 0xfffff;
}

/// Patches along each side of a stage's table of positions.
[[nodiscard]] constexpr std::int64_t places_of(const sizes& dims, std::int64_t i) {
    return (i == 0 ? dims.vision.image_height : dims.vision.image_height >> (i + 1)) / patch(dims, i);
}
/// Those that its convolution makes of so many pixels: kernel and stride change roles (`PvtPatchEmbeddings`).
[[nodiscard]] constexpr std::int64_t made_of(const sizes& dims, std::int64_t i, std::int64_t pixels) {
    if (patch(dims, i) == 0) report_description("pvt: more stages than sizes");
    return (pixels - stride(dims, i)) / patch(dims, i) + 1;
}

/// Patches with positions that are interpolated in every pass, a class token in front of the last stage's.
constexpr value embed(const site& here, trace& t, std::int64_t i, const value& x) {
    const std::int64_t width = of_stage(here.dims, widths, i), side = places_of(here.dims, i), batch = x.dim(0);
    const bool last = i + 1 == here.dims.num_hidden_layers;
    const module_info module{
        .name = "patch_embeddings", .index = i, .type = here.type("PatchEmbeddings"), .what = role::embedding};
    t.enter(module);
    value places = t.param("position_embeddings", {1, side * side + (last ? 1 : 0), width});
    const value token = last ? t.param("cls_token", {1, 1, width}) : value{};
    const value h = t.call("projection", convolution_2d{x.dim(1), width, stride(here.dims, i), patch(here.dims, i)}, x);
    value tokens = t.call("layer_norm", norm<norm_kind::layer>{width}, h.view({batch, width, -1}).transpose(1, 2));
    const value first = last ? t.slice(places, 1, 1) : value{};
    if (last) tokens = t.cat({token.expand({batch, 1, width}), tokens}, 1), places = t.slice(places, 1, side * side);
    const value image = t.reshape(places, {1, side, side, width}).permute({0, 3, 1, 2});
    places = t.bilinear(image, side, side).view({1, width, side * side}).permute({0, 2, 1});
    if (last) places = t.cat({first, places}, 1);
    return t.leave(module, dropout(t, "dropout", t.add(tokens, places)));
}

/// Attention of all places over fewer of them.
struct self_attention {
    const site& here;
    std::int64_t stage, rows, columns;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EfficientSelfAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = x.dim(2), count = of_stage(here.dims, heads, stage), d = width / count, batch = x.dim(0);
        const std::int64_t fewer = reduction(here.dims, stage);
        const auto split = [&](literal name, const value& h) {
            const value all = t.call(name, linear{width, width, here.dims.attention_bias}, h);
            return all.view({batch, h.dim(1), count, d}).permute({0, 2, 1, 3});
        };
        const value q = split("query", x);
        value source = x;
        if (fewer > 1) {
            const value image = t.reshape(x.permute({0, 2, 1}), {batch, width, rows, columns});
            const value h = t.call("sequence_reduction", convolution_2d{width, width, fewer, fewer}, image);
            source = t.call("layer_norm", norm<norm_kind::layer>{width}, h.view({batch, width, -1}).permute({0, 2, 1}));
        }
        const value k = split("key", source), v = split("value", source);
        const context where{.sequence = q.dim(2), .causal = false};
        const recorder::fused_guard fused{t, fused_attention(q, count, where, k.dim(2))};
        const value scores = t.div(t.matmul(q, k.transpose(-1, -2)));
        const value mixed = t.matmul(dropout(t, "dropout", t.softmax(scores), dropout_of::attention), v);
        return t.contiguous(mixed.permute({0, 2, 1, 3})).view({batch, x.dim(1), width});
    }
};

struct attention {
    const site& here;
    std::int64_t stage, rows, columns;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const module_info output{.name = "output", .type = here.type("SelfOutput")};
        const value h = t.call("self", self_attention{here, stage, rows, columns}, x);
        t.enter(output);
        return t.leave(output, dropout(t, "dropout", t.call("dense", linear{h.dim(2), h.dim(2), true}, h)));
    }
};

struct layer {
    const site& here;
    std::int64_t stage, rows, columns;
    bool drops_path;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = x.dim(2), inner = of_stage(here.dims, inners, stage);
        const norm<norm_kind::layer> layer_norm{width};
        const drop_path_module path{here.row.prefix, drops_path};
        const module_info mlp{.name = "mlp", .type = here.type("FFN"), .what = role::mlp};
        value h = t.call("attention", attention{here, stage, rows, columns}, t.call("layer_norm_1", layer_norm, x));
        const value middle = t.add(t.call("drop_path", path, h), x);
        h = t.call("layer_norm_2", layer_norm, middle);
        t.enter(mlp);
        h = t.call("intermediate_act_fn", activation_module{here.dims.hidden_act},
                   t.call("dense1", linear{width, inner, true}, h));
        h = t.call("dense2", linear{inner, width, true}, dropout(t, "dropout", h));
        h = t.leave(mlp, dropout(t, "dropout", h));
        return t.add(middle, t.call("drop_path", path, h));
    }
};

constexpr value base(const site& here, trace& t) {
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    value x = images_of(here, t);
    const std::int64_t last = here.dims.num_hidden_layers - 1;
    for (std::int64_t i = 0; i <= last; ++i) {
        const std::int64_t rows = made_of(here.dims, i, x.dim(2)), columns = made_of(here.dims, i, x.dim(3));
        x = embed(here, t, i, x);
        const module_info block{.name = "block", .index = i, .type = {"", "ModuleList"}};
        t.enter(block);
        // rates grow from zero in the first layer of all to `drop_path_rate` in the last; it may read a transposed tensor
        const bool drops_path = here.dims.own[drops] != 0;
        x = t.call(module_place::item(0), layer{here, i, rows, columns, drops_path && i > 0}, x);
        for (repetition each = t.repeat(of_stage(here.dims, depths, i) - 1, x, 1); each.next();)
            x = t.call(module_place::item(each.index()), layer{here, i, rows, columns, drops_path}, x);
        t.leave(block);
        if (i != last) x = t.contiguous(t.reshape(x, {x.dim(0), rows, columns, -1}).permute({0, 3, 1, 2}));
    }
    return t.leave(encoder, t.call("layer_norm", norm<norm_kind::layer>{x.dim(2)}, x));
}

constexpr value classify(const site& here, trace& t, const value& x) { return classify_linear(here, t, t.select(x, 1)); }

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout_prob"},
                                             {dropout_of::attention, "attention_probs_dropout_prob"}};

}  // namespace pvt_detail

/// Vision transformers in stages, whose attention reads fewer places than it writes.
///
/// Source: transformers/models/pvt/modeling_pvt.py.
constexpr value describe_pvt(const site& here, trace& t) {
    return describe_image_model(here, t, "pvt", pvt_detail::base, pvt_detail::classify);
}

constexpr void read_pvt(config_view config, sizes& s) {
    using namespace pvt_detail;
    s.vision = read_images(config, 224);
    if (s.vision.image_height != s.vision.image_width)
        fail_unsupported(config, "image_size", "no row describes oblong images");
    const std::int64_t n = s.num_hidden_layers =
        read_stages(config, "hidden_sizes", {64, 128, 320, 512}, s.own, widths, most);
    if (config.positive("num_encoder_blocks", 4) != n)
        fail_value(config, "num_encoder_blocks", "as many as hidden_sizes has");
    read_stages_of(config, "depths", {2, 2, 2, 2}, s.own, depths, n, most);
    read_stages_of(config, "num_attention_heads", {1, 2, 5, 8}, s.own, heads, n, most);
    read_stages_of(config, "mlp_ratios", {8, 8, 4, 4}, s.own, inners, n, most);
    own_sizes fewer, patches, steps;
    read_stages_of(config, "sequence_reduction_ratios", {8, 4, 2, 1}, fewer, 0, n, most);
    read_stages_of(config, "patch_sizes", {4, 2, 2, 2}, patches, 0, n, most);
    read_stages_of(config, "strides", {4, 2, 2, 2}, steps, 0, n, most);
    std::int64_t pixels = s.vision.image_height;
    for (std::int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        for (const std::int64_t each : {fewer[at], patches[at], steps[at]})
            if (each > 0xfffff) fail_unsupported(config, "strides", "no row describes strides beyond 1048575");
        s.own[inners + at] = checked_width(config, "mlp_ratios", s.own[inners + at], s.own[widths + at]);
        s.own[reductions + at] = (fewer[at] << 20 | patches[at]) << 20 | steps[at];
        if (s.own[widths + at] % s.own[heads + at] != 0)
            fail_value(config, "num_attention_heads", "divisors of hidden_sizes");
        if (pixels < steps[at]) fail_value(config, "strides", "no more than there are pixels");
        pixels = made_of(s, i, pixels);
        if (pixels != places_of(s, i)) fail_value(config, "patch_sizes", "what makes as many patches as positions");
        if (fewer[at] > pixels) fail_value(config, "sequence_reduction_ratios", "no more than there are places");
    }
    if (fewer[static_cast<std::size_t>(n - 1)] != 1)
        fail_value(config, "sequence_reduction_ratios", "1 in the last stage, whose class token is no place");
    s.attention_bias = config.boolean("qkv_bias", true);
    s.own[drops] = config.real("drop_path_rate", 0.0) > 0.0;
}

// transformers/models/pvt: configuration_pvt.py, modeling_pvt.py
inline constexpr architecture pvt{
    .model_type = "pvt",
    .prefix = "Pvt",
    .describe = describe_pvt,
    .read = read_pvt,
    .own = pvt_detail::keys,
    .drops = pvt_detail::dropout_rates,
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::image_classification},
    .keys = {{"num_attention_heads", "", key_rule::absent}},
    .defaults =
        [] {
            sizes s = image_defaults(activation::gelu);
            s.num_labels = 1000;
            return s;
        }(),
};

}  // namespace llmcost::arch
