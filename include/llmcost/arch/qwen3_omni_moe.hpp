// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_5_omni.hpp>
#include <llmcost/arch/qwen3_vl.hpp>
#include <llmcost/arch/qwen3_vl_moe.hpp>
#include <llmcost/forward/audio_chunks.hpp>
#include <llmcost/forward/deepstack.hpp>
#include <llmcost/forward/qwen_vision.hpp>

namespace llmcost::arch {

namespace qwen3_omni_moe_detail {

using deepstack::deep, deepstack::merge, deepstack::out_width, deepstack::places;

// ---- vision encoder: that of Qwen3-VL, whose mergers have other names

/// Several patches as one: two layers with a norm in front, over a patch or over all of them.
struct merger {
    layer_context ctx;
    bool over_all;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionPatchMerger"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const family_config& family = ctx.config.family;
        const std::int64_t in = ctx.config.hidden_size, all = in * family[merge] * family[merge];
        const tensor h =
            t.call("ln_q", norm_module{norm_kind::layer, over_all ? all : in}, over_all ? x.view({-1, all}) : x);
        const module_info layers{.name = "mlp", .class_of_module = {"", "ModuleList"}};
        t.enter(layers);
        const tensor hidden = t.call("1", gelu_module{}, t.call("0", linear{all, all, true}, h.view({-1, all})));
        return t.leave(layers, t.call("2", linear{all, family[out_width], true}, hidden));
    }
};

/// Patches of several frames with learned and rotary positions, mergers; the last one and those of `deep` layers.
constexpr deepstack::deepstack_features encode_deepstack(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    packed_attention_pattern made{.pictures = qwen_vision::grid_of(ctx, t)};
    const std::int64_t in = config.hidden_size, rows = made.pictures.patches();
    const qwen_vision::patch_embed embed{ctx, ctx.class_of("VisionPatchEmbed"), in, true};
    tensor x = t.call("patch_embed", embed, qwen_vision::patches_in(ctx, t, made.pictures));
    x = t.add(x, resampled_positions(t, "pos_embed", config.family[places], in, rows));
    const packed_position_table table{in / config.num_attention_heads, ctx.class_of("VisionRotaryEmbedding")};
    const tensor_pair turns = t.call("rotary_pos_emb", table, rows);
    made.cos = turns.first;
    made.sin = turns.second;
    const attention_inputs none{};
    deepstack::deepstack_features out;
    for (loop layer_loop = t.loop_modules(config.num_hidden_layers, config.layers, x); layer_loop.next();) {
        x = t.call({"blocks", layer_loop.index()}, deepstack::block_of(ctx.for_layer(layer_loop, none), made), x);
        if (layer_loop.layer().family_tag != deepstack::deep_layer) continue;
        const std::int64_t place = deepstack::deep_place(config, layer_loop.index());
        out.deep[place < 3 ? place : 2] = t.call({"merger_list", place}, merger{ctx, true}, x);
    }
    out.last = t.call("merger", merger{ctx, false}, x);
    return out;
}

constexpr tensor encode_images(const layer_context& ctx, trace& t) { return encode_deepstack(ctx, t).last; }

// ---- audio encoder: chunks of one second through three convolutions, with windowed attention

enum audio_config_index : std::uint8_t { mels, positions, half_chunk, window, planes, output_dim };

inline constexpr family_key audio_keys[]{
    {"num_mel_bins", 128},   {"max_source_positions", 1500},  {"n_window", 50},
    {"n_window_infer", 800}, {"downsample_hidden_size", 480}, {"output_dim", 3584}};

/// Places that three convolutions of stride two leave.
[[nodiscard]] constexpr std::int64_t eighth(std::int64_t frames) noexcept {
    for (int i = 0; i < 3; ++i) frames = (frames + 1) / 2;
    return frames;
}

/// Returns the complete frames of a recording of any length. Without audio, a few frames declare the encoder.
///
/// Source: transformers/models/qwen3_omni_moe/processing_qwen3_omni_moe.py, `audio_kwargs`.
[[nodiscard]] constexpr std::int64_t frames_of(const audio_preprocessing_config& s, const workload& load) noexcept {
    return load.audio_milliseconds == 0 ? 8 : s.samples_from_milliseconds(load.audio_milliseconds) / s.hop_length;
}

[[nodiscard]] constexpr std::int64_t tokens_of(const family_config& family, std::int64_t frames) noexcept {
    const std::int64_t chunk = 2 * family[half_chunk];
    return frames / chunk * eighth(chunk) + eighth(frames % chunk);
}

/// Encodes the frames of all recordings, packed into chunks: convolutions, layers and two projections. Returns (tokens
/// of the complete batch, width).
constexpr tensor encode_audio(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const std::int64_t batch = t.load().batch, frames = frames_of(ctx.model.audio_preprocessing, t.load()),
                       chunk = 2 * family[half_chunk];
    const std::int64_t chunks = (frames + chunk - 1) / chunk, longest = frames < chunk ? frames : chunk;
    const std::int64_t width = ctx.config.hidden_size, p = family[planes], tokens = tokens_of(family, frames);
    const module_info table{
        .name = "positional_embedding", .class_of_module = {"", "SinusoidsPositionEmbedding"}, .is_leaf = true};
    t.enter(table);  // the reference reads the table without calling the module
    t.register_buffer(count(family[positions]) * count(width * 4));
    t.leave(table);
    (void)t.ceil(t.div_scalar(trace::buffer({batch})));  // chunks of each recording, rounded up
    const tensor sound =
        t.gather(trace::buffer({batch * frames, family[mels]}), {batch * chunks, longest, family[mels]});
    tensor x = sound.transpose(1, 2).unsqueeze(1);
    x = t.gelu(t.call("conv2d1", convolution_2d{1, p, 3, 2, 1}, x));
    x = t.gelu(t.call("conv2d2", convolution_2d{p, p, 3, 2, 1}, x));
    x = t.cat({t.gelu(t.call("conv2d3", convolution_2d{p, p, 3, 2, 1}, x))}, 0);
    const tensor flattened = t.contiguous(x.permute({0, 3, 1, 2})).view({x.dim(0), x.dim(3), x.dim(1) * x.dim(2)});
    x = t.call("conv_out", linear{flattened.dim(-1), width}, flattened);
    x = t.add(x, t.buffer({1, x.dim(1), width}));
    x = t.gather(x.view({-1, width}), {batch * tokens, width});
    const std::int64_t tokens_per_window = eighth(longest) * (family[window] / chunk);
    packed_sequences runs;
    runs.add(tokens_per_window, batch * (tokens / tokens_per_window));
    runs.add(tokens % tokens_per_window, batch);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, audio_chunks::audio_layer{ctx, runs, true}, x);
    x = t.call("proj1", linear{width, width, true}, t.call("ln_post", norm_module{norm_kind::layer, width}, x));
    return t.call("proj2", linear{width, family[output_dim], true},
                  t.call("act", activation_module{ctx.config.hidden_act}, x));
}

constexpr void parse_audio_config(config_view json, model_config& config) {
    divide_by_heads(json, config, {"encoder_attention_heads"});
    if (eighth(2 * config.family[half_chunk]) != 13)
        throw_invalid_value(json, "n_window", "half of a chunk that becomes 13 tokens");
    if (config.family[window] < 2 * config.family[half_chunk])
        throw_invalid_value(json, "n_window_infer", "at least twice n_window");
}

// ---- what reads

/// Qwen3-VL's text model with a last norm of a class of its own.
constexpr tensor read_base(const layer_context& ctx, trace& t) {
    tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();) {
        x = t.call({ctx.spec.names.layers, layer_loop.index()},
                   decoder_layer{ctx.for_layer(layer_loop, shared.for_layer(layer_loop.layer()))}, x);
        if (layer_loop.layer().family_tag != deepstack::deep_layer || ctx.inputs == nullptr) continue;
        const tensor& features = ctx.inputs->family_tensors[layer_loop.index() < 3 ? layer_loop.index() + 1 : 3];
        if (features.rank > 0) x = deepstack::add_deep(t, x, features);  // of sound alone there is none
    }
    return call_norm(t, "norm", norm_kind::rms, ctx.config.hidden_size, ctx.class_of("TextRMSNorm"), x);
}

constexpr void parse_text_config(config_view json, model_config& config) {
    const bool norms = json.boolean("norm_topk_prob", true);
    parse_qwen3_vl_moe(json, config);
    config.moe.norm_topk_prob = norms;
}

// ---- the complete model

inline constexpr family_key bound_keys[]{
    {.default_value = 56 * 56, .type = family_key_type::computed},
    {.default_value = 28 * 28 * 1280, .type = family_key_type::computed},
    {.default_value = 128 * 32 * 32, .type = family_key_type::computed},
    {.default_value = 768 * 32 * 32, .type = family_key_type::computed},
};

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    media_shapes shapes = qwen_vision::compute_media_shapes(m, load);
    if (load.audio_milliseconds == 0) return shapes;
    const std::int64_t frames = frames_of(m.audio_preprocessing, load),
                       tokens = tokens_of(m.components[1].config.family, frames);
    if (tokens < 1) throw_description_error("the recording is too short: it has no audio token");
    if (m.components[1].config.family[output_dim] != m.config.hidden_size)
        throw_description_error("the audio features and the token embeddings have different widths");
    shapes.audio = {.num_tokens = tokens,
                    .num_samples = m.audio_preprocessing.samples_from_milliseconds(load.audio_milliseconds),
                    .num_frames = frames};
    return shapes;
}

/// Inserts audio features, then image features, at their token positions. The first text layers add some of them.
constexpr tensor forward_multimodal(const layer_context& ctx, trace& t) {
    return forward_text_with_features(ctx, t, "language_model", [&](attention_inputs& placed) {
        {
            const recorder::not_executed_guard silent{t, !has_audio(t)};
            const std::int64_t mel = ctx.component(1).config.family[mels], batch = t.load().batch;
            const std::int64_t frames = frames_of(ctx.model.audio_preprocessing, t.load());
            (void)t.gather(t.input({batch, mel, frames}), {batch * frames, mel});
            const tensor features = forward_encoder_component(ctx, t, 1, "audio_tower", role::audio);
            if (has_audio(t)) placed.family_tensors[0] = t.masked_scatter(placed.family_tensors[0], features);
        }
        const layer_context tower = ctx.component(0);
        const module_info visual{.name = "visual",
                                 .class_of_module = tower.class_of(tower.spec.names.model_class),
                                 .module_role = role::vision};
        deepstack::deepstack_features found[2];
        int n = 0;
        encode_images(ctx, t, [&] {
            deepstack::deepstack_features& now = found[n++];
            t.enter(visual);
            now = encode_deepstack(tower, t);
            const tensor last = t.leave(visual, now.last);
            if (has_vision_inputs(t))
                placed.family_tensors[0] = t.masked_scatter(placed.family_tensors[0], t.cat({last}, 0));
        });
        const std::int64_t layers = has_vision_inputs(t) ? tower.config.family[deep] : 0;
        for (std::int64_t i = 0; i < layers; ++i) {
            const std::int64_t level = i < 3 && found[0].deep[i].rank > 0 ? i : 0;
            placed.family_tensors[i < 3 ? i + 1 : 3] =
                deepstack::merge_deepstack_features(t, found[0].deep[level], found[1].deep[level]);
        }
    });
}

}  // namespace qwen3_omni_moe_detail

// transformers/models/qwen3_omni_moe, Qwen3OmniMoeTextConfig
inline constexpr model_spec qwen3_omni_moe_text = [](model_spec spec) {
    spec.dropout_keys = {};
    spec.model_type = "qwen3_omni_moe_text";
    spec.class_prefix = "Qwen3OmniMoe";
    spec.parse_config = qwen3_omni_moe_detail::parse_text_config;
    spec.base_model = qwen3_omni_moe_detail::read_base;
    spec.names.model_class = "ThinkerTextModel";
    spec.names.layer_class = "ThinkerTextDecoderLayer";
    spec.names.attention_class = "ThinkerTextAttention";
    spec.names.norm_class = "ThinkerTextRMSNorm";
    spec.names.mlp_class = "ThinkerTextMLP";
    spec.names.rotary_class = "ThinkerTextRotaryEmbedding";
    spec.names.moe_class = "ThinkerTextSparseMoeBlock";
    spec.names.experts_class = "ThinkerTextExperts";
    spec.names.router_class = "ThinkerTextTopKRouter";
    spec.defaults.vocab_size = 3584;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 18944;
    spec.defaults.num_hidden_layers = 28;
    spec.defaults.num_attention_heads = 28;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.max_position_embeddings = 32768;
    spec.defaults.tie_word_embeddings = false;
    spec.defaults.moe = {.num_experts = 128, .num_experts_per_tok = 8, .intermediate_size = 768};
    return spec;
}(qwen3_vl_moe_text);

// transformers/models/qwen3_omni_moe, Qwen3OmniMoeVisionEncoderConfig
inline constexpr submodel_spec qwen3_omni_moe_vision = [](model_spec spec) {
    spec.model_type = "qwen3_omni_moe_vision_encoder";
    spec.class_prefix = "Qwen3OmniMoe";
    spec.base_model = qwen3_omni_moe_detail::encode_images;
    spec.names.model_class = "VisionEncoder";
    return spec;
}(qwen3_vl_vision);

// transformers/models/qwen3_omni_moe, Qwen3OmniMoeAudioEncoderConfig
inline constexpr submodel_spec qwen3_omni_moe_audio = [](model_spec spec) {
    spec.model_type = "qwen3_omni_moe_audio_encoder";
    spec.class_prefix = "Qwen3OmniMoe";
    spec.base_model = qwen3_omni_moe_detail::encode_audio;
    spec.parse_config = qwen3_omni_moe_detail::parse_audio_config;
    spec.family_keys = qwen3_omni_moe_detail::audio_keys;
    return spec;
}(qwen2_5_omni_audio);

// transformers/models/qwen3_omni_moe, Qwen3OmniMoeThinkerConfig: audio encoder, vision encoder and text model
inline constexpr model_spec qwen3_omni_moe_thinker = [](model_spec spec) {
    spec.model_type = "qwen3_omni_moe_thinker";
    spec.class_prefix = "Qwen3OmniMoeThinker";
    spec.base_model = qwen3_omni_moe_detail::forward_multimodal;
    spec.compute_media_shapes = qwen3_omni_moe_detail::compute_media_shapes;
    spec.family_keys = qwen3_omni_moe_detail::bound_keys;
    spec.modalities.has_audio = true;
    spec.parse_feature_extractor = audio_chunks::parse_audio_config;
    spec.text_model.default_spec = &qwen3_omni_moe_text;
    spec.components[0].default_spec = &qwen3_omni_moe_vision;
    spec.components[1] = {.key = "audio_config", .default_spec = &qwen3_omni_moe_audio, .ignores_model_type = true};
    return spec;
}(qwen3_vl_moe);

}  // namespace llmcost::arch
