// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/parakeet.hpp>
#include <llmcost/forward/encoder_decoder.hpp>

// Cohere ASR and Canary: a Fast Conformer encoder and a text decoder.
namespace llmcost::arch {

namespace cohere_asr_detail {

/// Cross-attention to the encoder's states. After the first pass, the KV cache provides its keys and values.
struct cross_attention_to_sound {
    const layer_context& ctx;

    static constexpr role module_role = role::cross_attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("CrossAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor& source = ctx.inputs->family_tensors[0];
        const tensor& hidden = ctx.inputs->family_tensors[1];
        const std::int64_t d = ctx.config.head_dim, width = ctx.config.hidden_size, kv = ctx.config.num_key_value_heads;
        const std::int64_t heads = ctx.config.num_attention_heads;
        const auto split = [&](literal name, const tensor& states, std::int64_t n) {
            const tensor all = t.call(name, linear{width, n * d, ctx.config.attention_bias}, states);
            return all.view({states.dim(0), states.dim(1), n, d}).transpose(1, 2);
        };
        const tensor q = split("q_proj", x, heads);
        const bool from_cache = is_encoder_cached(t.load());
        tensor k, v;
        {
            const recorder::not_executed_guard unused{t, from_cache};
            k = split("k_proj", source, kv);
            v = split("v_proj", source, kv);
        }
        const attention_pattern cross_pattern{.query_length = source.dim(1), .is_causal = false};
        if (from_cache) {
            k = v = trace::buffer({x.dim(0), kv, source.dim(1), d});
            t.add_to_cache(k);
            t.add_to_cache(v);
        } else {
            k = update_kv_cache(t, k, cross_pattern);
            v = update_kv_cache(t, v, cross_pattern);
        }
        const tensor mixed =
            attention_forward(t, q, k, v, cross_pattern, {.mask = hidden.rank > 0 ? &hidden : nullptr});
        return output_projection(ctx, t, t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
    }
};

struct decoder_layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("DecoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module normed{norm_kind::layer, ctx.config.hidden_size};
        tensor h = t.add(x, t.call("self_attn", attention_module{ctx}, t.call("input_layernorm", normed, x)));
        const tensor cross_attention_input = t.call("post_attention_layernorm", normed, h);
        h = t.add(h, t.call("encoder_attn", cross_attention_to_sound{ctx}, cross_attention_input));
        const mlp_module block{mlp_kind::plain,
                               ctx.config.hidden_size,
                               ctx.config.intermediate_size,
                               ctx.config.hidden_act,
                               ctx.class_of("DecoderMLP"),
                               true,
                               {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        return t.add(h, t.call("mlp", block, t.call("final_layernorm", normed, h)));
    }
};

/// Learned position embeddings of the new tokens.
constexpr tensor learned_places(const layer_context& ctx, trace& t) {
    const embedding table{ctx.config.max_position_embeddings, ctx.config.hidden_size};
    return t.call("pos_emb", table, shape{t.load().sequence});
}

/// Traces the decoder. If `projects` is set, it projects the encoder's states in every pass.
constexpr tensor decode(const layer_context& ctx, trace& t, tensor states, bool projects, forward_function places) {
    const workload& load = t.load();
    const std::int64_t width = ctx.config.hidden_size;
    const module_info decoder{
        .name = "decoder", .class_of_module = ctx.class_of("Decoder"), .module_role = role::decoder};
    t.check_positions(ctx.config.max_position_embeddings, load.past + load.sequence);
    t.enter(decoder);
    if (projects) states = t.call("proj", linear{states.dim(-1), width, true}, states);
    const tensor token_embeddings =
        t.call("embed_tokens", embedding{ctx.config.vocab_size, width}, shape{load.batch, load.sequence});
    tensor x = t.add(token_embeddings, places(ctx, t));
    x = t.call("embedding_layernorm", norm_module{norm_kind::layer, width}, x);
    attention_inputs inputs;
    inputs.pattern = attention_pattern_of(t, 0);
    inputs.mask = eager_mask(t, inputs.pattern, load.batch);
    inputs.family_tensors[0] = states;
    if (parakeet_detail::hides_last(ctx.model.components[0].config, ctx.model.audio_preprocessing, load)) {
        const attention_pattern cross_pattern{
            .query_length = load.sequence, .cached_length = states.dim(1) - load.sequence, .is_causal = false};
        inputs.family_tensors[1] = eager_mask(t, cross_pattern, load.batch);
    }
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, decoder_layer{ctx.for_layer(layer_loop, inputs)}, x);
    return t.leave(decoder, t.call("norm", norm_module{norm_kind::layer, width}, x));
}

constexpr tensor forward_encoder_and_decoder(const layer_context& ctx, trace& t, bool projects,
                                             forward_function places) {
    const workload& load = t.load();
    const model_config& audio = ctx.model.components[0].config;
    tensor states;
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(load)};
        states = forward_encoder_component(ctx, t, 0, "encoder", role::encoder);
    }
    if (is_encoder_cached(load))
        states = t.input(
            {load.batch, parakeet_detail::states_of(audio, ctx.model.audio_preprocessing, load), audio.hidden_size});
    return decode(ctx, t, states, projects, places);
}
constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_encoder_and_decoder(ctx, t, true, learned_places);
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    const class_name type = ctx.class_of("Model");
    if (ctx.config.head == head_kind::none)
        return forward_in_module({.class_of_module = type}, ctx.spec.base_model, ctx, t);
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    t.enter(model_info);
    const tensor x = forward_in_module({.name = "model", .class_of_module = type}, ctx.spec.base_model, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    const tensor head_input = t.load().head == logits::last ? t.slice(x, 1, 1) : x;
    const linear head{ctx.config.hidden_size, ctx.config.vocab_size, true, ctx.config.tie_word_embeddings};
    return t.leave(model_info, t.select_model_output(x, t.call("proj_out", head_linear{head}, head_input)));
}

constexpr void parse_config(config_view, model_config&) {}

/// Returns the audio shapes.
///
/// Throws: `description_error` for recordings that the feature extractor splits at quiet positions, which depend on the
/// samples.
constexpr media_shapes show(const model& m, const workload& load) {
    if (num_audio_samples(m.audio_preprocessing, load) > m.audio_preprocessing.max_samples)
        throw_description_error(
            "audio longer than max_audio_clip_s is not supported: the processor splits it at quiet positions");
    return parakeet_detail::show(m, load);
}
/// Parses the feature extractor's configuration.
///
/// Source: transformers/models/cohere_asr/feature_extraction_cohere_asr.py, `_split_audio_chunks_energy`.
constexpr void parse_audio_config(config_view json, model& m) {
    const model_config& tower = m.components[0].config;
    const auto nested_json =
        parakeet_detail::parse_spectrum(json, m, "CohereAsrFeatureExtractor", tower.family[parakeet_detail::mels]);
    if (nested_json)
        m.audio_preprocessing.max_samples = rounded_product(*nested_json, "max_audio_clip_s", 35,
                                                            static_cast<double>(m.audio_preprocessing.sampling_rate));
}

/// Sinusoidal position embeddings, divided by the square root of the width.
struct scaled_sines {
    std::int64_t places;
    std::int64_t width;
    class_name named;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, std::int64_t sequence) const {
        return t.div_scalar(t.gather(trace::buffer({places, width}), {sequence, width}));
    }
};
constexpr tensor sine_places(const layer_context& ctx, trace& t) {
    const scaled_sines table{ctx.config.max_position_embeddings, ctx.config.hidden_size,
                             ctx.class_of("PositionalEmbedding")};
    return t.call("pos_emb", table, t.load().sequence);
}
constexpr tensor canary_base(const layer_context& ctx, trace& t) {
    return forward_encoder_and_decoder(ctx, t, false, sine_places);
}

constexpr void check_canary(config_view json, model& m) {
    if (m.components[0].config.hidden_size != m.config.hidden_size)
        throw_invalid_value(json, "encoder_config", "a hidden_size equal to the decoder's");
}

/// The configuration keys of the encoder, with 128 mel bins by default.
struct encoder_table {
    family_key family_keys[7];

    constexpr encoder_table() {
        for (std::size_t i = 0; i < 7; ++i) family_keys[i] = parakeet_detail::family_keys[i];
        family_keys[parakeet_detail::mels].default_value = 128;
    }
};
inline constexpr encoder_table encoder_keys{};
constexpr model_spec encoder_of(std::int64_t layers, std::int64_t width, std::int64_t inner) {
    model_spec spec = parakeet_encoder;
    spec.family_keys = encoder_keys.family_keys;
    spec.defaults.num_hidden_layers = layers;
    spec.defaults.hidden_size = width;
    spec.defaults.intermediate_size = inner;
    return spec;
}
inline constexpr submodel_spec cohere_encoder = encoder_of(48, 1280, 5120), canary_encoder = encoder_of(32, 1024, 4096);

}  // namespace cohere_asr_detail

// Source: transformers/models/cohere_asr
inline constexpr model_spec cohere_asr = [](model_spec spec) {
    spec.model_type = "cohere_asr";
    spec.class_prefix = "CohereAsr";
    spec.forward = cohere_asr_detail::forward;
    spec.base_model = cohere_asr_detail::base;
    spec.attention = attention;
    spec.parse_config = cohere_asr_detail::parse_config;
    spec.components[0] = {.key = "encoder_config", .default_spec = &cohere_asr_detail::cohere_encoder};
    spec.compute_media_shapes = cohere_asr_detail::show;
    spec.parse_feature_extractor = cohere_asr_detail::parse_audio_config;
    spec.modalities.has_audio = true;
    spec.audio_preprocessing = {.n_fft = 512, .max_samples = 35 * 16000};
    spec.rotary = rotary_style::none;
    spec.supported_heads = composite_heads;
    spec.names.attention_class = "SelfAttention";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.head = head_kind::conditional_generation;
    spec.defaults.vocab_size = 16384;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = spec.defaults.num_attention_heads = 8;
    spec.defaults.max_position_embeddings = 1024;
    spec.defaults.hidden_act = activation::relu;
    spec.defaults.attention_bias = true;
    return spec;
}(model_spec{});

// The decoder of Canary (`CanaryDecoderConfig`), available only as a component.
//
// Source: transformers/models/canary
inline constexpr submodel_spec canary_decoder = [](model_spec spec) {
    spec.model_type = "canary_decoder";
    spec.class_prefix = "Canary";
    spec.components[0] = {};
    spec.compute_media_shapes = nullptr;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head_dim = 128;
    return spec;
}(cohere_asr);

// Canary. Derived from Cohere ASR, with sinusoidal positions and without a projection of the encoder's states.
//
// Source: transformers/models/canary
inline constexpr model_spec canary = [](model_spec spec) {
    spec.model_type = "canary";
    spec.class_prefix = "Canary";
    spec.base_model = cohere_asr_detail::canary_base;
    spec.parse_composite_config = cohere_asr_detail::check_canary;
    spec.compute_media_shapes = parakeet_detail::show;
    spec.parse_feature_extractor = parakeet_detail::parse_audio_config;
    spec.audio_preprocessing = {.n_fft = 512};
    spec.text_model = {.key = "decoder_config", .default_spec = &canary_decoder};
    spec.components[0].default_spec = &cohere_asr_detail::canary_encoder;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(cohere_asr);

}  // namespace llmcost::arch
