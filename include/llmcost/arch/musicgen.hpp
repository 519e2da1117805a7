// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/encodec.hpp>
#include <llmcost/arch/t5.hpp>
#include <llmcost/forward/composite.hpp>

namespace llmcost::arch {

namespace musicgen_detail {

enum family_config_index : std::uint8_t { codebooks, crosses };
inline constexpr family_key family_keys[]{
    {"num_codebooks", 4},
    {.default_value = 1, .type = family_key_type::computed},  // layers hold attention to an encoder
};
inline constexpr family_key melody_keys[]{family_keys[0], {.type = family_key_type::computed}};

/// Looks up rows of a frozen sinusoidal table, one for each new position.
struct positions {
    std::int64_t width;
    class_name named;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, std::int64_t length) const {
        tensor table = trace::buffer({length, width});
        table.type = t.activation_type();
        return t.gather(table, {length, width});
    }
};

/// Returns the sum of one token embedding of each codebook: (B, S, width).
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const embedding token_embedding{ctx.config.vocab_size + 1, ctx.config.hidden_size};
    tensor x;
    for (std::int64_t i = 0; i < ctx.config.family[codebooks]; ++i) {
        const tensor found = t.call({"embed_tokens", i}, token_embedding, shape{load.batch, load.sequence});
        x = i == 0 ? t.add_scalar(found) : t.add(x, found);  // `sum` begins with 0
    }
    return x;
}

constexpr sequence_attention_sizes attention_of(const layer_context& ctx) {
    const model_config& config = ctx.config;
    return {config.hidden_size,
            config.num_attention_heads,
            config.head_dim,
            false,
            true,
            ctx.class_of("Attention"),
            "q_proj",
            "k_proj",
            "v_proj",
            "out_proj"};
}

/// Attention to an encoder's states, in `shared.own[0]`; without any it is not called.
constexpr tensor crossed(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor& states = ctx.inputs->family_tensors[0];
    const recorder::not_executed_guard no_encoder{t, states.rank == 0};
    const tensor& source = states.rank == 0 ? x : states;
    const attention_pattern cross_pattern{.query_length = source.dim(1), .is_causal = false};
    const tensor h = apply_norm(ctx, t, "encoder_attn_layer_norm", x);
    const tensor* const no_mask = nullptr;
    tensor* const no_bias = nullptr;
    const tensor found =
        t.call("encoder_attn", cross_attention{attention_of(ctx)}, h, source, cross_pattern, no_mask, no_bias);
    return states.rank == 0 ? x : add_residual_with_dropout(ctx, t, x, found);
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    const tensor h = apply_norm(ctx, t, "self_attn_layer_norm", x);
    tensor* const no_bias = nullptr;
    const tensor* const mask = &ctx.inputs->mask;
    const sequence_attention self_attention{attention_of(ctx)};
    const tensor found = t.call("self_attn", self_attention, h, h, ctx.inputs->pattern, mask, no_bias);
    tensor out = add_residual_with_dropout(ctx, t, x, found);
    if (ctx.config.family[crosses]) out = crossed(ctx, t, out);
    tensor f = t.call("fc1", linear{width, inner}, apply_norm(ctx, t, "final_layer_norm", out));
    f = t.call("activation_fn", activation_module{ctx.config.hidden_act}, f);
    f = t.call("fc2", linear{inner, width}, functional_dropout(t, f, dropout_position::mlp));
    return add_residual_with_dropout(ctx, t, out, f);
}

/// Runs token embeddings with positions through all layers. Cross-attention reads the conditioning states, or they
/// precede the tokens and are in the KV cache after the first pass.
constexpr tensor decoder(const layer_context& ctx, trace& t) {
    const tensor states = ctx.inputs != nullptr ? ctx.inputs->family_tensors[0] : tensor{};
    const std::int64_t ahead = states.rank == 0 || ctx.config.family[crosses] ? 0 : states.dim(1);
    workload grown = t.load();
    t.check_positions(ctx.config.max_position_embeddings - ahead, grown.past + grown.sequence);
    tensor x = ctx.spec.embed_tokens(ctx, t);
    if (ahead > 0 && is_encoder_cached(grown))
        grown.past += ahead;
    else if (ahead > 0) {
        x = t.cat({states, x}, 1);
        grown.sequence += ahead;
    }
    const recorder::workload_guard longer{t, grown};
    const positions table{ctx.config.hidden_size, ctx.class_of("SinusoidalPositionalEmbedding")};
    x = functional_dropout(t, t.add(x, t.call("embed_positions", table, x.dim(1))), dropout_position::hidden);
    decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    shared.full.family_tensors[0] = states;
    return apply_norm(ctx, t, ctx.spec.names.norm, forward_layers(ctx, t, shared, x));
}
constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_in_module({.name = "decoder", .class_of_module = ctx.class_of("Decoder")}, decoder, ctx, t);
}

/// Returns the logits of each codebook: (B · codebooks, S, vocabulary).
constexpr tensor compute_logits(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t n = ctx.config.family[codebooks], vocab_size = ctx.config.vocab_size;
    const tensor selected_states = logits_to_keep(t, x);
    tensor scores;
    const head_linear head{{ctx.config.hidden_size, vocab_size}};
    for (std::int64_t i = 0; i < n; ++i) scores = t.call({"lm_heads", i}, head, selected_states);
    // as large as all of them stacked
    const tensor all = scores.unsqueeze(1).expand({x.dim(0), n, selected_states.dim(1), vocab_size});
    return t.copy(all).view({-1, selected_states.dim(1), vocab_size});
}

/// A language model of codes, under this name.
constexpr tensor forward_causal_lm(const layer_context& ctx, trace& t, literal name, role module_role) {
    const module_info bare{.name = "model", .class_of_module = ctx.class_of("Model")};
    const module_info model_info{
        .name = name, .class_of_module = ctx.class_of("ForCausalLM"), .module_role = module_role};
    t.enter(model_info);
    const tensor x = forward_in_module(bare, ctx.spec.base_model, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info, t.select_model_output(x, compute_logits(ctx, t, x)));
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    if (ctx.config.head == head_kind::none)
        return forward_in_module({.class_of_module = ctx.class_of("Model")}, ctx.spec.base_model, ctx, t);
    return forward_causal_lm(ctx, t, "", role::none);
}

/// A text's states.
constexpr tensor encode_text(const layer_context& ctx, trace& t) {
    const recorder::workload_guard text_workload{t, encoder_workload(t.load())};
    const layer_context component_ctx = ctx.component(0);
    const module_info encoder{.name = "text_encoder",
                              .class_of_module = component_ctx.class_of("EncoderModel"),
                              .module_role = role::encoder};
    return forward_in_module(encoder, component_ctx.spec.base_model, component_ctx, t);
}
/// Projects conditioning states to the decoder's hidden size: (B, S, in) -> (B, S, hidden).
constexpr tensor widened(const layer_context& ctx, trace& t, const tensor& states) {
    const std::int64_t to = ctx.config.hidden_size;
    return states.dim(2) == to ? states : t.call("enc_to_dec_proj", linear{states.dim(2), to, true}, states);
}

/// A decoder under what conditions it; the codec is not called where codes are given.
constexpr tensor forward_conditioned_decoder(const layer_context& ctx, trace& t, const tensor& states) {
    (void)forward_encoder_component(ctx, t, 1, "audio_encoder", role::audio);
    attention_inputs read;
    read.family_tensors[0] = states;
    return forward_causal_lm({ctx.model, *ctx.model.text_spec, ctx.config, &read}, t, "decoder", role::decoder);
}

/// Codes that a text's states condition, which are projected in every pass.
constexpr tensor forward_conditional_generation(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const module_info model_info{.class_of_module = ctx.class_of("ForConditionalGeneration")};
    t.enter(model_info);
    tensor states;
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(load)};
        states = encode_text(ctx, t);
    }
    if (is_encoder_cached(load)) states = t.input({load.batch, encoder_length(load), states.dim(2)});
    return t.leave(model_info, forward_conditioned_decoder(ctx, t, widened(ctx, t, states)));
}

enum melody_config_index : std::uint8_t { chroma, chroma_length };
inline constexpr family_key keys_of_melody[]{{"num_chroma", 12}, {"chroma_length", 235}};

/// A melody, one frame repeated where none is given, and a text's states, before the codes of the first pass.
constexpr tensor forward_melody_model(const layer_context& ctx, trace& t) {
    const std::int64_t batch = t.load().batch, width = ctx.config.hidden_size, pitches = ctx.model.family[chroma];
    const std::int64_t frames = ctx.model.family[chroma_length];
    const module_info model_info{.class_of_module = ctx.class_of("ForConditionalGeneration")};
    t.enter(model_info);
    tensor states;
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(t.load())};
        states = widened(ctx, t, encode_text(ctx, t));
        tensor melody = t.full({batch, 1, pitches}, t.activation_type());
        if (pitches != width) melody = t.call("audio_enc_to_dec_proj", linear{pitches, width, true}, melody);
        if (frames > 1) melody = t.copy(melody.expand({batch, frames, width}));
        states = t.cat({melody, states}, 1);
    }
    return t.leave(model_info, forward_conditioned_decoder(ctx, t, states));
}

/// T5 as what reads the text: its encoder.
inline constexpr submodel_spec t5_reading = [](model_spec spec) {
    spec.base_model = t5_detail::forward_encoder_only;
    return spec;
}(t5);

constexpr void parse_config(config_view json, model& m) {
    if (m.components[0].spec->forward != forward_t5)
        throw_unsupported(json, "text_encoder", "unsupported text encoder");
    const auto decoder = json.optional_object("decoder");
    if (!decoder) return;
    if (const auto width = decoder->find("cross_attention_hidden_size"); width && !width->is_null())
        if (width->as_positive() != m.components[0].config.hidden_size || width->as_positive() != m.config.hidden_size)
            throw_invalid_value(*decoder, "cross_attention_hidden_size", "the width of text encoder and decoder");
}

constexpr void parse_config(config_view json, model_config& config) {
    config.tie_word_embeddings = false;  // the reference ties none
    if (config.family[codebooks] > 1024) throw_invalid_value(json, "num_codebooks", "at most 1024 codebooks");
    if (config.head_dim * config.num_attention_heads != config.hidden_size)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    set_single_mask(json, config);
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "dropout", 0.1},
                                             {dropout_position::attention, "attention_dropout"},
                                             {dropout_position::mlp, "activation_dropout"},
                                             {dropout_position::stochastic, "layerdrop"}};

}  // namespace musicgen_detail

// transformers/models/musicgen: the decoder, which sums one token embedding of each codebook and has one head per
// codebook
inline constexpr model_spec musicgen_decoder = [](model_spec spec) {
    spec.model_type = "musicgen_decoder";
    spec.class_prefix = "Musicgen";
    spec.parse_config = musicgen_detail::parse_config;
    spec.family_keys = musicgen_detail::family_keys;
    spec.forward = musicgen_detail::forward;
    spec.base_model = musicgen_detail::base;
    spec.embed_tokens = musicgen_detail::embed;
    spec.decoder_layer = musicgen_detail::decoder_layer;
    spec.supported_heads = language_heads;
    spec.norm = norm_kind::layer;
    spec.rotary = rotary_style::none;
    spec.names.norm = "layer_norm";
    spec.config_keys.add("intermediate_size", "ffn_dim", key_rule::family_name_only);
    spec.config_keys.add("hidden_act", "activation_function", key_rule::family_name_only);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.config_keys.add("head_dim", key_rule::absent);
    spec.defaults.vocab_size = 2048;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 2048;
    spec.defaults.hidden_act = activation::gelu;
    spec.dropout_keys = musicgen_detail::dropout_rates;
    return spec;
}(default_decoder);

// transformers/models/musicgen_melody: Musicgen with conditioning states before the tokens instead of cross-attention
inline constexpr model_spec musicgen_melody_decoder = [](model_spec spec) {
    spec.model_type = "musicgen_melody_decoder";
    spec.class_prefix = "MusicgenMelody";
    spec.family_keys = musicgen_detail::melody_keys;
    return spec;
}(musicgen_decoder);

// transformers/models/musicgen: the decoder reads a text's states
inline constexpr model_spec musicgen = [](model_spec spec) {
    spec.model_type = "musicgen";
    spec.class_prefix = "Musicgen";
    spec.forward = musicgen_detail::forward_conditional_generation;
    spec.parse_composite_config = musicgen_detail::parse_config;
    spec.supported_heads = {head_kind::conditional_generation};
    spec.text_model = {.key = "decoder", .default_spec = &musicgen_decoder, .ignores_model_type = true};
    spec.components[0] = {.key = "text_encoder", .default_spec = &musicgen_detail::t5_reading};
    spec.components[1] = {.key = "audio_encoder", .default_spec = &encodec};
    return spec;
}(shared_composite);

// transformers/models/musicgen_melody: a melody and a text before the codes
inline constexpr model_spec musicgen_melody = [](model_spec spec) {
    spec.model_type = "musicgen_melody";
    spec.class_prefix = "MusicgenMelody";
    spec.forward = musicgen_detail::forward_melody_model;
    spec.family_keys = musicgen_detail::keys_of_melody;
    spec.text_model.default_spec = &musicgen_melody_decoder;
    return spec;
}(musicgen);

}  // namespace llmcost::arch
