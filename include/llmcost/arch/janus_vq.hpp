// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/activation.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/tower.hpp>

// Janus' autoencoder of images, which a text does not run.
namespace llmcost::arch {

namespace janus_detail {

// what makes images of tokens, and how many levels of resolution it has
enum vq_own : std::uint8_t {
    embed_dim,
    num_embeddings,
    double_latent,
    latent_channels,
    in_channels,
    base_channels,
    res_blocks,
    out_channels,
    vq_projection_width,
    token_width,
    levels,
    first_level
};
inline constexpr std::int64_t most_levels = 12;
inline constexpr own_key vq_keys[]{
    {"embed_dim", 8},
    {"num_embeddings", 16384},
    {"double_latent", 0, own_value::boolean},
    {"latent_channels", 256},
    {"in_channels", 3},
    {"base_channels", 128},
    {"num_res_blocks", 2},
    {"out_channels", 3},
    {"projection_dim", 2048},
    {"image_token_embed_dim", 2048},
    {.otherwise = 5, .value = own_value::computed},
    {.otherwise = 1, .value = own_value::computed},  // `channel_multiplier`, from here on
    {.otherwise = 1, .value = own_value::computed},
    {.otherwise = 2, .value = own_value::computed},
    {.otherwise = 2, .value = own_value::computed},
    {.otherwise = 4, .value = own_value::computed},
};

/// `nn.GroupNorm` over 32 groups of channels: (batch, channels, height, width) -> the same.
struct group_norm {
    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "GroupNorm"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {x.dim(1)}), bias = t.param("bias", {x.dim(1)});
        const value rows = t.layer_norm(t.contiguous(x).view({x.dim(0) * 32, -1}), 0);
        const value back = rows.view({x.dim(0), x.dim(1), x.dim(2), x.dim(3)});
        const auto over_channels = [](const value& v) { return v.view({1, v.dim(0), 1, 1}); };
        return t.add(t.mul(back, over_channels(weight)), over_channels(bias));
    }
};

/// x · sigmoid(x), as it is written out.
constexpr value swish(trace& t, const value& x) { return t.mul(x, t.sigmoid(x)); }

/// Two convolutions behind norms, and a shortcut where channels differ.
struct residual_block {
    std::int64_t in;
    std::int64_t out;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"Janus", "VQVAEResnetBlock"}; }
    constexpr value describe(trace& t, const value& x) const {
        value h = t.call("conv1", convolution_2d{in, out, 3, 1, 1}, swish(t, t.call("norm1", group_norm{}, x)));
        h = swish(t, t.call("norm2", group_norm{}, h));
        h = t.call("conv2", convolution_2d{out, out, 3, 1, 1}, dropout(t, "dropout", h));
        return t.add(in == out ? x : t.call("nin_shortcut", convolution_2d{in, out, 1}, x), h);
    }
};

/// Attention of all pixels by convolutions of one pixel.
struct attention_block {
    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"Janus", "VQVAEAttnBlock"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t channels = x.dim(1), pixels = x.dim(2) * x.dim(3);
        const convolution_2d one{channels, channels, 1};
        const value h = t.call("norm", group_norm{}, x);
        const auto flat = [&](literal name) { return t.call(name, one, h).view({x.dim(0), channels, pixels}); };
        const value q = flat("q").transpose(1, 2), k = flat("k"), v = flat("v");
        const value seen = t.softmax(t.mul(t.bmm(q, k)));
        const value mixed = t.bmm(v, seen.transpose(1, 2)).view({x.dim(0), channels, x.dim(2), x.dim(3)});
        return t.add(x, t.call("proj_out", one, mixed));
    }
};

struct middle_block {
    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"Janus", "VQVAEMidBlock"}; }
    constexpr value describe(trace& t, const value& x) const {
        const residual_block same{x.dim(1), x.dim(1)};
        return t.call("block_2", same, t.call("attn_1", attention_block{}, t.call("block_1", same, x)));
    }
};

/// A convolution in a module that makes images smaller or larger.
struct resampling {
    literal named;
    std::int64_t stride;
    std::int64_t padding;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"Janus", named}; }
    constexpr value describe(trace& t, const value& x) const {
        return t.call("conv", convolution_2d{x.dim(1), x.dim(1), 3, stride, padding}, x);
    }
};

/// One level of resolution: blocks, attention in the coarsest one, a change of size. Coming from finer levels (`down`) or
/// from coarser ones.
struct level {
    std::int64_t out;
    std::int64_t blocks;
    bool attends;
    bool down;
    bool resizes;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"", "Module"}; }
    constexpr value describe(trace& t, value x) const {
        if (!attends) {
            const module_info nothing{.name = "attn", .type = {"", "ModuleList"}};
            t.enter(nothing), t.leave(nothing);
        }
        for (std::int64_t i = 0; i < blocks; ++i) {
            x = t.call({"block", i}, residual_block{x.dim(1), out}, x);
            if (attends) x = t.call({"attn", i}, attention_block{}, x);
        }
        if (!resizes) return x;
        const extents finer{x.dim(0), x.dim(1), 2 * x.dim(2), 2 * x.dim(3)};
        if (down) return t.call("downsample", resampling{"VQVAEConvDownsample", 2, 0}, t.pad(t.pad(x, 2, 1), 3, 1));
        return t.call("upsample", resampling{"VQVAEConvUpsample", 1, 1}, t.gather(x, finer));
    }
};

/// Channels of a level of resolution, the finest being 0.
constexpr std::int64_t channels_of(const own_sizes& own, std::int64_t i) {
    return own[base_channels] * own[static_cast<std::size_t>(first_level + i)];
}

/// Pixels to latents: finer levels first.
struct vq_encoder {
    const own_sizes& own;

    static constexpr role what = role::encoder;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"Janus", "VQVAEEncoder"}; }
    constexpr value describe(trace& t, const value& pixels) const {
        const std::int64_t n = own[levels];
        value x = t.call("conv_in", convolution_2d{own[in_channels], own[base_channels], 3, 1, 1}, pixels);
        for (std::int64_t i = 0; i < n; ++i)
            x = t.call({"down", i}, level{channels_of(own, i), own[res_blocks], i == n - 1, true, i != n - 1}, x);
        x = swish(t, t.call("norm_out", group_norm{}, t.call("mid", middle_block{}, x)));
        const std::int64_t latents = own[latent_channels] * (own[double_latent] != 0 ? 2 : 1);
        return t.call("conv_out", convolution_2d{x.dim(1), latents, 3, 1, 1}, x);
    }
};

/// Latents to pixels: coarser levels first.
struct vq_decoder {
    const own_sizes& own;

    static constexpr role what = role::decoder;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"Janus", "VQVAEDecoder"}; }
    constexpr value describe(trace& t, const value& latents) const {
        const std::int64_t n = own[levels];
        value x = t.call("conv_in", convolution_2d{own[latent_channels], channels_of(own, n - 1), 3, 1, 1}, latents);
        x = t.call("mid", middle_block{}, x);
        for (std::int64_t i = n - 1; i >= 0; --i)
            x = t.call({"up", n - 1 - i}, level{channels_of(own, i), own[res_blocks] + 1, i == n - 1, false, i != 0}, x);
        x = swish(t, t.call("norm_out", group_norm{}, x));
        return t.call("conv_out", convolution_2d{x.dim(1), own[out_channels], 3, 1, 1}, x);
    }
};

/// A table of codes: what latents are rounded to.
struct quantizer {
    const own_sizes& own;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"Janus", "VQVAEVectorQuantizer"}; }
    constexpr value describe(trace& t, const value& x) const {
        const extents codes{x.dim(0), x.dim(2), x.dim(3)};
        return t.call("embedding", embedding{own[num_embeddings], own[embed_dim]}, codes).permute({0, 3, 1, 2});
    }
};

/// Images to codes and back, on images of as few pixels as the levels allow.
constexpr value vq_base(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t side = std::int64_t{1} << own[levels];
    const value x = t.call("encoder", vq_encoder{own}, t.input({t.load().batch, own[in_channels], side, side}));
    const std::int64_t rows = x.dim(2);
    const value latents = t.constant({x.dim(0), own[latent_channels], rows, rows}, x.type);
    const value narrowed = t.call("quant_conv", convolution_2d{own[latent_channels], own[embed_dim], 1}, latents);
    const value codes = t.call("quantize", quantizer{own}, narrowed);
    const value back = t.call("post_quant_conv", convolution_2d{own[embed_dim], own[latent_channels], 1}, codes);
    return t.call("decoder", vq_decoder{own}, back);
}

constexpr void read_vq(config_view config, sizes& s) {
    const auto list = config.optional_array("channel_multiplier");
    if (list) {
        if (list->size() < 1 || list->size() > most_levels)
            fail_value(config, "channel_multiplier", "factors of 1 to 12 levels of resolution");
        s.own[levels] = static_cast<std::int64_t>(list->size());
        for (std::uint32_t i = 0; i < list->size(); ++i) s.own[first_level + i] = (*list)[i].as_positive();
    }
    for (std::int64_t i = 0; i < s.own[levels]; ++i)
        if (checked_width(config, "base_channels", s.own[base_channels], s.own[static_cast<std::size_t>(first_level + i)]) %
                32 !=
            0)
            fail_value(config, "base_channels", "32 groups of channels in each level");
    if (s.own[base_channels] % 32 != 0) fail_value(config, "base_channels", "32 groups of channels");
}

inline constexpr architecture vq = [](architecture a) {
    a.prefix = "Janus", a.base = vq_base, a.read = read_vq, a.own = vq_keys, a.heads = {}, a.names.model_type = "VQVAE";
    a.defaults.num_hidden_layers = 2, a.defaults.hidden_act = activation::gelu;
    return a;
}(shared_tower);

}  // namespace janus_detail

}  // namespace llmcost::arch
