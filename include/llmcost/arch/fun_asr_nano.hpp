// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3.hpp>
#include <llmcost/forward/audio_language.hpp>
#include <llmcost/forward/encoder.hpp>

// Fun-ASR Nano: an encoder whose attention has a convolutional memory, an adaptor of two layers, and Qwen3.
namespace llmcost::arch {

namespace fun_asr_nano_detail {

enum family_config_index : std::uint8_t { mels, stacked, timestamp_layers, kernel };

inline constexpr family_key family_keys[]{
    {"num_mel_bins", 80},
    {"num_stacked_frames", 7},
    {"num_timestamp_prediction_layers", 20, family_key_type::non_negative},
    {"fsmn_kernel_size", 11},
};

enum adaptor_config_index : std::uint8_t { middle, middle_act };

inline constexpr family_key adaptor_keys[]{
    {"projector_hidden_size", 2048},
    {.default_value = static_cast<std::int64_t>(activation::relu), .type = family_key_type::computed},
};

/// Number of encoder tokens: every sixth frame of the spectrum, concatenated with its neighbours. Without audio, one.
///
/// Source: transformers/models/fun_asr_nano/feature_extraction_fun_asr_nano.py, `_apply_lfr`.
[[nodiscard]] constexpr std::int64_t frames_of(const audio_preprocessing_config& s, const workload& load) {
    if (load.audio_milliseconds == 0) return 1;
    return (num_filter_bank_frames(s, s.samples_from_milliseconds(load.audio_milliseconds)) + s.frame_stride - 1) /
           s.frame_stride;
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const std::int64_t frames = frames_of(m.audio_preprocessing, load);
    return {.audio = {.num_tokens = frames,
                      .num_samples = m.audio_preprocessing.samples_from_milliseconds(load.audio_milliseconds),
                      .num_frames = frames}};
}

/// Converts milliseconds to samples, truncated in floating point like torchaudio (`compliance.kaldi.fbank`).
constexpr std::int64_t samples_of_frame(config_view json, literal key, std::int64_t default_value, std::int64_t rate) {
    const double exact = static_cast<double>(rate * json.positive(key, default_value)) * 0.001;
    return static_cast<std::int64_t>(exact);
}

constexpr void parse_audio_config(config_view json, model& m) {
    const family_config& audio = m.components[0].config.family;
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return;
    expect_extractor(*nested_json, "FunAsrNanoFeatureExtractor");
    expect_bands(*nested_json, {"feature_size"}, audio[mels]);
    expect_rate(*nested_json, m.audio_preprocessing.sampling_rate, sixteen_thousand);
    expect_number(*nested_json, "num_frames_lfr", audio[stacked], "the num_stacked_frames of the configuration");
    m.audio_preprocessing.win_length =
        samples_of_frame(*nested_json, "frame_length", 25, m.audio_preprocessing.sampling_rate);
    m.audio_preprocessing.hop_length =
        samples_of_frame(*nested_json, "frame_shift", 10, m.audio_preprocessing.sampling_rate);
    m.audio_preprocessing.frame_stride = nested_json->positive("stride_lfr", m.audio_preprocessing.frame_stride);
}

/// Depthwise convolution over valid positions of the values, added to the attention output.
struct memory_of_values {
    const layer_context& ctx;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("FSMN"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, k = ctx.config.family[kernel];
        const tensor with_sound = t.mul(x, t.full({x.dim(0), x.dim(1), 1}, t.activation_type()));
        const module_info pad{.name = "pad", .class_of_module = {"", "ConstantPad1d"}, .is_leaf = true};
        t.enter(pad);
        const tensor padded = t.leave(pad, t.pad(with_sound.transpose(1, 2), 2, k - 1));
        const convolution_1d conv{width, width, k, 1, 0, width, false};
        return t.add(t.call("conv", conv, padded).transpose(1, 2), with_sound);
    }
};

struct memory_attention {
    const layer_context& ctx;
    bool remembers;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"FunAsrNano", "Attention"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
        const linear projection{x.dim(-1), width, true};
        const auto split = [&](const tensor& v) {
            return v.view({x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
        };
        const tensor q = split(t.call("q_proj", projection, x)), k = split(t.call("k_proj", projection, x));
        const tensor values = t.call("v_proj", projection, x);
        const attention_pattern all{.query_length = x.dim(1), .is_causal = false};
        const tensor mixed = attention_forward(t, q, k, split(values), all, {.has_float32_softmax = false});
        const tensor out = t.call("o_proj", linear{width, width, true}, t.reshape(mixed, {x.dim(0), x.dim(1), width}));
        return remembers ? t.add(out, t.call("fsmn", memory_of_values{ctx}, values)) : out;
    }
};

/// Encoder layer: attention and MLP. The attention has a residual only if the input has the width of the states.
struct encoder_layer {
    layer_context ctx;
    bool remembers;
    bool normed_last = false;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"FunAsrNano", "EncoderLayer"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, in = x.dim(-1);
        const norm_module normed{norm_kind::layer, width};
        tensor h = t.call("input_layernorm", norm_module{norm_kind::layer, in}, x);
        h = t.call("self_attn", memory_attention{ctx, remembers}, h);
        if (in == width) h = t.add(x, h);
        const mlp_module block{mlp_kind::plain,
                               width,
                               ctx.config.intermediate_size,
                               ctx.config.hidden_act,
                               {"FunAsrNano", "MLP"},
                               true,
                               {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        h = t.add(h, t.call("mlp", block, t.call("post_attention_layernorm", normed, h)));
        return normed_last ? t.call("final_layernorm", normed, h) : t.call("final_layernorm", identity{}, h);
    }
};

/// Sinusoidal position embeddings, one per position.
struct sines_of_places {
    class_name named;
    std::int64_t max_positions;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, std::int64_t places, std::int64_t width) const {
        t.register_buffer({max_positions, width}, dtype::float32);  // `positional_embedding`
        return trace::buffer({places, width});
    }
};

/// Encodes audio: (batch, frames, stacked mels) -> (batch, frames, width). Norms follow two of the layers.
constexpr tensor encode_audio(const layer_context& ctx, trace& t) {
    const std::int64_t in = ctx.config.family[mels] * ctx.config.family[stacked], layers = ctx.config.num_hidden_layers;
    const std::int64_t frames = frames_of(ctx.model.audio_preprocessing, t.load()),
                       num_main_layers = layers - ctx.config.family[timestamp_layers];
    if (frames > ctx.config.max_position_embeddings - 1)
        throw_position_error(ctx.config.max_position_embeddings - 1, frames);
    const tensor sound = t.input({t.load().batch, frames, in});
    const tensor places =
        t.call("position_embeddings",
               sines_of_places{ctx.class_of("PositionEmbedding"), ctx.config.max_position_embeddings}, frames, in);
    tensor x = t.add(t.mul_scalar(sound), places);
    const attention_inputs no_inputs;
    const auto is_last = [&](std::int64_t i) { return i == num_main_layers - 1 || i == layers - 1; };
    const auto run = [&](std::int64_t first, std::int64_t end) {
        for (loop layer_loop = t.loop_modules(end - first, x, first); layer_loop.next();)
            x = t.call({"layers", layer_loop.index()},
                       encoder_layer{ctx.for_layer(layer_loop, no_inputs), true, is_last(first)}, x);
    };
    run(0, 1);
    if (num_main_layers > 2) run(1, num_main_layers - 1);
    if (num_main_layers > 1) run(num_main_layers - 1, num_main_layers);
    const std::int64_t first_layer = num_main_layers > 1 ? num_main_layers : 1;
    if (layers - 1 > first_layer) run(first_layer, layers - 1);
    if (layers > first_layer) run(layers - 1, layers);
    return x;
}

constexpr tensor project(const layer_context& ctx, trace& t, const tensor& x) {
    const layer_context adaptor = ctx.component(1);
    const family_config& family = adaptor.config.family;
    const std::int64_t width = adaptor.config.hidden_size;
    const module_info projection{.name = "multi_modal_projector",
                                 .class_of_module = ctx.class_of("MultiModalProjector"),
                                 .module_role = role::projector};
    t.enter(projection);
    tensor h = t.call("linear_1", linear{x.dim(-1), family[middle], true}, x);
    h = t.call("act", activation_module{static_cast<activation>(family[middle_act])}, h);
    h = t.call("linear_2", linear{family[middle], width, true}, h);
    const attention_inputs no_inputs;
    for (loop layer_loop = t.loop_modules(adaptor.config.num_hidden_layers, h); layer_loop.next();)
        h = t.call({"layers", layer_loop.index()}, encoder_layer{adaptor.for_layer(layer_loop, no_inputs), false}, h);
    return t.leave(projection, h);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return audio_language::forward_text_with_audio(ctx, t, true, true, [&] {
        return project(ctx, t, forward_encoder_component(ctx, t, 0, "audio_tower", role::audio));
    });
}

constexpr void parse_encoder_config(config_view json, model_config& config) {
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    if (config.family[timestamp_layers] > config.num_hidden_layers)
        throw_invalid_value(json, "num_timestamp_prediction_layers", "at most num_hidden_layers");
}

constexpr void parse_adaptor(config_view json, model_config& config) {
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    if (const auto name = json.optional_string("projector_hidden_act"))
        config.family[middle_act] = static_cast<std::int64_t>(activation_named(json, "projector_hidden_act", *name));
}

/// The adaptor as a component without a module, used only for its configuration.
constexpr tensor no_module(const layer_context&, trace&) { return {}; }

}  // namespace fun_asr_nano_detail

// The encoder (`FunAsrNanoEncoderConfig`).
//
// Source: transformers/models/fun_asr_nano
inline constexpr submodel_spec fun_asr_nano_encoder{
    .model_type = "fun_asr_nano_encoder",
    .class_prefix = "FunAsrNano",
    .base_model = fun_asr_nano_detail::encode_audio,
    .parse_config = fun_asr_nano_detail::parse_encoder_config,
    .family_keys = fun_asr_nano_detail::family_keys,
    .rotary = rotary_style::none,
    .names = {.model_class = "Encoder"},
    .config_keys = {absent_num_key_value_heads},
    .defaults = {.hidden_size = 512,
                 .intermediate_size = 2048,
                 .num_hidden_layers = 70,
                 .num_attention_heads = 4,
                 .max_position_embeddings = 2049,
                 .hidden_act = activation::relu},
};

inline constexpr submodel_spec fun_asr_nano_adaptor = [](model_spec spec) {
    spec.model_type = "fun_asr_nano_adaptor";
    spec.base_model = fun_asr_nano_detail::no_module;
    spec.parse_config = fun_asr_nano_detail::parse_adaptor;
    spec.family_keys = fun_asr_nano_detail::adaptor_keys;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 256;
    spec.defaults.num_hidden_layers = 2;
    spec.defaults.num_attention_heads = 8;
    return spec;
}(fun_asr_nano_encoder);

// Qwen3 with the defaults of `FunAsrNanoConfig`.
//
// Source: transformers/models/fun_asr_nano
inline constexpr submodel_spec fun_asr_nano_text = [](model_spec spec) {
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 3072;
    spec.defaults.num_hidden_layers = 28;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 40960;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(qwen3);

// Source: transformers/models/fun_asr_nano
inline constexpr model_spec fun_asr_nano = [](model_spec spec) {
    spec.model_type = "fun_asr_nano";
    spec.class_prefix = "FunAsrNano";
    spec.base_model = fun_asr_nano_detail::base;
    spec.text_model = {.key = "text_config", .default_spec = &fun_asr_nano_text};
    spec.components[0] = {.key = "audio_config", .default_spec = &fun_asr_nano_encoder};
    spec.components[1] = {.key = "adaptor_config", .default_spec = &fun_asr_nano_adaptor, .ignores_model_type = true};
    spec.compute_media_shapes = fun_asr_nano_detail::compute_media_shapes;
    spec.parse_feature_extractor = fun_asr_nano_detail::parse_audio_config;
    spec.modalities.has_audio = true;
    spec.audio_preprocessing.frame_stride = 6;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
