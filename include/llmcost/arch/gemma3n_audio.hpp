// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma3n_vision.hpp>
#include <llmcost/layers/activation.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/model/media.hpp>
#include <llmcost/reading/sound_files.hpp>

namespace llmcost::arch {

namespace gemma3n_media_detail {

// the tower for sound: a conformer

enum audio_own : std::uint8_t {
    kernel,
    features,
    bands,
    channels,
    kernels = channels + 2,
    strides = kernels + 4,
    chunk = strides + 4,
    left,
    right,
    reduction
};
inline constexpr own_key audio_keys[]{
    {"conf_conv_kernel_size", 5},
    {"input_feat_size", 128},
    {.value = own_value::computed},
    {.otherwise = 128, .value = own_value::computed},  // `sscp_conv_channel_size`
    {.otherwise = 32, .value = own_value::computed},
    {.otherwise = 3, .value = own_value::computed},  // `sscp_conv_kernel_size`: in time and over features, twice
    {.otherwise = 3, .value = own_value::computed},
    {.otherwise = 3, .value = own_value::computed},
    {.otherwise = 3, .value = own_value::computed},
    {.otherwise = 2, .value = own_value::computed},  // `sscp_conv_stride_size`, likewise
    {.otherwise = 2, .value = own_value::computed},
    {.otherwise = 2, .value = own_value::computed},
    {.otherwise = 2, .value = own_value::computed},
    {"conf_attention_chunk_size", 12},
    {"conf_attention_context_left", 13, own_value::non_negative},
    {"conf_attention_context_right", 0, own_value::non_negative},
    {"conf_reduction_factor", 4},
};

constexpr any_norm audio_norm(const site& here) {
    return {norm_kind::rms_power, here.dims.hidden_size, here.type("RMSNorm")};
}

/// Held between two bounds, which are a buffer and its negative.
constexpr value clip(trace& t, const value& x) {
    (void)t.neg(trace::buffer({}));
    return t.unary(op::clamp, x);
}

/// Zeros in front of a sequence and behind it.
constexpr value pad_sequence(trace& t, const value& x, std::int64_t before, std::int64_t after) {
    extents sizes{x.dim(0), before};
    for (int i = 2; i < x.rank; ++i) sizes.size[sizes.rank++] = x.size[i];
    const value left = t.constant(sizes, x.type);
    sizes.size[1] = after;
    const value right = t.constant(sizes, x.type);
    return t.cat({left, x, right}, 1);
}

/// Each frame by the mean and variance of all before it: (B, frames, bands, channels) -> the same.
struct cumulative_norm {
    class_name named;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = x.dim(3);
        const value weight = t.param("weight", {width});
        const value h = t.to(x, dtype::float32).view({x.dim(0), x.dim(1), x.dim(2) * width});
        const value ones = t.constant({h.dim(0), h.dim(1), h.dim(2)});
        const value sums = t.cumsum(t.sum(h, -1, true), 1);
        const value counts = t.unary(op::compare, t.cumsum(t.sum(ones, -1, true), 1));
        const value mean = t.div(sums, counts);
        const value squares = t.cumsum(t.sum(t.pow(t.sub(h, mean), 2), -1, true), 1);
        const value variance = t.div(squares, counts);
        const value normed = t.mul(t.sub(h, mean), t.rsqrt(t.add(variance)));
        const value scaled = t.mul(normed.view({x.dim(0), x.dim(1), x.dim(2), width}), t.to(weight, dtype::float32));
        return t.to(t.mul(scaled, ones.view({x.dim(0), x.dim(1), x.dim(2), width})), x.type);
    }
};

/// `nn.Conv2d` without padding or bias.
struct sampling_convolution {
    std::int64_t in, out;
    extents kernel, stride;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "Conv2d"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {out, in, kernel.size[0], kernel.size[1]});
        return t.convolution(x, weight, false, {.stride = stride});
    }
};

/// Two convolutions that shorten both time and bands, and a projection: (B, frames, features) -> (B, T, width).
constexpr value sample(const site& here, trace& t, const value& sound) {
    const own_sizes& of = here.dims.own;
    const module_info outer{.name = "subsample_conv_projection", .type = here.type("AudioSubSampleConvProjection")};
    const auto shorten = [&](literal name, std::size_t i, const value& x) {
        const module_info block{.name = name, .type = here.type("AudioSSCPConvBlock")};
        const extents kernel{of[kernels + 2 * i], of[kernels + 2 * i + 1]},
            stride{of[strides + 2 * i], of[strides + 2 * i + 1]};
        t.enter(block);
        const value padded = t.pad_images(x, kernel.size[0] - 1, 2);
        value h = t.call("conv", sampling_convolution{x.dim(1), of[channels + i], kernel, stride}, padded);
        h = t.contiguous(h.permute({0, 2, 3, 1}));
        h = t.contiguous(t.call("norm", cumulative_norm{here.type("AudioCumulativeGroupNorm")}, h).permute({0, 3, 1, 2}));
        return t.leave(block, t.call("activation", activation_module{activation::relu}, h));
    };
    t.enter(outer);
    value x = shorten("conv_1", 1, shorten("conv_0", 0, sound.unsqueeze(1)));
    x = t.contiguous(x.permute({0, 2, 3, 1})).view({x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
    return t.leave(outer, t.call("input_proj_linear", linear{of[channels + 1] * of[bands], here.dims.hidden_size}, x));
}

/// Half of a feed-forward block's sum.
struct audio_feed_forward {
    const site& here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioConformerFeedForward"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        value h = t.call("pre_layer_norm", audio_norm(here), clip(t, x));
        h = t.silu(t.call("ffw_layer_1", linear{width, 4 * width}, h));
        h = clip(t, t.call("ffw_layer_2", linear{4 * width, width}, h));
        return t.add(x, t.mul(t.call("post_layer_norm", audio_norm(here), h)));
    }
};

/// Queries in chunks against their surroundings, by content and by distance; (B, T, width) -> (B, T, heads, d).
struct chunked_attention {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const own_sizes& of = here.dims.own;
        const std::int64_t batch = x.dim(0), n = x.dim(1), width = here.dims.hidden_size;
        const std::int64_t heads = here.dims.num_attention_heads, d = here.dims.head_dim, wide = heads * d;
        const std::int64_t size = of[chunk], past = of[left] > 0 ? of[left] - 1 : 0, reach = size + past + of[right];
        const std::int64_t chunks = (n + size - 1) / size;
        const value scale = t.param("per_dim_scale", {d});
        const auto project = [&](literal name) {
            return t.contiguous(t.reshape(t.call(name, linear{width, wide}, x), {batch, n, heads, d}));
        };
        const auto surroundings = [&](const value& all) {
            const value padded = pad_sequence(t, all, past, of[right] + size - 1);
            return copy_of(t, padded, {batch, chunks, reach, heads, d});
        };
        value q = project("q_proj");
        const value keys = project("k_proj"), values = project("v_proj");
        q = t.mul(t.mul(q), t.softplus(scale).view({1, 1, 1, d}));
        if (chunks * size > n) q = pad_sequence(t, q, 0, chunks * size - n);
        q = t.contiguous(t.reshape(q, {batch, chunks, size, heads, d}));
        const value k = surroundings(keys), v = surroundings(values);
        value scores = compare(t, q, k, past + of[right] + 1);
        scores = t.mul(t.tanh(t.div(scores)));
        t.written(1);  // the lowest number
        scores = t.where(scores);
        const value seen = t.to(t.softmax(t.to(scores, dtype::float32)), v.type);
        const value left_side = t.reshape(seen.permute({0, 2, 1, 3, 4}), {batch * chunks * heads, size, reach});
        const value right_side = t.reshape(v.permute({0, 1, 3, 2, 4}), {batch * chunks * heads, reach, d});
        const value mixed = t.bmm(left_side, right_side).view({batch, chunks, heads, size, d}).permute({0, 1, 3, 2, 4});
        return t.slice(t.reshape(mixed, {batch, chunks * size, heads, d}), 1, n);
    }

private:
    /// Windows of a sequence that overlap, copied.
    static constexpr value copy_of(trace& t, const value& from, const extents& to) {
        value out = dense(to, from.type);
        const value* const in[1] = {&from};
        t.record(op::copy, {}, {}, out, in, 1);
        return out;
    }
    /// (B, chunks, size, H, d) against (B, chunks, reach, H, d) and so many distances: (B, H, chunks, size, reach).
    constexpr value compare(trace& t, const value& q, const value& k, std::int64_t distances) const {
        const std::int64_t batch = q.dim(0), chunks = q.dim(1), size = q.dim(2), heads = q.dim(3), d = q.dim(4);
        const std::int64_t reach = k.dim(2), width = here.dims.hidden_size;
        const module_info relative{.name = "relative_position_embedding",
                                   .type = here.type("AudioRelativePositionEmbedding")};
        t.enter(relative);
        const value angles = t.mul(t.constant({1, distances, 1}).expand({1, distances, width / 2}));
        const value waves = t.to(t.cat({t.unary(op::sin, angles), t.unary(op::cos, angles)}, -1), q.type);
        const value places = t.call("pos_proj", linear{width, heads * d}, waves).view({distances, heads, d});
        const value by_content = t.matmul(q.permute({0, 3, 1, 2, 4}), k.permute({0, 3, 1, 4, 2}));
        const value rows = t.reshape(q.permute({0, 3, 1, 2, 4}), {batch, heads, chunks * size, d});
        value by_place = t.matmul(rows, places.permute({1, 2, 0})).view({batch, heads, chunks, size, distances});
        by_place = t.pad(by_place, -1, reach + 1 - distances).view({batch, heads, chunks, size * (reach + 1)});
        by_place = t.reshape(t.slice(by_place, -1, size * reach), {batch, heads, chunks, size, reach});
        return t.leave(relative, t.add(by_content, by_place));
    }
};

struct audio_attention {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioConformerAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        value h = t.call("pre_attn_norm", audio_norm(here), clip(t, x));
        h = t.call("attn", chunked_attention{here}, h);
        h = t.reshape(h, {h.dim(0), h.dim(1), h.dim(2) * h.dim(3)});
        h = clip(t, t.call("post", linear{width, width}, h));
        return t.add(x, t.call("post_norm", audio_norm(here), h));
    }
};

struct light_convolution {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioConformerLightConv1d"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, side = here.dims.own[kernel];
        value h = t.call("linear_start", linear{width, 2 * width}, t.call("pre_layer_norm", audio_norm(here), x));
        h = t.pad(t.glu(h, -1).permute({0, 2, 1}), -1, side - 1);
        h = t.call("depthwise_conv1d", convolution_1d{width, width, side, 1, 0, width, false}, h).permute({0, 2, 1});
        h = t.silu(t.call("conv_norm", audio_norm(here), clip(t, h)));
        return t.add(t.call("linear_end", linear{width, width}, h), x);
    }
};

/// Half of a feed-forward block, chunked attention, a light convolution of what is no padding, the other half.
struct audio_layer {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AudioConformerBlock"); }
    constexpr value describe(trace& t, const value& x) const {
        value h = t.call("ffw_layer_start", audio_feed_forward{here}, x);
        h = t.call("attention", audio_attention{here}, h);
        h = t.mul(h, t.constant({h.dim(0), h.dim(1), 1}, h.type));
        h = t.call("lconv1d", light_convolution{here}, h);
        h = t.call("ffw_layer_end", audio_feed_forward{here}, h);
        return t.call("norm", audio_norm(here), clip(t, h));
    }
};

/// Frames of samples that are filled up to 128, and cut off behind so many.
///
/// Source: feature_extraction_gemma3n.py, `_extract_spectrogram`.
[[nodiscard]] constexpr sound_shape frames_of(const sound_settings& sound, std::int64_t milliseconds) {
    const std::int64_t given = sound.samples_of(milliseconds), samples = given < sound.most ? given : sound.most;
    const std::int64_t padded = (samples + 127) / 128 * 128;
    if (padded < sound.window) report_description("the recording is shorter than a frame of its spectrum");
    return {.samples = samples, .frames = (padded - sound.window) / sound.hop + 1};
}
/// A window of 32 milliseconds and a sample, thirty seconds of 16000 at most.
inline constexpr sound_settings own_sound{.window = 513, .most = 480000};

constexpr void read_frames_by_time(config_view told, sound_settings& s) {
    s.rate = told.positive("sampling_rate", s.rate);
    const double each = static_cast<double>(s.rate) / 1000;
    s.window = rounded_product(told, "frame_length_ms", 32, each) + 1;
    s.hop = rounded_product(told, "hop_length_ms", 10, each);
}

constexpr value audio_base(const site& here, trace& t) {
    const std::int64_t milliseconds = t.load().audio_milliseconds;
    const std::int64_t frames = frames_of(here.whole.sound, milliseconds > 0 ? milliseconds : 1000).frames;
    value x = sample(here, t, t.input({t.load().batch, frames, here.dims.own[features]}));
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"conformer", each.index()}, audio_layer{here}, x);
    const std::int64_t step = here.dims.own[reduction];
    if (step > 1) x = t.slice(x, 1, (x.dim(1) + step - 1) / step, step);
    return t.where(x);
}

/// A list of two, or what is without it.
constexpr std::int64_t of_two(maybe<config_view> list, std::size_t i, std::int64_t otherwise) {
    if (!list) return otherwise;
    if (list->size() != 2) fail_value(*list, "two numbers");
    return (*list)[i].as_positive();
}
constexpr void read_audio(config_view config, sizes& s) {
    const auto wide = config.optional_array("sscp_conv_channel_size");
    const auto sides = config.optional_array("sscp_conv_kernel_size");
    const auto steps = config.optional_array("sscp_conv_stride_size");
    s.own[bands] = s.own[features];
    for (std::size_t i = 0; i < 2; ++i) {
        const auto pair = [&](const maybe<config_view>& all) {
            if (all && all->size() != 2) fail_value(*all, "two pairs of numbers");
            return all ? maybe<config_view>{(*all)[i].as_array()} : maybe<config_view>{};
        };
        s.own[channels + i] = of_two(wide, i, s.own[channels + i]);
        for (std::size_t k = 0; k < 2; ++k) s.own[kernels + 2 * i + k] = of_two(pair(sides), k, s.own[kernels + 2 * i + k]);
        for (std::size_t k = 0; k < 2; ++k) s.own[strides + 2 * i + k] = of_two(pair(steps), k, s.own[strides + 2 * i + k]);
        const std::int64_t padded = s.own[bands] + 2, side = s.own[kernels + 2 * i + 1];
        if (side > padded) fail_value(config, "sscp_conv_kernel_size", "kernels that fit into the features");
        s.own[bands] = (padded - side) / s.own[strides + 2 * i + 1] + 1;
    }
    (void)checked_width(config, "hidden_size", 4, s.hidden_size);
    (void)checked_width(config, "input_feat_size", s.own[channels + 1], s.own[bands]);
}

inline constexpr architecture audio = [](architecture a) {
    a.model_type = "gemma3n_audio", a.prefix = "Gemma3n", a.base = audio_base, a.read = read_audio, a.own = audio_keys;
    a.names.model_type = "AudioEncoder";
    a.keys[0] = {"num_hidden_layers", "conf_num_hidden_layers", key_rule::written_only};
    a.keys[1] = {"num_attention_heads", "conf_num_attention_heads", key_rule::written_only};
    a.keys[2] = {"head_dim", "", key_rule::absent}, a.keys[3] = no_key_value_heads;
    a.defaults.hidden_size = 1536, a.defaults.num_hidden_layers = 12, a.defaults.num_attention_heads = 8;
    return a;
}(part);

}  // namespace gemma3n_media_detail

}  // namespace llmcost::arch
