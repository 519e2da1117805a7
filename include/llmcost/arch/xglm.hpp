// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/opt.hpp>

namespace llmcost::arch {

namespace xglm_detail {

/// Scaled queries over keys of all heads in one batch; scores perhaps held above the lowest number.
constexpr tensor attend_in_one_batch(const layer_context& ctx, trace& t, const tensor& x, bool holds) {
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), width = ctx.config.hidden_size, d = ctx.config.head_dim;
    const std::int64_t heads = ctx.config.num_attention_heads;
    const attention_pattern& pattern = ctx.inputs->pattern;
    const tensor scaled = t.mul_scalar(project(ctx, t, "q_proj", width, x));
    query_key_value qkv{scaled, project(ctx, t, "k_proj", width, x), project(ctx, t, "v_proj", width, x)};
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    update_kv_cache(ctx, t, qkv);
    tensor found;
    {
        const recorder::fused_kernel_guard fused{t, fused_attention_kernel(qkv.query, heads, pattern, qkv.key.dim(2))};
        const std::int64_t length = qkv.key.dim(2);
        const bool sparse = t.load().attention == attention_scores::causal;
        const tensor q = t.reshape(qkv.query, {batch * heads, sequence, d}),
                     k = t.reshape(qkv.key, {batch * heads, length, d});
        const tensor v = t.reshape(qkv.value, {batch * heads, length, d});
        tensor scores = t.bmm(op::batched_matmul, q, k.transpose(1, 2), sparse ? pattern.visible_pairs() : 0);
        if (!sparse) {
            scores = t.add(scores.view({batch, heads, sequence, length}), ctx.inputs->mask);
            if (holds) scores = t.maximum(scores, t.full({}));
            scores = scores.view({batch * heads, sequence, length});
        }
        found = t.bmm(functional_dropout(t, t.softmax(scores), dropout_position::attention), v)
                    .view({batch, heads, sequence, d});
    }
    return output_projection(ctx, t, t.reshape(found.transpose(1, 2), {batch, sequence, width}));
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    return attend_in_one_batch(ctx, t, x, true);
}

/// Children of a feed-forward block that a layer has among its own.
constexpr tensor mlp_in_layer(const layer_context& ctx, trace& t, const tensor& x) {
    using opt_detail::mlp_child;
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    tensor h = t.call("fc1", mlp_child<linear>{{width, inner, true}}, x);
    h = t.call("activation_fn", mlp_child<activation_module>{{ctx.config.hidden_act}}, h);
    return t.call("fc2", mlp_child<linear>{{inner, width, true}}, functional_dropout(t, h, dropout_position::mlp));
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor a = mix_tokens(ctx, t, apply_norm(ctx, t, "self_attn_layer_norm", x));
    const tensor middle = add_residual_with_dropout(ctx, t, x, a);
    const tensor f = mlp_in_layer(ctx, t, apply_norm(ctx, t, "final_layer_norm", middle));
    return add_residual_with_dropout(ctx, t, middle, f);
}

/// Rows of a table of sines and cosines, one for each new position.
struct sinusoids {
    std::int64_t max_positions;
    std::int64_t width;
    class_name named;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, std::int64_t batch, std::int64_t sequence) const {
        tensor table = trace::buffer({max_positions, width});
        table.type = t.activation_type();
        return t.gather(table, {batch * sequence, width}).view({batch, sequence, width});
    }
};

constexpr tensor embed(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t max_positions = ctx.config.max_position_embeddings, width = ctx.config.hidden_size;
    const tensor token_embeddings = scaled_embedding(ctx, t);
    t.check_positions(max_positions, load.past + load.sequence);
    const sinusoids table{max_positions + 2, width, ctx.class_of("SinusoidalPositionalEmbedding")};
    const tensor x = t.add(token_embeddings, t.call("embed_positions", table, std::int64_t{1}, load.sequence));
    return functional_dropout(t, x, dropout_position::hidden);
}

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    divide_by_heads(json, config, {"attention_heads", "num_attention_heads"});
    if (json.boolean("add_cross_attention", false))
        throw_unsupported(json, "add_cross_attention", "cross-attention is not supported by this model type");
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "dropout", 0.1},
                                             {dropout_position::attention, "attention_dropout", 0.1},
                                             {dropout_position::mlp, "activation_dropout"},
                                             {dropout_position::stochastic, "layerdrop"}};

}  // namespace xglm_detail

// transformers/models/xglm: configuration_xglm.py, modeling_xglm.py; scaled embeddings, sinusoidal positions
inline constexpr model_spec xglm = [](model_spec spec) {
    spec.model_type = "xglm";
    spec.class_prefix = "XGLM";
    spec.parse_config = xglm_detail::parse_config;
    spec.supported_heads = language_heads;
    spec.embed_tokens = xglm_detail::embed;
    spec.decoder_layer = xglm_detail::decoder_layer;
    spec.attention = xglm_detail::attention;
    spec.norm = norm_kind::layer;
    spec.rotary = rotary_style::none;
    spec.names.norm = "layer_norm";
    spec.names.o_proj = "out_proj";
    spec.names.embedding_class = "ScaledWordEmbedding";
    spec.config_keys.add("hidden_size", "d_model", key_rule::standard_name_first);
    spec.config_keys.add("num_attention_heads", "attention_heads", key_rule::standard_name_first);
    spec.config_keys.add("num_hidden_layers", "num_layers", key_rule::standard_name_first);
    spec.config_keys.add("intermediate_size", "ffn_dim", key_rule::family_name_only);
    spec.config_keys.add("hidden_act", "activation_function", key_rule::family_name_only);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 256008;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 2048;
    spec.defaults.hidden_act = activation::gelu;
    spec.defaults.tie_word_embeddings = true;
    spec.defaults.attention_bias = spec.defaults.output_bias = true;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.dropout_keys = xglm_detail::dropout_rates;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
