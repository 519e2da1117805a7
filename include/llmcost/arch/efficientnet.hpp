// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/compound_scaling.hpp>
#include <llmcost/forward/images.hpp>

namespace llmcost::arch {

namespace efficientnet_detail {

using compound_scaling::activated, compound_scaling::call_blocks, compound_scaling::embed,
    compound_scaling::global_pool, compound_scaling::pools_maximum, compound_scaling::squeeze_ratio,
    compound_scaling::stage_sizes, compound_scaling::stages, compound_scaling::stem, compound_scaling::top;

inline constexpr std::int64_t maximum = 9;  // maximum number of stages; each takes two integers

inline constexpr family_key family_keys[]{{"hidden_dim", 2560},
                                          {.type = family_key_type::computed},
                                          {.type = family_key_type::computed},
                                          {.type = family_key_type::computed},
                                          {.type = family_key_type::computed}};

constexpr tensor encode_blocks(const layer_context& ctx, trace& t, const tensor& embedded) {
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    tensor x = call_blocks(ctx, t, embedded);
    x = t.call("top_conv", convolution_2d{x.dim(1), ctx.config.family[top], 1, 1, 0, 1, false}, x);
    return t.leave(encoder, activated(ctx, t, "top_bn", "top_activation", x));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = encode_blocks(ctx, t, embed(ctx, t));
    const recorder::detach_guard unread{t, ctx.config.head == head_kind::none};
    const global_pool pooler{ctx.config.family[top], ctx.config.family[pools_maximum] != 0};
    const tensor pooled = t.call("pooler", pooler, x);
    return ctx.config.head == head_kind::none ? x : t.reshape(pooled, {x.dim(0), x.dim(1)});
}

constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    return classify_linear(ctx, t, dropout(t, "dropout", x, dropout_position::classifier));
}

/// Drop path rates grow from zero; the first block drops nothing.
inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "drop_connect_rate", 0.2},
                                             {dropout_position::classifier, "dropout_rate", 0.5}};

/// Rounds channels · coefficient to a multiple of a divisor (`round_filters`).
[[nodiscard]] constexpr std::int64_t rounded(std::int64_t channels, double coefficient, std::int64_t divisor) {
    const double wanted = static_cast<double>(channels) * coefficient;
    const std::int64_t multiple =
        static_cast<std::int64_t>(wanted + static_cast<double>(divisor) / 2) / divisor * divisor;
    const std::int64_t minimum = multiple > divisor ? multiple : divisor;
    return static_cast<double>(minimum) < 0.9 * wanted ? minimum + divisor : minimum;
}

/// The entry of a list for a stage, or the default of the class.
constexpr std::int64_t listed(config_view json, literal key, const std::int64_t (&defaults)[7], std::int64_t stage) {
    const auto found = json.find(key);
    if (!found || found->is_null()) {
        if (stage >= 7) throw_invalid_value(json, key, "a number for each stage");
        return defaults[stage];
    }
    if (!found->is_array() || static_cast<std::int64_t>(found->size()) <= stage)
        throw_invalid_value(json, key, "a list with a number for each stage");
    const std::int64_t n = (*found)[static_cast<std::size_t>(stage)].as_positive();
    if (n > 0xffff) throw_unsupported(json, key, "numbers above 65535 are not supported");
    return n;
}

constexpr bool lists(config_view json, literal key, std::int64_t number) {
    if (const auto found = json.optional_array(key))
        for (const config_view entry : *found)
            if (entry.as_non_negative() == number) return true;
    return false;
}

/// Returns ceil(coefficient · n).
[[nodiscard]] constexpr std::int64_t ceiling(double coefficient, std::int64_t n) {
    const double exact = coefficient * static_cast<double>(n);
    const auto multiple = static_cast<std::int64_t>(exact);
    return multiple + (static_cast<double>(multiple) < exact ? 1 : 0);
}

constexpr double coefficient(config_view json, literal key, double default_value) {
    const double c = json.real(key, default_value);
    if (!(c > 0.0 && c < 1e3)) throw_invalid_value(json, key, "a positive factor below 1000");
    return c;
}

constexpr stage_sizes parse_stage(config_view json, std::int64_t stage, std::int64_t number) {
    constexpr std::int64_t kernels[]{3, 3, 5, 3, 5, 5, 3}, ins[]{32, 16, 24, 40, 80, 112, 192};
    constexpr std::int64_t outs[]{16, 24, 40, 80, 112, 192, 320}, strides[]{1, 2, 2, 2, 1, 2, 1};
    constexpr std::int64_t repeats[]{1, 2, 2, 3, 3, 4, 1}, expands[]{1, 6, 6, 6, 6, 6, 6};
    const double width_coefficient = coefficient(json, "width_coefficient", 2.0),
                 deep = coefficient(json, "depth_coefficient", 3.1);
    const std::int64_t divisor = json.positive("depth_divisor", 8);
    stage_sizes s{};
    s.in = rounded(listed(json, "in_channels", ins, stage), width_coefficient, divisor);
    s.out = rounded(listed(json, "out_channels", outs, stage), width_coefficient, divisor);
    s.kernel = listed(json, "kernel_sizes", kernels, stage);
    s.stride = listed(json, "strides", strides, stage);
    s.repeats = ceiling(deep, listed(json, "num_block_repeats", repeats, stage));
    s.expand = listed(json, "expand_ratios", expands, stage);
    s.uses_symmetric_padding = lists(json, "depthwise_padding", number);
    if (s.kernel % 2 == 0) throw_unsupported(json, "kernel_sizes", "even kernel sizes are not supported");
    if (s.stride > 2) throw_invalid_value(json, "strides", "1 or 2");
    if (s.repeats > 0xffff) throw_unsupported(json, "num_block_repeats", "unsupported number of blocks in a stage");
    return s;
}

}  // namespace efficientnet_detail

/// Traces EfficientNet: MBConv blocks with squeeze-and-excitation.
///
/// Source: transformers/models/efficientnet/modeling_efficientnet.py.
constexpr tensor forward_efficientnet(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "efficientnet", efficientnet_detail::base, efficientnet_detail::classify);
}

/// Parses the stages, the stem before them and the top convolution after them.
constexpr void parse_efficientnet_blocks(config_view json, model_config& config) {
    using namespace efficientnet_detail;
    using namespace compound_scaling;
    config.vision = parse_image_size(json, 600);
    const double width_coefficient = coefficient(json, "width_coefficient", 2.0);
    const std::int64_t divisor = json.positive("depth_divisor", 8);
    config.family[stem] = rounded(32, width_coefficient, divisor);
    const auto found = json.optional_array("in_channels");
    config.family[stages] = found ? static_cast<std::int64_t>(found->size()) : 7;
    if (config.family[stages] < 1 || config.family[stages] > maximum)
        throw_unsupported(json, "in_channels", "unsupported number of stages");
    std::int64_t number = 0, width = config.family[stem];
    for (std::int64_t i = 0; i < config.family[stages]; ++i) {
        const stage_sizes stage = parse_stage(json, i, number);
        if (stage.in != width) throw_invalid_value(json, "in_channels", "the output channels of the previous stage");
        stage.write(config.family, i);
        number += stage.repeats;
        width = stage.out;
    }
    parse_ratio(json, "squeeze_expansion_ratio", 0.25, config.family, squeeze_ratio);
    const string_ref pooling = json.string("pooling_type", "mean");
    if (pooling != "mean" && pooling != "max") throw_invalid_value(json, "pooling_type", "mean or max");
    config.family[pools_maximum] = pooling == "max";
    for (const std::int64_t side : {config.vision.image_height, config.vision.image_width})
        if (side > config.family[top])
            throw_unsupported(json, "image_size", "an image_size above hidden_dim is not supported");
}

constexpr void parse_efficientnet(config_view json, model_config& config) {
    using namespace efficientnet_detail;
    using namespace compound_scaling;
    parse_efficientnet_blocks(json, config);
    const double width_coefficient = coefficient(json, "width_coefficient", 2.0);
    if (config.family[top] != rounded(1280, width_coefficient, json.positive("depth_divisor", 8)))
        throw_invalid_value(json, "hidden_dim", "1280 times width_coefficient, rounded");
}

// Source: transformers/models/efficientnet: configuration_efficientnet.py, modeling_efficientnet.py
inline constexpr model_spec efficientnet = [](model_spec spec) {
    spec.model_type = "efficientnet";
    spec.class_prefix = "EfficientNet";
    spec.forward = forward_efficientnet;
    spec.parse_config = parse_efficientnet;
    spec.family_keys = efficientnet_detail::family_keys;
    spec.dropout_keys = efficientnet_detail::dropout_rates;
    return spec;
}(image_classifier(activation::swish));

}  // namespace llmcost::arch
