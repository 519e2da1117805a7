// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/encodec.hpp>
#include <llmcost/arch/t5.hpp>
#include <llmcost/forward/codebook_decoder.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/t5_stacks.hpp>

namespace llmcost::arch {

namespace musicgen_detail {

using codebook_decoder::codebooks, codebook_decoder::crosses, codebook_decoder::encode_text,
    codebook_decoder::forward_causal_lm, codebook_decoder::forward_conditioned_decoder, codebook_decoder::widened;

/// Looks up rows of a frozen sinusoidal table, one for each new position.
struct positions {
    std::int64_t max_positions;
    std::int64_t width;
    class_name named;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, std::int64_t length) const {
        tensor table = trace::buffer({length, width});
        table.type = t.activation_type();
        t.register_buffer({max_positions, width}, table.type);
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
    tensor f = t.call("fc1", mlp_child<linear>{{width, inner}}, apply_norm(ctx, t, "final_layer_norm", out));
    f = t.call("activation_fn", mlp_child<activation_module>{{ctx.config.hidden_act}}, f);
    f = t.call("fc2", last_mlp_child<linear>{{inner, width}}, functional_dropout(t, f, dropout_position::mlp));
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
    const positions table{ctx.config.max_position_embeddings, ctx.config.hidden_size,
                          ctx.class_of("SinusoidalPositionalEmbedding")};
    x = functional_dropout(t, t.add(x, t.call("embed_positions", table, x.dim(1))), dropout_position::hidden);
    decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    shared.full.family_tensors[0] = states;
    return apply_norm(ctx, t, ctx.spec.names.norm, forward_layers(ctx, t, shared, x));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_in_module({.name = "decoder", .class_of_module = ctx.class_of("Decoder")}, decoder, ctx, t);
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    if (ctx.config.head == head_kind::none)
        return forward_in_module({.class_of_module = ctx.class_of("Model")}, ctx.spec.base_model, ctx, t);
    return forward_causal_lm(ctx, t, "", role::none);
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

/// T5 as what reads the text: its encoder.
inline constexpr submodel_spec t5_reading = [](model_spec spec) {
    spec.base_model = t5_stacks::forward_encoder_only;
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
    spec.family_keys = codebook_decoder::family_keys;
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

}  // namespace llmcost::arch
