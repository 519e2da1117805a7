// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/heads.hpp>
#include <llmcost/layers/mlp.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/reading/sound_files.hpp>
#include <llmcost/walks/attention.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/sound.hpp>
#include <llmcost/walks/tower.hpp>

// A conformer whose first layers halve the number of places, and which reads its own labels in the middle.
namespace llmcost::arch {

namespace granite_speech5_detail {

enum own : std::uint8_t { mels, block, kernel, conv_times, halving };
inline constexpr own_key keys[]{
    {"num_mel_bins", 80},
    {"context_size", 128},
    {"conv_kernel_size", 7},
    {"conv_expansion_factor", 2},
    {.otherwise = 3, .value = own_value::computed},  // a bit for each layer that halves
};
inline constexpr std::int64_t most_layers = 62;

/// Whole frames, each beside its change, two of them a place; samples are filled up to those of the last.
[[nodiscard]] constexpr std::int64_t places_of(const sound_settings& sound, const workload& load) {
    const std::int64_t samples = samples_of(sound, load), places = (samples / sound.hop + 1) / 2;
    const std::int64_t needed = (2 * places - 1) * sound.hop + 1;
    if (places < 1 || (samples > needed ? samples : needed) <= sound.transform / 2)
        report_description("the recording is shorter than what its spectrum is made of");
    return places;
}
constexpr media_shapes show(const model& m, const workload& load) {
    return {.audio = {.samples = samples_of(m.sound, load), .frames = places_of(m.sound, load)}};
}
/// Source: transformers/models/granite_speech5/feature_extraction_granite_speech5.py.
constexpr void read_sound(config_view config, model& m) {
    const auto told = extractor_told(config);
    if (!told) return;
    expect_extractor(*told, "GraniteSpeech5FeatureExtractor");
    expect_bands(*told, {"num_mel_bins"}, m.beside[0].kind != nullptr ? m.beside[0].dims.own[mels] : m.dims.own[mels]);
    m.sound.rate = told->positive("sampling_rate", m.sound.rate);
    read_frames(*told, m.sound);
}

/// Attention within blocks of so many places, with learned distances (Shaw); the last block is filled up with zeros, which a
/// mask hides.
struct block_attention {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderAttention"); }
    constexpr value describe(trace& t, const value& states) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = here.dims.head_dim;
        const std::int64_t batch = states.dim(0), places = states.dim(1), size = here.dims.own[block];
        const std::int64_t blocks = (places + size - 1) / size, all = batch * blocks;
        const bool fills = places % size != 0;
        const value x = fills ? t.pad(states, 1, blocks * size - places) : states;
        const auto split = [&](literal name) {
            return t.reshape(t.call(name, linear{width, heads * d}, x), {all, size, heads, d}).transpose(1, 2);
        };
        const value q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
        const embedding table{2 * here.dims.max_position_embeddings + 1, d};
        const value rows = t.mul(t.call("rel_pos_emb", table, extents{size, size}));
        const value asked = t.reshape(q.permute({2, 0, 1, 3}), {size, all * heads, d});
        const value found = t.matmul(asked, rows.transpose(1, 2)).view({size, all, heads, size});
        value bias = t.contiguous(found.permute({1, 2, 0, 3}));
        if (fills) bias = t.where(bias);
        const value mixed = eager_attention(t, q, k, v, {.sequence = size, .causal = false}, {.mask = &bias});
        const value joined = t.reshape(mixed, {batch, blocks * size, heads * d});
        return t.call("o_proj", linear{heads * d, width, true}, t.slice(joined, 1, places));
    }
};

struct convolution_module {
    const site& here;
    std::int64_t stride;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderConvolutionModule"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = width * here.dims.own[conv_times];
        const std::int64_t k = here.dims.own[kernel];
        const value gated = t.glu(t.call("pointwise_lin1", linear{width, 2 * inner, true}, x), -1);
        const convolution_1d by_channel{inner, inner, k, stride, (k - 1) / 2, inner, false};
        const value heard = t.call("depthwise_conv", by_channel, gated.transpose(1, 2));
        const value normed = t.silu(t.call("norm", batch_norm_2d{inner, "BatchNorm1d"}, heard));
        return t.call("pointwise_lin2", linear{inner, width, true}, normed.transpose(1, 2));
    }
};

/// A block of a conformer; one that halves adds the means of neighbours to what a convolution of stride 2 hears.
struct encoder_block {
    site here;
    bool halves;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const {
        return here.type(halves ? literal("EncoderSubsamplingBlock") : literal("EncoderBlock"));
    }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> normed{here.dims.hidden_size};
        const mlp<mlp_kind::plain> block{
            here.dims.hidden_size,    here.dims.intermediate_size,
            here.dims.hidden_act,     here.type("EncoderFeedForward"),
            here.dims.attention_bias, {.up = "linear1", .down = "linear2", .act = "activation"}};
        value h = t.add(x, t.mul(t.call("feed_forward1", block, t.call("norm_feed_forward1", normed, x))));
        h = t.add(h, t.call("self_attn", block_attention{here}, t.call("norm_self_att", normed, h)));
        const value heard = t.call("conv", convolution_module{here, halves ? 2 : 1}, t.call("norm_conv", normed, h));
        h = halves ? t.add(means(t, h), t.slice(heard, 1, h.dim(1) / 2)) : t.add(h, heard);
        h = t.add(h, t.mul(t.call("feed_forward2", block, t.call("norm_feed_forward2", normed, h))));
        return t.call("norm_out", normed, h);
    }

private:
    /// `unfold(1, 2, 2).mean(-1)`: a last place without a neighbour is dropped.
    static constexpr value means(trace& t, const value& x) {
        const std::int64_t half = x.dim(1) / 2;
        if (half < 1) report_description("the recording is shorter than places that are halved");
        return t.mean(t.slice(x, 1, 2 * half).view({x.dim(0), half, 2, x.dim(2)}).transpose(2, 3), -1);
    }
};

constexpr value hear(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t width = here.dims.hidden_size, layers = here.dims.num_hidden_layers, labels = here.dims.vocab_size;
    t.owns_buffer(count(8) * count(own[block]) * count(own[block]));  // `attention_dists`
    const value sound = t.input({t.load().batch, places_of(here.whole.sound, t.load()), 4 * own[mels]});
    value x = t.call("input_linear", linear{4 * own[mels], width, true}, sound);
    const shared_values nothing;
    const auto halves = [&](std::int64_t i) { return (own[halving] >> i & 1) != 0; };
    const auto run = [&](std::int64_t first, std::int64_t end) {
        for (std::int64_t i = first, n = 1; i < end; i += n, n = 1) {
            while (!halves(i) && i + n < end && !halves(i + n)) ++n;
            for (repetition each = t.repeat(n, x, i); each.next();)
                x = t.call({"layers", each.index()}, encoder_block{here.at(each, nothing), halves(i)}, x);
        }
    };
    run(0, layers / 2);
    {
        const recorder::idle_guard no_middle{t, layers / 2 == 0};
        const value scores = t.call("out", linear{width, labels, true}, x);
        x = t.add(x, t.call("out_mid", linear{labels, width, true}, t.softmax(scores)));
    }
    run(layers / 2, layers);
    return x;
}

constexpr void read_encoder(config_view config, sizes& s) {
    if (s.own[block] > s.max_position_embeddings) fail_value(config, "context_size", "at most max_position_embeddings");
    if (s.own[kernel] % 2 == 0) fail_value(config, "conv_kernel_size", "an odd number");
    if (s.num_key_value_heads != s.num_attention_heads)
        fail_value(config, "num_key_value_heads", "as many as attention heads, which keys and values have");
    if (s.num_hidden_layers > most_layers) fail_unsupported(config, "num_hidden_layers", "no row describes so many layers");
    if (const auto list = config.optional_array("subsample_layers")) {
        s.own[halving] = 0;
        for (const config_view layer : *list) {
            const std::int64_t i = layer.as_non_negative();
            if (i < s.num_hidden_layers) s.own[halving] |= std::int64_t{1} << i;
        }
    }
    plan_one_mask(config, s);
}

constexpr value describe(const site& here, trace& t) {
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    t.enter(whole);
    const value x = describe_tower(here, t, 0, "encoder", role::encoder);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    const bool tied = here.dims.tie_word_embeddings;
    const linear head{x.dim(-1), here.dims.vocab_size, true, tied, tied};
    return t.leave(whole, t.returns(x, t.call("ctc_head", head_linear{head}, x)));
}

constexpr void check(config_view config, model& m) {
    if (m.dims.tie_word_embeddings && m.beside[0].dims.vocab_size != m.dims.vocab_size)
        fail_value(config, "vocab_size", "that of encoder_config, to whose labels the head is tied");
}

}  // namespace granite_speech5_detail

// transformers/models/granite_speech5, GraniteSpeech5EncoderConfig
inline constexpr architecture granite_speech5_encoder{
    .model_type = "granite_speech5_encoder",
    .prefix = "GraniteSpeech5",
    .describe = describe_bare,
    .base = granite_speech5_detail::hear,
    .read = granite_speech5_detail::read_encoder,
    .read_sound = granite_speech5_detail::read_sound,
    .own = granite_speech5_detail::keys,
    .media = granite_speech5_detail::show,
    .reads = {.text = false, .audio = true},
    .sound = {.transform = 512},
    .rotated = rotation::none,
    .heads = {head_kind::none},
    .names = {.model_type = "Encoder"},
    .keys = {no_mlp_bias},
    .defaults = {.vocab_size = 16384,
                 .hidden_size = 1024,
                 .intermediate_size = 4096,
                 .num_hidden_layers = 16,
                 .num_attention_heads = 8,
                 .max_position_embeddings = 512,
                 .hidden_act = activation::silu,
                 .head = head_kind::none,
                 .attention_bias = true},
};

// transformers/models/granite_speech5, GraniteSpeech5CTCConfig: labels at every place of an encoder
inline constexpr architecture granite_speech5_ctc = [](architecture a) {
    a.model_type = "granite_speech5_ctc", a.prefix = "GraniteSpeech5", a.describe = granite_speech5_detail::describe;
    a.media = granite_speech5_detail::show, a.reads = {.text = false, .audio = true}, a.rotated = rotation::none;
    a.read_sound = granite_speech5_detail::read_sound, a.sound = {.transform = 512};
    a.beside[0] = {.key = "encoder_config", .otherwise = &granite_speech5_encoder};
    a.read_whole = granite_speech5_detail::check, a.heads = {head_kind::ctc}, a.defaults.head = head_kind::ctc;
    a.defaults.vocab_size = 16384, a.defaults.hidden_size = 1, a.defaults.num_hidden_layers = 1;
    a.defaults.tie_word_embeddings = true;
    return a;
}(architecture{});

}  // namespace llmcost::arch
