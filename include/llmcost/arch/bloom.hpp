// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/layers/alibi.hpp>

// BLOOM. Derived from the default decoder, with normalized embeddings and ALiBi.
//
// Source: transformers/models/bloom: configuration_bloom.py, modeling_bloom.py

namespace llmcost::arch {

namespace bloom_detail {

enum family_config_index : std::uint8_t { residual_from_norm };

inline constexpr family_key family_keys[]{{"apply_residual_connection_post_layernorm", 0, family_key_type::boolean}};

/// Attention with ALiBi: returns the context (batch, sequence, width). The scores are added to the biases in the
/// matmul.
constexpr tensor alibi_attention(const layer_context& ctx, trace& t, const query_key_value& qkv) {
    const attention_inputs& s = *ctx.inputs;
    const std::int64_t heads = qkv.query.dim(1), d = qkv.query.dim(3), batch = qkv.query.dim(0),
                       sequence = qkv.query.dim(2);
    const recorder::fused_kernel_guard fused{t, fused_attention_kernel(qkv.query, heads, s.pattern, qkv.key.dim(2))};
    const bool sparse = t.load().attention == attention_scores::causal;
    const tensor rows = t.reshape(qkv.query, {batch * heads, -1, d});
    const tensor columns = t.reshape(qkv.key, {batch * heads, -1, d}).transpose(1, 2);
    const tensor values = t.reshape(qkv.value, {batch * heads, -1, d});
    // with head_dim 1, the scale is one and needs no multiplication
    const op product = d == 1 ? op::batched_matmul_bias : op::batched_matmul_bias_scaled;
    tensor scores =
        t.bmm(torch_function::baddbmm_method, product, rows, columns, sparse ? s.pattern.visible_pairs() : 0);
    scores = scores.view({batch, heads, sequence, s.pattern.key_length()});
    if (!sparse) scores = t.add(scores, s.mask);
    const tensor probabilities = t.to(t.softmax(t.to(scores, dtype::float32)), qkv.query.type);
    const tensor attention_probs = dropout(t, "attention_dropout", probabilities, dropout_position::attention);
    const tensor mixed = t.bmm(attention_probs.view({batch * heads, sequence, s.pattern.key_length()}), values);
    return t.reshape(mixed.view({batch, heads, sequence, d}).transpose(1, 2), {batch, sequence, heads * d});
}

/// Self-attention. The module adds the residual.
struct attention {
    layer_context ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& residual) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.num_attention_heads * ctx.config.head_dim;
        const tensor fused = t.call("query_key_value", linear{width, 3 * inner, true}, x);
        const tensor heads = fused.view({x.dim(0), x.dim(1), ctx.config.num_attention_heads, 3, ctx.config.head_dim});
        query_key_value qkv{t.select(heads, 3), t.select(heads, 3), t.select(heads, 3)};
        transpose_heads(qkv);
        update_kv_cache(ctx, t, qkv);
        const tensor out = t.call("dense", linear{inner, width, true}, alibi_attention(ctx, t, qkv));
        return t.add(residual, functional_dropout(t, out, dropout_position::hidden));
    }
};

/// GELU with the tanh approximation and a custom backward that saves only x.
struct fused_gelu {
    class_name named;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        tensor out;
        {
            const trace::no_grad_guard no_grad{t};
            out = activate(t, activation::gelu_fast, x);
        }
        if (!x.requires_grad) return out;
        const count n(x.numel);
        t.save_for_backward(x);
        t.add_backward_cost({.add = n * count(5), .mult = n * count(12), .tanh = n});  // `bloom_gelu_back`
        t.record_autograd_function(out, x);
        return out;
    }
};

/// MLP. The module adds the residual.
struct mlp_block {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MLP"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& residual) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const tensor intermediate_states = t.call("dense_h_to_4h", linear{width, inner, true}, x);
        const tensor h = t.call("gelu_impl", fused_gelu{ctx.class_of("Gelu")}, intermediate_states);
        const tensor out = t.call("dense_4h_to_h", linear{inner, width, true}, h);
        return t.add(residual, functional_dropout(t, out, dropout_position::hidden));
    }
};

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const bool from_norm = ctx.config.family[residual_from_norm] != 0;
    tensor h = apply_norm(ctx, t, "input_layernorm", x);
    const tensor a = t.call("self_attention", attention{ctx}, h, from_norm ? h : x);
    h = apply_norm(ctx, t, "post_attention_layernorm", a);
    return t.call("mlp", mlp_block{ctx}, h, from_norm ? h : a);
}

constexpr tensor embed(const layer_context& ctx, trace& t) {
    return apply_norm(ctx, t, "word_embeddings_layernorm", embed_tokens(ctx, t));
}

constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    const attention_pattern pattern = attention_pattern_of(t, ctx.config.sliding_window);
    (void)alibi_per_position(t, t.load().batch, ctx.config.num_attention_heads, pattern.key_length());
    return prepare_decoder_inputs(ctx, t);
}

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    divide_by_heads(json, config, {"n_head", "num_attention_heads"});
    config.intermediate_size = 4 * config.hidden_size;
    if (json.boolean("slow_but_exact", false) && json.integer("pretraining_tp", 1) > 1)
        throw_unsupported(json, "slow_but_exact", "slow_but_exact projections are not supported");
}

}  // namespace bloom_detail

inline constexpr model_spec bloom = [](model_spec spec) {
    spec.model_type = "bloom";
    spec.class_prefix = "Bloom";
    spec.parse_config = bloom_detail::parse_config;
    spec.family_keys = bloom_detail::family_keys;
    spec.embed_tokens = bloom_detail::embed;
    spec.prepare_inputs = bloom_detail::prepare_inputs;
    spec.decoder_layer = bloom_detail::decoder_layer;
    spec.norm = norm_kind::layer;
    spec.rotary = rotary_style::none;
    spec.supported_heads = answering_decoder_heads;
    spec.names.base_model = spec.names.base_model_for_question_answering = "transformer";
    spec.names.token_classifier = "classifier";
    spec.names.embed_tokens = "word_embeddings";
    spec.names.layers = "h";
    spec.names.norm = "ln_f";
    spec.names.layer_class = "Block";
    spec.config_keys.add("hidden_size", "n_embed", key_rule::family_name_first);
    spec.config_keys.add("num_hidden_layers", "n_layer", key_rule::standard_name_first);
    spec.config_keys.add("num_attention_heads", "n_head", key_rule::standard_name_first);
    spec.defaults.vocab_size = 250880;
    spec.defaults.hidden_size = 64;
    spec.defaults.num_hidden_layers = 2;
    spec.defaults.num_attention_heads = 8;
    spec.defaults.tie_word_embeddings = true;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.dropout_keys = hidden_and_attention_dropout;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
