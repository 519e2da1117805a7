// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/timm_modules.hpp>

namespace llmcost::arch {

namespace timm_wrapper_detail {

inline constexpr std::int64_t stages = 4;

enum family_config_index : std::uint8_t { bottleneck, pools, depths };
inline constexpr family_key family_keys[]{{.type = family_key_type::computed},
                                          {"do_pooling", 1, family_key_type::boolean}};

/// Plain residual networks of timm by their names.
struct variant {
    literal name;
    bool bottleneck;
    std::int64_t depths[stages];
};
inline constexpr variant variants[]{
    {"resnet18", false, {2, 2, 2, 2}},   {"resnet26", true, {2, 2, 2, 2}},   {"resnet34", false, {3, 4, 6, 3}},
    {"resnet50", true, {3, 4, 6, 3}},    {"resnet101", true, {3, 4, 23, 3}}, {"resnet152", true, {3, 8, 36, 3}},
    {"resnet200", true, {3, 24, 36, 3}},
};

using timm_modules::relu_in_place;

/// Convolutions with a shortcut, added in place.
struct block {
    std::int64_t width, out, stride;
    bool narrows;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"", narrows ? "Bottleneck" : "BasicBlock"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t in = x.dim(1);
        const auto convolved = [&](literal convolution, literal norm, const convolution_2d& conv, const tensor& input) {
            return t.call(norm, batch_norm_2d{conv.out}, t.call(convolution, conv, input));
        };
        tensor h;
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
        tensor shortcut = x;
        if (stride != 1 || in != out) {
            const module_info downsample{.name = "downsample", .class_of_module = {"", "Sequential"}};
            t.enter(downsample);
            shortcut = t.leave(downsample, convolved("0", "1", {in, out, 1, stride, 0, 1, false}, x));
        }
        t.add_(h, shortcut);
        return t.call(narrows ? "act3" : "act2", relu_in_place{}, h);
    }
};

/// Places of the last stage.
constexpr tensor features(const layer_context& ctx, trace& t, const tensor& pixels) {
    constexpr literal names[stages]{"layer1", "layer2", "layer3", "layer4"};
    const bool narrows = ctx.config.family[bottleneck] != 0;
    tensor x = t.call("conv1", convolution_2d{pixels.dim(1), 64, 7, 2, 3, 1, false}, pixels);
    x = t.call("act1", relu_in_place{}, t.call("bn1", batch_norm_2d{64}, x));
    x = t.call("maxpool", max_pool_2d{3, 2, 1}, x);
    for (std::int64_t i = 0; i < stages; ++i) {
        const std::int64_t width = std::int64_t{64} << i, out = narrows ? 4 * width : width;
        const module_info stage{.name = names[i], .class_of_module = {"", "Sequential"}};
        t.enter(stage);
        x = t.call(child_name::indexed(0), block{width, out, i == 0 ? 1 : 2, narrows}, x);
        for (loop layer_loop = t.loop_modules(stage_entry(ctx.config, depths, i) - 1, x, 1); layer_loop.next();)
            x = t.call(child_name::indexed(layer_loop.index()), block{width, out, 1, narrows}, x);
        t.leave(stage, x);
    }
    return x;
}

constexpr tensor pool(trace& t, const tensor& x) {
    const module_info pool_info{.name = "global_pool", .class_of_module = {"", "SelectAdaptivePool2d"}};
    t.enter(pool_info);
    return t.leave(pool_info, t.call("flatten", flatten{}, t.call("pool", global_average_pool{}, x)));
}

}  // namespace timm_wrapper_detail

/// A timm model, either bare with its pooled states in addition, or with its own classifier.
///
/// Source: transformers/models/timm_wrapper/modeling_timm_wrapper.py; timm/models/resnet.py.
constexpr tensor forward_timm_wrapper(const layer_context& ctx, trace& t) {
    using namespace timm_wrapper_detail;
    const bool bare = ctx.config.head == head_kind::none;
    const module_info model_info{.class_of_module = ctx.class_of(bare ? literal("Model") : name_of(ctx.config.head))};
    const module_info inner{.name = "timm_model", .class_of_module = {"", "ResNet"}};
    t.enter(model_info);
    t.enter(inner);
    const tensor x = features(ctx, t, image_input(ctx, t));
    const recorder::detach_guard unread{t, bare};
    const recorder::not_executed_guard unused{t, bare ? ctx.config.family[pools] == 0 : t.load().head == logits::none};
    const tensor pooled = pool(t, x);
    const tensor out = bare ? t.call("fc", identity{}, pooled)
                            : t.call("fc", head_linear{{pooled.dim(1), ctx.config.num_labels, true}}, pooled);
    t.leave(inner);
    return t.leave(model_info, bare ? x : t.select_model_output(x, out));
}

constexpr void parse_timm_wrapper(config_view json, model_config& config) {
    using namespace timm_wrapper_detail;
    config.vision = {224, 224, 1, 3};
    const string_ref name = json.string("architecture", "resnet50");
    const variant* found = nullptr;
    for (const variant& candidate : variants)
        if (name == candidate.name) found = &candidate;
    if (found == nullptr)
        throw_unsupported(json, "architecture", "unsupported timm model; expected resnet18 to resnet200");
    if (const auto args = json.find("model_args"); args && !args->is_null())
        throw_unsupported(json, "model_args", "arguments of timm models are not supported");
    config.family[bottleneck] = found->bottleneck;
    for (std::size_t i = 0; i < static_cast<std::size_t>(stages); ++i) config.family[depths + i] = found->depths[i];
    config.num_labels = json.positive("num_classes", config.num_labels > 0 ? config.num_labels : 2);
}

// transformers/models/timm_wrapper: configuration_timm_wrapper.py, modeling_timm_wrapper.py
inline constexpr model_spec timm_wrapper{
    .model_type = "timm_wrapper",
    .class_prefix = "TimmWrapper",
    .forward = forward_timm_wrapper,
    .parse_config = parse_timm_wrapper,
    .family_keys = timm_wrapper_detail::family_keys,
    .rotary = rotary_style::none,
    .accepts_any_image_size = true,
    .supported_heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::relu),
};

}  // namespace llmcost::arch
