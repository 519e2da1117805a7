// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/seamless_m4t_speech.hpp>
#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/sequence_stacks.hpp>
#include <llmcost/forward/encoder_decoder_stacks.hpp>
#include <llmcost/forward/seamless_speech.hpp>
#include <llmcost/forward/sinusoidal_positions.hpp>

namespace llmcost::arch {

namespace seamless_m4t_detail {

using seamless_speech::features;

enum family_config_index : std::uint8_t {
    encoder_layers,
    encoder_heads,
    encoder_inner,
    pad_token,
    unit_rows,
    unit_encoder_layers,
    unit_encoder_heads,
    unit_encoder_inner,
    unit_decoder_layers,
    unit_decoder_heads,
    unit_decoder_inner,
    unit_positions,
};

inline constexpr family_key family_keys[]{
    {"encoder_layers", 24},
    {"encoder_attention_heads", 16},
    {"encoder_ffn_dim", 8192},
    {"pad_token_id", 0, family_key_type::non_negative},
    {"t2u_vocab_size", 10082},
    {"t2u_encoder_layers", 6},
    {"t2u_encoder_attention_heads", 16},
    {"t2u_encoder_ffn_dim", 8192},
    {"t2u_decoder_layers", 6},
    {"t2u_decoder_attention_heads", 16},
    {"t2u_decoder_ffn_dim", 8192},
    {"t2u_max_position_embeddings", 2048},
};

/// Sizes of one stack.
struct stack {
    std::int64_t layers;
    std::int64_t heads;
    std::int64_t inner;
};

constexpr stack encoder_of(const layer_context& ctx) {
    const family_config& family = ctx.config.family;
    return {family[encoder_layers], family[encoder_heads], family[encoder_inner]};
}

constexpr stack decoder_of(const layer_context& ctx) {
    return {ctx.config.num_hidden_layers, ctx.config.num_attention_heads, ctx.config.intermediate_size};
}

constexpr sequence_attention_sizes attention_of(const layer_context& ctx, const stack& s, bool decodes) {
    const std::int64_t width = ctx.config.hidden_size;
    const class_name named = ctx.class_of("Attention");
    return {width, s.heads, width / s.heads, true, decodes, named, "q_proj", "k_proj", "v_proj", "out_proj"};
}

struct feed_forward_network {
    layer_context ctx;
    std::int64_t inner;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("FeedForwardNetwork"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const tensor h =
            t.call("act", activation_module{ctx.config.hidden_act}, t.call("fc1", linear{width, inner, true}, x));
        return t.call("fc2", linear{inner, width, true}, dropout(t, "dropout", h));
    }
};

constexpr tensor normed(trace& t, literal name, const tensor& x) {
    return t.call(name, norm_module{norm_kind::layer, x.dim(-1)}, x);
}

constexpr tensor fed_forward(const layer_context& ctx, trace& t, const stack& s, const tensor& x) {
    const tensor h = t.call("ffn", feed_forward_network{ctx, s.inner}, normed(t, "ffn_layer_norm", x));
    return t.add(x, dropout(t, "ffn_dropout", h));
}

struct encoder_layer {
    layer_context ctx;
    stack encoder_stack;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const attention_pattern all{.query_length = x.dim(1), .is_causal = false};
        const tensor *const no_mask = nullptr, h = normed(t, "self_attn_layer_norm", x);
        tensor* const no_bias = nullptr;
        const sequence_attention self{attention_of(ctx, encoder_stack, false)};
        const tensor found = t.call("self_attn", self, h, h, all, no_mask, no_bias);
        return fed_forward(ctx, t, encoder_stack, t.add(x, dropout(t, "attn_dropout", found)));
    }
};

/// A decoder layer. One dropout module follows both attention blocks, and an activation module is never called.
struct decoder_layer {
    layer_context ctx;
    stack encoder_stack;
    const tensor& source;
    const attention_pattern& pattern;
    const tensor& mask;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("DecoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const attention_pattern cross_pattern{.query_length = source.dim(1), .is_causal = false};
        const tensor *const no_mask = nullptr, *const masked = &mask;
        tensor* const no_bias = nullptr;
        tensor h = normed(t, "self_attn_layer_norm", x);
        h = t.call("self_attn", sequence_attention{attention_of(ctx, encoder_stack, true)}, h, h, pattern, masked,
                   no_bias);
        {
            const recorder::not_executed_guard uncalled{t};
            (void)t.call("activation_fn", activation_module{ctx.config.hidden_act}, h);
        }
        const tensor middle = t.add(x, dropout(t, "attn_dropout", h));
        h = normed(t, "cross_attention_layer_norm", middle);
        h = t.call("cross_attention", cross_attention{attention_of(ctx, encoder_stack, true)}, h, source, cross_pattern,
                   no_mask, no_bias);
        return fed_forward(ctx, t, encoder_stack, t.add(middle, dropout(t, "attn_dropout", h)));
    }
};

/// Words times a constant, and sines.
constexpr tensor embedded(const layer_context& ctx, trace& t, std::int64_t rows, std::int64_t length, bool tied) {
    const embedding token_embedding{rows, ctx.config.hidden_size, true, ctx.class_of("ScaledWordEmbedding"), tied};
    return t.call("embed_tokens", token_embedding, shape{t.load().batch, length});
}

constexpr tensor placed(const layer_context& ctx, trace& t, const tensor& x, std::int64_t max_positions) {
    const sinusoidal_positions table{max_positions + 2, ctx.config.hidden_size,
                                     ctx.class_of("SinusoidalPositionalEmbedding")};
    return t.add(x, t.call("embed_positions", table, t.load().batch, x.dim(1)));
}

constexpr void check_positions(const layer_context& ctx, trace& t, std::int64_t length) {
    t.check_positions(ctx.config.max_position_embeddings + 1 - ctx.config.family[pad_token], length);
}

constexpr tensor encoded(const layer_context& ctx, trace& t, const stack& encoder_stack, tensor x) {
    for (loop layer_loop = t.loop_modules(encoder_stack.layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, encoder_layer{ctx, encoder_stack}, x);
    return normed(t, "layer_norm", x);
}

constexpr tensor decoded(const layer_context& ctx, trace& t, const stack& encoder_stack, const tensor& source,
                         const tensor& token_embeddings, std::int64_t max_positions) {
    const attention_pattern pattern = attention_pattern_of(t, 0);
    const tensor mask = eager_mask(t, pattern, t.load().batch);
    tensor x = placed(ctx, t, token_embeddings, max_positions);
    for (loop layer_loop = t.loop_modules(encoder_stack.layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, decoder_layer{ctx, encoder_stack, source, pattern, mask}, x);
    return normed(t, "layer_norm", x);
}

constexpr tensor forward_text_encoder_stack(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t length = encoder_length(load);
    const recorder::not_executed_guard done{t, is_encoder_cached(load)};
    const module_info encoder{
        .name = "text_encoder", .class_of_module = ctx.class_of("Encoder"), .module_role = role::encoder};
    check_positions(ctx, t, length);
    t.enter(encoder);
    const tensor token_embeddings = embedded(ctx, t, ctx.config.vocab_size, length, ctx.config.tie_word_embeddings);
    const tensor x = t.leave(encoder, encoded(ctx, t, encoder_of(ctx),
                                              placed(ctx, t, token_embeddings, ctx.config.max_position_embeddings)));
    return is_encoder_cached(load) ? t.input({load.batch, length, ctx.config.hidden_size}) : x;
}

constexpr tensor forward_text_decoder_stack(const layer_context& ctx, trace& t, const tensor& source) {
    const module_info decoder{
        .name = "text_decoder", .class_of_module = ctx.class_of("Decoder"), .module_role = role::decoder};
    check_positions(ctx, t, t.load().past + t.load().sequence);
    t.enter(decoder);
    const tensor token_embeddings =
        embedded(ctx, t, ctx.config.vocab_size, t.load().sequence, ctx.config.tie_word_embeddings);
    return t.leave(decoder,
                   decoded(ctx, t, decoder_of(ctx), source, token_embeddings, ctx.config.max_position_embeddings));
}

/// From text to units of speech, which a pass over text does not call: an encoder without words, a decoder with its
/// own.
constexpr void declare_units(const layer_context& ctx, trace& t, const tensor& x) {
    const recorder::not_executed_guard uncalled{t};
    const family_config& family = ctx.config.family;
    const stack reads{family[unit_encoder_layers], family[unit_encoder_heads], family[unit_encoder_inner]};
    const stack writes{family[unit_decoder_layers], family[unit_decoder_heads], family[unit_decoder_inner]};
    const module_info model_info{.name = "t2u_model",
                                 .class_of_module = ctx.class_of("TextToUnitForConditionalGeneration"),
                                 .module_role = role::audio};
    const module_info base{.name = "model", .class_of_module = ctx.class_of("TextToUnitModel")};
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    const module_info decoder{.name = "decoder", .class_of_module = ctx.class_of("Decoder")};
    t.enter(model_info);
    t.enter(base);
    t.enter(encoder);
    const tensor source = t.leave(encoder, encoded(ctx, t, reads, x));
    t.enter(decoder);
    const tensor token_embeddings = embedded(ctx, t, family[unit_rows], t.load().sequence, false);
    const tensor out =
        t.leave(base, t.leave(decoder, decoded(ctx, t, writes, source, token_embeddings, family[unit_positions])));
    const linear units{ctx.config.hidden_size, family[unit_rows], false, ctx.config.tie_word_embeddings};
    t.leave(model_info, t.call("lm_head", units, out));
}

/// Returns the encoder states: of a recording if the workload has audio, otherwise of a text.
constexpr tensor forward_source(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const bool has_speech = load.audio_milliseconds > 0, done = is_encoder_cached(load);
    tensor source;
    if (ctx.config.head != head_kind::conditional_generation) {
        const recorder::not_executed_guard unread{t, has_speech};
        source = forward_text_encoder_stack(ctx, t);
    }
    if (ctx.config.head == head_kind::causal_lm) return source;
    {
        const recorder::not_executed_guard unheard{t, !has_speech || done};
        const tensor x = forward_encoder_component(ctx, t, 0, "speech_encoder", role::audio);
        if (has_speech) source = x;
    }
    const model_config& speech = ctx.model.components[0].config;
    return has_speech && done
               ? t.input({load.batch, states_of(speech, ctx.model.audio_preprocessing, load), ctx.config.hidden_size})
               : source;
}

/// The model that translates whatever it is given, or the classes for texts or recordings alone.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    const bool all = ctx.config.head == head_kind::none, listens = ctx.config.head == head_kind::conditional_generation;
    const literal name = all ? ctx.spec.names.model_class : ctx.spec.names.causal_lm_class;
    const module_info model_info{.class_of_module = ctx.class_of(listens ? literal{"ForSpeechToText"} : name)};
    if (listens) (void)num_audio_samples(ctx.model.audio_preprocessing, t.load());
    t.enter(model_info);
    {
        const recorder::not_executed_guard unread{t, !ctx.config.tie_word_embeddings};
        embedding{ctx.config.vocab_size, ctx.config.hidden_size}.declare(t, "shared");
    }
    const tensor source = forward_source(ctx, t);
    const tensor x = forward_text_decoder_stack(ctx, t, source);
    tensor scores;
    {
        const recorder::not_executed_guard unused{t, t.load().head == logits::none};
        scores = stack_lm_head_logits(ctx, t, x, ctx.config.vocab_size, false);
    }
    if (all) {
        declare_units(ctx, t, source);
        (void)forward_encoder_component(ctx, t, 1, "vocoder", role::audio);
    }
    return t.leave(model_info, t.select_model_output(x, scores));
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.audio_milliseconds == 0) return {};
    if (m.config.head == head_kind::causal_lm) throw_description_error("audio inputs are not supported by this class");
    return {.audio = {.num_samples = num_audio_samples(m.audio_preprocessing, load),
                      .num_frames = places_of(m.audio_preprocessing, load)}};
}

constexpr void parse_audio_config(config_view json, model& m) {
    parse_stacked_filter_banks(json, m, m.components[0].config.family[features]);
}

constexpr void parse_config(config_view json, model_config& config) {
    config.num_key_value_heads = config.num_attention_heads;
    for (const std::int64_t heads : {config.num_attention_heads, config.family[encoder_heads],
                                     config.family[unit_encoder_heads], config.family[unit_decoder_heads]})
        if (config.hidden_size % heads != 0)
            throw_invalid_value(json, "hidden_size", "a multiple of each stack's attention heads");
    config.head_dim = config.hidden_size / config.num_attention_heads;
    if (config.family[pad_token] > config.max_position_embeddings)
        throw_invalid_value(json, "pad_token_id", "one of the positions");
}

/// Parses `config.json`; the speech encoder and the speech synthesis models have separate sizes in one configuration.
constexpr void parse_config(config_view json, model& m) {
    m.components[0] = {&seamless_m4t_speech_encoder, parse_sizes(seamless_m4t_speech_encoder, json, true)};
    if (m.components[0].config.hidden_size % m.components[0].config.num_attention_heads != 0)
        throw_invalid_value(json, "speech_encoder_attention_heads", "a divisor of hidden_size");
    m.components[1] = {&vocoder, parse_sizes(vocoder, json, true)};
}

}  // namespace seamless_m4t_detail

// transformers/models/seamless_m4t: a text translation model, a speech encoder, and models for units and waveforms
inline constexpr model_spec seamless_m4t = [](model_spec spec) {
    spec.model_type = "seamless_m4t";
    spec.class_prefix = "SeamlessM4T";
    spec.forward = seamless_m4t_detail::forward;
    spec.parse_config = seamless_m4t_detail::parse_config;
    spec.parse_composite_config = seamless_m4t_detail::parse_config;
    spec.family_keys = seamless_m4t_detail::family_keys;
    spec.rotary = rotary_style::none;
    spec.supported_heads = language_heads;
    spec.names.causal_lm_class = "ForTextToText";
    spec.compute_media_shapes = seamless_m4t_detail::compute_media_shapes;
    spec.parse_feature_extractor = seamless_m4t_detail::parse_audio_config;
    spec.modalities.has_audio = true;
    spec.audio_preprocessing.stacked_frames = 2;
    spec.config_keys.add("num_hidden_layers", "decoder_layers", key_rule::standard_name_first);
    spec.config_keys.add("num_attention_heads", "decoder_attention_heads", key_rule::standard_name_first);
    spec.config_keys.add("intermediate_size", "decoder_ffn_dim", key_rule::family_name_only);
    spec.config_keys.add("hidden_act", "activation_function", key_rule::family_name_only);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.config_keys.add("head_dim", key_rule::absent);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.defaults.vocab_size = 256102;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 8192;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 1024;
    spec.defaults.hidden_act = activation::relu;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(model_spec{});

}  // namespace llmcost::arch
