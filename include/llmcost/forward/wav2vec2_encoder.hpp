// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/attention.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/encoder.hpp>

// wav2vec 2.0: convolutions over samples, then an encoder with convolutional positions (arXiv 2006.11477).
namespace llmcost::wav2vec2_encoder {

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

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const model_config& config = is_empty(m.spec->text_model.key) ? m.config : m.components[0].config;
    return {.audio = {.num_samples = num_audio_samples(m.audio_preprocessing, load),
                      .num_frames = places_of(config, m.audio_preprocessing, load)}};
}

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

constexpr tensor layer_norm(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    return t.call(name, norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
}

struct feed_forward {
    const layer_context& ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("FeedForward"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        tensor h = t.call("intermediate_dense", linear{width, inner, true}, x);
        h = t.call("intermediate_act_fn", activation_module{ctx.config.hidden_act}, h);
        h = dropout(t, "intermediate_dropout", h, dropout_position::mlp);
        return dropout(t, "output_dropout", t.call("output_dense", linear{inner, width, true}, h));
    }
};

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size;
    const tensor mixed = bidirectional_attention(t, x, width, ctx.config.num_attention_heads, true,
                                                 {"q_proj", "k_proj", "v_proj"}, false, full_pattern(x.dim(1)));
    return t.call("out_proj", linear{width, width, true}, mixed);
}

/// A language-specific bottleneck adapter after a layer.
struct attention_adapter {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AttnAdapterLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, adapter_dim = ctx.config.family[extra_size];
        const tensor h = t.call("linear_1", linear{width, adapter_dim, true}, layer_norm(ctx, t, "norm", x));
        return t.call("linear_2", linear{adapter_dim, width, true},
                      t.call("act_fn", activation_module{activation::relu}, h));
    }
};

/// Attention and a feed-forward block, with norms before or after them.
template <class Attention>
struct layer_with {
    layer_context ctx;
    Attention attention;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const {
        return ctx.class_of(is(ctx, stable) ? "EncoderLayerStableLayerNorm" : "EncoderLayer");
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const bool first = is(ctx, stable);
        tensor h = first ? layer_norm(ctx, t, "layer_norm", x) : x;
        h = t.add(x, dropout(t, "dropout", t.call("attention", attention, h)));
        if (!first) {
            h = layer_norm(ctx, t, "layer_norm", h);
            return layer_norm(ctx, t, "final_layer_norm", t.add(h, t.call("feed_forward", feed_forward{ctx}, h)));
        }
        h = t.add(h, t.call("feed_forward", feed_forward{ctx}, layer_norm(ctx, t, "final_layer_norm", h)));
        if (!is(ctx, attention_adapters)) return h;
        return t.add(h, t.call("adapter_layer", attention_adapter{ctx}, h));
    }
};

/// Positions by a family's own convolutions, or as above; layers.
constexpr tensor encode_with(const layer_context& ctx, trace& t, tensor x, layer_forward_function embed_positions) {
    const module_info encoder{.name = "encoder",
                              .class_of_module = ctx.class_of(is(ctx, stable) ? "EncoderStableLayerNorm" : "Encoder"),
                              .module_role = role::encoder};
    t.enter(encoder);
    x = t.add(x, embed_positions(ctx, t, x));
    if (!is(ctx, stable)) x = layer_norm(ctx, t, "layer_norm", x);
    x = dropout(t, "dropout", x);
    const attention_inputs no_inputs;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();) {
        const layer_context layer_ctx = ctx.for_layer(layer_loop, no_inputs);
        x = t.call({"layers", layer_loop.index()}, layer_with<attention_module>{layer_ctx, {layer_ctx}}, x);
    }
    return t.leave(encoder, is(ctx, stable) ? layer_norm(ctx, t, "layer_norm", x) : x);
}

struct adapter_step {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AdapterLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const family_config& family = ctx.config.family;
        const convolution_1d conv{family[adapter_width], 2 * family[adapter_width], family[adapter_kernel],
                                  family[adapter_stride], 1};
        return t.glu(t.call("conv", conv, x), 1);
    }
};

/// Convolutions that halve the places again.
constexpr tensor adapt(const layer_context& ctx, trace& t, tensor x) {
    const std::int64_t width = ctx.config.family[adapter_width], steps = ctx.config.family[adapter_layers];
    if (steps == 0) return x;
    const module_info adapter{.name = "adapter", .class_of_module = ctx.class_of("Adapter")};
    t.enter(adapter);
    if (width != ctx.config.hidden_size)
        x = t.call("proj_layer_norm", norm_module{norm_kind::layer, width},
                   t.call("proj", linear{x.dim(-1), width, true}, x));
    x = x.transpose(1, 2);
    for (std::int64_t i = 0; i < steps; ++i) x = t.call({"layers", i}, adapter_step{ctx}, x);
    return t.leave(adapter, x.transpose(1, 2));
}

constexpr void declare_mask(const layer_context& ctx, trace& t) {
    const recorder::not_executed_guard unused{t};
    if (is(ctx, masks)) (void)t.param("masked_spec_embed", {ctx.config.hidden_size});
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    declare_mask(ctx, t);
    const tensor x = project(ctx, t, extract(ctx, t));
    return adapt(ctx, t, ctx.spec.decoder_layer(ctx, t, x));
}

constexpr void parse_convolutions(config_view json, model_config& config, std::int64_t default_of_all) {
    const auto widths = json.optional_array("conv_dim"), kernels = json.optional_array("conv_kernel"),
               strides = json.optional_array("conv_stride");
    const auto default_value = [&](std::int64_t i) -> sample_step {
        if (default_of_all == max_convolutions) {  // SEW
            const std::int64_t width = i == 0 ? 64 : i < 5 ? 128 : i < 9 ? 256 : 512;
            return {width, i == 0 ? 10 : i % 2 == 0 ? 1 : i < 9 ? 3 : 2, i == 0 ? 5 : i % 2 == 0 ? 1 : 2};
        }
        return {512, i == 0 ? 10 : i < 5 ? 3 : 2, i == 0 ? 5 : 2};
    };
    const auto size = [&](const maybe<config_view>& list) {
        return list ? static_cast<std::int64_t>(list->size()) : default_of_all;
    };
    const std::int64_t n = size(widths);
    if (n < 1 || n > max_convolutions) throw_unsupported(json, "conv_dim", "unsupported number of convolutions");
    if (size(kernels) != n) throw_invalid_value(json, "conv_kernel", "as many as conv_dim");
    if (size(strides) != n) throw_invalid_value(json, "conv_stride", "as many as conv_dim");
    config.family[convolutions] = n;
    for (std::int64_t i = 0; i < n; ++i) {
        sample_step step = default_value(i);
        const auto index = static_cast<std::size_t>(i);
        if (widths) step.width = (*widths)[index].as_positive();
        if (kernels) step.kernel = (*kernels)[index].as_positive();
        if (strides) step.stride = (*strides)[index].as_positive();
        if (step.width > 0xffffff) throw_invalid_value((*widths)[index], "a width up to 16777215");
        if (step.kernel > 0xffff) throw_invalid_value((*kernels)[index], "a kernel up to 65535");
        if (step.stride > 0xffff) throw_invalid_value((*strides)[index], "a stride up to 65535");
        config.family[static_cast<std::size_t>(first_convolution + i)] = step.packed();
    }
}

constexpr void set_flag(model_config& config, std::int64_t flag, bool is_enabled) {
    if (is_enabled) config.family[switches] |= flag;
}

/// What all of these families read.
constexpr void parse_shared(config_view json, model_config& config, std::int64_t default_of_all = 7) {
    parse_convolutions(json, config, default_of_all);
    const string_ref norms = json.string("feat_extract_norm", "group");
    if (norms != "group" && norms != "layer") throw_invalid_value(json, "feat_extract_norm", "group or layer");
    set_flag(config, groups_norm, norms == "group");
    set_flag(config, biased, json.boolean("conv_bias", false));
    set_flag(config, stable, json.boolean("do_stable_layer_norm", false));
    set_flag(config, masks, json.real("mask_time_prob", 0.05) > 0 || json.real("mask_feature_prob", 0) > 0);
    set_flag(config, weighs_layers, json.boolean("use_weighted_layer_sum", false));
    set_flag(config, norms_features, true);
    if (const auto name = json.optional_string("feat_extract_activation"))
        config.family[feature_act] =
            static_cast<std::int64_t>(activation_named(json, "feat_extract_activation", *name));
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    if (config.hidden_size % config.family[position_groups] != 0)
        throw_invalid_value(json, "num_conv_pos_embedding_groups", "a divisor of hidden_size");
    config.family[adapter_width] = config.hidden_size;
}

/// Parses the adapter layers of families with adapters after the encoder layers.
constexpr void parse_adapter_layers(config_view json, model_config& config) {
    if (!json.boolean("add_adapter", false)) return;
    if (config.head == head_kind::sequence_classification)
        throw_unsupported(json, "add_adapter", "adapters are not supported by the reference's classifier");
    config.family[adapter_layers] = json.positive("num_adapter_layers", 3);
    if (config.family[adapter_layers] > 64)
        throw_unsupported(json, "num_adapter_layers", "more than 64 are not supported");
    config.family[adapter_width] = json.positive("output_hidden_size", config.hidden_size);
}

}  // namespace llmcost::wav2vec2_encoder
