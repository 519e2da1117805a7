// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/reading/sound_files.hpp>
#include <llmcost/walks/sound.hpp>

// A vision transformer over a spectrogram, whose patches overlap.
namespace llmcost::arch {

namespace ast_detail {

enum own : std::uint8_t { mels, frames, patch_height, patch_width, mel_stride, frame_stride };
inline constexpr own_key keys[]{
    {"num_mel_bins", 128},
    {"max_length", 1024},
    {.otherwise = 16, .value = own_value::computed},
    {.otherwise = 16, .value = own_value::computed},
    {"frequency_stride", 10},
    {"time_stride", 10},
};

/// What a feature extractor makes of any recording that has a frame: so many, cut or filled up with zeros.
constexpr media_shapes show(const model& m, const workload& load) {
    if (load.audio_milliseconds > 0) (void)filter_bank_frames(m.sound, m.sound.samples_of(load.audio_milliseconds));
    const std::int64_t n = m.dims.own[frames];
    return {.audio = {.samples = n * m.sound.hop, .frames = n}};
}

/// Source: transformers/models/audio_spectrogram_transformer/feature_extraction_audio_spectrogram_transformer.py.
constexpr void read_sound(config_view config, model& m) {
    const auto told = extractor_told(config);
    if (!told) return;
    expect_extractor(*told, "ASTFeatureExtractor");
    expect_bands(*told, {"num_mel_bins"}, m.dims.own[mels]);
    expect_number(*told, "max_length", m.dims.own[frames], "the max_length of the configuration");
    m.sound.rate = told->positive("sampling_rate", m.sound.rate);
    m.sound.window = m.sound.rate / 40, m.sound.hop = m.sound.rate / 100;  // 25 and 10 milliseconds
}

/// `nn.Conv2d` over patches that overlap.
struct patch_step {
    const sizes& dims;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "Conv2d"}; }
    constexpr value describe(trace& t, const value& x) const {
        const own_sizes& own = dims.own;
        const value weight = t.param("weight", {dims.hidden_size, 1, own[patch_height], own[patch_width]});
        t.beside(t.param("bias", {dims.hidden_size}));
        return t.convolution(x, weight, true, {1, {own[mel_stride], own[frame_stride]}, 1, 0});
    }
};

constexpr value embed(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t width = here.dims.hidden_size, batch = t.load().batch;
    const module_info all{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    const module_info patches{.name = "patch_embeddings", .type = here.type("PatchEmbeddings")};
    const value sound = t.input({batch, own[frames], own[mels]});
    t.enter(all);
    const value first = t.param("cls_token", {1, 1, width}), second = t.param("distillation_token", {1, 1, width});
    t.enter(patches);
    const value each = t.call("projection", patch_step{here.dims}, sound.unsqueeze(1).transpose(2, 3));
    const value tokens = t.leave(patches, as_tokens(each));
    const value places = t.param("position_embeddings", {1, tokens.dim(1) + 2, width});
    const extents one{batch, 1, width};
    const value x = t.add(t.cat({first.expand(one), second.expand(one), tokens}, 1), places);
    return t.leave(all, dropout(t, "dropout", x));
}

/// Embeddings, layers and a norm; what is handed out is the mean of the first two states.
constexpr value base(const site& here, trace& t) {
    value x = embed(here, t);
    for (repetition layer = t.repeat(here.dims.num_hidden_layers, x); layer.next();)
        x = t.call({"layers", layer.index()}, vit_layer{here.dims, here.row.prefix}, x);
    x = t.call("layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
    const recorder::off_loss_guard unread{t, here.dims.head == head_kind::none};
    const value pooled = t.div(t.add(t.select(x, 1), t.select(x, 1)));
    return here.dims.head == head_kind::none ? x : pooled;
}

constexpr value describe(const site& here, trace& t) {
    const class_name type = here.type("Model");
    if (here.dims.head == head_kind::none) return describe_within({.type = type}, base, here, t);
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    const module_info head{.name = "classifier", .type = here.type("MLPHead"), .what = role::head};
    t.enter(whole);
    const value x = describe_within({.name = "audio_spectrogram_transformer", .type = type}, base, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    t.enter(head);
    const value normed = t.call("layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
    const value labels = here.dims.num_labels == 0
                             ? t.call("dense", identity{}, normed)
                             : t.call("dense", linear{here.dims.hidden_size, here.dims.num_labels, true}, normed);
    return t.leave(whole, t.returns(x, t.leave(head, labels)));
}

constexpr void read(config_view config, sizes& s) {
    if (const auto patch = config.find("patch_size"); patch && !patch->is_null()) {
        const bool pair = patch->is_array();
        if (pair && patch->size() != 2) fail_value(config, "patch_size", "a size or a pair of sizes");
        s.own[patch_height] = pair ? (*patch)[0].as_positive() : patch->as_positive();
        s.own[patch_width] = pair ? (*patch)[1].as_positive() : patch->as_positive();
    }
    if (s.own[patch_height] != s.own[patch_width])
        fail_unsupported(config, "patch_size", "no row describes oblong patches of a spectrogram");
    if (s.own[mels] < s.own[patch_height]) fail_value(config, "num_mel_bins", "at least patch_size");
    if (s.own[frames] < s.own[patch_width]) fail_value(config, "max_length", "at least patch_size");
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    s.attention_bias = config.boolean("qkv_bias", true);
}

}  // namespace ast_detail

// transformers/models/audio_spectrogram_transformer
inline constexpr architecture audio_spectrogram_transformer{
    .model_type = "audio-spectrogram-transformer",
    .prefix = "AST",
    .describe = ast_detail::describe,
    .base = ast_detail::base,
    .read = ast_detail::read,
    .read_sound = ast_detail::read_sound,
    .own = ast_detail::keys,
    .media = ast_detail::show,
    .reads = {.text = false, .audio = true},
    .rotated = rotation::none,
    .heads = {head_kind::none, head_kind::audio_classification},
    .defaults = {.hidden_size = 768,
                 .intermediate_size = 3072,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 12,
                 .hidden_act = activation::gelu,
                 .head = head_kind::audio_classification},
};

}  // namespace llmcost::arch
