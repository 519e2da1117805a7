// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/reading/sound_files.hpp>
#include <llmcost/walks/attention.hpp>
#include <llmcost/walks/packed.hpp>
#include <llmcost/walks/sound.hpp>

// What Phi-4 multimodal hears: convolutions that leave every eighth frame, a conformer with learned biases of distances.
namespace llmcost::arch {

namespace phi4_multimodal_detail {

enum audio_own : std::uint8_t {
    times,
    kernel,
    mels,
    reduction,
    distance,
    symmetric,
    planes,
    rate,
    conv_act,
    glu_act,
    plane_act,
    final_mels
};
inline constexpr own_key audio_keys[]{
    {"depthwise_multiplier", 1},
    {"kernel_size", 3},
    {"input_size", 80},
    {"time_reduction", 8},
    {"bias_max_distance", 1000},
    {"bias_symmetric", 0, own_value::boolean},
    {"nemo_conv_channels", 1024},
    {"downsample_rate", 1},
    {.otherwise = static_cast<std::int64_t>(activation::swish), .value = own_value::computed},
    {.otherwise = static_cast<std::int64_t>(activation::swish), .value = own_value::computed},
    {.otherwise = static_cast<std::int64_t>(activation::relu), .value = own_value::computed},
    {.value = own_value::computed},  // what the convolutions leave of mel bins
};

/// Frames behind so many convolutions, each of which leaves every other one.
[[nodiscard]] constexpr std::int64_t halved(std::int64_t frames, std::int64_t by) noexcept {
    for (; by > 1; by /= 2) frames = (frames + 1) / 2;
    return frames;
}

constexpr void read_audio(config_view config, sizes& s) {
    const auto act = [&](literal key, audio_own place) {
        if (const auto name = config.optional_string(key))
            s.own[place] = static_cast<std::int64_t>(activation_named(config, key, *name));
    };
    act("conv_activation", conv_act), act("conv_glu_type", glu_act), act("nemo_activation", plane_act);
    if (s.own[reduction] % 2 != 0) fail_value(config, "time_reduction", "an even number");
    if (s.own[reduction] >= 128) fail_unsupported(config, "time_reduction", "no row describes more than 6 convolutions");
    // a saved configuration says it, too, and counts (configuration_phi4_multimodal.py, `__post_init__`)
    s.own[final_mels] = config.positive("nemo_final_size", halved(s.own[mels], s.own[reduction]));
    for (const literal key : {"ext_pw_out_channel", "depthwise_separable_out_channel"})
        if (config.positive(key, 1024) != s.hidden_size)
            fail_value(config, key, "the hidden_size, as a layer's convolutions read each other");
    plan_one_mask(config, s);
}

constexpr activation act_of(const site& here, audio_own which) { return static_cast<activation>(here.dims.own[which]); }

/// Frames less a mean, times a deviation's reciprocal, both buffers.
struct frame_norm {
    const site& here;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioMeanVarianceNormLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        value numbers = trace::buffer({here.dims.own[mels]});
        numbers.type = x.type;
        t.owns_buffer(count(2) * count(numbers.elements) * count(bits_of(x.type)) / count(8));
        return t.mul(t.sub(x, numbers), numbers);
    }
};

/// Convolutions over time and mel bins; the activation between them is one module, and no child of their list.
struct subsampling {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioNemoConvSubsampling"); }
    constexpr value describe(trace& t, const value& sound) const {
        constexpr literal names[][2]{{"0", ""}, {"2", "3"}, {"5", "6"}, {"8", "9"}, {"11", "12"}, {"14", "15"}};
        const own_sizes& own = here.dims.own;
        const module_info list{.name = "conv", .type = {"", "Sequential"}};
        const std::int64_t p = own[planes], batch = sound.dim(0);
        value x = sound.unsqueeze(1);
        int i = 0;
        for (std::int64_t left = own[reduction]; left > 1; left /= 2, ++i) {
            t.enter(list);
            x = t.call(names[i][0], convolution_2d{x.dim(1), p, 3, 2, 1, x.dim(1)}, x);
            if (i > 0) x = t.call(names[i][1], convolution_2d{p, p}, x);
            (void)t.leave(list, x);
            x = t.call("act_fn", activation_module{act_of(here, plane_act)}, x);
        }
        const std::int64_t states = x.dim(2);
        // declared only, it is as wide as it says, which frames may not fit
        const value flat = hears(t) ? t.reshape(x.transpose(1, 2), {batch, states, -1})
                                    : trace::buffer({batch, states, p * own[final_mels]});
        x = t.call("out", linear{p * own[final_mels], here.dims.hidden_size, true}, flat);
        if (batch > 1) (void)t.unary(op::absolute, t.div(trace::buffer({batch})));  // where recordings end, rounded up
        return x;
    }
};

/// A gate between two projections, dropout behind each.
struct audio_feed_forward {
    const site& here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioMLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const value normed = t.call("layer_norm", norm<norm_kind::layer>{width}, x);
        const value both = t.call("gate_up_proj", linear{width, 2 * inner, true}, normed);
        const value gate = t.call("act_fn", activation_module{here.dims.hidden_act}, both.slice(-1, inner));
        const value h = dropout(t, "dropout", t.mul(both.slice(-1, inner), gate));
        return dropout(t, "dropout", t.call("down_proj", linear{inner, width, true}, h));
    }
};

struct audio_attention {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        qkv of = project_qkv(here, t, x);
        split_heads(here, of), heads_first(of);
        const context all{.sequence = x.dim(1), .causal = false};
        const value mixed = eager_attention(t, of.q, of.k, of.v, all, {.mask = &here.shared->mask});
        return join(here, t, t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1})));
    }
};

/// Half of the channels times an activation of the other half, each with a bias: (B, S, width) -> the same.
struct gated_projection {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioGluPointWiseConv"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const value b1 = t.param("b1", {1, width, 1}), b2 = t.param("b2", {1, width, 1});
        const value both = t.call("ext_pw_conv_1d", convolution_1d{width, 2 * width}, x.permute({0, 2, 1}));
        const value half = t.add(t.slice(both, 1, width), b1), other = t.add(t.slice(both, 1, width), b2);
        return t.mul(half, t.call("glu_act", activation_module{act_of(here, glu_act)}, other)).permute({0, 2, 1});
    }
};

/// A convolution of each channel, then one over channels.
struct separable_convolution {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioDepthWiseSeparableConv1d"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, wide = width * here.dims.own[times], k = here.dims.own[kernel];
        const value apart = t.call("dw_conv", convolution_1d{width, wide, k, 1, k - 1, width}, x);
        return t.call("pw_conv", convolution_1d{wide, width}, apart);
    }
};

/// Places hear those before them: what the convolution's zeros at the end give is cut off.
struct convolution_module {
    const site& here;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioConvModule"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, k = here.dims.own[kernel];
        const value gated = t.call("glu", gated_projection{here}, t.call("layer_norm", norm<norm_kind::layer>{width}, x));
        value h = t.call("dw_sep_conv_1d", separable_convolution{here}, gated.permute({0, 2, 1}));
        if (k > 1) h = t.slice(h, 2, h.dim(2) - (k - 1));
        h = t.call("act", activation_module{act_of(here, conv_act)}, h);
        return dropout(t, "dropout", t.call("ext_pw_conv_1d", convolution_1d{width, width}, h).permute({0, 2, 1}));
    }
};

struct audio_layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioConformerEncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> normed{here.dims.hidden_size};
        value h = t.add(x, t.mul(t.call("feed_forward_in", audio_feed_forward{here}, x)));
        h = t.add(h, t.call("self_attn", audio_attention{here}, t.call("layer_norm_att", normed, h)));
        h = t.add(h, t.call("conv", convolution_module{here}, h));
        h = t.add(h, t.mul(t.call("feed_forward_out", audio_feed_forward{here}, h)));
        return t.call("layer_norm", normed, h);
    }
};

/// A bias of each head for each distance of two places: (1, heads, S, S).
constexpr value distance_biases(const site& here, trace& t, std::int64_t places) {
    const std::int64_t heads = here.dims.num_attention_heads;
    const std::int64_t rows = here.dims.own[distance] * (here.dims.own[symmetric] != 0 ? 1 : 2);
    const module_info biases{.name = "relative_attention_bias_layer", .type = here.type("AudioRelativeAttentionBias")};
    t.enter(biases);
    const value each = t.call("bias_values", embedding{rows, heads}, extents{places, places});
    return t.leave(biases, each.permute({2, 0, 1}).unsqueeze(0));
}

/// How many states attend to each other; a longer recording is cut into parts of as many (`unfold_tensor`).
inline constexpr std::int64_t longest_part = 500;

constexpr value cut_into_parts(trace& t, const value& states) {
    const std::int64_t parts = (states.dim(1) + longest_part - 1) / longest_part, width = states.dim(2);
    if (states.dim(0) > 1)
        report_description(
            "recordings of more than 500 states are described one at a time: the reference joins no batch of them");
    if (t.training()) report_description("no price is known of a step back through recordings of more than 500 states");
    const std::int64_t added = parts * longest_part - states.dim(1);
    const value x = added > 0 ? t.pad(states, 1, added) : states;
    const value columns = t.pad_to(x, {1, width * longest_part, parts}).view({1, width, longest_part, parts});  // `F.unfold`
    return t.contiguous(columns.permute({0, 3, 2, 1}).view({parts, longest_part, width}));
}

/// Frames of a recording; of a second where nothing is heard.
[[nodiscard]] constexpr std::int64_t frames_in(const trace& t, const sound_settings& sound) {
    return filter_bank_frames(sound, hears(t) ? samples_of(sound, t.load()) : sound.rate);
}

/// A conformer over normed frames: (B, frames, mels) -> (B, states, width).
constexpr value hear(const site& here, trace& t) {
    const std::int64_t batch = t.load().batch, width = here.dims.hidden_size, factor = here.dims.own[reduction];
    if (hears(t) && (factor & (factor - 1)) != 0)
        report_description("time_reduction: the reference makes a mask for as many states only of a power of two");
    const value frames =
        t.call("encoder_embedding", frame_norm{here}, t.input({batch, frames_in(t, here.whole.sound), here.dims.own[mels]}));
    value x = t.call("embed", subsampling{here}, frames);
    const std::int64_t states = x.dim(1);
    const bool parts = states > longest_part;
    if (parts) x = cut_into_parts(t, x);
    const value biases = distance_biases(here, t, x.dim(1));
    value seen = trace::buffer({x.dim(0), 1, x.dim(1), x.dim(1)});  // truth values: what is no padding
    seen.type = biases.type;
    const shared_values made{.mask = t.add(seen, biases)};
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"encoders", each.index()}, audio_layer{here.at(each, made)}, x);
    if (!parts) return x;
    x = x.view({batch, -1, width});
    return x.dim(1) > states ? t.slice(x, 1, states) : x;
}

/// One token for every eighth frame, as the feature extractor counts by itself.
constexpr sound_shape show_sound(const model& m, const workload& load) {
    if (load.audio_milliseconds == 0) return {};
    const std::int64_t samples = samples_of(m.sound, load), frames = filter_bank_frames(m.sound, samples);
    return {.tokens = (frames + 7) / 8, .samples = samples, .frames = frames};
}

/// Source: transformers/models/phi4_multimodal/feature_extraction_phi4_multimodal.py.
constexpr void read_sound(config_view config, model& m) {
    const auto told = extractor_told(config);
    if (!told) return;
    expect_extractor(*told, "Phi4MultimodalFeatureExtractor");
    expect_bands(*told, {"feature_size"}, m.beside[1].dims.own[mels]);
    expect_number(*told, "audio_compression_rate", 8, "8, the frames that a token stands for");
    for (const literal key : {"audio_downsample_rate", "audio_feat_stride"})
        expect_number(*told, key, 1, "1: a token for every eighth frame");
    m.sound.rate = told->positive("sampling_rate", m.sound.rate);
    read_frames(*told, m.sound);
}

/// Sound in the places of the words that stand for it; beside images it has projections of its own
/// (`Phi4MultimodalAudioEmbedding`).
constexpr value place_sound(const site& here, trace& t, const value& words) {
    const bool sounds = hears(t), beside_images = sees_images(t);
    const recorder::idle_guard silent{t, !sounds};
    const sizes& dims = here.whole.beside[1].dims;
    const std::int64_t wide = here.dims.hidden_size, heard = dims.hidden_size * dims.own[rate], batch = t.load().batch;
    const module_info m{.name = "audio_embed", .type = here.type("AudioEmbedding")};
    t.enter(m);
    const value states = describe_tower(here, t, 1, "encoder", role::audio);
    if (sounds && dims.own[rate] != 1) report_description("downsample_rate: the reference puts no states side by side");
    const auto project = [&](literal up, literal down, bool called) {
        const recorder::idle_guard other{t, !called};
        const value from = called && sounds ? states : trace::buffer({batch, 1, heard});
        const value h = t.unary(op::gelu, t.call(up, projector_linear{heard, wide, true}, from));
        return t.call(down, projector_linear{wide, wide, true}, h);
    };
    const value of_sound = project("up_proj_for_speech", "down_proj_for_speech", !beside_images);
    const value beside = project("up_proj_for_vision_speech", "down_proj_for_vision_speech", beside_images);
    const value& all = beside_images ? beside : of_sound;
    value placed = words;
    if (sounds) {
        const std::int64_t tokens = show_sound(here.whole, t.load()).tokens;
        if (tokens > all.dim(1)) report_description("time_reduction: fewer states than the tokens of a feature extractor's");
        value each = t.select_each(all, 0, batch);
        if (tokens < all.dim(1)) each = t.slice(each, 0, tokens);
        placed = t.masked_scatter(words, t.cat({side_by_side(each, 0, batch)}, 0));
    }
    return t.leave(m, dropout(t, "drop", placed, dropout_of::embeddings));
}

}  // namespace phi4_multimodal_detail

// transformers/models/phi4_multimodal, Phi4MultimodalAudioConfig
inline constexpr architecture phi4_multimodal_audio{
    .model_type = "phi4_multimodal_audio",
    .prefix = "Phi4Multimodal",
    .base = phi4_multimodal_detail::hear,
    .read = phi4_multimodal_detail::read_audio,
    .own = phi4_multimodal_detail::audio_keys,
    .rotated = rotation::none,
    .names = {.model_type = "AudioModel"},
    .keys = {{"num_hidden_layers", "num_blocks", key_rule::written_only},
             {"hidden_act", "activation", key_rule::written_only}},
    .defaults = {.hidden_size = 1024,
                 .intermediate_size = 1536,
                 .num_hidden_layers = 24,
                 .num_attention_heads = 16,
                 .hidden_act = activation::swish,
                 .attention_bias = true,
                 .output_bias = true},
};

}  // namespace llmcost::arch
