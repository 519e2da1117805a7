// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/attention.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/packed_sequences.hpp>

// The audio encoder of Phi-4 multimodal: convolutions that reduce frames by a factor of eight, and a conformer with
// learned relative-position biases.
namespace llmcost::arch {

namespace phi4_multimodal_detail {

enum audio_config_index : std::uint8_t {
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
inline constexpr family_key audio_keys[]{
    {"depthwise_multiplier", 1},
    {"kernel_size", 3},
    {"input_size", 80},
    {"time_reduction", 8},
    {"bias_max_distance", 1000},
    {"bias_symmetric", 0, family_key_type::boolean},
    {"nemo_conv_channels", 1024},
    {"downsample_rate", 1},
    {.default_value = static_cast<std::int64_t>(activation::swish), .type = family_key_type::computed},
    {.default_value = static_cast<std::int64_t>(activation::swish), .type = family_key_type::computed},
    {.default_value = static_cast<std::int64_t>(activation::relu), .type = family_key_type::computed},
    {.type = family_key_type::computed},  // what the convolutions leave of mel bins
};

/// Returns the frames after convolutions, each of which halves them, for a total reduction of `time_reduction`.
[[nodiscard]] constexpr std::int64_t halved(std::int64_t frames, std::int64_t time_reduction) noexcept {
    for (; time_reduction > 1; time_reduction /= 2) frames = (frames + 1) / 2;
    return frames;
}

constexpr void parse_audio_config(config_view json, model_config& config) {
    const auto act = [&](literal key, audio_config_index place) {
        if (const auto name = json.optional_string(key))
            config.family[place] = static_cast<std::int64_t>(activation_named(json, key, *name));
    };
    act("conv_activation", conv_act);
    act("conv_glu_type", glu_act);
    act("nemo_activation", plane_act);
    if (config.family[reduction] % 2 != 0) throw_invalid_value(json, "time_reduction", "an even number");
    if (config.family[reduction] >= 128)
        throw_unsupported(json, "time_reduction", "more than 6 convolutions are not supported");
    // a saved configuration contains the value, which takes precedence (configuration_phi4_multimodal.py,
    // `__post_init__`)
    config.family[final_mels] = json.positive("nemo_final_size", halved(config.family[mels], config.family[reduction]));
    for (const literal key : {"ext_pw_out_channel", "depthwise_separable_out_channel"})
        if (json.positive(key, 1024) != config.hidden_size)
            throw_invalid_value(json, key, "the hidden_size, as a layer's convolutions read each other");
    set_single_mask(json, config);
}

constexpr activation act_of(const layer_context& ctx, audio_config_index index) {
    return static_cast<activation>(ctx.config.family[index]);
}

/// Frames less a mean, times a deviation's reciprocal, both buffers.
struct frame_norm {
    const layer_context& ctx;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioMeanVarianceNormLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        tensor numbers = trace::buffer({ctx.config.family[mels]});
        numbers.type = x.type;
        t.register_buffer(count(2) * count(numbers.numel) * count(bits_of(x.type)) / count(8));
        return t.mul(t.sub(x, numbers), numbers);
    }
};

/// Convolutions over time and mel bins; the activation between them is one module, and no child of their list.
struct subsampling {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioNemoConvSubsampling"); }
    constexpr tensor forward(trace& t, const tensor& sound) const {
        constexpr literal names[][2]{{"0", ""}, {"2", "3"}, {"5", "6"}, {"8", "9"}, {"11", "12"}, {"14", "15"}};
        const family_config& family = ctx.config.family;
        const module_info list{.name = "conv", .class_of_module = {"", "Sequential"}};
        const std::int64_t p = family[planes], batch = sound.dim(0);
        tensor x = sound.unsqueeze(1);
        int i = 0;
        for (std::int64_t left = family[reduction]; left > 1; left /= 2, ++i) {
            t.enter(list);
            x = t.call(names[i][0], convolution_2d{x.dim(1), p, 3, 2, 1, x.dim(1)}, x);
            if (i > 0) x = t.call(names[i][1], convolution_2d{p, p}, x);
            (void)t.leave(list, x);
            x = t.call("act_fn", activation_module{act_of(ctx, plane_act)}, x);
        }
        const std::int64_t states = x.dim(2);
        // if not executed, the declared width is used, which the frames may not fit
        const tensor flat = has_audio(t) ? t.reshape(x.transpose(1, 2), {batch, states, -1})
                                         : trace::buffer({batch, states, p * family[final_mels]});
        x = t.call("out", linear{p * family[final_mels], ctx.config.hidden_size, true}, flat);
        if (batch > 1) (void)t.abs(t.div_scalar(trace::buffer({batch})));  // where recordings end, rounded up
        return x;
    }
};

/// A gate between two projections, each followed by dropout.
struct audio_mlp {
    const layer_context& ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioMLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const tensor normed = t.call("layer_norm", norm_module{norm_kind::layer, width}, x);
        const tensor gate_up = t.call("gate_up_proj", linear{width, 2 * inner, true}, normed);
        const tensor gate = t.call("act_fn", activation_module{ctx.config.hidden_act}, gate_up.slice(-1, inner));
        const tensor h = dropout(t, "dropout", t.mul(gate_up.slice(-1, inner), gate));
        return dropout(t, "dropout", t.call("down_proj", linear{inner, width, true}, h));
    }
};

struct audio_attention {
    const layer_context& ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        query_key_value qkv = project_qkv(ctx, t, x);
        split_heads(ctx, qkv);
        transpose_heads(qkv);
        const attention_pattern all{.query_length = x.dim(1), .is_causal = false};
        const tensor mixed = attention_forward(t, qkv.query, qkv.key, qkv.value, all, {.mask = &ctx.inputs->mask});
        return output_projection(ctx, t, t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1})));
    }
};

/// Half of the channels times an activation of the other half, each with a bias: (B, S, width) -> the same.
struct gated_projection {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioGluPointWiseConv"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const tensor b1 = t.param("b1", {1, width, 1}), b2 = t.param("b2", {1, width, 1});
        const tensor gate_up = t.call("ext_pw_conv_1d", convolution_1d{width, 2 * width}, x.permute({0, 2, 1}));
        const tensor half = t.add(t.slice(gate_up, 1, width), b1), gate = t.add(t.slice(gate_up, 1, width), b2);
        return t.mul(half, t.call("glu_act", activation_module{act_of(ctx, glu_act)}, gate)).permute({0, 2, 1});
    }
};

/// A convolution of each channel, then one over channels.
struct separable_convolution {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioDepthWiseSeparableConv1d"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, expanded_width = width * ctx.config.family[times],
                           k = ctx.config.family[kernel];
        const tensor depthwise = t.call("dw_conv", convolution_1d{width, expanded_width, k, 1, k - 1, width}, x);
        return t.call("pw_conv", convolution_1d{expanded_width, width}, depthwise);
    }
};

/// Causal convolution module: outputs from the zero padding at the end are cut off.
struct convolution_module {
    const layer_context& ctx;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioConvModule"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, k = ctx.config.family[kernel];
        const tensor gated =
            t.call("glu", gated_projection{ctx}, t.call("layer_norm", norm_module{norm_kind::layer, width}, x));
        tensor h = t.call("dw_sep_conv_1d", separable_convolution{ctx}, gated.permute({0, 2, 1}));
        if (k > 1) h = t.slice(h, 2, h.dim(2) - (k - 1));
        h = t.call("act", activation_module{act_of(ctx, conv_act)}, h);
        return dropout(t, "dropout", t.call("ext_pw_conv_1d", convolution_1d{width, width}, h).permute({0, 2, 1}));
    }
};

struct audio_layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioConformerEncoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module normed{norm_kind::layer, ctx.config.hidden_size};
        tensor h = t.add(x, t.mul_scalar(t.call("feed_forward_in", audio_mlp{ctx}, x)));
        h = t.add(h, t.call("self_attn", audio_attention{ctx}, t.call("layer_norm_att", normed, h)));
        h = t.add(h, t.call("conv", convolution_module{ctx}, h));
        h = t.add(h, t.mul_scalar(t.call("feed_forward_out", audio_mlp{ctx}, h)));
        return t.call("layer_norm", normed, h);
    }
};

/// A bias of each head for each distance of two places: (1, heads, S, S).
constexpr tensor distance_biases(const layer_context& ctx, trace& t, std::int64_t places) {
    const std::int64_t heads = ctx.config.num_attention_heads;
    const std::int64_t rows = ctx.config.family[distance] * (ctx.config.family[symmetric] != 0 ? 1 : 2);
    const module_info biases{.name = "relative_attention_bias_layer",
                             .class_of_module = ctx.class_of("AudioRelativeAttentionBias")};
    t.enter(biases);
    const tensor x = t.call("bias_values", embedding{rows, heads}, shape{places, places});
    return t.leave(biases, x.permute({2, 0, 1}).unsqueeze(0));
}

/// How many states attend to each other; a longer recording is cut into parts of as many (`unfold_tensor`).
inline constexpr std::int64_t longest_part = 500;

constexpr tensor cut_into_parts(trace& t, const tensor& states) {
    const std::int64_t parts = (states.dim(1) + longest_part - 1) / longest_part, width = states.dim(2);
    if (states.dim(0) > 1)
        throw_description_error("batches of recordings of more than 500 states are not supported by the reference");
    if (t.is_training()) throw_description_error("training with recordings of more than 500 states is not supported");
    const std::int64_t added = parts * longest_part - states.dim(1);
    const tensor x = added > 0 ? t.pad(states, 1, added) : states;
    const tensor columns =
        t.pad_to_shape(x, {1, width * longest_part, parts}).view({1, width, longest_part, parts});  // `F.unfold`
    return t.contiguous(columns.permute({0, 3, 2, 1}).view({parts, longest_part, width}));
}

/// Returns the frames of a recording; those of one second without audio.
[[nodiscard]] constexpr std::int64_t frames_in(const trace& t, const audio_preprocessing_config& sound) {
    return num_filter_bank_frames(sound, has_audio(t) ? num_audio_samples(sound, t.load()) : sound.sampling_rate);
}

/// A conformer over normed frames: (B, frames, mels) -> (B, states, width).
constexpr tensor encode_audio(const layer_context& ctx, trace& t) {
    const std::int64_t batch = t.load().batch, width = ctx.config.hidden_size, factor = ctx.config.family[reduction];
    if (has_audio(t) && (factor & (factor - 1)) != 0)
        throw_description_error("time_reduction: not supported by the reference, whose mask requires a power of two");
    const tensor frames =
        t.call("encoder_embedding", frame_norm{ctx},
               t.input({batch, frames_in(t, ctx.model.audio_preprocessing), ctx.config.family[mels]}));
    tensor x = t.call("embed", subsampling{ctx}, frames);
    const std::int64_t states = x.dim(1);
    const bool parts = states > longest_part;
    if (parts) x = cut_into_parts(t, x);
    const tensor biases = distance_biases(ctx, t, x.dim(1));
    tensor features = trace::buffer({x.dim(0), 1, x.dim(1), x.dim(1)});  // truth values: what is no padding
    features.type = biases.type;
    const attention_inputs inputs{.mask = t.add(features, biases)};
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"encoders", layer_loop.index()}, audio_layer{ctx.for_layer(layer_loop, inputs)}, x);
    if (!parts) return x;
    x = x.view({batch, -1, width});
    return x.dim(1) > states ? t.slice(x, 1, states) : x;
}

/// One token for every eighth frame, as the feature extractor counts by itself.
constexpr audio_shape compute_audio_shape(const model& m, const workload& load) {
    if (load.audio_milliseconds == 0) return {};
    const std::int64_t samples = num_audio_samples(m.audio_preprocessing, load),
                       frames = num_filter_bank_frames(m.audio_preprocessing, samples);
    return {.num_tokens = (frames + 7) / 8, .num_samples = samples, .num_frames = frames};
}

/// Source: transformers/models/phi4_multimodal/feature_extraction_phi4_multimodal.py.
constexpr void parse_audio_config(config_view json, model& m) {
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return;
    expect_extractor(*nested_json, "Phi4MultimodalFeatureExtractor");
    expect_bands(*nested_json, {"feature_size"}, m.components[1].config.family[mels]);
    expect_number(*nested_json, "audio_compression_rate", 8, "8, the number of frames per token");
    for (const literal key : {"audio_downsample_rate", "audio_feat_stride"})
        expect_number(*nested_json, key, 1, "1: a token for every eighth frame");
    m.audio_preprocessing.sampling_rate = nested_json->positive("sampling_rate", m.audio_preprocessing.sampling_rate);
    parse_frames(*nested_json, m.audio_preprocessing);
}

/// Inserts audio features at the audio token positions; inputs that also contain images have separate projections
/// (`Phi4MultimodalAudioEmbedding`).
constexpr tensor place_sound(const layer_context& ctx, trace& t, const tensor& token_embeddings) {
    const bool sounds = has_audio(t), has_image_inputs = has_images(t);
    const recorder::not_executed_guard silent{t, !sounds};
    const model_config& config = ctx.model.components[1].config;
    const std::int64_t expanded_width = ctx.config.hidden_size, audio_width = config.hidden_size * config.family[rate],
                       batch = t.load().batch;
    const module_info m{.name = "audio_embed", .class_of_module = ctx.class_of("AudioEmbedding")};
    t.enter(m);
    const tensor states = forward_encoder_component(ctx, t, 1, "encoder", role::audio);
    if (sounds && config.family[rate] != 1)
        throw_description_error("downsample_rate: concatenated states are not supported by the reference");
    const auto project = [&](literal up, literal down, bool called) {
        const recorder::not_executed_guard unused_projection{t, !called};
        const tensor source = called && sounds ? states : trace::buffer({batch, 1, audio_width});
        const tensor h = t.gelu(t.call(up, projector_linear{audio_width, expanded_width, true}, source));
        return t.call(down, projector_linear{expanded_width, expanded_width, true}, h);
    };
    const tensor of_sound = project("up_proj_for_speech", "down_proj_for_speech", !has_image_inputs);
    const tensor vision_speech_states =
        project("up_proj_for_vision_speech", "down_proj_for_vision_speech", has_image_inputs);
    const tensor& all = has_image_inputs ? vision_speech_states : of_sound;
    tensor placed = token_embeddings;
    if (sounds) {
        const std::int64_t tokens = compute_audio_shape(ctx.model, t.load()).num_tokens;
        if (tokens > all.dim(1))
            throw_description_error(
                "time_reduction: the encoder has fewer states than the feature extractor has tokens");
        tensor x = t.select_repeatedly(all, 0, batch);
        if (tokens < all.dim(1)) x = t.slice(x, 0, tokens);
        placed = t.masked_scatter(token_embeddings, t.cat({window_tiling(x, 0, batch)}, 0));
    }
    return t.leave(m, dropout(t, "drop", placed, dropout_position::embeddings));
}

}  // namespace phi4_multimodal_detail

// transformers/models/phi4_multimodal, Phi4MultimodalAudioConfig
inline constexpr submodel_spec phi4_multimodal_audio{
    .model_type = "phi4_multimodal_audio",
    .class_prefix = "Phi4Multimodal",
    .base_model = phi4_multimodal_detail::encode_audio,
    .parse_config = phi4_multimodal_detail::parse_audio_config,
    .family_keys = phi4_multimodal_detail::audio_keys,
    .rotary = rotary_style::none,
    .names = {.model_class = "AudioModel"},
    .config_keys = {{"num_hidden_layers", "num_blocks", key_rule::family_name_only},
                    {"hidden_act", "activation", key_rule::family_name_only}},
    .defaults = {.hidden_size = 1024,
                 .intermediate_size = 1536,
                 .num_hidden_layers = 24,
                 .num_attention_heads = 16,
                 .hidden_act = activation::swish,
                 .attention_bias = true,
                 .output_bias = true},
};

}  // namespace llmcost::arch
