// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mixtral.hpp>
#include <llmcost/layers/causal_convolution.hpp>

namespace llmcost::arch {

namespace minimax_detail {

enum family_config_index : std::uint8_t { block_size };
inline constexpr family_key family_keys[]{
    {"block_size", 256},
};

/// Linear attention over blocks of a sequence, or token by token with a cached state; every head has its own decay.
///
/// MULT per block of L tokens: B·heads·(2·L²·dim + 2·L·dim²) and what decay costs.
/// Source: transformers/models/minimax/modeling_minimax.py, `MiniMaxLightningAttention`.
struct lightning_attention {
    layer_context ctx;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("LightningAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t heads = ctx.config.num_attention_heads, dim = ctx.config.head_dim,
                           width = ctx.config.hidden_size;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const std::int64_t block = ctx.config.family[block_size];
        // `slope_rate`, `query_decay`, `key_decay` and `diagonal_decay`
        t.register_buffer({heads, 1 + 2 * block + block * block}, t.activation_type());
        const tensor all = t.call("qkv_proj", linear{width, 3 * heads * dim}, x);
        const tensor qkv = t.call("act_fn", activation_module{ctx.config.hidden_act}, all);
        const tensor part = t.reshape(qkv, {batch, sequence, heads, 3 * dim}).slice(3, dim).transpose(1, 2);
        tensor state = parameter_buffer(t, {batch, heads, dim, dim});
        const tensor found = linear_attention(t, part, state);
        const tensor flat = t.reshape(found.transpose(1, 2), {batch, sequence, heads * dim});
        const tensor out = call_norm(t, "norm", ctx.spec.norm, heads * dim, ctx.class_of("RMSNorm"), flat);
        const tensor gate = t.sigmoid(t.call("output_gate", linear{width, heads * dim}, x));
        if (!t.is_training()) t.add_to_cache(parameter_buffer(t, {batch, heads, dim, dim}));
        return t.call("out_proj", linear{heads * dim, width}, t.mul(gate, out));
    }

private:
    /// A buffer, which has the type of the model's parameters.
    static constexpr tensor parameter_buffer(const trace& t, const shape& sizes) {
        tensor v = trace::buffer(sizes);
        v.type = t.activation_type();
        return v;
    }
    /// Queries, keys and values are alike, each a `part`: (B, heads, S, dim).
    constexpr tensor linear_attention(trace& t, const tensor& part, tensor& state) const {
        const std::int64_t heads = part.dim(1), sequence = part.dim(2), dim = part.dim(3),
                           block = ctx.config.family[block_size];
        const recorder::fused_kernel_guard fused{t,
                                                 {.kind = fused_kernel_kind::linear_attention,
                                                  .batch = part.dim(0),
                                                  .num_queries = sequence,
                                                  .heads = heads,
                                                  .kv_heads = heads,
                                                  .head_dim = dim,
                                                  .value_dim = dim,
                                                  .chunk = block}};
        if (has_recurrent_state(t)) {
            const tensor ratio = t.exp(t.neg(parameter_buffer(t, {heads, 1, 1})));
            for (loop layer_loop = t.loop_time_steps(sequence, state); layer_loop.next();) token(t, part, ratio, state);
        } else {
            // costs change slope at block ends, and after the first token of a block, which has another memory layout
            t.add_region_edge(workload_axis::sequence, (sequence - 1) / block * block + 1);
            t.add_region_edge(workload_axis::sequence, (sequence - 1) / block * block + 2);
            t.add_region_edge(workload_axis::sequence, ((sequence - 1) / block + 1) * block + 1);
            const std::int64_t blocks = (sequence - 1) / block + 1, last = sequence - (blocks - 1) * block;
            state = t.full({part.dim(0), heads, dim, dim}, part.type);
            // the first state needs no gradient, the others do; the last one is unused
            run(t, part, blocks > 1 ? block : last, state, blocks > 1);
            for (loop layer_loop = t.loop_time_steps(blocks - 2, state); layer_loop.next();)
                run(t, part, block, state, true);
            if (blocks > 1) run(t, part, last, state, false);
        }
        tensor outputs =
            parameter_buffer(t, {part.dim(0), heads, sequence, dim});  // outputs of all blocks or tokens, consecutive
        outputs.requires_grad = part.requires_grad;
        return t.cat({outputs}, -2);
    }
    constexpr void run(trace& t, const tensor& part, std::int64_t length, tensor& state, bool read) const {
        const std::int64_t heads = part.dim(1), block = ctx.config.family[block_size];
        const tensor q = t.slice(part, 2, length), k = t.slice(part, 2, length), v = t.slice(part, 2, length);
        const tensor rows = parameter_buffer(t, {heads, block, 1}).slice(1, length);
        const tensor pairs = parameter_buffer(t, {1, heads, block, block}).slice(2, length).slice(3, length);
        const tensor decay = t.exp(t.mul_scalar(t.neg(parameter_buffer(t, {heads, 1, 1}))));
        const tensor intra_block = t.matmul(t.mul(t.matmul(q, k.transpose(-1, -2)), pairs), v);
        const tensor inter_block = t.matmul(t.mul(q, rows), state);
        (void)t.add(inter_block, intra_block);
        const recorder::detach_guard unread{t, !read};
        const tensor fresh = t.matmul(t.mul(k, rows).transpose(-1, -2), v);
        state = t.add(t.mul(state, decay), fresh);
    }
    constexpr void token(trace& t, const tensor& part, const tensor& ratio, tensor& state) const {
        const tensor q = t.slice(part, 2, 1), k = t.slice(part, 2, 1), v = t.slice(part, 2, 1);
        const tensor fresh = t.matmul(k.transpose(-1, -2), v);
        state = t.add(t.mul(ratio, state), fresh);
        (void)t.matmul(q, state);
    }
};

constexpr tensor recurrent_block(const layer_context& ctx, trace& t, const tensor& x) {
    return t.call(ctx.spec.names.recurrent_block, lightning_attention{ctx}, x);
}

/// The cache's layers all grow, whatever the window; the mask is as long as the first of them, which has nothing where
/// that layer is none that attends.
constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    decoder_inputs c;
    c.full.pattern = attention_pattern_of(t, 0);
    const std::int64_t window = ctx.config.sliding_window;
    attention_pattern masked = c.full.pattern;
    if (ctx.config.layers[0].token_mixer ==
        token_mixer_kind::recurrent) {  // such a mask broadcasts over one new token alone
        if (masked.cached_length > 0 && masked.query_length > 1 && !t.is_not_executed())
            throw_position_error(masked.query_length, masked.key_length());
        masked.cached_length = 0;
    }
    c.full.mask = eager_mask(t, masked, t.load().batch);
    if (window > 0) {
        (void)attention_pattern_of(t, window);  // sets the region edges of the window
        c.full.pattern.window = window;
    }
    compute_rotary_embeddings(ctx, t, c.full);
    return c;
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    attention_pattern all = ctx.inputs->pattern;
    all.window = 0;
    qkv.key = update_kv_cache(t, qkv.key, all);
    qkv.value = update_kv_cache(t, qkv.value, all);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

/// x · α + h · β.
constexpr tensor add_weighted_residual(const layer_context&, trace& t, const tensor& residual,
                                       const tensor& block_output) {
    const tensor scaled_residual = t.mul_scalar(residual);
    return t.add(scaled_residual, t.mul_scalar(block_output));
}

/// Decoder layer whose residual connections start after the norms.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor first = apply_norm(ctx, t, "input_layernorm", x);
    const tensor middle = add_weighted_residual(ctx, t, first, mix_tokens(ctx, t, first));
    const tensor second = apply_norm(ctx, t, "post_attention_layernorm", middle);
    return add_weighted_residual(ctx, t, second, ctx.spec.mlp(ctx, t, second));
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_experts(json, config, json.contains("num_experts") ? "num_experts" : "num_local_experts");
    parse_load_balancing(json, config);
    validate_experts(json, config);
    config.moe.intermediate_size = config.intermediate_size;
    config.moe.norm_topk_prob = true;
    const bool listed = parse_layer_types(json, config, token_mixer_kind::recurrent);
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        const token_mixer_kind default_token_mixer =
            i % 2 == 0 ? token_mixer_kind::full_attention : token_mixer_kind::recurrent;
        return layer_spec{listed ? listed_layers[i].token_mixer : default_token_mixer, true};
    });
}

}  // namespace minimax_detail

// transformers/models/minimax: configuration_minimax.py, modeling_minimax.py; lightning attention between Mixtral's
// layers; residual connections start after the norms
inline constexpr model_spec minimax = [](model_spec spec) {
    spec.model_type = "minimax";
    spec.class_prefix = "MiniMax";
    spec.parse_config = minimax_detail::parse_config;
    spec.family_keys = minimax_detail::family_keys;
    spec.prepare_inputs = minimax_detail::prepare_inputs;
    spec.decoder_layer = minimax_detail::decoder_layer;
    spec.add_residual = minimax_detail::add_weighted_residual;
    spec.attention = minimax_detail::attention;
    spec.recurrent_block = minimax_detail::recurrent_block;
    spec.supported_layers = attention_layers | token_mixer_kind::recurrent;
    spec.names.recurrent_block = "self_attn";
    spec.defaults.vocab_size = 32000;
    spec.defaults.hidden_size = 4096;
    spec.defaults.intermediate_size = 14336;
    spec.defaults.num_hidden_layers = 32;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 131072;
    spec.dropout_keys = router_jitter_dropout;
    return spec;
}(mixtral);

}  // namespace llmcost::arch
