// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/vision_encoder.hpp>
#include <llmcost/layers/activation.hpp>

// Janus' autoencoder of images, which a text does not run.
namespace llmcost::arch {

namespace janus_detail {

// what makes images of tokens, and how many levels of resolution it has
enum vq_config_index : std::uint8_t {
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
inline constexpr std::int64_t max_levels = 12;
inline constexpr family_key vq_keys[]{
    {"embed_dim", 8},
    {"num_embeddings", 16384},
    {"double_latent", 0, family_key_type::boolean},
    {"latent_channels", 256},
    {"in_channels", 3},
    {"base_channels", 128},
    {"num_res_blocks", 2},
    {"out_channels", 3},
    {"projection_dim", 2048},
    {"image_token_embed_dim", 2048},
    {.default_value = 5, .type = family_key_type::computed},
    {.default_value = 1, .type = family_key_type::computed},  // `channel_multiplier`, from here on
    {.default_value = 1, .type = family_key_type::computed},
    {.default_value = 2, .type = family_key_type::computed},
    {.default_value = 2, .type = family_key_type::computed},
    {.default_value = 4, .type = family_key_type::computed},
};

/// `nn.GroupNorm` over 32 groups of channels: (batch, channels, height, width) -> the same.
struct group_norm {
    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "GroupNorm"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {x.dim(1)}), bias = t.param("bias", {x.dim(1)});
        const tensor rows = t.layer_norm(t.contiguous(x).view({x.dim(0) * 32, -1}), 0);
        const tensor normalized = rows.view({x.dim(0), x.dim(1), x.dim(2), x.dim(3)});
        const auto over_channels = [](const tensor& v) { return v.view({1, v.dim(0), 1, 1}); };
        return t.add(t.mul(normalized, over_channels(weight)), over_channels(bias));
    }
};

/// x · sigmoid(x), as it is written out.
constexpr tensor swish(trace& t, const tensor& x) { return t.mul(x, t.sigmoid(x)); }

/// Two convolutions after norms, and a shortcut projection where the channel counts differ.
struct residual_block {
    std::int64_t in;
    std::int64_t out;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"Janus", "VQVAEResnetBlock"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        tensor h = t.call("conv1", convolution_2d{in, out, 3, 1, 1}, swish(t, t.call("norm1", group_norm{}, x)));
        h = swish(t, t.call("norm2", group_norm{}, h));
        h = t.call("conv2", convolution_2d{out, out, 3, 1, 1}, dropout(t, "dropout", h));
        return t.add(in == out ? x : t.call("nin_shortcut", convolution_2d{in, out, 1}, x), h);
    }
};

/// Attention of all pixels by convolutions of one pixel.
struct attention_block {
    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"Janus", "VQVAEAttnBlock"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t channels = x.dim(1), pixels = x.dim(2) * x.dim(3);
        const convolution_2d one{channels, channels, 1};
        const tensor h = t.call("norm", group_norm{}, x);
        const auto flat = [&](literal name) { return t.call(name, one, h).view({x.dim(0), channels, pixels}); };
        const tensor q = flat("q").transpose(1, 2), k = flat("k"), v = flat("v");
        const tensor features = t.softmax(t.mul_scalar(t.bmm(q, k)));
        const tensor mixed = t.bmm(v, features.transpose(1, 2)).view({x.dim(0), channels, x.dim(2), x.dim(3)});
        return t.add(x, t.call("proj_out", one, mixed));
    }
};

struct middle_block {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"Janus", "VQVAEMidBlock"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const residual_block block{x.dim(1), x.dim(1)};
        return t.call("block_2", block, t.call("attn_1", attention_block{}, t.call("block_1", block, x)));
    }
};

/// A convolution in a module that makes images smaller or larger.
struct resampling {
    literal named;
    std::int64_t stride;
    std::int64_t padding;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"Janus", named}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        return t.call("conv", convolution_2d{x.dim(1), x.dim(1), 3, stride, padding}, x);
    }
};

/// One level of resolution: blocks, attention in the coarsest one, a change of size. Coming from finer levels (`down`)
/// or from coarser ones.
struct level {
    std::int64_t out;
    std::int64_t blocks;
    bool attends;
    bool down;
    bool resizes;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Module"}; }
    constexpr tensor forward(trace& t, tensor x) const {
        if (!attends) {
            const module_info empty_list{.name = "attn", .class_of_module = {"", "ModuleList"}};
            t.enter(empty_list);
            t.leave(empty_list);
        }
        for (std::int64_t i = 0; i < blocks; ++i) {
            x = t.call({"block", i}, residual_block{x.dim(1), out}, x);
            if (attends) x = t.call({"attn", i}, attention_block{}, x);
        }
        if (!resizes) return x;
        const shape finer{x.dim(0), x.dim(1), 2 * x.dim(2), 2 * x.dim(3)};
        if (down) return t.call("downsample", resampling{"VQVAEConvDownsample", 2, 0}, t.pad(t.pad(x, 2, 1), 3, 1));
        return t.call("upsample", resampling{"VQVAEConvUpsample", 1, 1}, t.gather(x, finer));
    }
};

/// Channels of a level of resolution, the finest being 0.
constexpr std::int64_t channels_of(const family_config& family, std::int64_t i) {
    return family[base_channels] * family[static_cast<std::size_t>(first_level + i)];
}

/// Pixels to latents: finer levels first.
struct vq_encoder {
    const family_config& family;

    static constexpr role module_role = role::encoder;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"Janus", "VQVAEEncoder"}; }
    constexpr tensor forward(trace& t, const tensor& pixels) const {
        const std::int64_t n = family[levels];
        tensor x = t.call("conv_in", convolution_2d{family[in_channels], family[base_channels], 3, 1, 1}, pixels);
        for (std::int64_t i = 0; i < n; ++i)
            x = t.call({"down", i}, level{channels_of(family, i), family[res_blocks], i == n - 1, true, i != n - 1}, x);
        x = swish(t, t.call("norm_out", group_norm{}, t.call("mid", middle_block{}, x)));
        const std::int64_t latents = family[latent_channels] * (family[double_latent] != 0 ? 2 : 1);
        return t.call("conv_out", convolution_2d{x.dim(1), latents, 3, 1, 1}, x);
    }
};

/// Latents to pixels: coarser levels first.
struct vq_decoder {
    const family_config& family;

    static constexpr role module_role = role::decoder;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"Janus", "VQVAEDecoder"}; }
    constexpr tensor forward(trace& t, const tensor& latents) const {
        const std::int64_t n = family[levels];
        tensor x =
            t.call("conv_in", convolution_2d{family[latent_channels], channels_of(family, n - 1), 3, 1, 1}, latents);
        x = t.call("mid", middle_block{}, x);
        for (std::int64_t i = n - 1; i >= 0; --i)
            x = t.call({"up", n - 1 - i},
                       level{channels_of(family, i), family[res_blocks] + 1, i == n - 1, false, i != 0}, x);
        x = swish(t, t.call("norm_out", group_norm{}, x));
        return t.call("conv_out", convolution_2d{x.dim(1), family[out_channels], 3, 1, 1}, x);
    }
};

/// A table of codes: what latents are rounded to.
struct quantizer {
    const family_config& family;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"Janus", "VQVAEVectorQuantizer"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const shape codes{x.dim(0), x.dim(2), x.dim(3)};
        return t.call("embedding", embedding{family[num_embeddings], family[embed_dim]}, codes).permute({0, 3, 1, 2});
    }
};

/// Images to codes and back, on images of as few pixels as the levels allow.
constexpr tensor vq_base(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const std::int64_t side = std::int64_t{1} << family[levels];
    const tensor x = t.call("encoder", vq_encoder{family}, t.input({t.load().batch, family[in_channels], side, side}));
    const std::int64_t rows = x.dim(2);
    const tensor latents = t.full({x.dim(0), family[latent_channels], rows, rows}, x.type);
    const tensor narrowed =
        t.call("quant_conv", convolution_2d{family[latent_channels], family[embed_dim], 1}, latents);
    const tensor codes = t.call("quantize", quantizer{family}, narrowed);
    const tensor normalized =
        t.call("post_quant_conv", convolution_2d{family[embed_dim], family[latent_channels], 1}, codes);
    return t.call("decoder", vq_decoder{family}, normalized);
}

constexpr void parse_vq(config_view json, model_config& config) {
    const auto list = json.optional_array("channel_multiplier");
    if (list) {
        if (list->size() < 1 || list->size() > max_levels)
            throw_invalid_value(json, "channel_multiplier", "factors of 1 to 12 levels of resolution");
        config.family[levels] = static_cast<std::int64_t>(list->size());
        for (std::uint32_t i = 0; i < list->size(); ++i) config.family[first_level + i] = (*list)[i].as_positive();
    }
    for (std::int64_t i = 0; i < config.family[levels]; ++i)
        if (checked_size(json, "base_channels", config.family[base_channels],
                         config.family[static_cast<std::size_t>(first_level + i)]) %
                32 !=
            0)
            throw_invalid_value(json, "base_channels", "32 groups of channels in each level");
    if (config.family[base_channels] % 32 != 0) throw_invalid_value(json, "base_channels", "32 groups of channels");
}

inline constexpr submodel_spec vq = [](model_spec spec) {
    spec.class_prefix = "Janus";
    spec.base_model = vq_base;
    spec.parse_config = parse_vq;
    spec.family_keys = vq_keys;
    spec.supported_heads = {};
    spec.names.model_class = "VQVAE";
    spec.defaults.num_hidden_layers = 2;
    spec.defaults.hidden_act = activation::gelu;
    return spec;
}(shared_tower);

}  // namespace janus_detail

}  // namespace llmcost::arch
