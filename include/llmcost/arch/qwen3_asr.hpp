// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_audio.hpp>
#include <llmcost/arch/qwen3.hpp>
#include <llmcost/forward/not_executed.hpp>

namespace llmcost::arch {

namespace qwen3_asr_detail {

enum family_config_index : std::uint8_t { mels, out_width, planes, half_chunk, window };

inline constexpr family_key family_keys[]{{"num_mel_bins", 128},
                                          {"output_dim", 3584},
                                          {"downsample_hidden_size", 480},
                                          {"n_window", 50},
                                          {"n_window_infer", 800}};

/// Places that three convolutions of stride two leave.
[[nodiscard]] constexpr std::int64_t eighth(std::int64_t frames) noexcept {
    for (int i = 0; i < 3; ++i) frames = (frames + 1) / 2;
    return frames;
}

/// A recording in chunks, padded with silence to a number of seconds, and to a complete chunk.
///
/// Source: transformers/models/qwen3_asr/feature_extraction_qwen3_asr.py.
struct chunks {
    std::int64_t frames_per_chunk;  ///< frames of a chunk
    std::int64_t n;                 ///< all of them, silence included
    std::int64_t tokens;            ///< of chunks with sound
    std::int64_t window;            ///< tokens that see each other

    constexpr chunks(const model_config& audio, const audio_preprocessing_config& s, const workload& load)
        : frames_per_chunk(2 * audio.family[half_chunk]) {
        const std::int64_t all =
            load.audio_milliseconds == 0 ? s.padded_samples() : s.samples_from_milliseconds(load.audio_milliseconds);
        const std::int64_t truncated_samples = s.max_samples > 0 && all > s.max_samples ? s.max_samples : all,
                           num_samples = truncated_samples < s.min_samples ? s.min_samples : truncated_samples;
        const std::int64_t filled = num_samples < s.padded_samples() ? s.padded_samples() : num_samples;
        const std::int64_t started_frames = s.num_started_frames(num_samples), max_frames = filled / s.hop_length,
                           frames = started_frames < max_frames ? started_frames : max_frames;
        n = (filled_frames(s, filled) + frames_per_chunk - 1) / frames_per_chunk;
        tokens = frames / frames_per_chunk * eighth(frames_per_chunk) + eighth(frames % frames_per_chunk);
        window = eighth(frames < frames_per_chunk ? frames : frames_per_chunk) *
                 (audio.family[qwen3_asr_detail::window] / frames_per_chunk);
    }
};

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const chunks audio_chunks(m.components[0].config, m.audio_preprocessing, load);
    const std::int64_t frames = audio_chunks.n * audio_chunks.frames_per_chunk;
    return {.audio = {.num_tokens = audio_chunks.tokens,
                      .num_samples = frames * m.audio_preprocessing.hop_length,
                      .num_frames = frames}};
}

/// Whisper's extractor, which other repositories name, cuts off what does not fit into `chunk_length`.
constexpr void parse_audio_config(config_view json, model& m) {
    const model_config& audio = m.components[0].config;
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return;
    const bool cuts = nested_json->string("feature_extractor_type", "") == string_ref("WhisperFeatureExtractor");
    if (!cuts) expect_extractor(*nested_json, "Qwen3ASRFeatureExtractor");
    expect_bands(*nested_json, {"feature_size"}, audio.family[mels]);
    expect_rate(*nested_json, m.audio_preprocessing.sampling_rate, sixteen_thousand);
    expect_number(*nested_json, "n_window", audio.family[half_chunk], "the n_window of the configuration");
    parse_filled(*nested_json, m.audio_preprocessing);
    m.audio_preprocessing.min_samples =
        cuts ? 0 : nested_json->non_negative("min_length", m.audio_preprocessing.min_samples);
    m.audio_preprocessing.max_samples = cuts ? m.audio_preprocessing.padded_samples() : 0;
}

/// Attention of tokens to those of their window, one window after the other: (tokens, width) -> the same.
struct window_attention {
    layer_context ctx;
    std::int64_t batch;
    const chunks& audio_chunks;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AudioAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
        const linear square{width, width, true};
        const auto split = [&](literal name) {
            return t.call(name, square, x).view({x.dim(0), heads, width / heads}).transpose(0, 1).unsqueeze(0);
        };
        const tensor q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
        tensor window_output;
        const auto attention = [&](std::int64_t num_windows, std::int64_t places) {
            if (places == 0) return;
            const attention_pattern all{.query_length = places, .is_causal = false};
            for (loop layer_loop = t.loop_time_steps(num_windows, window_output); layer_loop.next();)
                window_output =
                    attention_forward(t, q.slice(2, places), k.slice(2, places), v.slice(2, places), all, {});
        };
        attention(batch * (audio_chunks.tokens / audio_chunks.window), audio_chunks.window);
        attention(batch, audio_chunks.tokens % audio_chunks.window);
        tensor attention_output = t.cat({q.transpose(1, 2)}, 1);  // as large as what all windows give
        attention_output.requires_grad = window_output.requires_grad;
        return t.call("out_proj", square, t.reshape(attention_output, {x.dim(0), width}));
    }
};

struct encoder_layer {
    window_attention attention;
    const stack_sizes& stack_config;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return attention.ctx.class_of("AudioEncoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor h = t.add(x, t.call("self_attn", attention, stack_norm(t, "self_attn_layer_norm", x)));
        return stack_mlp(t, true, stack_config, h);
    }
};

/// Runs three convolutions over time and frequency of each chunk, including silent ones, then the layers over the valid
/// states.
///
/// (batch, mels, frames) -> (tokens of the complete batch, width).
constexpr tensor encode_audio(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const chunks audio_chunks(ctx.config, ctx.model.audio_preprocessing, t.load());
    const std::int64_t width = ctx.config.hidden_size, p = family[planes], batch = t.load().batch;
    const module_info places{
        .name = "positional_embedding", .class_of_module = {"", "SinusoidsPositionEmbedding"}, .is_leaf = true};
    t.enter(places);
    t.register_buffer({eighth(audio_chunks.frames_per_chunk), width}, dtype::float32);
    t.leave(places);  // the reference reads the table without calling the module
    const tensor frames = t.input({batch, family[mels], audio_chunks.n * audio_chunks.frames_per_chunk})
                              .view({batch, family[mels], audio_chunks.n, audio_chunks.frames_per_chunk});
    tensor x = t.reshape(frames.permute({0, 2, 1, 3}),
                         {batch * audio_chunks.n, 1, family[mels], audio_chunks.frames_per_chunk});
    x = t.gelu(t.call("conv2d1", convolution_2d{1, p, 3, 2, 1}, x));
    x = t.gelu(t.call("conv2d2", convolution_2d{p, p, 3, 2, 1}, x));
    x = t.gelu(t.call("conv2d3", convolution_2d{p, p, 3, 2, 1}, x));
    const tensor flattened = t.contiguous(x.permute({0, 3, 1, 2})).view({x.dim(0), x.dim(3), x.dim(1) * x.dim(2)});
    x = t.call("conv_out", linear{flattened.dim(-1), width}, flattened);
    t.add_(x, trace::buffer({x.dim(1), width}));
    x = t.gather(x, {batch * audio_chunks.tokens, width});
    const stack_sizes s{width,
                        ctx.config.num_attention_heads,
                        ctx.config.intermediate_size,
                        ctx.config.hidden_act,
                        ctx.spec.class_prefix,
                        false};
    const attention_inputs no_inputs;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()},
                   encoder_layer{{ctx.for_layer(layer_loop, no_inputs), batch, audio_chunks}, s}, x);
    return stack_norm(t, "ln_post", x);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    using namespace audio_language;
    return forward_text_with_audio(ctx, t, false, true, [&] {
        const tensor x = forward_encoder_component(ctx, t, 0, "audio_tower", role::audio);
        const model_config& audio = ctx.component(0).config;
        const projector multi_modal_projector{ctx.class_of("MultiModalProjector"),
                                              audio.hidden_size,
                                              audio.hidden_size,
                                              audio.family[out_width],
                                              true,
                                              audio.hidden_act};
        return t.call("multi_modal_projector", multi_modal_projector, x);
    });
}

constexpr void parse_config(config_view json, model_config& config) {
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "encoder_attention_heads", "a divisor of d_model");
    if (config.family[window] < 2 * config.family[half_chunk])
        throw_invalid_value(json, "n_window_infer", "at least twice n_window");
}

}  // namespace qwen3_asr_detail

// transformers/models/qwen3_asr, Qwen3ASREncoderConfig
inline constexpr submodel_spec qwen3_asr_encoder = [](model_spec spec) {
    spec.model_type = "qwen3_asr_encoder";
    spec.class_prefix = "Qwen3ASR";
    spec.base_model = qwen3_asr_detail::encode_audio;
    spec.parse_config = qwen3_asr_detail::parse_config;
    spec.family_keys = qwen3_asr_detail::family_keys;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    return spec;
}(qwen2_audio_encoder);

// transformers/models/qwen3_asr, Qwen3ASRConfig: the text model of a configuration that has none
inline constexpr submodel_spec qwen3_asr_text = [](model_spec spec) {
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 6144;
    spec.defaults.num_hidden_layers = 28;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 65536;
    return spec;
}(qwen3);

// transformers/models/qwen3_asr
inline constexpr model_spec qwen3_asr = [](model_spec spec) {
    spec.model_type = "qwen3_asr";
    spec.class_prefix = "Qwen3ASR";
    spec.base_model = qwen3_asr_detail::base;
    spec.text_model = {.key = "text_config", .default_spec = &qwen3, .spec_if_absent = &qwen3_asr_text};
    spec.components[0] = {.key = "audio_config", .default_spec = &qwen3_asr_encoder};
    spec.compute_media_shapes = qwen3_asr_detail::compute_media_shapes;
    spec.parse_feature_extractor = qwen3_asr_detail::parse_audio_config;
    spec.modalities.has_audio = true;
    spec.audio_preprocessing.min_samples = 8000;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
