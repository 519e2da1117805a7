// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/idle.hpp>

namespace llmcost::arch {

namespace emu3_detail {

/// Resolutions that an autoencoder may have.
constexpr std::size_t most_levels = 8;

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
    plan_one_mask(config, s);
}

/// The autoencoder's modules, in the words of those that stand idle.
struct autoencoder {
    const site& here;
    idle_modules& held;

    [[nodiscard]] constexpr std::int64_t own(own which) const { return here.dims.own[which]; }
    [[nodiscard]] constexpr std::int64_t width(std::int64_t level) const {
        return own(base_channels) * here.dims.own[factors + static_cast<std::size_t>(level)];
    }
    [[nodiscard]] constexpr bool attends(std::int64_t level) const { return (own(attending) >> level & 1) != 0; }
    [[nodiscard]] constexpr std::int64_t halvings() const {
        std::int64_t n = 0;
        for (std::int64_t left = own(frames); left > 1; left /= 2) ++n;
        return n;
    }
    constexpr void conv2d(literal name, std::int64_t in, std::int64_t out, std::int64_t kernel) const {
        held.weighted(name, {"", "Conv2d"}, {out, in, kernel, kernel});
    }
    constexpr void conv3d(literal name, std::int64_t in, std::int64_t out, const extents& kernel) const {
        held.within(name, here.type("Conv3d"), [&] {
            held.weighted("conv", {"", "Conv3d"}, {out, in, kernel.size[0], kernel.size[1], kernel.size[2]});
        });
    }
    constexpr void group_norm(module_place at, std::int64_t channels, class_name type = {"", "GroupNorm"}) const {
        held.weighted(at, type, {channels});
    }
    /// A norm of groups; where an image is made, scaled and shifted by its codes.
    constexpr void norm(module_place at, std::int64_t channels, bool by_codes, class_name plain = {"", "GroupNorm"}) const {
        if (!by_codes) return group_norm(at, channels, plain);
        held.within(at, here.type("SpatialNorm"), [&] {
            group_norm("norm_layer", channels);
            conv2d("conv_y", own(code_width), channels, 1);
            conv2d("conv_b", own(code_width), channels, 1);
        });
    }
    constexpr void block(module_place at, std::int64_t in, std::int64_t out, bool by_codes) const {
        held.within(at, here.type("ResnetBlock"), [&] {
            norm("norm1", in, by_codes);
            norm("norm2", out, by_codes);
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
    /// Blocks of one resolution, from so many channels, each perhaps with attention, and what changes the resolution.
    constexpr void level(module_place at, std::int64_t i, std::int64_t in, bool up) const {
        held.within(at, {"", "Module"}, [&] {
            const std::int64_t n = own(blocks) + (up ? 1 : 0), out = width(i);
            for (std::int64_t b = 0; b < n; ++b) block({"block", b}, b == 0 ? in : out, out, up);
            for (std::int64_t b = 0; b < n && attends(i); ++b) {
                attention({"attn", b});
                norm({"attn_norms", b}, out, up);
            }
            if (up ? i != 0 : i + 1 != own(levels))
                held.within(up ? "upsample" : "downsample", here.type(up ? "EncoderConvUpsample" : "EncoderConvDownsample"),
                            [&] { conv2d("conv", out, out, 3); });
        });
    }
    constexpr void middle(bool by_codes) const {
        const std::int64_t in = width(own(levels) - 1);
        held.within("middle_block", here.type("MiddleBlock"), [&] {
            block("block_1", in, in, by_codes);
            attention("attn_1");
            norm("attn_norm", in, by_codes, here.type("GroupNorm"));
            block("block_2", in, in, by_codes);
        });
    }
    constexpr void through_time(std::int64_t channels, bool up) const {
        const class_name resampled = here.type(up ? "TemporalUpsample" : "TemporalDownsample");
        if (const std::int64_t n = halvings(); n > 0)
            held.list("time_conv", n, resampled, [&] { conv3d("conv", channels, channels, {up ? 3 : 4, 3, 3}); });
        held.list("time_res_stack", own(blocks), here.type("TemporalResnetBlock"), [&] {
            held.batch_norm("norm1", channels, "BatchNorm3d");
            conv3d("conv1", channels, channels, {3, 3, 3});
            held.batch_norm("norm2", channels, "BatchNorm3d");
            conv3d("conv2", channels, channels, {3, 3, 3});
        });
    }
    constexpr void encoder() const {
        const std::int64_t last = width(own(levels) - 1), out = own(latent) * (own(twice) != 0 ? 2 : 1);
        conv2d("conv_in", own(in_channels), own(base_channels), 3);
        held.within("down_block", here.type("DownBlock"), [&] {
            std::int64_t in = own(base_channels);
            for (std::int64_t i = 0; i < own(levels); in = width(i++)) level({"down", i}, i, in, false);
        });
        middle(false);
        group_norm("norm_out", last);
        conv2d("conv_out", last, out, 3);
        through_time(out, false);
    }
    constexpr void decoder() const {
        const std::int64_t last = width(own(levels) - 1);
        through_time(own(latent), true);
        conv2d("conv_in", own(latent), last, 3);
        middle(true);
        held.within("up_block", here.type("UpBlock"), [&] {
            for (std::int64_t i = 0; i < own(levels); ++i)
                level({"up", i}, i, i + 1 == own(levels) ? last : width(i + 1), true);
        });
        norm("norm_out", width(0), true);
        conv2d("conv_out", width(0), own(out_channels), 3);
    }
};

/// An autoencoder, whose codes are words of the text model.
constexpr value see(const site& here, trace& t) {
    idle_modules held{t};
    const autoencoder parts{here, held};
    held.within("encoder", here.type("Encoder"), [&] { parts.encoder(); });
    held.within("decoder", here.type("Decoder"), [&] { parts.decoder(); });
    held.within("quantize", here.type("VectorQuantizer"),
                [&] { held.embedding("embedding", here.dims.own[codes], here.dims.own[code_width]); });
    parts.conv3d("quant_conv", here.dims.own[latent], here.dims.own[code_width], {3, 1, 1});
    parts.conv3d("post_quant_conv", here.dims.own[code_width], here.dims.own[latent], {3, 1, 1});
    return {};
}

constexpr value base(const site& here, trace& t) {
    const value x = describe_text(here, t, "text_model");
    (void)describe_tower(here, t, 0, "vqmodel", role::vision);
    return x;
}

constexpr void read_whole(config_view config, model&) {
    if (!config.optional_object("vocabulary_map")) fail_missing(config, "vocabulary_map", "words of images by their names");
}

}  // namespace emu3_detail

inline constexpr dropout_key emu3_dropout[]{{dropout_of::hidden, "attention_dropout", 0.1},
                                            {dropout_of::attention, "attention_dropout", 0.1}};

// transformers/models/emu3, Emu3TextConfig: Llama with a dropout module that both blocks share
inline constexpr architecture emu3_text_model = [](architecture a) {
    a.model_type = "emu3_text_model", a.prefix = "Emu3", a.heads = language_heads;
    a.names.model_type = "TextModel", a.names.attention_dropout = a.names.feed_forward_dropout = "dropout";
    a.defaults.vocab_size = 184622, a.defaults.intermediate_size = 14336, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 9216;
    a.drops = emu3_dropout;
    return a;
}(llama);

// transformers/models/emu3, Emu3VQVAEConfig
inline constexpr architecture emu3_vqgan{
    .model_type = "emu3_vqgan",
    .prefix = "Emu3VQVAE",
    .base = emu3_detail::see,
    .read = emu3_detail::read_vision,
    .own = emu3_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = ""},
    .defaults = {.hidden_size = 1024, .num_hidden_layers = 1},
};

// transformers/models/emu3
inline constexpr architecture emu3 = [](architecture a) {
    a.model_type = "emu3", a.prefix = "Emu3", a.base = emu3_detail::base, a.read_whole = emu3_detail::read_whole;
    a.text = {.key = "text_config", .otherwise = &emu3_text_model, .always = true};
    a.beside[0] = {.key = "vq_config", .otherwise = &emu3_vqgan, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
