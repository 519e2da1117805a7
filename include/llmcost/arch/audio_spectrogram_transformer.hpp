// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/vision_transformer.hpp>

// A vision transformer over a spectrogram, whose patches overlap.
namespace llmcost::arch {

namespace audio_spectrogram_transformer_detail {

enum family_config_index : std::uint8_t { mels, frames, patch_height, patch_width, mel_stride, frame_stride };
inline constexpr family_key family_keys[]{
    {"num_mel_bins", 128},
    {"max_length", 1024},
    {.default_value = 16, .type = family_key_type::computed},
    {.default_value = 16, .type = family_key_type::computed},
    {"frequency_stride", 10},
    {"time_stride", 10},
};

/// Returns a fixed number of frames for any recording; the feature extractor truncates or zero-pads it.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.audio_milliseconds > 0)
        (void)num_filter_bank_frames(m.audio_preprocessing,
                                     m.audio_preprocessing.samples_from_milliseconds(load.audio_milliseconds));
    const std::int64_t n = m.config.family[frames];
    return {.audio = {.num_samples = n * m.audio_preprocessing.hop_length, .num_frames = n}};
}

/// Parses the feature extractor's configuration.
///
/// Source: transformers/models/audio_spectrogram_transformer/feature_extraction_audio_spectrogram_transformer.py.
constexpr void parse_audio_config(config_view json, model& m) {
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return;
    expect_extractor(*nested_json, "ASTFeatureExtractor");
    expect_bands(*nested_json, {"num_mel_bins"}, m.config.family[mels]);
    expect_number(*nested_json, "max_length", m.config.family[frames], "the max_length of the configuration");
    m.audio_preprocessing.sampling_rate = nested_json->positive("sampling_rate", m.audio_preprocessing.sampling_rate);
    m.audio_preprocessing.win_length = m.audio_preprocessing.sampling_rate / 40;
    m.audio_preprocessing.hop_length = m.audio_preprocessing.sampling_rate / 100;  // 10 ms; the window is 25 ms
}

/// Patch embedding: `nn.Conv2d` with overlapping patches.
struct patch_step {
    const model_config& config;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Conv2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const family_config& family = config.family;
        const tensor weight = t.param("weight", {config.hidden_size, 1, family[patch_height], family[patch_width]});
        t.read_parameter_in_next_op(t.param("bias", {config.hidden_size}));
        return t.conv(x, weight, true, {1, {family[mel_stride], family[frame_stride]}, 1, 0});
    }
};

constexpr tensor embed(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const std::int64_t width = ctx.config.hidden_size, batch = t.load().batch;
    const module_info all{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const module_info patches{.name = "patch_embeddings", .class_of_module = ctx.class_of("PatchEmbeddings")};
    const tensor sound = t.input({batch, family[frames], family[mels]});
    t.enter(all);
    const tensor first = t.param("cls_token", {1, 1, width}), second = t.param("distillation_token", {1, 1, width});
    t.enter(patches);
    const tensor operand = t.call("projection", patch_step{ctx.config}, sound.unsqueeze(1).transpose(2, 3));
    const tensor tokens = t.leave(patches, as_tokens(operand));
    const tensor places = t.param("position_embeddings", {1, tokens.dim(1) + 2, width});
    const shape one{batch, 1, width};
    const tensor x = t.add(t.cat({first.expand(one), second.expand(one), tokens}, 1), places);
    return t.leave(all, dropout(t, "dropout", x));
}

/// Embeddings, layers and final norm. The pooled output is the mean of the first two states.
constexpr tensor base(const layer_context& ctx, trace& t) {
    tensor x = embed(ctx, t);
    for (loop layer = t.loop_modules(ctx.config.num_hidden_layers, x); layer.next();)
        x = t.call({"layers", layer.index()}, vit_layer{ctx.config, ctx.spec.class_prefix}, x);
    x = t.call("layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
    const recorder::detach_guard unread{t, ctx.config.head == head_kind::none};
    const tensor first = t.select(x, 1), second = t.select(x, 1);
    const tensor pooled = t.div_scalar(t.add(first, second));
    return ctx.config.head == head_kind::none ? x : pooled;
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    const class_name type = ctx.class_of("Model");
    if (ctx.config.head == head_kind::none) return forward_in_module({.class_of_module = type}, base, ctx, t);
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    const module_info head{.name = "classifier", .class_of_module = ctx.class_of("MLPHead"), .module_role = role::head};
    t.enter(model_info);
    const tensor x =
        forward_in_module({.name = "audio_spectrogram_transformer", .class_of_module = type}, base, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    t.enter(head);
    const tensor normed = t.call("layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
    const tensor labels = ctx.config.num_labels == 0
                              ? t.call("dense", identity{}, normed)
                              : t.call("dense", linear{ctx.config.hidden_size, ctx.config.num_labels, true}, normed);
    return t.leave(model_info, t.select_model_output(x, t.leave(head, labels)));
}

constexpr void parse_config(config_view json, model_config& config) {
    if (const auto patch = json.find("patch_size"); patch && !patch->is_null()) {
        const bool pair = patch->is_array();
        if (pair && patch->size() != 2) throw_invalid_value(json, "patch_size", "a size or a pair of sizes");
        config.family[patch_height] = pair ? (*patch)[0].as_positive() : patch->as_positive();
        config.family[patch_width] = pair ? (*patch)[1].as_positive() : patch->as_positive();
    }
    if (config.family[patch_height] != config.family[patch_width])
        throw_unsupported(json, "patch_size", "patches with different sides are not supported");
    if (config.family[mels] < config.family[patch_height])
        throw_invalid_value(json, "num_mel_bins", "at least patch_size");
    if (config.family[frames] < config.family[patch_width])
        throw_invalid_value(json, "max_length", "at least patch_size");
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    config.attention_bias = json.boolean("qkv_bias", true);
}

}  // namespace audio_spectrogram_transformer_detail

// Source: transformers/models/audio_spectrogram_transformer
inline constexpr model_spec audio_spectrogram_transformer{
    .model_type = "audio-spectrogram-transformer",
    .class_prefix = "AST",
    .forward = audio_spectrogram_transformer_detail::forward,
    .base_model = audio_spectrogram_transformer_detail::base,
    .parse_config = audio_spectrogram_transformer_detail::parse_config,
    .parse_feature_extractor = audio_spectrogram_transformer_detail::parse_audio_config,
    .family_keys = audio_spectrogram_transformer_detail::family_keys,
    .compute_media_shapes = audio_spectrogram_transformer_detail::compute_media_shapes,
    .modalities = {.has_text = false, .has_audio = true},
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::none, head_kind::audio_classification},
    .defaults = {.hidden_size = 768,
                 .intermediate_size = 3072,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 12,
                 .hidden_act = activation::gelu,
                 .head = head_kind::audio_classification},
};

}  // namespace llmcost::arch
