// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_audio.hpp>
#include <llmcost/forward/not_executed.hpp>

namespace llmcost::arch {

namespace vibevoice_detail {

/// Maximum number of encoder stages after the stem, limited by the size of the family configuration.
constexpr std::size_t max_stages = 9;

// the last of these is followed by the rate of each stage, and by the depths of the stem and each stage
enum family_config_index : std::uint8_t {
    channels,
    kernel,
    filters,
    expansion,
    stages,
    rates,
    depths = rates + max_stages
};
inline constexpr family_key family_keys[]{
    {"channels", 1},
    {"kernel_size", 7},
    {"num_filters", 32},
    {"ffn_expansion", 4},
    {.default_value = 6, .type = family_key_type::computed},
};

// of the complete model
enum model_config_index : std::uint8_t { chunk };
inline constexpr family_key model_keys[]{{"acoustic_tokenizer_chunk_size", 1440000}};

/// Numbers of a list, or of the default, into neighbouring places; how many there are.
constexpr std::int64_t parse_list(config_view json, literal key, model_config& config, std::size_t first,
                                  std::size_t maximum, std::initializer_list<std::int64_t> otherwise) {
    std::size_t n = 0;
    const auto append = [&](std::int64_t number) {
        if (n == maximum) throw_unsupported(json, key, "unsupported number of stages");
        config.family[first + n++] = number;
    };
    if (const auto list = json.optional_array(key))
        for (const config_view entry : *list) append(entry.as_positive());
    else
        for (const std::int64_t number : otherwise) append(number);
    return static_cast<std::int64_t>(n);
}

constexpr void parse_encoder_config(config_view json, model_config& config) {
    config.family[stages] = parse_list(json, "downsampling_ratios", config, rates, max_stages, {2, 2, 4, 5, 5, 8});
    if (parse_list(json, "depths", config, depths, max_stages + 1, {3, 3, 3, 3, 3, 3, 8}) <= config.family[stages])
        throw_invalid_value(json, "depths", "a list with one number more than downsampling_ratios");
    (void)checked_size(json, "num_filters", config.family[filters] << config.family[stages], config.family[expansion]);
    set_single_mask(json, config);
}

/// Returns the number of samples per state.
[[nodiscard]] constexpr std::int64_t samples_of_state(const model_config& encoder) {
    std::int64_t all = 1;
    for (std::int64_t i = 0; i < encoder.family[stages]; ++i)
        all *= encoder.family[rates + static_cast<std::size_t>(i)];
    return all;
}

/// A causal convolution; its input follows the cached end of the previous chunk (`padding_cache`).
struct causal_convolution {
    class_name named;
    convolution_1d inner;
    bool first;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t causal_padding = inner.kernel - inner.stride;
        if (causal_padding == 0) return t.call("conv", inner, x);
        const shape padding_shape{x.dim(0), x.dim(1), causal_padding};
        if (x.dim(2) < causal_padding) (void)t.cat({trace::buffer(padding_shape)}, 2);
        const tensor past = first ? t.full(padding_shape, x.type) : trace::buffer(padding_shape);
        return t.call("conv", inner, t.cat({t.clone(past), x}, 2));
    }
};

/// The context of a stage, and whether the chunk is the first one of its recording.
struct part {
    const layer_context& ctx;
    bool first;

    [[nodiscard]] constexpr causal_convolution make_causal(const convolution_1d& inner) const {
        return {ctx.class_of("CausalConv1d"), inner, first};
    }
};

struct feed_forward {
    const layer_context& ctx;
    std::int64_t width;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("FeedForward"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t inner = ctx.config.family[expansion] * width;
        const tensor h = t.call("linear1", linear{width, inner, true}, x);
        return t.call("linear2", linear{inner, width, true},
                      t.call("activation", activation_module{ctx.config.hidden_act}, h));
    }
};

/// A convolution of each channel and a feed-forward block, each times a number per channel.
struct convolution_layer {
    part p;
    std::int64_t width;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return p.ctx.class_of("ConvNext1dLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor gamma = t.param("gamma", {width}), ffn_gamma = t.param("ffn_gamma", {width});
        const norm_module normed{norm_kind::rms, width, p.ctx.class_of("RMSNorm")};
        const convolution_1d depthwise_conv{width, width, p.ctx.config.family[kernel], 1, 0, width};
        tensor h = t.call("norm", normed, x.transpose(1, 2)).transpose(1, 2);
        h = t.add(x, t.mul(t.call("mixer", p.make_causal(depthwise_conv), h), gamma.unsqueeze(-1)));
        const tensor f = t.call("ffn", feed_forward{p.ctx, width}, t.call("ffn_norm", normed, h.transpose(1, 2)));
        return t.add(h, t.mul(f.transpose(1, 2), ffn_gamma.unsqueeze(-1)));
    }
};

constexpr tensor run_stage(const part& p, trace& t, std::int64_t depth, const convolution_1d& conv, tensor x) {
    x = t.call("conv", p.make_causal(conv), x);
    for (loop layer_loop = t.loop_modules(depth, x); layer_loop.next();)
        x = t.call({"stage", layer_loop.index()}, convolution_layer{p, conv.out}, x);
    return x;
}

/// A stem and stages that shorten and widen: (batch, channels, samples) -> (batch, states, width).
constexpr tensor encode_samples(const part& p, trace& t, const tensor& sound) {
    const layer_context& ctx = p.ctx;
    const family_config& family = ctx.config.family;
    std::int64_t width = family[filters];
    const module_info stem{.name = "stem", .class_of_module = ctx.class_of("EncoderStem")};
    t.enter(stem);
    tensor x = t.leave(stem, run_stage(p, t, family[depths], {family[channels], width, family[kernel]}, sound));
    for (std::int64_t i = 0; i < family[stages]; ++i) {
        const auto place = static_cast<std::size_t>(i);
        const std::int64_t rate = family[rates + place];
        const module_info layer{"conv_layers", i, ctx.class_of("EncoderLayer"), role::none, false};
        t.enter(layer);
        x = t.leave(layer, run_stage(p, t, family[depths + place + 1], {width, 2 * width, 2 * rate, rate}, x));
        width *= 2;
    }
    x = t.call("head", p.make_causal({width, ctx.config.hidden_size, family[kernel]}), x);
    return x.permute({0, 2, 1});
}

/// One part of samples by one encoder, under its name.
constexpr tensor encode_chunk(const layer_context& ctx, trace& t, std::size_t component_index, literal name,
                              std::int64_t samples, bool first) {
    const layer_context tower = ctx.component(component_index);
    const module_info m{
        .name = name, .class_of_module = tower.class_of(tower.spec.names.model_class), .module_role = role::audio};
    const recorder::shared_parameters_guard shared_parameters{t, !first};
    t.enter(m);
    return t.leave(
        m, encode_samples({tower, first}, t, t.input({t.load().batch, tower.config.family[channels], samples})));
}

/// Returns the states of samples padded to complete states; one state without audio, which declares the encoders.
[[nodiscard]] constexpr std::int64_t states_of(const model_config& encoder, const audio_preprocessing_config& sound,
                                               const workload& load) {
    const std::int64_t number = samples_of_state(encoder);
    return load.audio_milliseconds == 0
               ? 1
               : (sound.samples_from_milliseconds(load.audio_milliseconds) + number - 1) / number;
}
constexpr media_shapes show(const model& m, const workload& load) {
    const model_config& encoder = m.components[0].config;
    const std::int64_t states = states_of(encoder, m.audio_preprocessing, load);
    return {.audio = {.num_tokens = states, .num_samples = states * samples_of_state(encoder)}};
}
/// Parses the audio configuration. The Processor class sets the samples per token, whatever its feature extractor
/// contains (`pad_to_multiple_of`).
///
/// Source: transformers/models/vibevoice_asr/processing_vibevoice_asr.py, `audio_kwargs`.
constexpr void parse_audio_config(config_view json, model& m) {
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return;
    expect_extractor(*nested_json, "VibeVoiceAcousticTokenizerFeatureExtractor");
    expect_rate(*nested_json, m.audio_preprocessing.sampling_rate,
                "24000, which the Processor class of this model type requires");
}

/// Runs both encoders chunk by chunk, with noise on the output of the first one. Two projections of each are added.
///
/// Source: transformers/models/vibevoice_asr/modeling_vibevoice_asr.py, `get_audio_features`.
constexpr tensor encode_audio(const layer_context& ctx, trace& t) {
    const model_config &sounds = ctx.component(0).config, &meanings = ctx.component(1).config;
    const std::int64_t batch = t.load().batch, out = ctx.config.hidden_size;
    const std::int64_t number = samples_of_state(sounds),
                       states = states_of(sounds, ctx.model.audio_preprocessing, t.load());
    tensor acoustic, semantic;
    {
        const recorder::no_grad_guard constants{t};
        const std::int64_t maximum = ctx.model.family[chunk];
        for (std::int64_t done = 0; done < states * number; done += maximum) {
            const std::int64_t samples = states * number - done < maximum ? states * number - done : maximum;
            acoustic = encode_chunk(ctx, t, 0, "acoustic_tokenizer_encoder", samples, done == 0);
            semantic = encode_chunk(ctx, t, 1, "semantic_tokenizer_encoder", samples, done == 0);
        }
        // as large as the latents of all parts together
        acoustic = t.cat({trace::buffer({batch, states, sounds.hidden_size})}, 1);
        semantic = t.cat({trace::buffer({batch, states, meanings.hidden_size})}, 1);
        const tensor scale = t.mul_scalar(t.full({batch}, t.activation_type()));
        const tensor noise = t.full({batch, states, sounds.hidden_size}, t.activation_type());
        acoustic = t.add(acoustic, t.mul(scale.view({batch, 1, 1}), noise));
    }
    const module_info projector_info{.name = "multi_modal_projector",
                                     .class_of_module = ctx.class_of("MultiModalProjector"),
                                     .module_role = role::projector};
    const norm_module normed{norm_kind::rms, out, ctx.class_of("RMSNorm")};
    t.enter(projector_info);
    tensor a =
        t.call("acoustic_norm", normed, t.call("acoustic_linear_1", linear{sounds.hidden_size, out, true}, acoustic));
    a = t.call("acoustic_linear_2", linear{out, out, true}, a);
    tensor b =
        t.call("semantic_norm", normed, t.call("semantic_linear_1", linear{meanings.hidden_size, out, true}, semantic));
    b = t.call("semantic_linear_2", linear{out, out, true}, b);
    return t.leave(projector_info, t.add(a, b));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return qwen2_audio_detail::forward_text_with_audio(ctx, t, true, false, [&] { return encode_audio(ctx, t); });
}
constexpr tensor forward_standalone(const layer_context& ctx, trace& t) {
    return encode_samples({ctx, true}, t, t.input({1, 1, 1}));
}

constexpr void parse_config(config_view json, model& m) {
    qwen2_audio_detail::untie_embeddings(json, m);
    if (samples_of_state(m.components[0].config) != samples_of_state(m.components[1].config))
        throw_unsupported(json, "downsampling_ratios",
                          "different downsampling ratios of the two encoders are not supported");
    if (m.family[chunk] % samples_of_state(m.components[0].config) != 0)
        throw_invalid_value(json, "acoustic_tokenizer_chunk_size", "a multiple of the samples of a state");
}

}  // namespace vibevoice_detail

// transformers/models/vibevoice_acoustic_tokenizer, VibeVoiceAcousticTokenizerEncoderConfig
inline constexpr submodel_spec vibevoice_acoustic_tokenizer_encoder{
    .model_type = "vibevoice_acoustic_tokenizer_encoder",
    .class_prefix = "VibeVoiceAcousticTokenizer",
    .base_model = vibevoice_detail::forward_standalone,
    .parse_config = vibevoice_detail::parse_encoder_config,
    .family_keys = vibevoice_detail::family_keys,
    .rotary = rotary_style::none,
    .names = {.model_class = "EncoderModel"},
    .defaults = {.hidden_size = 64, .num_hidden_layers = 1, .hidden_act = activation::gelu},
};
inline constexpr submodel_spec vibevoice_semantic_tokenizer_encoder = [](model_spec spec) {
    spec.defaults.hidden_size = 128;
    return spec;
}(vibevoice_acoustic_tokenizer_encoder);

// transformers/models/vibevoice_asr
inline constexpr model_spec vibevoice_asr = [](model_spec spec) {
    spec.model_type = "vibevoice_asr";
    spec.class_prefix = "VibeVoiceAsr";
    spec.base_model = vibevoice_detail::base;
    spec.text_model = {.key = "text_config", .default_spec = &qwen2};
    spec.components[0] = {.key = "acoustic_tokenizer_encoder_config",
                          .default_spec = &vibevoice_acoustic_tokenizer_encoder};
    spec.components[1] = {.key = "semantic_tokenizer_encoder_config",
                          .default_spec = &vibevoice_acoustic_tokenizer_encoder,
                          .spec_if_absent = &vibevoice_semantic_tokenizer_encoder};
    spec.parse_composite_config = vibevoice_detail::parse_config;
    spec.family_keys = vibevoice_detail::model_keys;
    spec.compute_media_shapes = vibevoice_detail::show;
    spec.parse_feature_extractor = vibevoice_detail::parse_audio_config;
    spec.modalities.has_audio = true;
    spec.audio_preprocessing.sampling_rate = 24000;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
