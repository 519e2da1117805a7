// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/timm.hpp>
#include <llmcost/reading/images.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace timm_wrapper_detail {

inline constexpr std::int64_t stages = 4;

enum own : std::uint8_t { bottleneck, pools, depths };
inline constexpr own_key keys[]{{.value = own_value::computed}, {"do_pooling", 1, own_value::boolean}};

/// Plain residual networks of timm by their names.
struct variant {
    literal name;
    bool bottleneck;
    std::int64_t depths[stages];
};
inline constexpr variant variants[]{
    {"resnet18", false, {2, 2, 2, 2}},  {"resnet26", true, {2, 2, 2, 2}},   {"resnet34", false, {3, 4, 6, 3}},
    {"resnet50", true, {3, 4, 6, 3}},   {"resnet101", true, {3, 4, 23, 3}}, {"resnet152", true, {3, 8, 36, 3}},
    {"resnet200", true, {3, 24, 36, 3}},
};

using timm_detail::relu_in_place;

/// Convolutions beside a shortcut, whose sum is made in place.
struct block {
    std::int64_t width, out, stride;
    bool narrows;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"", narrows ? "Bottleneck" : "BasicBlock"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t in = x.dim(1);
        const auto convolved = [&](literal convolution, literal norm, const convolution_2d& how, const value& from) {
            return t.call(norm, batch_norm_2d{how.out}, t.call(convolution, how, from));
        };
        value h;
        if (narrows) {
            h = t.call("act1", relu_in_place{}, convolved("conv1", "bn1", {in, width, 1, 1, 0, 1, false}, x));
            h = convolved("conv2", "bn2", {width, width, 3, stride, 1, 1, false}, h);
            h = t.call("aa", identity{}, t.call("act2", relu_in_place{}, t.call("drop_block", identity{}, h)));
            h = convolved("conv3", "bn3", {width, out, 1, 1, 0, 1, false}, h);
        } else {
            h = convolved("conv1", "bn1", {in, width, 3, stride, 1, 1, false}, x);
            h = t.call("aa", identity{}, t.call("act1", relu_in_place{}, t.call("drop_block", identity{}, h)));
            h = convolved("conv2", "bn2", {width, out, 3, 1, 1, 1, false}, h);
        }
        value around = x;
        if (stride != 1 || in != out) {
            const module_info downsample{.name = "downsample", .type = {"", "Sequential"}};
            t.enter(downsample);
            around = t.leave(downsample, convolved("0", "1", {in, out, 1, stride, 0, 1, false}, x));
        }
        t.in_place(op::add, h, around);
        return t.call(narrows ? "act3" : "act2", relu_in_place{}, h);
    }
};

/// Places of the last stage.
constexpr value features(const site& here, trace& t, const value& pixels) {
    constexpr literal names[stages]{"layer1", "layer2", "layer3", "layer4"};
    const bool narrows = here.dims.own[bottleneck] != 0;
    value x = t.call("conv1", convolution_2d{pixels.dim(1), 64, 7, 2, 3, 1, false}, pixels);
    x = t.call("act1", relu_in_place{}, t.call("bn1", batch_norm_2d{64}, x));
    x = t.call("maxpool", max_pool_2d{3, 2, 1}, x);
    for (std::int64_t i = 0; i < stages; ++i) {
        const std::int64_t width = std::int64_t{64} << i, out = narrows ? 4 * width : width;
        const module_info stage{.name = names[i], .type = {"", "Sequential"}};
        t.enter(stage);
        x = t.call(module_place::item(0), block{width, out, i == 0 ? 1 : 2, narrows}, x);
        for (repetition each = t.repeat(of_stage(here.dims, depths, i) - 1, x, 1); each.next();)
            x = t.call(module_place::item(each.index()), block{width, out, 1, narrows}, x);
        t.leave(stage, x);
    }
    return x;
}

constexpr value pool(trace& t, const value& x) {
    const module_info both{.name = "global_pool", .type = {"", "SelectAdaptivePool2d"}};
    t.enter(both);
    return t.leave(both, t.call("flatten", flatten{}, t.call("pool", global_average_pool{}, x)));
}

}  // namespace timm_wrapper_detail

/// A model of timm, bare with its pooled states beside, or under its own classifier.
///
/// Source: transformers/models/timm_wrapper/modeling_timm_wrapper.py; timm/models/resnet.py.
constexpr value describe_timm_wrapper(const site& here, trace& t) {
    using namespace timm_wrapper_detail;
    const bool bare = here.dims.head == head_kind::none;
    const module_info whole{.type = here.type(bare ? literal("Model") : name_of(here.dims.head))};
    const module_info inner{.name = "timm_model", .type = {"", "ResNet"}};
    t.enter(whole);
    t.enter(inner);
    const value x = features(here, t, images_of(here, t));
    const recorder::off_loss_guard unread{t, bare};
    const recorder::idle_guard unused{t, bare ? here.dims.own[pools] == 0 : t.load().head == logits::none};
    const value pooled = pool(t, x);
    const value out = bare ? t.call("fc", identity{}, pooled)
                           : t.call("fc", head_linear{{pooled.dim(1), here.dims.num_labels, true}}, pooled);
    t.leave(inner);
    return t.leave(whole, bare ? x : t.returns(x, out));
}

constexpr void read_timm_wrapper(config_view config, sizes& s) {
    using namespace timm_wrapper_detail;
    s.vision = {224, 224, 1, 3};
    const string_ref name = config.string("architecture", "resnet50");
    const variant* found = nullptr;
    for (const variant& each : variants)
        if (name == each.name) found = &each;
    if (found == nullptr) fail_unsupported(config, "architecture", "of timm's models a row describes resnet18 to resnet200");
    if (const auto args = config.find("model_args"); args && !args->is_null())
        fail_unsupported(config, "model_args", "no row describes timm's models with arguments");
    s.own[bottleneck] = found->bottleneck;
    for (std::size_t i = 0; i < static_cast<std::size_t>(stages); ++i) s.own[depths + i] = found->depths[i];
    s.num_labels = config.positive("num_classes", s.num_labels > 0 ? s.num_labels : 2);
}

// transformers/models/timm_wrapper: configuration_timm_wrapper.py, modeling_timm_wrapper.py
inline constexpr architecture timm_wrapper{
    .model_type = "timm_wrapper",
    .prefix = "TimmWrapper",
    .describe = describe_timm_wrapper,
    .read = read_timm_wrapper,
    .own = timm_wrapper_detail::keys,
    .rotated = rotation::none,
    .any_image = true,
    .heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::relu),
};

}  // namespace llmcost::arch
