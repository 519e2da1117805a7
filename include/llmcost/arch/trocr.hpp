// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/xglm.hpp>
#include <llmcost/forward/batched_attention.hpp>
#include <llmcost/forward/encoder_decoder.hpp>
#include <llmcost/forward/inline_mlp.hpp>
#include <llmcost/forward/sinusoidal_positions.hpp>

namespace llmcost::arch {

namespace trocr_detail {

enum family_config_index : std::uint8_t {
    scale_embedding,
    learns_positions,
    layernorm_embedding,
    encoder_width,
    padding
};
inline constexpr family_key family_keys[]{
    {"scale_embedding", 0, family_key_type::boolean},  // by one where it does not
    {"use_learned_position_embeddings", 1, family_key_type::boolean},
    {"layernorm_embedding", 1, family_key_type::boolean},
    {.type = family_key_type::computed},  // of the states that cross attention reads
    {.type = family_key_type::computed},  // the padding token's number
};

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    return batched_attention(ctx, t, x, false);
}

/// Attention to an encoder, which a text alone does not call.
constexpr void declare_cross_attention(const layer_context& ctx, trace& t, const tensor& x) {
    const recorder::not_executed_guard no_encoder{t};
    const std::int64_t width = ctx.config.hidden_size, states_width = ctx.config.family[encoder_width];
    const module_info cross{
        .name = "encoder_attn", .class_of_module = ctx.class_of("Attention"), .module_role = role::cross_attn};
    tensor states = x;
    states.size[2] = states_width;
    states.make_contiguous_strides();
    t.enter(cross);
    for (const literal name : {"k_proj", "v_proj"}) (void)t.call(name, linear{states_width, width, true}, states);
    const tensor q = t.call("q_proj", linear{width, width, true}, x);
    (void)t.leave(cross, t.call("out_proj", linear{width, width, true}, q));
    (void)apply_norm(ctx, t, "encoder_attn_layer_norm", x);
}

/// Attention to an encoder's states, whose keys and values come from the cache after the first pass.
constexpr tensor attend_to_encoder(const layer_context& ctx, trace& t, const tensor& x, const tensor& states) {
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), length = states.dim(1), width = ctx.config.hidden_size;
    const std::int64_t heads = ctx.config.num_attention_heads, d = ctx.config.head_dim;
    const auto split = [&](const tensor& all) { return all.view({batch, all.dim(1), heads, d}).transpose(1, 2); };
    const tensor q = split(t.mul_scalar(t.call("q_proj", linear{width, width, true}, x)));
    const linear from_states{states.dim(2), width, true};
    const attention_pattern cross_pattern{.query_length = length, .is_causal = false};
    const bool from_cache = is_encoder_cached(t.load());
    tensor k, v;
    {
        const recorder::not_executed_guard unused{t, from_cache};
        k = split(t.call("k_proj", from_states, states));
        v = split(t.call("v_proj", from_states, states));
    }
    if (from_cache) {
        k = v = trace::buffer({batch, heads, length, d});
        t.add_to_cache(k);
        t.add_to_cache(v);
    } else {
        k = update_kv_cache(t, k, cross_pattern);
        v = update_kv_cache(t, v, cross_pattern);
    }
    tensor found;
    {
        const recorder::fused_kernel_guard fused{t, fused_attention_kernel(q, heads, cross_pattern, length)};
        const auto in_one_batch = [&](const tensor& input, std::int64_t n) {
            return t.reshape(input, {batch * heads, n, d});
        };
        const tensor scores = t.bmm(in_one_batch(q, sequence), in_one_batch(k, length).transpose(1, 2));
        const tensor features = functional_dropout(t, t.softmax(scores), dropout_position::attention);
        found = t.bmm(features, in_one_batch(v, length)).view({batch, heads, sequence, d});
    }
    return output_projection(ctx, t, t.reshape(found.transpose(1, 2), {batch, sequence, width}));
}

/// What a text finds in an encoder's states, where there are any.
constexpr tensor cross(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor& states = ctx.inputs->family_tensors[0];
    if (states.rank == 0) {
        declare_cross_attention(ctx, t, x);
        return x;
    }
    const module_info m{
        .name = "encoder_attn", .class_of_module = ctx.class_of("Attention"), .module_role = role::cross_attn};
    t.enter(m);
    const tensor h = t.leave(m, attend_to_encoder(ctx, t, x, states));
    return apply_norm(ctx, t, "encoder_attn_layer_norm", add_residual_with_dropout(ctx, t, x, h));
}

/// Norms follow the residual sums.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor a =
        apply_norm(ctx, t, "self_attn_layer_norm", add_residual_with_dropout(ctx, t, x, mix_tokens(ctx, t, x)));
    const tensor h = cross(ctx, t, a);
    const tensor f = mlp_in_layer(ctx, t, h);
    return apply_norm(ctx, t, "final_layer_norm", add_residual_with_dropout(ctx, t, h, f));
}

constexpr tensor embed(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t max_positions = ctx.config.max_position_embeddings, width = ctx.config.hidden_size;
    const tensor token_embeddings = scaled_embedding(ctx, t);
    t.check_positions(max_positions, load.past + load.sequence);
    const embedding learned{.num_embeddings = max_positions + 2,
                            .embedding_dim = width,
                            .named = ctx.class_of("LearnedPositionalEmbedding")};
    const sinusoidal_positions table{max_positions + ctx.config.family[padding] + 1, width,
                                     ctx.class_of("SinusoidalPositionalEmbedding"), false};
    const tensor places = ctx.config.family[learns_positions]
                              ? t.call("embed_positions", learned, shape{load.batch, load.sequence})
                              : t.call("embed_positions", table, load.batch, load.sequence);
    const tensor x = t.add(token_embeddings, places);
    return functional_dropout(t,
                              ctx.config.family[layernorm_embedding] ? apply_norm(ctx, t, "layernorm_embedding", x) : x,
                              dropout_position::hidden);
}

constexpr tensor decoder(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    if (ctx.inputs != nullptr)
        shared.full.family_tensors[0] = shared.sliding.family_tensors[0] = ctx.inputs->family_tensors[0];
    return forward_layers(ctx, t, shared, x);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_in_module({.name = "decoder", .class_of_module = ctx.class_of("Decoder")}, decoder, ctx, t);
}

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    divide_by_heads(json, config, {"decoder_attention_heads", "num_attention_heads"});
    config.family[encoder_width] = json.optional_positive("cross_attention_hidden_size").value_or(config.hidden_size);
    config.family[padding] = json.non_negative("pad_token_id", 1);
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "dropout", 0.1},
                                             {dropout_position::attention, "attention_dropout"},
                                             {dropout_position::mlp, "activation_dropout"},
                                             {dropout_position::stochastic, "decoder_layerdrop"}};

}  // namespace trocr_detail

// transformers/models/trocr: configuration_trocr.py, modeling_trocr.py; a decoder whose encoder is another model
inline constexpr model_spec trocr = [](model_spec spec) {
    spec.model_type = "trocr";
    spec.class_prefix = "TrOCR";
    spec.parse_config = trocr_detail::parse_config;
    spec.family_keys = trocr_detail::family_keys;
    spec.base_model = trocr_detail::base;
    spec.embed_tokens = trocr_detail::embed;
    spec.decoder_layer = trocr_detail::decoder_layer;
    spec.attention = trocr_detail::attention;
    spec.supported_heads = {head_kind::causal_lm};
    spec.names.model_class = "DecoderWrapper";
    spec.names.lm_head = "output_projection";
    spec.config_keys.remove("num_attention_heads");
    spec.config_keys.add("num_attention_heads", "decoder_attention_heads", key_rule::standard_name_first);
    spec.config_keys.remove("num_hidden_layers");
    spec.config_keys.add("num_hidden_layers", "decoder_layers", key_rule::standard_name_first);
    spec.config_keys.remove("intermediate_size");
    spec.config_keys.add("intermediate_size", "decoder_ffn_dim", key_rule::family_name_only);
    spec.defaults.vocab_size = 50265;
    spec.defaults.num_hidden_layers = 12;
    spec.defaults.max_position_embeddings = 512;
    spec.dropout_keys = trocr_detail::dropout_rates;
    return spec;
}(xglm);

}  // namespace llmcost::arch
