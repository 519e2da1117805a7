// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/convolution.hpp>
#include <llmcost/reading/images.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace hgnet_v2_detail {

enum own : std::uint8_t {
    affine,         ///< a learned scale and shift behind activations
    stem_channels,  ///< the second and the third number
    stem_strides = stem_channels + 2,
    head_width = stem_strides + 5,
    widths,                        ///< of stages, three numbers of 20 bits: in, within, out
    shapes = widths + most_stages  ///< blocks and layers of 16 bits, kernel and stride of 8, whether it shrinks, is light
};
inline constexpr own_key keys[]{{"use_learnable_affine_block", 0, own_value::boolean}, {.value = own_value::computed}};

/// A stage of blocks.
struct stage_sizes {
    std::int64_t in, within, out, blocks, layers, kernel, stride;
    bool shrinks, light;
};
[[nodiscard]] constexpr stage_sizes stage_of(const sizes& dims, std::int64_t i) {
    const std::int64_t w = of_stage(dims, widths, i), s = of_stage(dims, shapes, i);
    return {w >> 40,        w >> 20 & 0xfffff, w & 0xfffff,       s >> 34,     s >> 18 & 0xffff,
            s >> 10 & 0xff, s >> 2 & 0xff,     (s >> 1 & 1) != 0, (s & 1) != 0};
}

/// A learned number that scales and one that shifts.
struct affine_block {
    class_name named;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const value scale = t.param("scale", {1}), bias = t.param("bias", {1});
        return t.add(t.mul(scale, x), bias);
    }
};

/// Convolution, batch norm, activation, scale and shift; the last two are left out of what is not activated.
struct convolved {
    const site& here;
    std::int64_t in, out, kernel, stride = 1, groups = 1;
    bool activated = true;
    activation act = activation::relu;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("ConvLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const convolution_2d convolution{in, out, kernel, stride, (kernel - 1) / 2, groups, false};
        value h = t.call("normalization", batch_norm_2d{out}, t.call("convolution", convolution, x));
        h = activated ? t.call("activation", activation_module{act}, h) : t.call("activation", identity{}, h);
        if (activated && here.dims.own[affine] != 0)
            return t.call("lab", affine_block{here.type("LearnableAffineBlock")}, h);
        return t.call("lab", identity{}, h);
    }
};

/// A convolution over channels, then one for each channel.
struct light {
    const site& here;
    std::int64_t in, out, kernel;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("ConvLayerLight"); }
    constexpr value describe(trace& t, const value& x) const {
        const value h = t.call("conv1", convolved{here, in, out, 1, 1, 1, false}, x);
        return t.call("conv2", convolved{here, out, out, kernel, 1, out}, h);
    }
};

/// `nn.MaxPool2d(2, stride=1, ceil_mode=True)`.
struct pool {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "MaxPool2d"}; }
    constexpr value describe(trace& t, const value& x) const { return t.pool(op::max_pool, x, 2, 1, 0, true); }
};

/// Layers one behind the other, whose outputs are all joined and squeezed.
struct block {
    const site& here;
    const stage_sizes& dims;
    bool first;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("BasicLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t in = x.dim(1), half = dims.out / 2;
        value parts[trace::most_joined];
        parts[0] = x;
        for (std::int64_t i = 0; i < dims.layers; ++i) {
            const value& h = parts[i];
            parts[i + 1] = dims.light ? t.call({"layers", i}, light{here, h.dim(1), dims.within, dims.kernel}, h)
                                      : t.call({"layers", i}, convolved{here, h.dim(1), dims.within, dims.kernel}, h);
        }
        value h = t.cat(parts, static_cast<int>(dims.layers) + 1, 1);
        const module_info aggregation{.name = "aggregation", .type = {"", "Sequential"}};
        t.enter(aggregation);
        h = t.call("0", convolved{here, in + dims.layers * dims.within, half, 1}, h);
        h = t.leave(aggregation, t.call("1", convolved{here, half, dims.out, 1}, h));
        const recorder::idle_guard unused{t, first};
        const value around = t.call("drop_path", identity{}, h);
        return first ? h : t.add(around, x);
    }
};

constexpr value embed(const site& here, trace& t, const value& pixels) {
    const module_info embedder{.name = "embedder", .type = here.type("Embeddings"), .what = role::embedding};
    const std::int64_t wide = here.dims.own[stem_channels], last = here.dims.own[stem_channels + 1], half = wide / 2;
    const auto stem = [&](std::int64_t in, std::int64_t out, std::int64_t kernel, std::size_t stride) {
        return convolved{here, in, out, kernel, here.dims.own[stem_strides + stride], 1, true, here.dims.hidden_act};
    };
    t.enter(embedder);
    const value x = t.pad_images(t.call("stem1", stem(here.dims.vision.num_channels, wide, 3, 0), pixels), 1, 1);
    const value narrow = t.pad_images(t.call("stem2a", stem(wide, half, 2, 1), x), 1, 1);
    const value convolved_part = t.call("stem2b", stem(half, wide, 2, 2), narrow);
    const value pooled = t.call("pool", pool{}, x);
    const value h = t.call("stem3", stem(2 * wide, wide, 3, 3), t.cat({pooled, convolved_part}, 1));
    return t.leave(embedder, t.call("stem4", stem(wide, last, 1, 4), h));
}

constexpr value stage(const site& here, trace& t, std::int64_t i, value x) {
    const stage_sizes dims = stage_of(here.dims, i);
    const module_info module{.name = "stages", .index = i, .type = here.type("Stage")};
    t.enter(module);
    const convolved shrink{here, dims.in, dims.in, 3, dims.stride, dims.in, false};
    x = dims.shrinks ? t.call("downsample", shrink, x) : t.call("downsample", identity{}, x);
    x = t.call({"blocks", 0}, block{here, dims, true}, x);
    for (repetition each = t.repeat(dims.blocks - 1, x, 1); each.next();)
        x = t.call({"blocks", each.index()}, block{here, dims, false}, x);
    return t.leave(module, x);
}

}  // namespace hgnet_v2_detail

/// Convolutions whose outputs are joined, in stages.
///
/// Source: transformers/models/hgnet_v2/modeling_hgnet_v2.py.
constexpr value describe_hgnet_v2(const site& here, trace& t) {
    using namespace hgnet_v2_detail;
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(whole);
    value x = embed(here, t, images_of(here, t));
    t.enter(encoder);
    for (std::int64_t i = 0; i < here.dims.num_hidden_layers; ++i) x = stage(here, t, i, x);
    t.leave(encoder);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole, t.returns(x, classify_listed(here, t, x)));
}

constexpr void read_hgnet_v2(config_view config, sizes& s) {
    using namespace hgnet_v2_detail;
    s.vision = read_images(config, 224);
    own_sizes stem;
    read_stages_of(config, "stem_channels", {3, 32, 48}, stem, 0, 3);
    if (stem[0] != s.vision.num_channels) fail_value(config, "stem_channels", "num_channels in front");
    s.own[stem_channels] = stem[1], s.own[stem_channels + 1] = stem[2];
    read_stages_of(config, "stem_strides", {2, 1, 1, 2, 1}, s.own, stem_strides, 5);
    own_sizes in, within, out, blocks, layers, kernels, strides, flags;
    const std::int64_t n = s.num_hidden_layers = read_stages(config, "stage_in_channels", {48, 128, 512, 1024}, in, 0);
    read_stages_of(config, "stage_mid_channels", {48, 96, 192, 384}, within, 0, n);
    read_stages_of(config, "stage_out_channels", {128, 512, 1024, 2048}, out, 0, n);
    read_stages_of(config, "stage_num_blocks", {1, 1, 3, 1}, blocks, 0, n);
    read_stages_of(config, "stage_numb_of_layers", {6, 6, 6, 6}, layers, 0, n);
    read_stages_of(config, "stage_kernel_size", {3, 3, 5, 5}, kernels, 0, n);
    read_stages_of(config, "stage_downsample_strides", {2, 2, 2, 2}, strides, 0, n);
    const auto read_flags = [&](literal key, std::int64_t otherwise, int bit) {
        const auto found = config.optional_array(key);
        if (found ? found->size() != static_cast<std::uint32_t>(n) : n != 4)
            fail_value(config, key, "true or false for each stage");
        for (std::int64_t i = 0; i < n; ++i) {
            const bool on = found ? (*found)[static_cast<std::size_t>(i)].as_boolean() : (otherwise >> i & 1) != 0;
            flags[static_cast<std::size_t>(i)] |= std::int64_t{on} << bit;
        }
    };
    read_flags("stage_downsample", 14, 1), read_flags("stage_light_block", 12, 0);
    std::int64_t width = s.own[stem_channels + 1];
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        if (in[i] > 0xfffff || within[i] > 0xfffff || out[i] > 0xfffff || blocks[i] > 0xffff || kernels[i] > 0xff ||
            strides[i] > 0xff)
            fail_unsupported(config, "stage_out_channels", "no row describes stages so large");
        if (layers[i] >= trace::most_joined) fail_unsupported(config, "stage_numb_of_layers", "no row joins so many layers");
        if (in[i] != width) fail_value(config, "stage_in_channels", "what the stage before hands out");
        if (out[i] < 2) fail_value(config, "stage_out_channels", "at least two channels");
        width = out[i];
        s.own[widths + i] = (in[i] << 20 | within[i]) << 20 | out[i];
        s.own[shapes + i] = blocks[i] << 34 | layers[i] << 18 | kernels[i] << 10 | strides[i] << 2 | flags[i];
    }
    own_sizes hidden;
    const std::int64_t last = read_stages(config, "hidden_sizes", {256, 512, 1024, 2048}, hidden, 0);
    if (hidden[static_cast<std::size_t>(last - 1)] != width)
        fail_value(config, "hidden_sizes", "the last stage's channels at its end");
}

// transformers/models/hgnet_v2: configuration_hgnet_v2.py, modeling_hgnet_v2.py
inline constexpr architecture hgnet_v2{
    .model_type = "hgnet_v2",
    .prefix = "HGNetV2",
    .describe = describe_hgnet_v2,
    .read = read_hgnet_v2,
    .own = hgnet_v2_detail::keys,
    .drops = dropout_keys::none(),
    .rotated = rotation::none,
    .any_image = true,
    .heads = {head_kind::image_classification},
    .defaults = image_defaults(activation::relu),
};

}  // namespace llmcost::arch
