// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/images.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace swiftformer_detail {

enum own : std::uint8_t {
    kernel,
    stride,
    padding,
    ratio,  ///< features inside of a block to those around it
    scales,
    drops,
    shrinks,  ///< behind which stages, a bit for each
    widths,
    depths = widths + most_stages
};
inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "drop_mlp_rate"},
                                             {dropout_of::inner, "drop_conv_encoder_rate"}};
inline constexpr own_key keys[]{{"down_patch_size", 3},
                                {"down_stride", 2},
                                {"down_pad", 1, own_value::non_negative},
                                {.value = own_value::computed},
                                {"use_layer_scale", 1, own_value::boolean},
                                {.value = own_value::computed},
                                {.value = own_value::computed}};

/// A convolution for each channel and two over channels, scaled, beside what came in.
struct convolutions {
    class_name named;
    std::int64_t width, inner;
    bool drops_path;  ///< by a dropout module

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const value scale = t.param("layer_scale", {width, 1, 1});
        value h = t.call("depth_wise_conv", convolution_2d{width, width, 3, 1, 1, width}, x);
        h = t.call("point_wise_conv1", convolution_2d{width, inner}, t.call("norm", batch_norm_2d{width}, h));
        h = t.mul(scale, t.call("point_wise_conv2", convolution_2d{inner, width}, t.call("act", gelu_module{}, h)));
        return t.add(x, drops_path ? dropout(t, "drop_path", h, dropout_of::inner) : t.call("drop_path", identity{}, h));
    }
};

/// Rows over their length, which is at least the smallest difference (`F.normalize`).
constexpr value normalize(trace& t, const value& x) {
    const value length = t.unary(op::compare, t.vector_norm(x, -1, true));
    return t.div(x, length.expand({x.dim(0), x.dim(1), x.dim(2)}));
}

/// All queries are weighed into one, with which every key is multiplied: (B, places, width) -> the same.
struct additive_attention {
    class_name named;
    std::int64_t width;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("w_g", {width, 1});
        const linear square{width, width, true};
        const value unscaled = t.call("to_query", square, x), keys = t.call("to_key", square, x);
        const value query = normalize(t, unscaled), key = normalize(t, keys);
        const value weights = t.softmax_method(t.mul(t.matmul_operator(query, weight)));
        const value whole = t.sum(t.mul(weights, query), 1).unsqueeze(1);
        const value each = t.copy(whole.expand({x.dim(0), x.dim(1), width}));
        return t.call("final", square, t.add(t.call("proj", square, t.mul(each, key)), query));
    }
};

/// Two convolutions over channels behind a norm.
struct feed_forward {
    const site& here;
    std::int64_t width;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Mlp"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t inner = times_ratio(here.dims, ratio, width);
        value h = t.call("fc1", convolution_2d{width, inner}, t.call("norm1", batch_norm_2d{width}, x));
        h = dropout(t, "drop", t.call("act", activation_module{here.dims.hidden_act}, h));
        return dropout(t, "drop", t.call("fc2", convolution_2d{inner, width}, h));
    }
};

/// The last block of a stage.
struct attending_block {
    const site& here;
    std::int64_t width;
    bool drops_path;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderBlock"); }
    constexpr value describe(trace& t, value x) const {
        const bool scaled = here.dims.own[scales] != 0;
        const value first = scaled ? t.param("layer_scale_1", {width, 1, 1}) : value{};
        const value second = scaled ? t.param("layer_scale_2", {width, 1, 1}) : value{};
        const drop_path_module path{here.row.prefix, drops_path};
        x = t.call("local_representation", convolutions{here.type("LocalRepresentation"), width, width, false}, x);
        const std::int64_t batch = x.dim(0), rows = x.dim(2), columns = x.dim(3);
        const value tokens = t.reshape(x.permute({0, 2, 3, 1}), {batch, rows * columns, width});
        value h = t.call("attn", additive_attention{here.type("EfficientAdditiveAttention"), width}, tokens);
        h = t.reshape(h, {batch, rows, columns, width}).permute({0, 3, 1, 2});
        x = t.add(x, t.call("drop_path", path, scaled ? t.mul(first, h) : h));
        h = t.call("linear", feed_forward{here, width}, x);
        return t.add(x, t.call("drop_path", path, scaled ? t.mul(second, h) : h));
    }
};

constexpr value stage(const site& here, trace& t, std::int64_t i, std::int64_t number, value x) {
    const module_info module{.name = "network", .index = number, .type = here.type("Stage")};
    const std::int64_t width = of_stage(here.dims, widths, i), depth = of_stage(here.dims, depths, i);
    const convolutions before{here.type("ConvEncoder"), width, times_ratio(here.dims, ratio, width), true};
    t.enter(module);
    for (repetition each = t.repeat(depth - 1, x); each.next();) x = t.call({"blocks", each.index()}, before, x);
    // rates grow from zero in the first block of all
    const bool drops_path = here.dims.own[drops] != 0 && (i > 0 || depth > 1);
    return t.leave(module, t.call({"blocks", depth - 1}, attending_block{here, width, drops_path}, x));
}

constexpr value base(const site& here, trace& t) {
    const module_info embed{.name = "patch_embed", .type = here.type("PatchEmbedding"), .what = role::embedding};
    const module_info patches{.name = "patch_embedding", .type = {"", "Sequential"}};
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    const std::int64_t first = of_stage(here.dims, widths, 0), half = first / 2, last = here.dims.num_hidden_layers - 1;
    const own_sizes& own = here.dims.own;
    const activation_module relu{activation::relu};
    value x = images_of(here, t);
    t.enter(embed);
    t.enter(patches);
    x = t.call("1", batch_norm_2d{half}, t.call("0", convolution_2d{x.dim(1), half, 3, 2, 1}, x));
    x = t.call("3", convolution_2d{half, first, 3, 2, 1}, t.call("2", relu, x));
    x = t.call("5", relu, t.call("4", batch_norm_2d{first}, x));
    t.leave(patches, x), t.leave(embed, x);
    t.enter(encoder);
    std::int64_t number = 0;
    for (std::int64_t i = 0; i <= last; ++i) {
        x = stage(here, t, i, number++, x);
        if (i == last || (own[shrinks] >> i & 1) == 0) continue;
        const module_info fewer{.name = "network", .index = number++, .type = here.type("Embeddings")};
        const std::int64_t wide = of_stage(here.dims, widths, i + 1);
        t.enter(fewer);
        const convolution_2d convolution{x.dim(1), wide, own[kernel], own[stride], own[padding]};
        x = t.leave(fewer, t.call("norm", batch_norm_2d{wide}, t.call("proj", convolution, x)));
    }
    return t.leave(encoder, x);
}

/// The mean of what two heads say.
constexpr value classify(const site& here, trace& t, const value& x) {
    const value normed = t.call("norm", batch_norm_2d{x.dim(1)}, x);
    const value h = t.mean(t.reshape(normed, {x.dim(0), x.dim(1), -1}), -1);
    const auto head = [&](literal name) {
        if (here.dims.num_labels == 0) return t.call(name, identity{}, h);
        return t.call(name, head_linear{{x.dim(1), here.dims.num_labels, true}}, h);
    };
    const value own = head("head"), distilled = head("dist_head");
    return t.div(t.add(own, distilled));
}

}  // namespace swiftformer_detail

/// Convolutions, and attention that adds in the last block of each stage.
///
/// Source: transformers/models/swiftformer/modeling_swiftformer.py.
constexpr value describe_swiftformer(const site& here, trace& t) {
    return describe_image_model(here, t, "swiftformer", swiftformer_detail::base, swiftformer_detail::classify);
}

constexpr void read_swiftformer(config_view config, sizes& s) {
    using namespace swiftformer_detail;
    s.vision = read_images(config, 224);
    const std::int64_t n = s.num_hidden_layers = read_stages(config, "depths", {3, 3, 6, 4}, s.own, depths);
    read_stages_of(config, "embed_dims", {48, 56, 112, 220}, s.own, widths, n);
    read_ratio(config, "mlp_ratio", 4.0, s.own, ratio);
    if (s.own[widths] < 2) fail_value(config, "embed_dims", "at least two features");
    const auto found = config.optional_array("downsamples");
    if (found ? found->size() + 1 < static_cast<std::uint32_t>(n) : n > 5)
        fail_value(config, "downsamples", "true or false for each stage");
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        sum += s.own[depths + i];
        if (times_ratio(s, ratio, s.own[widths + i]) < 1) fail_value(config, "mlp_ratio", "a ratio that leaves a feature");
        if (i + 1 == static_cast<std::size_t>(n)) break;
        const bool asked = !found || (*found)[i].as_boolean();
        s.own[shrinks] |= std::int64_t{asked || s.own[widths + i] != s.own[widths + i + 1]} << i;
    }
    if (sum < 2) fail_value(config, "depths", "at least two blocks");
    s.own[drops] = config.real("drop_path_rate", 0.0) > 0.0;
}

// transformers/models/swiftformer: configuration_swiftformer.py, modeling_swiftformer.py
inline constexpr architecture swiftformer{
    .model_type = "swiftformer",
    .prefix = "SwiftFormer",
    .describe = describe_swiftformer,
    .read = read_swiftformer,
    .own = swiftformer_detail::keys,
    .drops = swiftformer_detail::dropout_rates,
    .rotated = rotation::none,
    .any_image = true,
    .heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::gelu),
};

}  // namespace llmcost::arch
