// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/residual_convolution.hpp>
#include <llmcost/layers/convolution.hpp>

namespace llmcost::arch {

namespace resnet_detail {

using residual_convolution::block, residual_convolution::shortcut, residual_convolution::square;

enum family_config_index : std::uint8_t {
    basic,
    early_stride,  ///< a bottleneck's first convolution strides, not its second
};

inline constexpr family_key family_keys[]{{.type = family_key_type::computed},
                                          {"downsample_in_bottleneck", 0, family_key_type::boolean},
                                          {.default_value = 1, .type = family_key_type::computed},
                                          {.type = family_key_type::computed}};

/// Two convolutions, or three around a narrower one, and a sum.
struct residual_layer {
    const layer_context& ctx;
    std::int64_t in, out, stride;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const {
        return ctx.class_of(ctx.config.family[basic] ? "BasicLayer" : "BottleNeckLayer");
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const literal prefix = ctx.spec.class_prefix;
        const activation act = ctx.config.hidden_act;
        const module_info layer{.name = "layer", .class_of_module = {"", "Sequential"}};
        const bool early = ctx.config.family[early_stride] != 0;
        tensor h = x;
        const auto declare_shortcut = [&] {
            const bool changes = in != out || stride != 1;
            return changes ? t.call("shortcut", shortcut{square(in, out, 1, stride), prefix}, x)
                           : t.call("shortcut", identity{"Identity"}, x);
        };
        t.enter(layer);
        if (ctx.config.family[basic]) {
            h = t.call("0", block{square(in, out, 3, stride), prefix, true, act}, h);
            h = t.call("1", block{square(out, out, 3, 1), prefix, false, act}, h);
        } else {
            const std::int64_t inner = out / 4;
            h = t.call("0", block{square(in, inner, 1, early ? stride : 1), prefix, true, act}, h);
            h = t.call("1", block{square(inner, inner, 3, early ? 1 : stride), prefix, true, act}, h);
            h = t.call("2", block{square(inner, out, 1, 1), prefix, false, act}, h);
        }
        t.leave(layer);
        t.add_(h, declare_shortcut());
        return t.call("activation", activation_module{act}, h);
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    return residual_convolution::forward_stages<residual_layer>(ctx, t, 7, true);
}

}  // namespace resnet_detail

/// Convolutions in stages with sums around them, and a classifier of the mean over all places.
///
/// Source: transformers/models/resnet/modeling_resnet.py.
constexpr tensor forward_resnet(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "resnet", resnet_detail::base, classify_flat);
}

constexpr void parse_resnet(config_view json, model_config& config) {
    using namespace resnet_detail;
    using namespace residual_convolution;
    parse_residual_stages(json, config, 64, {256, 512, 1024, 2048}, {3, 4, 6, 3});
    const string_ref type = json.string("layer_type", "bottleneck");
    if (type != "bottleneck" && type != "basic") throw_invalid_value(json, "layer_type", "basic or bottleneck");
    config.family[basic] = type == "basic";
    config.family[first_stage_stride] = json.boolean("downsample_in_first_stage", false) ? 2 : 1;
    for (std::int64_t i = 0; i < config.family[stages] && !config.family[basic]; ++i)
        if (stage_entry(config, widths, i) < 4)
            throw_invalid_value(json, "hidden_sizes", "at least 4 channels in each stage");
}

// transformers/models/resnet: configuration_resnet.py, modeling_resnet.py
inline constexpr model_spec resnet = [](model_spec spec) {
    spec.model_type = "resnet";
    spec.class_prefix = "ResNet";
    spec.forward = forward_resnet;
    spec.parse_config = parse_resnet;
    spec.family_keys = resnet_detail::family_keys;
    return spec;
}(image_classifier(activation::relu));

}  // namespace llmcost::arch
