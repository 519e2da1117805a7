// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/layers/convolution.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/media.hpp>

namespace llmcost::arch {

namespace chameleon_detail {

inline constexpr std::int64_t most_levels = 8;

enum vq_own : std::uint8_t {
    code_width,
    codes,
    latent,
    resolution,
    in_channels,
    base_channels,
    blocks,
    vanilla,    // there is attention at all
    levels,     // resolutions, each half of the one before
    attending,  // bit by bit, by level
    factors
};
inline constexpr own_key vq_keys[]{
    {"embed_dim", 256},
    {"num_embeddings", 8192},
    {"latent_channels", 256},
    {"resolution", 512},
    {"in_channels", 3},
    {"base_channels", 128},
    {"num_res_blocks", 2},
    {.otherwise = 1, .value = own_value::computed},
    {.otherwise = 5, .value = own_value::computed},
    {.value = own_value::computed},
};

constexpr void read_vq(config_view config, sizes& s) {
    constexpr std::int64_t usual[]{1, 1, 2, 2, 4};
    const auto list = config.optional_array("channel_multiplier");
    if (list) s.own[levels] = static_cast<std::int64_t>(list->size());
    if (s.own[levels] < 1 || s.own[levels] > most_levels)
        fail_unsupported(config, "channel_multiplier", "no row describes so many resolutions");
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(s.own[levels]); ++i) {
        const std::int64_t factor = list ? (*list)[i].as_positive() : usual[i];
        if (checked_width(config, "base_channels", factor, s.own[base_channels]) % 32 != 0)
            fail_value(config, "base_channels", "a multiple of 32 channels at every resolution");
        s.own[factors + i] = factor;
    }
    s.own[vanilla] = config.string("attn_type", "vanilla") == "vanilla";
    if (const auto where = config.optional_array("attn_resolutions"))
        for (const config_view entry : *where) {
            const std::int64_t side = entry.as_integer();
            for (std::int64_t i = 0, left = s.own[resolution]; i < s.own[levels]; ++i, left /= 2)
                if (s.own[vanilla] != 0 && side == left) s.own[attending] |= 1LL << i;
        }
    if (config.boolean("double_latent", false))
        fail_unsupported(config, "double_latent", "the reference's next projection reads one latent");
}

/// Rows and columns of codes of an image.
[[nodiscard]] constexpr std::int64_t codes_along(const own_sizes& own) {
    std::int64_t side = own[resolution];
    for (std::int64_t i = 1; i < own[levels]; ++i) side = (side + 1 - 3) / 2 + 1;
    return side;
}

struct group_norm {
    class_name named{"", "GroupNorm"};

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        t.beside(t.param("weight", {x.dim(1)}));
        t.beside(t.param("bias", {x.dim(1)}));
        return t.group_norm(x, 32);
    }
};

/// x times its sigmoid, in place.
constexpr value swish(trace& t, value x) {
    t.in_place(op::mul, x, t.sigmoid(x));
    return x;
}

/// Two convolutions behind norms, around which a sum goes.
struct residual_block {
    const site& here;
    std::int64_t out;
    literal named = "EncoderResnetBlock";
    bool drops = true;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type(named); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t in = x.dim(1);
        value h = t.call("conv1", convolution_2d{in, out, 3, 1, 1}, swish(t, t.call("norm1", group_norm{}, x)));
        h = swish(t, t.call("norm2", group_norm{}, h));
        if (drops) h = dropout(t, "dropout", h);
        h = t.call("conv2", convolution_2d{out, out, 3, 1, 1}, h);
        return t.add(in == out ? x : t.call("nin_shortcut", convolution_2d{in, out}, x), h);
    }
};

/// One head as wide as all channels, over all places.
struct attention_block {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderAttnBlock"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = x.dim(1), places = x.dim(2) * x.dim(3);
        const convolution_2d projection{width, width};
        const value h = t.call("norm", group_norm{}, x);
        const value q = t.call("q", projection, h), k = t.call("k", projection, h), v = t.call("v", projection, h);
        const auto flat = [&](const value& of) { return t.reshape(of, {x.dim(0), width, places}); };
        const value scores = t.mul(t.bmm(flat(q).permute({0, 2, 1}), flat(k)));
        const value found = t.bmm(flat(v), t.softmax(scores).permute({0, 2, 1}));
        return t.add(x, t.call("proj_out", projection, t.reshape(found, {x.dim(0), width, x.dim(2), x.dim(3)})));
    }
};

/// A convolution that halves the sides of images, padded at the right and below.
constexpr value halve(const site& here, trace& t, const value& x) {
    const module_info half{.name = "downsample", .type = here.type("EncoderConvDownsample")};
    t.enter(half);
    return t.leave(half, t.call("conv", convolution_2d{x.dim(1), x.dim(1), 3, 2}, t.pad(x, 2, 1, 1)));
}

constexpr value encode_image(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    const module_info middle{.name = "mid", .type = {"", "Module"}};
    const value pixels = t.input({t.load().batch, own[in_channels], own[resolution], own[resolution]});
    t.enter(encoder);
    value x = t.call("conv_in", convolution_2d{own[in_channels], own[base_channels], 3, 1, 1}, pixels);
    for (std::int64_t i = 0; i < own[levels]; ++i) {
        const module_info level{.name = "down", .index = i, .type = {"", "Module"}};
        const std::int64_t width = own[base_channels] * own[static_cast<std::size_t>(factors + i)];
        t.enter(level);
        for (std::int64_t j = 0; j < own[blocks]; ++j) {
            x = t.call({"block", j}, residual_block{here, width}, x);
            if ((own[attending] >> i & 1) != 0) x = t.call({"attn", j}, attention_block{here}, x);
        }
        if (i + 1 < own[levels]) x = halve(here, t, x);
        t.leave(level, x);
    }
    const std::int64_t width = x.dim(1);
    t.enter(middle);
    x = t.call("block_1", residual_block{here, width}, x);
    if (own[vanilla] != 0) x = t.call("attn_1", attention_block{here}, x);
    x = t.leave(middle, t.call("block_2", residual_block{here, width}, x));
    x = swish(t, t.call("norm_out", group_norm{}, x));
    return t.leave(encoder, t.call("conv_out", convolution_2d{width, own[latent], 3, 1, 1}, x));
}

/// The nearest code of each place, which a loss of its own goes with.
struct quantizer {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VectorQuantizer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.own[code_width], n = here.dims.own[codes];
        const value all = t.contiguous(x.permute({0, 2, 3, 1}));
        const value flat = all.view({-1, width});
        const value table = t.input({n, width});
        const value squares = t.add(t.sum(t.pow(flat, 2), 1, true), t.sum(t.pow(table, 2), 1));
        const value products = t.bmm(flat.unsqueeze(0), table.transpose(0, 1).unsqueeze(0)).view({flat.dim(0), n});
        (void)t.sub(squares, t.mul(products));
        const value found =
            t.call("embedding", embedding{n, width}, extents{flat.dim(0)}).view({x.dim(0), x.dim(2), x.dim(3), width});
        const auto error = [&] { return t.mean(t.pow(t.sub(found, all), 2).view({-1}), 0, true); };
        const value one = error(), other = error();
        (void)t.add(one, t.mul(other));
        (void)t.contiguous(t.add(all, t.sub(found, all)).permute({0, 3, 1, 2}));
        return flat;
    }
};

/// Codes of images: no gradient passes them.
constexpr value see(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const recorder::off_loss_guard codes_are_integers{t};
    const value seen = t.call("quant_conv", convolution_2d{own[latent], own[code_width]}, encode_image(here, t));
    (void)t.call("quantize", quantizer{here}, seen);
    const recorder::idle_guard decodes_only{t};
    (void)t.call("post_quant_conv", convolution_2d{own[code_width], own[latent]}, seen);
    return seen;
}

inline constexpr architecture vq{
    .model_type = "chameleon_vqgan",
    .prefix = "ChameleonVQVAE",
    .base = see,
    .read = read_vq,
    .own = vq_keys,
    .rotated = rotation::none,
    .names = {.model_type = ""},
    .defaults = {.hidden_size = 256, .num_hidden_layers = 1},
};

constexpr media_shapes show(const model& m, const workload&) {
    const own_sizes& of = m.beside[0].dims.own;
    const std::int64_t side = codes_along(of);
    return {.image = {.tokens = side * side, .height = of[resolution], .width = of[resolution]}};
}

/// Words, those that images' codes mean among them, layers.
constexpr value base(const site& here, trace& t) {
    const decoder_names& n = here.row.names;
    value x = embed_words(here, t);
    {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const recorder::workload_guard shown{t, pictures(t.load(), images_in(t), 0, 0)};
        (void)describe_tower(here, t, 0, "vqmodel", role::vision);
        const recorder::called_again_guard again{t};
        const std::int64_t side = codes_along(here.whole.beside[0].dims.own);
        const embedding table{here.dims.vocab_size, here.dims.hidden_size};
        x = t.masked_scatter(x, t.call(n.embed_tokens, table, extents{t.load().batch, side * side}));
    }
    const decoder_context shared = here.row.prepare(here, t);
    return normed(here, t, n.norm, describe_layers(here, t, shared, x));
}

/// Each head normed by itself, with a weight and a bias for each of all features.
struct head_norm {
    const site& here;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("LayerNorm"); }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {x.dim(1), x.dim(2)}), bias = t.param("bias", {x.dim(1), x.dim(2)});
        return t.add(t.mul(t.layer_norm(x, 0), weight), bias);
    }
};

constexpr value attend(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    qkv of = project_qkv(here, t, x);
    const auto norm_heads = [&](literal name, value& all, std::int64_t heads) {
        all = t.call(name, head_norm{here}, all.view({-1, heads, dims.head_dim}));
        all = all.view({x.dim(0), x.dim(1), heads * dims.head_dim});
    };
    norm_heads(here.row.names.q_norm, of.q, dims.num_attention_heads);
    norm_heads(here.row.names.k_norm, of.k, dims.num_key_value_heads);
    split_heads(here, of), heads_first(of);
    turn(here, t, of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

enum own : std::uint8_t { norms_after };
inline constexpr own_key keys[]{{"swin_norm", 0, own_value::boolean}};

/// Norms stand in front of both blocks, or behind them under the same names.
constexpr value layer(const site& here, trace& t, const value& x) {
    if (here.dims.own[norms_after] == 0) return layer_normed_before(here, t, x);
    const decoder_names& n = here.row.names;
    const value middle = t.add(x, normed(here, t, n.norm_before_attention, mixed(here, t, x)));
    return t.add(middle, normed(here, t, n.norm_before_feed_forward, here.row.feed(here, t, middle)));
}

}  // namespace chameleon_detail

// transformers/models/chameleon: Llama with a norm for each head; an autoencoder's codes are words
inline constexpr architecture chameleon = [](architecture a) {
    a.drops = {}, a.model_type = "chameleon", a.prefix = "Chameleon", a.base = chameleon_detail::base;
    a.layer = chameleon_detail::layer;
    a.attend = chameleon_detail::attend, a.own = chameleon_detail::keys;
    a.media = chameleon_detail::show, a.reads.images = true, a.heads = composite_heads;
    a.beside[0] = {.key = "vq_config", .otherwise = &chameleon_detail::vq, .always = true};
    a.defaults.vocab_size = 65536, a.defaults.max_position_embeddings = 4096;
    a.defaults.head = head_kind::conditional_generation;
    return a;
}(llama);

}  // namespace llmcost::arch
