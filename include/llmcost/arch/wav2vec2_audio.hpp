// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/audio.hpp>

// Front end of encoders of raw samples: strided convolutions and convolutional positions.
namespace llmcost::arch {

namespace wav2vec2_detail {

inline constexpr std::int64_t max_convolutions = 13;

enum family_config_index : std::uint8_t {
    convolutions,
    first_convolution,  // width, kernel and stride of each, packed
    switches = first_convolution + max_convolutions,
    feature_act,
    position_kernel,
    position_groups,
    extra_size,  // what only one of these families has
    summary_width,
    adapter_layers,
    adapter_kernel,
    adapter_stride,
    adapter_width
};
enum : std::int64_t {
    groups_norm = 1,          ///< one norm of channels after the first convolution; otherwise norms after all
    biased = 2,               ///< convolutions
    stable = 4,               ///< norms before blocks, not after their sums
    masks = 8,                ///< a state takes the place of others in training
    weighs_layers = 16,       ///< the labels' states are those of all layers
    norms_features = 32,      ///< before their projection
    always_norms = 64,        ///< after all convolutions, whatever the configuration contains
    relative = 128,           ///< of conformers: scores of distances
    attention_adapters = 256  ///< a bottleneck after each layer
};
inline constexpr family_key family_keys[]{
    {.default_value = 7, .type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.default_value = static_cast<std::int64_t>(activation::gelu), .type = family_key_type::computed},
    {"num_conv_pos_embeddings", 128},
    {"num_conv_pos_embedding_groups", 16},
    {.type = family_key_type::computed},
    {"classifier_proj_size", 256},
    {.type = family_key_type::computed},
    {"adapter_kernel_size", 3},
    {"adapter_stride", 2},
    {.type = family_key_type::computed},
};

/// One convolution over samples.
struct sample_step {
    std::int64_t width;
    std::int64_t kernel;
    std::int64_t stride;

    static constexpr int width_bits = 32, kernel_bits = 16;
    [[nodiscard]] constexpr std::int64_t packed() const {
        return (width << width_bits | kernel << kernel_bits | stride);
    }
    [[nodiscard]] static constexpr sample_step unpack(const model_config& config, std::int64_t i) {
        const std::int64_t all = config.family[static_cast<std::size_t>(first_convolution + i)];
        return {all >> width_bits, all >> kernel_bits & 0xffff, all & 0xffff};
    }
};

[[nodiscard]] constexpr bool is(const layer_context& ctx, std::int64_t flag) {
    return (ctx.config.family[switches] & flag) != 0;
}
[[nodiscard]] constexpr activation act_of(const layer_context& ctx) {
    return static_cast<activation>(ctx.config.family[feature_act]);
}
[[nodiscard]] constexpr std::int64_t features_of(const layer_context& ctx) {
    return sample_step::unpack(ctx.config, ctx.config.family[convolutions] - 1).width;
}

/// Places that convolutions leave of a recording.
constexpr std::int64_t places_of(const model_config& config, const audio_preprocessing_config& sound,
                                 const workload& load) {
    std::int64_t frames = num_audio_samples(sound, load);
    for (std::int64_t i = 0; i < config.family[convolutions]; ++i) {
        const sample_step step = sample_step::unpack(config, i);
        if (frames < step.kernel) throw_description_error("the recording is shorter than a convolution kernel");
        frames = (frames - step.kernel) / step.stride + 1;
    }
    return frames;
}
constexpr media_shapes show(const model& m, const workload& load) {
    const model_config& config = is_empty(m.spec->text_model.key) ? m.config : m.components[0].config;
    return {.audio = {.num_samples = num_audio_samples(m.audio_preprocessing, load),
                      .num_frames = places_of(config, m.audio_preprocessing, load)}};
}

// ---- before layers

struct sample_convolution {
    const layer_context& ctx;
    std::int64_t index;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const {
        if (is(ctx, always_norms)) return ctx.class_of("ConvLayer");
        if (!is(ctx, groups_norm)) return ctx.class_of("LayerNormConvLayer");
        return ctx.class_of(index == 0 ? "GroupNormConvLayer" : "NoLayerNormConvLayer");
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const sample_step step = sample_step::unpack(ctx.config, index);
        const convolution_1d samples{x.dim(1), step.width, step.kernel, step.stride, 0, 1, is(ctx, biased)};
        tensor h = t.call("conv", samples, x);
        if (!is(ctx, groups_norm))
            h = t.call("layer_norm", norm_module{norm_kind::layer, step.width}, h.transpose(1, 2)).transpose(1, 2);
        else if (index == 0)
            h = t.call("layer_norm", group_norm_module{step.width, step.width}, h);
        return t.call("activation", activation_module{act_of(ctx)}, h);
    }
};

/// (B, samples) -> (B, places, width).
constexpr tensor extract(const layer_context& ctx, trace& t, literal name = "feature_extractor") {
    const module_info extractor{.name = name, .class_of_module = ctx.class_of("FeatureEncoder")};
    tensor x = t.input({t.load().batch, num_audio_samples(ctx.model.audio_preprocessing, t.load())}).unsqueeze(1);
    t.enter(extractor);
    for (std::int64_t i = 0; i < ctx.config.family[convolutions]; ++i)
        x = t.call({"conv_layers", i}, sample_convolution{ctx, i}, x);
    return t.leave(extractor, x).transpose(1, 2);
}

constexpr tensor project(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info projection{.name = "feature_projection", .class_of_module = ctx.class_of("FeatureProjection")};
    const std::int64_t in_features = features_of(ctx);
    t.enter(projection);
    const tensor normed =
        is(ctx, norms_features) ? t.call("layer_norm", norm_module{norm_kind::layer, in_features}, x) : x;
    const tensor h = t.call("projection", linear{in_features, ctx.config.hidden_size, true}, normed);
    return t.leave(projection, dropout(t, "dropout", h));
}

/// A convolution of an even kernel gives one place too many.
struct same_places {
    class_name named;
    std::int64_t kernel;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        return kernel % 2 == 0 ? t.slice(x, 2, x.dim(2) - 1) : x;
    }
};

/// Computes positions with a wide convolution: (B, width, positions) -> (B, width, positions / stride).
constexpr tensor conv_position_embeddings(const layer_context& ctx, trace& t, const tensor& x,
                                          std::int64_t stride = 1) {
    const std::int64_t width = ctx.config.hidden_size, kernel = ctx.config.family[position_kernel];
    const module_info places{.name = "pos_conv_embed", .class_of_module = ctx.class_of("PositionalConvEmbedding")};
    t.enter(places);
    const normed_convolution_1d conv{width, width, kernel, stride, kernel / 2, ctx.config.family[position_groups]};
    const tensor h = t.call("padding", same_places{ctx.class_of("SamePadLayer"), kernel}, t.call("conv", conv, x));
    return t.leave(places, t.call("activation", activation_module{act_of(ctx)}, h));
}
constexpr tensor positions(const layer_context& ctx, trace& t, const tensor& x) {
    return conv_position_embeddings(ctx, t, x.transpose(1, 2)).transpose(1, 2);
}

}  // namespace wav2vec2_detail

}  // namespace llmcost::arch
