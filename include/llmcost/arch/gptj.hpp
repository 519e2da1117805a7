// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gpt2.hpp>
#include <llmcost/forward/float32_attention.hpp>
#include <llmcost/layers/sinusoidal_rotary.hpp>

// GPT-J. Derived from GPT-2, with these differences:
//  - interleaved RoPE instead of learned positions;
//  - parallel attention and MLP, and a head with a bias.
//
// Source: transformers/models/gptj

namespace llmcost::arch {

namespace gptj_detail {

/// Self-attention with partial RoPE. Every layer looks up its sines and cosines.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const std::int64_t width = config.hidden_size, batch = x.dim(0), sequence = x.dim(1);
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    // `embed_positions` of each layer (`create_sinusoidal_positions`)
    t.register_buffer({config.max_position_embeddings, config.rotary_dim}, dtype::float32);
    const tensor sinusoids =
        pick_sinusoids(t, config.max_position_embeddings, sequence, config.rotary_dim, qkv.key.type);
    for (tensor* const operand : {&qkv.query, &qkv.key}) {
        const tensor part = rotate_every_two(t, t.slice(*operand, -1, config.rotary_dim), sinusoids);
        *operand = t.cat({part, t.slice(*operand, -1, config.head_dim - config.rotary_dim)}, -1);
    }
    transpose_heads(qkv);
    update_kv_cache(ctx, t, qkv);
    const tensor flat = float32_attention(ctx, t, qkv, ctx.inputs->pattern, score_step::divide_then_mask)
                            .view({batch, sequence, width});
    return dropout(t, "resid_dropout", t.call("out_proj", linear{width, width}, flat));
}

/// Decoder layer: attention and MLP in parallel.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor h = apply_norm(ctx, t, "ln_1", x);
    const tensor a = mix_tokens(ctx, t, h);
    return t.add(t.add(a, ctx.spec.mlp(ctx, t, h)), x);
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return mlp_with_dropout(ctx, t, x, "fc_in", "fc_out");
}

constexpr tensor embed(const layer_context& ctx, trace& t) {
    return dropout(t, "drop", embed_tokens(ctx, t), dropout_position::embeddings);
}

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    divide_by_heads(json, config, {"n_head", "num_attention_heads"});
    if (config.intermediate_size == 0) config.intermediate_size = 4 * config.hidden_size;
    config.attention_bias = false;
    config.rotary_dim = json.contains("rotary_dim") ? json.positive("rotary_dim") : 64;
    if (config.rotary_dim > config.head_dim || config.rotary_dim % 2 != 0)
        throw_invalid_value(json, "rotary_dim", "an even number, at most the head size");
    if (config.head == head_kind::question_answering && config.num_labels != 2)
        throw_invalid_value(json, json.contains("num_labels") ? "num_labels" : "id2label",
                            "two labels, start and end of an answer");
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "resid_pdrop"},
                                             {dropout_position::embeddings, "embd_pdrop"},
                                             {dropout_position::attention, "attn_pdrop"}};

}  // namespace gptj_detail

inline constexpr model_spec gptj = [](model_spec spec) {
    spec.model_type = "gptj";
    spec.class_prefix = "GPTJ";
    spec.parse_config = gptj_detail::parse_config;
    spec.family_keys = {};
    spec.embed_tokens = gptj_detail::embed;
    spec.prepare_inputs = make_masks;
    spec.decoder_layer = gptj_detail::decoder_layer;
    spec.attention = gptj_detail::attention;
    spec.mlp = gptj_detail::mlp;
    spec.rotary = rotary_style::interleaved;
    spec.supported_heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification,
                            head_kind::question_answering};
    spec.names.causal_lm_class = "ForCausalLM";
    spec.defaults.vocab_size = 50400;
    spec.defaults.hidden_size = 4096;
    spec.defaults.num_hidden_layers = 28;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 2048;
    spec.defaults.head_bias = true;
    spec.defaults.tie_word_embeddings = false;
    spec.dropout_keys = gptj_detail::dropout_rates;
    return spec;
}(gpt2);

}  // namespace llmcost::arch
