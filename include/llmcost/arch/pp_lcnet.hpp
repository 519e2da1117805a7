// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/layers/convolution.hpp>

namespace llmcost::arch {

namespace pp_lcnet_detail {

inline constexpr std::int64_t max_blocks = 18, stages = 5;

enum family_config_index : std::uint8_t {
    reduction,  ///< of channels where they are weighed
    expansion,  ///< channels before the head
    stem,       ///< channels of the first convolution
    stem_stride,
    num_blocks,  ///< blocks in all
    blocks       ///< widths in and out of 20 bits, kernel and stride of 8, the stage of 3, whether channels are weighed
};
inline constexpr family_key family_keys[]{{"reduction", 4},
                                          {"class_expand", 1280},
                                          {.type = family_key_type::computed},
                                          {"stem_stride", 2},
                                          {.type = family_key_type::computed}};

struct block_sizes {
    std::int64_t in, out, kernel, stride, stage;
    bool weighs;
};
[[nodiscard]] constexpr block_sizes block_of(const model_config& config, std::int64_t i) {
    const std::int64_t b = stage_entry(config, blocks, i);
    return {b >> 40, b >> 20 & 0xfffff, b >> 12 & 0xff, b >> 4 & 0xff, b >> 1 & 7, (b & 1) != 0};
}

/// Rounds a width to a multiple of `divisor`, at most a tenth below the requested width (`make_divisible`).
constexpr std::int64_t divisible(double width, std::int64_t divisor) {
    const auto rounded = static_cast<std::int64_t>(width + static_cast<double>(divisor) / 2) / divisor * divisor;
    const std::int64_t clamped = rounded < divisor ? divisor : rounded;
    return static_cast<double>(clamped) < 0.9 * width ? clamped + divisor : clamped;
}

/// Convolution, batch norm and activation.
struct convolved {
    const layer_context& ctx;
    convolution_2d conv;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ConvLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor h = t.call("normalization", batch_norm_2d{conv.out}, t.call("convolution", conv, x));
        return t.call("activation", activation_module{ctx.config.hidden_act}, h);
    }
};

/// `nn.Hardsigmoid`.
struct hard_sigmoid {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Hardsigmoid"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.hardsigmoid(x); }
};

/// Channels times what two small convolutions make of their means.
struct squeeze_excitation {
    class_name named;
    std::int64_t width, reduced_channels;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        tensor h = t.call("avg_pool", global_average_pool{}, x);
        h = t.call({"convolutions", 0}, convolution_2d{width, reduced_channels}, h);
        h = t.call({"convolutions", 1}, activation_module{activation::relu}, h);
        h = t.call({"convolutions", 2}, convolution_2d{reduced_channels, width}, h);
        return t.mul(x, t.call({"convolutions", 3}, hard_sigmoid{}, h));
    }
};

/// A convolution for each channel, then one over channels.
struct block {
    const layer_context& ctx;
    block_sizes block_config;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("DepthwiseSeparableConvLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const convolution_2d deep{block_config.in,
                                  block_config.in,
                                  block_config.kernel,
                                  block_config.stride,
                                  block_config.kernel / 2,
                                  block_config.in,
                                  false};
        tensor h = t.call("depthwise_convolution", convolved{ctx, deep}, x);
        const squeeze_excitation weigh{ctx.class_of("SqueezeExcitationModule"), block_config.in,
                                       block_config.in / ctx.config.family[reduction]};
        h = block_config.weighs ? t.call("squeeze_excitation_module", weigh, h)
                                : t.call("squeeze_excitation_module", identity{}, h);
        return t.call("pointwise_convolution", convolved{ctx, {block_config.in, block_config.out, 1, 1, 0, 1, false}},
                      h);
    }
};

constexpr tensor encode_blocks_of_stages(const layer_context& ctx, trace& t) {
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    const convolution_2d first{3, ctx.config.family[stem], 3, ctx.config.family[stem_stride], 1, 1, false};
    tensor x = t.call("convolution", convolved{ctx, first}, image_input(ctx, t));
    std::int64_t index = 0;
    for (std::int64_t i = 0; i < stages; ++i) {
        const module_info stage{.name = "blocks", .index = i, .class_of_module = ctx.class_of("Block")};
        t.enter(stage);
        for (std::int64_t n = 0; index < ctx.config.family[num_blocks] && block_of(ctx.config, index).stage == i;
             ++n, ++index)
            x = t.call({"layers", n}, block{ctx, block_of(ctx.config, index)}, x);
        t.leave(stage, x);
    }
    return t.leave(encoder, x);
}

}  // namespace pp_lcnet_detail

/// Convolutions for each channel and over channels, in turn.
///
/// Source: transformers/models/pp_lcnet/modeling_pp_lcnet.py.
constexpr tensor forward_pp_lcnet(const layer_context& ctx, trace& t) {
    using namespace pp_lcnet_detail;
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    const std::int64_t expanded_width = ctx.config.family[expansion];
    t.enter(model_info);
    const tensor x = encode_blocks_of_stages(ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    tensor h = t.call("avg_pool", global_average_pool{}, x);
    h = t.call("last_convolution", convolution_2d{x.dim(1), expanded_width, 1, 1, 0, 1, false}, h);
    h = t.mul_scalar(
        t.call("act_fn", activation_module{ctx.config.hidden_act}, h));  // what is not dropped, in evaluation, too
    h = t.call("flatten", flatten{}, h);
    const tensor out = ctx.config.num_labels == 0
                           ? t.call("head", identity{}, h)
                           : t.call("head", head_linear{{expanded_width, ctx.config.num_labels, true}}, h);
    return t.leave(model_info, t.select_model_output(x, out));
}

constexpr void parse_pp_lcnet(config_view json, model_config& config) {
    using namespace pp_lcnet_detail;
    config.vision = parse_image_size(json, 224);
    config.vision.num_channels = 3;
    const double scale = json.real("scale", 1.0);
    const std::int64_t divisor = json.positive("divisor", 8);
    if (!(scale > 0.0 && scale < 1024.0) || divisor > 0xffff)
        throw_invalid_value(json, "scale", "a positive ratio below 1024");
    const auto scaled = [&](std::int64_t width) {
        const std::int64_t n = divisible(static_cast<double>(width) * scale, divisor);
        if (n > 0xfffff) throw_unsupported(json, "scale", "more than 1048575 channels are not supported");
        return n;
    };
    config.family[stem] = scaled(json.positive("stem_channels", 16));
    std::int64_t width = config.family[stem];
    const auto add = [&](std::int64_t stage, std::int64_t kernel, std::int64_t in, std::int64_t out,
                         std::int64_t stride, bool weighs) {
        if (config.family[num_blocks] == max_blocks)
            throw_unsupported(json, "block_configs", "unsupported number of blocks");
        if (kernel > 0xff || stride > 0xff) throw_unsupported(json, "block_configs", "unsupported kernel size");
        const std::int64_t in_channels = scaled(in);
        if (in_channels != width)
            throw_invalid_value(json, "block_configs",
                                "blocks whose input channels are the output channels of the previous block");
        if (weighs && in_channels < config.family[reduction])
            throw_invalid_value(json, "reduction", "no more than there are channels");
        width = scaled(out);
        config.family[blocks + static_cast<std::size_t>(config.family[num_blocks]++)] =
            in_channels << 40 | width << 20 | kernel << 12 | stride << 4 | stage << 1 | std::int64_t{weighs};
    };
    if (const auto found = json.optional_array("block_configs")) {
        if (found->size() != stages) throw_invalid_value(json, "block_configs", "five stages");
        for (std::size_t i = 0; i < static_cast<std::size_t>(stages); ++i)
            for (const config_view b : (*found)[i].as_array()) {
                if (b.as_array().size() != 5)
                    throw_invalid_value(json, "block_configs",
                                        "blocks of kernel, channels in and out, stride, and true or false");
                add(static_cast<std::int64_t>(i), b[0].as_positive(), b[1].as_positive(), b[2].as_positive(),
                    b[3].as_positive(), b[4].as_boolean());
            }
        if (config.family[num_blocks] == 0) throw_invalid_value(json, "block_configs", "at least one block");
        return;
    }
    add(0, 3, 16, 32, 1, false);
    add(1, 3, 32, 64, 2, false);
    add(1, 3, 64, 64, 1, false);
    add(2, 3, 64, 128, 2, false);
    add(2, 3, 128, 128, 1, false);
    add(3, 3, 128, 256, 2, false);
    for (int i = 0; i < 5; ++i) add(3, 5, 256, 256, 1, false);
    add(4, 5, 256, 512, 2, true);
    add(4, 5, 512, 512, 1, true);
}

// transformers/models/pp_lcnet: configuration_pp_lcnet.py, modeling_pp_lcnet.py
inline constexpr model_spec pp_lcnet = [](model_spec spec) {
    spec.model_type = "pp_lcnet";
    spec.class_prefix = "PPLCNet";
    spec.forward = forward_pp_lcnet;
    spec.parse_config = parse_pp_lcnet;
    spec.family_keys = pp_lcnet_detail::family_keys;
    spec.supported_heads = {head_kind::image_classification};
    return spec;
}(image_classifier(activation::hardswish));

}  // namespace llmcost::arch
