// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/forward/audio_language.hpp>
#include <llmcost/forward/not_executed.hpp>

namespace llmcost::arch {

namespace glmasr_detail {

enum family_config_index : std::uint8_t { mels };

inline constexpr family_key family_keys[]{{"num_mel_bins", 128}};

/// Audio shapes: complete windows if their states can be concatenated. Four states are merged to a token.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const audio_language::recording r = audio_language::recording_of(m.audio_preprocessing, load);
    return audio_language::make_audio_shapes(m, r, r.states() / 4);
}

constexpr void parse_audio_config(config_view json, model& m) {
    const model_config& audio = m.components[0].config;
    const auto nested_json = audio_language::parse_extractor(json, m, audio.family[mels]);
    if (nested_json && (filled_frames(m.audio_preprocessing, m.audio_preprocessing.padded_samples()) + 1) / 2 *
                               audio.hidden_size % audio.intermediate_size !=
                           0)
        throw_invalid_value(*nested_json, first_present_key(*nested_json, {"chunk_length", "hop_length", "n_fft"}),
                            "windows with a multiple of four states");
    parse_most_seconds(json, m.audio_preprocessing);
}

/// Bidirectional attention with partial RoPE. The key projection has no bias.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, d = ctx.config.head_dim, heads = ctx.config.num_attention_heads;
    const std::int64_t expanded_width = heads * d, kv_size = ctx.config.num_key_value_heads * d;
    query_key_value qkv{t.call("q_proj", linear{width, expanded_width, true}, x),
                        t.call("k_proj", linear{width, kv_size}, x), t.call("v_proj", linear{width, kv_size, true}, x)};
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    const tensor mixed = attention_forward(t, qkv.query, qkv.key, qkv.value, ctx.inputs->pattern, {});
    return t.call("o_proj", linear{expanded_width, width, true}, t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
}

struct encoder_layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module normed{norm_kind::layer, ctx.config.hidden_size};
        const tensor h = t.add(x, t.call("self_attn", attention_module{ctx}, t.call("input_layernorm", normed, x)));
        const mlp_module block{mlp_kind::plain,
                               ctx.config.hidden_size,
                               ctx.config.intermediate_size,
                               ctx.config.hidden_act,
                               ctx.class_of("MLP"),
                               true,
                               {.up = "fc1", .down = "fc2"}};
        return t.add(h, t.call("mlp", block, t.call("post_attention_layernorm", normed, h)));
    }
};

/// Audio encoder: two convolutions, layers with RoPE, norm.
constexpr tensor encode_audio(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size, mel_bins = ctx.config.family[mels];
    const std::int64_t frames =
        filled_frames(ctx.model.audio_preprocessing, ctx.model.audio_preprocessing.padded_samples());
    const tensor sound = t.input({t.load().batch, mel_bins, frames});
    tensor x = t.gelu(t.call("conv1", convolution_1d{mel_bins, width, 3, 1, 1}, sound));
    x = t.gelu(t.call("conv2", convolution_1d{width, width, 3, 2, 1}, x)).transpose(1, 2);
    workload load = t.load();
    load.sequence = x.dim(1);
    load.past = 0;
    const recorder::workload_guard states{t, load};
    attention_inputs inputs;
    inputs.pattern = {.query_length = x.dim(1), .is_causal = false};
    compute_rotary_embeddings(ctx, t, inputs);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, encoder_layer{ctx.for_layer(layer_loop, inputs)}, x);
    return t.call("norm", norm_module{norm_kind::layer, width}, x);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    using namespace audio_language;
    return forward_text_with_audio(ctx, t, true, true, [&] {
        const recording r = recording_of(ctx.model.audio_preprocessing, t.load());
        const tensor x = encode_in_tower(
            ctx, t, r, [&](const layer_context& tower) { return glmasr_detail::encode_audio(tower, t); });
        const tensor merged_states = t.reshape(x, {x.dim(0), -1, ctx.component(0).config.intermediate_size});
        return project_twice(ctx, t, merged_states, 2 * ctx.config.hidden_size, true);
    });
}

constexpr void parse_config(config_view json, model_config& config) {
    config.rotary_dim = round_rotary_dim(config.head_dim, detail::parse_partial_rotary_factor(json, 0.5));
}

}  // namespace glmasr_detail

// The audio encoder (`GlmAsrEncoderConfig`).
//
// Source: transformers/models/glmasr
inline constexpr submodel_spec glmasr_encoder{
    .model_type = "glmasr_encoder",
    .class_prefix = "GlmAsr",
    .base_model = glmasr_detail::encode_audio,
    .attention = glmasr_detail::attention,
    .parse_config = glmasr_detail::parse_config,
    .family_keys = glmasr_detail::family_keys,
    .has_partial_rotary = true,
    .names = {.model_class = "Encoder"},
    .defaults = {.hidden_size = 1280,
                 .intermediate_size = 5120,
                 .num_hidden_layers = 32,
                 .num_attention_heads = 20,
                 .max_position_embeddings = 1500,
                 .hidden_act = activation::gelu},
};

// Llama with the defaults of `GlmAsrConfig`.
//
// Source: transformers/models/glmasr
inline constexpr submodel_spec glmasr_text = [](model_spec spec) {
    spec.defaults.vocab_size = 59264;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 6144;
    spec.defaults.num_hidden_layers = 28;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.max_position_embeddings = 8192;
    return spec;
}(llama);

// Source: transformers/models/glmasr
inline constexpr model_spec glmasr = [](model_spec spec) {
    spec.model_type = "glmasr";
    spec.class_prefix = "GlmAsr";
    spec.base_model = glmasr_detail::base;
    spec.text_model = {.key = "text_config", .default_spec = &glmasr_text};
    spec.components[0] = {.key = "audio_config", .default_spec = &glmasr_encoder};
    spec.family_keys = audio_language::projector_keys;
    spec.parse_composite_config = audio_language::parse_projector_act;
    spec.compute_media_shapes = glmasr_detail::compute_media_shapes;
    spec.parse_feature_extractor = glmasr_detail::parse_audio_config;
    spec.modalities.has_audio = true;
    spec.audio_preprocessing.max_samples = 655 * 16000;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
