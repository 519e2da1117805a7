// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma3n_vision.hpp>
#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/layers/activation.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/model/multimodal_inputs.hpp>

namespace llmcost::arch {

namespace gemma3n_media_detail {

// the audio encoder, a conformer

enum audio_config_index : std::uint8_t {
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
inline constexpr family_key audio_keys[]{
    {"conf_conv_kernel_size", 5},
    {"input_feat_size", 128},
    {.type = family_key_type::computed},
    {.default_value = 128, .type = family_key_type::computed},  // `sscp_conv_channel_size`
    {.default_value = 32, .type = family_key_type::computed},
    {.default_value = 3,
     .type = family_key_type::computed},  // `sscp_conv_kernel_size`: time and features of both convolutions
    {.default_value = 3, .type = family_key_type::computed},
    {.default_value = 3, .type = family_key_type::computed},
    {.default_value = 3, .type = family_key_type::computed},
    {.default_value = 2, .type = family_key_type::computed},  // `sscp_conv_stride_size`, in the same order
    {.default_value = 2, .type = family_key_type::computed},
    {.default_value = 2, .type = family_key_type::computed},
    {.default_value = 2, .type = family_key_type::computed},
    {"conf_attention_chunk_size", 12},
    {"conf_attention_context_left", 13, family_key_type::non_negative},
    {"conf_attention_context_right", 0, family_key_type::non_negative},
    {"conf_reduction_factor", 4},
};

constexpr norm_module audio_norm(const layer_context& ctx) {
    return {norm_kind::rms_power, ctx.config.hidden_size, ctx.class_of("RMSNorm")};
}

/// Clamps x between two bounds, a buffer and its negative.
constexpr tensor clip(trace& t, const tensor& x) {
    (void)t.neg(trace::buffer({}));
    return t.clamp(x);
}

/// Pads a sequence with zeros at both ends.
constexpr tensor pad_sequence(trace& t, const tensor& x, std::int64_t left_padding, std::int64_t right_padding) {
    shape sizes{x.dim(0), left_padding};
    for (int i = 2; i < x.rank; ++i) sizes.size[sizes.rank++] = x.size[i];
    const tensor left = t.full(sizes, x.type);
    sizes.size[1] = right_padding;
    const tensor right = t.full(sizes, x.type);
    return t.cat({left, x, right}, 1);
}

/// Normalizes each frame by the mean and variance of all frames up to it: (B, frames, bands, channels).
struct cumulative_norm {
    class_name named;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = x.dim(3);
        const tensor weight = t.param("weight", {width});
        const tensor h = t.to(x, dtype::float32).view({x.dim(0), x.dim(1), x.dim(2) * width});
        const tensor ones = t.full({h.dim(0), h.dim(1), h.dim(2)});
        const tensor sums = t.cumsum(t.sum(h, -1, true), 1);
        const tensor counts = t.clamp_min(t.cumsum(t.sum(ones, -1, true), 1));
        const tensor mean = t.div(sums, counts);
        const tensor squares = t.cumsum(t.sum(t.pow(t.sub(h, mean), 2), -1, true), 1);
        const tensor variance = t.div(squares, counts);
        const tensor centered = t.sub(h, mean);
        const tensor normed = t.mul(centered, t.rsqrt(t.add_scalar(variance)));
        const tensor scaled = t.mul(normed.view({x.dim(0), x.dim(1), x.dim(2), width}), t.to(weight, dtype::float32));
        return t.to(t.mul(scaled, ones.view({x.dim(0), x.dim(1), x.dim(2), width})), x.type);
    }
};

/// `nn.Conv2d` without padding or bias.
struct sampling_convolution {
    std::int64_t in, out;
    shape kernel, stride;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Conv2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {out, in, kernel.size[0], kernel.size[1]});
        return t.conv(x, weight, false, {.stride = stride});
    }
};

/// Subsampling: two convolutions that reduce time and bands, and a projection. (B, frames, features) -> (B, T, width).
constexpr tensor sample(const layer_context& ctx, trace& t, const tensor& sound) {
    const family_config& family = ctx.config.family;
    const module_info outer{.name = "subsample_conv_projection",
                            .class_of_module = ctx.class_of("AudioSubSampleConvProjection")};
    const auto shorten = [&](literal name, std::size_t i, const tensor& x) {
        const module_info block{.name = name, .class_of_module = ctx.class_of("AudioSSCPConvBlock")};
        const shape kernel{family[kernels + 2 * i], family[kernels + 2 * i + 1]},
            stride{family[strides + 2 * i], family[strides + 2 * i + 1]};
        t.enter(block);
        const tensor padded = t.pad_images(x, kernel.size[0] - 1, 2);
        tensor h = t.call("conv", sampling_convolution{x.dim(1), family[channels + i], kernel, stride}, padded);
        h = t.contiguous(h.permute({0, 2, 3, 1}));
        h = t.contiguous(
            t.call("norm", cumulative_norm{ctx.class_of("AudioCumulativeGroupNorm")}, h).permute({0, 3, 1, 2}));
        return t.leave(block, t.call("activation", activation_module{activation::relu}, h));
    };
    t.enter(outer);
    tensor x = shorten("conv_1", 1, shorten("conv_0", 0, sound.unsqueeze(1)));
    x = t.contiguous(x.permute({0, 2, 3, 1})).view({x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
    return t.leave(
        outer, t.call("input_proj_linear", linear{family[channels + 1] * family[bands], ctx.config.hidden_size}, x));
}

/// MLP with half of its output added to the residual.
struct audio_conformer_feed_forward {
    const layer_context& ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioConformerFeedForward"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        tensor h = t.call("pre_layer_norm", audio_norm(ctx), clip(t, x));
        h = t.silu(t.call("ffw_layer_1", linear{width, 4 * width}, h));
        h = clip(t, t.call("ffw_layer_2", linear{4 * width, width}, h));
        return t.add(x, t.mul_scalar(t.call("post_layer_norm", audio_norm(ctx), h)));
    }
};

/// Local attention of query chunks to their context, with relative positions: (B, T, width) -> (B, T, heads, d).
struct chunked_attention {
    const layer_context& ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const family_config& family = ctx.config.family;
        const std::int64_t batch = x.dim(0), n = x.dim(1), width = ctx.config.hidden_size;
        const std::int64_t heads = ctx.config.num_attention_heads, d = ctx.config.head_dim, expanded_width = heads * d;
        const std::int64_t size = family[chunk], past = family[left] > 0 ? family[left] - 1 : 0,
                           reach = size + past + family[right];
        const std::int64_t chunks = (n + size - 1) / size;
        const tensor scale = t.param("per_dim_scale", {d});
        const auto project = [&](literal name) {
            return t.contiguous(t.reshape(t.call(name, linear{width, expanded_width}, x), {batch, n, heads, d}));
        };
        const auto surroundings = [&](const tensor& all) {
            const tensor padded = pad_sequence(t, all, past, family[right] + size - 1);
            return copy_of(t, padded, {batch, chunks, reach, heads, d});
        };
        tensor q = project("q_proj");
        const tensor family_keys = project("k_proj"), values = project("v_proj");
        const tensor head_scale = t.softplus(scale).view({1, 1, 1, d});
        q = t.mul(t.mul_scalar(q), head_scale);
        if (chunks * size > n) q = pad_sequence(t, q, 0, chunks * size - n);
        q = t.contiguous(t.reshape(q, {batch, chunks, size, heads, d}));
        const tensor k = surroundings(family_keys), v = surroundings(values);
        tensor scores = compare(t, q, k, past + family[right] + 1);
        scores = t.mul_scalar(t.tanh(t.div_scalar(scores)));
        t.add_written_elements(1);  // the lowest number of the type
        scores = t.masked_fill(scores);
        const tensor features = t.to(t.softmax(t.to(scores, dtype::float32)), v.type);
        const tensor left_side = t.reshape(features.permute({0, 2, 1, 3, 4}), {batch * chunks * heads, size, reach});
        const tensor right_side = t.reshape(v.permute({0, 1, 3, 2, 4}), {batch * chunks * heads, reach, d});
        const tensor mixed =
            t.bmm(left_side, right_side).view({batch, chunks, heads, size, d}).permute({0, 1, 3, 2, 4});
        return t.slice(t.reshape(mixed, {batch, chunks * size, heads, d}), 1, n);
    }

private:
    /// Copies overlapping windows of a sequence.
    static constexpr tensor copy_of(trace& t, const tensor& source, const shape& to) {
        tensor out = empty_tensor(to, source.type);
        const tensor* const in[1] = {&source};
        t.record_op(op::copy, {}, {}, out, in, 1);
        return out;
    }
    /// Attention scores: q (B, chunks, size, H, d), k (B, chunks, reach, H, d) and relative positions -> (B, H, chunks,
    /// size, reach).
    constexpr tensor compare(trace& t, const tensor& q, const tensor& k, std::int64_t distances) const {
        const std::int64_t batch = q.dim(0), chunks = q.dim(1), size = q.dim(2), heads = q.dim(3), d = q.dim(4);
        const std::int64_t reach = k.dim(2), width = ctx.config.hidden_size;
        const module_info relative{.name = "relative_position_embedding",
                                   .class_of_module = ctx.class_of("AudioRelativePositionEmbedding")};
        t.enter(relative);
        const tensor angles = t.mul_scalar(t.full({1, distances, 1}).expand({1, distances, width / 2}));
        const tensor waves = t.to(t.cat({t.sin(angles), t.cos(angles)}, -1), q.type);
        const tensor places = t.call("pos_proj", linear{width, heads * d}, waves).view({distances, heads, d});
        const tensor by_content = t.matmul(q.permute({0, 3, 1, 2, 4}), k.permute({0, 3, 1, 4, 2}));
        const tensor rows = t.reshape(q.permute({0, 3, 1, 2, 4}), {batch, heads, chunks * size, d});
        tensor by_place = t.matmul(rows, places.permute({1, 2, 0})).view({batch, heads, chunks, size, distances});
        by_place = t.pad(by_place, -1, reach + 1 - distances).view({batch, heads, chunks, size * (reach + 1)});
        by_place = t.reshape(t.slice(by_place, -1, size * reach), {batch, heads, chunks, size, reach});
        return t.leave(relative, t.add(by_content, by_place));
    }
};

struct audio_attention {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioConformerAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        tensor h = t.call("pre_attn_norm", audio_norm(ctx), clip(t, x));
        h = t.call("attn", chunked_attention{ctx}, h);
        h = t.reshape(h, {h.dim(0), h.dim(1), h.dim(2) * h.dim(3)});
        h = clip(t, t.call("post", linear{width, width}, h));
        return t.add(x, t.call("post_norm", audio_norm(ctx), h));
    }
};

struct light_convolution {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioConformerLightConv1d"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, side = ctx.config.family[kernel];
        tensor h = t.call("linear_start", linear{width, 2 * width}, t.call("pre_layer_norm", audio_norm(ctx), x));
        h = t.pad(t.glu(h, -1).permute({0, 2, 1}), -1, side - 1);
        h = t.call("depthwise_conv1d", convolution_1d{width, width, side, 1, 0, width, false}, h).permute({0, 2, 1});
        h = t.silu(t.call("conv_norm", audio_norm(ctx), clip(t, h)));
        return t.add(t.call("linear_end", linear{width, width}, h), x);
    }
};

/// Conformer layer: half an MLP, local attention, a light convolution over valid frames, half an MLP.
struct audio_layer {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioConformerBlock"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        tensor h = t.call("ffw_layer_start", audio_conformer_feed_forward{ctx}, x);
        h = t.call("attention", audio_attention{ctx}, h);
        h = t.mul(h, t.full({h.dim(0), h.dim(1), 1}, h.type));
        h = t.call("lconv1d", light_convolution{ctx}, h);
        h = t.call("ffw_layer_end", audio_conformer_feed_forward{ctx}, h);
        return t.call("norm", audio_norm(ctx), clip(t, h));
    }
};

/// Number of spectrum frames. Samples are padded to a multiple of 128 and truncated to `max_samples`.
///
/// Source: feature_extraction_gemma3n.py, `_extract_spectrogram`.
[[nodiscard]] constexpr audio_shape frames_of(const audio_preprocessing_config& sound, std::int64_t milliseconds) {
    const std::int64_t num_samples = sound.samples_from_milliseconds(milliseconds),
                       samples = num_samples < sound.max_samples ? num_samples : sound.max_samples;
    const std::int64_t padded = (samples + 127) / 128 * 128;
    if (padded < sound.win_length) throw_description_error("the audio is shorter than one spectrum window");
    return {.num_samples = samples, .num_frames = (padded - sound.win_length) / sound.hop_length + 1};
}
/// Default spectrum: windows of 32 ms plus one sample, at most 30 s at 16 kHz.
inline constexpr audio_preprocessing_config default_audio_config{.win_length = 513, .max_samples = 480000};

constexpr void parse_frames_by_time(config_view json, audio_preprocessing_config& s) {
    s.sampling_rate = json.positive("sampling_rate", s.sampling_rate);
    const double samples_per_millisecond = static_cast<double>(s.sampling_rate) / 1000;
    s.win_length = rounded_product(json, "frame_length_ms", 32, samples_per_millisecond) + 1;
    s.hop_length = rounded_product(json, "hop_length_ms", 10, samples_per_millisecond);
}

constexpr tensor audio_base(const layer_context& ctx, trace& t) {
    const std::int64_t milliseconds = t.load().audio_milliseconds;
    const std::int64_t frames =
        frames_of(ctx.model.audio_preprocessing, milliseconds > 0 ? milliseconds : 1000).num_frames;
    tensor x = sample(ctx, t, t.input({t.load().batch, frames, ctx.config.family[features]}));
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"conformer", layer_loop.index()}, audio_layer{ctx}, x);
    const std::int64_t step = ctx.config.family[reduction];
    if (step > 1) x = t.slice(x, 1, (x.dim(1) + step - 1) / step, step);
    return t.masked_fill(x);
}

/// An element of a list of two numbers, or the default without the list.
constexpr std::int64_t pair_entry(maybe<config_view> list, std::size_t i, std::int64_t default_value) {
    if (!list) return default_value;
    if (list->size() != 2) throw_invalid_value(*list, "two numbers");
    return (*list)[i].as_positive();
}
constexpr void parse_audio_config(config_view json, model_config& config) {
    const auto conv_channels = json.optional_array("sscp_conv_channel_size");
    const auto sides = json.optional_array("sscp_conv_kernel_size");
    const auto steps = json.optional_array("sscp_conv_stride_size");
    config.family[bands] = config.family[features];
    for (std::size_t i = 0; i < 2; ++i) {
        const auto pair = [&](const maybe<config_view>& all) {
            if (all && all->size() != 2) throw_invalid_value(*all, "two pairs of numbers");
            return all ? maybe<config_view>{(*all)[i].as_array()} : maybe<config_view>{};
        };
        config.family[channels + i] = pair_entry(conv_channels, i, config.family[channels + i]);
        for (std::size_t k = 0; k < 2; ++k)
            config.family[kernels + 2 * i + k] = pair_entry(pair(sides), k, config.family[kernels + 2 * i + k]);
        for (std::size_t k = 0; k < 2; ++k)
            config.family[strides + 2 * i + k] = pair_entry(pair(steps), k, config.family[strides + 2 * i + k]);
        const std::int64_t padded = config.family[bands] + 2, side = config.family[kernels + 2 * i + 1];
        if (side > padded) throw_invalid_value(json, "sscp_conv_kernel_size", "kernels that fit into the features");
        config.family[bands] = (padded - side) / config.family[strides + 2 * i + 1] + 1;
    }
    (void)checked_size(json, "hidden_size", 4, config.hidden_size);
    (void)checked_size(json, "input_feat_size", config.family[channels + 1], config.family[bands]);
}

inline constexpr submodel_spec audio = [](model_spec spec) {
    spec.model_type = "gemma3n_audio";
    spec.class_prefix = "Gemma3n";
    spec.base_model = audio_base;
    spec.parse_config = parse_audio_config;
    spec.family_keys = audio_keys;
    spec.names.model_class = "AudioEncoder";
    spec.config_keys.add("num_hidden_layers", "conf_num_hidden_layers", key_rule::family_name_only);
    spec.config_keys.add("num_attention_heads", "conf_num_attention_heads", key_rule::family_name_only);
    spec.config_keys.add("head_dim", key_rule::absent);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.defaults.hidden_size = 1536;
    spec.defaults.num_hidden_layers = 12;
    spec.defaults.num_attention_heads = 8;
    return spec;
}(part);

}  // namespace gemma3n_media_detail

}  // namespace llmcost::arch
