// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/reading/sound_files.hpp>
#include <llmcost/walks/sound.hpp>

// What encoders of raw samples begin with: convolutions that shorten them, and positions that one hears.
namespace llmcost::arch {

namespace wav2vec2_detail {

inline constexpr std::int64_t most_convolutions = 13;

enum own : std::uint8_t {
    convolutions,
    first_convolution,  // width, kernel and stride of each, packed
    switches = first_convolution + most_convolutions,
    feature_act,
    position_kernel,
    position_groups,
    further,  // what only one of these families has
    summary_width,
    adapter_layers,
    adapter_kernel,
    adapter_stride,
    adapter_width
};
enum : std::int64_t {
    groups_norm = 1,          ///< one norm of channels behind the first convolution; else norms behind all
    biased = 2,               ///< convolutions
    stable = 4,               ///< norms in front of blocks, not behind their sums
    masks = 8,                ///< a state takes the place of others in training
    weighs_layers = 16,       ///< the labels' states are those of all layers
    norms_features = 32,      ///< in front of their projection
    always_norms = 64,        ///< behind all convolutions, whatever a configuration says
    relative = 128,           ///< of conformers: scores of distances
    attention_adapters = 256  ///< a bottleneck behind each layer
};
inline constexpr own_key keys[]{
    {.otherwise = 7, .value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.otherwise = static_cast<std::int64_t>(activation::gelu), .value = own_value::computed},
    {"num_conv_pos_embeddings", 128},
    {"num_conv_pos_embedding_groups", 16},
    {.value = own_value::computed},
    {"classifier_proj_size", 256},
    {.value = own_value::computed},
    {"adapter_kernel_size", 3},
    {"adapter_stride", 2},
    {.value = own_value::computed},
};

/// One convolution over samples.
struct sample_step {
    std::int64_t width;
    std::int64_t kernel;
    std::int64_t stride;

    static constexpr int width_bits = 32, kernel_bits = 16;
    [[nodiscard]] constexpr std::int64_t packed() const { return (width << width_bits | kernel << kernel_bits | stride); }
    [[nodiscard]] static constexpr sample_step of(const sizes& dims, std::int64_t i) {
        const std::int64_t all = dims.own[static_cast<std::size_t>(first_convolution + i)];
        return {all >> width_bits, all >> kernel_bits & 0xffff, all & 0xffff};
    }
};

[[nodiscard]] constexpr bool is(const site& here, std::int64_t what) { return (here.dims.own[switches] & what) != 0; }
[[nodiscard]] constexpr activation act_of(const site& here) { return static_cast<activation>(here.dims.own[feature_act]); }
[[nodiscard]] constexpr std::int64_t features_of(const site& here) {
    return sample_step::of(here.dims, here.dims.own[convolutions] - 1).width;
}

/// Places that convolutions leave of a recording.
constexpr std::int64_t places_of(const sizes& dims, const sound_settings& sound, const workload& load) {
    std::int64_t frames = samples_of(sound, load);
    for (std::int64_t i = 0; i < dims.own[convolutions]; ++i) {
        const sample_step step = sample_step::of(dims, i);
        if (frames < step.kernel) report_description("the recording is shorter than a kernel that it meets");
        frames = (frames - step.kernel) / step.stride + 1;
    }
    return frames;
}
constexpr media_shapes show(const model& m, const workload& load) {
    const sizes& dims = is_empty(m.kind->text.key) ? m.dims : m.beside[0].dims;
    return {.audio = {.samples = samples_of(m.sound, load), .frames = places_of(dims, m.sound, load)}};
}

// ---- in front of layers

struct sample_convolution {
    const site& here;
    std::int64_t index;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const {
        if (is(here, always_norms)) return here.type("ConvLayer");
        if (!is(here, groups_norm)) return here.type("LayerNormConvLayer");
        return here.type(index == 0 ? "GroupNormConvLayer" : "NoLayerNormConvLayer");
    }
    constexpr value describe(trace& t, const value& x) const {
        const sample_step step = sample_step::of(here.dims, index);
        const convolution_1d samples{x.dim(1), step.width, step.kernel, step.stride, 0, 1, is(here, biased)};
        value h = t.call("conv", samples, x);
        if (!is(here, groups_norm))
            h = t.call("layer_norm", norm<norm_kind::layer>{step.width}, h.transpose(1, 2)).transpose(1, 2);
        else if (index == 0)
            h = t.call("layer_norm", group_norm_module{step.width, step.width}, h);
        return t.call("activation", activation_module{act_of(here)}, h);
    }
};

/// (B, samples) -> (B, places, width).
constexpr value extract(const site& here, trace& t, literal name = "feature_extractor") {
    const module_info extractor{.name = name, .type = here.type("FeatureEncoder")};
    value x = t.input({t.load().batch, samples_of(here.whole.sound, t.load())}).unsqueeze(1);
    t.enter(extractor);
    for (std::int64_t i = 0; i < here.dims.own[convolutions]; ++i)
        x = t.call({"conv_layers", i}, sample_convolution{here, i}, x);
    return t.leave(extractor, x).transpose(1, 2);
}

constexpr value project(const site& here, trace& t, const value& x) {
    const module_info projection{.name = "feature_projection", .type = here.type("FeatureProjection")};
    const std::int64_t from = features_of(here);
    t.enter(projection);
    const value normed = is(here, norms_features) ? t.call("layer_norm", norm<norm_kind::layer>{from}, x) : x;
    const value h = t.call("projection", linear{from, here.dims.hidden_size, true}, normed);
    return t.leave(projection, dropout(t, "dropout", h));
}

/// A convolution of an even kernel gives one place too many.
struct same_places {
    class_name named;
    std::int64_t kernel;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const { return kernel % 2 == 0 ? t.slice(x, 2, x.dim(2) - 1) : x; }
};

/// Positions that a wide convolution hears: (B, width, places) -> the same, or every `stride`-th of them.
constexpr value hear_positions(const site& here, trace& t, const value& x, std::int64_t stride = 1) {
    const std::int64_t width = here.dims.hidden_size, kernel = here.dims.own[position_kernel];
    const module_info places{.name = "pos_conv_embed", .type = here.type("PositionalConvEmbedding")};
    t.enter(places);
    const normed_convolution_1d wide{width, width, kernel, stride, kernel / 2, here.dims.own[position_groups]};
    const value h = t.call("padding", same_places{here.type("SamePadLayer"), kernel}, t.call("conv", wide, x));
    return t.leave(places, t.call("activation", activation_module{act_of(here)}, h));
}
constexpr value positions(const site& here, trace& t, const value& x) {
    return hear_positions(here, t, x.transpose(1, 2)).transpose(1, 2);
}

}  // namespace wav2vec2_detail

}  // namespace llmcost::arch
