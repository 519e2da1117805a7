// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/convolution.hpp>
#include <llmcost/reading/images.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace pp_lcnet_detail {

inline constexpr std::int64_t most_blocks = 18, stages = 5;

enum own : std::uint8_t {
    reduction,  ///< of channels where they are weighed
    expansion,  ///< channels in front of the head
    stem,       ///< channels of the first convolution
    stem_stride,
    how_many,  ///< blocks in all
    blocks     ///< widths in and out of 20 bits, kernel and stride of 8, the stage of 3, whether channels are weighed
};
inline constexpr own_key keys[]{{"reduction", 4},
                                {"class_expand", 1280},
                                {.value = own_value::computed},
                                {"stem_stride", 2},
                                {.value = own_value::computed}};

struct block_sizes {
    std::int64_t in, out, kernel, stride, stage;
    bool weighs;
};
[[nodiscard]] constexpr block_sizes block_of(const sizes& dims, std::int64_t i) {
    const std::int64_t b = of_stage(dims, blocks, i);
    return {b >> 40, b >> 20 & 0xfffff, b >> 12 & 0xff, b >> 4 & 0xff, b >> 1 & 7, (b & 1) != 0};
}

/// A width that is a multiple of a number, at most a tenth narrower than asked for (`make_divisible`).
constexpr std::int64_t divisible(double width, std::int64_t by) {
    const auto rounded = static_cast<std::int64_t>(width + static_cast<double>(by) / 2) / by * by;
    const std::int64_t at_least = rounded < by ? by : rounded;
    return static_cast<double>(at_least) < 0.9 * width ? at_least + by : at_least;
}

/// Convolution, batch norm and activation.
struct convolved {
    const site& here;
    convolution_2d dims;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("ConvLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const value h = t.call("normalization", batch_norm_2d{dims.out}, t.call("convolution", dims, x));
        return t.call("activation", activation_module{here.dims.hidden_act}, h);
    }
};

/// `nn.Hardsigmoid`.
struct hard_sigmoid {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "Hardsigmoid"}; }
    constexpr value describe(trace& t, const value& x) const { return t.unary(op::hardsigmoid, x); }
};

/// Channels times what two small convolutions make of their means.
struct squeeze_excitation {
    class_name named;
    std::int64_t width, narrow;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        value h = t.call("avg_pool", global_average_pool{}, x);
        h = t.call({"convolutions", 0}, convolution_2d{width, narrow}, h);
        h = t.call({"convolutions", 1}, activation_module{activation::relu}, h);
        h = t.call({"convolutions", 2}, convolution_2d{narrow, width}, h);
        return t.mul(x, t.call({"convolutions", 3}, hard_sigmoid{}, h));
    }
};

/// A convolution for each channel, then one over channels.
struct block {
    const site& here;
    block_sizes dims;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("DepthwiseSeparableConvLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const convolution_2d deep{dims.in, dims.in, dims.kernel, dims.stride, dims.kernel / 2, dims.in, false};
        value h = t.call("depthwise_convolution", convolved{here, deep}, x);
        const squeeze_excitation weigh{here.type("SqueezeExcitationModule"), dims.in, dims.in / here.dims.own[reduction]};
        h = dims.weighs ? t.call("squeeze_excitation_module", weigh, h) : t.call("squeeze_excitation_module", identity{}, h);
        return t.call("pointwise_convolution", convolved{here, {dims.in, dims.out, 1, 1, 0, 1, false}}, h);
    }
};

constexpr value encode_blocks_of_stages(const site& here, trace& t) {
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    const convolution_2d first{3, here.dims.own[stem], 3, here.dims.own[stem_stride], 1, 1, false};
    value x = t.call("convolution", convolved{here, first}, images_of(here, t));
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < stages; ++i) {
        const module_info stage{.name = "blocks", .index = i, .type = here.type("Block")};
        t.enter(stage);
        for (std::int64_t n = 0; at < here.dims.own[how_many] && block_of(here.dims, at).stage == i; ++n, ++at)
            x = t.call({"layers", n}, block{here, block_of(here.dims, at)}, x);
        t.leave(stage, x);
    }
    return t.leave(encoder, x);
}

}  // namespace pp_lcnet_detail

/// Convolutions for each channel and over channels, in turn.
///
/// Source: transformers/models/pp_lcnet/modeling_pp_lcnet.py.
constexpr value describe_pp_lcnet(const site& here, trace& t) {
    using namespace pp_lcnet_detail;
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    const std::int64_t wide = here.dims.own[expansion];
    t.enter(whole);
    const value x = encode_blocks_of_stages(here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    value h = t.call("avg_pool", global_average_pool{}, x);
    h = t.call("last_convolution", convolution_2d{x.dim(1), wide, 1, 1, 0, 1, false}, h);
    h = t.mul(t.call("act_fn", activation_module{here.dims.hidden_act}, h));  // what is not dropped, in evaluation, too
    h = t.call("flatten", flatten{}, h);
    const value out = here.dims.num_labels == 0 ? t.call("head", identity{}, h)
                                                : t.call("head", head_linear{{wide, here.dims.num_labels, true}}, h);
    return t.leave(whole, t.returns(x, out));
}

constexpr void read_pp_lcnet(config_view config, sizes& s) {
    using namespace pp_lcnet_detail;
    s.vision = read_images(config, 224);
    s.vision.num_channels = 3;
    const double scale = config.real("scale", 1.0);
    const std::int64_t divisor = config.positive("divisor", 8);
    if (!(scale > 0.0 && scale < 1024.0) || divisor > 0xffff) fail_value(config, "scale", "a positive ratio below 1024");
    const auto scaled = [&](std::int64_t width) {
        const std::int64_t n = divisible(static_cast<double>(width) * scale, divisor);
        if (n > 0xfffff) fail_unsupported(config, "scale", "no row describes channels beyond 1048575");
        return n;
    };
    s.own[stem] = scaled(config.positive("stem_channels", 16));
    std::int64_t width = s.own[stem];
    const auto add = [&](std::int64_t stage, std::int64_t kernel, std::int64_t in, std::int64_t out, std::int64_t stride,
                         bool weighs) {
        if (s.own[how_many] == most_blocks) fail_unsupported(config, "block_configs", "no row describes so many blocks");
        if (kernel > 0xff || stride > 0xff) fail_unsupported(config, "block_configs", "no row describes kernels so large");
        const std::int64_t from = scaled(in);
        if (from != width) fail_value(config, "block_configs", "blocks that read what the one before hands out");
        if (weighs && from < s.own[reduction]) fail_value(config, "reduction", "no more than there are channels");
        width = scaled(out);
        s.own[blocks + static_cast<std::size_t>(s.own[how_many]++)] =
            from << 40 | width << 20 | kernel << 12 | stride << 4 | stage << 1 | std::int64_t{weighs};
    };
    if (const auto found = config.optional_array("block_configs")) {
        if (found->size() != stages) fail_value(config, "block_configs", "five stages");
        for (std::size_t i = 0; i < static_cast<std::size_t>(stages); ++i)
            for (const config_view b : (*found)[i].as_array()) {
                if (b.as_array().size() != 5)
                    fail_value(config, "block_configs", "blocks of kernel, channels in and out, stride, and true or false");
                add(static_cast<std::int64_t>(i), b[0].as_positive(), b[1].as_positive(), b[2].as_positive(),
                    b[3].as_positive(), b[4].as_boolean());
            }
        if (s.own[how_many] == 0) fail_value(config, "block_configs", "at least one block");
        return;
    }
    add(0, 3, 16, 32, 1, false);
    add(1, 3, 32, 64, 2, false), add(1, 3, 64, 64, 1, false);
    add(2, 3, 64, 128, 2, false), add(2, 3, 128, 128, 1, false);
    add(3, 3, 128, 256, 2, false);
    for (int i = 0; i < 5; ++i) add(3, 5, 256, 256, 1, false);
    add(4, 5, 256, 512, 2, true), add(4, 5, 512, 512, 1, true);
}

// transformers/models/pp_lcnet: configuration_pp_lcnet.py, modeling_pp_lcnet.py
inline constexpr architecture pp_lcnet{
    .model_type = "pp_lcnet",
    .prefix = "PPLCNet",
    .describe = describe_pp_lcnet,
    .read = read_pp_lcnet,
    .own = pp_lcnet_detail::keys,
    .drops = dropout_keys::none(),
    .rotated = rotation::none,
    .any_image = true,
    .heads = {head_kind::image_classification},
    .defaults = image_defaults(activation::hardswish),
};

}  // namespace llmcost::arch
