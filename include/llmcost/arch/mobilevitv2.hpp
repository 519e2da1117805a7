// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/forward/mobile_vit.hpp>

namespace llmcost::arch {

namespace mobilevitv2_detail {

using mobile_vit::block, mobile_vit::family_config_index, mobile_vit::neck;

/// In the order of MobileViT's, whose blocks read them; then how many layers each stage's transformer has.
inline constexpr std::size_t depths = family_config_index::rates + 3;

inline constexpr std::size_t inner = family_config_index::heads;  // `ffn_multiplier`, as there are no heads

inline constexpr family_key family_keys[]{
    {"ffn_multiplier", 2},      {"conv_kernel_size", 3}, {"output_stride", 32}, {.type = family_key_type::computed},
    {"aspp_out_channels", 512},
};

/// `nn.GroupNorm` with one group.
struct group_norm {
    std::int64_t width;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "GroupNorm"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        t.read_parameter_in_next_op(t.param("weight", {width}));
        t.read_parameter_in_next_op(t.param("bias", {width}));
        return t.group_norm(x, 1);
    }
};

/// One score for each patch, a sum of keys that it weighs, and values times that sum.
struct attention {
    const layer_context& ctx;
    std::int64_t width;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("LinearSelfAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const block input_conv{.ctx = ctx, .in = width, .out = 1 + 2 * width, .norms = false, .biased = true};
        const block output_conv{.ctx = ctx, .in = width, .out = width, .norms = false, .biased = true};
        const tensor all = t.call("qkv_proj", input_conv, x);
        const tensor q = all.slice(1, 1), k = all.slice(1, width), v = all.slice(1, width);
        const tensor scores = dropout(t, "attn_dropout", t.softmax(q), dropout_position::attention);
        const tensor sum = t.sum(t.mul(k, scores), -1, true);
        const tensor found = t.mul(t.relu(v), sum.expand({v.dim(0), v.dim(1), v.dim(2), v.dim(3)}));
        return t.call("out_proj", output_conv, found);
    }
};

struct transformer_layer {
    const layer_context& ctx;
    std::int64_t width;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TransformerLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t ffn_width = ctx.config.family[inner] * width / 16 * 16;
        const module_info ffn{.name = "ffn", .class_of_module = ctx.class_of("FFN"), .module_role = role::mlp};
        const block input_conv{
            .ctx = ctx, .in = width, .out = ffn_width, .act = ctx.config.hidden_act, .norms = false, .biased = true};
        const block output_conv{.ctx = ctx, .in = ffn_width, .out = width, .norms = false, .biased = true};
        tensor h = t.call("layernorm_before", group_norm{width}, x);
        const tensor middle = t.add(t.call("attention", attention{ctx, width}, h), x);
        {
            const recorder::not_executed_guard not_called{t};
            (void)dropout(t, "dropout1", x);
        }
        h = t.call("layernorm_after", group_norm{width}, middle);
        t.enter(ffn);
        h = dropout(t, "dropout1", t.call("conv1", input_conv, h));
        h = t.leave(ffn, dropout(t, "dropout2", t.call("conv2", output_conv, h)));
        return t.add(h, middle);
    }
};

/// Self-attention among pixels at equal offsets in their patches: (B, width, patch², patches).
constexpr tensor attend_between_patches(const layer_context& ctx, trace& t, std::int64_t n, const tensor& image) {
    const std::int64_t side = ctx.config.vision.patch_size, batch = image.dim(0), width = image.dim(1);
    const std::int64_t rows = image.dim(2) / side, columns = image.dim(3) / side;
    const module_info transformer{.name = "transformer", .class_of_module = ctx.class_of("Transformer")};
    const tensor cropped = image.slice(2, rows * side).slice(3, columns * side);
    tensor x =
        t.copy(cropped.view({batch, width, rows, side, columns, side}).permute({0, 1, 3, 5, 2, 4}));  // `F.unfold`
    x = x.view({batch, width, side * side, rows * columns});
    t.enter(transformer);
    for (loop layer_loop = t.loop_modules(n, x); layer_loop.next();)
        x = t.call({"layer", layer_loop.index()}, transformer_layer{ctx, width}, x);
    t.leave(transformer);
    x = t.call("layernorm", group_norm{width}, x);
    return t.gather(x, {batch, width, image.dim(2), image.dim(3)});  // `F.fold`, which has no price
}

constexpr tensor forward_layer(const layer_context& ctx, trace& t, std::int64_t index, std::int64_t dilation,
                               tensor x) {
    const std::int64_t in = neck(ctx.config, index), out = neck(ctx.config, index + 1);
    const std::int64_t width = stage_entry(ctx.config, family_config_index::widths, index - 2),
                       n = stage_entry(ctx.config, depths, index - 2);
    const module_info layer{.name = "layer", .index = index, .class_of_module = ctx.class_of("Layer")};
    const bool dilates = dilation > 1;
    const mobile_vit::inverted_residual shrinks{ctx, in, out, dilates ? 1 : 2, dilates ? dilation / 2 : 1};
    const block local_conv{.ctx = ctx,
                           .in = out,
                           .out = out,
                           .kernel_size = ctx.config.family[family_config_index::kernel],
                           .groups = out,
                           .act = ctx.config.hidden_act};
    t.enter(layer);
    x = t.call("conv_kxk", local_conv, t.call("downsampling_layer", shrinks, x));
    x = t.call("conv_1x1", block{.ctx = ctx, .in = out, .out = width, .norms = false}, x);
    x = attend_between_patches(ctx, t, n, x);
    return t.leave(layer, t.call("conv_projection", block{.ctx = ctx, .in = width, .out = out}, x));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    const std::int64_t to = config.family[family_config_index::reduction];
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    const block stem{.ctx = ctx,
                     .in = config.vision.num_channels,
                     .out = neck(config, 0),
                     .kernel_size = 3,
                     .stride = 2,
                     .act = config.hidden_act};
    tensor x = t.call("conv_stem", stem, image_input(ctx, t));
    t.enter(encoder);
    x = mobile_vit::convolve(ctx, t, 0, 1, 1, x);
    x = mobile_vit::convolve(ctx, t, 1, 2, 2, x);
    x = forward_layer(ctx, t, 2, 1, x);
    x = forward_layer(ctx, t, 3, to == 8 ? 2 : 1, x);
    x = forward_layer(ctx, t, 4, to == 8 ? 4 : to == 16 ? 2 : 1, x);
    t.leave(encoder);
    if (config.head == head_kind::semantic_segmentation) return x;
    const recorder::detach_guard unread{t, config.head == head_kind::none};
    const tensor pooled = t.mean_of_images(x);
    return config.head == head_kind::none ? x : pooled;
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.config.head != head_kind::semantic_segmentation) return classify_linear(ctx, t, x);
    return mobile_vit::segment(ctx, t, neck(ctx.config, 5), x);
}

/// `make_divisible` of a width.
[[nodiscard]] constexpr std::int64_t divisible(double width, std::int64_t divisor, std::int64_t minimum) {
    const std::int64_t near = static_cast<std::int64_t>(width + static_cast<double>(divisor) / 2) / divisor * divisor;
    const std::int64_t found = near > minimum ? near : minimum;
    return static_cast<double>(found) < 0.9 * width ? found + divisor : found;
}

}  // namespace mobilevitv2_detail

/// Inverted residuals, then convolutions before attention that is linear in the number of patches.
///
/// Source: transformers/models/mobilevitv2/modeling_mobilevitv2.py.
constexpr tensor forward_mobilevitv2(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "mobilevitv2", mobilevitv2_detail::base, mobilevitv2_detail::score);
}

constexpr void parse_mobilevitv2(config_view json, model_config& config) {
    using namespace mobilevitv2_detail;
    config.vision = parse_image_size(json, 256);
    config.vision.patch_size = json.positive("patch_size", 2);
    parse_ratio(json, "width_multiplier", 1.0, config.family, family_config_index::ratio);
    parse_ratio(json, "expand_ratio", 2.0, config.family, family_config_index::expansion);
    parse_stages_of(json, "n_attn_blocks", {2, 4, 3}, config.family, depths, 3, 3);
    parse_stages_of(json, "base_attn_unit_dims", {128, 192, 256}, config.family, family_config_index::widths, 3, 3);
    const double multiplier = __builtin_bit_cast(double, config.family[family_config_index::ratio]),
                 first = 32 * multiplier;
    config.family[family_config_index::necks] = divisible(first < 16 ? 16 : first > 64 ? 64 : first, 8, 16);
    config.family[family_config_index::necks + 1] = divisible(64 * multiplier, 16, 16);
    std::size_t offset = family_config_index::necks + 2;
    for (const double width : {128.0, 256.0, 384.0, 512.0})
        config.family[offset++] = divisible(width * multiplier, 8, 8);
    for (std::size_t i = family_config_index::widths; i < family_config_index::widths + 3; ++i) {
        config.family[i] = divisible(static_cast<double>(config.family[i]) * multiplier, 8, 8);
        if (checked_size(json, "ffn_multiplier", config.family[inner], config.family[i]) < 16)
            throw_invalid_value(json, "ffn_multiplier", "a factor that leaves sixteen features");
    }
    if (config.family[family_config_index::kernel] % 2 == 0)
        throw_invalid_value(json, "conv_kernel_size", "an odd number");
    mobile_vit::parse_segmenter(json, config);
    std::int64_t side =
        config.vision.image_height < config.vision.image_width ? config.vision.image_height : config.vision.image_width;
    for (std::int64_t shrunk = 1; shrunk < config.family[family_config_index::reduction]; shrunk *= 2)
        side = (side + 1) / 2;
    if (config.vision.patch_size > side)
        throw_invalid_value(json, "patch_size", "no more than a side of the last stage's image");
}

// transformers/models/mobilevitv2: configuration_mobilevitv2.py, modeling_mobilevitv2.py
inline constexpr model_spec mobilevitv2{
    .model_type = "mobilevitv2",
    .class_prefix = "MobileViTV2",
    .forward = forward_mobilevitv2,
    .parse_config = parse_mobilevitv2,
    .family_keys = mobilevitv2_detail::family_keys,
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::none, head_kind::image_classification, head_kind::semantic_segmentation},
    .defaults = image_defaults(activation::swish),
};

}  // namespace llmcost::arch
