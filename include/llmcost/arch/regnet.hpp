// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/resnet.hpp>
#include <llmcost/forward/residual_convolution.hpp>

namespace llmcost::arch {

namespace regnet_detail {

enum family_config_index : std::uint8_t {
    group_width,
    squeezes,
};

inline constexpr family_key family_keys[]{{"groups_width", 64},
                                          {.default_value = 1, .type = family_key_type::computed},
                                          {.default_value = 2, .type = family_key_type::computed},
                                          {.type = family_key_type::computed}};

/// Channels weighed by what two small convolutions make of their means.
struct squeeze {
    std::int64_t width;
    std::int64_t inner;
    literal prefix;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "SELayer"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor pooled = t.call("pooler", global_average_pool{}, x);
        const module_info attention{.name = "attention", .class_of_module = {"", "Sequential"}};
        t.enter(attention);
        tensor h = t.call("0", convolution_2d{width, inner}, pooled);
        h = t.call("2", convolution_2d{inner, width}, t.call("1", activation_module{activation::relu}, h));
        h = t.leave(attention, t.call("3", activation_module{activation::sigmoid}, h));
        return t.mul(x, h);
    }
};

/// Three convolutions, the middle one in groups, and a sum.
struct layer {
    const layer_context& ctx;
    std::int64_t in, out, stride;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const {
        return ctx.class_of(ctx.config.family[squeezes] ? "YLayer" : "XLayer");
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const literal prefix = ctx.spec.class_prefix;
        const activation act = ctx.config.hidden_act;
        const std::int64_t shares = out / ctx.config.family[group_width], groups = shares > 1 ? shares : 1;
        const module_info sequence{.name = "layer", .class_of_module = {"", "Sequential"}};
        t.enter(sequence);
        tensor h =
            t.call("0", residual_convolution::block{residual_convolution::square(in, out, 1, 1), prefix, true, act}, x);
        h = t.call("1", residual_convolution::block{{out, out, 3, stride, 1, groups, false}, prefix, true, act}, h);
        const bool two = ctx.config.family[squeezes] != 0;
        if (two) h = t.call("2", squeeze{out, quarter(in), prefix}, h);
        const residual_convolution::block last{residual_convolution::square(out, out, 1, 1), prefix, false, act};
        h = t.leave(sequence, t.call(two ? "3" : "2", last, h));
        const residual_convolution::shortcut shortcut_module{residual_convolution::square(in, out, 1, stride), prefix};
        const bool changes = in != out || stride != 1;
        t.add_(h, changes ? t.call("shortcut", shortcut_module, x) : t.call("shortcut", identity{"Identity"}, x));
        return t.call("activation", activation_module{act}, h);
    }
    /// A quarter, halves rounded to the even number (Python's `round`).
    [[nodiscard]] static constexpr std::int64_t quarter(std::int64_t n) noexcept {
        return n / 4 + (n % 4 == 3 || (n % 4 == 2 && n / 4 % 2 == 1) ? 1 : 0);
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    return residual_convolution::forward_stages<layer>(ctx, t, 3, false);
}

}  // namespace regnet_detail

/// Convolutions in groups, in stages, with channels weighed or not.
///
/// Source: transformers/models/regnet/modeling_regnet.py.
constexpr tensor forward_regnet(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "regnet", regnet_detail::base, classify_flat);
}

constexpr void parse_regnet(config_view json, model_config& config) {
    using namespace regnet_detail;
    using namespace residual_convolution;
    parse_residual_stages(json, config, 32, {128, 192, 512, 1088}, {2, 6, 12, 2});
    const string_ref type = json.string("layer_type", "y");
    if (type != "x" && type != "y") throw_invalid_value(json, "layer_type", "x or y");
    config.family[squeezes] = type == "y";
    config.family[first_stage_stride] = json.boolean("downsample_in_first_stage", true) ? 2 : 1;
    for (std::int64_t i = 0; i < config.family[stages]; ++i) {
        const std::int64_t width = stage_entry(config, widths, i), groups = width / config.family[group_width];
        if (groups > 1 && width % groups != 0)
            throw_invalid_value(json, "groups_width", "a width that makes even groups");
    }
    if (config.family[squeezes] && config.embedding_size < 3)
        throw_invalid_value(json, "embedding_size", "at least 3 where layers squeeze");
}

// transformers/models/regnet: configuration_regnet.py, modeling_regnet.py
inline constexpr model_spec regnet = [](model_spec spec) {
    spec.model_type = "regnet";
    spec.class_prefix = "RegNet";
    spec.forward = forward_regnet;
    spec.parse_config = parse_regnet;
    spec.family_keys = regnet_detail::family_keys;
    return spec;
}(resnet);

}  // namespace llmcost::arch
