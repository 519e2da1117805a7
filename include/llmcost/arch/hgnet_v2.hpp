// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/layers/convolution.hpp>

namespace llmcost::arch {

namespace hgnet_v2_detail {

enum family_config_index : std::uint8_t {
    affine,         ///< learned scale and shift after each activation
    stem_channels,  ///< the second and the third number
    stem_strides = stem_channels + 2,
    head_width = stem_strides + 5,
    widths,  ///< of stages, three numbers of 20 bits: in, within, out
    shapes =
        widths + max_stages  ///< blocks and layers of 16 bits, kernel and stride of 8, whether it shrinks, is light
};
inline constexpr family_key family_keys[]{{"use_learnable_affine_block", 0, family_key_type::boolean},
                                          {.type = family_key_type::computed}};

/// A stage of blocks.
struct stage_sizes {
    std::int64_t in, mid, out, blocks, layers, kernel, stride;
    bool shrinks, light;
};
[[nodiscard]] constexpr stage_sizes stage_of(const model_config& config, std::int64_t i) {
    const std::int64_t w = stage_entry(config, widths, i), s = stage_entry(config, shapes, i);
    return {w >> 40,        w >> 20 & 0xfffff, w & 0xfffff,       s >> 34,     s >> 18 & 0xffff,
            s >> 10 & 0xff, s >> 2 & 0xff,     (s >> 1 & 1) != 0, (s & 1) != 0};
}

/// A learned number that scales and one that shifts.
struct affine_block {
    class_name named;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor scale = t.param("scale", {1}), bias = t.param("bias", {1});
        return t.add(t.mul(scale, x), bias);
    }
};

/// Convolution, batch norm, activation, scale and shift; the last two are left out of what is not activated.
struct convolved {
    const layer_context& ctx;
    std::int64_t in, out, kernel, stride = 1, groups = 1;
    bool activated = true;
    activation act = activation::relu;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ConvLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const convolution_2d convolution{in, out, kernel, stride, (kernel - 1) / 2, groups, false};
        tensor h = t.call("normalization", batch_norm_2d{out}, t.call("convolution", convolution, x));
        h = activated ? t.call("activation", activation_module{act}, h) : t.call("activation", identity{}, h);
        if (activated && ctx.config.family[affine] != 0)
            return t.call("lab", affine_block{ctx.class_of("LearnableAffineBlock")}, h);
        return t.call("lab", identity{}, h);
    }
};

/// A convolution over channels, then one for each channel.
struct light {
    const layer_context& ctx;
    std::int64_t in, out, kernel;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ConvLayerLight"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor h = t.call("conv1", convolved{ctx, in, out, 1, 1, 1, false}, x);
        return t.call("conv2", convolved{ctx, out, out, kernel, 1, out}, h);
    }
};

/// `nn.MaxPool2d(2, stride=1, ceil_mode=True)`.
struct pool {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "MaxPool2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.pool(op::max_pool, x, 2, 1, 0, true); }
};

/// A chain of convolution layers; concatenates all outputs and squeezes the channels.
struct block {
    const layer_context& ctx;
    const stage_sizes& stage;
    bool first;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("BasicLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t in = x.dim(1), half = stage.out / 2;
        tensor parts[trace::max_cat_inputs];
        parts[0] = x;
        for (std::int64_t i = 0; i < stage.layers; ++i) {
            const tensor& h = parts[i];
            parts[i + 1] = stage.light ? t.call({"layers", i}, light{ctx, h.dim(1), stage.mid, stage.kernel}, h)
                                       : t.call({"layers", i}, convolved{ctx, h.dim(1), stage.mid, stage.kernel}, h);
        }
        tensor h = t.cat(parts, static_cast<int>(stage.layers) + 1, 1);
        const module_info aggregation{.name = "aggregation", .class_of_module = {"", "Sequential"}};
        t.enter(aggregation);
        h = t.call("0", convolved{ctx, in + stage.layers * stage.mid, half, 1}, h);
        h = t.leave(aggregation, t.call("1", convolved{ctx, half, stage.out, 1}, h));
        const recorder::not_executed_guard unused{t, first};
        const tensor dropped = t.call("drop_path", identity{}, h);
        return first ? h : t.add(dropped, x);
    }
};

constexpr tensor embed(const layer_context& ctx, trace& t, const tensor& pixels) {
    const module_info embedder{
        .name = "embedder", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const std::int64_t expanded_width = ctx.config.family[stem_channels], last = ctx.config.family[stem_channels + 1],
                       half = expanded_width / 2;
    const auto stem = [&](std::int64_t in, std::int64_t out, std::int64_t kernel, std::size_t stride) {
        return convolved{
            ctx, in, out, kernel, ctx.config.family[stem_strides + stride], 1, true, ctx.config.hidden_act};
    };
    t.enter(embedder);
    const tensor x =
        t.pad_images(t.call("stem1", stem(ctx.config.vision.num_channels, expanded_width, 3, 0), pixels), 1, 1);
    const tensor stem_features = t.pad_images(t.call("stem2a", stem(expanded_width, half, 2, 1), x), 1, 1);
    const tensor convolved_part = t.call("stem2b", stem(half, expanded_width, 2, 2), stem_features);
    const tensor pooled = t.call("pool", pool{}, x);
    const tensor h =
        t.call("stem3", stem(2 * expanded_width, expanded_width, 3, 3), t.cat({pooled, convolved_part}, 1));
    return t.leave(embedder, t.call("stem4", stem(expanded_width, last, 1, 4), h));
}

constexpr tensor stage(const layer_context& ctx, trace& t, std::int64_t i, tensor x) {
    const stage_sizes stage = stage_of(ctx.config, i);
    const module_info module{.name = "stages", .index = i, .class_of_module = ctx.class_of("Stage")};
    t.enter(module);
    const convolved shrink{ctx, stage.in, stage.in, 3, stage.stride, stage.in, false};
    x = stage.shrinks ? t.call("downsample", shrink, x) : t.call("downsample", identity{}, x);
    x = t.call({"blocks", 0}, block{ctx, stage, true}, x);
    for (loop layer_loop = t.loop_modules(stage.blocks - 1, x, 1); layer_loop.next();)
        x = t.call({"blocks", layer_loop.index()}, block{ctx, stage, false}, x);
    return t.leave(module, x);
}

}  // namespace hgnet_v2_detail

/// Convolutions whose outputs are joined, in stages.
///
/// Source: transformers/models/hgnet_v2/modeling_hgnet_v2.py.
constexpr tensor forward_hgnet_v2(const layer_context& ctx, trace& t) {
    using namespace hgnet_v2_detail;
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(model_info);
    tensor x = embed(ctx, t, image_input(ctx, t));
    t.enter(encoder);
    for (std::int64_t i = 0; i < ctx.config.num_hidden_layers; ++i) x = stage(ctx, t, i, x);
    t.leave(encoder);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info, t.select_model_output(x, classify_sequential(ctx, t, x)));
}

constexpr void parse_hgnet_v2(config_view json, model_config& config) {
    using namespace hgnet_v2_detail;
    config.vision = parse_image_size(json, 224);
    family_config stem;
    parse_stages_of(json, "stem_channels", {3, 32, 48}, stem, 0, 3);
    if (stem[0] != config.vision.num_channels)
        throw_invalid_value(json, "stem_channels", "a list that begins with num_channels");
    config.family[stem_channels] = stem[1];
    config.family[stem_channels + 1] = stem[2];
    parse_stages_of(json, "stem_strides", {2, 1, 1, 2, 1}, config.family, stem_strides, 5);
    family_config in, mid, out, blocks, layers, kernels, strides, flags;
    const std::int64_t n = config.num_hidden_layers =
        parse_stages(json, "stage_in_channels", {48, 128, 512, 1024}, in, 0);
    parse_stages_of(json, "stage_mid_channels", {48, 96, 192, 384}, mid, 0, n);
    parse_stages_of(json, "stage_out_channels", {128, 512, 1024, 2048}, out, 0, n);
    parse_stages_of(json, "stage_num_blocks", {1, 1, 3, 1}, blocks, 0, n);
    parse_stages_of(json, "stage_numb_of_layers", {6, 6, 6, 6}, layers, 0, n);
    parse_stages_of(json, "stage_kernel_size", {3, 3, 5, 5}, kernels, 0, n);
    parse_stages_of(json, "stage_downsample_strides", {2, 2, 2, 2}, strides, 0, n);
    const auto read_flags = [&](literal key, std::int64_t default_value, int bit) {
        const auto found = json.optional_array(key);
        if (found ? found->size() != static_cast<std::uint32_t>(n) : n != 4)
            throw_invalid_value(json, key, "true or false for each stage");
        for (std::int64_t i = 0; i < n; ++i) {
            const bool is_enabled =
                found ? (*found)[static_cast<std::size_t>(i)].as_boolean() : (default_value >> i & 1) != 0;
            flags[static_cast<std::size_t>(i)] |= std::int64_t{is_enabled} << bit;
        }
    };
    read_flags("stage_downsample", 14, 1);
    read_flags("stage_light_block", 12, 0);
    std::int64_t width = config.family[stem_channels + 1];
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        if (in[i] > 0xfffff || mid[i] > 0xfffff || out[i] > 0xfffff || blocks[i] > 0xffff || kernels[i] > 0xff ||
            strides[i] > 0xff)
            throw_unsupported(json, "stage_out_channels", "unsupported number of channels");
        if (layers[i] >= trace::max_cat_inputs)
            throw_unsupported(json, "stage_numb_of_layers", "unsupported number of layers");
        if (in[i] != width) throw_invalid_value(json, "stage_in_channels", "the output channels of the previous stage");
        if (out[i] < 2) throw_invalid_value(json, "stage_out_channels", "at least two channels");
        width = out[i];
        config.family[widths + i] = (in[i] << 20 | mid[i]) << 20 | out[i];
        config.family[shapes + i] = blocks[i] << 34 | layers[i] << 18 | kernels[i] << 10 | strides[i] << 2 | flags[i];
    }
    family_config hidden;
    const std::int64_t last = parse_stages(json, "hidden_sizes", {256, 512, 1024, 2048}, hidden, 0);
    if (hidden[static_cast<std::size_t>(last - 1)] != width)
        throw_invalid_value(json, "hidden_sizes", "the last stage's channels at its end");
}

// transformers/models/hgnet_v2: configuration_hgnet_v2.py, modeling_hgnet_v2.py
inline constexpr model_spec hgnet_v2 = [](model_spec spec) {
    spec.model_type = "hgnet_v2";
    spec.class_prefix = "HGNetV2";
    spec.forward = forward_hgnet_v2;
    spec.parse_config = parse_hgnet_v2;
    spec.family_keys = hgnet_v2_detail::family_keys;
    spec.supported_heads = {head_kind::image_classification};
    return spec;
}(image_classifier(activation::relu));

}  // namespace llmcost::arch
