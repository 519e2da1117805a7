// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/chameleon.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/encoder.hpp>
#include <llmcost/walks/idle.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/packed.hpp>

// Emu3's autoencoder: images to codes, which are words of its text model.
namespace llmcost::arch {

namespace emu3_detail {

/// Resolutions that an autoencoder may have.
inline constexpr std::size_t most_levels = 8;

enum own : std::uint8_t {
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
    attending,  // bit by bit, by level
    factors
};
inline constexpr own_key keys[]{
    {"codebook_size", 32768},
    {"embed_dim", 4},
    {"latent_channels", 4},
    {"double_latent", 0, own_value::boolean},
    {"in_channels", 3},
    {"out_channels", 3},
    {"temporal_downsample_factor", 4},
    {"base_channels", 256},
    {"num_res_blocks", 2},
    {.otherwise = 4, .value = own_value::computed},
    {.otherwise = 1 << 3, .value = own_value::computed},
};

constexpr void read_vision(config_view config, sizes& s) {
    constexpr std::int64_t usual[]{1, 2, 2, 4};
    const auto list = config.optional_array("channel_multiplier");
    if (list) s.own[levels] = static_cast<std::int64_t>(list->size());
    if (s.own[levels] < 1 || s.own[levels] > static_cast<std::int64_t>(most_levels))
        fail_unsupported(config, "channel_multiplier", "no row describes so many resolutions");
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(s.own[levels]); ++i) {
        const std::int64_t factor = list ? (*list)[i].as_positive() : usual[i];
        if (checked_width(config, "base_channels", factor, s.own[base_channels]) % 32 != 0)
            fail_value(config, "base_channels", "a multiple of 32 channels at every resolution");
        s.own[factors + i] = factor;
    }
    if (const auto where = config.optional_array("attn_resolutions")) {
        s.own[attending] = 0;
        for (const config_view entry : *where)
            if (const std::int64_t i = entry.as_integer(); i >= 0 && i < s.own[levels]) s.own[attending] |= 1LL << i;
    }
    share_among_heads(config, s, {"num_attention_heads"});
    plan_one_mask(config, s);
}

/// Channels of a resolution.
[[nodiscard]] constexpr std::int64_t width_of(const own_sizes& own, std::int64_t level) {
    return own[base_channels] * own[factors + static_cast<std::size_t>(level)];
}
[[nodiscard]] constexpr bool attends(const own_sizes& own, std::int64_t level) { return (own[attending] >> level & 1) != 0; }
/// How often a video's frames are halved.
[[nodiscard]] constexpr std::int64_t halvings(const own_sizes& own) {
    std::int64_t n = 0;
    for (std::int64_t left = own[frames]; left > 1; left /= 2) ++n;
    return n;
}
/// Patches along a side become one code.
[[nodiscard]] constexpr std::int64_t spatial_factor(const own_sizes& own) noexcept {
    return std::int64_t{1} << (own[levels] - 1);
}

using chameleon_detail::group_norm;
using chameleon_detail::residual_block;
using chameleon_detail::swish;

/// `nn.Conv3d` over what is padded before, all of it along time in front (`Emu3VQVAEConv3d`).
struct padded_convolution {
    const site& here;
    std::int64_t out;
    extents kernel;
    std::int64_t stride = 1;  ///< through time

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Conv3d"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t rows = x.dim(3) + kernel.size[1] - 1, columns = x.dim(4) + kernel.size[2] - 1;
        const value padded = t.pad_to(x, {x.dim(0), x.dim(1), x.dim(2) + 2, rows, columns});
        return t.call("conv", convolution_3d{x.dim(1), out, kernel, {stride, 1, 1}}, padded);
    }
};

/// Two such convolutions behind norms, around which a sum goes.
struct temporal_block {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TemporalResnetBlock"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = x.dim(1);
        const batch_norm_2d norm{width, "BatchNorm3d"};
        const padded_convolution same{here, width, {3, 3, 3}};
        const value h = t.call("conv1", same, swish(t, t.call("norm1", norm, x)));
        return t.add(x, t.call("conv2", same, swish(t, t.call("norm2", norm, h))));
    }
};

/// All places attend to each other: (B, places, channels) -> the same.
struct place_attention {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AttentionBlock"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const value mixed = attend_within(t, x, width, here.dims.num_attention_heads, true, {"q_proj", "k_proj", "v_proj"}, true,
                                          all_positions(x.dim(1)));
        return t.call("out_proj", linear{width, width, true}, mixed);
    }
};

/// The same behind a norm: (B, channels, rows, columns) -> the same, channels last.
constexpr value mix_places(const site& here, trace& t, module_place norm, class_name named, module_place attention,
                                 const value& x) {
    const value normed = as_tokens(t.call(norm, group_norm{named}, x));
    const value given = normed.dim(2) == here.dims.hidden_size
                            ? normed
                            : trace::buffer({normed.dim(0), normed.dim(1), here.dims.hidden_size});
    if (normed.dim(2) != here.dims.hidden_size && !t.idle())
        report_description("vq_config: a resolution with attention has not hidden_size channels");
    const value mixed = t.call(attention, place_attention{here}, given);
    return t.idle() ? x : t.reshape(mixed, {x.dim(0), x.dim(2), x.dim(3), x.dim(1)}).permute({0, 3, 1, 2});
}

/// Blocks of one resolution, each perhaps with attention, and a convolution that halves it; around the module that holds
/// them, which is not called, go sums.
constexpr value encode_level(const site& here, trace& t, std::int64_t i, value x) {
    const own_sizes& own = here.dims.own;
    const module_info level{.name = "down", .index = i, .type = {"", "Module"}};
    const auto inside = [&](const auto& call) {
        t.enter(level);
        return t.leave(level, call());
    };
    for (std::int64_t j = 0; j < own[blocks]; ++j) {
        const residual_block next{here, width_of(own, i), "ResnetBlock", false};
        x = inside([&] { return t.call({"block", j}, next, x); });
        if (!attends(own, i)) continue;
        const value around = x;
        x = t.add(x, inside([&] { return mix_places(here, t, {"attn_norms", j}, {"", "GroupNorm"}, {"attn", j}, around); }));
    }
    return i + 1 < own[levels] ? inside([&] { return chameleon_detail::halve(here, t, x); }) : x;
}

/// Frames to latents: (B, frames, channels, height, width) -> (B, frames / 4, latent channels, rows, columns).
constexpr value encode_frames(const site& here, trace& t, const value& pixels) {
    const own_sizes& own = here.dims.own;
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    const module_info down{.name = "down_block", .type = here.type("DownBlock")};
    const module_info middle{.name = "middle_block", .type = here.type("MiddleBlock")};
    const std::int64_t batch = pixels.dim(0), steps = pixels.dim(1), channels = own[in_channels];
    const std::int64_t last = width_of(own, own[levels] - 1), out = own[latent] * (own[twice] != 0 ? 2 : 1);
    t.enter(encoder);
    value x = pixels.view({batch * steps, channels, pixels.dim(3), pixels.dim(4)});
    x = t.call("conv_in", convolution_2d{channels, own[base_channels], 3, 1, 1}, x);
    t.enter(down);
    for (std::int64_t i = 0; i < own[levels]; ++i) x = encode_level(here, t, i, x);
    t.leave(down, x), t.enter(middle);
    const residual_block same{here, last, "ResnetBlock", false};
    x = t.call("block_1", same, x);
    x = t.add(x, mix_places(here, t, "attn_norm", here.type("GroupNorm"), "attn_1", x));
    x = t.leave(middle, t.call("block_2", same, x));
    x = swish(t, t.call("norm_out", group_norm{}, x));
    x = t.call("conv_out", convolution_2d{last, out, 3, 1, 1}, x);
    x = x.view({batch, steps, out, x.dim(2), x.dim(3)}).permute({0, 2, 1, 3, 4});
    for (std::int64_t i = 0; i < halvings(own); ++i) {
        const module_info half{.name = "time_conv", .index = i, .type = here.type("TemporalDownsample")};
        t.enter(half);
        x = swish(t, t.leave(half, t.call("conv", padded_convolution{here, out, {4, 3, 3}, 2}, x)));
    }
    for (std::int64_t i = 0; i < own[blocks]; ++i) x = t.call({"time_res_stack", i}, temporal_block{here}, x);
    return t.leave(encoder, x.permute({0, 2, 1, 3, 4}));
}

/// The nearest code of each place: integers, which no gradient passes.
constexpr value find_codes(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.own[code_width], n = here.dims.own[codes];
    const module_info quantizer{.name = "quantize", .type = here.type("VectorQuantizer")};
    t.enter(quantizer);
    embedding{n, width}.declare(t, "embedding");
    const value flat = t.contiguous(x.permute({0, 1, 3, 4, 2})).view({-1, width}), table = trace::buffer({n, width});
    const value own = t.sum(t.pow(flat, 2), 1, true), of_codes = t.sum(t.pow(table, 2), 1);
    const value products = t.mul(t.matmul(flat, table.transpose(0, 1)));
    return t.leave(quantizer, t.sub(t.add(own, of_codes), products));
}

/// What makes images of codes, in the words of modules that stand idle.
struct decoder {
    const site& here;
    idle_modules& held;

    [[nodiscard]] constexpr std::int64_t own(own which) const { return here.dims.own[which]; }
    constexpr void conv2d(literal name, std::int64_t in, std::int64_t out, std::int64_t kernel) const {
        held.weighted(name, {"", "Conv2d"}, {out, in, kernel, kernel});
    }
    constexpr void conv3d(literal name, std::int64_t in, std::int64_t out, const extents& kernel) const {
        held.within(name, here.type("Conv3d"), [&] {
            held.weighted("conv", {"", "Conv3d"}, {out, in, kernel.size[0], kernel.size[1], kernel.size[2]});
        });
    }
    /// A norm of groups, scaled and shifted by codes.
    constexpr void norm(module_place at, std::int64_t channels) const {
        held.within(at, here.type("SpatialNorm"), [&] {
            held.weighted("norm_layer", {"", "GroupNorm"}, {channels});
            conv2d("conv_y", own(code_width), channels, 1);
            conv2d("conv_b", own(code_width), channels, 1);
        });
    }
    constexpr void block(module_place at, std::int64_t in, std::int64_t out) const {
        held.within(at, here.type("ResnetBlock"), [&] {
            norm("norm1", in);
            norm("norm2", out);
            conv2d("conv1", in, out, 3);
            conv2d("conv2", out, out, 3);
            if (in != out) conv2d("nin_shortcut", in, out, 1);
        });
    }
    constexpr void attention(module_place at) const {
        const std::int64_t in = here.dims.hidden_size;
        held.within(at, here.type("AttentionBlock"), [&] {
            for (const literal name : {"k_proj", "v_proj", "q_proj", "out_proj"}) held.linear(name, in, in);
        });
    }
    /// Blocks of one resolution, from so many channels, each perhaps with attention, and what doubles it.
    constexpr void level(std::int64_t i, std::int64_t in) const {
        held.within({"up", i}, {"", "Module"}, [&] {
            const std::int64_t n = own(blocks) + 1, out = width_of(here.dims.own, i);
            for (std::int64_t b = 0; b < n; ++b) block({"block", b}, b == 0 ? in : out, out);
            for (std::int64_t b = 0; b < n && attends(here.dims.own, i); ++b)
                attention({"attn", b}), norm({"attn_norms", b}, out);
            if (i != 0) held.within("upsample", here.type("EncoderConvUpsample"), [&] { conv2d("conv", out, out, 3); });
        });
    }
    constexpr void modules() const {
        const std::int64_t last = width_of(here.dims.own, own(levels) - 1), channels = own(latent);
        if (const std::int64_t n = halvings(here.dims.own); n > 0)
            held.list("time_conv", n, here.type("TemporalUpsample"), [&] { conv3d("conv", channels, channels, {3, 3, 3}); });
        held.list("time_res_stack", own(blocks), here.type("TemporalResnetBlock"), [&] {
            held.batch_norm("norm1", channels, "BatchNorm3d");
            conv3d("conv1", channels, channels, {3, 3, 3});
            held.batch_norm("norm2", channels, "BatchNorm3d");
            conv3d("conv2", channels, channels, {3, 3, 3});
        });
        conv2d("conv_in", channels, last, 3);
        held.within("middle_block", here.type("MiddleBlock"), [&] {
            block("block_1", last, last);
            attention("attn_1");
            norm("attn_norm", last);
            block("block_2", last, last);
        });
        held.within("up_block", here.type("UpBlock"), [&] {
            for (std::int64_t i = 0; i < own(levels); ++i)
                level(i, i + 1 == own(levels) ? last : width_of(here.dims.own, i + 1));
        });
        norm("norm_out", width_of(here.dims.own, 0));
        conv2d("conv_out", width_of(here.dims.own, 0), own(out_channels), 3);
    }
};

/// An autoencoder, whose codes are words of the text model; `own[0]` of what it is handed are frames.
constexpr value see(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const recorder::off_loss_guard codes_are_integers{t};
    const value latents = encode_frames(here, t, here.shared->own[0]).permute({0, 2, 1, 3, 4});
    if (own[twice] != 0 && !t.idle()) report_description("vq_config.double_latent: its next convolution reads one latent");
    const value one = own[twice] != 0
                          ? trace::buffer({latents.dim(0), own[latent], latents.dim(2), latents.dim(3), latents.dim(4)})
                          : latents;
    const value seen = t.call("quant_conv", padded_convolution{here, own[code_width], {3, 1, 1}}, one);
    const value found = find_codes(here, t, seen.permute({0, 2, 1, 3, 4}));
    idle_modules held{t};
    const decoder parts{here, held};
    held.within("decoder", here.type("Decoder"), [&] { parts.modules(); });
    parts.conv3d("post_quant_conv", own[code_width], own[latent], {3, 1, 1});
    return found;
}

/// Sides as multiples of 8, within 512² and 1024² pixels; each row of codes is ended by a word.
constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0) report_description("this model reads images of any size: say --image WIDTHxHEIGHT");
    constexpr resize_bounds bounds{.factor = 8, .least = 512 * 512, .most = 1024 * 1024};
    const resized to = smart_resize(load.image_height, load.image_width, bounds);
    const std::int64_t by = spatial_factor(m.beside[0].dims.own);
    return {.image = {.tokens = (to.height / by) * (to.width / by + 1), .height = to.height, .width = to.width}};
}

/// An image is as many frames as one latent has; its codes are looked up in the table of words.
constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "text_model", [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const own_sizes& own = here.component(0).dims.own;
        const media_shape shape =
            sees_images(t) ? show(here.whole, t.load()).image
                           : media_shape{.tokens = 2, .height = spatial_factor(own), .width = spatial_factor(own)};
        const std::int64_t images = images_in(t), channels = own[in_channels];
        const value pixels = t.input({images, channels, shape.height, shape.width}).unsqueeze(1);
        shared_values made;
        made.own[0] = t.copy(pixels.expand({images, own[frames], channels, shape.height, shape.width}));
        site tower = here.component(0);
        tower.shared = &made;
        const module_info m{.name = "vqmodel", .type = tower.type(tower.row.names.model_type), .what = role::vision};
        (void)describe_within(m, tower.row.base, tower, t);
        (void)t.div(trace::buffer({2 * images}));  // sides by the factor, as numbers of tensors
        const site text = here.text();
        const module_info table{.name = "text_model", .type = text.type(text.row.names.model_type)};
        const recorder::called_again_guard again{t};
        const embedding codes_as_words{text.dims.vocab_size, text.dims.hidden_size};
        t.enter(table);
        const value features = t.leave(table, t.call("embed_tokens", codes_as_words, extents{images * shape.tokens}));
        return t.masked_scatter(words, t.cat({features}, 0));
    });
}

/// Which words are codes costs nothing.
constexpr void read_whole(config_view config, model&) { (void)config.optional_object("vocabulary_map"); }

}  // namespace emu3_detail

}  // namespace llmcost::arch
