// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mobilevit.hpp>

namespace llmcost::arch {

namespace mobilevitv2_detail {

using mobilevit_detail::block;
using mobilevit_detail::neck;
using mobilevit_detail::own;

/// In the order of MobileViT's, whose blocks read them; then how many layers each stage's transformer has.
inline constexpr std::size_t depths = own::rates + 3;
inline constexpr std::size_t inner = own::heads;  // `ffn_multiplier`, as there are no heads
inline constexpr own_key keys[]{
    {"ffn_multiplier", 2},          {"conv_kernel_size", 3},    {"output_stride", 32},
    {.value = own_value::computed}, {"aspp_out_channels", 512},
};

/// `nn.GroupNorm` with one group.
struct group_norm {
    std::int64_t width;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "GroupNorm"}; }
    constexpr value describe(trace& t, const value& x) const {
        t.beside(t.param("weight", {width}));
        t.beside(t.param("bias", {width}));
        return t.group_norm(x, 1);
    }
};

/// One score for each patch, a sum of keys that it weighs, and values times that sum.
struct attention {
    const site& here;
    std::int64_t width;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("LinearSelfAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const block wide{.here = here, .in = width, .out = 1 + 2 * width, .norms = false, .biased = true};
        const block narrow{.here = here, .in = width, .out = width, .norms = false, .biased = true};
        const value all = t.call("qkv_proj", wide, x);
        const value q = all.slice(1, 1), k = all.slice(1, width), v = all.slice(1, width);
        const value scores = dropout(t, "attn_dropout", t.softmax(q), dropout_of::attention);
        const value sum = t.sum(t.mul(k, scores), -1, true);
        const value found = t.mul(t.unary(op::relu, v), sum.expand({v.dim(0), v.dim(1), v.dim(2), v.dim(3)}));
        return t.call("out_proj", narrow, found);
    }
};

struct transformer_layer {
    const site& here;
    std::int64_t width;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TransformerLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t between = here.dims.own[inner] * width / 16 * 16;
        const module_info ffn{.name = "ffn", .type = here.type("FFN"), .what = role::mlp};
        const block wide{
            .here = here, .in = width, .out = between, .act = here.dims.hidden_act, .norms = false, .biased = true};
        const block narrow{.here = here, .in = between, .out = width, .norms = false, .biased = true};
        value h = t.call("layernorm_before", group_norm{width}, x);
        const value middle = t.add(t.call("attention", attention{here, width}, h), x);
        {
            const recorder::idle_guard not_called{t};
            (void)dropout(t, "dropout1", x);
        }
        h = t.call("layernorm_after", group_norm{width}, middle);
        t.enter(ffn);
        h = dropout(t, "dropout1", t.call("conv1", wide, h));
        h = t.leave(ffn, dropout(t, "dropout2", t.call("conv2", narrow, h)));
        return t.add(h, middle);
    }
};

/// Attention between the places that stand alike in their patches, (B, width, patch², patches).
constexpr value attend_between_patches(const site& here, trace& t, std::int64_t n, const value& image) {
    const std::int64_t side = here.dims.vision.patch_size, batch = image.dim(0), width = image.dim(1);
    const std::int64_t rows = image.dim(2) / side, columns = image.dim(3) / side;
    const module_info transformer{.name = "transformer", .type = here.type("Transformer")};
    const value whole = image.slice(2, rows * side).slice(3, columns * side);
    value x = t.copy(whole.view({batch, width, rows, side, columns, side}).permute({0, 1, 3, 5, 2, 4}));  // `F.unfold`
    x = x.view({batch, width, side * side, rows * columns});
    t.enter(transformer);
    for (repetition each = t.repeat(n, x); each.next();)
        x = t.call({"layer", each.index()}, transformer_layer{here, width}, x);
    t.leave(transformer);
    x = t.call("layernorm", group_norm{width}, x);
    return t.gather(x, {batch, width, image.dim(2), image.dim(3)});  // `F.fold`, which has no price
}

constexpr value mix(const site& here, trace& t, std::int64_t index, std::int64_t dilation, value x) {
    const std::int64_t in = neck(here.dims, index), out = neck(here.dims, index + 1);
    const std::int64_t width = of_stage(here.dims, own::widths, index - 2), n = of_stage(here.dims, depths, index - 2);
    const module_info layer{.name = "layer", .index = index, .type = here.type("Layer")};
    const bool dilates = dilation > 1;
    const mobilevit_detail::inverted_residual shrinks{here, in, out, dilates ? 1 : 2, dilates ? dilation / 2 : 1};
    const block around{.here = here,
                       .in = out,
                       .out = out,
                       .kernel_size = here.dims.own[own::kernel],
                       .groups = out,
                       .act = here.dims.hidden_act};
    t.enter(layer);
    x = t.call("conv_kxk", around, t.call("downsampling_layer", shrinks, x));
    x = t.call("conv_1x1", block{.here = here, .in = out, .out = width, .norms = false}, x);
    x = attend_between_patches(here, t, n, x);
    return t.leave(layer, t.call("conv_projection", block{.here = here, .in = width, .out = out}, x));
}

constexpr value base(const site& here, trace& t) {
    const sizes& dims = here.dims;
    const std::int64_t to = dims.own[own::reduction];
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    const block stem{.here = here,
                     .in = dims.vision.num_channels,
                     .out = neck(dims, 0),
                     .kernel_size = 3,
                     .stride = 2,
                     .act = dims.hidden_act};
    value x = t.call("conv_stem", stem, images_of(here, t));
    t.enter(encoder);
    x = mobilevit_detail::convolve(here, t, 0, 1, 1, x);
    x = mobilevit_detail::convolve(here, t, 1, 2, 2, x);
    x = mix(here, t, 2, 1, x);
    x = mix(here, t, 3, to == 8 ? 2 : 1, x);
    x = mix(here, t, 4, to == 8 ? 4 : to == 16 ? 2 : 1, x);
    t.leave(encoder);
    if (dims.head == head_kind::semantic_segmentation) return x;
    const recorder::off_loss_guard unread{t, dims.head == head_kind::none};
    const value pooled = t.mean_of_images(x);
    return dims.head == head_kind::none ? x : pooled;
}
constexpr value score(const site& here, trace& t, const value& x) {
    if (here.dims.head != head_kind::semantic_segmentation) return classify_linear(here, t, x);
    return mobilevit_detail::segment(here, t, neck(here.dims, 5), x);
}

/// `make_divisible` of a width.
[[nodiscard]] constexpr std::int64_t divisible(double width, std::int64_t divisor, std::int64_t least) {
    const std::int64_t near = static_cast<std::int64_t>(width + static_cast<double>(divisor) / 2) / divisor * divisor;
    const std::int64_t found = near > least ? near : least;
    return static_cast<double>(found) < 0.9 * width ? found + divisor : found;
}

}  // namespace mobilevitv2_detail

/// Inverted residuals, then convolutions in front of attention that is linear in the number of patches.
///
/// Source: transformers/models/mobilevitv2/modeling_mobilevitv2.py.
constexpr value describe_mobilevitv2(const site& here, trace& t) {
    return describe_image_model(here, t, "mobilevitv2", mobilevitv2_detail::base, mobilevitv2_detail::score);
}

constexpr void read_mobilevitv2(config_view config, sizes& s) {
    using namespace mobilevitv2_detail;
    s.vision = read_images(config, 256);
    s.vision.patch_size = config.positive("patch_size", 2);
    read_ratio(config, "width_multiplier", 1.0, s.own, own::ratio);
    read_ratio(config, "expand_ratio", 2.0, s.own, own::expansion);
    read_stages_of(config, "n_attn_blocks", {2, 4, 3}, s.own, depths, 3, 3);
    read_stages_of(config, "base_attn_unit_dims", {128, 192, 256}, s.own, own::widths, 3, 3);
    const double by = __builtin_bit_cast(double, s.own[own::ratio]), first = 32 * by;
    s.own[own::necks] = divisible(first < 16 ? 16 : first > 64 ? 64 : first, 8, 16);
    s.own[own::necks + 1] = divisible(64 * by, 16, 16);
    std::size_t at = own::necks + 2;
    for (const double width : {128.0, 256.0, 384.0, 512.0}) s.own[at++] = divisible(width * by, 8, 8);
    for (std::size_t i = own::widths; i < own::widths + 3; ++i) {
        s.own[i] = divisible(static_cast<double>(s.own[i]) * by, 8, 8);
        if (checked_width(config, "ffn_multiplier", s.own[inner], s.own[i]) < 16)
            fail_value(config, "ffn_multiplier", "a factor that leaves sixteen features");
    }
    if (s.own[own::kernel] % 2 == 0) fail_value(config, "conv_kernel_size", "an odd number");
    mobilevit_detail::read_segmenter(config, s);
    std::int64_t side = s.vision.image_height < s.vision.image_width ? s.vision.image_height : s.vision.image_width;
    for (std::int64_t shrunk = 1; shrunk < s.own[own::reduction]; shrunk *= 2) side = (side + 1) / 2;
    if (s.vision.patch_size > side) fail_value(config, "patch_size", "no more than a side of the last stage's image");
}

// transformers/models/mobilevitv2: configuration_mobilevitv2.py, modeling_mobilevitv2.py
inline constexpr architecture mobilevitv2{
    .model_type = "mobilevitv2",
    .prefix = "MobileViTV2",
    .describe = describe_mobilevitv2,
    .read = read_mobilevitv2,
    .own = mobilevitv2_detail::keys,
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::image_classification, head_kind::semantic_segmentation},
    .defaults = image_defaults(activation::swish),
};

}  // namespace llmcost::arch
