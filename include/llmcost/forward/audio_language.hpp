// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/whisper_layers.hpp>

// Qwen2-Audio: windows of audio through an encoder, as tokens of a text model (arXiv 2407.10759).
namespace llmcost::audio_language {

enum family_config_index : std::uint8_t { mels, places };

/// What a processor makes of one: windows of so many frames, and frames that sound fills.
struct recording {
    std::int64_t windows = 1;
    std::int64_t frames_per_window = 0;
    std::int64_t frames = 0;

    /// States of two frames each that an encoder makes of the frames with sound.
    [[nodiscard]] constexpr std::int64_t states() const noexcept { return (frames + 1) / 2; }
};

/// Returns the recording of a workload, cut to complete windows. Without audio, one complete window declares the
/// encoder.
///
/// Source: transformers/models/audioflamingo3/processing_audioflamingo3.py, `_process_audio`.
constexpr recording recording_of(const audio_preprocessing_config& s, const workload& load) {
    const std::int64_t window = s.padded_samples(), frames_per_window = filled_frames(s, window);
    if (load.audio_milliseconds == 0) return {1, frames_per_window, frames_per_window};
    const std::int64_t input_samples = s.samples_from_milliseconds(load.audio_milliseconds),
                       maximum = s.max_samples / window * window;
    const std::int64_t samples = input_samples < maximum ? input_samples : maximum, rest = samples % window,
                       started_frames = s.num_started_frames(rest);
    return {(samples + window - 1) / window, frames_per_window,
            samples / window * frames_per_window +
                (started_frames < frames_per_window ? started_frames : frames_per_window)};
}

[[nodiscard]] constexpr media_shapes make_audio_shapes(const model& m, const recording& r, std::int64_t tokens) {
    if (tokens < 1) throw_description_error("the recording is too short: it has no audio token");
    const std::int64_t frames = r.windows * r.frames_per_window;
    return {.audio = {
                .num_tokens = tokens, .num_samples = frames * m.audio_preprocessing.hop_length, .num_frames = frames}};
}

/// Checks that an executed audio encoder has as many positions as a complete window requires.
constexpr void check_window(const model& m, const recording& r, const workload& load) {
    if (load.audio_milliseconds > 0 && 2 * m.components[0].config.family[places] != r.frames_per_window)
        throw_description_error("audio_config.max_source_positions: differs from the window length of recordings");
}

/// Two states are pooled to a token.
constexpr media_shapes compute_pooled_shapes(const model& m, const workload& load) {
    const recording r = recording_of(m.audio_preprocessing, load);
    check_window(m, r, load);
    return make_audio_shapes(m, r, r.states() / 2);
}

/// Parses the feature extractor settings of Whisper, for a Processor class that requires 16000 samples per second.
constexpr maybe<config_view> parse_extractor(config_view json, model& m, std::int64_t bands) {
    const auto nested_json = find_feature_extractor_config(json);
    if (nested_json) {
        expect_extractor(*nested_json, "WhisperFeatureExtractor");
        expect_bands(*nested_json, {"feature_size"}, bands);
        expect_rate(*nested_json, m.audio_preprocessing.sampling_rate, sixteen_thousand);
        parse_filled(*nested_json, m.audio_preprocessing);
    }
    return nested_json;
}

/// `nn.AvgPool1d(2, stride=2)`.
struct state_pool {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "AvgPool1d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.pool(op::average_pool, x, 2, 2); }
};

/// Runs Whisper's encoder over windows, with an optional mask of silence and optional pooling of state pairs.
///
/// (windows, mels, 3000) -> (windows, 1500 or 750, width); `mask` hides the states of silence.
constexpr tensor encode_windows(const layer_context& ctx, trace& t, const tensor* mask, bool pools,
                                bool has_float32_positions = false) {
    const std::int64_t width = ctx.config.hidden_size, states = ctx.config.family[places];
    const tensor sound = t.input({t.load().batch, ctx.config.family[mels], 2 * states});
    tensor x = t.gelu(t.call("conv1", convolution_1d{ctx.config.family[mels], width, 3, 1, 1}, sound));
    x = t.gelu(t.call("conv2", convolution_1d{width, width, 3, 2, 1}, x)).permute({0, 2, 1});
    const module_info table{.name = "embed_positions", .class_of_module = {"", "Embedding"}, .is_leaf = true};
    t.enter(table);  // the reference reads the weight without calling the module
    const tensor positions = [&] {
        const trace::float32_parameters_guard typed{t, has_float32_positions};
        return t.frozen_parameter("weight", {states, width});
    }();
    t.leave(table);
    x = t.to(t.add(x, positions), x.type);
    const stack_sizes s{width,
                        ctx.config.num_attention_heads,
                        ctx.config.intermediate_size,
                        ctx.config.hidden_act,
                        ctx.spec.class_prefix,
                        false};
    const attention_pattern all{.query_length = states, .is_causal = false};
    const attention_inputs no_inputs;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();) {
        const module_info layer{"layers", layer_loop.index(), ctx.class_of("EncoderLayer"), role::none, false};
        const layer_context layer_ctx = ctx.for_layer(layer_loop, no_inputs);
        t.enter(layer);
        const tensor h = stack_attention_block(layer_ctx, t, whisper_layers::style, s, x, nullptr, all, mask);
        x = t.leave(layer, stack_mlp(t, true, s, h));
    }
    if (pools) x = t.call("avg_pooler", state_pool{}, x.permute({0, 2, 1})).permute({0, 2, 1});
    return stack_norm(t, "layer_norm", x);
}

/// Runs `body` in the audio encoder's module path, over the windows of the complete batch.
template <class Inside>
constexpr tensor encode_in_tower(const layer_context& ctx, trace& t, const recording& r, const Inside& body) {
    const layer_context tower = ctx.component(0);
    const module_info m{.name = "audio_tower",
                        .class_of_module = tower.class_of(tower.spec.names.model_class),
                        .module_role = role::audio};
    workload load = t.load();
    load.batch *= r.windows;
    const recorder::workload_guard encoder_workload{t, load};
    t.enter(m);
    return t.leave(m, body(tower));
}

/// A mask of states without sound; of windows that sound fills there is none (transformers/masking_utils.py,
/// `allow_is_bidirectional_skip`).
constexpr tensor silence_mask(trace& t, const recording& r, std::int64_t states) {
    if (r.states() >= r.windows * states) return {};
    return eager_mask(t, {.query_length = states, .is_causal = false}, t.load().batch);
}

/// Inserts audio features at the audio token positions.
///
/// The reference counts the positions by selecting them (`get_placeholder_mask`), which copies as much data again.
constexpr tensor insert_features(trace& t, const tensor& token_embeddings, const tensor& features,
                                 std::int64_t num_tokens, bool picks, bool checks_count) {
    const std::int64_t all = t.load().batch * num_tokens, width = token_embeddings.dim(-1);
    if (features.dim(-1) != width)
        throw_description_error("the audio features and the token embeddings have different widths");
    const tensor selected = picks ? t.gather(features, {all, width}) : features;
    if (checks_count) (void)t.gather(token_embeddings, {all, width});
    return t.masked_scatter(token_embeddings, selected);
}

/// Runs the text model on token embeddings with the audio features from `encode_audio()`.
template <class Hear>
constexpr tensor forward_text_with_audio(const layer_context& ctx, trace& t, bool picks, bool checks_count,
                                         const Hear& encode_audio) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard silent{t, !has_audio(t)};
        const tensor features = encode_audio();
        if (!has_audio(t)) return token_embeddings;
        return insert_features(t, token_embeddings, features,
                               ctx.spec.compute_media_shapes(ctx.model, t.load()).audio.num_tokens, picks,
                               checks_count);
    });
}

/// The tower by itself, declared.
constexpr tensor encode_audio(const layer_context& ctx, trace& t) { return encode_windows(ctx, t, nullptr, true); }

/// Unties the head, whatever the configuration contains: these types have no `_tied_weights_keys`.
constexpr void untie_embeddings(config_view, model& m) { m.config.tie_word_embeddings = false; }

// of models with two projections and an activation between them
enum projector_config_index : std::uint8_t { act, biased, rotary_time_dim, num_time_steps };

inline constexpr family_key projector_keys[]{
    {.default_value = static_cast<std::int64_t>(activation::gelu), .type = family_key_type::computed},
    {"projector_bias", 1, family_key_type::boolean},
    {.type = family_key_type::computed},  // elements of a state that its time rotates
    {.type = family_key_type::computed},  // rows of the table of angles
};

constexpr void parse_projector_act(config_view json, model& m) {
    if (const auto name = json.optional_string("projector_hidden_act"))
        m.family[act] = static_cast<std::int64_t>(activation_named(json, "projector_hidden_act", *name));
}

constexpr void parse_projector(config_view json, model& m) {
    untie_embeddings(json, m);
    parse_projector_act(json, m);
}

/// Two projections and an activation between them: x (..., in) -> (..., width of the text).
constexpr tensor project_twice(const layer_context& ctx, trace& t, const tensor& x, std::int64_t inner, bool bias) {
    const projector multi_modal_projector{
        ctx.class_of("MultiModalProjector"),           x.dim(-1), inner, ctx.config.hidden_size, bias,
        static_cast<activation>(ctx.model.family[act])};
    return t.call("multi_modal_projector", multi_modal_projector, x);
}

constexpr tensor flamingo_tower(const layer_context& ctx, trace& t) {
    const recording r = recording_of(ctx.model.audio_preprocessing, t.load());
    return encode_in_tower(ctx, t, r, [&](const layer_context& tower) {
        const tensor mask = silence_mask(t, r, tower.config.family[places]);
        return encode_windows(tower, t, mask.rank > 0 ? &mask : nullptr, true);
    });
}

}  // namespace llmcost::audio_language
