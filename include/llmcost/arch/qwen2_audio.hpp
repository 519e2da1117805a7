// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/arch/qwen2_audio_windows.hpp>
#include <llmcost/arch/whisper.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/not_executed.hpp>

// Text models with Whisper's encoder as their audio encoder.
namespace llmcost::arch {

namespace qwen2_audio_detail {

/// `nn.AvgPool1d(2, stride=2)`.
struct state_pool {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "AvgPool1d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.pool(op::average_pool, x, 2, 2); }
};

/// Attention without a bias of keys, and a feed-forward block, as Whisper has them.
constexpr void declare_layer(const layer_context& ctx, not_executed_modules& not_executed, literal attention,
                             bool key_bias) {
    const std::int64_t in = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    not_executed.module("self_attn", {ctx.spec.class_prefix, attention}, [&] {
        not_executed.linear("k_proj", in, in, key_bias);
        for (const literal name : {"v_proj", "q_proj", "out_proj"}) not_executed.linear(name, in, in);
    });
    not_executed.layer_norm("self_attn_layer_norm", in);
    not_executed.act("activation_fn", ctx.config.hidden_act);
    not_executed.linear("fc1", in, inner);
    not_executed.linear("fc2", inner, in);
    not_executed.layer_norm("final_layer_norm", in);
}

// ---- a tower

/// Runs Whisper's encoder over windows, with an optional mask of silence and optional pooling of state pairs.
///
/// (windows, mels, 3000) -> (windows, 1500 or 750, width); `mask` hides the states of silence.
constexpr tensor encode_windows(const layer_context& ctx, trace& t, const tensor* mask, bool pools) {
    const std::int64_t width = ctx.config.hidden_size, states = ctx.config.family[places];
    const tensor sound = t.input({t.load().batch, ctx.config.family[mels], 2 * states});
    tensor x = t.gelu(t.call("conv1", convolution_1d{ctx.config.family[mels], width, 3, 1, 1}, sound));
    x = t.gelu(t.call("conv2", convolution_1d{width, width, 3, 2, 1}, x)).permute({0, 2, 1});
    const module_info table{.name = "embed_positions", .class_of_module = {"", "Embedding"}, .is_leaf = true};
    t.enter(table);  // the reference reads the weight without calling the module
    const tensor positions = t.frozen_parameter("weight", {states, width});
    t.leave(table);
    x = t.add(x, positions);
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
        const layer_context at = ctx.for_layer(layer_loop, no_inputs);
        t.enter(layer);
        const tensor h = stack_attention_block(at, t, whisper_detail::style, s, x, nullptr, all, mask);
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

/// Runs the audio encoder, which text inputs do not execute, then the text model.
constexpr tensor forward_audio_language(const layer_context& ctx, trace& t) {
    (void)forward_encoder_component(ctx, t, 0, "audio_tower", role::audio);
    return forward_text_model(ctx, t, "language_model");
}

/// The tower by itself, declared.
constexpr tensor encode_audio(const layer_context& ctx, trace& t) { return encode_windows(ctx, t, nullptr, true); }

/// Runs the audio encoder, one projection, and the text model.
///
/// The mask is built before the encoder, from a column of zeros as long as its states.
constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_with_audio(ctx, t, true, false, [&] {
        const recording r = recording_of(ctx.model.audio_preprocessing, t.load());
        const std::int64_t states = ctx.component(0).config.family[places];
        (void)t.full({t.load().batch, states, 1}, t.activation_type());
        const tensor mask = silence_mask(t, r, states);
        const tensor x = encode_in_tower(ctx, t, r, [&](const layer_context& tower) {
            return encode_windows(tower, t, mask.rank > 0 ? &mask : nullptr, true);
        });
        const module_info projection{.name = "multi_modal_projector",
                                     .class_of_module = ctx.class_of("MultiModalProjector"),
                                     .module_role = role::projector};
        t.enter(projection);
        return t.leave(projection, t.call("linear", linear{x.dim(-1), ctx.config.hidden_size, true}, x));
    });
}

/// Unties the head, whatever the configuration contains: these types have no `_tied_weights_keys`.
constexpr void untie_embeddings(config_view, model& m) { m.config.tie_word_embeddings = false; }

// of models with two projections and an activation between them
enum projector_config_index : std::uint8_t { act, biased, rotary_time_dim };
inline constexpr family_key projector_keys[]{
    {.default_value = static_cast<std::int64_t>(activation::gelu), .type = family_key_type::computed},
    {"projector_bias", 1, family_key_type::boolean},
    {.type = family_key_type::computed},  // elements of a state that its time rotates
};

constexpr void parse_projector_act(config_view json, model& m) {
    if (const auto name = json.optional_string("projector_hidden_act"))
        m.family[act] = static_cast<std::int64_t>(activation_named(json, "projector_hidden_act", *name));
}
constexpr void parse_projector(config_view json, model& m) {
    untie_embeddings(json, m);
    parse_projector_act(json, m);
}

constexpr void declare_projector(const layer_context& ctx, trace& t, std::int64_t in, std::int64_t inner, bool bias) {
    not_executed_modules not_executed{t};
    not_executed.module(
        "multi_modal_projector", ctx.class_of("MultiModalProjector"),
        [&] {
            not_executed.linear("linear_1", in, inner, bias);
            not_executed.act("act", static_cast<activation>(ctx.model.family[act]));
            not_executed.linear("linear_2", inner, ctx.config.hidden_size, bias);
        },
        role::projector);
}

/// Two projections and an activation between them: x (..., in) -> (..., width of the text).
constexpr tensor project_twice(const layer_context& ctx, trace& t, const tensor& x, std::int64_t inner, bool bias) {
    const projector multi_modal_projector{
        ctx.class_of("MultiModalProjector"),           x.dim(-1), inner, ctx.config.hidden_size, bias,
        static_cast<activation>(ctx.model.family[act])};
    return t.call("multi_modal_projector", multi_modal_projector, x);
}

/// Voxtral: several frames as one, as many as make the width of a feed-forward block.
constexpr tensor voxtral_encode_audio(const layer_context& ctx, trace& t) {
    return encode_windows(ctx, t, nullptr, false);
}
constexpr tensor voxtral_base(const layer_context& ctx, trace& t) {
    return forward_text_with_audio(ctx, t, false, true, [&] {
        const recording r = filled_recording_of(ctx.model.audio_preprocessing, t.load());
        const tensor x =
            encode_in_tower(ctx, t, r, [&](const layer_context& tower) { return voxtral_encode_audio(tower, t); });
        const tensor grouped_frames = t.reshape(x, {-1, ctx.component(0).config.intermediate_size});
        return project_twice(ctx, t, grouped_frames, ctx.config.hidden_size, false);
    });
}
constexpr tensor flamingo_tower(const layer_context& ctx, trace& t) {
    const recording r = recording_of(ctx.model.audio_preprocessing, t.load());
    return encode_in_tower(ctx, t, r, [&](const layer_context& tower) {
        const tensor mask = silence_mask(t, r, tower.config.family[places]);
        return encode_windows(tower, t, mask.rank > 0 ? &mask : nullptr, true);
    });
}
constexpr tensor flamingo_base(const layer_context& ctx, trace& t) {
    return forward_text_with_audio(ctx, t, true, true, [&] {
        return project_twice(ctx, t, flamingo_tower(ctx, t), ctx.config.hidden_size, ctx.model.family[biased] != 0);
    });
}

/// Angles of a window's index and its positions, times the timestamp of each position in seconds. Returns two tensors
/// (windows, positions, rotary_dim).
struct time_table {
    class_name named;
    std::int64_t rotary_dim;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor_pair forward(trace& t, const tensor& seconds) const {
        const recorder::no_grad_guard constants{t};
        const std::int64_t windows = seconds.dim(0), states = seconds.dim(1), half = rotary_dim / 2;
        const tensor numbers = t.div_scalar(t.abs(t.div_scalar(trace::buffer({windows}))));  // rounded between
        const tensor by_window = t.repeat_interleave(t.mul(numbers.unsqueeze(-1), trace::buffer({half / 2})), -1, 2);
        const shape all{windows, states, half};
        const tensor angles = t.cat({by_window.unsqueeze(1).expand(all), trace::buffer(all)}, -1);
        const tensor turns = t.mul_scalar(t.mul_scalar(t.neg(seconds)));
        const tensor scaled_angles = t.mul(angles, turns.unsqueeze(-1));
        const tensor cos = t.cos(scaled_angles);
        return {cos, t.sin(scaled_angles)};
    }
};

/// Music Flamingo: rotates states by their timestamps, in double precision.
///
/// Source: transformers/models/musicflamingo/modeling_musicflamingo.py, `_build_audio_timestamps`,
/// `apply_rotary_time_emb`.
constexpr tensor rotate_by_time(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t windows = x.dim(0), states = x.dim(1), rotary_dim = ctx.model.family[rotary_time_dim];
    const tensor offsets = t.mul_scalar(t.full({states}));
    (void)t.cat({t.full({1}), trace::buffer({windows - 1})}, 0);
    const tensor seconds = t.add(t.mul_scalar(trace::buffer({windows, 1})), offsets);
    const time_table table{ctx.class_of("RotaryEmbedding"), rotary_dim};
    const tensor_pair angles = t.call("pos_emb", table, seconds);
    const tensor upcast = t.to(x, dtype::float64);
    const tensor cos = t.to(angles.first, dtype::float64), sin = t.to(angles.second, dtype::float64);
    const tensor part = t.slice(upcast, -1, rotary_dim);
    const tensor pairs = part.view({windows, states, rotary_dim / 2, 2});
    const tensor first = pairs.select(-1), second = pairs.select(-1);
    const tensor rotated_half =
        t.cat({t.neg(second).unsqueeze(-1), first.unsqueeze(-1)}, -1).view({windows, states, rotary_dim});
    const tensor rotated = t.add(t.mul(part, cos), t.mul(rotated_half, sin));
    return t.to(t.cat({rotated, t.slice(upcast, -1, x.dim(-1) - rotary_dim)}, -1), x.type);
}
constexpr tensor music_base(const layer_context& ctx, trace& t) {
    return forward_text_with_audio(ctx, t, true, true, [&] {
        const tensor x = rotate_by_time(ctx, t, flamingo_tower(ctx, t));
        return project_twice(ctx, t, x, ctx.config.hidden_size, ctx.model.family[biased] != 0);
    });
}
constexpr void parse_music(config_view json, model& m) {
    parse_projector(json, m);
    const std::int64_t width = m.components[0].config.hidden_size;
    const double part = detail::parse_partial_rotary_factor(json, 0.2);
    m.family[rotary_time_dim] = 2 * round_rotary_dim(width, part);
    if (m.family[rotary_time_dim] < 4 || m.family[rotary_time_dim] > width)
        throw_invalid_value(json, "partial_rotary_factor",
                            "a factor whose rotated part fits twice into the width of the audio encoder");
}

/// Windows have a fixed number of places, and heads share the width.
constexpr void parse_encoder_config(config_view json, model_config& config) {
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "encoder_attention_heads", "a divisor of d_model");
}

}  // namespace qwen2_audio_detail

// transformers/models/qwen2_audio, Qwen2AudioEncoderConfig
inline constexpr submodel_spec qwen2_audio_encoder{
    .model_type = "qwen2_audio_encoder",
    .class_prefix = "Qwen2Audio",
    .base_model = qwen2_audio_detail::encode_audio,
    .parse_config = qwen2_audio_detail::parse_encoder_config,
    .family_keys = qwen2_audio_detail::family_keys,
    .rotary = rotary_style::none,
    .names = {.model_class = "Encoder"},
    .config_keys = {{"num_hidden_layers", "encoder_layers", key_rule::standard_name_first},
                    {"hidden_size", "d_model", key_rule::standard_name_first},
                    {"intermediate_size", "encoder_ffn_dim", key_rule::standard_name_first},
                    {"hidden_act", "activation_function", key_rule::family_name_only},
                    {"num_attention_heads", "encoder_attention_heads", key_rule::standard_name_first},
                    {"num_key_value_heads", "", key_rule::absent},
                    {"head_dim", "", key_rule::absent}},
    .defaults = {.hidden_size = 1280,
                 .intermediate_size = 5120,
                 .num_hidden_layers = 32,
                 .num_attention_heads = 20,
                 .hidden_act = activation::gelu},
};

// transformers/models/qwen2_audio
inline constexpr model_spec qwen2_audio = [](model_spec spec) {
    spec.model_type = "qwen2_audio";
    spec.class_prefix = "Qwen2Audio";
    spec.base_model = qwen2_audio_detail::base;
    spec.text_model = {.key = "text_config", .default_spec = &qwen2};
    spec.components[0] = {.key = "audio_config", .default_spec = &qwen2_audio_encoder};
    spec.parse_composite_config = qwen2_audio_detail::untie_embeddings;
    spec.compute_media_shapes = qwen2_audio_detail::show_pooled;
    spec.parse_feature_extractor = qwen2_audio_detail::parse_audio_config;
    spec.modalities.has_audio = true;
    spec.audio_preprocessing.max_samples = 30 * 16000;
    return spec;
}(shared_composite);

// transformers/models/voxtral, VoxtralEncoderConfig
inline constexpr submodel_spec voxtral_encoder = [](model_spec spec) {
    spec.model_type = "voxtral_encoder";
    spec.class_prefix = "Voxtral";
    spec.base_model = qwen2_audio_detail::voxtral_encode_audio;
    for (key_name& k : spec.config_keys)
        if (k.rule == key_rule::standard_name_first) k.rule = key_rule::family_name_first;
    return spec;
}(qwen2_audio_encoder);

// transformers/models/voxtral, VoxtralConfig: what a Llama that it holds is without keys of its own
inline constexpr submodel_spec voxtral_text = [](model_spec spec) {
    spec.defaults.vocab_size = 131072;
    spec.defaults.hidden_size = 3072;
    spec.defaults.intermediate_size = 8192;
    spec.defaults.num_hidden_layers = 30;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 131072;
    return spec;
}(llama);

// transformers/models/voxtral
inline constexpr model_spec voxtral = [](model_spec spec) {
    spec.model_type = "voxtral";
    spec.class_prefix = "Voxtral";
    spec.base_model = qwen2_audio_detail::voxtral_base;
    spec.family_keys = qwen2_audio_detail::projector_keys;
    spec.parse_composite_config = qwen2_audio_detail::parse_projector;
    spec.text_model.default_spec = &voxtral_text;
    spec.components[0].default_spec = &voxtral_encoder;
    spec.compute_media_shapes = qwen2_audio_detail::show_windows;
    spec.parse_feature_extractor = qwen2_audio_detail::parse_filled_windows;
    return spec;
}(qwen2_audio);

// transformers/models/audioflamingo3
inline constexpr submodel_spec audioflamingo3_encoder = [](model_spec spec) {
    spec.model_type = "audioflamingo3_encoder";
    spec.class_prefix = "AudioFlamingo3";
    spec.base_model = qwen2_audio_detail::encode_audio;
    return spec;
}(voxtral_encoder);
inline constexpr model_spec audioflamingo3 = [](model_spec spec) {
    spec.model_type = "audioflamingo3";
    spec.class_prefix = "AudioFlamingo3";
    spec.base_model = qwen2_audio_detail::flamingo_base;
    spec.text_model.default_spec = &qwen2;
    spec.components[0].default_spec = &audioflamingo3_encoder;
    spec.compute_media_shapes = qwen2_audio_detail::show_pooled;
    spec.parse_feature_extractor = qwen2_audio_detail::parse_windows;
    spec.audio_preprocessing.max_samples = 600 * 16000;
    return spec;
}(voxtral);

// transformers/models/musicflamingo: the encoder of Audio Flamingo 3
inline constexpr model_spec musicflamingo = [](model_spec spec) {
    spec.model_type = "musicflamingo";
    spec.class_prefix = "MusicFlamingo";
    spec.base_model = qwen2_audio_detail::music_base;
    spec.parse_composite_config = qwen2_audio_detail::parse_music;
    spec.audio_preprocessing.max_samples = 1200 * 16000;
    return spec;
}(audioflamingo3);

}  // namespace llmcost::arch
