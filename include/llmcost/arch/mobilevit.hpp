// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/forward/encoder.hpp>
#include <llmcost/forward/mobile_vit.hpp>
#include <llmcost/layers/norm.hpp>

namespace llmcost::arch {

namespace mobilevit_detail {

using mobile_vit::bias, mobile_vit::block, mobile_vit::convolve, mobile_vit::heads, mobile_vit::inverted_residual,
    mobile_vit::kernel, mobile_vit::neck, mobile_vit::ratio, mobile_vit::reduction, mobile_vit::segment,
    mobile_vit::widths;

inline constexpr family_key family_keys[]{
    {"num_attention_heads", 4}, {"conv_kernel_size", 3},
    {"output_stride", 32},      {"qkv_bias", 1, family_key_type::boolean},
    {"aspp_out_channels", 256},
};

struct transformer_layer {
    const layer_context& ctx;
    std::int64_t width;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TransformerLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module layer_norm{norm_kind::layer, width};
        const std::int64_t inner = times_ratio(ctx.config, ratio, width);
        const module_info attention_block{
            .name = "attention", .class_of_module = ctx.class_of("Attention"), .module_role = role::attn};
        const module_info self{.name = "attention", .class_of_module = ctx.class_of("SelfAttention")};
        const module_info self_output{.name = "output", .class_of_module = ctx.class_of("SelfOutput")};
        const module_info intermediate{.name = "intermediate",
                                       .class_of_module = ctx.class_of("Intermediate"),
                                       .module_role = role::mlp,
                                       .continues_block = true};
        const module_info output{.name = "output", .class_of_module = ctx.class_of("Output"), .module_role = role::mlp};
        tensor h = t.call("layernorm_before", layer_norm, x);
        t.enter(attention_block);
        t.enter(self);
        h = t.leave(self, attention(t, h));
        t.enter(self_output);
        h = dropout(t, "dropout", t.call("dense", linear{width, width, true}, h));
        const tensor middle = t.add(t.leave(attention_block, t.leave(self_output, h)), x);
        h = t.call("layernorm_after", layer_norm, middle);
        t.enter(intermediate);
        h = t.call("dense", linear{width, inner, true}, h);
        h = t.leave(intermediate, t.call("intermediate_act_fn", activation_module{ctx.config.hidden_act}, h));
        t.enter(output);
        h = dropout(t, "dropout", t.call("dense", linear{inner, width, true}, h));
        return t.leave(output, t.add(h, middle));
    }

private:
    constexpr tensor attention(trace& t, const tensor& x) const {
        const std::int64_t n = ctx.config.family[heads];
        const auto project = [&](literal name) {
            const tensor all = t.call(name, linear{width, width, ctx.config.family[bias] != 0}, x);
            return all.view({x.dim(0), x.dim(1), n, width / n}).transpose(1, 2);
        };
        const tensor q = project("query"), k = project("key"), v = project("value");
        return divided_score_attention(t, q, k, v, full_pattern(x.dim(1)));
    }
};

/// Self-attention among pixels at equal offsets in their patches: images -> (B · patch², patches, width) -> images.
constexpr tensor attend_between_patches(const layer_context& ctx, trace& t, std::int64_t n, const tensor& image) {
    const std::int64_t side = ctx.config.vision.patch_size, area = side * side, batch = image.dim(0),
                       width = image.dim(1);
    const std::int64_t rows = (image.dim(2) + side - 1) / side, columns = (image.dim(3) + side - 1) / side;
    const bool resampled = rows * side != image.dim(2) || columns * side != image.dim(3);
    const module_info transformer{.name = "transformer", .class_of_module = ctx.class_of("Transformer")};
    tensor x = resampled ? t.bilinear(image, rows * side, columns * side) : image;
    x = t.reshape(x, {batch * width * rows, side, columns, side}).transpose(1, 2);
    x = t.reshape(x, {batch, width, rows * columns, area}).transpose(1, 3);
    x = t.reshape(x, {batch * area, rows * columns, width});
    t.enter(transformer);
    for (loop layer_loop = t.loop_modules(n, x); layer_loop.next();)
        x = t.call({"layer", layer_loop.index()}, transformer_layer{ctx, width}, x);
    t.leave(transformer);
    x = t.call("layernorm", norm_module{norm_kind::layer, width}, x);
    x = t.contiguous(x).view({batch, area, rows * columns, width}).transpose(1, 3);
    x = t.reshape(x, {batch * width * rows, columns, side, side}).transpose(1, 2);
    x = t.reshape(x, {batch, width, rows * side, columns * side});
    return resampled ? t.bilinear(x, image.dim(2), image.dim(3)) : x;
}

/// A MobileViT stage: downsampling, then convolutions and attention, concatenated with the stage input.
constexpr tensor forward_layer(const layer_context& ctx, trace& t, std::int64_t index, std::int64_t layers,
                               std::int64_t dilation, tensor x) {
    const std::int64_t in = neck(ctx.config, index), out = neck(ctx.config, index + 1);
    const std::int64_t width = stage_entry(ctx.config, widths, index - 2), side = ctx.config.family[kernel];
    const activation act = ctx.config.hidden_act;
    const module_info layer{.name = "layer", .index = index, .class_of_module = ctx.class_of("Layer")};
    t.enter(layer);
    const bool dilates = dilation > 1;
    x = t.call("downsampling_layer", inverted_residual{ctx, in, out, dilates ? 1 : 2, dilates ? dilation / 2 : 1}, x);
    tensor h = t.call("conv_kxk", block{.ctx = ctx, .in = out, .out = out, .kernel_size = side, .act = act}, x);
    h = t.call("conv_1x1", block{.ctx = ctx, .in = out, .out = width, .norms = false}, h);
    h = attend_between_patches(ctx, t, layers, h);
    h = t.call("conv_projection", block{.ctx = ctx, .in = width, .out = out, .act = act}, h);
    const block fusion{.ctx = ctx, .in = 2 * out, .out = out, .kernel_size = side, .act = act};
    return t.leave(layer, t.call("fusion", fusion, t.cat({x, h}, 1)));
}

/// What a classifier reads is widened and averaged; a segmenter reads what the last stage gives.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    const std::int64_t to = config.family[reduction];
    const activation act = config.hidden_act;
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    const block stem{.ctx = ctx,
                     .in = config.vision.num_channels,
                     .out = neck(config, 0),
                     .kernel_size = 3,
                     .stride = 2,
                     .act = act};
    tensor x = t.call("conv_stem", stem, image_input(ctx, t));
    t.enter(encoder);
    x = convolve(ctx, t, 0, 1, 1, x);
    x = convolve(ctx, t, 1, 2, 3, x);
    x = forward_layer(ctx, t, 2, 2, 1, x);
    x = forward_layer(ctx, t, 3, 4, to == 8 ? 2 : 1, x);
    x = forward_layer(ctx, t, 4, 3, to == 8 ? 4 : to == 16 ? 2 : 1, x);
    t.leave(encoder);
    if (config.head == head_kind::semantic_segmentation) return x;
    x = t.call("conv_1x1_exp", block{.ctx = ctx, .in = neck(config, 5), .out = neck(config, 6), .act = act}, x);
    const recorder::detach_guard unread{t, config.head == head_kind::none};
    const tensor pooled = t.mean_of_images(x);
    return config.head == head_kind::none ? x : pooled;
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.config.head == head_kind::semantic_segmentation) return segment(ctx, t, neck(ctx.config, 5), x);
    return classify_with_dropout(ctx, t, x);
}

}  // namespace mobilevit_detail

/// Inverted residuals, then convolutions around attention between patches.
///
/// Source: transformers/models/mobilevit/modeling_mobilevit.py.
constexpr tensor forward_mobilevit(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "mobilevit", mobilevit_detail::base, mobilevit_detail::score);
}

constexpr void parse_mobilevit(config_view json, model_config& config) {
    using namespace mobilevit_detail;
    using namespace mobile_vit;
    config.vision = parse_image_size(json, 256);
    config.vision.patch_size = json.positive("patch_size", 2);
    parse_stages_of(json, "hidden_sizes", {144, 192, 240}, config.family, widths, 3, 3);
    parse_stages_of(json, "neck_hidden_sizes", {16, 32, 64, 96, 128, 160, 640}, config.family, necks, 7, 7);
    parse_ratio(json, "mlp_ratio", 2.0, config.family, ratio);
    parse_ratio(json, "expand_ratio", 4.0, config.family, expansion);
    if (config.family[kernel] % 2 == 0) throw_invalid_value(json, "conv_kernel_size", "an odd number");
    for (std::int64_t i = 0; i < 3; ++i) {
        const std::int64_t width = stage_entry(config, widths, i);
        if (width % config.family[heads] != 0)
            throw_invalid_value(json, "num_attention_heads", "a divisor of all hidden_sizes");
        if (times_ratio(config, ratio, width) < 1)
            throw_invalid_value(json, "mlp_ratio", "a ratio that leaves a feature");
    }
    parse_segmenter(json, config);
}

// transformers/models/mobilevit: configuration_mobilevit.py, modeling_mobilevit.py
inline constexpr model_spec mobilevit{
    .model_type = "mobilevit",
    .class_prefix = "MobileViT",
    .forward = forward_mobilevit,
    .parse_config = parse_mobilevit,
    .family_keys = mobilevit_detail::family_keys,
    .rotary = rotary_style::none,
    .accepts_any_image_size = true,
    .supported_heads = {head_kind::none, head_kind::image_classification, head_kind::semantic_segmentation},
    .config_keys = {{"num_attention_heads", "", key_rule::absent}},
    .defaults = image_defaults(activation::silu),
};

}  // namespace llmcost::arch
