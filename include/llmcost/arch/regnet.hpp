// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/resnet.hpp>

namespace llmcost::arch {

namespace regnet_detail {

enum own : std::uint8_t { group_width, squeezes, first_stage_stride, stages, widths, depths = widths + most_stages };
inline constexpr own_key keys[]{{"groups_width", 64},
                                {.otherwise = 1, .value = own_value::computed},
                                {.otherwise = 2, .value = own_value::computed},
                                {.value = own_value::computed}};

/// Channels weighed by what two small convolutions make of their means.
struct squeeze {
    std::int64_t width;
    std::int64_t inner;
    literal prefix;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "SELayer"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value pooled = t.call("pooler", global_average_pool{}, x);
        const module_info attention{.name = "attention", .type = {"", "Sequential"}};
        t.enter(attention);
        value h = t.call("0", convolution_2d{width, inner}, pooled);
        h = t.call("2", convolution_2d{inner, width}, t.call("1", activation_module{activation::relu}, h));
        h = t.leave(attention, t.call("3", activation_module{activation::sigmoid}, h));
        return t.mul(x, h);
    }
};

/// Three convolutions, the middle one in groups, and a sum.
struct layer {
    const site& here;
    std::int64_t in, out, stride;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type(here.dims.own[squeezes] ? "YLayer" : "XLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const literal prefix = here.row.prefix;
        const activation act = here.dims.hidden_act;
        const std::int64_t shares = out / here.dims.own[group_width], groups = shares > 1 ? shares : 1;
        const module_info sequence{.name = "layer", .type = {"", "Sequential"}};
        t.enter(sequence);
        value h = t.call("0", resnet_detail::block{resnet_detail::square(in, out, 1, 1), prefix, true, act}, x);
        h = t.call("1", resnet_detail::block{{out, out, 3, stride, 1, groups, false}, prefix, true, act}, h);
        const bool two = here.dims.own[squeezes] != 0;
        if (two) h = t.call("2", squeeze{out, quarter(in), prefix}, h);
        const resnet_detail::block last{resnet_detail::square(out, out, 1, 1), prefix, false, act};
        h = t.leave(sequence, t.call(two ? "3" : "2", last, h));
        const resnet_detail::shortcut around{resnet_detail::square(in, out, 1, stride), prefix};
        const bool changes = in != out || stride != 1;
        t.in_place(op::add, h, changes ? t.call("shortcut", around, x) : t.call("shortcut", identity{"Identity"}, x));
        return t.call("activation", activation_module{act}, h);
    }
    /// A quarter, halves rounded to the even number (Python's `round`).
    [[nodiscard]] static constexpr std::int64_t quarter(std::int64_t n) noexcept {
        return n / 4 + (n % 4 == 3 || (n % 4 == 2 && n / 4 % 2 == 1) ? 1 : 0);
    }
};

constexpr value stage(const site& here, trace& t, std::int64_t i, std::int64_t in, const value& x) {
    const std::int64_t out = of_stage(here.dims, widths, i), depth = of_stage(here.dims, depths, i);
    const module_info module{.name = "stages", .index = i, .type = here.type("Stage")};
    const module_info layers{.name = "layers", .type = {"", "Sequential"}};
    t.enter(module);
    t.enter(layers);
    const std::int64_t stride = i == 0 ? here.dims.own[first_stage_stride] : 2;
    value h = t.call(module_place::item(0), layer{here, in, out, stride}, x);
    for (repetition each = t.repeat(depth - 1, h, 1); each.next();)
        h = t.call(module_place::item(each.index()), layer{here, out, out, 1}, h);
    t.leave(layers);
    return t.leave(module, h);
}

constexpr value base(const site& here, trace& t) {
    const std::int64_t width = here.dims.embedding_size;
    const module_info embedder{.name = "embedder", .type = here.type("Embeddings"), .what = role::embedding};
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(embedder);
    const convolution_2d first = resnet_detail::square(here.dims.vision.num_channels, width, 3, 2);
    const resnet_detail::block block{first, here.row.prefix, true, here.dims.hidden_act};
    value x = t.leave(embedder, t.call("embedder", block, images_of(here, t)));
    t.enter(encoder);
    for (std::int64_t i = 0, in = width; i < here.dims.own[stages]; in = of_stage(here.dims, widths, i++))
        x = stage(here, t, i, in, x);
    t.leave(encoder);
    const recorder::off_loss_guard unread{t, here.dims.head == head_kind::none};
    const value pooled = t.call("pooler", global_average_pool{}, x);
    return here.dims.head == head_kind::none ? x : pooled;
}

}  // namespace regnet_detail

/// Convolutions in groups, in stages, with channels weighed or not.
///
/// Source: transformers/models/regnet/modeling_regnet.py.
constexpr value describe_regnet(const site& here, trace& t) {
    return describe_image_model(here, t, "regnet", regnet_detail::base, classify_flat);
}

constexpr void read_regnet(config_view config, sizes& s) {
    using namespace regnet_detail;
    s.vision = read_images(config, 224);
    s.embedding_size = config.positive("embedding_size", 32);
    s.own[stages] = read_stages(config, "hidden_sizes", {128, 192, 512, 1088}, s.own, widths);
    read_stages_of(config, "depths", {2, 6, 12, 2}, s.own, depths, s.own[stages]);
    const string_ref type = config.string("layer_type", "y");
    if (type != "x" && type != "y") fail_value(config, "layer_type", "x or y");
    s.own[squeezes] = type == "y";
    s.own[first_stage_stride] = config.boolean("downsample_in_first_stage", true) ? 2 : 1;
    for (std::int64_t i = 0; i < s.own[stages]; ++i) {
        const std::int64_t width = of_stage(s, widths, i), groups = width / s.own[group_width];
        if (groups > 1 && width % groups != 0) fail_value(config, "groups_width", "a width that makes even groups");
    }
    if (s.own[squeezes] && s.embedding_size < 3) fail_value(config, "embedding_size", "at least 3 where layers squeeze");
}

// transformers/models/regnet: configuration_regnet.py, modeling_regnet.py
inline constexpr architecture regnet = [](architecture a) {
    a.model_type = "regnet", a.prefix = "RegNet", a.describe = describe_regnet, a.read = read_regnet;
    a.own = regnet_detail::keys;
    return a;
}(resnet);

}  // namespace llmcost::arch
