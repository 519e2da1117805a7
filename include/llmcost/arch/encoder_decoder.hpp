// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>
#include <llmcost/arch/bert_generation.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/encoder_decoder.hpp>
#include <llmcost/forward/encoder_model.hpp>

// Encoder-decoder model of two independent model types. The decoder has cross-attention to the encoder's states.
//
// Source: transformers/models/encoder_decoder

namespace llmcost::arch {

namespace encoder_decoder_blocks {

/// Cross-attention to the encoder's states. After the first pass, the KV cache provides its keys and values.
///
/// Source: transformers, `BertCrossAttention`.
struct cross_self {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("CrossAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor& source = ctx.inputs->family_tensors[0];
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads, d = width / heads;
        const auto split = [&](literal name, const tensor& states) {
            const tensor all = t.call(name, linear{width, width, true}, states);
            return all.view({states.dim(0), states.dim(1), heads, d}).transpose(1, 2);
        };
        const tensor q = split("query", x);
        const bool from_cache = is_encoder_cached(t.load());
        tensor k, v;
        {
            const recorder::not_executed_guard unused{t, from_cache};
            k = split("key", source);
            v = split("value", source);
        }
        const attention_pattern cross_pattern{.query_length = source.dim(1), .is_causal = false};
        if (from_cache) {
            k = v = trace::buffer({x.dim(0), heads, source.dim(1), d});
            t.add_to_cache(k);
            t.add_to_cache(v);
        } else {
            k = update_kv_cache(t, k, cross_pattern);
            v = update_kv_cache(t, v, cross_pattern);
        }
        const tensor mixed = attention_forward(t, q, k, v, cross_pattern, {.has_float32_softmax = false});
        return t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
    }
};
struct cross_block {
    const layer_context& ctx;

    static constexpr role module_role = role::cross_attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const tensor h = t.call("self", cross_self{ctx}, x);
        return t.call("output", bert_layers::output_block{width, width, ctx.class_of("SelfOutput")}, h, x);
    }
};

/// BERT layer with cross-attention to the encoder's states.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor a = t.call("attention", bert_layers::attention_block{ctx}, x);
    return bert_mlp(ctx, t, t.call("crossattention", cross_block{ctx}, a));
}
constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    decoder_inputs c = causal_or_bidirectional(ctx, t);
    c.full.family_tensors[0] = ctx.inputs->family_tensors[0];
    return c;
}

constexpr model_spec reading(model_spec spec) {
    spec.decoder_layer = decoder_layer;
    spec.prepare_inputs = prepare_inputs;
    return spec;
}
inline constexpr submodel_spec bert_reading = reading(bert), bert_generation_reading = reading(bert_generation);

/// A supported encoder or decoder type: its spec alone, its spec with cross-attention, its language-modeling head and
/// its pooler.
struct half {
    const model_spec* standalone;
    const model_spec* with_encoder;
    score_part score;
    layer_forward_function pool;
};
inline constexpr half halves[]{
    {&bert, &bert_reading, score_in_cls, pool_first_token},
    {&bert_generation, &bert_generation_reading, score_in_lm_head, nullptr},
};
constexpr const half* half_of(const model_spec& row) {
    for (const half& h : halves)
        if (h.standalone->forward == row.forward) return &h;
    return nullptr;
}

constexpr tensor forward_encoder_half(const layer_context& ctx, trace& t) {
    const recorder::not_executed_guard done{t, is_encoder_cached(t.load())};
    const recorder::workload_guard workload_override{t, encoder_workload(t.load())};
    const layer_context component_ctx = ctx.component(0);
    const module_info encoder{.name = "encoder",
                              .class_of_module = component_ctx.class_of(component_ctx.spec.names.model_class),
                              .module_role = role::encoder};
    t.enter(encoder);
    const tensor x = component_ctx.spec.base_model(component_ctx, t);
    if (const layer_forward_function pool = half_of(component_ctx.spec)->pool; pool != nullptr) {
        const recorder::detach_guard unread{t};
        (void)pool(component_ctx, t, x);
    }
    return t.leave(encoder, x);
}

/// Traces the decoder with cross-attention to the encoder's states, and its head.
constexpr tensor forward_decoder_half(const layer_context& ctx, trace& t, const tensor& states) {
    const half& kind = *half_of(*ctx.model.text_spec);
    model_config config = ctx.model.config;
    config.head = head_kind::causal_lm;
    attention_inputs read;
    read.family_tensors[0] = states;
    const layer_context component_ctx{ctx.model, *kind.with_encoder, config, &read};
    const decoder_module_names& n = component_ctx.spec.names;
    const module_info decoder{
        .name = "decoder", .class_of_module = component_ctx.class_of(n.causal_lm_class), .module_role = role::decoder};
    t.enter(decoder);
    const tensor x = forward_in_module({.name = n.base_model, .class_of_module = component_ctx.class_of(n.model_class)},
                                       component_ctx.spec.base_model, component_ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(decoder, t.select_model_output(x, kind.score(component_ctx, t, {logits_to_keep(t, x), {}})));
}

/// Traces encoder and decoder. Encoder states of another width are projected in every pass.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const module_info model_info{.class_of_module = ctx.class_of("Model")};
    const std::int64_t encoder_width = ctx.component(0).config.hidden_size, to = ctx.config.hidden_size;
    t.enter(model_info);
    tensor states = forward_encoder_half(ctx, t);
    if (is_encoder_cached(load)) states = t.input({load.batch, encoder_length(load), encoder_width});
    if (encoder_width != to) states = t.call("enc_to_dec_proj", linear{encoder_width, to, true}, states);
    return t.leave(model_info, forward_decoder_half(ctx, t, states));
}

constexpr void parse_config(config_view json, model& m) {
    if (half_of(*m.text_spec) == nullptr)
        throw_unsupported(json, "decoder", "this model type is not supported as a decoder with cross-attention");
    if (half_of(*m.components[0].spec) == nullptr)
        throw_unsupported(json, "encoder", "this model type is not supported as an encoder");
    if (m.components[0].config.is_causal)
        throw_unsupported(json, "encoder", "a decoder is not supported as an encoder");
    if (!m.config.is_causal || !m.config.add_cross_attention)
        throw_unsupported(json, "decoder", "a decoder without is_decoder and add_cross_attention is not supported");
    const auto decoder = json.optional_object("decoder");
    m.config.tie_word_embeddings = !decoder || decoder->boolean("tie_word_embeddings", true);
    const std::int64_t encoder_width = m.components[0].config.hidden_size;
    if (!decoder) return;
    if (const auto width = decoder->find("cross_attention_hidden_size"); width && !width->is_null())
        if (width->as_positive() != encoder_width || encoder_width != m.config.hidden_size)
            throw_invalid_value(*decoder, "cross_attention_hidden_size", "the hidden_size of both models");
}

/// BERT as a decoder, the default without a decoder configuration.
inline constexpr submodel_spec bert_decoding = [](model_spec spec) {
    spec.parse_config = [](config_view json, model_config& config) {
        parse_decoding_encoder(json, config);
        config.is_causal = config.add_cross_attention = true;
    };
    return spec;
}(bert);

}  // namespace encoder_decoder_blocks

inline constexpr model_spec encoder_decoder = [](model_spec spec) {
    spec.model_type = "encoder-decoder";
    spec.class_prefix = "EncoderDecoder";
    spec.forward = encoder_decoder_blocks::forward;
    spec.parse_composite_config = encoder_decoder_blocks::parse_config;
    spec.supported_heads = {head_kind::none};
    spec.defaults.head = head_kind::none;
    spec.text_model = {
        .key = "decoder", .default_spec = &bert, .spec_if_absent = &encoder_decoder_blocks::bert_decoding};
    spec.components[0] = {.key = "encoder", .default_spec = &bert};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
