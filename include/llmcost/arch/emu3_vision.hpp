// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/encoder.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/not_executed.hpp>
#include <llmcost/forward/packed_sequences.hpp>
#include <llmcost/forward/vq_encoder.hpp>

// Emu3's VQ-VAE, which encodes images to codes. The codes are tokens of the text model.
namespace llmcost::arch {

namespace emu3_detail {

/// Maximum number of resolutions.
inline constexpr std::size_t max_levels = 8;

enum family_config_index : std::uint8_t {
    codes,
    code_width,
    latent,
    twice,
    in_channels,
    out_channels,
    frames,
    base_channels,
    blocks,
    levels,
    attending,  // bit mask of the levels with attention
    factors
};

inline constexpr family_key family_keys[]{
    {"codebook_size", 32768},
    {"embed_dim", 4},
    {"latent_channels", 4},
    {"double_latent", 0, family_key_type::boolean},
    {"in_channels", 3},
    {"out_channels", 3},
    {"temporal_downsample_factor", 4},
    {"base_channels", 256},
    {"num_res_blocks", 2},
    {.default_value = 4, .type = family_key_type::computed},
    {.default_value = 1 << 3, .type = family_key_type::computed},
};

constexpr void parse_vision_config(config_view json, model_config& config) {
    constexpr std::int64_t usual[]{1, 2, 2, 4};
    const auto list = json.optional_array("channel_multiplier");
    if (list) config.family[levels] = static_cast<std::int64_t>(list->size());
    if (config.family[levels] < 1 || config.family[levels] > static_cast<std::int64_t>(max_levels))
        throw_unsupported(json, "channel_multiplier", "unsupported number of resolutions");
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(config.family[levels]); ++i) {
        const std::int64_t factor = list ? (*list)[i].as_positive() : usual[i];
        if (checked_size(json, "base_channels", factor, config.family[base_channels]) % 32 != 0)
            throw_invalid_value(json, "base_channels", "a multiple of 32 channels at every resolution");
        config.family[factors + i] = factor;
    }
    if (const auto attn_resolutions = json.optional_array("attn_resolutions")) {
        config.family[attending] = 0;
        for (const config_view entry : *attn_resolutions)
            if (const std::int64_t i = entry.as_integer(); i >= 0 && i < config.family[levels])
                config.family[attending] |= 1LL << i;
    }
    divide_by_heads(json, config, {"num_attention_heads"});
    set_single_mask(json, config);
}

/// Number of channels at a resolution.
[[nodiscard]] constexpr std::int64_t width_of(const family_config& family, std::int64_t level) {
    return family[base_channels] * family[factors + static_cast<std::size_t>(level)];
}

[[nodiscard]] constexpr bool attends(const family_config& family, std::int64_t level) {
    return (family[attending] >> level & 1) != 0;
}

/// Number of times that the frames are halved.
[[nodiscard]] constexpr std::int64_t halvings(const family_config& family) {
    std::int64_t n = 0;
    for (std::int64_t left = family[frames]; left > 1; left /= 2) ++n;
    return n;
}

/// Number of pixels per code along each side.
[[nodiscard]] constexpr std::int64_t spatial_factor(const family_config& family) noexcept {
    return std::int64_t{1} << (family[levels] - 1);
}

using vq_encoder::group_norm, vq_encoder::residual_block, vq_encoder::swish;

/// `nn.Conv3d` with explicit padding, all temporal padding before the first frame (`Emu3VQVAEConv3d`).
struct padded_convolution {
    const layer_context& ctx;
    std::int64_t out;
    shape kernel;
    std::int64_t stride = 1;  ///< temporal stride

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Conv3d"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t rows = x.dim(3) + kernel.size[1] - 1, columns = x.dim(4) + kernel.size[2] - 1;
        const tensor padded = t.pad_to_shape(x, {x.dim(0), x.dim(1), x.dim(2) + 2, rows, columns});
        return t.call("conv", convolution_3d{x.dim(1), out, kernel, {stride, 1, 1}}, padded);
    }
};

/// Residual block: two causal 3D convolutions, each after a norm.
struct temporal_block {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TemporalResnetBlock"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = x.dim(1);
        const batch_norm_2d norm{width, "BatchNorm3d"};
        const padded_convolution conv{ctx, width, {3, 3, 3}};
        const tensor h = t.call("conv1", conv, swish(t, t.call("norm1", norm, x)));
        return t.add(x, t.call("conv2", conv, swish(t, t.call("norm2", norm, h))));
    }
};

/// Bidirectional attention over all positions: (B, positions, channels) -> (B, positions, channels).
struct place_attention {
    const layer_context& ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AttentionBlock"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const tensor mixed = bidirectional_attention(t, x, width, ctx.config.num_attention_heads, true,
                                                     {"q_proj", "k_proj", "v_proj"}, true, full_pattern(x.dim(1)));
        return t.call("out_proj", linear{width, width, true}, mixed);
    }
};

/// Spatial attention after a group norm: (B, channels, rows, columns) -> (B, rows, columns, channels).
constexpr tensor spatial_attention(const layer_context& ctx, trace& t, child_name norm, class_name named,
                                   child_name attention, const tensor& x) {
    const tensor normed = as_tokens(t.call(norm, group_norm{named}, x));
    const tensor attention_input = normed.dim(2) == ctx.config.hidden_size
                                       ? normed
                                       : trace::buffer({normed.dim(0), normed.dim(1), ctx.config.hidden_size});
    if (normed.dim(2) != ctx.config.hidden_size && !t.is_not_executed())
        throw_description_error("vq_config: a resolution with attention does not have hidden_size channels");
    const tensor mixed = t.call(attention, place_attention{ctx}, attention_input);
    return t.is_not_executed() ? x : t.reshape(mixed, {x.dim(0), x.dim(2), x.dim(3), x.dim(1)}).permute({0, 3, 1, 2});
}

/// Residual blocks of one resolution with optional attention, then downsampling.
///
/// The module that contains them is not called. Its residual additions are outside of it.
constexpr tensor encode_level(const layer_context& ctx, trace& t, std::int64_t i, tensor x) {
    const family_config& family = ctx.config.family;
    const module_info level{.name = "down", .index = i, .class_of_module = {"", "Module"}};
    const auto call_in_level = [&](const auto& call) {
        t.enter(level);
        return t.leave(level, call());
    };
    for (std::int64_t j = 0; j < family[blocks]; ++j) {
        const residual_block next{ctx, width_of(family, i), "ResnetBlock", false};
        x = call_in_level([&] { return t.call({"block", j}, next, x); });
        if (!attends(family, i)) continue;
        const tensor residual = x;
        x = t.add(x, call_in_level([&] {
                      return spatial_attention(ctx, t, {"attn_norms", j}, {"", "GroupNorm"}, {"attn", j}, residual);
                  }));
    }
    return i + 1 < family[levels] ? call_in_level([&] { return vq_encoder::halve(ctx, t, x); }) : x;
}

/// Encodes frames: (B, frames, channels, height, width) -> (B, frames / 4, latent channels, rows, columns).
constexpr tensor encode_frames(const layer_context& ctx, trace& t, const tensor& pixels) {
    const family_config& family = ctx.config.family;
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    const module_info down{.name = "down_block", .class_of_module = ctx.class_of("DownBlock")};
    const module_info middle{.name = "middle_block", .class_of_module = ctx.class_of("MiddleBlock")};
    const std::int64_t batch = pixels.dim(0), steps = pixels.dim(1), channels = family[in_channels];
    const std::int64_t last = width_of(family, family[levels] - 1), out = family[latent] * (family[twice] != 0 ? 2 : 1);
    t.enter(encoder);
    tensor x = pixels.view({batch * steps, channels, pixels.dim(3), pixels.dim(4)});
    x = t.call("conv_in", convolution_2d{channels, family[base_channels], 3, 1, 1}, x);
    t.enter(down);
    for (std::int64_t i = 0; i < family[levels]; ++i) x = encode_level(ctx, t, i, x);
    t.leave(down, x);
    t.enter(middle);
    const residual_block block{ctx, last, "ResnetBlock", false};
    x = t.call("block_1", block, x);
    x = t.add(x, spatial_attention(ctx, t, "attn_norm", ctx.class_of("GroupNorm"), "attn_1", x));
    x = t.leave(middle, t.call("block_2", block, x));
    x = swish(t, t.call("norm_out", group_norm{}, x));
    x = t.call("conv_out", convolution_2d{last, out, 3, 1, 1}, x);
    x = x.view({batch, steps, out, x.dim(2), x.dim(3)}).permute({0, 2, 1, 3, 4});
    for (std::int64_t i = 0; i < halvings(family); ++i) {
        const module_info half{.name = "time_conv", .index = i, .class_of_module = ctx.class_of("TemporalDownsample")};
        t.enter(half);
        x = swish(t, t.leave(half, t.call("conv", padded_convolution{ctx, out, {4, 3, 3}, 2}, x)));
    }
    for (std::int64_t i = 0; i < family[blocks]; ++i) x = t.call({"time_res_stack", i}, temporal_block{ctx}, x);
    return t.leave(encoder, x.permute({0, 2, 1, 3, 4}));
}

/// Finds the nearest code of each position. Codes are integers without a gradient.
constexpr tensor find_codes(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.family[code_width], n = ctx.config.family[codes];
    const module_info quantizer{.name = "quantize", .class_of_module = ctx.class_of("VectorQuantizer")};
    t.enter(quantizer);
    embedding{n, width}.declare(t, "embedding");
    const tensor flat = t.contiguous(x.permute({0, 1, 3, 4, 2})).view({-1, width}), table = trace::buffer({n, width});
    const tensor squared_norms = t.sum(t.pow(flat, 2), 1, true), of_codes = t.sum(t.pow(table, 2), 1);
    const tensor products = t.mul_scalar(t.matmul(flat, table.transpose(0, 1)));
    return t.leave(quantizer, t.sub(t.add(squared_norms, of_codes), products));
}

/// The decoder, which generates images from codes. Its modules are declared but not executed.
struct decoder {
    const layer_context& ctx;
    not_executed_modules& not_executed;

    [[nodiscard]] constexpr std::int64_t family_value(family_config_index index) const {
        return ctx.config.family[index];
    }
    constexpr void conv2d(literal name, std::int64_t in, std::int64_t out, std::int64_t kernel) const {
        not_executed.module_with_weight(name, {"", "Conv2d"}, {out, in, kernel, kernel});
    }
    constexpr void conv3d(literal name, std::int64_t in, std::int64_t out, const shape& kernel) const {
        not_executed.module(name, ctx.class_of("Conv3d"), [&] {
            not_executed.module_with_weight("conv", {"", "Conv3d"},
                                            {out, in, kernel.size[0], kernel.size[1], kernel.size[2]});
        });
    }
    /// Group norm with a scale and a shift computed from the codes.
    constexpr void norm(child_name child, std::int64_t channels) const {
        not_executed.module(child, ctx.class_of("SpatialNorm"), [&] {
            not_executed.module_with_weight("norm_layer", {"", "GroupNorm"}, {channels});
            conv2d("conv_y", family_value(code_width), channels, 1);
            conv2d("conv_b", family_value(code_width), channels, 1);
        });
    }
    constexpr void block(child_name child, std::int64_t in, std::int64_t out) const {
        not_executed.module(child, ctx.class_of("ResnetBlock"), [&] {
            norm("norm1", in);
            norm("norm2", out);
            conv2d("conv1", in, out, 3);
            conv2d("conv2", out, out, 3);
            if (in != out) conv2d("nin_shortcut", in, out, 1);
        });
    }
    constexpr void attention(child_name child) const {
        const std::int64_t in = ctx.config.hidden_size;
        not_executed.module(child, ctx.class_of("AttentionBlock"), [&] {
            for (const literal name : {"k_proj", "v_proj", "q_proj", "out_proj"}) not_executed.linear(name, in, in);
        });
    }
    /// Blocks of one resolution with optional attention, then upsampling. `in` is the number of input channels.
    constexpr void level(std::int64_t i, std::int64_t in) const {
        not_executed.module({"up", i}, {"", "Module"}, [&] {
            const std::int64_t n = family_value(blocks) + 1, out = width_of(ctx.config.family, i);
            for (std::int64_t b = 0; b < n; ++b) block({"block", b}, b == 0 ? in : out, out);
            for (std::int64_t b = 0; b < n && attends(ctx.config.family, i); ++b) {
                attention({"attn", b});
                norm({"attn_norms", b}, out);
            }
            if (i != 0)
                not_executed.module("upsample", ctx.class_of("EncoderConvUpsample"),
                                    [&] { conv2d("conv", out, out, 3); });
        });
    }
    constexpr void modules() const {
        const std::int64_t last = width_of(ctx.config.family, family_value(levels) - 1),
                           channels = family_value(latent);
        if (const std::int64_t n = halvings(ctx.config.family); n > 0)
            not_executed.list("time_conv", n, ctx.class_of("TemporalUpsample"), [&] {
                conv3d("conv", channels, channels, {3, 3, 3});
            });
        not_executed.list("time_res_stack", family_value(blocks), ctx.class_of("TemporalResnetBlock"), [&] {
            not_executed.batch_norm("norm1", channels, "BatchNorm3d");
            conv3d("conv1", channels, channels, {3, 3, 3});
            not_executed.batch_norm("norm2", channels, "BatchNorm3d");
            conv3d("conv2", channels, channels, {3, 3, 3});
        });
        conv2d("conv_in", channels, last, 3);
        not_executed.module("middle_block", ctx.class_of("MiddleBlock"), [&] {
            block("block_1", last, last);
            attention("attn_1");
            norm("attn_norm", last);
            block("block_2", last, last);
        });
        not_executed.module("up_block", ctx.class_of("UpBlock"), [&] {
            for (std::int64_t i = 0; i < family_value(levels); ++i)
                level(i, i + 1 == family_value(levels) ? last : width_of(ctx.config.family, i + 1));
        });
        norm("norm_out", width_of(ctx.config.family, 0));
        conv2d("conv_out", width_of(ctx.config.family, 0), family_value(out_channels), 3);
    }
};

/// Encodes images to codes. The number of frames is an entry of the inputs' family configuration.
constexpr tensor encode_images(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const recorder::detach_guard codes_are_integers{t};
    const tensor latents = encode_frames(ctx, t, ctx.inputs->family_tensors[0]).permute({0, 2, 1, 3, 4});
    if (family[twice] != 0 && !t.is_not_executed())
        throw_description_error(
            "vq_config.double_latent: not supported: the next convolution of the reference expects one latent");
    const tensor one =
        family[twice] != 0
            ? trace::buffer({latents.dim(0), family[latent], latents.dim(2), latents.dim(3), latents.dim(4)})
            : latents;
    const tensor features = t.call("quant_conv", padded_convolution{ctx, family[code_width], {3, 1, 1}}, one);
    const tensor found = find_codes(ctx, t, features.permute({0, 2, 1, 3, 4}));
    not_executed_modules not_executed{t};
    const decoder parts{ctx, not_executed};
    not_executed.module("decoder", ctx.class_of("Decoder"), [&] { parts.modules(); });
    parts.conv3d("post_quant_conv", family[code_width], family[latent], {3, 1, 1});
    return found;
}

/// Image shapes: sides are multiples of 8, areas between 512² and 1024² pixels. A token ends each row of codes.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0)
        throw_description_error("this model accepts images of any size; use --image WIDTHxHEIGHT");
    constexpr resize_bounds bounds{.factor = 8, .minimum = 512 * 512, .maximum = 1024 * 1024};
    const resized to = smart_resize(load.image_height, load.image_width, bounds);
    const std::int64_t downscale_factor = spatial_factor(m.components[0].config.family);
    return {.image = {.num_tokens = (to.height / downscale_factor) * (to.width / downscale_factor + 1),
                      .height = to.height,
                      .width = to.width}};
}

/// Traces the model. An image is repeated to as many frames as one latent has; its codes select token embeddings.
constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "text_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const family_config& family = ctx.component(0).config.family;
        const media_shape image_shape =
            has_images(t)
                ? compute_media_shapes(ctx.model, t.load()).image
                : media_shape{.num_tokens = 2, .height = spatial_factor(family), .width = spatial_factor(family)};
        const std::int64_t images = images_in(t), channels = family[in_channels];
        const tensor pixels = t.input({images, channels, image_shape.height, image_shape.width}).unsqueeze(1);
        attention_inputs inputs;
        inputs.family_tensors[0] =
            t.copy(pixels.expand({images, family[frames], channels, image_shape.height, image_shape.width}));
        layer_context tower = ctx.component(0);
        tower.inputs = &inputs;
        const module_info m{.name = "vqmodel",
                            .class_of_module = tower.class_of(tower.spec.names.model_class),
                            .module_role = role::vision};
        (void)forward_in_module(m, tower.spec.base_model, tower, t);
        (void)t.div_scalar(trace::buffer({2 * images}));  // the sides divided by the factor, as a tensor
        const layer_context text = ctx.text_model();
        const module_info table{.name = "text_model", .class_of_module = text.class_of(text.spec.names.model_class)};
        const recorder::shared_parameters_guard shared_parameters{t};
        const embedding token_embedding{text.config.vocab_size, text.config.hidden_size};
        t.enter(table);
        const tensor features =
            t.leave(table, t.call("embed_tokens", token_embedding, shape{images * image_shape.num_tokens}));
        return t.masked_scatter(token_embeddings, t.cat({features}, 0));
    });
}

/// Parses `config.json`. `vocabulary_map` has no cost.
constexpr void parse_config(config_view json, model&) { (void)json.optional_object("vocabulary_map"); }

}  // namespace emu3_detail

}  // namespace llmcost::arch
