// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_5_vl.hpp>
#include <llmcost/arch/qwen2_audio.hpp>
#include <llmcost/arch/qwen2_vl.hpp>
#include <llmcost/forward/audio_chunks.hpp>
#include <llmcost/forward/qwen_vision.hpp>

namespace llmcost::arch {

namespace qwen2_5_omni_detail {

using audio_chunks::audio_layer, audio_chunks::half_chunk, audio_chunks::mels, audio_chunks::output_dim,
    audio_chunks::places;

// ---- vision encoder: that of Qwen2.5-VL, whose queries, keys and values have projections of their own

/// Attention of a packed row within pictures or windows: (S, width) -> the same.
struct vision_attention {
    layer_context ctx;
    const packed_attention_pattern& made;
    packed_sequences runs;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t rows = x.dim(0), width = x.dim(1);
        const linear projection{width, width, true};
        const auto heads = [&](literal name) {
            return t.call(name, projection, x).view({rows, ctx.config.num_attention_heads, -1});
        };
        const auto apply_float32_rotary = [&](const tensor& part) {
            return t.to(rotate(t, rotary_style::rotate_half, t.to(part, dtype::float32), made.cos, made.sin),
                        part.type);
        };
        const tensor q = heads("q"), k = heads("k"), v = heads("v");
        const tensor rotated_q = apply_float32_rotary(q), rotated_k = apply_float32_rotary(k);
        return t.call("proj", projection, packed_scaled_dot_product_attention(t, rotated_q, rotated_k, v, runs));
    }
};

constexpr tensor encode_images(const layer_context& ctx, trace& t) {
    constexpr qwen_vision::window_names names{{"Qwen2_5_", "VisionPatchEmbed"}, "Qwen2_5Omni", "Qwen2_5OmniRMSNorm"};
    return qwen_vision::encode_windowed_images(
        ctx, t, names, ctx.config.hidden_size / ctx.config.num_attention_heads,
        [](const layer_context& layer_ctx, const packed_attention_pattern& made, const packed_sequences& runs) {
            return vision_attention{layer_ctx, made, runs};
        });
}

// ---- audio encoder: chunks of two seconds, with attention within each chunk

inline constexpr family_key audio_keys[]{
    {"num_mel_bins", 128}, {"max_source_positions", 1500}, {"n_window", 100}, {"output_dim", 3584}};

/// Returns the frames of a recording, cut to the maximum number of seconds (`WhisperFeatureExtractor`). Without audio,
/// the frames of one chunk declare the encoder.
[[nodiscard]] constexpr std::int64_t frames_of(const audio_preprocessing_config& s, const workload& load) noexcept {
    if (load.audio_milliseconds == 0) return 4;
    const std::int64_t started_frames = s.num_started_frames(s.samples_from_milliseconds(load.audio_milliseconds)),
                       maximum = s.padded_samples() / s.hop_length;
    return started_frames < maximum ? started_frames : maximum;
}

/// States that a convolution makes of two frames each.
[[nodiscard]] constexpr std::int64_t states_of(std::int64_t frames) noexcept { return (frames + 1) / 2; }

/// Declares modules that are never called: two token embeddings, a position table, a pooling module.
constexpr void declare_not_executed(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const module_info table{
        .name = "positional_embedding", .class_of_module = {"", "SinusoidsPositionEmbedding"}, .is_leaf = true};
    const module_info bos_eos_embedding{
        .name = "audio_bos_eos_token", .class_of_module = {"", "Embedding"}, .is_leaf = true};
    const module_info pool{.name = "avg_pooler", .class_of_module = {"", "AvgPool1d"}, .is_leaf = true};
    t.enter(table);
    t.register_buffer(count(family[places]) * count(ctx.config.hidden_size * 4));
    t.leave(table);
    t.enter(bos_eos_embedding);
    (void)t.param("weight", {2, family[output_dim]});
    t.leave(bos_eos_embedding);
    t.enter(pool);
    t.leave(pool);
}

/// Frames of all recordings in one row, (frames, mels), as chunks; layers; pairs of states averaged: (tokens, width).
constexpr tensor encode_audio(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const std::int64_t batch = t.load().batch, frames = frames_of(ctx.model.audio_preprocessing, t.load()),
                       chunk = 2 * family[half_chunk];
    const std::int64_t chunks = (frames + chunk - 1) / chunk, longest = frames < chunk ? frames : chunk;
    const std::int64_t width = ctx.config.hidden_size,
                       states = batch * states_of(chunk) * (frames / chunk) + batch * states_of(frames % chunk);
    const tensor lengths = trace::buffer({batch});
    (void)t.ceil(t.div_scalar(lengths));  // chunks of each recording, rounded up
    const tensor sound =
        t.gather(trace::buffer({batch * frames, family[mels]}), {batch * chunks, longest, family[mels]});
    tensor x = t.call("conv1", convolution_1d{family[mels], width, 3, 1, 1}, sound.transpose(1, 2));
    x = t.mul(t.gelu(x), trace::buffer({batch * chunks, 1, longest}));
    x = t.gelu(t.call("conv2", convolution_1d{width, width, 3, 2, 1}, x)).transpose(1, 2);
    x = t.add(x, t.buffer({1, x.dim(1), width}));
    declare_not_executed(ctx, t);
    x = t.gather(t.reshape(x, {-1, width}), {states, width});
    packed_sequences runs;
    runs.add(states_of(chunk), batch * (frames / chunk));
    runs.add(states_of(frames % chunk), batch);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, audio_layer{ctx, runs}, x);
    const std::int64_t tokens = batch * (states_of(frames) / 2);
    const tensor first = t.gather(x, {tokens, width}), second = t.gather(x, {tokens, width});
    x = t.call("ln_post", norm_module{norm_kind::layer, width}, t.div_scalar(t.add(first, second)));
    return t.call("proj", linear{width, family[output_dim], true}, x);
}

// ---- the complete model

inline constexpr family_key bound_keys[]{
    {.default_value = 56 * 56, .type = family_key_type::computed},
    {.default_value = 28 * 28 * 1280, .type = family_key_type::computed},
    {.default_value = 28 * 28 * 128, .type = family_key_type::computed},
    {.default_value = 28 * 28 * 768, .type = family_key_type::computed},
};

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    media_shapes shapes = qwen_vision::compute_media_shapes(m, load);
    if (load.audio_milliseconds == 0) return shapes;
    const std::int64_t frames = frames_of(m.audio_preprocessing, load), tokens = states_of(frames) / 2;
    if (tokens < 1) throw_description_error("the recording is too short: it has no audio token");
    if (m.components[1].config.family[output_dim] != m.config.hidden_size)
        throw_description_error("the audio features and the token embeddings have different widths");
    shapes.audio = {.num_tokens = tokens,
                    .num_samples = m.audio_preprocessing.samples_from_milliseconds(load.audio_milliseconds),
                    .num_frames = frames};
    return shapes;
}

/// Selects unpadded audio frames, then inserts audio features and image features at their token positions.
constexpr tensor forward_multimodal(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](tensor token_embeddings) {
        {
            const recorder::not_executed_guard silent{t, !has_audio(t)};
            const std::int64_t mel = ctx.component(1).config.family[mels], batch = t.load().batch;
            const audio_preprocessing_config& s = ctx.model.audio_preprocessing;
            const tensor spectrum = t.input({batch, mel, filled_frames(s, s.padded_samples())});
            (void)t.gather(spectrum, {batch * frames_of(s, t.load()), mel});
            const tensor features = forward_encoder_component(ctx, t, 1, "audio_tower", role::audio);
            if (has_audio(t)) token_embeddings = t.masked_scatter(token_embeddings, features);
        }
        return insert_image_features(ctx, t, token_embeddings,
                                     [&] { return forward_encoder_component(ctx, t, 0, "visual", role::vision); });
    });
}

/// Heads share the width; a window only for layers from `max_window_layers` on.
constexpr void parse_text_config(config_view json, model_config& config) {
    set_qwen_sliding_window(json, config, 28);
    divide_by_heads(json, config, {"num_attention_heads"});
    if (2 * parse_sections(json, {3, 64}).frequencies != config.rotary_dim)
        fail_sections(json, "frequencies per axis that add up to half of a head");
    config.attention_bias = true;
    config.output_bias = false;
}

}  // namespace qwen2_5_omni_detail

// transformers/models/qwen2_5_omni, Qwen2_5OmniTextConfig
inline constexpr model_spec qwen2_5_omni_text = [](model_spec spec) {
    spec.dropout_keys = {};
    spec.model_type = "qwen2_5_omni_text";
    spec.class_prefix = "Qwen2_5Omni";
    spec.parse_config = qwen2_5_omni_detail::parse_text_config;
    spec.names.model_class = "ThinkerTextModel";
    spec.defaults.hidden_size = 3584;
    spec.defaults.intermediate_size = 18944;
    spec.defaults.num_hidden_layers = 28;
    spec.defaults.num_attention_heads = 28;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.sliding_window = 32768;
    return spec;
}(qwen2_vl_text);

// transformers/models/qwen2_5_omni, Qwen2_5OmniVisionEncoderConfig
inline constexpr submodel_spec qwen2_5_omni_vision = [](model_spec spec) {
    spec.model_type = "qwen2_5_omni_vision_encoder";
    spec.class_prefix = "Qwen2_5Omni";
    spec.base_model = qwen2_5_omni_detail::encode_images;
    spec.names.model_class = "VisionEncoder";
    return spec;
}(qwen2_5_vl_vision);

// transformers/models/qwen2_5_omni, Qwen2_5OmniAudioEncoderConfig
inline constexpr submodel_spec qwen2_5_omni_audio = [](model_spec spec) {
    spec.model_type = "qwen2_5_omni_audio_encoder";
    spec.class_prefix = "Qwen2_5Omni";
    spec.base_model = qwen2_5_omni_detail::encode_audio;
    spec.parse_config = audio_chunks::parse_audio_config;
    spec.family_keys = qwen2_5_omni_detail::audio_keys;
    spec.names.model_class = "AudioEncoder";
    return spec;
}(qwen2_audio_encoder);

// transformers/models/qwen2_5_omni, Qwen2_5OmniThinkerConfig: audio encoder, vision encoder and text model
inline constexpr model_spec qwen2_5_omni_thinker = [](model_spec spec) {
    spec.model_type = "qwen2_5_omni_thinker";
    spec.class_prefix = "Qwen2_5OmniThinker";
    spec.base_model = qwen2_5_omni_detail::forward_multimodal;
    spec.family_keys = qwen2_5_omni_detail::bound_keys;
    spec.compute_media_shapes = qwen2_5_omni_detail::compute_media_shapes;
    spec.parse_image_processor = qwen_vision::parse_processor_config;
    spec.parse_feature_extractor = audio_chunks::parse_audio_config;
    spec.modalities.has_images = spec.modalities.has_videos = spec.modalities.has_audio = true;
    spec.text_model = {.key = "text_config", .default_spec = &qwen2_5_omni_text, .ignores_model_type = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &qwen2_5_omni_vision, .ignores_model_type = true};
    spec.components[1] = {.key = "audio_config", .default_spec = &qwen2_5_omni_audio, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
