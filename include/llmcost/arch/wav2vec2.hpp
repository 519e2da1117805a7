// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/attention.hpp>
#include <llmcost/walks/encoder.hpp>
#include <llmcost/walks/sound.hpp>

// Encoders of raw samples: convolutions that shorten them, layers of text encoders, and a head.
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
    groups_norm = 1,         ///< one norm of channels behind the first convolution; else norms behind all
    biased = 2,              ///< convolutions
    stable = 4,              ///< norms in front of blocks, not behind their sums
    masks = 8,               ///< a state takes the place of others in training
    weighs_layers = 16,      ///< the labels' states are those of all layers
    norms_features = 32,     ///< in front of their projection
    always_norms = 64,       ///< behind all convolutions, whatever a configuration says
    relative = 128,          ///< of conformers: scores of distances
    rotary = 256,            ///< of conformers: queries and keys are turned
    attention_adapters = 512 ///< a bottleneck behind each layer
};
inline constexpr own_key keys[]{
    {.otherwise = 7, .value = own_value::computed},
    {.value = own_value::computed}, {.value = own_value::computed}, {.value = own_value::computed},
    {.value = own_value::computed}, {.value = own_value::computed}, {.value = own_value::computed},
    {.value = own_value::computed}, {.value = own_value::computed}, {.value = own_value::computed},
    {.value = own_value::computed}, {.value = own_value::computed}, {.value = own_value::computed},
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
constexpr std::int64_t places_of(const sizes& dims, const workload& load) {
    std::int64_t frames = samples_of(load);
    for (std::int64_t i = 0; i < dims.own[convolutions]; ++i) {
        const sample_step step = sample_step::of(dims, i);
        if (frames < step.kernel) report_description("the recording is shorter than a kernel that it meets");
        frames = (frames - step.kernel) / step.stride + 1;
    }
    return frames;
}
constexpr media_shapes show(const model& m, const workload& load) {
    const sizes& dims = is_empty(m.kind->text.key) ? m.dims : m.beside[0].dims;
    return {.audio = {.samples = samples_of(load), .frames = places_of(dims, load)}};
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
    value x = t.input({t.load().batch, samples_of(t.load())}).unsqueeze(1);
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
    constexpr value describe(trace& t, const value& x) const {
        return kernel % 2 == 0 ? t.slice(x, 2, x.dim(2) - 1) : x;
    }
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

// ---- layers

constexpr value layer_norm(const site& here, trace& t, literal name, const value& x) {
    return t.call(name, norm<norm_kind::layer>{here.dims.hidden_size}, x);
}

struct feed_forward {
    const site& here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("FeedForward"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        value h = t.call("intermediate_dense", linear{width, inner, true}, x);
        h = t.call("intermediate_act_fn", activation_module{here.dims.hidden_act}, h);
        h = dropout(t, "intermediate_dropout", h, dropout_of::inner);
        return dropout(t, "output_dropout", t.call("output_dense", linear{inner, width, true}, h));
    }
};

constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size;
    const value mixed = attend_within(t, x, width, here.dims.num_attention_heads, true, {"q_proj", "k_proj", "v_proj"}, false,
                                      all_positions(x.dim(1)));
    return t.call("out_proj", linear{width, width, true}, mixed);
}

/// A bottleneck behind a layer, which learns one language.
struct attention_adapter {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AttnAdapterLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, narrow = here.dims.own[further];
        const value h = t.call("linear_1", linear{width, narrow, true}, layer_norm(here, t, "norm", x));
        return t.call("linear_2", linear{narrow, width, true}, t.call("act_fn", activation_module{activation::relu}, h));
    }
};

/// Attention and a feed-forward block, norms behind or in front of them.
template <class Attention>
struct layer_with {
    site here;
    Attention attention;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const {
        return here.type(is(here, stable) ? "EncoderLayerStableLayerNorm" : "EncoderLayer");
    }
    constexpr value describe(trace& t, const value& x) const {
        const bool first = is(here, stable);
        value h = first ? layer_norm(here, t, "layer_norm", x) : x;
        h = t.add(x, dropout(t, "dropout", t.call("attention", attention, h)));
        if (!first) {
            h = layer_norm(here, t, "layer_norm", h);
            return layer_norm(here, t, "final_layer_norm", t.add(h, t.call("feed_forward", feed_forward{here}, h)));
        }
        h = t.add(h, t.call("feed_forward", feed_forward{here}, layer_norm(here, t, "final_layer_norm", h)));
        if (!is(here, attention_adapters)) return h;
        return t.add(h, t.call("adapter_layer", attention_adapter{here}, h));
    }
};

/// Positions by a family's own convolutions, or as above; layers.
constexpr value encode_with(const site& here, trace& t, value x, layer_part hears_positions) {
    const module_info encoder{.name = "encoder",
                              .type = here.type(is(here, stable) ? "EncoderStableLayerNorm" : "Encoder"),
                              .what = role::encoder};
    t.enter(encoder);
    x = t.add(x, hears_positions(here, t, x));
    if (!is(here, stable)) x = layer_norm(here, t, "layer_norm", x);
    x = dropout(t, "dropout", x);
    const shared_values nothing;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        {
        const site at = here.at(each, nothing);
        x = t.call({"layers", each.index()}, layer_with<attention_module>{at, {at}}, x);
    }
    return t.leave(encoder, is(here, stable) ? layer_norm(here, t, "layer_norm", x) : x);
}
constexpr value encode(const site& here, trace& t, const value& x) { return encode_with(here, t, x, positions); }

// ---- behind layers

struct adapter_step {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("AdapterLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const own_sizes& own = here.dims.own;
        const convolution_1d wide{own[adapter_width], 2 * own[adapter_width], own[adapter_kernel], own[adapter_stride], 1};
        return t.glu(t.call("conv", wide, x), 1);
    }
};

/// Convolutions that halve the places again.
constexpr value adapt(const site& here, trace& t, value x) {
    const std::int64_t width = here.dims.own[adapter_width], steps = here.dims.own[adapter_layers];
    if (steps == 0) return x;
    const module_info adapter{.name = "adapter", .type = here.type("Adapter")};
    t.enter(adapter);
    if (width != here.dims.hidden_size)
        x = t.call("proj_layer_norm", norm<norm_kind::layer>{width}, t.call("proj", linear{x.dim(-1), width, true}, x));
    x = x.transpose(1, 2);
    for (std::int64_t i = 0; i < steps; ++i) x = t.call({"layers", i}, adapter_step{here}, x);
    return t.leave(adapter, x.transpose(1, 2));
}

constexpr void declare_mask(const site& here, trace& t) {
    const recorder::idle_guard unused{t};
    if (is(here, masks)) (void)t.param("masked_spec_embed", {here.dims.hidden_size});
}

constexpr value base(const site& here, trace& t) {
    declare_mask(here, t);
    const value x = project(here, t, extract(here, t));
    return adapt(here, t, here.row.layer(here, t, x));
}

constexpr value describe(const site& here, trace& t) {
    return describe_heard(here, t, is(here, weighs_layers), here.dims.own[summary_width]);
}

// ---- configurations

constexpr void read_convolutions(config_view config, sizes& s, std::int64_t default_of_all) {
    const auto widths = config.optional_array("conv_dim"), kernels = config.optional_array("conv_kernel"),
               strides = config.optional_array("conv_stride");
    const auto otherwise = [&](std::int64_t i) -> sample_step {
        if (default_of_all == most_convolutions) {  // SEW
            const std::int64_t width = i == 0 ? 64 : i < 5 ? 128 : i < 9 ? 256 : 512;
            return {width, i == 0 ? 10 : i % 2 == 0 ? 1 : i < 9 ? 3 : 2, i == 0 ? 5 : i % 2 == 0 ? 1 : 2};
        }
        return {512, i == 0 ? 10 : i < 5 ? 3 : 2, i == 0 ? 5 : 2};
    };
    const auto size = [&](const maybe<config_view>& list) {
        return list ? static_cast<std::int64_t>(list->size()) : default_of_all;
    };
    const std::int64_t n = size(widths);
    if (n < 1 || n > most_convolutions)
        fail_unsupported(config, "conv_dim", "no row describes so many convolutions, or none");
    if (size(kernels) != n) fail_value(config, "conv_kernel", "as many as conv_dim");
    if (size(strides) != n) fail_value(config, "conv_stride", "as many as conv_dim");
    s.own[convolutions] = n;
    for (std::int64_t i = 0; i < n; ++i) {
        sample_step step = otherwise(i);
        const auto at = static_cast<std::size_t>(i);
        if (widths) step.width = (*widths)[at].as_positive();
        if (kernels) step.kernel = (*kernels)[at].as_positive();
        if (strides) step.stride = (*strides)[at].as_positive();
        if (step.width > 0xffffff) fail_value((*widths)[at], "a width up to 16777215");
        if (step.kernel > 0xffff) fail_value((*kernels)[at], "a kernel up to 65535");
        if (step.stride > 0xffff) fail_value((*strides)[at], "a stride up to 65535");
        s.own[static_cast<std::size_t>(first_convolution + i)] = step.packed();
    }
}

constexpr void put(sizes& s, std::int64_t what, bool on) {
    if (on) s.own[switches] |= what;
}

/// What all of these families read.
constexpr void read_shared(config_view config, sizes& s, std::int64_t default_of_all = 7) {
    read_convolutions(config, s, default_of_all);
    const string_ref norms = config.string("feat_extract_norm", "group");
    if (norms != "group" && norms != "layer") fail_value(config, "feat_extract_norm", "group or layer");
    put(s, groups_norm, norms == "group");
    put(s, biased, config.boolean("conv_bias", false));
    put(s, stable, config.boolean("do_stable_layer_norm", false));
    put(s, masks, config.real("mask_time_prob", 0.05) > 0 || config.real("mask_feature_prob", 0) > 0);
    put(s, weighs_layers, config.boolean("use_weighted_layer_sum", false));
    put(s, norms_features, true);
    if (const auto name = config.optional_string("feat_extract_activation"))
        s.own[feature_act] = static_cast<std::int64_t>(activation_named(config, "feat_extract_activation", *name));
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    if (s.hidden_size % s.own[position_groups] != 0)
        fail_value(config, "num_conv_pos_embedding_groups", "a divisor of hidden_size");
    s.own[adapter_width] = s.hidden_size;
}

/// Of families that have adapters behind the layers.
constexpr void read_adapter_layers(config_view config, sizes& s) {
    if (!config.boolean("add_adapter", false)) return;
    if (s.head == head_kind::sequence_classification)
        fail_unsupported(config, "add_adapter", "the reference's classifier refuses adapters");
    s.own[adapter_layers] = config.positive("num_adapter_layers", 3);
    if (s.own[adapter_layers] > 64) fail_unsupported(config, "num_adapter_layers", "no row describes more than 64");
    s.own[adapter_width] = config.positive("output_hidden_size", s.hidden_size);
}

constexpr void read(config_view config, sizes& s) {
    read_shared(config, s);
    read_adapter_layers(config, s);
    const auto narrow = config.optional_positive("adapter_attn_dim");
    put(s, attention_adapters, narrow.has_value());
    if (!narrow) return;
    if ((s.own[switches] & stable) == 0) s.own[switches] &= ~attention_adapters;
    s.own[further] = *narrow;
}

constexpr void read_without_adapters(config_view config, sizes& s) { read_shared(config, s); }

constexpr void read_hubert(config_view config, sizes& s) {
    read_shared(config, s);
    if (config.boolean("conv_pos_batch_norm", false))
        fail_unsupported(config, "conv_pos_batch_norm", "no row describes a norm in front of the positions' convolution");
    if (!config.boolean("feat_proj_layer_norm", true)) s.own[switches] &= ~norms_features;
}

}  // namespace wav2vec2_detail

// transformers/models/wav2vec2
inline constexpr architecture wav2vec2{
    .model_type = "wav2vec2",
    .prefix = "Wav2Vec2",
    .describe = wav2vec2_detail::describe,
    .base = wav2vec2_detail::base,
    .layer = wav2vec2_detail::encode,
    .attend = wav2vec2_detail::attend,
    .read = wav2vec2_detail::read,
    .own = wav2vec2_detail::keys,
    .media = wav2vec2_detail::show,
    .reads = {.text = false, .audio = true},
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::ctc, head_kind::sequence_classification},
    .names = {.base = "wav2vec2"},
    .keys = {no_key_value_heads, {"head_dim", "", key_rule::absent}, no_attention_bias, no_mlp_bias,
             {"sliding_window", "", key_rule::absent}, {"tie_word_embeddings", "", key_rule::absent},
             {"max_position_embeddings", "", key_rule::absent}},
    .defaults = {.vocab_size = 32,
                 .hidden_size = 768,
                 .intermediate_size = 3072,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 12,
                 .hidden_act = activation::gelu,
                 .head = head_kind::none},
};

// transformers/models/hubert: without adapters
inline constexpr architecture hubert = [](architecture a) {
    a.model_type = "hubert", a.prefix = "Hubert", a.names.base = "hubert", a.read = wav2vec2_detail::read_hubert;
    return a;
}(wav2vec2);

// transformers/models/unispeech
inline constexpr architecture unispeech = [](architecture a) {
    a.model_type = "unispeech", a.prefix = "UniSpeech", a.names.base = "unispeech";
    a.read = wav2vec2_detail::read_without_adapters;
    return a;
}(wav2vec2);

// transformers/models/unispeech_sat
inline constexpr architecture unispeech_sat = [](architecture a) {
    a.model_type = "unispeech-sat", a.prefix = "UniSpeechSat", a.names.base = "unispeech_sat";
    return a;
}(unispeech);

}  // namespace llmcost::arch
