// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace longcat_flash_detail {

enum family_config_index : std::uint8_t { zero_experts, router_bias };
inline constexpr family_key family_keys[]{
    {"zero_expert_num", 256, family_key_type::non_negative},  // experts that hand on what they are given
    {"router_bias", 0, family_key_type::boolean},
};

/// Latent attention whose queries and latents are multiplied by what their low ranks take away.
struct attention : latent_attention {
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "MLA"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t nope = config.qk_nope_head_dim, rope = config.qk_rope_head_dim, rank = config.kv_lora_rank;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const tensor all = project_queries(t, x);
        const tensor compressed = t.call("kv_a_proj_with_mqa", linear{width, rank + rope, bias}, x);
        const norm_module normed{norm_kind::rms, rank, {prefix, "RMSNorm"}};
        const tensor kv_latent = t.call("kv_a_layernorm", normed, compressed.slice(-1, rank));
        const tensor q_pass = t.mul_scalar(all.slice(-1, nope)), q_rot = t.mul_scalar(all.slice(-1, rope));
        projected_states p;
        p.latent = t.mul_scalar(kv_latent).view({batch, 1, sequence, rank});
        p.k_rope = compressed.slice(-1, rope).view({batch, 1, sequence, rope});
        const tensor q_rope = rotate(t, rotated, q_rot, cos, sin);
        p.k_rope = rotate(t, rotated, p.k_rope, cos, sin);
        p.latent = update_kv_cache(t, p.latent, pattern);
        p.k_rope = update_kv_cache(t, p.k_rope, pattern);
        p.q = t.cat({q_pass, q_rope}, -1);
        return output_projection(t, latent_attention_forward(t, p, mask));
    }
};

/// A softmax over all experts, the largest k by corrected scores, times a constant.
struct top_k_router {
    const layer_context& ctx;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TopkRouter"); }
    constexpr tensor forward(trace& t, const tensor& tokens) const {
        const moe_config& moe = ctx.config.moe;
        const std::int64_t all = moe.num_experts + ctx.config.family[zero_experts];
        const module_info classifier{.name = "classifier", .class_of_module = {"", "Linear"}, .is_leaf = true};
        t.enter(classifier);  // the router multiplies by the matrix directly; the bias is unused
        const tensor weight = t.param("weight", {all, ctx.config.hidden_size});
        if (ctx.config.family[router_bias] != 0) {
            const recorder::not_executed_guard unread{t};
            (void)t.param("bias", {all});
        }
        t.leave(classifier);
        const tensor float_tokens = t.to(tokens, dtype::float32);
        const tensor scores = t.softmax_method(t.linear(float_tokens, t.to(weight, dtype::float32)));
        return t.mul_scalar(
            select_with_correction(t, scores, correction_bias(t, all).view({1, all}), moe.num_experts_per_tok));
    }
};

/// Experts called one by one; all that tokens pick are taken for such that compute, and backward's sums for those where
/// all tokens pick the same ones.
struct routed_experts : routed_experts_base {
    std::int64_t all;

    static constexpr bool is_leaf = false;
    constexpr tensor forward(trace& t, const tensor& inputs, const tensor& routing) const {
        const auto [x, weights] = adapt_inputs(t, inputs, routing);
        const recorder::fused_kernel_guard fused{t, make_fused_kernel(x.dim(0))};
        const std::int64_t hit = num_experts_per_tok;
        const tensor up = param(t, "gate_up_proj", {all, 2 * intermediate_size, hidden_size});
        const tensor down = param(t, "down_proj", {num_experts, hidden_size, intermediate_size});
        const tensor rows = dispatch_tokens(t, t.split_sequentially(x, hit));
        const tensor half = t.linear(rows, select_expert(t, up, hit)).slice(-1, intermediate_size);
        const tensor h = t.mul(t.call("act_fn", activation_module{act}, half), half);
        const module_info identity{.name = "identity_expert", .class_of_module = {"", "Identity"}, .is_leaf = true};
        t.enter(identity);
        t.leave(identity);
        const tensor outputs = t.linear(h, select_expert(t, down, hit));
        return combine_expert_outputs(t, x, t.split_sequentially(weights, hit), outputs);
    }

private:
    /// One expert's matrix, which each expert that is hit cuts out.
    static constexpr tensor select_expert(trace& t, const tensor& stacked, std::int64_t hit) {
        tensor one;
        for (std::int64_t i = 0; i < hit; ++i) one = t.select(stacked, 0);
        return one;
    }
};

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const moe_config& moe = ctx.config.moe;
    const tensor tokens = t.reshape(x, {-1, ctx.config.hidden_size});
    const tensor weights = t.call("router", top_k_router{ctx}, tokens);
    const routed_experts_base sizes{ctx.config.hidden_size,  moe.intermediate_size, moe.num_experts,
                                    moe.num_experts_per_tok, ctx.config.hidden_act, ctx.class_of("Experts")};
    const routed_experts block{sizes, moe.num_experts + ctx.config.family[zero_experts]};
    return t.call("experts", block, tokens, weights).view({x.dim(0), x.dim(1), x.dim(2)});
}

/// Two attention and MLP blocks in one layer; a MoE block runs in parallel and reads the input of the first MLP.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const norm_module normed{norm_kind::rms, ctx.config.hidden_size, ctx.class_of("RMSNorm")};
    const mlp_module block{ctx.spec.dense_mlp,        ctx.config.hidden_size, ctx.config.intermediate_size,
                           ctx.config.hidden_act,     ctx.class_of("MLP"),    false,
                           ctx.spec.names.mlp_modules};
    const attention attends{make_latent_attention(ctx)};
    tensor shortcut, out = x;
    for (const std::int64_t i : {0, 1}) {
        t.begin_cache_entry();
        const tensor h = t.call({"self_attn", i}, attends, t.call({"input_layernorm", i}, normed, out));
        const tensor middle = t.add(out, h);
        const tensor ready = t.call({"post_attention_layernorm", i}, normed, middle);
        if (i == 0) shortcut = t.call("mlp", custom_moe_module{ctx, sparse_moe_block}, ready);
        out = t.add(middle, t.call({"mlps", i}, block, ready));
    }
    return t.add(out, shortcut);
}

constexpr void parse_moe_config(config_view json, model_config& config) {
    const auto parse_alias = [&](literal first, literal second, std::int64_t default_value) {
        return json.positive(json.contains(first) ? first : second, default_value);
    };
    config.moe.num_experts = parse_alias("n_routed_experts", "num_local_experts", 512);
    config.moe.num_experts_per_tok = parse_alias("moe_topk", "num_experts_per_tok", 12);
    config.moe.intermediate_size = parse_alias("expert_ffn_hidden_size", "moe_intermediate_size", 2048);
    if (config.moe.num_experts_per_tok > config.moe.num_experts)
        throw_invalid_value(json, "moe_topk", "at most n_routed_experts");
    (void)checked_size(json, "expert_ffn_hidden_size", 2 * (config.moe.num_experts + config.family[zero_experts]),
                       config.moe.intermediate_size);
}

constexpr void parse_config(config_view json, model_config& config) {
    // `num_hidden_layers` of the configuration counts attentions
    if (const auto attentions = json.optional_positive("num_hidden_layers")) {
        config.num_hidden_layers = *attentions / 2;
        if (config.num_hidden_layers < 1)
            throw_invalid_value(json, "num_hidden_layers", "at least 2, as a layer has two attentions");
    }
    config.mla.q_lora_rank = json.positive("q_lora_rank", 1536);
    config.mla.kv_lora_rank = json.positive("kv_lora_rank", 512);
    config.mla.qk_nope_head_dim = json.positive("qk_nope_head_dim", 128);
    config.mla.qk_rope_head_dim = json.positive("qk_rope_head_dim", 64);
    config.mla.v_head_dim = json.positive("v_head_dim", 128);
    const std::int64_t qk_head_dim = config.mla.qk_nope_head_dim + config.mla.qk_rope_head_dim;
    const auto configured_qk_head_dim = json.optional_positive("qk_head_dim");
    if (configured_qk_head_dim && *configured_qk_head_dim != qk_head_dim)
        throw_invalid_value(json, "qk_head_dim", "qk_nope_head_dim + qk_rope_head_dim");
    if (config.head_dim != config.mla.qk_rope_head_dim)
        throw_invalid_value(json, "head_dim", "qk_rope_head_dim, as tables are that wide");
    if (config.head_dim % 2 != 0) throw_invalid_value(json, "qk_rope_head_dim", "an even number");
    if (config.num_key_value_heads != config.num_attention_heads)
        throw_invalid_value(json, "num_key_value_heads", "num_attention_heads");
    (void)checked_size(json, "qk_nope_head_dim", config.num_attention_heads, qk_head_dim);
    (void)checked_size(json, "v_head_dim", config.num_attention_heads, config.mla.v_head_dim);
    config.rope_interleave = true;
    parse_moe_config(json, config);
    set_single_mask(json, config);
    config.layers.fill({config.layers[0].token_mixer, true});
}

}  // namespace longcat_flash_detail

// transformers/models/longcat_flash: configuration_longcat_flash.py, modeling_longcat_flash.py; two attention blocks
// per layer, with a MoE block parallel to both MLPs. Zero-computation experts exist only as router parameters; every
// selected expert counts as a computing one.
inline constexpr model_spec longcat_flash = [](model_spec spec) {
    spec.model_type = "longcat_flash";
    spec.class_prefix = "LongcatFlash";
    spec.supported_heads = language_heads;
    spec.parse_config = longcat_flash_detail::parse_config;
    spec.family_keys = longcat_flash_detail::family_keys;
    spec.decoder_layer = longcat_flash_detail::decoder_layer;
    spec.names.moe_class = "MoE";
    spec.config_keys.add("num_hidden_layers", "num_layers", key_rule::family_name_only);
    spec.config_keys.add("intermediate_size", "ffn_hidden_size", key_rule::standard_name_first);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 131072;
    spec.defaults.hidden_size = 6144;
    spec.defaults.intermediate_size = 12288;
    spec.defaults.num_hidden_layers = 28;
    spec.defaults.num_attention_heads = 64;
    spec.defaults.num_key_value_heads = 0;
    spec.defaults.head_dim = 64;
    spec.defaults.max_position_embeddings = 131072;
    return spec;
}(llama);

}  // namespace llmcost::arch
