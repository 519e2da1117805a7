// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>

// CPM-Ant. Derived from the default decoder, with a prompt before the text and segment-dependent position biases.
//
// Source: transformers/models/cpmant: configuration_cpmant.py, modeling_cpmant.py

namespace llmcost::arch {

namespace cpmant_detail {

enum family_config_index : std::uint8_t { buckets, prompt_types, prompt_length, segment_types, drops, drops_blocks };

inline constexpr family_key family_keys[]{
    {"position_bias_num_buckets", 512},  {"prompt_types", 32}, {"prompt_length", 32}, {"segment_types", 32},
    {.type = family_key_type::computed},  // attention and MLP have dropout modules
    {.type = family_key_type::computed},  // the blocks around them have dropout modules
};

constexpr tensor dropped_if(trace& t, bool drops, const tensor& x) { return drops ? dropout(t, "dropout", x) : x; }

/// Attention with position biases. The scores are masked before and after the softmax.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), d = config.head_dim,
                       inner = config.num_attention_heads * d;
    const attention_inputs& s = *ctx.inputs;
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    update_kv_cache(ctx, t, qkv);
    const auto hidden = [&](const tensor& scores) {
        (void)t.full({});  // the fill value of masked elements
        return t.masked_fill(scores);
    };
    tensor mixed;
    {
        const recorder::fused_kernel_guard fused{
            t, fused_attention_kernel(qkv.query, qkv.key.dim(1), s.pattern, qkv.key.dim(2))};
        tensor scores = t.div_scalar(t.matmul(qkv.query, qkv.key.transpose(2, 3)));
        scores = hidden(t.call("softmax", softmax_module{}, hidden(t.add(scores, s.family_tensors[0]))));
        mixed = t.matmul(dropped_if(t, config.family[drops], scores), qkv.value);
    }
    const tensor flat = t.contiguous(mixed.permute({0, 2, 1, 3})).view({batch, sequence, inner});
    return t.call("attention_out", linear{inner, config.hidden_size}, flat);
}

constexpr tensor attention_block(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor h = apply_norm(ctx, t, "layernorm_before_attention", x);
    return t.add(x, dropped_if(t, ctx.config.family[drops_blocks], mix_tokens(ctx, t, h)));
}

constexpr tensor gated(const layer_context& ctx, trace& t, const tensor& x) {
    const linear projection{ctx.config.hidden_size, ctx.config.intermediate_size};
    const tensor gate = t.call("act", gelu_module{}, t.call("w_0", projection, x));
    return t.mul(gate, t.call("w_1", projection, x));
}

constexpr tensor ffn_block(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info block{.name = "ffn", .class_of_module = ctx.class_of("FeedForward"), .module_role = role::mlp};
    const module_info dense_gated_act{.name = "w_in", .class_of_module = ctx.class_of("DenseGatedACT")};
    tensor h = apply_norm(ctx, t, "layernorm_before_ffn", x);
    t.enter(block);
    t.enter(dense_gated_act);
    h = dropped_if(t, ctx.config.family[drops], t.leave(dense_gated_act, gated(ctx, t, h)));
    h = t.leave(block, t.call("w_out", linear{ctx.config.intermediate_size, ctx.config.hidden_size}, h));
    return t.add(x, dropped_if(t, ctx.config.family[drops_blocks], h));
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info attention{.name = "self_att", .class_of_module = ctx.class_of("SelfAttentionBlock")};
    const module_info ffn{.name = "ffn", .class_of_module = ctx.class_of("FFNBlock")};
    t.enter(attention);
    const tensor middle = t.leave(attention, attention_block(ctx, t, x));
    t.enter(ffn);
    return t.leave(ffn, ffn_block(ctx, t, middle));
}

/// Position biases of distances and segments: (batch, heads, S, S). Distances fall into logarithmic buckets; one table
/// contains all biases.
constexpr tensor position_biases(const layer_context& ctx, trace& t, std::int64_t batch, std::int64_t sequence) {
    const std::int64_t segments = ctx.config.family[segment_types], heads = ctx.config.num_attention_heads;
    const module_info model_info{
        .name = "position_bias", .class_of_module = ctx.class_of("SegmentPositionEmbedding"), .is_leaf = true};
    t.enter(model_info);
    const tensor table = t.param("relative_attention_bias", {segments * segments + ctx.config.family[buckets], heads});
    {
        const trace::no_grad_guard quiet{t};
        (void)t.mul_scalar(t.div_scalar(t.log(t.div_scalar(t.full({sequence, sequence})))));
    }
    const tensor found = t.gather(table, {batch, sequence, sequence, heads});
    return t.leave(model_info, t.contiguous(found.permute({0, 3, 1, 2})));
}

/// Embeds a prompt and the text, traces the layers and removes the prompt. All tokens attend to all others.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    const std::int64_t batch = t.load().batch, prompt = config.family[prompt_length],
                       sequence = prompt + t.load().sequence;
    const shape ids{batch, sequence};
    const std::int64_t rows = config.vocab_size + config.family[prompt_types] * prompt;
    const tensor token_embeddings = t.call("input_embedding", embedding{rows, config.hidden_size}, ids);
    const tensor segments =
        t.call("segment_embedding", embedding{config.family[segment_types], config.hidden_size}, ids);
    tensor x = t.add(token_embeddings, segments);
    (void)t.full({batch, prompt});  // part of a mask
    attention_inputs shared;
    shared.pattern = {.query_length = sequence, .is_causal = false};
    shared.family_tensors[0] = position_biases(ctx, t, batch, sequence);
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    for (loop layer_loop = t.loop_modules(config.num_hidden_layers, config.layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, llmcost::decoder_layer{ctx.for_layer(layer_loop, shared)}, x);
    x = t.leave(encoder, apply_norm(ctx, t, "output_layernorm", x));
    return t.slice(x, 1, t.load().sequence);
}

constexpr void parse_config(config_view json, model_config& config) {
    config.tie_word_embeddings = false;  // the head has the size of the vocabulary, the embedding table is larger
    const auto p = json.find("dropout_p");
    config.family[drops] = !p || !p->is_null();
    config.family[drops_blocks] = p && !p->is_null() && p->as_real() != 0;
    const std::int64_t prompt = config.family[prompt_length];
    if (checked_product(config.family[prompt_types], prompt) > max_input - config.vocab_size)
        throw_invalid_value(json, "prompt_types",
                            "a number of prompt types with fewer than 2147483648 embeddings in total");
    (void)checked_size(json, "segment_types", config.family[segment_types], config.family[segment_types]);
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "dropout_p"}};

}  // namespace cpmant_detail

inline constexpr model_spec cpmant = [](model_spec spec) {
    spec.model_type = "cpmant";
    spec.class_prefix = "CpmAnt";
    spec.parse_config = cpmant_detail::parse_config;
    spec.family_keys = cpmant_detail::family_keys;
    spec.base_model = cpmant_detail::base;
    spec.decoder_layer = cpmant_detail::decoder_layer;
    spec.attention = cpmant_detail::attention;
    spec.norm = norm_kind::rms_float_variance;
    spec.rotary = rotary_style::none;
    spec.supported_heads = language_heads;
    spec.names.base_model = "cpmant";
    spec.names.layer_class = "TransformerBlock";
    spec.names.norm_class = "LayerNorm";
    spec.names.attention = "self_attention";
    spec.names.q_proj = "project_q";
    spec.names.k_proj = "project_k";
    spec.names.v_proj = "project_v";
    spec.config_keys.add("head_dim", "dim_head", key_rule::family_name_only);
    spec.config_keys.add("intermediate_size", "dim_ff", key_rule::family_name_only);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("hidden_act", key_rule::absent);
    spec.defaults.vocab_size = 30720;
    spec.defaults.hidden_size = 4096;
    spec.defaults.intermediate_size = 10240;
    spec.defaults.num_hidden_layers = 48;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.head_dim = 128;
    spec.dropout_keys = cpmant_detail::dropout_rates;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
