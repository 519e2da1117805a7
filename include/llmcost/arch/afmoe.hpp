// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

// AFMoE. Derived from Llama, with these differences:
//  - gated attention, and RoPE only in sliding-window layers;
//  - norms before and after each block;
//  - a sigmoid router with a correction bias.
//
// Source: transformers/models/afmoe

namespace llmcost::arch {

namespace afmoe_detail {

enum family_config_index : std::uint8_t { mup_enabled };
inline constexpr family_key family_keys[]{{"mup_enabled", 0, family_key_type::boolean}};

/// Self-attention with an output gate computed from the layer's input. Only sliding-window layers apply RoPE.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t d = ctx.config.head_dim, width = ctx.config.num_attention_heads * d;
    query_key_value qkv = project_qkv(ctx, t, x);
    const tensor gate = t.call("gate_proj", linear{ctx.config.hidden_size, width}, x);
    split_heads(ctx, qkv);
    apply_qk_norm(ctx, t, qkv, d, d);
    transpose_heads(qkv);
    if (ctx.layer.token_mixer == token_mixer_kind::sliding_attention) apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    const tensor attention_output = scaled_dot_product_attention(ctx, t, qkv);
    return output_projection(ctx, t, t.mul(attention_output, t.sigmoid(gate)));
}

/// Top-k router: the sigmoid scores of a separate linear layer, plus a correction bias, select the experts.
struct top_k_router {
    layer_context ctx;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TokenChoiceRouter"); }
    constexpr tensor forward(trace& t, const tensor& tokens, const tensor& correction) const {
        const moe_config& moe = ctx.config.moe;
        const tensor logits = t.call("gate", linear{ctx.config.hidden_size, moe.num_experts}, tokens);
        const tensor scores = t.sigmoid(t.to(logits, dtype::float32));
        const tensor best = select_with_correction(t, scores, correction, moe.num_experts_per_tok);
        return t.mul_scalar(t.div(best, t.add_scalar(t.sum(best, -1, true))));
    }
};

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const shape output_shape{x.dim(0), x.dim(1), ctx.config.hidden_size};
    const tensor tokens = x.view({-1, ctx.config.hidden_size});
    const tensor correction = t.frozen_parameter("expert_bias", {ctx.config.moe.num_experts});
    const tensor weights = t.call("router", top_k_router{ctx}, tokens, correction);
    const tensor shared_output =
        call_mlp(ctx, t, "shared_experts", ctx.config.moe.shared_intermediate_size, tokens).view(output_shape);
    return t.add(shared_output, call_experts(ctx, t, tokens, weights).view(output_shape));
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return moe_or_dense_mlp(ctx, t, sparse_moe_block, x);
}

constexpr tensor embed(const layer_context& ctx, trace& t) {
    return ctx.config.family[mup_enabled] ? embed_tokens_scaled(ctx, t) : embed_tokens(ctx, t);
}

/// Parses `config.json`. Without `layer_types`, every n-th layer has full attention. The layers after the dense ones
/// have experts.
constexpr void parse_config(config_view json, model_config& config) {
    parse_experts(json, config, "num_experts");
    validate_experts(json, config);
    config.moe.shared_intermediate_size =
        checked_size(json, "num_shared_experts", json.positive("num_shared_experts", 2), config.moe.intermediate_size);
    const std::int64_t dense = json.non_negative("num_dense_layers", 1);
    const std::int64_t period = json.positive("global_attn_every_n_layers", 4);
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        const bool slides = (i + 1) % period != 0;
        const token_mixer_kind default_token_mixer =
            slides ? token_mixer_kind::sliding_attention : token_mixer_kind::full_attention;
        return layer_spec{listed ? listed_layers[i].token_mixer : default_token_mixer, i >= dense};
    });
}

}  // namespace afmoe_detail

inline constexpr model_spec afmoe = [](model_spec spec) {
    spec.model_type = "afmoe";
    spec.class_prefix = "Afmoe";
    spec.parse_config = afmoe_detail::parse_config;
    spec.family_keys = afmoe_detail::family_keys;
    spec.supported_heads = language_heads;
    spec.norm = norm_kind::rms_cast_last;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.embed_tokens = afmoe_detail::embed;
    spec.decoder_layer = sandwich_norm_layer;
    spec.attention = afmoe_detail::attention;
    spec.mlp = afmoe_detail::mlp;
    spec.names.pre_mlp_norm = "pre_mlp_layernorm";
    spec.names.post_mlp_norm = "post_mlp_layernorm";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 200192;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 6144;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 16384;
    spec.defaults.sliding_window = 1024;
    spec.defaults.moe = {.num_experts = 64, .num_experts_per_tok = 6, .intermediate_size = 1408};
    return spec;
}(llama);

}  // namespace llmcost::arch
