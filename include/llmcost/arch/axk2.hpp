// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek_v32.hpp>
#include <llmcost/config/latent_attention.hpp>
#include <llmcost/forward/sparse_attention.hpp>

namespace llmcost::arch {

namespace axk2_detail {

enum family_config_index : std::uint8_t { gate_rank = sparse_attention::index_top_k + 1 };

inline constexpr family_key family_keys[]{
    {"index_n_heads", 16},
    {"index_head_dim", 128},
    {"index_topk", 2048},
    {"gated_norm_rank", 16},
};

/// A gate with a low-rank bottleneck: down and up projection.
struct gate_block {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("GateMLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, rank = ctx.config.family[gate_rank];
        const tensor h = t.call("fc1", linear{width, rank}, x);
        return t.call("fc2", linear{rank, width}, t.call("activation_fn", activation_module{activation::swish}, h));
    }
};

/// RMS norm scaled element by element by a learned gate.
struct gated_norm {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("GatedRMSNorm"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor y = apply_norm(ctx, t, "norm", x);
        const tensor gate = t.sigmoid(t.to(t.call("mlp", gate_block{ctx}, y), dtype::float32));
        return t.to(t.mul(y, gate), y.type);
    }
};

/// Top-k routing over all experts. The sigmoid scores plus a correction bias select the experts; the scores alone
/// weight them.
constexpr tensor_pair route(const layer_context& ctx, trace& t, const tensor& x) {
    const moe_config& moe = ctx.config.moe;
    const tensor tokens = x.view({-1, ctx.config.hidden_size});
    const tensor weight = t.param("weight", {moe.num_experts, ctx.config.hidden_size});
    const tensor float_tokens = t.to(tokens, dtype::float32);
    const tensor logits = t.linear(float_tokens, t.to(weight, dtype::float32));
    const tensor scores = t.sigmoid(logits);
    {
        const recorder::detach_guard indices{t};
        (void)t.topk(t.add(scores, correction_bias(t, moe.num_experts, moe.has_float32_correction)),
                     moe.num_experts_per_tok);
    }
    tensor weights = t.gather(scores, {tokens.dim(0), moe.num_experts_per_tok});
    if (moe.norm_topk_prob) t.div_(weights, t.add_scalar(t.sum(weights, -1, true)));
    return {logits, t.mul_scalar(weights)};
}

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size;
    const tensor weights =
        ctx.config.moe.has_group_limit ? call_router(ctx, t, x) : call_custom_router(ctx, t, route, x);
    const tensor routed = call_experts(ctx, t, x.view({-1, width}), weights).view({x.dim(0), x.dim(1), width});
    return t.add(routed, call_mlp(ctx, t, "shared_experts", ctx.config.moe.shared_intermediate_size, x));
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return moe_or_dense_mlp(ctx, t, sparse_moe_block, x);
}

/// Gated latent attention. One projection computes queries and output gates, from low-rank vectors with and without a
/// norm.
struct gated_attention {
    latent_attention base;
    sparse_indexer indexer;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return base.type_name(); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t rank = base.config.q_lora_rank, values = base.config.v_head_dim, heads = base.heads;
        const std::int64_t qk_head_dim = base.config.qk_nope_head_dim + base.config.qk_rope_head_dim;
        const tensor raw = t.call("q_a_proj", linear{base.width, rank, base.bias}, x);
        const tensor low = t.call("q_a_layernorm", norm_module{norm_kind::rms, rank, {base.prefix, "RMSNorm"}}, raw);
        const tensor query_and_gate =
            t.call("q_gate_proj", linear{2 * rank, heads * (qk_head_dim + values)}, t.cat({low, raw}, -1))
                .view({x.dim(0), x.dim(1), heads, qk_head_dim + values});
        const tensor q = query_and_gate.slice(-1, qk_head_dim).transpose(1, 2);
        const tensor gate = t.reshape(query_and_gate.slice(-1, values), {x.dim(0), x.dim(1), -1});
        const latent_attention::projected_states p = base.update_latent_cache(t, x, q);
        (void)t.call("indexer", indexer, x, low);
        const tensor found = base.latent_attention_forward(t, p, t.masked_fill(base.mask));
        return base.output_projection(t, t.to(t.mul(found, t.sigmoid(t.to(gate, dtype::float32))), found.type));
    }
};

constexpr tensor token_mixer(const layer_context& ctx, trace& t, const tensor& x) {
    using namespace sparse_attention;
    const family_config& family = ctx.config.family;
    const latent_attention base = make_latent_attention(ctx);
    const sparse_indexer indexer{family[index_heads], family[index_head_dim], family[index_top_k],
                                 rotary_style::rotate_half, base};
    return t.call(ctx.spec.names.attention, gated_attention{base, indexer}, x);
}

/// Decoder layer with gated norms before the attention and before the MoE block.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor h = t.call("input_layernorm", gated_norm{ctx}, x);
    const tensor middle = t.add(x, ctx.spec.token_mixer(ctx, t, h));
    constexpr literal name = "post_attention_layernorm";
    const tensor mlp_input =
        ctx.layer.has_experts ? t.call(name, gated_norm{ctx}, middle) : apply_norm(ctx, t, name, middle);
    return t.add(middle, ctx.spec.mlp(ctx, t, mlp_input));
}

constexpr void parse_config(config_view json, model_config& config) {
    sparse_attention::parse_indexed_attention(json, config);
    const auto is_set = [&](literal key) {
        const auto found = json.find(key);
        return found && !found->is_null();
    };
    if (is_set("n_group") != is_set("topk_group"))
        throw_invalid_value(json, "n_group", "null if topk_group is null, otherwise a number");
    if (is_set("n_group")) {
        parse_grouped_experts(json, config, {.shared = 1});
    } else {
        parse_experts(json, config, json.contains("num_local_experts") ? "num_local_experts" : "n_routed_experts");
        validate_experts(json, config);
        config.moe.shared_intermediate_size =
            checked_size(json, "n_shared_experts", json.positive("n_shared_experts", 1), config.moe.intermediate_size);
    }
    set_expert_layers(json, config);
}

}  // namespace axk2_detail

// A.X K2. Derived from DeepSeek V3.2, with gated norms, gated attention and optional expert groups.
//
// Source: transformers/models/axk2
inline constexpr model_spec axk2 = [](model_spec spec) {
    spec.model_type = "axk2";
    spec.multi_token_prediction = nullptr;
    spec.class_prefix = "AXK2";
    spec.supported_heads = decoder_heads;
    spec.parse_config = axk2_detail::parse_config;
    spec.family_keys = axk2_detail::family_keys;
    spec.decoder_layer = axk2_detail::decoder_layer;
    spec.token_mixer = axk2_detail::token_mixer;
    spec.mlp = axk2_detail::mlp;
    spec.defaults.vocab_size = 163840;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 5120;
    spec.defaults.num_hidden_layers = 48;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.num_key_value_heads = 32;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.moe = {
        .num_experts = 128, .num_experts_per_tok = 8, .intermediate_size = 512, .norm_topk_prob = true};
    spec.defaults.moe.has_float32_correction = true;
    spec.defaults.mla = {
        .q_lora_rank = 384, .kv_lora_rank = 128, .qk_nope_head_dim = 64, .qk_rope_head_dim = 32, .v_head_dim = 64};
    return spec;
}(deepseek_v32);

}  // namespace llmcost::arch
